//! `cordon run` that has become this program: nobody stands above. The plan comes from a record, which is believed as long
//! as the world is what planning saw; else cordon plans anew.

mod chain;
mod console;
mod explain;
mod record;
mod rows;
mod visible_text;
mod witness;

pub use console::Console;

use crate::channel::Channel;
use crate::{exit_code, supervise, sys};
use record::Record;
use rows::OpenRow;
use std::ffi::CString;
use std::os::fd::{AsFd, RawFd};
use std::time::Duration;

/// What the command line says.
struct Asked {
    /// The record, open.
    record: RawFd,
    /// The executable of cordon, to plan anew.
    cordon: String,
    /// The words before the command, for that.
    flags: Vec<String>,
    /// The row that cordon has opened, with the microseconds since: then the record was made just now.
    row: Option<(String, Duration)>,
    argv: Vec<String>,
}

/// Runs `direct --record=FD --cordon=PATH --flags=COUNT [--row=ID --since=MICROSECONDS] FLAGS… ARGV…`; gives the exit code.
pub fn run(words: &[&str]) -> i32 {
    let Some(asked) = parse(words) else {
        console::error("usage: cordon-launcher direct is for cordon itself", false);
        return exit_code::USAGE;
    };
    let Ok(file) = crate::descriptors::clean(asked.record) else { return exit_code::USAGE };
    let record = match Record::read(file.as_fd()) {
        Ok(record) => record,
        // Written by another version, or by nobody we know.
        Err(why) => return plan_anew(&asked, &why),
    };
    drop(file);
    if asked.row.is_none()
        && let Some(changed) = record.witness.changed()
    {
        return plan_anew(&asked, changed);
    }
    let row = match &asked.row {
        Some((id, before)) => Ok(OpenRow::adopt(id.clone(), *before)),
        None => OpenRow::open(&record.audit, &asked.argv),
    };
    let row = match row {
        Ok(row) => row,
        Err(why) => {
            let log = &record.audit.log;
            let hint = "make room, or set CORDON_STATE_DIR to a folder that you can write";
            console::error(
                &format!("audit.unwritable: Cannot write the audit log \"{log}\": {why}\n  hint: {hint}"),
                false,
            );
            return exit_code::USAGE;
        }
    };
    let plan = record.plan_for(&asked.argv);
    let console = Console::new(record, row);
    // From here on the host's variables are nobody's business: the plan has its own.
    sys::forget_environment();
    match Channel::to_console(console) {
        Ok(channel) => supervise::carry_out(&plan, channel),
        Err(errno) => {
            console::error(&format!("sandbox.unenforced: socketpair: {errno}"), false);
            exit_code::REFUSED
        }
    }
}

fn parse(words: &[&str]) -> Option<Asked> {
    let mut rest = words.iter().copied();
    let mut value = |name: &str| rest.next()?.strip_prefix(name)?.strip_prefix('=');
    let record = value("--record")?.parse().ok().filter(|fd| *fd > 2)?;
    let cordon = value("--cordon")?.to_owned();
    let flags: usize = value("--flags")?.parse().ok()?;
    let (id, since) = (value("--row")?, value("--since")?);
    let row = (!id.is_empty()).then(|| Some((id.to_owned(), Duration::from_micros(since.parse().ok()?))));
    let words: Vec<String> = rest.map(str::to_owned).collect();
    let (flags, argv) = (words.get(..flags)?.to_vec(), words.get(flags..)?.to_vec());
    let row = match row {
        Some(row) => Some(row?),
        None => None,
    };
    (!argv.is_empty()).then_some(Asked { record, cordon, flags, row, argv })
}

/// Becomes cordon, which looks at everything again. Comes back only when that fails.
fn plan_anew(asked: &Asked, why: &str) -> i32 {
    let own = ["cordon", "run", "--replan"].map(str::to_owned);
    let words = own.iter().chain(&asked.flags).chain(&asked.argv).map(|word| CString::new(word.as_str()));
    let environment = std::env::vars_os().map(|(name, value)| {
        use std::os::unix::ffi::OsStringExt;
        CString::new([name.into_vec(), value.into_vec()].join(&b'='))
    });
    if let (false, Ok(path), Ok(words), Ok(environment)) = (
        asked.row.is_some(),
        CString::new(asked.cordon.as_str()),
        words.collect::<Result<Vec<_>, _>>(),
        environment.collect::<Result<Vec<_>, _>>(),
    ) {
        sys::execve(&path, &words, &environment);
    }
    console::error(&format!("tool.crashed: The plan can't be used and cordon can't be started again: {why}"), false);
    exit_code::REFUSED
}
