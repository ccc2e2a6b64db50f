//! The two rows of the audit log. Mirror of `core/audit/audit.ts`: rows hold no input and no output.

use super::record::Audit;
use plan::{Enforced, Property, State, Tier};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The open log with the row that is open in it. A crash leaves it open, which is evidence.
pub struct OpenRow {
    log: OwnedFd,
    id: String,
    opened: Instant,
    /// What had passed when this program began.
    before: Duration,
}

/// How the call ended, for the closing row.
pub struct End<'a> {
    /// What was enforced, or nothing when nothing ran.
    pub enforced: Option<&'a Enforced>,
    pub denials: usize,
}

#[derive(Serialize)]
struct OpeningLine<'a> {
    v: u32,
    row: &'a str,
    id: &'a str,
    at: u64,
    door: &'a str,
    tool: &'a str,
    call: &'a str,
    input: String,
    pid: i32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClosingLine<'a> {
    v: u32,
    row: &'a str,
    id: &'a str,
    at: u64,
    tool: &'a str,
    duration_ms: f64,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'a str>,
    verdict: &'a str,
    by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<&'a BTreeMap<Property, State>>,
    denials: usize,
}

impl OpenRow {
    /// Writes the opening row; an error means that nothing may run.
    pub fn open(audit: &Audit, argv: &[String]) -> Result<OpenRow, String> {
        let id = random_uuid()?;
        let row = OpenRow { log: open_log(&audit.log)?, id, opened: Instant::now(), before: Duration::ZERO };
        let words = serde_json::to_string(argv).map_err(|error| error.to_string())?;
        let (before, after) = &audit.input;
        let input = Sha256::digest(format!("{before}{words}{after}").as_bytes());
        row.append(&OpeningLine {
            v: 1,
            row: "open",
            id: &row.id,
            at: now_ms(),
            door: "run",
            tool: "run",
            call: "run",
            input: hex(&input),
            pid: rustix::process::getpid().as_raw_nonzero().get(),
        })?;
        Ok(row)
    }

    /// Takes over a row that cordon opened `before` ago.
    pub fn adopt(audit: &Audit, id: String, before: Duration) -> Result<OpenRow, String> {
        Ok(OpenRow { log: open_log(&audit.log)?, id, opened: Instant::now(), before })
    }

    /// Writes the closing row.
    pub fn close(&self, audit: &Audit, end: &End<'_>) -> Result<(), String> {
        let refused = end.enforced.is_none();
        let micros = (self.before + self.opened.elapsed()).as_micros();
        self.append(&ClosingLine {
            v: 1,
            row: "close",
            id: &self.id,
            at: now_ms(),
            tool: "run",
            duration_ms: micros as f64 / 1000.0,
            ok: !refused,
            code: refused.then_some("sandbox.unenforced"),
            stage: refused.then_some("execute"),
            verdict: &audit.verdict,
            by: &audit.by,
            rule: audit.rule.as_deref(),
            tier: end.enforced.map(|enforced| enforced.tier),
            properties: end.enforced.map(|enforced| &enforced.properties),
            denials: end.denials,
        })
    }

    /// One write(2) to an O_APPEND descriptor, so that processes can share the log.
    fn append(&self, row: &impl Serialize) -> Result<(), String> {
        let mut line = serde_json::to_vec(row).map_err(|error| error.to_string())?;
        line.push(b'\n');
        match rustix::io::write(&self.log, &line) {
            Ok(written) if written == line.len() => Ok(()),
            Ok(written) => Err(format!("only {written} of {} bytes were written", line.len())),
            Err(errno) => Err(crate::enforced::errno_name(errno)),
        }
    }
}

fn open_log(path: &str) -> Result<OwnedFd, String> {
    let flags =
        OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let log = rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR).map_err(crate::enforced::errno_name)?;
    let found = rustix::fs::fstat(&log).map_err(crate::enforced::errno_name)?;
    if FileType::from_raw_mode(found.st_mode).is_file() { Ok(log) } else { Err("it is not a regular file".into()) }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        // Writing to a String does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// A random UUID (RFC 9562, version 4).
fn random_uuid() -> Result<String, String> {
    let mut bytes = [0_u8; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).map_err(|errno| errno.to_string())?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex(&bytes);
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    Ok([part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-"))
}
