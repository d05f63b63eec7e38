//! SARIF 2.1.0: each expectation that did not hold as a result at its place in the suite, for code scanning.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    report::{
        End, RunReport,
        cleaner::cut,
        failure::{self, Detail, Frames, Times},
        place::{beneath, escaped},
        record::{MismatchRecord, Record},
    },
    words::{digest::hexadecimal, workflow::neutral},
};

/// The schema that the file is of.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Results of a file; GitHub refuses more than 25,000 and shows 5,000.
const MOST_RESULTS: usize = 5_000;

/// The longest message, in bytes.
const LONGEST_MESSAGE: usize = 8 * 1024;

/// The longest name in the file, in bytes.
const LONGEST_NAME: usize = 1024;

/// The run as SARIF, with a final line end.
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
    let mut invocation = json!({ "executionSuccessful": report.end == End::Finished });
    if all.len() > MOST_RESULTS {
        let text = format!("{} more results are left out", all.len() - MOST_RESULTS);
        invocation["toolExecutionNotifications"] =
            json!([{ "level": "warning", "message": { "text": text } }]);
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "mcp-assert",
                "version": report.tool.version,
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": described,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": results,
        }],
    });
    neutral::json(format!("{log:#}\n"))
}

/// Something at a place.
struct Finding<'a> {
    record: &'a Record,
    /// The expectation's key, or the kind of what kept it from being observed.
    rule: &'a str,
    /// The expectation; absent when nothing could be observed.
    mismatch: Option<&'a MismatchRecord>,
}

/// What is wrong with an outcome.
fn findings(record: &Record) -> Vec<Finding<'_>> {
    let Some(evidence) = record.evidence.as_ref().filter(|_| record.status.is_red()) else {
        return Vec::new();
    };
    let mut found: Vec<Finding<'_>> = evidence
        .mismatches
        .iter()
        .map(|mismatch| Finding {
            record,
            rule: &mismatch.key,
            mismatch: Some(mismatch),
        })
        .collect();
    if let Some(disruption) = &evidence.disruption {
        let rule = disruption.kind.as_str();
        let mismatch = None;
        found.insert(
            0,
            Finding {
                record,
                rule,
                mismatch,
            },
        );
    }
    found
}

fn result(report: &RunReport, finding: &Finding<'_>, rules: &BTreeMap<&str, usize>) -> Value {
    let record = finding.record;
    let (line, column) = finding
        .mismatch
        .map_or((record.line, record.column), |it| (it.line, it.column));
    let folder = report.source.folder.as_deref().unwrap_or_default();
    let mut name = record.display_name(report.trials);
    cut(&mut name, LONGEST_NAME);
    json!({
        "ruleId": finding.rule,
        "ruleIndex": rules.get(finding.rule),
        "level": "error",
        "message": { "text": message(report, finding) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": escaped(&beneath(folder, &record.file)), "uriBaseId": "%SRCROOT%" },
                "region": { "startLine": line.max(1), "startColumn": column.max(1) },
            },
            "logicalLocations": [{ "fullyQualifiedName": name, "kind": "member" }],
        }],
        "partialFingerprints": { "mcpAssert/v1": fingerprint(report, finding) },
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
    // Such a text would be a link.
    text.replace("](", "] (")
}

fn describe(rule: &str) -> Value {
    json!({
        "id": rule,
        "shortDescription": { "text": format!("`{rule}`: not as the suite expects it") },
        "defaultConfiguration": { "level": "error" },
    })
}

/// What stays the same while the line moves: the assertion, the trial, and which of its expectations it is.
fn fingerprint(report: &RunReport, finding: &Finding<'_>) -> String {
    let record = finding.record;
    let mut hasher = Sha256::new();
    let place = finding.mismatch.and_then(|it| it.path.as_deref());
    let trial = if report.trials > 1 { record.trial } else { 1 };
    for part in [
        &record.key(),
        finding.rule,
        place.unwrap_or_default(),
        &trial.to_string(),
    ] {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    hexadecimal(&hasher.finalize())
}
