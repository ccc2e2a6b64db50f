//! `mkdir`, `touch`, `cp` and `mv` whose every path is certain and lies in the workspace: judged as writing there.

use super::effects::{Doubt, Effects};
use super::judge::Judge;
use super::paths::PathValue;
use super::pattern::Access;
use super::types::{By, Required, RuleSource, Verdict};
use super::wrappers::View;

/// Programs, and the options that change nothing about which paths are written. Copying folders is not here: what is in
/// them is not seen.
const WRITERS: [(&str, &str); 4] = [("cp", "fnpv"), ("mkdir", "pv"), ("mv", "fnv"), ("touch", "acm")];

impl Judge<'_> {
    /// The verdict on the paths it writes; none where it is no such command or something about it is not certain.
    pub(super) fn workspace_writes(&self, view: &View) -> Option<(Verdict, By, Option<RuleSource>)> {
        let name = super::command::system_name(view.argv[0].text.as_deref()?);
        let (_, options) = WRITERS.iter().find(|(known, _)| *known == name)?;
        let mut operands = Vec::new();
        for word in &view.argv[1..] {
            let text = word.text.as_deref()?;
            match text.strip_prefix('-') {
                Some(letters) if letters.is_empty() || !letters.chars().all(|letter| options.contains(letter)) => {
                    return None;
                }
                Some(_) => {}
                None => operands.push(text),
            }
        }
        if view.open || (operands.len() < 2 && matches!(name, "cp" | "mv")) {
            return None;
        }
        self.judge_writes(name, &operands)
    }

    fn judge_writes(&self, name: &str, operands: &[&str]) -> Option<(Verdict, By, Option<RuleSource>)> {
        let (target, sources) = operands.split_last()?;
        let moves = matches!(name, "cp" | "mv");
        let mut written = vec![(Access::Write, target.to_string())];
        for source in sources {
            let last = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            // The copy of `a/..` would get a name that is not seen here.
            if moves && matches!(last, "" | "." | "..") || !self.places.is_workspace(&self.places.resolve_text(source))
            {
                return None;
            }
            match name {
                "cp" => {}
                "mv" => written.push((Access::Delete, source.to_string())),
                _ => written.push((Access::Write, source.to_string())),
            }
            if moves {
                written.push((Access::Write, format!("{target}/{last}")));
            }
        }
        let effects = Effects { places: &self.places, asked: self.asked };
        let mut restricted = None;
        for (access, path) in &written {
            let path = self.places.resolve_text(path);
            // A folder moved to `.github` brings its workflows along.
            let PathValue::Known(paths) = &path else { return None };
            let hosted = paths.iter().any(|path| path.split('/').any(|part| part.eq_ignore_ascii_case(".github")));
            match effects.restricted(*access, &path, Doubt::Counts) {
                Some((judged, rule)) if restricted.as_ref().is_none_or(|(verdict, _, _)| *verdict < judged.0) => {
                    restricted = Some((judged.0, judged.1, Some(rule)));
                }
                None if hosted || !self.places.is_workspace(&path) => return None,
                _ => {}
            }
        }
        Some(restricted.unwrap_or((self.asked.by_mode(Required::WorkspaceWrite), By::Mode, None)))
    }
}
