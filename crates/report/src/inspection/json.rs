//! Findings as JSON: the members of the Go tool first, then ours.

use serde_json::{Map, Value, json};

use super::{Finding, Inspection, Kind, Severity, Standing};

/// The findings, each with `tool`, `code`, `severity`, `message` and `field` as the Go tool writes them.
pub fn findings(inspection: &Inspection) -> Value {
    inspection.findings.iter().map(finding).collect()
}

fn finding(it: &Finding) -> Value {
    let tool = if it.kind == Kind::Tool { &*it.name } else { "" };
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| drop(out.insert(name.to_owned(), value));
    put("tool", tool.into());
    put("code", it.code.into());
    put("severity", it.severity.word().into());
    put("message", (&*it.message).into());
    if let Some(field) = field(&it.pointer) {
        put("field", field.into());
    }
    put("kind", it.kind.word().into());
    put("name", (&*it.name).into());
    put("pointer", (&*it.pointer).into());
    put("help", it.help.as_deref().into());
    put("evidence", it.evidence.as_deref().into());
    put("fingerprint", it.fingerprint().into());
    if let Some(place) = &it.place {
        let place = json!({"file": place.file, "line": place.line, "column": place.column});
        put("place", place);
    }
    match &it.standing {
        Standing::Counts => {}
        Standing::Known => put("known", true.into()),
        Standing::Allowed(reason) => put("allowed", (&**reason).into()),
    }
    Value::Object(out)
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

/// How many findings of each severity count.
pub fn counts(inspection: &Inspection) -> [(&'static str, usize); 3] {
    let names = ["errors", "warnings", "infos"];
    let mut numbers = Severity::ALL.into_iter().map(|it| inspection.count(it));
    names.map(|name| (name, numbers.next().unwrap_or_default()))
}
