//! TCP on the host's loopback for a command without a network namespace. It listens on addresses of the loopback only, and
//! connects only to what listens in this run.
//!
//! Whose listener a port leads to is not looked up and then believed. The broker takes a copy of the very socket that it let
//! listen (known by its cookie, which the kernel never gives twice) and keeps it until the connection stands or failed:
//! - While somebody has it open and nobody shuts it down, it listens. Shutting down and disconnecting come through the
//!   broker, which ends the connects on their way to it first.
//! - While it listens, nobody else can on that address and port: SO_REUSEPORT is answered and not set, and it is bound to
//!   one address, which the kernel looks up before the wildcards of others.
//!
//! So no process of the host can take the place over in between, also not between two tries of a first packet. What
//! the administrator lets redirect connections on the loopback (packet filters that translate addresses, BPF at the lookup of
//! listeners) redirects these too. And the port is the host's: its processes can connect to a listener of the command.

use super::Broker;
use super::addresses::{family, parse_ip, to_bytes};
use super::call::{Answer, Call, done};
use super::connects::has_ended;
use super::sockets::may_wait;
use crate::enforced::errno_name;
use crate::sys;
use plan::{DeniedOp, ObservedDenial, Property};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Shutdown, SocketType, ipproto, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Sockets of one run that listen, or were bound to every address.
const MOST_SOCKETS: usize = 1024;
/// Connects whose first packet was not answered yet: each keeps two descriptors.
const MOST_HELD: usize = 128;
/// How often they are looked at.
const PAUSE: Duration = Duration::from_millis(20);
/// A connect that nobody waits for in a call ends after this time: its listener accepts nothing.
const LONGEST_HELD: Duration = Duration::from_secs(10);

/// The sockets of a run that listen, and the connects on their way to them.
#[derive(Default)]
pub struct Loopback {
    /// What those were asked to bind to, by cookie, that were asked for every address.
    wide: HashMap<u64, Reach>,
    listeners: Vec<Listener>,
    held: Vec<Held>,
}

/// Which addresses lead to a listener that is bound to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Exact,
    /// Any of IPv4's loopback: it asked for 0.0.0.0.
    Four,
    /// Any of the loopback: it asked for ::, which takes both.
    All,
}

struct Listener {
    cookie: u64,
    inode: u64,
    place: SocketAddr,
    reach: Reach,
    /// A process that has it open, and under which number.
    holder: (libc::pid_t, i32),
}

/// A connect on its way, with the socket that it must end at.
struct Held {
    client: OwnedFd,
    cookie: u64,
    _listener: OwnedFd,
    child: Option<Rc<OwnedFd>>,
    since: Instant,
}

impl Listener {
    fn serves(&self, ip: IpAddr) -> bool {
        self.place.ip() == ip
            || match self.reach {
                Reach::Exact => false,
                Reach::Four => ip.is_ipv4(),
                Reach::All => true,
            }
    }

    fn is(&self, socket: &OwnedFd) -> bool {
        sockopt::socket_cookie(socket) == Ok(self.cookie) && is_listening(socket) && place_of(socket) == Ok(self.place)
    }

    /// A copy of the socket, from whoever has it open. EACCES is the kernel's word for processes outside of the sandbox.
    fn copy(&mut self) -> Option<OwnedFd> {
        if let Some(socket) = copy_of(self.holder).filter(|socket| self.is(socket)) {
            return Some(socket);
        }
        let link = format!("socket:[{}]", self.inode);
        let pids = std::fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| number(&entry.file_name()));
        let (holder, socket) = pids.into_iter().find_map(|pid| {
            let numbers = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
            let mut those =
                numbers.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|to| to.as_os_str() == &*link));
            let holder = (pid, number(&those.next()?.file_name())?);
            Some((holder, copy_of(holder).filter(|socket| self.is(socket))?))
        })?;
        self.holder = holder;
        Some(socket)
    }
}

fn number(name: &std::ffi::OsStr) -> Option<i32> {
    name.to_str()?.parse().ok()
}

fn copy_of((pid, number): (libc::pid_t, i32)) -> Option<OwnedFd> {
    let process = rustix::process::pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    rustix::process::pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()
}

fn is_listening(socket: &OwnedFd) -> bool {
    sockopt::socket_acceptconn(socket) == Ok(true)
}

fn place_of(socket: &OwnedFd) -> Result<SocketAddr, Errno> {
    let (ip, port) = parse_ip(&sys::own_address(socket.as_fd())?).ok_or(Errno::INVAL)?;
    Ok(SocketAddr::new(ip, port))
}

/// The family of a TCP socket. Others can only have been handed in from outside.
fn family_of_tcp(socket: &OwnedFd) -> Result<AddressFamily, Errno> {
    let is_tcp =
        sockopt::socket_type(socket)? == SocketType::STREAM && sockopt::socket_protocol(socket)? == Some(ipproto::TCP);
    let domain = sockopt::socket_domain(socket)?;
    if is_tcp && [AddressFamily::INET, AddressFamily::INET6].contains(&domain) {
        Ok(domain)
    } else {
        Err(Errno::ACCESS)
    }
}

/// Where a socket is bound that asks for an address, and what leads to it then. An address of every interface stands for the
/// loopback, as a development server means it; the host's other interfaces are closed.
fn bindable(socket: &OwnedFd, ip: IpAddr) -> Result<(IpAddr, Reach), Errno> {
    let four = IpAddr::V4(Ipv4Addr::LOCALHOST);
    match ip {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ok((four, Reach::Four)),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) if sockopt::ipv6_v6only(socket)? => {
            Ok((IpAddr::V6(Ipv6Addr::LOCALHOST), Reach::Exact))
        }
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ok((four, Reach::All)),
        ip if ip.is_loopback() => Ok((ip, Reach::Exact)),
        // What a machine that has no such address says.
        _ => Err(Errno::ADDRNOTAVAIL),
    }
}

impl Loopback {
    /// The listener that an address leads to, held, and its place.
    fn find(&mut self, ip: IpAddr, port: u16) -> Option<(u64, OwnedFd, SocketAddr)> {
        let (mut exact, mut wide): (Vec<_>, Vec<_>) = self
            .listeners
            .iter_mut()
            .filter(|listener| listener.place.port() == port && listener.serves(ip))
            .partition(|listener| listener.place.ip() == ip);
        let mut candidates = exact.iter_mut().chain(wide.iter_mut());
        candidates.find_map(|listener| Some((listener.cookie, listener.copy()?, listener.place)))
    }

    fn remember(&mut self, listener: Listener) -> Result<(), Errno> {
        self.listeners.retain(|known| known.cookie != listener.cookie);
        if self.listeners.len() >= MOST_SOCKETS {
            self.listeners.retain_mut(|known| known.copy().is_some());
        }
        if self.listeners.len() >= MOST_SOCKETS {
            return Err(Errno::NOBUFS);
        }
        self.listeners.push(listener);
        Ok(())
    }

    /// One that is forgotten is reached by its own address only.
    fn remember_wide(&mut self, cookie: u64, reach: Reach) {
        if self.wide.len() >= MOST_SOCKETS {
            let listeners = &self.listeners;
            self.wide.retain(|known, _| listeners.iter().any(|listener| listener.cookie == *known));
        }
        if self.wide.len() < MOST_SOCKETS {
            self.wide.insert(cookie, reach);
        }
    }

    /// How long poll may sleep.
    pub fn pause(&self) -> Option<Duration> {
        (!self.held.is_empty()).then_some(PAUSE)
    }

    /// Lets go of what is decided.
    pub fn look(&mut self) {
        self.held.retain(|held| {
            let is_made = held.child.as_ref().is_some_and(|child| !has_ended(child));
            if !is_made && sys::awaits_answer(held.client.as_fd()) && held.since.elapsed() > LONGEST_HELD {
                let _ = rustix::net::connect_unspec(&held.client);
            }
            is_made || sys::awaits_answer(held.client.as_fd())
        });
    }
}

impl Broker {
    pub(super) fn bind_tcp(&mut self, call: &Call<'_>, socket: &OwnedFd, address: &[u8]) -> Result<Answer, Errno> {
        let domain = family_of_tcp(socket)?;
        let (ip, port) = parse_ip(address).ok_or(Errno::AFNOSUPPORT)?;
        let (ip, reach) = bindable(socket, ip).inspect_err(|errno| {
            self.tell_tcp(call, (ip, port), *errno, "only addresses of the loopback can be listened on");
        })?;
        self.bind_at(call, socket, (domain, SocketAddr::new(ip, port), reach)).map(|()| Answer::Value(0))
    }

    fn bind_at(
        &mut self,
        call: &Call<'_>,
        socket: &OwnedFd,
        (domain, place, reach): (AddressFamily, SocketAddr, Reach),
    ) -> Result<(), Errno> {
        let address = to_bytes(place, domain)?;
        self.domains.make(call, || sys::bind(socket.as_fd(), &address))?;
        if reach != Reach::Exact {
            self.loopback.remember_wide(sockopt::socket_cookie(socket)?, reach);
        }
        Ok(())
    }

    /// listen(2) on any socket: one of TCP that has no address yet gets one of the loopback.
    pub(super) fn listen_call(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        let socket = call.socket()?;
        self.still_waits(call)?;
        let backlog = call.int(1);
        let domain = sockopt::socket_domain(&socket)?;
        if ![AddressFamily::INET, AddressFamily::INET6].contains(&domain) {
            return done(rustix::net::listen(&socket, backlog));
        }
        let domain = family_of_tcp(&socket)?;
        if place_of(&socket)?.port() == 0 {
            let every = if domain == AddressFamily::INET {
                IpAddr::V4(Ipv4Addr::UNSPECIFIED)
            } else {
                Ipv6Addr::UNSPECIFIED.into()
            };
            let (ip, reach) = bindable(&socket, every)?;
            self.bind_at(call, &socket, (domain, SocketAddr::new(ip, 0), reach))?;
        }
        let place = place_of(&socket)?;
        if !place.ip().is_loopback() {
            return Err(Errno::ACCESS);
        }
        let cookie = sockopt::socket_cookie(&socket)?;
        let reach = self.loopback.wide.get(&cookie).copied().unwrap_or(Reach::Exact);
        let inode = rustix::fs::fstat(&socket)?.st_ino;
        let holder = (call.caller.status()?.tgid, call.int(0));
        self.loopback.remember(Listener { cookie, inode, place, reach, holder })?;
        done(rustix::net::listen(&socket, backlog))
    }

    /// shutdown(2), which makes a socket that listens stop.
    pub(super) fn shutdown_call(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        let socket = call.socket()?;
        self.still_waits(call)?;
        let how = match call.int(1) {
            libc::SHUT_RD => Shutdown::Read,
            libc::SHUT_WR => Shutdown::Write,
            libc::SHUT_RDWR => Shutdown::Both,
            _ => return Err(Errno::INVAL),
        };
        self.stop_listening(&socket);
        done(rustix::net::shutdown(&socket, how))
    }

    /// Before a socket stops listening, the connects on their way to it end.
    fn stop_listening(&mut self, socket: &OwnedFd) {
        let Ok(cookie) = sockopt::socket_cookie(socket) else { return };
        let (listener, connects): (BorrowedFd<'_>, _) = (self.listener.as_fd(), &mut self.sockets.connects);
        self.loopback.listeners.retain(|known| known.cookie != cookie);
        self.loopback.held.retain(|held| {
            if held.cookie != cookie {
                return true;
            }
            if let Some(child) = &held.child {
                connects.cancel(child, listener, Errno::CONNREFUSED);
            }
            if sys::awaits_answer(held.client.as_fd()) {
                let _ = rustix::net::connect_unspec(&held.client);
            }
            false
        });
    }

    pub(super) fn connect_tcp(&mut self, call: &Call<'_>, socket: OwnedFd, address: &[u8]) -> Result<Answer, Errno> {
        let domain = family_of_tcp(&socket)?;
        if family(address) == Some(libc::AF_UNSPEC) {
            self.stop_listening(&socket);
            return done(self.domains.make(call, || sys::connect(socket.as_fd(), address)));
        }
        let (ip, port) = parse_ip(address).ok_or(Errno::AFNOSUPPORT)?;
        let local = match ip {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        if !local.is_loopback() {
            // What a network namespace with nothing but a loopback says.
            self.tell_tcp(call, (ip, port), Errno::NETUNREACH, "");
            return Err(Errno::NETUNREACH);
        }
        if self.loopback.held.len() >= MOST_HELD {
            return Err(Errno::AGAIN);
        }
        let Some((cookie, listener, place)) = self.loopback.find(local, port) else {
            let note = "Nothing that this run started listens there; the host's own services are closed";
            self.tell_tcp(call, (ip, port), Errno::CONNREFUSED, note);
            return Err(Errno::CONNREFUSED);
        };
        let address = to_bytes(place, domain)?;
        self.connect_held(call, (socket, &address), (cookie, listener))
    }

    fn connect_held(
        &mut self,
        call: &Call<'_>,
        (client, address): (OwnedFd, &[u8]),
        (cookie, listener): (u64, OwnedFd),
    ) -> Result<Answer, Errno> {
        let since = Instant::now();
        if may_wait(&client)? {
            let rulesets = self.domains.of(call)?;
            let (copy, node) = (again(&client)?, again(&listener)?);
            let started = (self.listener.as_fd(), rulesets.as_slice());
            let child = self.sockets.connects.start(call, started, (copy, address, Some(node)))?;
            self.loopback.held.push(Held { client, cookie, _listener: listener, child: Some(child), since });
            return Ok(Answer::Given);
        }
        let made = self.domains.make(call, || sys::connect(client.as_fd(), address));
        if sys::awaits_answer(client.as_fd()) {
            self.loopback.held.push(Held { client, cookie, _listener: listener, child: None, since });
        }
        done(made)
    }

    fn tell_tcp(&mut self, call: &Call<'_>, (ip, port): (IpAddr, u16), errno: Errno, note: &str) {
        let denial = ObservedDenial {
            host: Some(ip.to_string()),
            port: Some(port),
            errno: Some(errno_name(errno)),
            note: Some(note.to_owned()).filter(|note| !note.is_empty()),
            ..call.bare_denial(DeniedOp::Connect, Property::NetBlocked)
        };
        self.denials.tell(call, denial);
    }
}

fn again(socket: &OwnedFd) -> Result<OwnedFd, Errno> {
    rustix::io::fcntl_dupfd_cloexec(socket, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(ip: &str, reach: Reach) -> Listener {
        let ip: IpAddr = ip.parse().unwrap();
        Listener { cookie: 1, inode: 1, place: SocketAddr::new(ip, 80), reach, holder: (0, 0) }
    }

    #[test]
    fn a_listener_is_reached_by_the_addresses_that_it_asked_for() {
        let reached =
            |listener: &Listener| ["127.0.0.1", "127.9.9.9", "::1"].map(|ip| listener.serves(ip.parse().unwrap()));
        assert_eq!(reached(&listener("127.0.0.1", Reach::Exact)), [true, false, false]);
        assert_eq!(reached(&listener("127.0.0.1", Reach::Four)), [true, true, false]);
        assert_eq!(reached(&listener("127.0.0.1", Reach::All)), [true, true, true]);
        assert_eq!(reached(&listener("::1", Reach::Exact)), [false, false, true]);
    }
}
