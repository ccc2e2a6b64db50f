//! Where path patterns begin.

use std::rc::Rc;

use super::types::PolicyQuestion;

/// The folders of a question, without a slash at the end.
pub(crate) struct Bases {
    pub(crate) root: Rc<str>,
    pub(crate) home: Rc<str>,
    pub(crate) workspace: Option<Rc<str>>,
    pub(crate) cwd: Rc<str>,
    /// A refusal written for the working folder also holds for the workspaces around it.
    pub(crate) around: Vec<Rc<str>>,
}

impl Bases {
    pub(crate) fn of(question: &PolicyQuestion) -> Bases {
        let base = |folder: &String| Rc::from(folder.trim_end_matches('/'));
        Bases {
            root: Rc::from(""),
            home: base(&question.home),
            workspace: question.roots.first().map(base),
            cwd: base(&question.cwd),
            around: question.roots.iter().filter(|root| **root != question.cwd).map(base).collect(),
        }
    }
}
