//! Lines of `cordon policy check --stdin`, answered many at a time: bytes in, bytes out, and no value is made of them outside.
//!
//! A line is answered here where it asks about a command in a context that the host has explained before: the rules, mode and
//! folders that stand in the line, byte for byte. Any other line is the host's, which resolves its paths, compiles its rules or
//! says what is wrong with it; so is a line that JSON readers might take differently. Both judge by [`Policy::decide`].

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::rules::Policy;
use crate::rules::types::{Decision, PolicyQuestion};

/// Contexts that are kept; with one more, all are forgotten.
const KEPT: usize = 1024;
/// Digits of a number that every reader of JSON takes and gives back unchanged.
const SAFE_DIGITS: usize = 15;

/// What is known of the lines of one stream.
#[derive(Debug, Default)]
pub struct Lines {
    /// By key.
    contexts: Vec<Context>,
    /// The key of the line that the host was left with last.
    wanted: Option<String>,
}

#[derive(Debug)]
struct Context {
    key: String,
    policy: u32,
    /// The question about a command; the command is put in.
    question: PolicyQuestion,
    /// It does not rest on what the file system is like.
    lasting: bool,
}

/// The members of a line that count. Others are let pass.
#[derive(Deserialize)]
struct Line<'l> {
    #[serde(borrow, default)]
    id: Option<&'l RawValue>,
    #[serde(borrow)]
    command: Cow<'l, str>,
    #[serde(borrow, default)]
    rules: Option<&'l RawValue>,
    #[serde(borrow, default)]
    mode: Option<&'l RawValue>,
    #[serde(borrow, default)]
    cwd: Option<&'l RawValue>,
    #[serde(borrow, default)]
    roots: Option<&'l RawValue>,
    /// There is one, whatever it is.
    #[serde(default, deserialize_with = "present")]
    op: bool,
}

fn present<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(value).map(|_| true)
}

impl Lines {
    /// Nothing is known.
    pub const fn new() -> Lines {
        Lines { contexts: Vec::new(), wanted: None }
    }

    /// Answers the lines of `input` from byte `from` on, until all are answered or one is the host's, and returns where it
    /// stopped: at the end, or at the first byte of the host's line. Empty lines get no answer.
    pub fn answer<'p>(
        &mut self,
        policies: impl Fn(u32) -> Option<&'p Policy>,
        input: &[u8],
        from: usize,
        out: &mut Vec<u8>,
    ) -> usize {
        let mut at = from.min(input.len());
        self.wanted = None;
        while at < input.len() {
            let end = input[at..].iter().position(|byte| *byte == b'\n').map_or(input.len(), |length| at + length);
            let line = input[at..end].strip_suffix(b"\r").unwrap_or(&input[at..end]);
            if !line.is_empty() && self.line(&policies, line, out).is_none() {
                return at;
            }
            at = end + 1;
        }
        input.len()
    }

    /// Explains the context of the line that was left to the host last: the set of rules, and the JSON of the question about
    /// some command. `lasting`: it holds for later calls of `answer` too, until `forget`.
    pub fn learn(&mut self, policy: u32, question: &[u8], lasting: bool) {
        let Some(key) = self.wanted.take() else { return };
        let Some(question) = std::str::from_utf8(question).ok().and_then(|text| serde_json::from_str(text).ok()) else {
            return;
        };
        if self.contexts.len() >= KEPT {
            self.contexts.clear();
        }
        if let Err(place) = self.place(&key) {
            self.contexts.insert(place, Context { key, policy, question, lasting });
        }
    }

    /// Forgets the contexts that rest on the file system, which may have changed.
    pub fn forget(&mut self) {
        self.contexts.retain(|context| context.lasting);
    }

    /// Forgets the contexts of a set of rules that is freed.
    pub fn release(&mut self, policy: u32) {
        self.contexts.retain(|context| context.policy != policy);
    }

    fn place(&self, key: &str) -> Result<usize, usize> {
        self.contexts.binary_search_by(|context| context.key.as_str().cmp(key))
    }

    /// None if it is the host's.
    fn line<'p>(
        &mut self,
        policies: &impl Fn(u32) -> Option<&'p Policy>,
        line: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let line: Line = serde_json::from_str(std::str::from_utf8(line).ok()?).ok()?;
        if line.op || line.id.is_some_and(|id| !is_plain_id(id.get())) {
            return None;
        }
        let key = key_of(&line);
        let Ok(place) = self.place(&key) else {
            self.wanted = Some(key);
            return None;
        };
        let context = &mut self.contexts[place];
        let policy = policies(context.policy)?;
        context.question.ask_about(&line.command);
        write(line.id, &policy.decide(&context.question), out);
        Some(())
    }
}

/// What the line says beside its command. A line has no line end in it, so it can part the members.
fn key_of(line: &Line) -> String {
    let mut key = String::new();
    for member in [line.rules, line.mode, line.cwd, line.roots] {
        key.push_str(member.map_or("", RawValue::get));
        key.push('\n');
    }
    key
}

/// Whether the id may be passed on as it stands: a text without escapes, or a small whole number.
fn is_plain_id(id: &str) -> bool {
    if let Some(text) = id.strip_prefix('"') {
        return !text.contains('\\');
    }
    let digits = id.strip_prefix('-').unwrap_or(id);
    digits.len() <= SAFE_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()) && id != "-0"
}

/// The answer as `CheckAnswer` (core/policy/check.ts) has it.
fn write(id: Option<&RawValue>, decision: &Decision, out: &mut Vec<u8>) {
    out.push(b'{');
    if let Some(id) = id {
        out.extend_from_slice(b"\"id\":");
        out.extend_from_slice(id.get().as_bytes());
        out.push(b',');
    }
    // Writing to memory can't fail, and all keys are texts.
    out.extend_from_slice(b"\"decision\":");
    let _ = serde_json::to_writer(&mut *out, &decision.verdict);
    out.extend_from_slice(b",\"reason\":");
    let _ = serde_json::to_writer(&mut *out, &decision.reason);
    out.extend_from_slice(b",\"trace\":");
    let _ = serde_json::to_writer(&mut *out, &decision.trace);
    out.extend_from_slice(b"}\n");
}

impl PolicyQuestion {
    /// Puts another command into a question about a command.
    fn ask_about(&mut self, command: &str) {
        let put = |text: &mut String| {
            text.clear();
            text.push_str(command);
        };
        self.effects.iter_mut().filter(|effect| effect.kind == "exec").for_each(|effect| put(&mut effect.command));
        put(self.params.entry("command".to_string()).or_default());
    }
}
