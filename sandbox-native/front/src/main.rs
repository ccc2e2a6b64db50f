//! Where the executable begins: before Bun does. A `cordon run` that was planned before becomes the launcher here, without
//! starting Bun; every other start goes on to Bun as if nothing had been. `core/adr/0009-start-up-and-opens.md` has the reasons.
//!
//! It lies in the address space of a program that is not its own, beside a C library that is not set up yet: it has no heap,
//! nothing that can be written but its stack, and calls the kernel alone.
#![no_std]
#![no_main]
// Else a loop that copies would be compiled to a call of memcpy, also the one in memcpy.
#![no_builtins]

mod bare;
mod settings;

use core::ffi::CStr;
use front::{Place, Text, Variables};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use settings::Settings;

/// Longer words, more of them, or more variables than these go the slow way.
const MOST_WORDS: usize = 500;
const MOST_VARIABLES: usize = 500;
const LONGEST_KEY: usize = 16 << 10;
const LONGEST_PATH: usize = 4096;

/// The mode of a launcher that cordon has unpacked and checked.
const LAUNCHER_MODE: u32 = 0o100500;

/// What the kernel lays on the stack of a new program, as it is: lists of texts that end in null.
pub struct Start<'a> {
    /// The command line.
    pub words: &'a [*const u8],
    /// The environment, an entry each.
    pub variables: &'a [*const u8],
}

/// Comes back when this start is not to become the launcher.
pub fn become_launcher(start: &Start<'_>) -> Option<()> {
    let [_, verb, words @ ..] = start.words else { return None };
    if bytes(*verb) != b"run" || words.first().is_none_or(|first| bytes(*first) == b"--replan") {
        return None;
    }
    let settings = Settings::appended()?;
    let mut slots = [b"".as_slice(); MOST_VARIABLES];
    let variables = Variables::sort(start.variables.iter().map(|entry| bytes(*entry)), &mut slots)?;
    let count = front::words_before_command(words.iter().map(|word| bytes(*word)))?;

    let mut space = [0; LONGEST_PATH];
    let mut path = Text::new(&mut space);
    front::write_state_folder(&mut path, &variables, rustix::process::geteuid().as_raw())?;
    let state = open(path.as_bytes(), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC)?;
    let found = rustix::fs::fstat(&state).ok()?;
    // Who else could write in it could put another launcher there.
    if !is_own(&found) || found.st_mode & 0o022 != 0 {
        return None;
    }

    let mut cwd = [0; LONGEST_PATH];
    let mut space = [0; LONGEST_KEY];
    let mut key = Text::new(&mut space);
    let place = Place { build: settings.build, read: settings.read, cwd: working_folder(&mut cwd)? };
    let flags = words.get(..count)?;
    front::write_key(&mut key, &place, flags.iter().map(|word| bytes(*word)), &variables)?;

    let mut space = [0; 64];
    let mut name = Text::new(&mut space);
    name.push(b"plans/")?;
    name.push_number(front::record_name(key.as_bytes()).into())?;
    let record = open_in(&state, name.as_bytes(), OFlags::empty())?;
    let mut space = [0; 128];
    let mut name = Text::new(&mut space);
    name.push(b"launcher-")?;
    name.push(settings.launcher)?;
    let launcher = open_in(&state, name.as_bytes(), OFlags::CLOEXEC)?;
    let found = rustix::fs::fstat(&launcher).ok()?;
    if !is_own(&found) || found.st_mode != LAUNCHER_MODE {
        return None;
    }
    write_mark(&mut key, &found)?;
    if !begins_with(&record, key.as_bytes()) {
        return None;
    }
    execute(start, &launcher, &record, count)
}

/// What Bun is to be told beside what this start tells it.
pub fn engine_options(start: &Start<'_>) -> Option<[&'static CStr; 2]> {
    let [_, verb, ..] = start.words else { return None };
    front::engine_options(bytes(*verb), start.variables.iter().map(|entry| bytes(*entry)))
}

fn execute(start: &Start<'_>, launcher: &OwnedFd, record: &OwnedFd, flags: usize) -> Option<()> {
    // A closed stream would make room for it below, where the command's own belong.
    if record.as_raw_fd() <= 2 {
        return None;
    }
    let mut space = [0; LONGEST_PATH];
    let own = read_link(c"/proc/self/exe", &mut space)?;
    let mut cordon_space = [0; LONGEST_PATH + 16];
    let mut cordon = Text::new(&mut cordon_space);
    cordon.push(b"--cordon=")?;
    cordon.push(own)?;
    cordon.push(b"\0")?;
    let (mut program_space, mut record_space, mut flags_space) = ([0; 40], [0; 40], [0; 40]);
    let program = numbered(&mut program_space, b"/proc/self/fd/", u64::try_from(launcher.as_raw_fd()).ok()?)?;
    let record = numbered(&mut record_space, b"--record=", u64::try_from(record.as_raw_fd()).ok()?)?;
    let flags = numbered(&mut flags_space, b"--flags=", flags as u64)?;
    let own_words = [
        c"cordon-launcher".to_bytes_with_nul(),
        b"direct\0",
        record,
        cordon.as_bytes(),
        flags,
        b"--row=\0",
        b"--since=0\0",
    ];
    let mut argv = [core::ptr::null::<u8>(); MOST_WORDS];
    let all = own_words.iter().map(|word| word.as_ptr()).chain(start.words.iter().skip(2).copied());
    // The last slot stays null.
    let (_, slots) = argv.split_last_mut()?;
    let mut slots = slots.iter_mut();
    for word in all {
        *slots.next()? = word;
    }
    bare::execute(CStr::from_bytes_with_nul(program).ok()?, &argv, start.variables);
    None
}

/// `text`, the number, and a null.
fn numbered<'s>(space: &'s mut [u8; 40], text: &[u8], number: u64) -> Option<&'s [u8]> {
    let mut whole = Text::new(space);
    whole.push(text)?;
    whole.push_number(number)?;
    whole.push(b"\0")?;
    let len = whole.as_bytes().len();
    space.get(..len)
}

/// The second line of a record: what nobody can change of the launcher and keep. As in `core/exec/process/run_record.ts`.
fn write_mark(key: &mut Text<'_>, found: &Stat) -> Option<()> {
    let changed = found.st_ctime.checked_mul(1_000_000_000)?.cast_unsigned().checked_add(found.st_ctime_nsec)?;
    for (before, number) in [(b"\n", found.st_ino), (b" ", found.st_size.cast_unsigned()), (b" ", changed)] {
        key.push(before)?;
        key.push_number(number)?;
    }
    key.push(b"\n")
}

fn begins_with(file: &OwnedFd, text: &[u8]) -> bool {
    let mut read = [0; 4096];
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let wanted = rest.len().min(read.len());
        match read.get_mut(..wanted).map(|space| rustix::io::pread(file, space, at as u64)) {
            Some(Ok(count)) if count > 0 && read.get(..count) == rest.get(..count) => at += count,
            _ => return false,
        }
    }
    true
}

fn is_own(found: &Stat) -> bool {
    found.st_uid == rustix::process::geteuid().as_raw()
}

/// The working folder's path; nothing for one that was removed.
fn working_folder(space: &mut [u8; LONGEST_PATH]) -> Option<&[u8]> {
    let path = read_link(c"/proc/self/cwd", space)?;
    let there = rustix::fs::stat(c".").is_ok_and(|found| found.st_nlink > 0);
    (there && path.starts_with(b"/")).then_some(path)
}

fn read_link<'s>(link: &CStr, space: &'s mut [u8; LONGEST_PATH]) -> Option<&'s [u8]> {
    let length = rustix::fs::readlinkat_raw(CWD, link, space.as_mut_slice()).ok()?;
    // A full buffer may hold the beginning only.
    (length < LONGEST_PATH).then(|| space.get(..length))?
}

fn open(path: &[u8], flags: OFlags) -> Option<OwnedFd> {
    open_in(CWD, path, flags)
}

/// Not through a link, and not waiting for a FIFO.
fn open_in(folder: impl AsFd, path: &[u8], flags: OFlags) -> Option<OwnedFd> {
    let mut space = [0; LONGEST_PATH];
    let mut whole = Text::new(&mut space);
    whole.push(path)?;
    whole.push(b"\0")?;
    let path = CStr::from_bytes_with_nul(whole.as_bytes()).ok()?;
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::openat(folder, path, flags, Mode::empty()).ok()?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file).ok()?.st_mode);
    (kind == FileType::RegularFile || flags.contains(OFlags::DIRECTORY)).then_some(file)
}

fn bytes<'a>(text: *const u8) -> &'a [u8] {
    bare::text(text).to_bytes()
}
