//! Expected against actual: a pointer to the first difference of two lines, a diff of longer texts, and of JSON
//! by its members.

use std::borrow::Cow;

use serde_json::Value;
use similar::{DiffOp, DiffTag, TextDiff, group_diff_ops};
use unicode_width::UnicodeWidthStr;

use crate::failure::{Page, Tone};
use text::{Excerpt, count, excerpt, head, note_behind};

/// What stands above a diff.
const TITLE: &str = "  diff      - expected, + actual";

/// What a tab is shown as.
const TAB: &str = "    ";

/// Bytes of a value that is taken in at a glance.
const SHORT: usize = 40;

/// Characters shown round the first difference of two long lines.
const WINDOW: usize = 100;

/// Lines of a text that is still compared line by line; the work grows with their product.
const MOST_COMPARED_LINES: usize = 2_000;

/// Lines of a diff that are shown.
const MOST_SHOWN_LINES: usize = 60;

/// Adds the comparison.
pub(super) fn show(page: &mut Page, expected: &str, actual: &str) {
    let parts = [expected, actual].map(excerpt);
    if parts.iter().any(|part| part.before + part.after > 0) && parts[0].before == parts[1].before {
        show_excerpts(page, parts);
        return;
    }
    let (expected, actual) = match (pretty(expected), pretty(actual)) {
        // What is the same JSON differs in how it is written.
        (Some(one), Some(other)) if one != other => (one, other),
        (Some(_) | None, Some(_) | None) => (expected.to_owned(), actual.to_owned()),
    };
    let lines = expected.lines().count().max(actual.lines().count());
    if lines > MOST_COMPARED_LINES {
        page.field(Tone::Expected, "value", &expected);
        page.field(Tone::Actual, "actual", &actual);
    } else {
        let texts = [&expected, &actual].map(|text| Excerpt::whole(text));
        show_excerpts(page, texts);
    }
}

/// Texts that begin at the same place, each with what was left out of it.
fn show_excerpts(page: &mut Page, texts: [Excerpt<'_>; 2]) {
    if texts.iter().any(|it| it.text.lines().count() > 1) {
        page.push(Tone::Plain, TITLE.to_owned());
        show_diff(page, texts);
    } else {
        let [expected, actual] = texts.map(|it| Excerpt {
            text: it.text.trim_end_matches('\n'),
            ..it
        });
        show_pair(page, expected, actual);
    }
}

/// JSON objects and arrays over several lines, so that a diff shows members.
fn pretty(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    if !(value.is_object() || value.is_array()) {
        return None;
    }
    serde_json::to_string_pretty(&value).ok()
}

/// Two lines one above the other, with a pointer to where they part. Short values that have nothing in common
/// stand in the sentences already.
fn show_pair(page: &mut Page, expected: Excerpt<'_>, actual: Excerpt<'_>) {
    let texts = (
        beside(expected.text, actual.text),
        beside(actual.text, expected.text),
    );
    let at = first_difference(&texts.0, &texts.1);
    let is_whole = expected.before + expected.after + actual.after == 0;
    if is_whole && at == Some(0) && texts.0.len().max(texts.1.len()) <= SHORT {
        return;
    }
    page.push(Tone::Plain, TITLE.to_owned());
    let part = |whole: Excerpt<'_>, text: &str| window(Excerpt { text, ..whole }, at);
    let (shown_expected, _) = part(expected, &texts.0);
    let (shown_actual, column) = part(actual, &texts.1);
    page.push(Tone::Expected, format!("    | - {shown_expected}"));
    page.push(Tone::Actual, format!("    | + {shown_actual}"));
    if at.is_some_and(|at| at > 0) {
        page.push(Tone::Caret, format!("    |   {}^", " ".repeat(column)));
    }
}

/// A line diff with three lines of context.
fn show_diff(page: &mut Page, texts: [Excerpt<'_>; 2]) {
    let [old, new] = texts.map(whole_lines);
    let ops = TextDiff::from_slices(&old, &new).ops().to_vec();
    let groups = group_diff_ops(until_cut(ops, texts), 3);
    let mut shown: Vec<(Tone, String)> = Vec::new();
    if groups.is_empty() {
        let note = if texts[0].text == texts[1].text {
            "(shown alike)"
        } else {
            "(the same but for line ends)"
        };
        shown.push((Tone::Faint, note.to_owned()));
    }
    let before = texts[0].before;
    if before > 0 {
        let left_out = count(before, "character");
        shown.push((Tone::Faint, format!("… ({left_out} before)")));
    }
    for (index, group) in groups.iter().enumerate() {
        let first = group.first().map_or(0, |op| op.new_range().start);
        if index > 0 || first > 0 {
            // How many lines are left out before is not known.
            let line = match before {
                0 => format!("@@ line {} @@", first + 1),
                _ => "@@".to_owned(),
            };
            shown.push((Tone::Faint, line));
        }
        for op in group {
            show_op(&mut shown, op, &old, &new);
        }
    }
    let total = shown.len();
    for (tone, line) in shown.into_iter().take(MOST_SHOWN_LINES) {
        page.push(tone, format!("    | {line}"));
    }
    if total > MOST_SHOWN_LINES {
        let more = total - MOST_SHOWN_LINES;
        page.push(Tone::Faint, format!("    … ({more} more lines of diff)"));
    }
    if texts.iter().any(|it| it.after > 0) {
        page.push(Tone::Faint, "    … (not compared any further)".to_owned());
    }
}

/// The lines of a text; not the one that it was cut in, if there are others.
fn whole_lines(text: Excerpt<'_>) -> Vec<&str> {
    let mut lines: Vec<&str> = text.text.lines().collect();
    if text.after > 0 && lines.len() > 1 {
        lines.pop();
    }
    lines
}

/// Changes of texts that were cut at the end: that one has more lines there comes from the cut, if anything else differs.
fn until_cut(mut ops: Vec<DiffOp>, texts: [Excerpt<'_>; 2]) -> Vec<DiffOp> {
    let differs = |op: &&DiffOp| op.tag() != DiffTag::Equal;
    while texts.iter().any(|it| it.after > 0)
        && ops.iter().filter(differs).count() > 1
        && let Some(DiffTag::Delete | DiffTag::Insert) = ops.last().map(|op| op.tag())
    {
        ops.pop();
    }
    ops
}

/// The lines of one change; lines that replace each other one by one are cut round their difference.
fn show_op(shown: &mut Vec<(Tone, String)>, op: &DiffOp, old: &[&str], new: &[&str]) {
    let (removed, added) = (&old[op.old_range()], &new[op.new_range()]);
    let paired = removed.len() == added.len();
    let cut = |line: &str, other: Option<&&str>| match other {
        Some(other) if paired => {
            let (line, other) = (beside(line, other), beside(other, line));
            window(Excerpt::whole(&line), first_difference(&line, &other)).0
        }
        Some(_) | None => head(&line.replace('\t', TAB), WINDOW * 2),
    };
    match op.tag() {
        DiffTag::Equal => {
            for line in added {
                let line = head(&line.replace('\t', TAB), WINDOW);
                shown.push((Tone::Faint, format!("  {line}")));
            }
        }
        DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
            for (index, line) in removed.iter().enumerate() {
                shown.push((Tone::Expected, format!("- {}", cut(line, added.get(index)))));
            }
            for (index, line) in added.iter().enumerate() {
                shown.push((Tone::Actual, format!("+ {}", cut(line, removed.get(index)))));
            }
        }
    }
}

/// A line as it is compared with another: where only white space differs, it is made visible; else a tab takes
/// the columns that the pointer counts on.
fn beside<'a>(line: &'a str, other: &str) -> Cow<'a, str> {
    if line != other && line.split_whitespace().eq(other.split_whitespace()) {
        return Cow::Owned(line.replace(' ', "·").replace('\t', "→"));
    }
    if line.contains('\t') {
        return Cow::Owned(line.replace('\t', TAB));
    }
    Cow::Borrowed(line)
}

/// The character at which two texts part; none when they are equal.
fn first_difference(one: &str, other: &str) -> Option<usize> {
    if one == other {
        return None;
    }
    Some(
        one.chars()
            .zip(other.chars())
            .take_while(|(left, right)| left == right)
            .count(),
    )
}

/// The part of a line round a character, and the column at which that character stands in it.
fn window(line: Excerpt<'_>, at: Option<usize>) -> (String, usize) {
    let text = line.text;
    let total = text.chars().count();
    let at = at.unwrap_or(0).min(total);
    let start = if total <= WINDOW {
        0
    } else {
        at.saturating_sub(WINDOW / 2).min(total - WINDOW)
    };
    let before: String = text.chars().skip(start).take(at - start).collect();
    let after: String = text.chars().skip(at).take(start + WINDOW - at).collect();
    let left = if start + line.before > 0 { "…" } else { "" };
    let right = match total.saturating_sub(start + WINDOW) + line.after {
        0 => String::new(),
        more => note_behind(more),
    };
    (
        format!("{left}{before}{after}{right}"),
        left.width() + before.width(),
    )
}

#[cfg(test)]
#[path = "tests/comparison.rs"]
mod tests;
