//! The array of `run --json`: the Go tool's fields, which its plugins read, and ours after them.

use serde_json::{Map, Value, json};

use crate::{
    RunReport,
    failure::{self, Detail},
    record::{MismatchRecord, Record},
};
use check::outcome::Status;
use text::workflow::neutral;

/// The run as JSON, with a final line end; `[]` when nothing ran.
pub(crate) fn render(report: &RunReport) -> String {
    let detail = Detail::usual(report.trials);
    let results = report.records.iter().map(|record| result(record, &detail));
    let results: Value = results.collect();
    neutral::json(format!("{results:#}\n"))
}

/// One outcome. `status` has the three words that readers know: an error is a `FAIL` of kind `error`.
fn result(record: &Record, detail: &Detail) -> Value {
    let status = match record.status {
        Status::Pass => "PASS",
        Status::Fail | Status::Error => "FAIL",
        Status::Skip => "SKIP",
    };
    let text = match record.status {
        Status::Fail | Status::Error => failure::text(record, detail),
        Status::Pass | Status::Skip => record.headline().to_owned(),
    };
    let mut result = Map::new();
    let mut put = |key: &str, value: Value| {
        result.insert(key.to_owned(), value);
    };
    put("name", json!(record.name));
    put("status", json!(status));
    put("detail", json!(text));
    put("duration_ms", json!(record.duration_us / 1_000));
    put("trial", json!(record.trial));
    put("id", json!(record.id));
    put("file", json!(record.file));
    put("line", json!(record.line));
    put("kind", json!(record.status));
    put("target", json!(record.target));
    put("server", json!(record.server));
    put("timings", timings(record));
    if let Some(other) = &record.server_of {
        put("server_of", json!(other));
    }
    if let Some(container) = &record.container {
        put("container", json!(container));
    }
    put("findings", findings(record));
    put("attempts", attempts(record));
    if let (true, Some(evidence)) = (record.status.is_red(), &record.evidence) {
        put("phase", json!(evidence.phase));
        let disruption = evidence.disruption.as_ref();
        // Null for a failure.
        put("cause", json!(disruption.map(|it| &it.kind)));
        put(
            "mismatches",
            evidence.mismatches.iter().map(mismatch).collect(),
        );
        put("stderr", json!(evidence.stderr));
    }
    Value::Object(result)
}

fn mismatch(mismatch: &MismatchRecord) -> Value {
    let mut value = json!({
        "key": mismatch.key,
        "line": mismatch.line,
        "column": mismatch.column,
        "step": mismatch.step,
        "wanted": mismatch.wanted,
        "seen": mismatch.seen,
        "path": mismatch.path,
        "expected": mismatch.expected,
        "actual": mismatch.actual,
        "hint": mismatch.hint,
    });
    if let Some(file) = &mismatch.file {
        value["file"] = json!(file);
    }
    value
}

fn findings(record: &Record) -> Value {
    record
        .findings
        .iter()
        .map(|finding| {
            json!({
                "code": finding.code,
                "severity": finding.severity,
                "message": finding.message,
                "times": finding.times,
            })
        })
        .collect()
}

/// The attempts before the last one, oldest first.
fn attempts(record: &Record) -> Value {
    record
        .attempts
        .iter()
        .map(|attempt| {
            json!({
                "kind": attempt.status,
                "detail": attempt.detail,
                "duration_ms": attempt.duration_us / 1_000,
                "stderr": attempt.stderr,
            })
        })
        .collect()
}

/// Microseconds by phase.
fn timings(record: &Record) -> Value {
    json!({
        "place_us": record.phases.place,
        "start_us": record.phases.start,
        "handshake_us": record.phases.handshake,
        "setup_us": record.phases.setup,
        "subject_us": record.phases.subject,
        "total_us": record.duration_us,
    })
}
