//! open, openat, openat2 and creat.

use super::call::{Answer, Call};
use super::caller::{Caller, O_PATH};
use super::fifo::{self, Pending};
use super::resolve::{Resolver, Spot, Target, is_kind, real_path, refuse_own, split};
use super::{Broker, judge::Passage};
use guard::Access;
use plan::DeniedOp;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// What open and openat look at; they ignore the rest, openat2 refuses it.
const KNOWN: OFlags = OFlags::RWMODE
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOCTTY)
    .union(OFlags::TRUNC)
    .union(OFlags::APPEND)
    .union(OFlags::NONBLOCK)
    .union(OFlags::DSYNC)
    .union(OFlags::SYNC)
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::TMPFILE)
    .union(OFlags::NOATIME)
    .union(OFlags::DIRECT)
    .union(OFlags::PATH)
    .union(OFlags::from_bits_retain((libc::O_ASYNC | libc::O_LARGEFILE).cast_unsigned()));

/// The bit of O_TMPFILE beside O_DIRECTORY.
const NAMELESS: OFlags = OFlags::TMPFILE.difference(OFlags::DIRECTORY);

/// All that an open with O_PATH may say.
const NAMING: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The device of /dev/tty: major 5, minor 0.
const TTY: u64 = 0x0500;

/// An open, as it stands in the registers or behind them.
struct Open {
    base: i32,
    path: Vec<u8>,
    flags: OFlags,
    mode: Mode,
    resolve: ResolveFlags,
}

impl Open {
    fn read(call: &Call<'_>) -> Result<Open, Errno> {
        match call.number {
            libc::SYS_openat => Open::old(call, call.int(0), 1),
            libc::SYS_openat2 => Open::new(call),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => {
                let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC;
                let mode = Mode::from_raw_mode(call.int(1).cast_unsigned() & 0o7777);
                Ok(Open { base: libc::AT_FDCWD, path: call.path(0)?, flags, mode, resolve: ResolveFlags::empty() })
            }
            _ => Open::old(call, libc::AT_FDCWD, 0),
        }
    }

    /// open and openat: path, flags and mode from the register `at` on.
    fn old(call: &Call<'_>, base: i32, at: usize) -> Result<Open, Errno> {
        let mut flags = OFlags::from_bits_retain(call.int(at + 1).cast_unsigned()) & KNOWN;
        if flags.contains(OFlags::PATH) {
            flags &= OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        }
        let makes = flags.intersects(OFlags::CREATE | NAMELESS);
        let mode = if makes { call.int(at + 2).cast_unsigned() & 0o7777 } else { 0 };
        let path = call.path(at)?;
        Ok(Open { base, path, flags, mode: Mode::from_raw_mode(mode), resolve: ResolveFlags::empty() })
    }

    /// openat2: `struct open_how` is read once.
    fn new(call: &Call<'_>) -> Result<Open, Errno> {
        const HOW_BYTES: usize = 24;
        let size = usize::try_from(call.arg(3)).map_err(|_| Errno::TOOBIG)?;
        if size < HOW_BYTES {
            return Err(Errno::INVAL);
        }
        if size > 4096 {
            return Err(Errno::TOOBIG);
        }
        let mut how = vec![0_u8; size];
        if call.caller.read(call.arg(2), &mut how)? < size {
            return Err(Errno::FAULT);
        }
        let (how, beyond) = how.split_at(HOW_BYTES);
        if beyond.iter().any(|byte| *byte != 0) {
            return Err(Errno::TOOBIG);
        }
        let field = |at: usize| {
            let bytes = how.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_ne_bytes)
        };
        // What does not fit is unknown to the kernel too.
        let narrow = |value: u64| u32::try_from(value).map_err(|_| Errno::INVAL);
        let resolve = ResolveFlags::from_bits(field(16)).ok_or(Errno::INVAL)?;
        let mode = narrow(field(8))?;
        if mode & !0o7777 != 0 {
            return Err(Errno::INVAL);
        }
        let path = call.path(1)?;
        let flags = OFlags::from_bits_retain(narrow(field(0))?);
        Ok(Open { base: call.int(0), path, flags, mode: Mode::from_raw_mode(mode), resolve })
    }

    fn follows(&self) -> bool {
        !self.flags.contains(OFlags::NOFOLLOW) && !self.flags.contains(OFlags::CREATE | OFlags::EXCL)
    }

    fn cloexec(&self) -> bool {
        self.flags.contains(OFlags::CLOEXEC)
    }

    /// What it does to something that is there, or not.
    fn access(&self, exists: bool) -> Access {
        let writes = self.flags & OFlags::RWMODE != OFlags::RDONLY || self.flags.contains(OFlags::TRUNC);
        match (self.flags & OFlags::RWMODE, writes || !exists) {
            (OFlags::WRONLY, _) => Access::Write,
            (OFlags::RDONLY, false) => Access::Read,
            _ => Access::ReadWrite,
        }
    }

    /// Truncates though it asks for no right to write.
    fn empties_unwritten(&self) -> bool {
        self.flags.contains(OFlags::TRUNC) && self.flags & OFlags::RWMODE == OFlags::RDONLY
    }

    fn op(&self, exists: bool) -> DeniedOp {
        if self.access(exists) == Access::Read { DeniedOp::Read } else { DeniedOp::Write }
    }

    /// Flags for a place that is held already.
    fn flags_held(&self) -> OFlags {
        (self.flags | OFlags::CLOEXEC).difference(OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW)
    }
}

impl Broker {
    pub(super) fn open_call(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        let open = Open::read(call)?;
        self.still_waits(call)?;
        if open.flags.contains(OFlags::PATH) {
            return self.open_naming(call, &open);
        }
        if !open.resolve.is_empty() {
            return self.open_scoped(call, &open);
        }
        match Resolver::new(&call.caller).target(open.base, &open.path, open.follows()) {
            Ok(Target::Named(spot, stat)) => self.open_named(call, &open, spot, stat),
            Ok(Target::Held(held)) => self.open_held(call, &open, held),
            Err(errno) => {
                let makes = open.flags.contains(OFlags::CREATE);
                self.denials.unreached(call, open.op(!makes), (open.base, &open.path), errno);
                Err(errno)
            }
        }
    }

    /// openat2 for a descriptor that only names, which the kernel hands over to nobody. For a folder or a file one that reads
    /// does the same; for the rest, and what may not be read, callers fall back to openat(2), which is not trapped for it.
    fn open_naming(&mut self, call: &Call<'_>, open: &Open) -> Result<Answer, Errno> {
        if open.flags.intersects(NAMING.complement()) {
            return Err(Errno::INVAL);
        }
        let held = if open.resolve.is_empty() {
            match Resolver::new(&call.caller).target(open.base, &open.path, open.follows())? {
                Target::Held(held) => held,
                Target::Named(spot, _) => hold(&spot)?,
            }
        } else {
            let base = call.caller.folder(open.base)?;
            refuse_own(&base)?;
            let flags = open.flags | OFlags::CLOEXEC;
            rustix::fs::openat2(&base, open.path.as_slice(), flags, Mode::empty(), open.resolve)?
        };
        refuse_own(&held)?;
        let stat = rustix::fs::fstat(&held)?;
        let is_folder = is_kind(&stat, FileType::Directory);
        if !is_folder && open.flags.contains(OFlags::DIRECTORY) {
            return Err(Errno::NOTDIR);
        }
        let path = real_path(&held)?;
        let readable = (is_folder || is_kind(&stat, FileType::RegularFile))
            && (stat.st_nlink == 0 || self.judge.open(&path, Access::Read).is_ok());
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = if readable {
            self.domains.open(call, || open_again(&held, flags, Mode::empty()))
        } else {
            Err(Errno::NOSYS)
        };
        let file = opened.map_err(|_| Errno::NOSYS)?;
        Ok(Answer::File { file, cloexec: open.cloexec() })
    }

    fn open_named(&mut self, call: &Call<'_>, open: &Open, spot: Spot, stat: Option<Stat>) -> Result<Answer, Errno> {
        let makes = open.flags.intersects(OFlags::CREATE | NAMELESS);
        if stat.is_none() && !makes && open.op(true) == DeniedOp::Read {
            self.denials.unreached(call, DeniedOp::Read, (open.base, &open.path), Errno::NOENT);
        }
        if stat.is_none() && !makes {
            return Err(Errno::NOENT);
        }
        let path = spot.path()?;
        let passage = self.judge_open(call, open, &path, stat.as_ref())?;
        if stat.as_ref().is_some_and(|stat| stat.st_rdev == TTY && is_kind(stat, FileType::CharacterDevice)) {
            return self.open_terminal(call, open);
        }
        if stat.as_ref().is_some_and(|stat| is_kind(stat, FileType::Fifo)) && fifo::waits(open.flags) {
            let fifo =
                rustix::fs::openat(&spot.folder, spot.name.as_slice(), O_PATH | OFlags::NOFOLLOW, Mode::empty())?;
            return self.open_fifo(call, open, fifo);
        }
        if makes && (stat.is_none() || open.flags.contains(NAMELESS)) {
            set_umask(call)?;
        }
        let op = open.op(stat.is_some());
        let flags = open.flags | OFlags::CLOEXEC;
        let opened = self.domains.open(call, || {
            if stat.is_some() && open.empties_unwritten() {
                may_write(&hold(&spot)?)?;
            }
            rustix::fs::openat2(&spot.folder, spot.name.as_slice(), flags, open.mode, ResolveFlags::NO_SYMLINKS)
        });
        let file = self.denials.conclude(call, (op, &[&path]), passage, opened)?;
        Ok(Answer::File { file, cloexec: open.cloexec() })
    }

    /// Opens what a link of /proc led to, again.
    fn open_held(&mut self, call: &Call<'_>, open: &Open, held: OwnedFd) -> Result<Answer, Errno> {
        let stat = rustix::fs::fstat(&held)?;
        let path = real_path(&held)?;
        // What has no name any more has none that a rule could mean.
        let named = path.is_absolute() && stat.st_nlink > 0;
        let passage = if named { self.judge_open(call, open, &path, Some(&stat))? } else { Passage::Free };
        if is_kind(&stat, FileType::CharacterDevice) && stat.st_rdev == TTY {
            return self.open_terminal(call, open);
        }
        if is_kind(&stat, FileType::Fifo) && fifo::waits(open.flags) {
            return self.open_fifo(call, open, held);
        }
        if open.flags.contains(NAMELESS) {
            set_umask(call)?;
        }
        let opened = self.domains.open(call, || {
            if open.empties_unwritten() {
                may_write(&held)?;
            }
            open_again(&held, open.flags_held(), open.mode)
        });
        let paths: [&Path; 1] = [&path];
        let paths = if named { &paths[..] } else { &[] };
        let file = self.denials.conclude(call, (open.op(true), paths), passage, opened)?;
        Ok(Answer::File { file, cloexec: open.cloexec() })
    }

    fn judge_open(&mut self, call: &Call<'_>, open: &Open, path: &Path, stat: Option<&Stat>) -> Result<Passage, Errno> {
        // A file without a name gets one by link, which is judged; O_EXCL on a name that exists fails anyway.
        let fails = stat.is_some() && open.flags.contains(OFlags::CREATE | OFlags::EXCL);
        if fails || open.flags.intersects(NAMELESS) {
            return Ok(Passage::Free);
        }
        let exists = stat.is_some();
        let judged = self.judge.open(path, open.access(exists));
        judged.map_err(|refusal| self.denials.refused(call, open.op(exists), refusal))
    }

    fn open_fifo(&mut self, call: &Call<'_>, open: &Open, fifo: OwnedFd) -> Result<Answer, Errno> {
        let flags = open.flags_held() | OFlags::NONBLOCK;
        let first = match self.domains.open(call, || open_again(&fifo, flags, open.mode)) {
            Ok(file) => Some(file),
            // Nobody reads yet.
            Err(Errno::NXIO) => None,
            Err(errno) => return Err(errno),
        };
        let pending = Pending::new(call.id, call.caller.tid, (fifo, open.flags), first);
        self.fifos.take(pending, std::os::fd::AsFd::as_fd(&self.listener))
    }

    /// NOCTTY: it must not become the terminal of this process.
    fn open_terminal(&self, call: &Call<'_>, open: &Open) -> Result<Answer, Errno> {
        let (path, device) = terminal_of(call)?;
        let flags = open.flags_held() | OFlags::NOCTTY;
        let file = self.domains.open(call, || rustix::fs::openat(CWD, &path, flags, Mode::empty()))?;
        let stat = rustix::fs::fstat(&file)?;
        if stat.st_rdev != device || !is_kind(&stat, FileType::CharacterDevice) {
            return Err(Errno::NXIO);
        }
        Ok(Answer::File { file, cloexec: open.cloexec() })
    }

    /// openat2 with a scope: the kernel resolves it for a descriptor that only names, and that one is judged and opened.
    fn open_scoped(&mut self, call: &Call<'_>, open: &Open) -> Result<Answer, Errno> {
        if open.resolve.contains(ResolveFlags::CACHED) {
            // As if it were not in the cache: the caller tries without.
            return Err(Errno::AGAIN);
        }
        let base = call.caller.folder(open.base)?;
        refuse_own(&base)?;
        let nofollow = if open.follows() { OFlags::empty() } else { OFlags::NOFOLLOW };
        let found = rustix::fs::openat2(&base, open.path.as_slice(), O_PATH | nofollow, Mode::empty(), open.resolve);
        match found {
            Ok(held) => {
                refuse_own(&held)?;
                let is_link = is_kind(&rustix::fs::fstat(&held)?, FileType::Symlink);
                match (open.flags.contains(OFlags::CREATE | OFlags::EXCL), is_link) {
                    (true, _) => Err(Errno::EXIST),
                    (_, true) => Err(Errno::LOOP),
                    _ => self.open_held(call, open, held),
                }
            }
            Err(Errno::NOENT) if open.flags.contains(OFlags::CREATE) => {
                let (folder, name) = split(&open.path);
                let folder = if folder.is_empty() { &b"."[..] } else { folder };
                let flags = O_PATH | OFlags::DIRECTORY;
                let folder = rustix::fs::openat2(&base, folder, flags, Mode::empty(), open.resolve)?;
                refuse_own(&folder)?;
                let spot = Spot { folder, name: name.to_vec() };
                match spot.stat()? {
                    // A link that leads nowhere: where it would, inside the scope or not, is not worth knowing.
                    Some(stat) if is_kind(&stat, FileType::Symlink) => Err(Errno::LOOP),
                    stat => self.open_named(call, open, spot, stat),
                }
            }
            Err(errno) => Err(errno),
        }
    }
}

/// Before Landlock's ABI 3 a file that may only be read could be truncated; to open it for writing is refused by every ABI.
pub fn may_write(held: &OwnedFd) -> Result<(), Errno> {
    if !is_kind(&rustix::fs::fstat(held)?, FileType::RegularFile) {
        return Ok(());
    }
    open_again(held, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).map(drop)
}

/// Opens what a descriptor names, by that descriptor.
fn open_again(held: &OwnedFd, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mode = if flags.intersects(NAMELESS) { mode } else { Mode::empty() };
    rustix::fs::openat(CWD, format!("/proc/self/fd/{}", held.as_raw_fd()), flags, mode)
}

/// New files get the mode that the caller's mask leaves. The mask is this process's from here on; it makes nothing for itself.
pub fn set_umask(call: &Call<'_>) -> Result<(), Errno> {
    rustix::process::umask(Mode::from_raw_mode(call.caller.status()?.umask));
    Ok(())
}

/// Where the caller's terminal has its name here, and the device that must be there. /dev/tty is the terminal of who opens
/// it, which is right where this process has the same.
fn terminal_of(call: &Call<'_>) -> Result<(PathBuf, u64), Errno> {
    let number = call.caller.terminal()?;
    if number == 0 {
        return Err(Errno::NXIO);
    }
    let me = Caller::new(rustix::process::getpid().as_raw_nonzero().get());
    if me.terminal() == Ok(number) {
        return Ok((PathBuf::from("/dev/tty"), TTY));
    }
    // As tty_nr has it: the minor in bits 31 to 20 and 7 to 0, the major between.
    let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00));
    const PTS_MAJORS: std::ops::RangeInclusive<u32> = 136..=143;
    if !PTS_MAJORS.contains(&major) {
        return Err(Errno::NXIO);
    }
    let index = (major - PTS_MAJORS.start()) * 256 + minor;
    Ok((PathBuf::from(format!("/dev/pts/{index}")), rustix::fs::makedev(major, minor)))
}

/// A name as it stands, for callers that want a descriptor of it.
pub fn hold(spot: &Spot) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(&spot.folder, spot.name.as_slice(), O_PATH | OFlags::NOFOLLOW, Mode::empty())
}
