//! The file of a commit on the data branch: the baseline of each suite that ran on it. And the list of these files
//! by age, so that old ones can go.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::baseline::Baseline;

/// What stands in `format`.
const FORMAT: &str = "mcp-assert/baselines";

/// The version of the format.
const VERSION: u64 = 1;

/// Where beside a baseline the run stands that wrote it, and its attempt.
const RUN: &str = "run";
const ATTEMPT: &str = "attempt";

/// Commits whose baselines are kept.
const MOST_KEPT: usize = 200;

/// The baseline of a suite in a commit's file; `None` when that suite did not run there.
pub fn of_suite(file: &str, suite: &str) -> Result<Option<Baseline>, String> {
    let mut suites = suites(file)?;
    suites.remove(suite).map(Baseline::from_value).transpose()
}

/// The run that wrote the baseline of a suite, and its attempt, where the file says so.
pub fn writer(file: &str, suite: &str) -> Option<(u64, Option<u64>)> {
    let suites = suites(file).ok()?;
    let number = |name: &str| suites.get(suite)?.get(name)?.as_u64();
    Some((number(RUN)?, number(ATTEMPT)))
}

/// The file with the baseline of a suite in it, and which attempt of a run wrote that.
pub fn with_suite(
    file: Option<&str>,
    suite: &str,
    baseline: &Baseline,
    writer: Option<(u64, u64)>,
) -> String {
    // A file that cannot be read, of whatever version, is replaced.
    let mut suites = file.and_then(|it| suites(it).ok()).unwrap_or_default();
    let mut baseline = baseline.to_value();
    if let Some((run, attempt)) = writer {
        baseline[RUN] = json!(run);
        baseline[ATTEMPT] = json!(attempt);
    }
    suites.insert(suite.to_owned(), baseline);
    let mut file = json!({"format": FORMAT, "version": VERSION, "suites": suites});
    file.sort_all_objects();
    format!("{file:#}\n")
}

fn suites(file: &str) -> Result<Map<String, Value>, String> {
    let mut value: Value =
        serde_json::from_str(file).map_err(|error| format!("invalid JSON: {error}"))?;
    if value["format"] != FORMAT || value["version"] != VERSION {
        return Err(format!("it is not `{FORMAT}` of version {VERSION}"));
    }
    match value.get_mut("suites").map(Value::take) {
        Some(Value::Object(suites)) => Ok(suites),
        Some(_) | None => Err("it has no map `suites`".to_owned()),
    }
}

/// When each commit's file was written, in seconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ages {
    written: BTreeMap<String, u64>,
}

impl Ages {
    /// Reads the list; one that cannot be read knows nothing.
    pub fn parse(text: &str) -> Self {
        Self {
            written: serde_json::from_str(text).unwrap_or_default(),
        }
    }

    /// The list.
    pub fn render(&self) -> String {
        format!("{:#}\n", json!(self.written))
    }

    /// Notes that the file of a commit is written now, and names those of `files` that are to go. A file that the
    /// list does not know is older than all it knows.
    pub fn add(&mut self, commit: &str, now: u64, files: &[String]) -> Vec<String> {
        self.written.insert(commit.to_owned(), now);
        let mut known: Vec<(u64, &str)> = files
            .iter()
            .map(String::as_str)
            .filter(|file| *file != commit)
            .map(|file| (self.written.get(file).copied().unwrap_or(0), file))
            .collect();
        known.sort_unstable();
        let surplus = (known.len() + 1).saturating_sub(MOST_KEPT);
        let gone: Vec<String> = known[..surplus].iter().map(|it| it.1.to_owned()).collect();
        let stays = |it: &str| it == commit || files.iter().any(|file| file == it);
        self.written
            .retain(|it, _| stays(it) && !gone.iter().any(|file| file == it));
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::{Ages, MOST_KEPT, of_suite, with_suite, writer};
    use crate::{baseline::Baseline, compare::Scope, sample::sample};

    #[test]
    fn suites_of_a_commit_stand_beside_each_other() {
        let baseline = Baseline::updated(None, &sample(), Scope::Whole);
        let one = with_suite(None, "one", &baseline, Some((31, 2)));
        let both = with_suite(Some(&one), "two", &Baseline::default(), None);
        assert_eq!(
            (writer(&both, "one"), writer(&both, "two")),
            (Some((31, Some(2))), None)
        );
        assert_eq!(of_suite(&both, "one"), Ok(Some(baseline)));
        assert_eq!(of_suite(&both, "two"), Ok(Some(Baseline::default())));
        assert_eq!(of_suite(&both, "three"), Ok(None));
        assert!(of_suite("{}", "one").is_err());
        let renewed = with_suite(Some("{"), "one", &Baseline::default(), None);
        assert_eq!(of_suite(&renewed, "two"), Ok(None));
    }

    #[test]
    fn the_oldest_files_go() {
        let mut ages = Ages::default();
        let mut files: Vec<String> = Vec::new();
        for number in 0..MOST_KEPT + 3 {
            let commit = format!("{number:04}");
            let gone = ages.add(&commit, 1_000 + number as u64, &files);
            files.push(commit);
            files.retain(|file| !gone.contains(file));
        }
        assert_eq!(files.len(), MOST_KEPT);
        assert_eq!(files[0], "0003");
        files.push("unknown".to_owned());
        assert_eq!(ages.add("new", 9_999, &files), ["unknown", "0003"]);
        assert_eq!(Ages::parse(&ages.render()), ages);
        assert_eq!(Ages::parse("x"), Ages::default());
    }
}
