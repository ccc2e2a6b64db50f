//! Calls that make, carry or remove a name. None of them follows a link at the end of a path, so each is made on the folder
//! that was resolved and the last name.

use super::call::{Answer, Call, done};
use super::judge::{Judge, Passage, Refusal, kind_of};
use super::open::set_umask;
use super::resolve::{Resolver, Spot, Target, is_kind, real_path, refuse_own};
use super::{Broker, config};
use guard::{Access, Made};
use plan::DeniedOp;
use rustix::fs::{AtFlags, CWD, FileType, Mode, RenameFlags, Stat};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Where a path stands in a call: the descriptor that a relative one starts from, and its bytes.
type Place = (i32, Vec<u8>);

const HERE: i32 = libc::AT_FDCWD;

impl Broker {
    pub(super) fn name_call(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        let at = |base: usize| Ok::<Place, Errno>((call.int(base), call.path(base + 1)?));
        #[cfg(target_arch = "x86_64")]
        match call.number {
            libc::SYS_mkdir => return self.make_folder(call, (HERE, call.path(0)?), call.int(1)),
            libc::SYS_mknod => return self.make_node(call, (HERE, call.path(0)?), (call.int(1), call.arg(2))),
            libc::SYS_symlink => return self.make_symlink(call, &call.path(0)?, (HERE, call.path(1)?)),
            libc::SYS_link => return self.link(call, (HERE, call.path(0)?), (HERE, call.path(1)?), 0),
            libc::SYS_rename => {
                return self.rename(call, (HERE, call.path(0)?), (HERE, call.path(1)?), RenameFlags::empty());
            }
            libc::SYS_unlink => return self.remove(call, (HERE, call.path(0)?), 0),
            libc::SYS_rmdir => return self.remove(call, (HERE, call.path(0)?), libc::AT_REMOVEDIR),
            _ => {}
        }
        match call.number {
            libc::SYS_mkdirat => self.make_folder(call, at(0)?, call.int(2)),
            libc::SYS_mknodat => self.make_node(call, at(0)?, (call.int(2), call.arg(3))),
            libc::SYS_symlinkat => self.make_symlink(call, &call.path(0)?, at(1)?),
            libc::SYS_linkat => {
                let (flags, from) = (call.int(4), call.caller.c_string(call.arg(1), libc::PATH_MAX as usize));
                if flags & !(libc::AT_SYMLINK_FOLLOW | libc::AT_EMPTY_PATH) != 0 {
                    return Err(Errno::INVAL);
                }
                self.link(call, (call.int(0), from.map_err(too_long)?), at(2)?, flags)
            }
            libc::SYS_renameat => self.rename(call, at(0)?, at(2)?, RenameFlags::empty()),
            libc::SYS_renameat2 => {
                let flags = rename_flags(call.int(4))?;
                self.rename(call, at(0)?, at(2)?, flags)
            }
            libc::SYS_unlinkat => {
                let flags = call.int(2);
                if flags & !libc::AT_REMOVEDIR != 0 {
                    return Err(Errno::INVAL);
                }
                self.remove(call, at(0)?, flags)
            }
            libc::SYS_truncate => self.truncate(call, call.path(0)?),
            // The filter traps nothing else.
            _ => Err(Errno::NOSYS),
        }
    }

    /// Resolves, and tells of what can't be.
    fn spot(&mut self, call: &Call<'_>, (base, path): &Place) -> Result<Spot, Errno> {
        let found = Resolver::new(&call.caller).spot(*base, path);
        found.inspect_err(|errno| self.denials.unreached(call, DeniedOp::Write, (*base, path), *errno))
    }

    /// Judges a change to one name, and makes it.
    fn change(
        &mut self,
        call: &Call<'_>,
        (spot, path): (&Spot, &Path),
        made: Made,
        act: impl FnOnce(&Spot) -> Result<(), Errno>,
    ) -> Result<Answer, Errno> {
        self.still_waits(call)?;
        let judged = self.judge.change(path, made);
        let passage = judged.map_err(|refusal| self.denials.refused(call, DeniedOp::Write, refusal))?;
        done(self.denials.conclude(call, (DeniedOp::Write, &[path]), passage, self.domains.make(call, || act(spot))))
    }

    fn make_folder(&mut self, call: &Call<'_>, place: Place, mode: i32) -> Result<Answer, Errno> {
        let spot = self.spot(call, &place)?;
        let path = spot.path()?;
        set_umask(call)?;
        let mode = Mode::from_raw_mode(mode.cast_unsigned() & 0o7777);
        self.change(call, (&spot, &path), Made::Folder, |spot| rustix::fs::mkdirat(&spot.folder, &*spot.name, mode))
    }

    fn make_node(&mut self, call: &Call<'_>, place: Place, (mode, device): (i32, u64)) -> Result<Answer, Errno> {
        let mode = mode.cast_unsigned();
        let kind = match mode & libc::S_IFMT {
            0 | libc::S_IFREG => FileType::RegularFile,
            libc::S_IFIFO => FileType::Fifo,
            libc::S_IFSOCK => FileType::Socket,
            libc::S_IFCHR => FileType::CharacterDevice,
            libc::S_IFBLK => FileType::BlockDevice,
            libc::S_IFDIR => return Err(Errno::PERM),
            _ => return Err(Errno::INVAL),
        };
        let spot = self.spot(call, &place)?;
        let path = spot.path()?;
        set_umask(call)?;
        let made = if kind == FileType::RegularFile { Made::File } else { Made::Node };
        let device =
            if matches!(kind, FileType::CharacterDevice | FileType::BlockDevice) { device & 0xffff_ffff } else { 0 };
        self.change(call, (&spot, &path), made, |spot| {
            rustix::fs::mknodat(&spot.folder, &*spot.name, kind, Mode::from_raw_mode(mode & 0o7777), device)
        })
    }

    fn make_symlink(&mut self, call: &Call<'_>, target: &[u8], place: Place) -> Result<Answer, Errno> {
        let spot = self.spot(call, &place)?;
        let path = spot.path()?;
        self.change(call, (&spot, &path), Made::Symlink, |spot| {
            rustix::fs::symlinkat(target, &spot.folder, &*spot.name)
        })
    }

    fn remove(&mut self, call: &Call<'_>, place: Place, flags: i32) -> Result<Answer, Errno> {
        let spot = self.spot(call, &place)?;
        let path = spot.path()?;
        let flags = AtFlags::from_bits_retain(flags.cast_unsigned());
        self.change(call, (&spot, &path), Made::Removed, |spot| rustix::fs::unlinkat(&spot.folder, &*spot.name, flags))
    }

    fn truncate(&mut self, call: &Call<'_>, path: Vec<u8>) -> Result<Answer, Errno> {
        let length = call.arg(1).cast_signed();
        if length < 0 {
            return Err(Errno::INVAL);
        }
        let target = Resolver::new(&call.caller).target(HERE, &path, true);
        let held = target
            .and_then(|target| hold(target, &path))
            .inspect_err(|errno| self.denials.unreached(call, DeniedOp::Write, (HERE, &path), *errno))?;
        self.still_waits(call)?;
        let path = real_path(&held)?;
        // The caller's own limit: it holds for who makes the call, which is not the caller here.
        let grows = length > rustix::fs::fstat(&held)?.st_size;
        if grows && call.caller.file_size_limit()?.is_some_and(|most| length.cast_unsigned() > most) {
            call.caller.exceeded_file_size();
            return Err(Errno::FBIG);
        }
        let judged = self.judge.open(&path, Access::Write);
        let passage = judged.map_err(|refusal| self.denials.refused(call, DeniedOp::Write, refusal))?;
        let link = own_link(&held)?;
        let result = self
            .domains
            .make(call, || super::open::may_write(&held).and_then(|()| crate::sys::truncate(&link, length)));
        done(self.denials.conclude(call, (DeniedOp::Write, &[&path]), passage, result))
    }

    fn link(&mut self, call: &Call<'_>, from: Place, to: Place, flags: i32) -> Result<Answer, Errno> {
        let source = self.link_source(call, &from, flags)?;
        let target = self.spot(call, &to)?;
        let to = target.path()?;
        self.still_waits(call)?;
        let judged = match &source {
            Source::Named(_, path, stat) => self.judge.link((path, kind_of(stat)), &to),
            Source::Held(_, Some(path), stat) => self.judge.link((path, kind_of(stat)), &to),
            // A file that has no name yet: this one is all that counts.
            Source::Held(_, None, _) => self.judge.change(&to, Made::File),
        };
        let passage = judged.map_err(|refusal| self.denials.refused(call, DeniedOp::Write, refusal))?;
        let result = self.domains.make(call, || match &source {
            Source::Named(spot, ..) => {
                rustix::fs::linkat(&spot.folder, &*spot.name, &target.folder, &*target.name, AtFlags::empty())
            }
            Source::Held(held, ..) => {
                let follow = AtFlags::SYMLINK_FOLLOW;
                rustix::fs::linkat(CWD, &own_link(held)?, &target.folder, &*target.name, follow)
            }
        });
        done(self.denials.conclude(call, (DeniedOp::Write, &[&to]), passage, result))
    }

    fn link_source(&mut self, call: &Call<'_>, (base, path): &Place, flags: i32) -> Result<Source, Errno> {
        if path.is_empty() {
            if flags & libc::AT_EMPTY_PATH == 0 {
                return Err(Errno::NOENT);
            }
            return Source::held(call.caller.descriptor(*base)?);
        }
        let target = Resolver::new(&call.caller).target(*base, path, flags & libc::AT_SYMLINK_FOLLOW != 0);
        let target =
            target.inspect_err(|errno| self.denials.unreached(call, DeniedOp::Write, (*base, path), *errno))?;
        match target {
            Target::Held(held) => Source::held(held),
            Target::Named(_, None) => Err(Errno::NOENT),
            Target::Named(spot, Some(stat)) => {
                let path = spot.path()?;
                Ok(Source::Named(spot, path, stat))
            }
        }
    }

    fn rename(&mut self, call: &Call<'_>, from: Place, to: Place, flags: RenameFlags) -> Result<Answer, Errno> {
        let swap = flags.contains(RenameFlags::EXCHANGE);
        let (source, target) = (self.spot(call, &from)?, self.spot(call, &to)?);
        let (from, to) = (source.path()?, target.path()?);
        self.still_waits(call)?;
        let judged = match (source.stat()?, target.stat()?) {
            (Some(one), Some(other)) if swap => self.judge.exchange((&from, kind_of(&one)), (&to, kind_of(&other))),
            (Some(stat), _) => judge_rename(&self.judge, (&from, &stat), &to),
            // The kernel says what is wrong.
            (None, _) => Ok(Passage::Free),
        };
        if config::is_unchanged((&source, &from), (&target, &to)) {
            let gone = || rustix::fs::unlinkat(&source.folder, &*source.name, AtFlags::empty());
            return done(self.domains.make(call, gone));
        }
        let passage = judged.map_err(|refusal| self.denials.refused(call, DeniedOp::Write, refusal))?;
        let install = config::Install { from: &source, to: &target, path: &to, flags };
        match passage {
            Passage::Config(refusal) => {
                // The copy is made by this process itself, so only where the caller may make files.
                self.domains.make(call, || config::may_make(&target))?;
                return match config::install(&mut self.judge, &install) {
                    Ok(()) => Ok(Answer::Value(0)),
                    Err(config::Fault::Harmful) => Err(self.denials.refused(call, DeniedOp::Write, refusal)),
                    Err(config::Fault::Failed(errno)) => Err(errno),
                };
            }
            Passage::MayBeConfig
                if self.domains.make(call, || config::may_make(&target)).is_ok()
                    && config::try_install(&mut self.judge, &install) =>
            {
                return Ok(Answer::Value(0));
            }
            _ => {}
        }
        let moved = self.domains.make(call, || {
            rustix::fs::renameat_with(&source.folder, &*source.name, &target.folder, &*target.name, flags)
        });
        done(self.denials.conclude(call, (DeniedOp::Write, &[&to, &from]), passage, moved))
    }
}

/// Refused before the paths are looked at, as the kernel does.
fn rename_flags(flags: i32) -> Result<RenameFlags, Errno> {
    let flags = RenameFlags::from_bits(flags.cast_unsigned()).ok_or(Errno::INVAL)?;
    let known = RenameFlags::EXCHANGE | RenameFlags::NOREPLACE | RenameFlags::WHITEOUT;
    let mixed = flags.contains(RenameFlags::EXCHANGE) && flags != RenameFlags::EXCHANGE;
    if mixed || !known.contains(flags) { Err(Errno::INVAL) } else { Ok(flags) }
}

/// What a link is made to.
enum Source {
    Named(Spot, PathBuf, Stat),
    /// By descriptor; with its name, if it has one.
    Held(OwnedFd, Option<PathBuf>, Stat),
}

impl Source {
    fn held(held: OwnedFd) -> Result<Source, Errno> {
        refuse_own(&held)?;
        let stat = rustix::fs::fstat(&held)?;
        let path = real_path(&held)?;
        let named = stat.st_nlink > 0 && path.is_absolute();
        Ok(Source::Held(held, named.then_some(path), stat))
    }
}

fn judge_rename(judge: &Judge, from: (&Path, &Stat), to: &Path) -> Result<Passage, Refusal> {
    judge.rename((from.0, kind_of(from.1)), to)
}

/// Holds what a followed path leads to.
pub fn hold(target: Target, path: &[u8]) -> Result<OwnedFd, Errno> {
    match target {
        Target::Held(held) => Ok(held),
        Target::Named(_, None) => Err(Errno::NOENT),
        Target::Named(spot, Some(stat)) => {
            if path.ends_with(b"/") && !is_kind(&stat, FileType::Directory) {
                return Err(Errno::NOTDIR);
            }
            super::open::hold(&spot)
        }
    }
}

/// The name of a descriptor of this process that calls by path can follow.
pub fn own_link(held: &OwnedFd) -> Result<CString, Errno> {
    CString::new(format!("/proc/self/fd/{}", held.as_raw_fd())).map_err(|_| Errno::INVAL)
}

fn too_long(errno: Errno) -> Errno {
    if errno == Errno::TOOBIG { Errno::NAMETOOLONG } else { errno }
}
