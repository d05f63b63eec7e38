//! An inspection for people: by subject, the worst first; what was not called; and the line that looks again.

use std::fmt::Write;

use super::{Finding, Inspection, Standing};

/// The text, without colours.
pub fn render(inspection: &Inspection) -> String {
    let mut out = String::new();
    let server = match &*inspection.server {
        "" => "a server without a name",
        name => name,
    };
    // Writing to a text cannot fail.
    let _ = writeln!(out, "{server}: {}", inspection.looked_at());
    for note in &inspection.notes {
        let _ = writeln!(out, "\nnote: {note}");
    }
    for group in inspection.groups() {
        let _ = writeln!(out, "\n{}", group[0].about());
        for finding in group {
            write_finding(&mut out, finding);
        }
    }
    if !inspection.not_called.is_empty() {
        out.push_str("\nnot called\n");
    }
    for it in &inspection.not_called {
        let _ = write!(out, "  {}: {}", it.name, it.reason);
        let _ = match &it.option {
            Some(option) => writeln!(out, "; `{option}` calls it"),
            None => writeln!(out),
        };
    }
    if inspection.findings.is_empty() {
        out.push_str("\nnothing found\n");
    } else {
        let _ = writeln!(out, "\n{}", inspection.counts());
        let _ = writeln!(out, "again: {}", inspection.again);
    }
    out
}

fn write_finding(out: &mut String, it: &Finding) {
    let standing = match &it.standing {
        Standing::Counts => String::new(),
        Standing::Known => "known: ".to_owned(),
        Standing::Allowed(reason) => format!("allowed ({reason}): "),
    };
    let severity = it.severity.word();
    let _ = writeln!(
        out,
        "  {severity:<7}  {}  {standing}{}",
        it.code, it.message
    );
    for (word, part) in it.below() {
        let _ = writeln!(out, "{:15}{word} {part}", "");
    }
}
