//! Where path patterns begin.

use super::pattern::Base;
use super::types::PolicyQuestion;

/// All bases, each at the place of its number.
pub(crate) const BASES: [Base; 4] = [Base::Absolute, Base::Home, Base::Workspace, Base::Cwd];

/// The folders of a question that patterns of this base begin from, its own first, without a slash at the end. A refusal written for the
/// working folder also holds for the workspaces around it.
pub(crate) fn folders(question: &PolicyQuestion, base: Base) -> impl Iterator<Item = &str> {
    let own = match base {
        Base::Absolute => Some(""),
        Base::Home => Some(question.home.as_str()),
        Base::Workspace => question.roots.first().map(String::as_str),
        Base::Cwd => Some(question.cwd.as_str()),
    };
    let roots = if base == Base::Cwd { question.roots.as_slice() } else { &[] };
    let around = roots.iter().filter(|root| **root != question.cwd).map(String::as_str);
    own.into_iter().chain(around).map(|folder| folder.trim_end_matches('/'))
}

/// The path as seen from a folder that it is or lies in, without a slash at its front.
pub(crate) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
