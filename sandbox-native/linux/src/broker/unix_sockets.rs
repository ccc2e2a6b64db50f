//! Unix sockets by name. To bind is to make a node, which is judged as any other; to connect takes a node that this run
//! bound or that was granted, whatever name leads to it.

use super::addresses::family;
use super::call::{Answer, Call};
use super::caller::O_PATH;
use super::names::{hold, own_link};
use super::resolve::{Resolver, Spot, is_kind, real_path, split};
use super::{Broker, open};
use crate::enforced::errno_name;
use crate::link::Message;
use crate::sys;
use guard::Made;
use plan::{DeniedOp, Network, ObservedDenial, Property, Report};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const HERE: i32 = libc::AT_FDCWD;

/// sizeof(struct sockaddr_un).
const LONGEST_UNIX: usize = 110;

/// The C library asks this service of the host at every name that it looks up and does as well without: an attempt says
/// nothing about the command.
const ASKED_BY_LIBC: [&str; 2] = ["/run/nscd/socket", "/var/run/nscd/socket"];

/// What an address of a unix socket says.
#[derive(Debug, PartialEq, Eq)]
enum Name<'a> {
    Path(&'a [u8]),
    /// With the NUL that it starts with.
    Abstract(&'a [u8]),
    /// Nothing that leads to a socket: the kernel says what is wrong, or picks a name.
    None,
}

fn name_in(address: &[u8]) -> Name<'_> {
    match address.get(2..) {
        _ if family(address) != Some(libc::AF_UNIX) || address.len() > LONGEST_UNIX => Name::None,
        None | Some([]) => Name::None,
        Some(name @ [0, ..]) => Name::Abstract(name),
        Some(name) => Name::Path(name.split(|byte| *byte == 0).next().unwrap_or(name)),
    }
}

/// The address of a path.
fn address_of(path: &[u8]) -> Result<Vec<u8>, Errno> {
    // Room for the NUL, which getsockname callers like to find.
    if path.len() + 3 > LONGEST_UNIX {
        return Err(Errno::NAMETOOLONG);
    }
    let unix = u16::try_from(libc::AF_UNIX).unwrap_or_default().to_ne_bytes();
    Ok([&unix[..], path, b"\0"].concat())
}

impl Broker {
    pub(super) fn connect_unix(&mut self, call: &Call<'_>, socket: OwnedFd, address: Vec<u8>) -> Result<Answer, Errno> {
        match name_in(&address) {
            Name::Path(path) => {
                let node = self.connectable(call, path)?;
                let address = address_of(own_link(&node)?.as_bytes())?;
                self.connect(call, socket, (address, Some(node)))
            }
            // In a net namespace of its own nobody else has such names. Landlock scopes them too, from ABI 6 on.
            Name::Abstract(name) if self.network != Network::Private && !self.sockets.names.contains(name) => {
                let shown = format!("@{}", String::from_utf8_lossy(name.get(1..).unwrap_or_default()));
                let reason = "abstract sockets of the host are closed".to_owned();
                Err(self.refuse_socket(call, &shown, (reason, None)))
            }
            _ => self.connect(call, socket, (address, None)),
        }
    }

    /// The node that a path leads to, if the command may connect to it.
    fn connectable(&mut self, call: &Call<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
        let target = Resolver::new(&call.caller).target(HERE, path, true);
        let node = target.and_then(|target| hold(target, path)).inspect_err(|errno| {
            if *errno == Errno::NOENT {
                tell_if_on_host(call, path);
            }
        })?;
        let stat = rustix::fs::fstat(&node)?;
        if !is_kind(&stat, FileType::Socket) {
            return Err(Errno::CONNREFUSED);
        }
        let place = real_path(&node)?;
        if self.sockets.opens((stat.st_dev, stat.st_ino), &place, self.denials.may_change(&place)) {
            return Ok(node);
        }
        let shown = place.to_string_lossy().into_owned();
        if ASKED_BY_LIBC.contains(&shown.as_str()) {
            return Err(Errno::ACCESS);
        }
        // For the launcher's host to complete with the path, as a flag is written there.
        let grant = Some("--allow-unix=".to_owned());
        Err(self.refuse_socket(call, &shown, ("sockets of the host are closed".to_owned(), grant)))
    }

    /// EACCES and not ECONNREFUSED: after that one, tmux and others remove the socket as one that nobody serves.
    fn refuse_socket(&mut self, call: &Call<'_>, shown: &str, (reason, grant): (String, Option<String>)) -> Errno {
        let denial = ObservedDenial {
            path: Some(shown.to_owned()),
            errno: Some(errno_name(Errno::ACCESS)),
            reason: Some(reason),
            grant,
            ..call.bare_denial(DeniedOp::Connect, Property::NetBlocked)
        };
        self.denials.tell(call, denial);
        Errno::ACCESS
    }

    pub(super) fn bind_unix(&mut self, call: &Call<'_>, socket: &OwnedFd, address: &[u8]) -> Result<Answer, Errno> {
        if let Name::Path(path) = name_in(address) {
            return self.bind_path(call, socket, (path, address));
        }
        self.domains.make(call, || sys::bind(socket.as_fd(), address))?;
        // The kernel may have picked the name.
        if let Ok(bound) = sys::own_address(socket.as_fd())
            && let Name::Abstract(name) = name_in(&bound)
        {
            self.sockets.own_name(name);
        }
        Ok(Answer::Value(0))
    }

    fn bind_path(
        &mut self,
        call: &Call<'_>,
        socket: &OwnedFd,
        (path, address): (&[u8], &[u8]),
    ) -> Result<Answer, Errno> {
        self.sockets.make_room()?;
        let found = Resolver::new(&call.caller).spot(HERE, path);
        let spot = found.inspect_err(|errno| self.denials.unreached(call, DeniedOp::Write, (HERE, path), *errno))?;
        let place = spot.path()?;
        if spot.stat()?.is_some() {
            return Err(Errno::ADDRINUSE);
        }
        open::set_umask(call)?;
        self.still_waits(call)?;
        let judged = self.judge.change(&place, Made::Node);
        let passage = judged.map_err(|refusal| self.denials.refused(call, DeniedOp::Write, refusal))?;
        let bound = self.domains.make(call, || bind_at(call, socket, (path, address), (&spot, &place)));
        self.denials.conclude(call, (DeniedOp::Write, &[&place]), passage, bound)?;
        let node = rustix::fs::openat(&spot.folder, spot.name.as_slice(), O_PATH | OFlags::NOFOLLOW, Mode::empty())?;
        self.sockets.own(node);
        Ok(Answer::Value(0))
    }
}

/// Binds with the address as the caller wrote it, which others read by getsockname, where it leads this process to the same
/// folder; nothing but this process could change that meanwhile. Else, as with /proc/self, with the real path.
fn bind_at(
    call: &Call<'_>,
    socket: &OwnedFd,
    (path, address): (&[u8], &[u8]),
    (spot, place): (&Spot, &Path),
) -> Result<(), Errno> {
    let start = call.caller.folder(HERE)?;
    rustix::process::fchdir(&start)?;
    let bound = match split(path).0 {
        b"" => Ok(start),
        folder => rustix::fs::openat(CWD, folder, O_PATH | OFlags::DIRECTORY, Mode::empty()),
    };
    let is_same = bound.and_then(real_path).is_ok_and(|folder| real_path(&spot.folder) == Ok(folder));
    let result = if is_same {
        sys::bind(socket.as_fd(), address)
    } else {
        address_of(place.as_os_str().as_bytes()).and_then(|address| sys::bind(socket.as_fd(), &address))
    };
    // A working folder would keep its mount busy.
    let _ = rustix::process::chdir("/");
    result
}

/// A socket that the host has and the view has not. This process sees the view only, so the supervisor looks.
pub fn tell_if_on_host(call: &Call<'_>, path: &[u8]) {
    let Some(path) = std::str::from_utf8(path).ok().filter(|path| path.starts_with('/')) else { return };
    let denial = call.bare_denial(DeniedOp::Connect, Property::NetBlocked);
    let (path, errno, exe) = (Some(path.into()), Some("ENOENT".into()), call.caller.exe());
    call.send(&Message::IfOnHost(Box::new(Report::Denial(ObservedDenial { path, errno, exe, ..denial }))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_path_up_to_its_nul_or_an_abstract_name_with_all_its_bytes() {
        let unix = |rest: &[u8]| [&(libc::AF_UNIX as u16).to_ne_bytes()[..], rest].concat();
        assert_eq!(name_in(&unix(b"/a\0b")), Name::Path(b"/a"));
        assert_eq!(name_in(&unix(b"a")), Name::Path(b"a"));
        assert_eq!(name_in(&unix(b"\0a\0")), Name::Abstract(b"\0a\0"));
        assert_eq!(name_in(&unix(b"")), Name::None);
        assert_eq!(name_in(&unix(&[b'a'; 109])), Name::None);
        assert_eq!(name_in(&[2, 0, b'/', 0]), Name::None);
        assert_eq!(name_in(&[1]), Name::None);
        assert_eq!(address_of(b"/a"), Ok(unix(b"/a\0")));
        assert_eq!(address_of(&[b'a'; 108]), Err(Errno::NAMETOOLONG));
    }
}
