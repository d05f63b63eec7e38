//! A baseline: what an earlier run said of each assertion. Reads the Go tool's file, which knows only names, and
//! ours, which keys on identities and is still readable by that tool. Comparing is done in `compare`.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Not,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    RunReport,
    compare::Scope,
    surface::{Attendance, Catalogs, joined},
    tally::{Reliability, median},
};
use check::outcome::Status;
use text::workflow::neutral;

/// What stands in `format` of a file of ours.
const FORMAT: &str = "mcp-assert/baseline";

/// The version of our file.
const VERSION: u64 = 1;

/// Runs after which older ones lose weight.
const MOST_RUNS: u64 = 200;

/// What an earlier run said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// By identity.
    by_id: BTreeMap<String, Entry>,
    /// By name, from the Go tool.
    by_name: BTreeMap<String, Entry>,
    /// What each target offered.
    pub catalogs: Catalogs,
}

/// What it said of one assertion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The identity; absent in files of the Go tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The name, for people.
    pub name: String,
    /// The status when it was last executed.
    #[serde(with = "Word")]
    pub status: Status,
    /// Whether it was skipped since; another skip is then unchanged.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub skipped: bool,
    /// The median duration of its trials in microseconds, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<u64>,
    /// Trials that were run, over all runs that were saved here.
    #[serde(default)]
    pub runs: u64,
    /// Of these, passed only after a failed attempt.
    #[serde(default)]
    pub flaky: u64,
}

/// A status as the Go tool writes it.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Status", rename_all = "UPPERCASE")]
enum Word {
    Pass,
    Fail,
    Error,
    Skip,
}

impl Baseline {
    /// Reads a file of either kind. What is wrong with it is said without the file's name.
    pub fn parse(text: &str) -> Result<Self, String> {
        // Some editors put a mark in front.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"))?;
        Self::from_value(value)
    }

    /// Reads a baseline that is a part of a file.
    pub fn from_value(mut value: Value) -> Result<Self, String> {
        if let Some(format) = value.get("format") {
            if format != FORMAT {
                return Err(format!("its `format` is {format}, not \"{FORMAT}\""));
            }
            if value.get("version").and_then(Value::as_u64) != Some(VERSION) {
                return Err(format!("its `version` is not {VERSION}"));
            }
        }
        let no_entries = Vec::new();
        let entries = match value.get("entries") {
            Some(Value::Array(entries)) => entries,
            // The Go tool's baseline of no assertion, and the least that it reads as one.
            Some(Value::Null) => &no_entries,
            None if value.as_object().is_some_and(Map::is_empty) => &no_entries,
            Some(_) | None => {
                return Err("invalid baseline: it has no list `entries`".to_owned());
            }
        };
        let mut baseline = Self::default();
        for (index, entry) in entries.iter().enumerate() {
            let entry = Entry::deserialize(entry)
                .map_err(|problem| format!("entry {}: {problem}", index + 1))?;
            match &entry.id {
                Some(id) => baseline.by_id.insert(id.clone(), entry),
                None => baseline.by_name.insert(entry.name.clone(), entry),
            };
        }
        if let Some(catalogs) = value.get_mut("catalogs") {
            baseline.catalogs = serde_json::from_value(catalogs.take())
                .map_err(|problem| format!("its `catalogs` are not as written: {problem}"))?;
        }
        Ok(baseline)
    }

    /// The file, sorted by identity.
    pub fn render(&self) -> String {
        neutral::json(format!("{:#}\n", self.to_value()))
    }

    /// The same, to be a part of a file.
    pub fn to_value(&self) -> Value {
        let entries: Vec<&Entry> = self.by_id.values().chain(self.by_name.values()).collect();
        let mut file = json!({"format": FORMAT, "version": VERSION, "entries": entries});
        if !self.catalogs.is_empty() {
            let mut catalogs = json!(self.catalogs);
            // Of a run that was stored their keys are sorted already.
            catalogs.sort_all_objects();
            file["catalogs"] = catalogs;
        }
        file
    }

    /// How many assertions it knows.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.by_id.len() + self.by_name.len()
    }

    /// What it says of an assertion: by identity, else by name.
    pub fn find(&self, assertion: &Reliability<'_>) -> Option<&Entry> {
        self.by_id.get(&assertion.record.key()).or_else(|| {
            self.by_name
                .get(&assertion.record.name_on_target())
                .or_else(|| self.by_name.get(&assertion.record.name))
        })
    }

    /// The median durations it knows, in microseconds by identity.
    pub fn durations(&self) -> BTreeMap<String, u64> {
        let entries = self.by_id.iter();
        entries
            .filter_map(|(id, entry)| Some((id.clone(), entry.p50_us?)))
            .collect()
    }

    /// The entries that none of these assertions has, with their identity or name.
    pub fn without<'a>(&'a self, assertions: &[Reliability<'_>]) -> Vec<(&'a str, &'a Entry)> {
        let keys: HashSet<String> = assertions
            .iter()
            .map(|assertion| assertion.record.key())
            .collect();
        let names: HashSet<String> = assertions
            .iter()
            .flat_map(|it| [it.record.name_on_target(), it.record.name.clone()])
            .collect();
        let by_id = self.by_id.iter().filter(|(id, _)| !keys.contains(*id));
        let by_name = self
            .by_name
            .iter()
            .filter(|(name, _)| !names.contains(*name));
        by_id
            .chain(by_name)
            .map(|(key, entry)| (key.as_str(), entry))
            .collect()
    }

    /// Joins the baseline that is compared with and the file that will be replaced; the former wins.
    pub fn known(compared: Option<&Self>, replaced: Option<Self>) -> Option<Self> {
        let (Some(compared), Some(replaced)) = (compared, &replaced) else {
            return replaced.or_else(|| compared.cloned());
        };
        let mut known = compared.clone();
        for (id, entry) in &replaced.by_id {
            if !compared.by_name.contains_key(&entry.name) {
                known.by_id.entry(id.clone()).or_insert(entry.clone());
            }
        }
        for (name, entry) in &replaced.by_name {
            known.by_name.entry(name.clone()).or_insert(entry.clone());
        }
        for (name, catalog) in &replaced.catalogs {
            joined::add(&mut known.catalogs, name, catalog);
        }
        Some(known)
    }

    /// Joins the baseline of another leg of a matrix; of each assertion the worse status is kept.
    pub fn keep_worst(&mut self, beside: Self) {
        let keep = |own: &mut BTreeMap<String, Entry>, other: BTreeMap<String, Entry>| {
            for (key, entry) in other {
                match own.get(&key) {
                    Some(known) if known.rank() <= entry.rank() => {}
                    Some(_) | None => _ = own.insert(key, entry),
                }
            }
        };
        keep(&mut self.by_id, beside.by_id);
        keep(&mut self.by_name, beside.by_name);
        for (name, catalog) in &beside.catalogs {
            joined::add(&mut self.catalogs, name, catalog);
        }
    }

    /// The baseline after a run. An assertion that was skipped or not observed keeps what is known of it, so that a
    /// pass, a skip and a failure in turn are still a regression; of a part of the suite the rest is kept.
    pub fn updated(old: Option<&Self>, report: &RunReport, scope: Scope) -> Self {
        let empty = Self::default();
        let old = old.unwrap_or(&empty);
        let scope = scope.of(report);
        let assertions = report.assertions();
        // Only what is known of catalogs is looked up in it.
        let keys: HashSet<String> = if scope == Scope::Part || old.catalogs.is_empty() {
            HashSet::new()
        } else {
            assertions.iter().map(|it| it.record.key()).collect()
        };
        // In a partial run, assertions that were not selected still exist.
        let is_there = |id: &str| scope == Scope::Part || keys.contains(id);
        let attendance = Attendance::of(report, scope);
        let mut new = Self {
            catalogs: joined::updated(&old.catalogs, &report.catalogs, &attendance, is_there),
            ..Self::default()
        };
        if scope == Scope::Part {
            for (key, entry) in old.without(&assertions) {
                let entries = if old.by_id.contains_key(key) {
                    &mut new.by_id
                } else {
                    &mut new.by_name
                };
                entries.insert(key.to_owned(), entry.clone());
            }
        }
        let mut durations: HashMap<_, Vec<u64>> = HashMap::new();
        for record in &report.records {
            if record.status != Status::Skip && !record.says_nothing() {
                let all = durations.entry(record.identity()).or_default();
                all.push(record.duration_us);
            }
        }
        for assertion in &assertions {
            let known = old.find(assertion);
            let measured = durations.remove(&assertion.record.identity());
            if let Some(entry) = entry(assertion, known, measured.unwrap_or_default()) {
                new.by_id.insert(assertion.record.key(), entry);
            }
        }
        new
    }
}

impl Entry {
    /// Sort key: red first, then executed before skipped.
    fn rank(&self) -> (bool, bool) {
        let is_red = match self.status {
            Status::Fail | Status::Error => true,
            Status::Pass | Status::Skip => false,
        };
        (!is_red, self.skipped || self.status == Status::Skip)
    }
}

/// The new entry of an assertion; `None` if it was never observed.
fn entry(assertion: &Reliability<'_>, known: Option<&Entry>, measured: Vec<u64>) -> Option<Entry> {
    let (mut runs, mut flaky) = known.map_or((0, 0), |entry| (entry.runs, entry.flaky));
    if runs >= MOST_RUNS {
        (runs, flaky) = (runs / 2, flaky / 2);
    }
    let status = match (assertion.observed, known) {
        (None | Some(Status::Skip), Some(entry)) => entry.status,
        (Some(status), _) => status,
        (None, None) => return None,
    };
    let skipped = match assertion.observed {
        Some(observed) => observed == Status::Skip && status != Status::Skip,
        None => known.is_some_and(|entry| entry.skipped),
    };
    Some(Entry {
        id: Some(assertion.record.key()),
        name: assertion.record.name_on_target(),
        status,
        skipped,
        p50_us: median(measured).or_else(|| known.and_then(|entry| entry.p50_us)),
        runs: runs.saturating_add(assertion.trials as u64),
        flaky: flaky.saturating_add(assertion.flaky as u64),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Baseline, Entry};
    use crate::{
        Format,
        compare::Scope,
        run_json,
        sample::{interrupted, outcome, report, sample},
    };
    use check::outcome::{Outcome, Status};
    use mcp::observation::catalog::{Catalog, Listing};

    #[test]
    fn empty_baselines_of_the_go_tool_are_empty() {
        for text in ["{}", r#"{"entries": null}"#, r#"{"entries": []}"#] {
            assert!(Baseline::parse(text).unwrap().by_id.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_mark_in_front_of_a_baseline_is_no_part_of_it() {
        let text = "\u{feff}{\"entries\": [{\"name\": \"a\", \"status\": \"PASS\"}]}";
        assert_eq!(Baseline::parse(text).unwrap().len(), 1);
    }

    #[test]
    fn a_run_that_was_stored_makes_the_same_baseline() {
        let mut run = report(vec![outcome("x.yaml", "a")], 1);
        let tool = serde_json::json!({"name": "t", "inputSchema": {"type": "object", "a": {"z": 1, "b": 2}}});
        let catalog = Catalog {
            tools: Some(vec![tool]),
            used_by: vec!["x.yaml::a".to_owned()],
            ..Catalog::default()
        };
        run.catalogs.insert("s".to_owned(), catalog);
        let stored = run_json::parse(&Format::RunJson.render(&run)).unwrap();
        let saved = |run| Baseline::updated(None, run, Scope::Whole).render();
        assert_eq!(saved(&run), saved(&stored));
    }

    #[test]
    fn what_is_no_baseline_is_said() {
        let case = |text: &str, wanted: &str| {
            let problem = Baseline::parse(text).unwrap_err();
            assert!(problem.contains(wanted), "{text}: {problem}");
        };
        case("", "invalid JSON");
        case(r#"{"name": "a"}"#, "no list `entries`");
        case("[]", "no list `entries`");
        case(r#"{"entries": {}}"#, "no list `entries`");
        case(
            r#"{"entries": [{"status": "PASS"}]}"#,
            "entry 1: missing field `name`",
        );
        case(r#"{"entries": [{"name": "a"}]}"#, "missing field `status`");
        case(
            r#"{"entries": [{"name": "a", "status": "OK"}]}"#,
            "unknown variant `OK`",
        );
        case(r#"{"format": "x", "entries": []}"#, "its `format`");
        case(
            r#"{"format": "mcp-assert/baseline", "version": 2, "entries": []}"#,
            "its `version`",
        );
    }

    #[test]
    fn of_two_parts_of_a_run_the_worse_is_kept_of_each_assertion() {
        let entry = |status: &str, more: &str| {
            let text = format!(
                r#"{{"entries": [{{"id": "x", "name": "x", "status": "{status}"{more}}}]}}"#
            );
            Baseline::parse(&text).unwrap()
        };
        let case = |own: Baseline, other: Baseline, wanted: &Baseline| {
            let mut joined = own;
            joined.keep_worst(other);
            assert_eq!(&joined, wanted);
        };
        let (pass, fail) = (entry("PASS", ""), entry("FAIL", ""));
        let (skip, skipped) = (entry("SKIP", ""), entry("PASS", r#", "skipped": true"#));
        for (one, other, worse) in [
            (&pass, &fail, &fail),
            (&pass, &skip, &pass),
            (&pass, &skipped, &pass),
            (&fail, &skip, &fail),
            (&pass, &Baseline::default(), &pass),
        ] {
            case(one.clone(), other.clone(), worse);
            case(other.clone(), one.clone(), worse);
        }
        case(entry("ERROR", ""), fail, &entry("ERROR", ""));
    }

    #[test]
    fn a_baseline_survives_its_file_and_is_sorted() {
        let saved = Baseline::updated(None, &sample(), Scope::Whole);
        let text = saved.render();
        assert_eq!(Baseline::parse(&text).unwrap(), saved);
        assert!(
            text.starts_with("{\n  \"format\": \"mcp-assert/baseline\""),
            "{text}"
        );
        let ids: Vec<&String> = saved.by_id.keys().collect();
        assert!(ids.is_sorted() && ids.len() == 7);
        assert!(text.contains("\"p50_us\": 2100000"), "{text}");
    }

    #[test]
    fn saving_keeps_what_a_skip_or_a_part_of_the_suite_says_nothing_about() {
        let old = Baseline::parse(
            r#"{"entries": [{"name": "a", "status": "PASS"}, {"name": "b", "status": "FAIL"}]}"#,
        )
        .unwrap();
        let mut skipped = outcome("x.yaml", "a");
        skipped.status = Status::Skip;
        let run = report(vec![skipped], 1);
        let case = |scope, wanted: &[(&str, Status)]| {
            let new = Baseline::updated(Some(&old), &run, scope);
            let all = new.by_id.values().chain(new.by_name.values());
            let found: Vec<(&str, Status)> = all.map(|it| (it.name.as_str(), it.status)).collect();
            assert_eq!(found, wanted, "{scope:?}");
        };
        case(Scope::Whole, &[("a", Status::Pass)]);
        case(Scope::Part, &[("a", Status::Pass), ("b", Status::Fail)]);
    }

    #[test]
    fn what_a_run_is_compared_with_is_known_before_what_it_replaces() {
        let read =
            |entries: &str| Baseline::parse(&format!(r#"{{"entries": [{entries}]}}"#)).unwrap();
        let compared =
            read(r#"{"id": "a", "name": "a", "status": "PASS"}, {"name": "b", "status": "FAIL"}"#);
        let replaced = read(
            r#"{"id": "a", "name": "a", "status": "FAIL"}, {"id": "b", "name": "b", "status": "PASS"},
               {"id": "c", "name": "c", "status": "PASS"}, {"name": "d", "status": "PASS"}"#,
        );
        let known = Baseline::known(Some(&compared), Some(replaced.clone())).unwrap();
        let statuses = |entries: &BTreeMap<String, Entry>| {
            let all = entries
                .iter()
                .map(|(key, it)| format!("{key} {}", it.status.word()));
            all.collect::<Vec<_>>()
        };
        assert_eq!(statuses(&known.by_id), ["a PASS", "c PASS"]);
        assert_eq!(statuses(&known.by_name), ["b FAIL", "d PASS"]);
        assert_eq!(
            Baseline::known(None, Some(replaced.clone())),
            Some(replaced)
        );
        assert_eq!(Baseline::known(Some(&compared), None), Some(compared));
        assert_eq!(Baseline::known(None, None), None);
    }

    #[test]
    fn saving_keeps_the_lists_that_a_server_would_not_tell() {
        let old = r#"{"entries": [], "catalogs": {"s 1": {"tools": [{"name": "t"}], "used_by": ["a", "b"]}}}"#;
        let old = Baseline::parse(old).unwrap();
        let silent = Catalog {
            prompts: Some(Vec::new()),
            unknown: vec![Listing::Tools, Listing::Resources],
            used_by: vec!["b".to_owned()],
            ..Catalog::default()
        };
        let case = |scope, servers: &[&str]| {
            let mut run = report(vec![outcome("x.yaml", "a")], 1);
            run.catalogs.insert("s 2".to_owned(), silent.clone());
            let new = Baseline::updated(Some(&old), &run, scope);
            let saved = &new.catalogs["s 2"];
            let tools = saved.tools.as_deref().unwrap_or_default();
            assert_eq!(tools, [serde_json::json!({"name": "t"})]);
            assert_eq!(saved.prompts, Some(Vec::new()));
            assert_eq!(saved.unknown, []);
            assert_eq!(saved.used_by, ["b"]);
            let all: Vec<&String> = new.catalogs.keys().collect();
            assert_eq!(all, servers, "{scope:?}");
        };
        case(Scope::Whole, &["s 2"]);
        // Whom the assertion that did not run talks to now, nobody has said.
        case(Scope::Part, &["s 1", "s 2"]);
    }

    #[test]
    fn saving_keeps_what_a_server_listed_whose_assertions_are_skipped() {
        let old = r#"{"entries": [], "catalogs": {
            "x": {"tools": [], "used_by": ["x.yaml::a"]}, "y": {"tools": [], "used_by": ["x.yaml::b"]}}}"#;
        let old = Baseline::parse(old).unwrap();
        let skipped = Outcome {
            status: Status::Skip,
            ..outcome("x.yaml", "a")
        };
        let mut run = report(vec![skipped, outcome("x.yaml", "c")], 1);
        run.catalogs.insert("z".to_owned(), Catalog::default());
        let new = Baseline::updated(Some(&old), &run, Scope::Whole);
        assert_eq!(new.catalogs.keys().collect::<Vec<_>>(), ["x", "z"]);
        assert_eq!(new.catalogs["x"], old.catalogs["x"]);
    }

    #[test]
    fn saving_keeps_what_an_interrupted_trial_says_nothing_about() {
        let old = r#"{"entries": [{"id": "x.yaml::a", "name": "a", "status": "PASS", "p50_us": 7, "runs": 3}]}"#;
        let old = Baseline::parse(old).unwrap();
        let trial = |number, status| Outcome {
            status,
            trial: number,
            ..outcome("x.yaml", "a")
        };
        let cut = |number| Outcome {
            trial: number,
            ..interrupted("x.yaml", "a")
        };
        let case = |trials: Vec<Outcome>, wanted: Option<(Status, u64)>| {
            let run = report(trials, 3);
            let known = Baseline::updated(Some(&old), &run, Scope::Whole);
            let entry = &known.by_id["x.yaml::a"];
            let (status, runs) = wanted.unwrap_or((Status::Pass, 0));
            assert_eq!((entry.status, entry.runs), (status, 3 + runs));
            let unknown = Baseline::updated(None, &run, Scope::Whole);
            let status = unknown.by_id.values().next().map(|it| it.status);
            assert_eq!(status, wanted.map(|it| it.0).filter(|it| it.is_red()));
        };
        case(vec![cut(1)], None);
        case(
            vec![cut(1), trial(2, Status::Pass)],
            Some((Status::Pass, 1)),
        );
        case(
            vec![trial(1, Status::Pass), cut(2)],
            Some((Status::Pass, 1)),
        );
        case(
            vec![cut(1), trial(2, Status::Fail), cut(3)],
            Some((Status::Fail, 1)),
        );
        case(
            vec![trial(1, Status::Error), cut(2)],
            Some((Status::Error, 1)),
        );
    }
}
