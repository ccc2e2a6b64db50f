//! Rules: from text to matchers.

use std::rc::Rc;

use super::flags_in_rules::{self, FlagPattern};
use super::hosts::{self, HostPattern};
use super::tools::{self, Subject, Tool};
use super::types::{RuleSource, Verdict};
use super::wildcard::{ANYTHING, FOLDERS, ONE, QUOTED_SPACE, SEGMENT, Token, tokens};

/// A rule that is ready to be asked.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) source: RuleSource,
    pub(crate) verdict: Verdict,
    pub(crate) matcher: Matcher,
    /// What carves out of it.
    pub(crate) except: Vec<Matcher>,
}

/// What a rule is about.
#[derive(Debug)]
pub(crate) enum Matcher {
    /// Every call of these tools; a name may end in `*` only for MCP tools.
    Tool(Vec<Token>, &'static str),
    /// A shell command.
    Command(CommandPattern),
    /// A path that is read or written, by `tool` if it is not empty.
    Path { access: Access, tool: &'static str, path: PathPattern },
    /// A parameter of a tool: the first of `names` that the call has.
    Param { tool: &'static str, names: Vec<String>, value: Vec<Token> },
    /// A host. `tool` is the one that the rule names, if it names one: `allow` holds for this tool alone.
    Host { tool: &'static str, host: HostPattern },
    /// An effect that is not known.
    Unknown(Vec<Token>),
    /// A variable that programs obey.
    Env(Vec<Token>),
    /// Rights of another user.
    Privilege(Vec<Token>),
}

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Includes deleting.
    Write,
    Delete,
}

/// A pattern over the words of a command.
#[derive(Debug)]
pub(crate) struct CommandPattern {
    /// Any of these may match; more than one where ` *` may also match nothing, or a path is left away.
    pub(crate) any: Vec<Vec<Token>>,
    /// Tokens before the first wildcard: what the author of the rule has spelled out.
    pub(crate) fixed: usize,
    /// The same by its options, for refusing.
    pub(crate) flags: Option<FlagPattern>,
}

/// A path in gitignore's syntax.
#[derive(Debug)]
pub(crate) struct PathPattern {
    pub(crate) base: Base,
    /// What is inside of what it names: the pattern below the base, without a leading slash, and behind it `/` and anything.
    pub(crate) inside: Vec<Token>,
    /// The pattern below the base as text, if it is nothing but that.
    pub(crate) plain: Option<Rc<str>>,
    /// The longest text in it, without slashes at its ends, which may have matched nothing.
    pub(crate) part: Rc<str>,
    /// Without a slash inside, it matches at any depth.
    pub(crate) any_depth: bool,
    /// Ends in a slash: what is inside a folder of that name.
    pub(crate) inside_only: bool,
    /// It has a set of characters, which is read as any character: too wide for `allow`.
    pub(crate) widened: bool,
}

/// What stands for anything inside a folder.
const BEHIND: [Token; 2] = ['/' as Token, ANYTHING];

impl PathPattern {
    /// What it names.
    pub(crate) fn whole(&self) -> &[Token] {
        &self.inside[..self.inside.len() - BEHIND.len()]
    }
}

/// Where a path pattern begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Absolute,
    Home,
    Workspace,
    Cwd,
}

const EFFECTS: &str = "exec, read, write, delete, net, env, privilege and unknown";

/// Compiles one rule; the error is a sentence.
pub(crate) fn compile(rule: &str) -> Result<Matcher, String> {
    let rule = rule.trim();
    let (name, spec) = match rule.split_once('(') {
        None => (rule, None),
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(spec) => (name.trim(), Some(spec)),
            None => {
                return Err("The rule has an opening parenthesis and does not end in one that closes it".to_string());
            }
        },
    };
    if let Some(kind) = name.strip_prefix("effect:") {
        return effect(kind, spec);
    }
    if spec.is_some_and(|spec| spec.trim().is_empty()) {
        return Err(format!("Nothing stands between the parentheses; write \"{name}\" for every call of the tool"));
    }
    if name.starts_with("mcp__") {
        return mcp(name, spec);
    }
    if name == "*" && spec.is_none() {
        return Ok(Matcher::Tool(vec![ANYTHING], ""));
    }
    let Some(tool) = tools::find(name) else {
        return Err(format!("There is no tool \"{name}\"; the nearest name is \"{}\"", tools::nearest(name)));
    };
    match spec.map(str::trim) {
        None | Some("*") => Ok(Matcher::Tool(tokens(tool.name), tool.name)),
        Some(spec) => with_spec(tool, spec),
    }
}

fn mcp(name: &str, spec: Option<&str>) -> Result<Matcher, String> {
    let valid = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '*' | '.');
    if !name.chars().all(valid) {
        return Err(format!("\"{name}\" is not the name of an MCP tool: mcp__server__tool, with * as a wildcard"));
    }
    // `mcp__server` stands for all of its tools.
    let all = if name[5..].contains("__") { String::new() } else { "__*".to_string() };
    let pattern = wildcards(&format!("{name}{all}"));
    match spec.and_then(|spec| spec.split_once(':')) {
        None if spec.is_some_and(|spec| spec.trim() != "*") => {
            Err("An MCP tool has no text that a rule could match; write mcp__server__tool(parameter:value)".to_string())
        }
        None => Ok(Matcher::Tool(pattern, "")),
        Some(_) if name.contains('*') => Err("A rule on a parameter needs the whole name of the tool".to_string()),
        Some((param, value)) => Ok(Matcher::Param {
            tool: Box::leak(name.to_string().into_boxed_str()),
            names: vec![param.trim().to_string()],
            value: wildcards(value.trim()),
        }),
    }
}

fn effect(kind: &str, spec: Option<&str>) -> Result<Matcher, String> {
    let spec = spec.map(str::trim).filter(|spec| !spec.is_empty());
    let path = |access| {
        let path = path(spec.unwrap_or("//**"))?;
        Ok(Matcher::Path { access, tool: "", path })
    };
    match kind.trim() {
        "exec" => Ok(Matcher::Command(command(spec.unwrap_or("*")))),
        "read" => path(Access::Read),
        "write" => path(Access::Write),
        "delete" => path(Access::Delete),
        "net" => Ok(Matcher::Host { tool: "", host: hosts::pattern(spec.unwrap_or("*"))? }),
        "unknown" => Ok(Matcher::Unknown(wildcards(spec.unwrap_or("*")))),
        "env" => Ok(Matcher::Env(wildcards(spec.unwrap_or("*")))),
        "privilege" => Ok(Matcher::Privilege(wildcards(spec.unwrap_or("*")))),
        other => Err(format!("There is no effect \"{other}\"; there are {EFFECTS}")),
    }
}

fn with_spec(tool: &'static Tool, spec: &str) -> Result<Matcher, String> {
    if let Some((param, value)) = spec.split_once(':') {
        if tool.name == "WebFetch" && param == "domain" {
            return Ok(Matcher::Host { tool: tool.name, host: hosts::pattern(value)? });
        }
        let value = value.trim();
        if let Some(same) = tools::is_subject(tool, param).then(|| as_subject(tool, value)).flatten() {
            return with_spec(tool, &same);
        }
        // `Bash(timeout:*)` is about the program of that name.
        let program = tool.subject == Subject::Command && value == "*";
        if tools::is_param(tool, param) && !program {
            return Ok(Matcher::Param { tool: tool.name, names: vec![param.to_string()], value: wildcards(value) });
        }
    }
    match tool.subject {
        Subject::Command => Ok(Matcher::Command(command(spec))),
        Subject::ReadPath => Ok(Matcher::Path { access: Access::Read, tool: tool.name, path: path(spec)? }),
        Subject::WritePath => Ok(Matcher::Path { access: Access::Write, tool: tool.name, path: path(spec)? }),
        Subject::Param(names) => {
            let any = command(spec).any.into_iter().next().unwrap_or_default();
            let names = names.iter().map(|name| name.to_string()).collect();
            Ok(Matcher::Param { tool: tool.name, names, value: any })
        }
        Subject::Nothing => {
            Err(format!("{} has no path or text that \"{spec}\" could match; write \"{}\"", tool.name, tool.name))
        }
    }
}

/// `Tool(path:value)` as `Tool(value)`, where an absolute path needs a second slash; none if there is no such form.
fn as_subject(tool: &Tool, value: &str) -> Option<String> {
    match tool.subject {
        Subject::Command if value != "*" => Some(value.to_string()),
        Subject::ReadPath | Subject::WritePath if value.starts_with('/') && !value.starts_with("//") => {
            Some(format!("/{value}"))
        }
        Subject::ReadPath | Subject::WritePath => Some(value.to_string()),
        _ => None,
    }
}

/// Text in which `*` stands for anything.
fn wildcards(text: &str) -> Vec<Token> {
    text.chars().map(|letter| if letter == '*' { ANYTHING } else { Token::from(letter) }).collect()
}

/// ` *` and `:*` at the end stand for the end or for any further words; another `*` for any text.
pub(crate) fn command(spec: &str) -> CommandPattern {
    let open = spec.strip_suffix(":*").or_else(|| spec.strip_suffix(" *"));
    let body = unquote(open.unwrap_or(spec).trim());
    let fixed = body.iter().position(|token| *token == ANYTHING).unwrap_or(body.len());
    let flags = flags_in_rules::of(spec);
    let mut any = vec![body.clone()];
    if open.is_some() {
        any.push([body.clone(), vec![Token::from(' '), ANYTHING]].concat());
    }
    let space = body.iter().position(|token| *token == Token::from(' ')).unwrap_or(body.len());
    let slash = body[..space].iter().rposition(|token| *token == Token::from('/'));
    if let Some(slash) = slash.filter(|slash| slash + 1 < space) {
        let bare: Vec<Vec<Token>> = any.iter().map(|pattern| pattern[slash + 1..].to_vec()).collect();
        return CommandPattern { any: any.into_iter().chain(bare).collect(), fixed, flags };
    }
    CommandPattern { any, fixed, flags }
}

/// Takes the quotes away as the shell would, so that a rule may be written like the command. Unbalanced quotes stay.
fn unquote(text: &str) -> Vec<Token> {
    let balanced = |quote| text.chars().filter(|letter| *letter == quote).count() % 2 == 0;
    if !balanced('\'') || !balanced('"') {
        return wildcards(text);
    }
    let (mut made, mut quote, mut escaped) = (Vec::new(), None, false);
    for letter in text.chars() {
        match (letter, quote) {
            _ if escaped => {
                made.push(Token::from(letter));
                escaped = false;
            }
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            ('*', None) => made.push(ANYTHING),
            ('*', Some(_)) => made.push(ANYTHING),
            (' ' | '\t' | '\n', Some(_)) => made.push(QUOTED_SPACE),
            _ => made.push(Token::from(letter)),
        }
    }
    made
}

/// A path in gitignore's syntax with the bases of Claude Code: `//`, `~/`, `/`, `./`.
pub(crate) fn path(spec: &str) -> Result<PathPattern, String> {
    if spec.starts_with('!') {
        return Err(
            "A path that begins with \"!\" is not supported; write the exception as a rule of another list".to_string()
        );
    }
    let (base, rest) = if let Some(rest) = spec.strip_prefix("//") {
        (Base::Absolute, rest)
    } else if let Some(rest) = spec.strip_prefix("~/") {
        (Base::Home, rest)
    } else if spec == "~" {
        (Base::Home, "")
    } else if let Some(rest) = spec.strip_prefix('/') {
        (Base::Workspace, rest)
    } else {
        (Base::Cwd, spec)
    };
    let rest = rest.strip_prefix("./").unwrap_or(rest);
    let inside_only = rest.ends_with('/');
    let rest = rest.trim_end_matches('/');
    let any_depth = base == Base::Cwd && !spec.starts_with("./") && !rest.is_empty() && !rest.contains('/');
    let below = gitignore(rest);
    let upward = below.split(|token| *token == Token::from('/')).any(|segment| *segment == [Token::from('.'); 2]);
    if upward || rest.split('/').any(|segment| segment == "..") {
        return Err("A path with \"..\" can never match, because paths are resolved first".to_string());
    }
    let text = |run: &[Token]| run.iter().filter_map(|token| char::from_u32(*token)).collect::<String>();
    let is_plain = below.iter().all(|token| char::from_u32(*token).is_some());
    let runs = below.split(|token| char::from_u32(*token).is_none());
    let part = Rc::from(text(runs.max_by_key(|run| run.len()).unwrap_or_default()).trim_matches('/'));
    let plain = is_plain.then(|| Rc::from(text(&below)));
    let widened = rest.contains('[');
    let depth = if any_depth { FOLDERS.as_slice() } else { &[] };
    let inside = [depth, &below, &BEHIND].concat();
    Ok(PathPattern { base, inside, plain, part, any_depth, inside_only, widened })
}

fn gitignore(text: &str) -> Vec<Token> {
    let letters: Vec<char> = text.chars().collect();
    let (mut made, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        match letters[at] {
            '*' if letters.get(at + 1) == Some(&'*') => {
                at += 1;
                if letters.get(at + 1) == Some(&'/') && (at < 2 || letters[at - 2] == '/') {
                    made.extend(FOLDERS);
                    at += 1;
                } else {
                    made.push(ANYTHING);
                }
            }
            '*' => made.push(SEGMENT),
            '?' => made.push(ONE),
            // A set of characters is widened to any one character: a deny then covers a little more.
            '[' => match letters[at + 1..].iter().position(|letter| *letter == ']') {
                Some(length) if length > 0 => {
                    at += length + 1;
                    made.push(ONE);
                }
                _ => made.push(Token::from('[')),
            },
            '\\' if at + 1 < letters.len() => {
                at += 1;
                made.push(Token::from(letters[at]));
            }
            letter => made.push(Token::from(letter)),
        }
        at += 1;
    }
    made
}

/// A word that can be the name of a parameter.
pub(crate) fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_upward_is_refused_also_behind_a_backslash() {
        for refused in ["../a", "a/..", "~/../a", "/a/\\.\\./b", "\\../a", "**/.\\./b"] {
            assert!(path(refused).is_err(), "{refused}");
        }
        for taken in ["..a", "a..", "~/.../a", "/a/\\.b", "..*/a", "**/.\\.b"] {
            assert!(path(taken).is_ok(), "{taken}");
        }
    }
}
