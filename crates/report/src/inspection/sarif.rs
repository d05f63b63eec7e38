//! An inspection as SARIF 2.1.0, for code scanning.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Check, Finding, Inspection, Kind, Place, Severity, Standing};
use crate::{
    cleaner::cut,
    sarif::{self, LONGEST_MESSAGE, Log, MOST_RESULTS, unlinked},
};

/// The tag of rules about security.
const SECURITY: &str = "security";

/// The page that explains the rules.
const HELP: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/blob/main/docs/reference/lint.md"
);

/// The inspection as SARIF.
pub fn render(inspection: &Inspection) -> String {
    let merged = merged(inspection);
    let left_out = merged.len().saturating_sub(MOST_RESULTS);
    let results = merged.iter().take(MOST_RESULTS);
    let results: Vec<Value> = results.map(|it| result(inspection, it)).collect();
    let rules: Vec<Value> = inspection.checks.iter().map(rule).collect();
    Log {
        version: env!("CARGO_PKG_VERSION"),
        command: Some(inspection.command),
        is_successful: true,
        notifications: Vec::new(),
        rules,
        results,
        left_out,
    }
    .text()
}

/// The findings, the worst first, those of one rule, standing and line together: code scanning takes them for one alert.
fn merged(inspection: &Inspection) -> Vec<(Option<&Place>, Vec<&Finding>)> {
    let mut findings: Vec<&Finding> = inspection.findings.iter().collect();
    findings.sort_by_key(|it| it.severity);
    let mut all: Vec<(Option<&Place>, Vec<&Finding>)> = Vec::new();
    let mut at = HashMap::new();
    for finding in findings {
        let place = finding.place.as_ref().or(inspection.anchor.as_ref());
        let next = all.len();
        let index = match place {
            Some(it) => {
                let line = (finding.code, &it.file, it.line, finding.counts());
                *at.entry(line).or_insert(next)
            }
            None => next,
        };
        if index == next {
            all.push((place, Vec::new()));
        }
        all[index].1.push(finding);
    }
    all
}

fn result(inspection: &Inspection, (place, findings): &(Option<&Place>, Vec<&Finding>)) -> Value {
    let first = findings[0];
    let lines: Vec<String> = findings.iter().map(|it| message(it)).collect();
    let mut text = lines.join("\n");
    if let Some(help) = &first.help {
        text = format!("{text}\nhelp: {help}");
    }
    cut(&mut text, LONGEST_MESSAGE);
    let logical = findings.iter().take(10).map(|it| {
        let is_tool = it.kind == Kind::Tool;
        let kind = if is_tool { "function" } else { "member" };
        json!({ "fullyQualifiedName": qualified(it), "kind": kind })
    });
    let mut location = json!({ "logicalLocations": logical.collect::<Vec<_>>() });
    if let Some(place) = place {
        location["physicalLocation"] = sarif::location(&place.file, place.line, place.column);
    }
    let mut checks = inspection.checks.iter();
    let index = checks.position(|it| it.code == first.code);
    let mut result = json!({
        "ruleId": first.code,
        "level": levels(first.severity).0,
        "message": { "text": unlinked(&text) },
        "locations": [location],
        "partialFingerprints": { "mcpAssert/v1": first.fingerprint() },
    });
    if let Some(index) = index {
        result["ruleIndex"] = index.into();
    }
    match &first.standing {
        Standing::Counts => {}
        Standing::Known => result["baselineState"] = "unchanged".into(),
        Standing::Allowed(reason) => {
            result["suppressions"] = json!([{ "kind": "external", "justification": reason }]);
        }
    }
    result
}

fn message(it: &Finding) -> String {
    let found = it.evidence.iter().map(|it| format!(" (found {it})"));
    let found: String = found.collect();
    format!("{}: {}{found}", qualified(it), it.message)
}

/// `tools/NAME/inputSchema/…`.
fn qualified(it: &Finding) -> String {
    match it.kind {
        Kind::Server => format!("server{}", it.pointer),
        Kind::Tool | Kind::Prompt | Kind::Resource | Kind::Template => {
            format!("{}s/{}{}", it.kind.word(), it.name, it.pointer)
        }
    }
}

/// The level of a result, and the severity of a rule.
fn levels(severity: Severity) -> (&'static str, &'static str) {
    match severity {
        Severity::Error => ("error", "error"),
        Severity::Warning => ("warning", "warning"),
        Severity::Info => ("note", "recommendation"),
    }
}

fn rule(check: &Check) -> Value {
    let (level, severity) = levels(check.severity);
    let mut properties = json!({
        "precision": check.precision,
        "problem.severity": severity,
        "tags": check.tags.iter().take(10).collect::<Vec<_>>(),
    });
    if check.tags.contains(&SECURITY) {
        let is_error = check.severity == Severity::Error;
        properties["security-severity"] = if is_error { "8.0" } else { "5.0" }.into();
    }
    json!({
        "id": check.code,
        "name": check.name,
        "shortDescription": { "text": check.title },
        "fullDescription": { "text": check.title },
        "help": { "text": check.help, "markdown": check.help },
        "helpUri": HELP,
        "defaultConfiguration": { "level": level },
        "properties": properties,
    })
}
