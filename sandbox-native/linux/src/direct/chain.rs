//! The audit log as a chain: each line has its number and the SHA-256 of the line before it, and the head file beside the log
//! holds number and hash of the last. Mirror of `core/store/chain.ts` and `core/store/append_log.ts`.

use crate::enforced::errno_name;
use rustix::fs::{CWD, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// A log of this size is put aside under the number of its last row.
const ROTATE_BYTES: u64 = 16 << 20;

/// What is looked at from the end where the head is lost.
const TAIL_BYTES: u64 = 1 << 20;

/// The head is rewritten in place, so its size never changes.
const HEAD_BYTES: usize = 192;

/// A holder of the lock writes a few hundred bytes.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Serialize, Deserialize)]
struct Head {
    v: u32,
    seq: u64,
    hash: String,
    bytes: u64,
}

/// Where the next row is put on.
#[derive(Debug, PartialEq, Eq)]
struct End {
    seq: u64,
    hash: String,
    /// The log ends in the middle of a line.
    torn: bool,
    /// There was a chain, and its head is gone.
    lost: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a, R> {
    v: u32,
    seq: u64,
    prev: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    head_lost: bool,
    #[serde(flatten)]
    row: &'a R,
}

/// Puts one row on, under the lock of the head file.
pub fn append(log_path: &str, row: &impl Serialize) -> Result<(), String> {
    append_within(log_path, row, ROTATE_BYTES)
}

fn append_within(log_path: &str, row: &impl Serialize, rotate_bytes: u64) -> Result<(), String> {
    let head_file = open(&format!("{log_path}.head"), OFlags::RDWR)?;
    lock(&head_file)?;
    let head = read_head(&head_file)?;
    let mut log = open(log_path, OFlags::RDWR | OFlags::APPEND)?;
    let mut size = size_of(&log)?;
    let end = match head {
        Some(head) if head.bytes == size => End { seq: head.seq, hash: head.hash, torn: false, lost: false },
        head => mend(&log, size, head)?,
    };
    if size >= rotate_bytes {
        rustix::fs::rename(log_path, aside(log_path, end.seq)).map_err(errno_name)?;
        log = open(log_path, OFlags::RDWR | OFlags::APPEND)?;
        size = 0;
    }
    let line = Line { v: 2, seq: end.seq + 1, prev: &end.hash, head_lost: end.lost, row };
    let line = serde_json::to_vec(&line).map_err(|error| error.to_string())?;
    let mut text = if end.torn && size > 0 { vec![b'\n'] } else { Vec::new() };
    text.extend_from_slice(&line);
    text.push(b'\n');
    match rustix::io::write(&log, &text) {
        Ok(written) if written == text.len() => {}
        Ok(written) => return Err(format!("only {written} of {} bytes were written", text.len())),
        Err(errno) => return Err(errno_name(errno)),
    }
    write_head(&head_file, &Head { v: 1, seq: end.seq + 1, hash: sha256(&line), bytes: size + text.len() as u64 })
}

fn open(path: &str, flags: OFlags) -> Result<OwnedFd, String> {
    let flags = flags | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR).map_err(errno_name)?;
    let found = rustix::fs::fstat(&file).map_err(errno_name)?;
    if FileType::from_raw_mode(found.st_mode).is_file() { Ok(file) } else { Err("it is not a regular file".into()) }
}

fn size_of(file: &OwnedFd) -> Result<u64, String> {
    let found = rustix::fs::fstat(file).map_err(errno_name)?;
    Ok(u64::try_from(found.st_size).unwrap_or(0))
}

fn lock(file: &OwnedFd) -> Result<(), String> {
    let since = Instant::now();
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) if since.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(errno) => return Err(format!("its lock: {}", errno_name(errno))),
        }
    }
}

fn read_head(file: &OwnedFd) -> Result<Option<Head>, String> {
    let bytes = read_range(file, 0, HEAD_BYTES as u64)?;
    let head: Option<Head> = serde_json::from_slice(&bytes).ok();
    let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    Ok(head.filter(|head| head.v == 1 && is_hash(&head.hash)))
}

fn write_head(file: &OwnedFd, head: &Head) -> Result<(), String> {
    let text = serde_json::to_string(head).map_err(|error| error.to_string())?;
    let text = format!("{text:<width$}\n", width = HEAD_BYTES - 1);
    rustix::io::pwrite(file, text.as_bytes(), 0).map(|_| ()).map_err(errno_name)
}

/// The head is behind the log (a writer died between the two), or lost; or rows were cut off: then the chain goes on from the
/// head, so that what is missing shows.
fn mend(log: &OwnedFd, size: u64, head: Option<Head>) -> Result<End, String> {
    if let Some(head) = &head
        && head.bytes > size
    {
        let torn = size > 0 && read_range(log, size - 1, size)? != b"\n";
        return Ok(End { seq: head.seq, hash: head.hash.clone(), torn, lost: false });
    }
    let start = head.as_ref().map_or_else(|| size.saturating_sub(TAIL_BYTES), |head| head.bytes);
    Ok(mend_from(&read_range(log, start, size)?, head.as_ref()))
}

fn mend_from(bytes: &[u8], head: Option<&Head>) -> End {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let rest = lines.pop().unwrap_or_default();
    let found = lines.iter().map(|line| seq_of(line)).max().unwrap_or(0);
    let last = if rest.is_empty() { lines.last().copied() } else { Some(rest) };
    let before = head.map_or_else(|| "0".repeat(64), |head| head.hash.clone());
    End {
        seq: found.max(head.map_or(0, |head| head.seq)),
        hash: last.map_or(before, sha256),
        torn: !rest.is_empty(),
        lost: head.is_none() && found > 0,
    }
}

/// The number of a row, 0 for a line that is none of version 2.
fn seq_of(line: &[u8]) -> u64 {
    #[derive(Deserialize)]
    struct Numbered {
        v: u64,
        seq: u64,
    }
    serde_json::from_slice(line).ok().filter(|row: &Numbered| row.v == 2).map_or(0, |row| row.seq)
}

fn read_range(file: &OwnedFd, start: u64, end: u64) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0_u8; usize::try_from(end.saturating_sub(start)).unwrap_or(0)];
    let mut at = 0;
    while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
        match rustix::io::pread(file, rest, start + at as u64) {
            Ok(0) => break,
            Ok(count) => at += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno_name(errno)),
        }
    }
    bytes.truncate(at);
    Ok(bytes)
}

/// `audit.jsonl` put aside after row 7 is `audit-000000000007.jsonl`.
fn aside(log_path: &str, seq: u64) -> String {
    format!("{}-{seq:012}.jsonl", log_path.strip_suffix(".jsonl").unwrap_or(log_path))
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        // Writing to a String does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_torn_stays_in_the_chain_and_a_lost_head_is_said() {
        let row = br#"{"v":2,"seq":7,"prev":"x"}"#;
        let torn = [&row[..], b"\n{\"v\":2,\"se"].concat();
        let end = mend_from(&torn, None);
        assert_eq!((end.seq, end.torn, end.lost), (7, true, true));
        assert_eq!(end.hash, sha256(b"{\"v\":2,\"se"));
        let head = Head { v: 1, seq: 6, hash: "a".repeat(64), bytes: 0 };
        let whole = [&row[..], b"\n"].concat();
        assert_eq!(mend_from(&whole, Some(&head)), End { seq: 7, hash: sha256(row), torn: false, lost: false });
        assert_eq!(mend_from(b"", Some(&head)).hash, "a".repeat(64));
    }
}
