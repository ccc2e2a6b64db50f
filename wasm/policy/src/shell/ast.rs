//! The tree that the parser makes. Its JSON form is documented as `ShellScript` in core/engine/policy.ts.

use serde::Serialize;

/// Start and end (exclusive) in UTF-8 bytes of the source.
pub type Span = [u32; 2];

/// Why a source was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// A stable code: `shell.unclosed`, `shell.unexpected`, ….
    pub code: &'static str,
    /// What was found and what was wanted.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// Why the value of a word is not known before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// `$x`, `${x…}`.
    Parameter,
    /// `$(…)` or backticks.
    Command,
    /// `<(…)` or `>(…)`.
    Process,
    /// `$((…))` or `$[…]`.
    Arithmetic,
    /// `*`, `?`, `[…]`, extended globs.
    Glob,
    /// `{a,b}`, `{1..3}`.
    Brace,
    /// `~`, `~user`.
    Tilde,
    /// `a=(…)` as an argument.
    Array,
    /// An escape that makes a byte which is not text.
    Bytes,
}

/// A run of one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that is certain after quote removal.
    Lit(String),
    /// A glob pattern, as written.
    Glob(String),
    /// The home folder: `~`, `$HOME`, `${HOME}`.
    Home(Why),
    /// The current folder: `$PWD`, `~+`.
    Cwd(Why),
    /// A number or an exit code: `$?`, `$#`, `$$`, `$!`, `${#x}`.
    Number(Why),
    /// Unknown text. Unquoted, it may be split into several words.
    Dyn {
        /// The kind of expansion.
        why: Why,
        /// Exactly one word: inside double quotes, and not `$@` or `${a[@]}`.
        quoted: bool,
        /// The variable, where it is nothing but the value of one; `!` for `$!`.
        name: String,
    },
}

impl Piece {
    /// Unknown text that is not the plain value of a variable.
    pub(super) fn unknown(why: Why, quoted: bool) -> Piece {
        Piece::Dyn { why, quoted, name: String::new() }
    }
}

/// A word after quote removal.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Word {
    /// Place in the source.
    pub span: Span,
    /// The value, if it is certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Each reason why the value is not certain; empty where `text` is present.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dynamic: Vec<Why>,
    /// The command and process substitutions inside, at any depth of `${…}` and `$((…))`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subs: Vec<Substitution>,
    /// The runs of the word, in order.
    #[serde(skip)]
    pub pieces: Vec<Piece>,
    /// No quote or backslash in it: only then can it be a reserved word.
    #[serde(skip)]
    pub plain: bool,
}

/// A script inside a word.
#[derive(Debug, Clone, Serialize)]
pub struct Substitution {
    /// Place in the source, with its delimiters.
    pub span: Span,
    /// `$(`, "`", `<(` or `>(`.
    pub kind: &'static str,
    /// The script.
    pub body: Sequence,
}

/// `name=value`, `name+=value`, `name[i]=value`, `name=(…)`.
#[derive(Debug, Clone, Serialize)]
pub struct Assignment {
    /// Place in the source.
    pub span: Span,
    /// The variable, without its subscript.
    pub name: String,
    /// `+=` was written.
    pub append: bool,
    /// The subscript, if there is one; its `text` is the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscript: Option<Word>,
    /// One word, or the elements of an array.
    pub values: Vec<Word>,
    /// `=(…)` was written.
    pub array: bool,
}

/// A redirection.
#[derive(Debug, Clone, Serialize)]
pub struct Redirect {
    /// Place in the source.
    pub span: Span,
    /// The operator without the descriptor: `>`, `>>`, `<<-`, `&>`, ….
    pub op: &'static str,
    /// The descriptor: digits, or `{name}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fd: Option<String>,
    /// The file, the descriptor to copy, the here-string, or the delimiter of the here-doc.
    pub target: Word,
    /// Index into [`Script::here_docs`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here_doc: Option<usize>,
}

/// The body of a here-doc.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HereDoc {
    /// Place of the lines between the operator's line and the delimiter.
    pub span: Span,
    /// The delimiter was quoted, so nothing in the body is expanded.
    pub quoted: bool,
    /// The body as the command gets it, if that is certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Substitutions in the body.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subs: Vec<Substitution>,
}

/// Commands one after the other.
pub type Sequence = Vec<Item>;

/// One entry of a sequence.
#[derive(Debug, Clone, Serialize)]
pub struct Item {
    /// The command.
    pub node: Node,
    /// Ended by `&`.
    pub background: bool,
}

/// Any command.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Node {
    /// Words, assignments and redirections.
    Simple(Simple),
    /// Commands joined by pipes, or with `!` or `time` before them.
    Pipeline(Pipeline),
    /// Pipelines joined by `&&` and `||`.
    AndOr(AndOr),
    /// Everything that contains other commands by a keyword or a bracket.
    Compound(Compound),
}

/// A simple command.
#[derive(Debug, Clone, Serialize)]
pub struct Simple {
    /// Always `simple`.
    pub r#type: &'static str,
    /// Place in the source.
    pub span: Span,
    /// Assignments before the first word.
    pub assignments: Vec<Assignment>,
    /// The command's name and arguments.
    pub words: Vec<Word>,
    /// Redirections, in order.
    pub redirects: Vec<Redirect>,
}

/// A pipeline.
#[derive(Debug, Clone, Serialize)]
pub struct Pipeline {
    /// Always `pipeline`.
    pub r#type: &'static str,
    /// Place in the source.
    pub span: Span,
    /// An odd or even number of `!` stands before it; this is true for any.
    pub negated: bool,
    /// `time` stands before it.
    pub timed: bool,
    /// The commands, left to right; none after a lone `!` or `time`.
    pub stages: Vec<Node>,
}

/// A list of `&&` and `||`.
#[derive(Debug, Clone, Serialize)]
pub struct AndOr {
    /// Always `and_or`.
    pub r#type: &'static str,
    /// Place in the source.
    pub span: Span,
    /// The operators between the nodes, one fewer than `nodes`.
    pub ops: Vec<&'static str>,
    /// The pipelines.
    pub nodes: Vec<Node>,
}

/// A compound command.
#[derive(Debug, Clone, Serialize)]
pub struct Compound {
    /// `subshell`, `group`, `if`, `while`, `until`, `for`, `for_arith`, `select`, `case`, `function`, `cond`, `arith`
    /// or `coproc`.
    pub r#type: &'static str,
    /// Place in the source.
    pub span: Span,
    /// The variable of `for` and `select`, the name of a function or coprocess.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Words of `for`, `select`, `case` (subject, then patterns) and `cond`; one dynamic word for arithmetic.
    pub words: Vec<Word>,
    /// The scripts inside, in source order: conditions, branches, bodies.
    pub bodies: Vec<Sequence>,
    /// Redirections after it.
    pub redirects: Vec<Redirect>,
}

/// Things seen anywhere in a script that change how far its words can be trusted.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Facts {
    /// Something is evaluated as arithmetic, which runs substitutions found in the values of variables.
    pub arithmetic: bool,
    /// Quoted text contains a command substitution, which arithmetic or a prompt expansion could run later.
    pub quoted_code: bool,
    /// `${x@P}`: the value of `x` is expanded again.
    pub prompt_expansion: bool,
}

/// What arithmetic evaluates anywhere in a script. A variable's value is evaluated like the text around it, so a value
/// such as `a[$(rm f)]` runs rm.
#[derive(Debug, Clone, Default)]
pub struct Evaluated {
    /// The variables it reads.
    pub reads: Vec<String>,
    /// The variables it sets, to numbers.
    pub sets: Vec<String>,
    /// It also evaluates something that is no plain variable: `$1`, `$(…)`, `${!x}`.
    pub open: bool,
    /// The variables that a `${x:=…}` sets.
    pub given: Vec<String>,
}

/// A whole source.
#[derive(Debug, Clone, Serialize)]
pub struct Script {
    /// The commands.
    pub items: Sequence,
    /// The bodies of all here-docs, by index.
    pub here_docs: Vec<HereDoc>,
    /// See [`Facts`].
    pub facts: Facts,
    /// See [`Evaluated`].
    #[serde(skip)]
    pub evaluated: Evaluated,
}

impl Node {
    /// Place in the source.
    pub fn span(&self) -> Span {
        match self {
            Node::Simple(node) => node.span,
            Node::Pipeline(node) => node.span,
            Node::AndOr(node) => node.span,
            Node::Compound(node) => node.span,
        }
    }
}
