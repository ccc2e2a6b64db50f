//! Paths: what a word names, and whether a pattern covers it.

use super::pattern::PathPattern;
use super::types::PolicyQuestion;
use super::wildcard::{Proof, Token, UNKNOWN, UNKNOWN_NAME, UNKNOWN_PART, tokens};
use crate::shell::ast::{Piece, Word};

/// Folders and files that a tool outside the sandbox would obey or run: writing them asks, even in the workspace.
const PROTECTED: [&str; 22] = [
    ".bash_login",
    ".bash_profile",
    ".bashrc",
    ".claude",
    ".cordon",
    ".devcontainer",
    ".direnv",
    ".envrc",
    ".git",
    ".gitconfig",
    ".gitmodules",
    ".husky",
    ".idea",
    ".mcp.json",
    ".mvn",
    ".npmrc",
    ".profile",
    ".ssh",
    ".vscode",
    ".yarnrc",
    ".zprofile",
    ".zshrc",
];

/// What a word names as a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathValue {
    /// One of these absolute paths; more than one if the working folder may have changed.
    Known(Vec<String>),
    /// An absolute path with unknown parts.
    Partly(Vec<Token>),
}

/// The folders that a command line starts from.
#[derive(Debug, Clone)]
pub(crate) struct Places<'a> {
    pub(crate) question: &'a PolicyQuestion,
    /// Each folder that may be the current one; empty if it cannot be known.
    pub(crate) cwds: Vec<String>,
    /// The script sets HOME.
    pub(crate) home_changed: bool,
    /// A glob may find hidden files.
    pub(crate) finds_hidden: bool,
}

impl PathValue {
    /// The paths as traces show them; `…` stands for what is not known.
    pub(crate) fn shown(&self) -> Vec<String> {
        match self {
            PathValue::Known(paths) => paths.clone(),
            PathValue::Partly(text) => {
                vec![text.iter().map(|token| char::from_u32(*token).unwrap_or('…')).collect()]
            }
        }
    }
}

impl<'a> Places<'a> {
    /// Those that a call starts from.
    pub(crate) fn of(question: &'a PolicyQuestion) -> Self {
        Places { question, cwds: vec![normalize(&question.cwd)], home_changed: false, finds_hidden: false }
    }

    /// The path that `word` names.
    pub(crate) fn resolve(&self, word: &Word) -> PathValue {
        if let Some(text) = &word.text
            && matches!(word.pieces.as_slice(), [Piece::Lit(_)])
        {
            return self.resolve_text(text);
        }
        let mut text = Vec::new();
        for piece in &word.pieces {
            match piece {
                Piece::Lit(literal) => text.extend(tokens(literal)),
                Piece::Home(_) if !self.home_changed => text.extend(tokens(&self.question.home)),
                Piece::Cwd(_) if self.cwds.len() == 1 => text.extend(tokens(&self.cwds[0])),
                Piece::Glob(pattern) if !self.finds_hidden => text.push(globbed(&text, pattern)),
                _ => text.push(UNKNOWN),
            }
        }
        self.absolute(text)
    }

    /// The path that a literal names.
    pub(crate) fn resolve_text(&self, plain: &str) -> PathValue {
        if !plain.starts_with('/') {
            return match self.cwds.is_empty() {
                false => PathValue::Known(self.cwds.iter().map(|cwd| below(cwd, plain)).collect()),
                true => PathValue::Partly([vec![UNKNOWN], tokens(&format!("/{plain}"))].concat()),
            };
        }
        let path = normalize(plain);
        match through_proc(&path) {
            None => PathValue::Known(vec![path]),
            Some(Link::Root(rest)) => PathValue::Known(vec![path, rest]),
            Some(Link::Cwd(rest)) => {
                let cwds = self.cwds.iter().map(|cwd| below(cwd, &rest));
                PathValue::Known(cwds.chain([path.clone()]).collect())
            }
        }
    }

    fn absolute(&self, text: Vec<Token>) -> PathValue {
        let plain: Option<String> = text.iter().map(|token| char::from_u32(*token)).collect();
        if let Some(plain) = plain {
            return self.resolve_text(&plain);
        }
        let rooted = text.first() == Some(&Token::from('/'));
        let dot = Token::from('.');
        // Some shells' `.*` finds `..` too.
        let upward = text.windows(2).any(|pair| pair == [dot, dot] || pair == [dot, UNKNOWN_PART]);
        let at_start = text.first() == Some(&UNKNOWN);
        match self.cwds.as_slice() {
            // Its links lead anywhere.
            _ if text.starts_with(&tokens("/proc/")) => PathValue::Partly(vec![UNKNOWN]),
            _ if upward || (at_start && text.len() == 1) => PathValue::Partly(vec![UNKNOWN]),
            _ if rooted || at_start => PathValue::Partly(text),
            [cwd] => PathValue::Partly([tokens(&format!("{cwd}/")), text].concat()),
            _ => PathValue::Partly([vec![UNKNOWN, Token::from('/')], text].concat()),
        }
    }

    /// Whether the pattern covers the path.
    pub(crate) fn covers(&self, pattern: &PathPattern, path: &PathValue, proof: Proof) -> bool {
        pattern.covers(self.question, path, proof)
    }

    /// Whether every value of the path lies in a folder that may be written, and is not one of the protected files.
    pub(crate) fn is_workspace(&self, path: &PathValue) -> bool {
        matches!(path, PathValue::Known(paths) if paths.iter().all(|path| self.is_in_workspace(path)))
    }

    fn is_in_workspace(&self, path: &str) -> bool {
        self.question.roots.iter().any(|root| is_inside(path, root)) && !self.is_protected(path)
    }

    /// The name of the file or folder of permission settings that a write to this path would change, or could.
    pub(crate) fn policy_file(&self, path: &PathValue) -> Option<String> {
        match path {
            PathValue::Known(paths) => paths.iter().find(|path| is_policy_file(path)).cloned(),
            PathValue::Partly(text) => {
                let text: String = text.iter().map(|token| char::from_u32(*token).unwrap_or('*')).collect();
                is_policy_file(&text).then_some(text)
            }
        }
    }

    /// The first of the paths that is known and not one of the workspace; of a path that is known up to a folder, that folder.
    pub(crate) fn outside(&self, path: &PathValue) -> Option<String> {
        match path {
            PathValue::Known(paths) => {
                let elsewhere = |path: &&String| !self.is_in_workspace(path) && !super::effects::is_stream(path);
                paths.iter().find(elsewhere).cloned()
            }
            PathValue::Partly(text) => {
                let known: String = text.iter().map_while(|token| char::from_u32(*token)).collect();
                let folder = known.strip_suffix('/').filter(|folder| !folder.is_empty())?;
                let elsewhere = !self.question.roots.iter().any(|root| is_inside(folder, root));
                elsewhere.then(|| folder.to_string())
            }
        }
    }

    fn is_protected(&self, path: &str) -> bool {
        let below = self
            .question
            .roots
            .iter()
            .find(|root| is_inside(path, root))
            .map_or(path, |root| &path[root.trim_end_matches('/').len()..]);
        let ci = below.contains("/.github/workflows") || below.ends_with("/.gitlab-ci.yml");
        ci || below.split('/').any(|part| PROTECTED.iter().any(|name| part.eq_ignore_ascii_case(name)))
    }
}

/// Settings that decide what may run: cordon's own in every layer, and those of Claude Code, which are read as they are.
fn is_policy_file(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
    let mut before = "";
    while let Some(part) = parts.next() {
        let part_is = |name: &str| part.eq_ignore_ascii_case(name);
        let own = part_is(".cordon") || part_is("cordon") && matches!(before, ".config" | "etc" | "state");
        let settings = |name: &&str| name.to_ascii_lowercase().starts_with("settings") || name.contains('*');
        let shared = part_is(".claude") && parts.peek().is_none_or(settings);
        if own || shared || part_is("managed-settings.json") {
            return true;
        }
        before = part;
    }
    false
}

/// What a glob may find after this text. One with a slash or quotes in it is taken for any text.
fn globbed(before: &[Token], pattern: &str) -> Token {
    let plain = !pattern.contains(['/', '\\', '$', '\'', '"', '`', '(', '.']);
    match before.last() {
        _ if !plain => UNKNOWN,
        None => UNKNOWN_NAME,
        Some(last) if *last == Token::from('/') => UNKNOWN_NAME,
        Some(_) => UNKNOWN_PART,
    }
}

/// Where a link of proc(5) leads.
enum Link {
    /// To this absolute path.
    Root(String),
    /// To this path below the working folder of some process.
    Cwd(String),
}

/// `/proc/self/root/…` and `/proc/PID/task/TID/cwd/…` are other names of files that rules are about.
fn through_proc(path: &str) -> Option<Link> {
    let rest = path.strip_prefix("/proc/")?;
    match rest.split_once("/cwd/") {
        Some((_, below)) => Some(Link::Cwd(below.to_string())),
        None => rest.split_once("/root/").map(|(_, below)| Link::Root(format!("/{below}"))),
    }
}

/// Whether `path` is `folder` or lies in it. Both are normalised.
pub(crate) fn is_inside(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Takes `.`, `..` and double slashes out of an absolute path, by text alone.
pub(crate) fn normalize(path: &str) -> String {
    let mut made = String::with_capacity(path.len() + 1);
    walk(&mut made, path);
    rooted(made)
}

/// The absolute path of `path` in a folder that is normal.
fn below(folder: &str, path: &str) -> String {
    let mut made = String::with_capacity(folder.len() + path.len() + 1);
    made.push_str(folder.trim_end_matches('/'));
    walk(&mut made, path);
    rooted(made)
}

fn walk(made: &mut String, path: &str) {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => made.truncate(made.rfind('/').unwrap_or(0)),
            part => {
                made.push('/');
                made.push_str(part);
            }
        }
    }
}

fn rooted(mut path: String) -> String {
    if path.is_empty() {
        path.push('/');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_obey_is_protected_in_a_workspace_that_is_the_root_or_ends_in_a_slash() {
        for root in ["/", "/srv", "/srv/"] {
            let question = PolicyQuestion { cwd: "/".into(), roots: vec![root.into()], ..PolicyQuestion::default() };
            let writes = |path: &str| Places::of(&question).is_workspace(&PathValue::Known(vec![path.into()]));
            let top = root.trim_end_matches('/');
            assert!(!writes(&format!("{top}/.github/workflows/a.yml")) && !writes(&format!("{top}/.gitlab-ci.yml")));
            assert!(!writes(&format!("{top}/.git/config")) && writes(&format!("{top}/src/a")));
            assert!(writes(if top.is_empty() { root } else { top }));
        }
    }
}
