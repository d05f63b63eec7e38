//! An inspection as Markdown for a step summary: headline, counts, a table of what is not clean, details.

use std::{collections::BTreeMap, fmt::Write};

use super::{Inspection, Severity, Standing};
use crate::markdown::{SUMMARY_BYTES, escape::inline};
use text::count;

/// Bytes that are kept free for what stands behind the findings.
const RESERVED: usize = 2_000;

/// Characters of a text in a line.
const LONGEST_INLINE: usize = 200;

/// The most things in the list of what was not called.
const MOST_NOT_CALLED: usize = 200;

/// The page. If it would be too long for a summary, the last findings are counted instead of shown.
pub fn render(inspection: &Inspection) -> String {
    let command = inspection.command;
    let server = inline(&inspection.server, LONGEST_INLINE);
    let (looked_at, counts) = (inspection.looked_at(), inspection.counts());
    // Writing to a text cannot fail.
    let mut out = format!("### mcp-assert {command}: {server}\n\n{looked_at}: {counts}\n");
    if !inspection.findings.is_empty() {
        table(inspection, &mut out);
        details(inspection, &mut out);
    }
    if !inspection.not_called.is_empty() {
        out.push_str("\n**Not called**\n\n");
        for it in inspection.not_called.iter().take(MOST_NOT_CALLED) {
            let (name, reason) = (inline(&it.name, 64), inline(&it.reason, LONGEST_INLINE));
            if out.len() < SUMMARY_BYTES - RESERVED {
                let _ = writeln!(out, "- {name}: {reason}");
            }
        }
        let more = inspection.not_called.len().saturating_sub(MOST_NOT_CALLED);
        if more > 0 {
            let _ = writeln!(out, "- and {more} more");
        }
    }
    out
}

/// A row for each rule that fired.
fn table(inspection: &Inspection, out: &mut String) {
    let mut rows: BTreeMap<(Severity, &str), (usize, &str)> = BTreeMap::new();
    for it in inspection.findings.iter().filter(|it| it.counts()) {
        let row = rows.entry((it.severity, it.code)).or_default();
        row.0 += 1;
        let check = inspection.checks.iter().find(|check| check.code == it.code);
        row.1 = check.map_or("", |check| &check.title);
    }
    if rows.is_empty() {
        return;
    }
    out.push_str("\n| severity | code | findings | meaning |\n|---|---|---|---|\n");
    for ((severity, code), (number, title)) in rows {
        let title = inline(title, LONGEST_INLINE);
        let _ = writeln!(out, "| {} | {code} | {number} | {title} |", severity.word());
    }
}

fn details(inspection: &Inspection, out: &mut String) {
    let mut left_out = 0;
    for group in inspection.groups() {
        let title = inline(&group[0].about(), LONGEST_INLINE);
        let mut part = format!("\n**{title}**\n\n");
        for it in group {
            let standing = match &it.standing {
                Standing::Counts => "",
                Standing::Known => " (known)",
                Standing::Allowed(_) => " (allowed)",
            };
            let (severity, code) = (it.severity.word(), it.code);
            let message = inline(&it.message, LONGEST_INLINE);
            let _ = write!(part, "- {severity} {code}{standing}: {message}");
            if !it.pointer.is_empty() {
                let _ = write!(part, " at {}", inline(&it.pointer, LONGEST_INLINE));
            }
            if let Some(evidence) = &it.evidence {
                let _ = write!(part, " – found {}", inline(evidence, LONGEST_INLINE));
            }
            part.push('\n');
        }
        if out.len() + part.len() > SUMMARY_BYTES - RESERVED {
            left_out += group.len();
        } else {
            out.push_str(&part);
        }
    }
    if left_out > 0 {
        let _ = writeln!(out, "\n{} left out to fit.", count(left_out, "finding"));
    }
}
