//! The reference of the format as Markdown, made from the same definitions as the readers.

use std::fmt::Write as _;

use crate::{
    problems,
    raw::{
        ShapeDoc,
        assertion::RawAssertion,
        settings::RawSettings,
        shape::{definition, paragraph},
    },
};
use mcp::observation::finding::{FindingCode, FindingSeverity};

/// All maps with their keys, all problem codes, all finding codes.
pub fn reference() -> String {
    let mut out = String::from("# Reference\n\nGenerated from the program's own definitions.\n");
    let mut shapes: Vec<&'static ShapeDoc> = Vec::new();
    RawAssertion::SHAPE.collect(&mut shapes);
    let assertion = shapes.len();
    RawSettings::SHAPE.collect(&mut shapes);
    out.push_str("\n## The keys of a suite\n");
    for (index, shape) in shapes.iter().enumerate() {
        if index == assertion {
            out.push_str("\n## The settings file\n");
        }
        map(&mut out, shape);
    }
    out.push_str("\n## What can be wrong with a suite\n\n| code | meaning |\n|---|---|\n");
    for (code, meaning) in problems::code::ALL {
        row(&mut out, &[&format!("`{code}`"), &paragraph(meaning)]);
    }
    out.push_str("\n## Findings about a server\n\n| code | severity | meaning |\n|---|---|---|\n");
    for code in FindingCode::ALL {
        let severity = match code.severity() {
            FindingSeverity::Note => "note",
            FindingSeverity::Warning => "warning",
            FindingSeverity::Error => "error",
        };
        let code_shown = format!("`{code}`");
        row(&mut out, &[&code_shown, severity, &paragraph(code.doc())]);
    }
    out
}

/// One map.
fn map(out: &mut String, shape: &ShapeDoc) {
    let title = definition(shape.name);
    // Writing to a text cannot fail.
    let _ = write!(
        out,
        "\n### {title}: {}\n\n{}\n\n",
        shape.owner,
        paragraph(shape.doc)
    );
    out.push_str("| key | takes | meaning |\n|---|---|---|\n");
    for key in shape.keys {
        let mut below: Vec<&'static ShapeDoc> = Vec::new();
        (key.shapes)(&mut below);
        let takes = match below.first() {
            Some(first) => {
                let title = definition(first.name);
                let anchor = anchor(title, first.owner);
                format!("{}: [{title}](#{anchor})", (key.words)())
            }
            None => (key.words)(),
        };
        row(
            out,
            &[&format!("`{}`", key.key), &takes, &paragraph(key.doc)],
        );
    }
}

/// The anchor that renderers give to the heading of a map.
fn anchor(title: &str, owner: &str) -> String {
    format!("{title} {owner}")
        .chars()
        .filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '_' | '-'))
        .map(|character| {
            if character == ' ' {
                '-'
            } else {
                character.to_ascii_lowercase()
            }
        })
        .collect()
}

/// One row of a table.
fn row(out: &mut String, cells: &[&str]) {
    for cell in cells {
        out.push_str("| ");
        out.push_str(&cell.replace('|', "\\|"));
        out.push(' ');
    }
    out.push_str("|\n");
}
