//! Findings as JSON: the members of the Go tool first, then ours.

use serde_json::{Value, json};

use super::{Finding, Inspection, Kind, Place, Standing};

/// The findings, each with `tool`, `code`, `severity`, `message` and `field` as the Go tool writes them.
pub fn findings(inspection: &Inspection) -> Value {
    inspection.findings.iter().map(finding).collect()
}

fn finding(it: &Finding) -> Value {
    let tool = if it.kind == Kind::Tool { &*it.name } else { "" };
    let mut whole = json!({
        "tool": tool,
        "code": it.code,
        "severity": it.severity.word(),
        "message": it.message,
        "kind": it.kind.word(),
        "name": it.name,
        "pointer": it.pointer,
        "help": it.help,
        "evidence": it.evidence,
        "fingerprint": it.fingerprint(),
    });
    if let Some(field) = field(&it.pointer) {
        whole["field"] = field.into();
    }
    if let Some(Place { file, line, column }) = &it.place {
        whole["place"] = json!({"file": file, "line": line, "column": column});
    }
    match &it.standing {
        Standing::Counts => {}
        Standing::Known => whole["known"] = true.into(),
        Standing::Allowed(reason) => whole["allowed"] = (&**reason).into(),
    }
    whole
}

/// The parameter that a pointer is about.
fn field(pointer: &str) -> Option<String> {
    let rest = pointer.strip_prefix("/inputSchema/properties/")?;
    let name = rest.split('/').next()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// What was not called, with the reason and the option that calls it.
pub fn not_called(inspection: &Inspection) -> Value {
    let all = inspection.not_called.iter();
    all.map(|it| json!({"kind": it.kind.word(), "name": it.name, "reason": it.reason, "option": it.option}))
        .collect()
}
