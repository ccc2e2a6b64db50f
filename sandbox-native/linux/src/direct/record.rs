//! The record of one planned `cordon run`: everything that is the same when the same flags are used in the same place again.
//! Mirror of `core/exec/process/run_record.ts`, which writes it.

use plan::{LinuxPlan, PlanCommand};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

/// The record. Unknown fields are errors: a field that one side does not know is a check it would leave out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Record {
    /// 1 today.
    pub version: u32,
    /// What must still be so.
    pub witness: Witness,
    pub environment: Environment,
    /// The plan, with an empty argv and no environment.
    pub plan: LinuxPlan,
    /// What people are told.
    pub tell: Tell,
    pub audit: Audit,
    /// What is not to be believed any more when the plan can't be carried out.
    pub forget: Vec<String>,
}

/// What planning saw, each path by its own kind: links are not followed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Witness {
    pub missing: Vec<String>,
    pub folders: Vec<String>,
    pub files: Vec<String>,
    pub others: Vec<String>,
    /// Path and text.
    pub links: Vec<(String, String)>,
    /// Path and errno.
    pub errors: Vec<(String, i32)>,
    /// Folders that were listed and files that were read, each with "dev:ino:ctime in nanoseconds": the kernel alone sets
    /// these, and nobody can change a content and keep them.
    pub unchanged: Vec<(String, String)>,
    /// Files of /proc and what they hold; `None` is one that can't be read.
    pub texts: Vec<(String, Option<String>)>,
    /// Links of /proc and their text.
    pub namespaces: Vec<(String, Option<String>)>,
    /// Lines of /proc/self/status by their name, as they stand there.
    pub status: Vec<String>,
}

/// The command's environment: names that pass, and what is set whatever the caller had.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    pub passed: Vec<String>,
    pub set: BTreeMap<String, String>,
}

/// A path, why it is closed, and what would open it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasoned {
    pub path: String,
    pub reason: String,
    #[serde(default)]
    pub grant: Option<String>,
    /// A person closed it, so that no flag opens it.
    #[serde(default)]
    pub asked: bool,
}

/// The words for denials that bring none of their own, and for a failure that nothing explains.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tell {
    pub protected: Vec<Reasoned>,
    pub hidden: Vec<Reasoned>,
    #[serde(default)]
    pub guess: Option<Guess>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guess {
    pub reason: String,
    #[serde(default)]
    pub grant: Option<String>,
}

/// For the rows of the audit log.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Audit {
    /// The log.
    pub log: String,
    /// The input of the call as JSON text, before and after the words of the command.
    pub input: (String, String),
    pub verdict: String,
    pub by: String,
    #[serde(default)]
    pub rule: Option<String>,
    /// The digest of what was planned.
    #[serde(default)]
    pub policy: Option<String>,
}

/// Two lines stand before the record, which cordon itself compares before it starts the launcher.
const LINES_BEFORE: usize = 2;

/// A record of this size names a hundred thousand paths: something is wrong.
const LARGEST_BYTES: u64 = 16 << 20;

impl Record {
    /// Reads it from the beginning of an open file, which must be the caller's own and closed to others.
    pub fn read(file: BorrowedFd<'_>) -> Result<Record, String> {
        let found = rustix::fs::fstat(file).map_err(|errno| format!("fstat: {errno}"))?;
        let kind = rustix::fs::FileType::from_raw_mode(found.st_mode);
        let own = found.st_uid == rustix::process::geteuid().as_raw() && found.st_mode & 0o077 == 0;
        let size = u64::try_from(found.st_size).unwrap_or(u64::MAX);
        if !kind.is_file() || !own || size > LARGEST_BYTES {
            return Err("The record is no private file of this user".into());
        }
        let mut bytes = vec![0_u8; usize::try_from(size).unwrap_or(0)];
        let mut at = 0;
        while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
            match rustix::io::pread(file, rest, at as u64) {
                Ok(0) => return Err("The record ends early".into()),
                Ok(count) => at += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(format!("read: {errno}")),
            }
        }
        let body = bytes.splitn(LINES_BEFORE + 1, |byte| *byte == b'\n').nth(LINES_BEFORE).unwrap_or_default();
        let record: Record = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if record.version == 1 { Ok(record) } else { Err(format!("The record has version {}", record.version)) }
    }

    /// The plan for these words, with the environment of this process.
    pub fn plan_for(&self, argv: &[String]) -> LinuxPlan {
        let value = |name: &String| Some((name.clone(), std::env::var_os(name)?.to_string_lossy().into_owned()));
        let mut env: BTreeMap<String, String> = self.environment.passed.iter().filter_map(value).collect();
        env.extend(self.environment.set.clone());
        let PlanCommand { cwd, caches, .. } = self.plan.command.clone();
        let command = PlanCommand { argv: argv.to_vec(), cwd, env, caches };
        LinuxPlan { command, ..self.plan.clone() }
    }
}
