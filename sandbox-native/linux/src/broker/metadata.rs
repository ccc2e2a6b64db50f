//! Changes of mode, owner, times and attributes. Landlock does not know them, so where no view holds them the rules for
//! writing are applied here. All are made on a descriptor that only names: by the link to it in /proc.

use super::Broker;
use super::call::{Answer, Call, done};
use super::names::{hold, own_link};
use super::resolve::{Resolver, Target, real_path, refuse_own};
use crate::seccomp_table as table;
use guard::Made;
use plan::{DeniedOp, Property};
use rustix::fs::{AtFlags, CWD, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::OwnedFd;

/// The kernel takes no longer value (XATTR_SIZE_MAX).
const LONGEST_VALUE_BYTES: u64 = 65_536;
/// With the NUL (XATTR_NAME_MAX and one).
const LONGEST_NAME_BYTES: usize = 256;

/// Which thing a call changes.
enum Place {
    /// By path: base, path, and whether a link at its end is followed.
    Path(i32, Vec<u8>, bool),
    /// By descriptor.
    Fd(i32),
}

/// What is changed.
enum Change {
    Mode(u32),
    Owner(u32, u32),
    Times(Box<Timestamps>),
    SetXattr { name: CString, value: Vec<u8>, flags: u32 },
    RemoveXattr(CString),
}

/// Whether a call is one of these.
pub fn is_one(number: libc::c_long) -> bool {
    table::METADATA.contains(&number)
}

impl Broker {
    pub(super) fn metadata_call(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        let (place, change) = read(call)?;
        let (held, is_link) = self.hold_place(call, &place)?;
        refuse_own(&held)?;
        self.still_waits(call)?;
        let path = real_path(&held)?;
        if !path.is_absolute() || rustix::fs::fstat(&held)?.st_nlink == 0 {
            // Pipes, sockets, and files whose name is gone.
            return done(apply(&held, is_link, &change));
        }
        if self.denials.on_host() && !self.denials.may_change(&path) {
            let denial = call.denial(DeniedOp::Write, &path, Errno::ACCESS, Property::FsWriteConfined);
            self.denials.tell(call, denial);
            return Err(Errno::ACCESS);
        }
        let judged = self.judge.change(&path, Made::Metadata);
        let passage = judged.map_err(|refusal| self.denials.refused(call, DeniedOp::Write, refusal))?;
        let result = apply(&held, is_link, &change);
        done(self.denials.conclude(call, (DeniedOp::Write, &[&path]), passage, result))
    }

    fn hold_place(&mut self, call: &Call<'_>, place: &Place) -> Result<(OwnedFd, bool), Errno> {
        let (base, path, follow) = match place {
            Place::Fd(number) => return Ok((call.caller.descriptor(*number)?, false)),
            Place::Path(base, path, follow) => (*base, path, *follow),
        };
        let target = Resolver::new(&call.caller).target(base, path, follow);
        let target = target.inspect_err(|errno| self.denials.unreached(call, DeniedOp::Write, (base, path), *errno))?;
        let is_link =
            matches!(&target, Target::Named(_, Some(stat)) if guard::Kind::Symlink == super::judge::kind_of(stat));
        Ok((hold(target, path)?, is_link))
    }
}

/// What a call wants, with everything behind its pointers.
fn read(call: &Call<'_>) -> Result<(Place, Change), Errno> {
    let number = call.number;
    let here = |at: usize, follow| Ok::<_, Errno>(Place::Path(libc::AT_FDCWD, call.path(at)?, follow));
    let owner = |at: usize| Change::Owner(call.int(at).cast_unsigned(), call.int(at + 1).cast_unsigned());
    let mode = |at: usize| Change::Mode(call.int(at).cast_unsigned() & 0o7777);
    #[cfg(target_arch = "x86_64")]
    match number {
        libc::SYS_chmod => return Ok((here(0, true)?, mode(1))),
        libc::SYS_chown => return Ok((here(0, true)?, owner(1))),
        libc::SYS_lchown => return Ok((here(0, false)?, owner(1))),
        libc::SYS_utime => return Ok((here(0, true)?, Change::Times(Box::new(seconds(call, 1)?)))),
        libc::SYS_utimes => return Ok((here(0, true)?, Change::Times(Box::new(microseconds(call, 1)?)))),
        libc::SYS_futimesat => {
            let place = if call.arg(1) == 0 { Place::Fd(call.int(0)) } else { at(call, 0)? };
            return Ok((place, Change::Times(Box::new(microseconds(call, 2)?))));
        }
        _ => {}
    }
    match number {
        libc::SYS_fchmod => Ok((Place::Fd(call.int(0)), mode(1))),
        libc::SYS_fchmodat => Ok((at(call, 0)?, mode(2))),
        libc::SYS_fchmodat2 => Ok((at_flags(call, 0, call.int(3))?, mode(2))),
        libc::SYS_fchown => Ok((Place::Fd(call.int(0)), owner(1))),
        libc::SYS_fchownat => Ok((at_flags(call, 0, call.int(4))?, owner(2))),
        libc::SYS_setxattr => Ok((here(0, true)?, set_xattr(call)?)),
        libc::SYS_lsetxattr => Ok((here(0, false)?, set_xattr(call)?)),
        libc::SYS_fsetxattr => Ok((Place::Fd(call.int(0)), set_xattr(call)?)),
        libc::SYS_removexattr => Ok((here(0, true)?, Change::RemoveXattr(xattr_name(call)?))),
        libc::SYS_lremovexattr => Ok((here(0, false)?, Change::RemoveXattr(xattr_name(call)?))),
        libc::SYS_fremovexattr => Ok((Place::Fd(call.int(0)), Change::RemoveXattr(xattr_name(call)?))),
        libc::SYS_utimensat => {
            let place = if call.arg(1) == 0 { Place::Fd(call.int(0)) } else { at_flags(call, 0, call.int(3))? };
            Ok((place, Change::Times(Box::new(nanoseconds(call, 2)?))))
        }
        // setxattrat, removexattrat and file_setattr: too young for anything to need them; libc falls back.
        _ => Err(Errno::NOSYS),
    }
}

fn at(call: &Call<'_>, base: usize) -> Result<Place, Errno> {
    Ok(Place::Path(call.int(base), call.path(base + 1)?, true))
}

fn at_flags(call: &Call<'_>, base: usize, flags: i32) -> Result<Place, Errno> {
    if flags & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
        return Err(Errno::INVAL);
    }
    let path = call.caller.c_string(call.arg(base + 1), libc::PATH_MAX as usize);
    let path = path.map_err(|errno| if errno == Errno::TOOBIG { Errno::NAMETOOLONG } else { errno })?;
    match (path.is_empty(), flags & libc::AT_EMPTY_PATH != 0) {
        (true, true) if call.int(base) == libc::AT_FDCWD => Ok(Place::Path(libc::AT_FDCWD, b".".to_vec(), true)),
        (true, true) => Ok(Place::Fd(call.int(base))),
        (true, false) => Err(Errno::NOENT),
        _ => Ok(Place::Path(call.int(base), path, flags & libc::AT_SYMLINK_NOFOLLOW == 0)),
    }
}

fn xattr_name(call: &Call<'_>) -> Result<CString, Errno> {
    let name = call.caller.c_string(call.arg(1), LONGEST_NAME_BYTES);
    let name = name.map_err(|errno| if errno == Errno::TOOBIG { Errno::RANGE } else { errno })?;
    if name.is_empty() { Err(Errno::RANGE) } else { CString::new(name).map_err(|_| Errno::INVAL) }
}

fn set_xattr(call: &Call<'_>) -> Result<Change, Errno> {
    let name = xattr_name(call)?;
    if call.arg(3) > LONGEST_VALUE_BYTES {
        return Err(Errno::TOOBIG);
    }
    let mut value = vec![0_u8; call.arg(3) as usize];
    if !value.is_empty() && call.caller.read(call.arg(2), &mut value)? < value.len() {
        return Err(Errno::FAULT);
    }
    Ok(Change::SetXattr { name, value, flags: call.int(4).cast_unsigned() })
}

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };

/// Pairs of numbers behind a pointer, or now for a null one.
fn times(
    call: &Call<'_>,
    at: usize,
    read: impl Fn([i64; 4]) -> Result<Timestamps, Errno>,
) -> Result<Timestamps, Errno> {
    if call.arg(at) == 0 {
        return Ok(Timestamps { last_access: NOW, last_modification: NOW });
    }
    let bytes: [u8; 32] = call.caller.bytes(call.arg(at))?;
    let number = |index: usize| {
        let bytes = bytes.get(index * 8..index * 8 + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, i64::from_ne_bytes)
    };
    read([number(0), number(1), number(2), number(3)])
}

fn nanoseconds(call: &Call<'_>, at: usize) -> Result<Timestamps, Errno> {
    times(call, at, |[a, b, c, d]| {
        let spec = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
        Ok(Timestamps { last_access: spec(a, b), last_modification: spec(c, d) })
    })
}

#[cfg(target_arch = "x86_64")]
fn microseconds(call: &Call<'_>, at: usize) -> Result<Timestamps, Errno> {
    times(call, at, |[a, b, c, d]| {
        if !(0..1_000_000).contains(&b) || !(0..1_000_000).contains(&d) {
            return Err(Errno::INVAL);
        }
        let spec = |tv_sec, micro: i64| Timespec { tv_sec, tv_nsec: micro * 1000 };
        Ok(Timestamps { last_access: spec(a, b), last_modification: spec(c, d) })
    })
}

/// `struct utimbuf` is shorter than the others.
#[cfg(target_arch = "x86_64")]
fn seconds(call: &Call<'_>, at: usize) -> Result<Timestamps, Errno> {
    if call.arg(at) == 0 {
        return Ok(Timestamps { last_access: NOW, last_modification: NOW });
    }
    let bytes: [u8; 16] = call.caller.bytes(call.arg(at))?;
    let spec = |bytes: &[u8]| {
        let tv_sec = bytes.try_into().map_or(0, i64::from_ne_bytes);
        Timespec { tv_sec, tv_nsec: 0 }
    };
    let (one, other) = bytes.split_at(8);
    Ok(Timestamps { last_access: spec(one), last_modification: spec(other) })
}

/// Makes the change on what is held. A held link is changed itself.
fn apply(held: &OwnedFd, is_link: bool, change: &Change) -> Result<(), Errno> {
    let link = own_link(held)?;
    match change {
        Change::Mode(_) if is_link => Err(Errno::OPNOTSUPP),
        Change::Mode(mode) => rustix::fs::chmodat(CWD, &link, Mode::from_raw_mode(*mode), AtFlags::empty()),
        Change::Owner(user, group) => {
            // -1 leaves it as it is.
            let user = (*user != u32::MAX).then(|| Uid::from_raw(*user));
            let group = (*group != u32::MAX).then(|| Gid::from_raw(*group));
            rustix::fs::chownat(held, "", user, group, AtFlags::EMPTY_PATH)
        }
        Change::Times(times) if is_link => rustix::fs::utimensat(held, "", times, AtFlags::EMPTY_PATH),
        Change::Times(times) => rustix::fs::utimensat(CWD, &link, times, AtFlags::empty()),
        // Attributes of links are the superuser's only (xattr(7)), and there is no call for them by descriptor.
        Change::SetXattr { .. } | Change::RemoveXattr(_) if is_link => Err(Errno::PERM),
        Change::SetXattr { name, value, flags } => {
            rustix::fs::setxattr(&link, name, value, XattrFlags::from_bits_retain(*flags))
        }
        Change::RemoveXattr(name) => rustix::fs::removexattr(&link, name),
    }
}
