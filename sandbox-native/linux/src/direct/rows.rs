//! The two rows of the audit log. Mirror of `core/audit/audit.ts`: rows hold no input and no output.

use super::chain::{self, hex};
use super::record::Audit;
use plan::{Enforced, Property, State, Tier};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The row that is open in the log. A crash leaves it open, which is evidence.
pub struct OpenRow {
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
    policy: Option<&'a str>,
    decided: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<&'a BTreeMap<Property, State>>,
    denials: usize,
}

impl OpenRow {
    /// Writes the opening row; an error means that nothing may run.
    pub fn open(audit: &Audit, argv: &[String]) -> Result<OpenRow, String> {
        let row = OpenRow { id: random_uuid()?, opened: Instant::now(), before: Duration::ZERO };
        let words = serde_json::to_string(argv).map_err(|error| error.to_string())?;
        let (before, after) = &audit.input;
        let input = Sha256::digest(format!("{before}{words}{after}").as_bytes());
        let opening = OpeningLine {
            row: "open",
            id: &row.id,
            at: now_ms(),
            door: "run",
            tool: "run",
            call: "run",
            input: hex(&input),
            pid: rustix::process::getpid().as_raw_nonzero().get(),
        };
        chain::append(&audit.log, &opening)?;
        Ok(row)
    }

    /// Takes over a row that cordon opened `before` ago.
    pub fn adopt(id: String, before: Duration) -> OpenRow {
        OpenRow { id, opened: Instant::now(), before }
    }

    /// Writes the closing row.
    pub fn close(&self, audit: &Audit, end: &End<'_>) -> Result<(), String> {
        let refused = end.enforced.is_none();
        let micros = (self.before + self.opened.elapsed()).as_micros();
        let closing = ClosingLine {
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
            policy: audit.policy.as_deref(),
            decided: if refused { "sandbox" } else { "caller" },
            tier: end.enforced.map(|enforced| enforced.tier),
            properties: end.enforced.map(|enforced| &enforced.properties),
            denials: end.denials,
        };
        chain::append(&audit.log, &closing)
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
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
