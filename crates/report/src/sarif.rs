//! SARIF 2.1.0: each expectation that did not hold as a result at its place in the suite, for code scanning. Why the
//! run is red beside that, its notifications say.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use crate::{
    End, RunReport,
    cleaner::cut,
    failure::{self, Detail, Frames, Times},
    place::{beneath, escaped},
    record::{MismatchRecord, Record},
};
use text::{digest::sha256, workflow::neutral};

/// The schema that the file is of.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Results of a file; GitHub refuses more than 25,000 and shows 5,000.
pub(crate) const MOST_RESULTS: usize = 5_000;

/// Maximum number of causes.
const MOST_CAUSES: usize = 100;

/// The longest message, in bytes.
pub(crate) const LONGEST_MESSAGE: usize = 8 * 1024;

/// The longest name in the file, in bytes.
const LONGEST_NAME: usize = 1024;

/// The run as SARIF.
pub(crate) fn render(report: &RunReport) -> String {
    let all: Vec<Finding<'_>> = report.records.iter().flat_map(findings).collect();
    let rules: BTreeMap<&str, usize> = all.iter().map(|it| (it.rule, 0)).collect();
    let rules: BTreeMap<&str, usize> = rules.into_keys().zip(0..).collect();
    let results: Vec<Value> = all
        .iter()
        .take(MOST_RESULTS)
        .map(|finding| result(report, finding, &rules))
        .collect();
    let described: Vec<Value> = rules.keys().map(|rule| describe(rule)).collect();
    let untold = report.untold();
    let causes = untold.iter().take(MOST_CAUSES).map(|cause| {
        let mut text = format!("{}: {}", cause.verdict.word(), cause.text);
        cut(&mut text, LONGEST_MESSAGE);
        notification("error", &unlinked(&text))
    });
    Log {
        version: &report.tool.version,
        command: None,
        is_successful: report.end == End::Finished && untold.is_empty(),
        notifications: causes.collect(),
        rules: described,
        results,
        left_out: all.len().saturating_sub(MOST_RESULTS),
    }
    .text()
}

/// What a file says.
pub(crate) struct Log<'a> {
    pub(crate) version: &'a str,
    /// The command, which tells the file from those of other commands.
    pub(crate) command: Option<&'a str>,
    /// Whether the run was what it was to be.
    pub(crate) is_successful: bool,
    /// What is wrong beside the results.
    pub(crate) notifications: Vec<Value>,
    pub(crate) rules: Vec<Value>,
    /// At most [`MOST_RESULTS`].
    pub(crate) results: Vec<Value>,
    /// How many more there are.
    pub(crate) left_out: usize,
}

impl Log<'_> {
    /// The file, with a final line end.
    pub(crate) fn text(mut self) -> String {
        if self.left_out > 0 {
            let text = format!("{} more results are left out", self.left_out);
            self.notifications.push(notification("warning", &text));
        }
        let mut invocation = json!({ "executionSuccessful": self.is_successful });
        if !self.notifications.is_empty() {
            invocation["toolExecutionNotifications"] = self.notifications.into();
        }
        let mut run = json!({
            "tool": { "driver": {
                "name": "mcp-assert",
                "version": self.version,
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": self.rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": self.results,
        });
        if let Some(command) = self.command {
            run["automationDetails"] = json!({ "id": format!("mcp-assert/{command}/") });
        }
        let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
        neutral::json(format!("{log:#}\n"))
    }
}

fn notification(level: &str, text: &str) -> Value {
    json!({ "level": level, "message": { "text": text } })
}

/// A place of a file in the repository.
pub(crate) fn location(file: &str, line: usize, column: usize) -> Value {
    json!({
        "artifactLocation": { "uri": escaped(file), "uriBaseId": "%SRCROOT%" },
        "region": { "startLine": line.max(1), "startColumn": column.max(1) },
    })
}

/// Identifies something across runs.
pub(crate) fn fingerprint<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let parts: String = parts.into_iter().flat_map(|it| [it, "\0"]).collect();
    sha256(parts.as_bytes())
}

/// Something at a place.
struct Finding<'a> {
    record: &'a Record,
    /// The expectation's key, or the kind of what kept it from being observed.
    rule: &'a str,
    /// The expectation; absent when nothing could be observed.
    mismatch: Option<&'a MismatchRecord>,
    /// Which one it is, from 1, of those of the same key, step and place.
    number: usize,
}

/// What is wrong with an outcome.
fn findings(record: &Record) -> Vec<Finding<'_>> {
    let Some(evidence) = record.evidence.as_ref().filter(|_| record.status.is_red()) else {
        return Vec::new();
    };
    let disruption = evidence.disruption.iter().map(|disruption| Finding {
        record,
        rule: &disruption.kind,
        mismatch: None,
        number: 1,
    });
    let mut numbers: HashMap<_, usize> = HashMap::new();
    let mismatches = evidence.mismatches.iter().map(|mismatch| {
        let alike = (&mismatch.key, &mismatch.step, &mismatch.path);
        let number = numbers.entry(alike).or_default();
        *number += 1;
        Finding {
            record,
            rule: &mismatch.key,
            mismatch: Some(mismatch),
            number: *number,
        }
    });
    disruption.chain(mismatches).collect()
}

fn result(report: &RunReport, finding: &Finding<'_>, rules: &BTreeMap<&str, usize>) -> Value {
    let record = finding.record;
    let place = record.place_of(finding.mismatch);
    let folder = report.source.folder.as_deref().unwrap_or_default();
    let mut name = record.display_name(report.trials);
    cut(&mut name, LONGEST_NAME);
    json!({
        "ruleId": finding.rule,
        "ruleIndex": rules.get(finding.rule),
        "level": "error",
        "message": { "text": message(report, finding) },
        "locations": [{
            "physicalLocation": location(&beneath(folder, place.file), place.line, place.column),
            "logicalLocations": [{ "fullyQualifiedName": name, "kind": "member" }],
        }],
        "partialFingerprints": { "mcpAssert/v1": fingerprint_of(report, finding) },
    })
}

/// The headline, and for the first result of an outcome everything else there is to say.
fn message(report: &RunReport, finding: &Finding<'_>) -> String {
    let detail = Detail {
        trials: report.trials,
        frames: Frames::None,
        times: Times::Hidden,
        stderr_lines: 20,
    };
    let evidence = finding.record.evidence.as_ref();
    let is_first = match finding.mismatch {
        None => true,
        Some(mismatch) => evidence
            .is_some_and(|it| it.disruption.is_none() && it.mismatches.first() == Some(mismatch)),
    };
    let mut text = match finding.mismatch {
        Some(mismatch) if !is_first => mismatch.headline.clone(),
        Some(_) | None => failure::text(finding.record, &detail),
    };
    cut(&mut text, LONGEST_MESSAGE);
    unlinked(&text)
}

/// The text without what would be a link.
pub(crate) fn unlinked(text: &str) -> String {
    text.replace("](", "] (")
}

fn describe(rule: &str) -> Value {
    json!({
        "id": rule,
        "shortDescription": { "text": format!("`{rule}`: not as the suite expects it") },
        "defaultConfiguration": { "level": "error" },
    })
}

/// Identifies a result across runs: the assertion, the trial, the expectation and its number among those alike. The wanted
/// value is not part of it, because it may differ in each run.
fn fingerprint_of(report: &RunReport, finding: &Finding<'_>) -> String {
    let record = finding.record;
    let place = finding.mismatch.and_then(|it| it.path.as_deref());
    let trial = if report.trials > 1 { record.trial } else { 1 };
    let step = finding.mismatch.and_then(|it| it.step.as_deref());
    let number = (finding.number > 1).then(|| format!("#{}", finding.number));
    let parts = [
        &record.key(),
        finding.rule,
        place.unwrap_or_default(),
        &trial.to_string(),
    ];
    fingerprint(parts.into_iter().chain(step).chain(number.as_deref()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use super::render;
    use crate::{
        RunReport,
        sample::{failure_with, report},
    };

    fn fingerprints(run: &RunReport) -> Vec<String> {
        let log: Value = serde_json::from_str(&render(run)).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        let print = |result: &Value| result["partialFingerprints"]["mcpAssert/v1"].to_string();
        results.iter().map(print).collect()
    }

    #[test]
    fn each_expectation_has_its_own_fingerprint_and_keeps_it() {
        let mut outcome = failure_with("a.yaml", "a", "hullo");
        let one = outcome.failures[0].clone();
        let mut of_step = one.clone();
        of_step.step = Some("2".to_owned());
        outcome.failures = vec![one.clone(), one.clone(), one, of_step.clone(), of_step];
        let mut run = report(vec![outcome], 1);
        let prints = fingerprints(&run);
        assert_eq!(prints.iter().collect::<HashSet<_>>().len(), 5, "{prints:?}");
        for mismatch in &mut run.records[0].evidence.as_mut().unwrap().mismatches {
            mismatch.line += 7;
            mismatch.wanted.push_str(" of port 4711");
        }
        assert_eq!(fingerprints(&run), prints);
        run.records[0]
            .evidence
            .as_mut()
            .unwrap()
            .mismatches
            .truncate(1);
        assert_eq!(fingerprints(&run), prints[..1]);
    }
}
