//! Hosts: one spelling for each, and patterns over them.
//!
//! A name is compared in lower case and without the dot at its end. An address is compared as a number, in every form that
//! inet_aton(3) takes (`2130706433`, `0x7f.1`, `0177.0.0.1`), and an IPv4 address inside an IPv6 one as the IPv4 address.
//! Names with letters beyond ASCII are refused in rules and never allowed in calls: which name of the network they become
//! needs Unicode's tables, so a rule is to be written with the name that begins with `xn--`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::wildcard::{ANYTHING, Proof, Token, matches, tokens};

/// A host in its one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Address(IpAddr),
}

/// What a call connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Known(Host, Option<u16>),
    /// Not known before it runs, or in a spelling that is not understood.
    Unknown,
}

/// What a rule says about hosts.
#[derive(Debug)]
pub(crate) struct HostPattern {
    kind: Kind,
    port: Option<u16>,
}

#[derive(Debug)]
enum Kind {
    Any,
    Exact(Host),
    /// `*.name`: everything below it, and not the name itself.
    Below(String),
    /// A star elsewhere. Never in an allow rule.
    Wild(Vec<Token>),
}

/// Reads a rule's host: `name`, `*.name`, an address, each with `:port` if wanted, or `*`.
pub(crate) fn pattern(spec: &str) -> Result<HostPattern, String> {
    let (text, port) = split_port(spec.trim()).ok_or_else(|| format!("\"{spec}\" has a port that is no number"))?;
    if text.contains("://") || text.contains('/') {
        return Err(format!("\"{spec}\" is more than a host; write the name alone, such as \"example.com\""));
    }
    if !text.is_ascii() {
        return Err(format!(
            "\"{text}\" has letters that no name of the network has; write it in the form with \"xn--\""
        ));
    }
    let kind = match text.strip_prefix("*.") {
        _ if text == "*" => Kind::Any,
        Some(below) if !below.contains('*') => match canonical(below) {
            Some(Host::Name(name)) => Kind::Below(name),
            _ => return Err(format!("\"{spec}\" is not a pattern of host names")),
        },
        _ if text.contains('*') => Kind::Wild(wild(text)),
        _ => Kind::Exact(canonical(text).ok_or_else(|| format!("\"{spec}\" is not the name or address of a host"))?),
    };
    Ok(HostPattern { kind, port })
}

fn wild(text: &str) -> Vec<Token> {
    let lower = text.trim_end_matches('.').to_ascii_lowercase();
    lower.chars().map(|letter| if letter == '*' { ANYTHING } else { Token::from(letter) }).collect()
}

/// Reads `host`, `host:port` or `[address]:port` of a call.
pub(crate) fn target(text: &str, port: Option<u16>) -> Target {
    let Some((host, own)) = split_port(text.trim()) else { return Target::Unknown };
    canonical(host).map_or(Target::Unknown, |host| Target::Known(host, own.or(port)))
}

/// The host of `scheme://user@host:port/path`, with the port that the scheme stands for.
pub(crate) fn of_url(url: &str) -> Target {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
        None => ("http".to_string(), url),
    };
    // curl and browsers take a backslash for a slash or not; which one is not asked here.
    if rest.contains('\\') {
        return Target::Unknown;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = match scheme.as_str() {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ftp" => Some(21),
        "ssh" | "sftp" | "scp" => Some(22),
        "git" => Some(9418),
        _ => None,
    };
    target(host, port)
}

/// Splits a port off. Neither where there is none; nothing where what follows the colon is no port.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (address, after) = rest.split_once(']')?;
        return match after.strip_prefix(':') {
            Some(port) => Some((address, Some(port.parse().ok()?))),
            None => after.is_empty().then_some((address, None)),
        };
    }
    match text.split_once(':') {
        // More than one colon: an address without brackets.
        Some((_, rest)) if rest.contains(':') => Some((text, None)),
        Some((host, "*")) => Some((host, None)),
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((text, None)),
    }
}

fn canonical(text: &str) -> Option<Host> {
    let text = text.strip_suffix('.').unwrap_or(text);
    if text.contains(':') {
        let plain = text.split('%').next().unwrap_or_default();
        return plain.parse::<Ipv6Addr>().ok().map(|address| Host::Address(IpAddr::V6(address).to_canonical()));
    }
    let last = text.rsplit('.').next().unwrap_or_default();
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x") || last.starts_with("0X");
    if numeric && !last.is_empty() {
        return address(text).map(|address| Host::Address(IpAddr::V4(address)));
    }
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let name = !text.is_empty() && !text.starts_with('.') && !text.contains("..") && text.bytes().all(letter);
    name.then(|| Host::Name(text.to_ascii_lowercase()))
}

/// An IPv4 address as inet_aton(3) reads it: one to four numbers, the last of which fills what is left.
fn address(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u64> = text.split('.').map(number).collect::<Option<_>>()?;
    let (last, before) = parts.split_last()?;
    if parts.len() > 4 || before.iter().any(|part| *part > 255) {
        return None;
    }
    let room = 8 * (4 - before.len() as u32);
    if *last >= 1_u64 << room {
        return None;
    }
    let high = before.iter().enumerate().map(|(index, part)| part << (24 - 8 * index as u32)).sum::<u64>();
    Some(Ipv4Addr::from_bits(u32::try_from(high + last).ok()?))
}

fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    // `from_str_radix` would take a sign.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    u64::from_str_radix(digits, radix).ok()
}

impl HostPattern {
    /// Whether the pattern may stand in an `allow` rule.
    pub(crate) fn may_allow(&self) -> bool {
        !matches!(self.kind, Kind::Wild(_))
    }

    /// Whether the pattern covers the target. What is not known is covered by `*` alone, but never proved for `allow`.
    pub(crate) fn covers(&self, target: &Target, proof: Proof) -> bool {
        let Target::Known(host, port) = target else {
            return match proof {
                Proof::Strict => false,
                Proof::Certain => matches!(self.kind, Kind::Any) && self.port.is_none(),
                Proof::Possible => true,
            };
        };
        let port_fits = match (self.port, port) {
            (None, _) => true,
            (Some(wanted), Some(given)) => wanted == *given,
            (Some(_), None) => proof != Proof::Strict,
        };
        port_fits && self.covers_host(host, proof)
    }

    fn covers_host(&self, host: &Host, proof: Proof) -> bool {
        match (&self.kind, host) {
            (Kind::Any, _) => true,
            // All of these lead to this machine, so a refusal of one is a refusal of all.
            (Kind::Exact(wanted), _) if proof != Proof::Strict && is_local(wanted) && is_local(host) => true,
            (Kind::Exact(wanted), _) => wanted == host,
            (Kind::Below(name), Host::Name(host)) => {
                host.strip_suffix(name.as_str()).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
            }
            (Kind::Below(_), Host::Address(_)) => false,
            (Kind::Wild(pattern), Host::Name(name)) => matches(pattern, &tokens(name), Proof::Certain),
            (Kind::Wild(pattern), Host::Address(address)) => {
                matches(pattern, &tokens(&address.to_string()), Proof::Certain)
            }
        }
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Name(name) => name == "localhost" || name.ends_with(".localhost") || name == "localhost.localdomain",
        Host::Address(address) => address.is_loopback() || address.is_unspecified(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(rule: &str, host: &str, proof: Proof) -> bool {
        pattern(rule).expect(rule).covers(&target(host, None), proof)
    }

    #[test]
    fn each_spelling_of_an_address_is_the_same_address() {
        for spelling in
            ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]:80"]
        {
            assert!(covers("127.0.0.1", spelling, Proof::Strict), "{spelling}");
        }
        for other in ["127.0.0.2", "127.0.0.1.example.com", "1270001", "127.0.0.256", "127.0.0.1.5"] {
            assert!(!covers("127.0.0.1", other, Proof::Strict), "{other}");
        }
    }

    #[test]
    fn names_are_compared_in_one_spelling() {
        for spelling in ["example.com", "EXAMPLE.com", "example.com.", "Example.Com.:443"] {
            assert!(covers("example.com", spelling, Proof::Strict), "{spelling}");
        }
        for other in ["example.com.evil", "evilexample.com", "sub.example.com", "ехample.com"] {
            assert!(!covers("example.com", other, Proof::Strict), "{other}");
        }
        assert!(covers("*.example.com", "a.b.EXAMPLE.com", Proof::Strict));
        assert!(!covers("*.example.com", "example.com", Proof::Strict));
        assert!(!covers("*.example.com", "badexample.com", Proof::Strict));
    }

    #[test]
    fn ports_count_where_they_are_written() {
        assert!(covers("example.com:443", "example.com:443", Proof::Strict));
        assert!(!covers("example.com:443", "example.com:80", Proof::Certain));
        assert!(!covers("example.com:443", "example.com", Proof::Strict));
        assert!(covers("example.com:443", "example.com", Proof::Certain));
    }

    #[test]
    fn a_refusal_of_this_machine_holds_for_all_of_its_names() {
        for other in ["127.0.0.1", "[::1]", "0.0.0.0", "127.9.9.9", "x.localhost"] {
            assert!(covers("localhost", other, Proof::Certain), "{other}");
        }
        assert!(!covers("localhost", "127.0.0.1", Proof::Strict));
    }

    #[test]
    fn what_is_no_host_is_refused_in_rules_and_unknown_in_calls() {
        for wrong in ["https://example.com", "bücher.example", "example.com:x", "a..b", ""] {
            assert!(pattern(wrong).is_err(), "{wrong}");
        }
        assert_eq!(target("bücher.example", None), Target::Unknown);
        assert_eq!(
            of_url("https://user@example.com:8443/x"),
            Target::Known(Host::Name("example.com".to_string()), Some(8443))
        );
        assert_eq!(of_url("example.com/x"), Target::Known(Host::Name("example.com".to_string()), Some(80)));
    }
}
