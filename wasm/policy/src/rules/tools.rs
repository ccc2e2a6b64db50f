//! The names of tools, ours and those of other systems. Aliases are resolved before any rule is looked at.

/// What the text in `Tool(text)` is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A shell command.
    Command,
    /// A path that is read.
    ReadPath,
    /// A path that is written.
    WritePath,
    /// A parameter, the first of these that the call has.
    Param(&'static [&'static str]),
    /// The tool has nothing that text could match.
    Nothing,
}

/// A tool as rules see it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    /// The name that everything else uses.
    pub(crate) name: &'static str,
    /// Other names, lower case, without `_` and `-`.
    aliases: &'static [&'static str],
    pub(crate) subject: Subject,
}

const fn tool(name: &'static str, aliases: &'static [&'static str], subject: Subject) -> Tool {
    Tool { name, aliases, subject }
}

use Subject::{Command, Nothing, Param, ReadPath, WritePath};

/// Tools that change files: a rule on `Edit` binds all of them, as in Claude Code.
pub(crate) const EDITING: [&str; 5] = ["edit_file", "write_file", "multi_edit", "apply_patch", "NotebookEdit"];
/// Tools that read files: a rule on `Read` binds all of them.
pub(crate) const READING: [&str; 4] = ["read_file", "grep_search", "glob_search", "list_dir"];

/// Tools that run shell commands: a rule on `Bash` binds all of them.
pub(crate) const EXECUTING: [&str; 2] = ["bash", "process_start"];

const ID: Subject = Param(&["id", "task_id", "process_id"]);

static TOOLS: [Tool; 39] = [
    tool("bash", &["shell", "runshellcommand", "execcommand", "shellcommand"], Command),
    tool("PowerShell", &["pwsh"], Command),
    tool("read_file", &["read", "readmanyfiles", "view", "cat"], ReadPath),
    tool("glob_search", &["glob"], ReadPath),
    tool("grep_search", &["grep"], ReadPath),
    tool("list_dir", &["ls", "listdirectory", "list"], ReadPath),
    tool("write_file", &["write"], WritePath),
    tool("edit_file", &["edit", "replace"], WritePath),
    tool("multi_edit", &[], WritePath),
    tool("apply_patch", &["patch"], WritePath),
    tool("NotebookEdit", &[], WritePath),
    tool("WebFetch", &["fetch"], Param(&["url"])),
    tool("WebSearch", &["googlewebsearch"], Param(&["query"])),
    tool("Skill", &["activateskill"], Param(&["skill"])),
    tool("ToolSearch", &[], Param(&["query"])),
    tool("TodoWrite", &["writetodos", "updateplan"], Nothing),
    tool("Agent", &["task", "spawnagent", "invokeagent"], Param(&["subagent_type", "name"])),
    tool("REPL", &[], Param(&["language"])),
    tool("Sleep", &[], Nothing),
    tool("SendUserMessage", &["brief"], Nothing),
    tool("Config", &[], Param(&["setting"])),
    tool("StructuredOutput", &[], Nothing),
    tool("AskUserQuestion", &["askuser"], Nothing),
    tool("EnterPlanMode", &[], Nothing),
    tool("ExitPlanMode", &[], Nothing),
    tool("process_start", &["bashbackground", "monitor"], Command),
    tool("process_read", &["bashoutput", "taskoutput", "joboutput"], ID),
    tool("process_stop", &["killshell", "killbash", "taskstop", "jobkill"], ID),
    tool("process_list", &["tasklist"], Nothing),
    tool("process_write", &["writestdin"], ID),
    tool("ListMcpResources", &["listmcpresourcestool"], Param(&["server"])),
    tool("ReadMcpResource", &["readmcpresourcetool"], Param(&["uri", "server"])),
    tool("MCP", &["mcpcall"], Param(&["server"])),
    tool("GitStatus", &[], Nothing),
    tool("GitDiff", &[], Nothing),
    tool("GitLog", &[], Nothing),
    tool("GitShow", &[], Nothing),
    tool("GitBlame", &[], Nothing),
    tool("LSP", &[], Param(&["action"])),
];

/// The tool of that name, in any case, with or without `_`.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    let wanted = squeeze(name);
    TOOLS.iter().find(|tool| squeeze(tool.name) == wanted || tool.aliases.contains(&wanted.as_str()))
}

/// The name that rules are compared with: the tool's own, or the text itself for tools that are not ours.
pub(crate) fn canonical(name: &str) -> &str {
    find(name).map_or(name, |tool| tool.name)
}

fn squeeze(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '-')).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The known name that needs the fewest changes to become `name`.
pub(crate) fn nearest(name: &str) -> &'static str {
    let wanted = squeeze(name);
    let names = TOOLS.iter().flat_map(|tool| {
        let own = (distance(&wanted, &squeeze(tool.name)), tool.name);
        tool.aliases.iter().map(|alias| (distance(&wanted, alias), tool.name)).chain([own])
    });
    names.min_by_key(|(changes, _)| *changes).map_or("bash", |(_, name)| name)
}

/// Levenshtein's distance.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for column in 0..right.len() {
            let cost = diagonal + usize::from(letter != right[column]);
            diagonal = row[column + 1];
            row[column + 1] = cost.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

/// Names of the parameter that holds the path a file tool is about.
pub(crate) const PATHS: [&str; 3] = ["path", "file_path", "notebook_path"];

/// Whether the parameter is what the text in `Tool(text)` is about anyway.
pub(crate) fn is_subject(tool: &Tool, name: &str) -> bool {
    match tool.subject {
        Command => name == "command",
        ReadPath | WritePath => PATHS.contains(&name),
        Param(_) | Nothing => false,
    }
}

/// The parameters that `Tool(name:value)` may name, besides the subject of the tool.
pub(crate) fn is_param(tool: &Tool, name: &str) -> bool {
    let own: &[&str] = match tool.subject {
        Command => &[
            "timeout",
            "description",
            "run_in_background",
            "dangerouslyDisableSandbox",
            "namespaceRestrictions",
            "isolateNetwork",
            "filesystemMode",
        ],
        ReadPath => {
            &["pattern", "glob", "type", "output_mode", "multiline", "offset", "limit", "head_limit", "line_numbers"]
        }
        WritePath => &["replace_all", "edit_mode", "cell_type", "old_string", "new_string", "content"],
        Param(_) | Nothing => return super::pattern::is_identifier(name),
    };
    own.contains(&name)
}
