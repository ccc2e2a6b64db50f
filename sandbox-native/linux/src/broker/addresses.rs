//! Addresses of connect and sendto: which are those of the internet, and whether a connection there will be refused.

use super::call::Call;
use plan::{DeniedOp, Network, ObservedDenial, Property};
use rustix::io::Errno;
use rustix::net::AddressFamily;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The denial that a connect or send to this address will end in, if it will.
pub fn judge(call: &Call<'_>, address: &[u8], network: Network) -> Option<ObservedDenial> {
    let pid = call.caller.tid;
    let (ip, port) = parse_ip(address)?;
    let local = ip.is_loopback() || ip.is_unspecified();
    let (errno, note) = match network {
        // What is sent to an address over TCP goes where the socket is connected.
        Network::Open | Network::Loopback => return None,
        Network::Private if local => {
            if is_served(pid, port) {
                return None;
            }
            ("ECONNREFUSED", Some("Nothing listens there in the private loopback; the host's is another one"))
        }
        Network::Private => ("ENETUNREACH", None),
        Network::Blocked => ("EACCES", None),
    };
    Some(ObservedDenial {
        host: Some(ip.to_string()),
        port: Some(port),
        errno: Some(errno.into()),
        note: note.map(str::to_owned),
        ..call.bare_denial(DeniedOp::Connect, Property::NetBlocked)
    })
}

/// A socket of a family that leads out. Unix sockets are refused too and not reported: libc tries nscd's at every name it
/// looks up, and here nobody can know which one was meant.
pub fn refused_socket(call: &Call<'_>, network: Network) -> Option<ObservedDenial> {
    let name = match call.int(0) {
        libc::AF_INET => "AF_INET",
        libc::AF_INET6 => "AF_INET6",
        _ => return None,
    };
    let which = if network == Network::Loopback { " that are not TCP's" } else { "" };
    let note = Some(format!("{name} sockets{which} are refused; the address is not known yet"));
    let denial = call.bare_denial(DeniedOp::Connect, Property::NetBlocked);
    Some(ObservedDenial { errno: Some("EPERM".into()), note, ..denial })
}

/// Where there is a loopback, libc makes such a socket to sort the addresses of "localhost", and does as well without; as it
/// could be anybody's, it is told at the end, of a command that failed.
pub fn only_sorts(call: &Call<'_>, network: Network) -> bool {
    network == Network::Loopback && call.int(1) == libc::SOCK_DGRAM | libc::SOCK_CLOEXEC && call.int(2) == 0
}

/// The first field of every address.
pub fn family(address: &[u8]) -> Option<i32> {
    Some(u16::from_ne_bytes(address.get(..2)?.try_into().ok()?).into())
}

/// The address of a place for a socket of a family: IPv4 is mapped for one of IPv6.
pub fn to_bytes(place: SocketAddr, family: AddressFamily) -> Result<Vec<u8>, Errno> {
    let number = family.as_raw().to_ne_bytes();
    let port = place.port().to_be_bytes();
    let six = |ip: Ipv6Addr| [&number[..], &port, &[0; 4], &ip.octets(), &[0; 4]].concat();
    match (family, place.ip()) {
        (AddressFamily::INET, IpAddr::V4(ip)) => Ok([&number[..], &port, &ip.octets(), &[0; 8]].concat()),
        (AddressFamily::INET6, IpAddr::V4(ip)) => Ok(six(ip.to_ipv6_mapped())),
        (AddressFamily::INET6, IpAddr::V6(ip)) => Ok(six(ip)),
        _ => Err(Errno::AFNOSUPPORT),
    }
}

/// Address and port, mapped ones as IPv4.
pub fn parse_ip(address: &[u8]) -> Option<(IpAddr, u16)> {
    let port = u16::from_be_bytes(address.get(2..4)?.try_into().ok()?);
    let ip = match family(address)? {
        libc::AF_INET => {
            let octets: [u8; 4] = address.get(4..8)?.try_into().ok()?;
            IpAddr::V4(Ipv4Addr::from(octets))
        }
        libc::AF_INET6 => {
            let octets: [u8; 16] = address.get(8..24)?.try_into().ok()?;
            let six = Ipv6Addr::from(octets);
            // ::ffff:127.0.0.1 is 127.0.0.1.
            six.to_ipv4_mapped().map_or(IpAddr::V6(six), IpAddr::V4)
        }
        _ => return None,
    };
    Some((ip, port))
}

/// Whether something in the caller's net namespace listens on the port (TCP) or has it bound (UDP).
fn is_served(pid: libc::pid_t, port: u16) -> bool {
    ["tcp", "tcp6", "udp", "udp6"].iter().any(|table| {
        let listed = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        listed.lines().skip(1).any(|line| serves(line, port, table.starts_with("tcp")))
    })
}

/// One line of /proc/net/tcp: number, local address:port in hex, remote, state (0A is LISTEN).
fn serves(line: &str, port: u16, wants_listen: bool) -> bool {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let local = fields.next().and_then(|local| local.rsplit_once(':'));
    let same = local.is_some_and(|(_, hex)| u16::from_str_radix(hex, 16) == Ok(port));
    same && (!wants_listen || fields.nth(1) == Some("0A"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_each_family_is_read() {
        let mut four = (libc::AF_INET as u16).to_ne_bytes().to_vec();
        four.extend([0x1f, 0x90, 10, 0, 0, 1]);
        assert_eq!(parse_ip(&four), Some((IpAddr::from([10, 0, 0, 1]), 8080)));
        let mut six = (libc::AF_INET6 as u16).to_ne_bytes().to_vec();
        six.extend([0, 53, 0, 0, 0, 0]);
        six.extend(Ipv4Addr::new(127, 0, 0, 1).to_ipv6_mapped().octets());
        assert_eq!(parse_ip(&six), Some((IpAddr::from([127, 0, 0, 1]), 53)));
    }

    #[test]
    fn a_short_address_is_no_address() {
        assert_eq!(parse_ip(&[2]), None);
        assert_eq!(parse_ip(&(libc::AF_INET as u16).to_ne_bytes()), None);
    }

    #[test]
    fn a_listening_line_serves_its_port_and_a_connected_one_does_not() {
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000";
        assert!(serves(line, 8080, true));
        assert!(!serves(line, 8081, true));
        assert!(!serves(&line.replace(" 0A ", " 01 "), 8080, true));
    }
}
