//! Calls on sockets. A connect or bind is carried out here, on a copy of the caller's socket and with a copy of the address:
//! were it to go on in the caller, another thread could put another socket under the number, or another path into the
//! memory. An addressed sendto goes on: no socket that a command can make takes the path of a unix socket there.

use super::call::{Answer, Call, done};
use super::connects::Connects;
use super::{Broker, addresses};
use crate::sys;
use plan::{Network, ObservedDenial};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::HashSet;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// sockaddr_storage: the kernel takes no longer address.
const LONGEST_ADDRESS: usize = 128;

/// Nodes of unix sockets that one run may have at once; each is kept open.
const MOST_NODES: usize = 256;

/// Names of abstract sockets that are remembered.
const MOST_NAMES: usize = 4096;

/// PIDFD_THREAD: a descriptor of a thread, whose table of descriptors can be its own. From kernel 6.9.
const PIDFD_THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL.cast_unsigned());

/// Device and inode of a node, and the node itself, open, so that no other gets its number.
type Node = (u64, u64, OwnedFd);

/// The unix sockets that the command may connect to, and its connects that wait.
pub struct Sockets {
    /// Bound in this run.
    nodes: Vec<Node>,
    /// Abstract names that were bound in this run, with the NUL before them.
    pub names: HashSet<Vec<u8>>,
    /// Of the host, by --allow-unix: the path, and the node that was there at the start.
    granted: Vec<(PathBuf, Option<Node>)>,
    pub connects: Connects,
}

/// A node by number, held.
fn held(node: OwnedFd) -> Result<Node, Errno> {
    let stat = rustix::fs::fstat(&node)?;
    Ok((stat.st_dev, stat.st_ino, node))
}

impl Sockets {
    pub fn new(granted: &[String]) -> Sockets {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let granted = granted.iter().map(|path| {
            let node = rustix::fs::openat(CWD, path, flags, Mode::empty()).and_then(held);
            (PathBuf::from(path), node.ok())
        });
        Sockets { nodes: Vec::new(), names: HashSet::new(), granted: granted.collect(), connects: Connects::default() }
    }

    /// Makes room for one more node; ENFILE when there is none.
    pub fn make_room(&mut self) -> Result<(), Errno> {
        self.nodes.retain(|(_, _, node)| rustix::fs::fstat(node).is_ok_and(|stat| stat.st_nlink > 0));
        if self.nodes.len() < MOST_NODES { Ok(()) } else { Err(Errno::NFILE) }
    }

    /// Remembers a node that was bound.
    pub fn own(&mut self, node: OwnedFd) {
        self.nodes.extend(held(node));
    }

    /// Remembers an abstract name.
    pub fn own_name(&mut self, name: &[u8]) {
        if self.names.len() < MOST_NAMES {
            self.names.insert(name.to_vec());
        }
    }

    /// True for a socket of this run, and for one that was granted: the one that was there, or a new one that a service put
    /// there since, where the command itself could not.
    pub fn opens(&self, number: (u64, u64), path: &Path, may_change: bool) -> bool {
        let is_it = |(device, inode, _): &Node| (*device, *inode) == number;
        let granted = |(known, node): &(PathBuf, Option<Node>)| {
            node.as_ref().is_some_and(is_it) || (known == path && !may_change)
        };
        self.nodes.iter().any(is_it) || self.granted.iter().any(granted)
    }
}

/// Whether this process may take copies of its callers' sockets: some containers forbid the call.
pub fn can_copy() -> bool {
    let me = pidfd_open(rustix::process::getpid(), PidfdFlags::empty());
    me.is_ok_and(|me| pidfd_getfd(&me, me.as_raw_fd(), PidfdGetfdFlags::empty()).is_ok())
}

/// Whether a connect may have to wait for the other side.
pub fn may_wait(socket: &OwnedFd) -> Result<bool, Errno> {
    let waits = !rustix::fs::fcntl_getfl(socket)?.contains(OFlags::NONBLOCK);
    Ok(waits && matches!(sockopt::socket_type(socket)?, SocketType::STREAM | SocketType::SEQPACKET))
}

impl Call<'_> {
    /// A copy of the caller's socket.
    pub fn socket(&self) -> Result<OwnedFd, Errno> {
        let number = self.int(0);
        if number < 0 {
            return Err(Errno::BADF);
        }
        let pid = |number| rustix::process::Pid::from_raw(number).ok_or(Errno::SRCH);
        let thread = pidfd_open(pid(self.caller.tid)?, PIDFD_THREAD);
        let owner = match thread {
            Ok(thread) => thread,
            Err(_) => pidfd_open(pid(self.caller.status()?.tgid)?, PidfdFlags::empty())?,
        };
        pidfd_getfd(owner, number, PidfdGetfdFlags::empty())
    }

    /// The address at a register, as long as the next one says: read once.
    fn address(&self, at: usize) -> Result<Vec<u8>, Errno> {
        let length = usize::try_from(self.int(at + 1)).ok().filter(|length| *length <= LONGEST_ADDRESS);
        let mut bytes = vec![0; length.ok_or(Errno::INVAL)?];
        if self.caller.read(self.arg(at), &mut bytes)? == bytes.len() { Ok(bytes) } else { Err(Errno::FAULT) }
    }
}

impl Broker {
    pub(super) fn socket_call(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        match call.number {
            libc::SYS_connect if self.judges_sockets => self.connect_call(call),
            libc::SYS_bind => self.bind_call(call),
            libc::SYS_connect => Ok(self.foretell(call, 1)),
            libc::SYS_sendto => Ok(self.foretell(call, 4)),
            _ => {
                match addresses::refused_socket(call, self.network) {
                    Some(denial) if addresses::only_sorts(call, self.network) => {
                        self.doubtful.get_or_insert(ObservedDenial { exe: call.caller.exe(), ..denial });
                    }
                    Some(denial) => self.denials.tell(call, denial),
                    None => {}
                }
                Err(Errno::PERM)
            }
        }
    }

    /// Tells what the kernel will refuse, and lets the call go on.
    fn foretell(&mut self, call: &Call<'_>, at: usize) -> Answer {
        if let Ok(address) = call.address(at) {
            self.tell_of(call, &address);
        }
        Answer::Continue
    }

    fn tell_of(&mut self, call: &Call<'_>, address: &[u8]) {
        if let Some(denial) = addresses::judge(call, address, self.network) {
            self.denials.tell(call, denial);
        }
    }

    fn connect_call(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        let socket = call.socket()?;
        let address = call.address(1)?;
        self.still_waits(call)?;
        if sockopt::socket_domain(&socket)? == AddressFamily::UNIX {
            return self.connect_unix(call, socket, address);
        }
        if self.network == Network::Loopback {
            return self.connect_tcp(call, socket, &address);
        }
        self.tell_of(call, &address);
        self.connect(call, socket, (address, None))
    }

    /// Connects the copy. One that may have to wait does so in a child.
    pub(super) fn connect(
        &mut self,
        call: &Call<'_>,
        socket: OwnedFd,
        (address, node): (Vec<u8>, Option<OwnedFd>),
    ) -> Result<Answer, Errno> {
        if may_wait(&socket)? {
            let rulesets = self.domains.of(call)?;
            let started = (self.listener.as_fd(), rulesets.as_slice());
            return self.sockets.connects.start(call, started, (socket, &address, node)).map(|_| Answer::Given);
        }
        done(self.domains.make(call, || sys::connect(socket.as_fd(), &address)))
    }

    fn bind_call(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        let socket = call.socket()?;
        let address = call.address(1)?;
        self.still_waits(call)?;
        if sockopt::socket_domain(&socket)? == AddressFamily::UNIX {
            return self.bind_unix(call, &socket, &address);
        }
        if self.network == Network::Loopback {
            return self.bind_tcp(call, &socket, &address);
        }
        done(self.domains.make(call, || sys::bind(socket.as_fd(), &address)))
    }
}
