//! Expected against actual: a pointer to the first difference of two lines, a diff of longer texts, and of JSON
//! by its members.

use std::borrow::Cow;

use serde_json::Value;
use similar::{DiffOp, DiffTag, TextDiff};
use unicode_width::UnicodeWidthStr;

use crate::failure::{Page, Tone};
use text::{CUT, head};

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
    let (expected, actual) = match (pretty(expected), pretty(actual)) {
        // What is the same JSON differs in how it is written.
        (Some(one), Some(other)) if one != other => (one, other),
        (Some(_) | None, Some(_) | None) => (expected.to_owned(), actual.to_owned()),
    };
    match expected.lines().count().max(actual.lines().count()) {
        0 | 1 => show_pair(page, expected.trim_end(), actual.trim_end()),
        2..=MOST_COMPARED_LINES => show_diff(page, &expected, &actual),
        _ => {
            page.field(Tone::Expected, "value", &expected);
            page.field(Tone::Actual, "actual", &actual);
        }
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
fn show_pair(page: &mut Page, expected: &str, actual: &str) {
    let (one, other) = (beside(expected, actual), beside(actual, expected));
    let at = first_difference(&one, &other);
    if at == Some(0) && one.len().max(other.len()) <= SHORT {
        return;
    }
    page.push(Tone::Plain, TITLE.to_owned());
    let (shown, _) = window(&one, at);
    page.push(Tone::Expected, format!("    | - {shown}"));
    let (shown, column) = window(&other, at);
    page.push(Tone::Actual, format!("    | + {shown}"));
    if at.is_some_and(|at| at > 0) {
        page.push(Tone::Caret, format!("    |   {}^", " ".repeat(column)));
    }
}

/// A line diff with three lines of context.
fn show_diff(page: &mut Page, expected: &str, actual: &str) {
    page.push(Tone::Plain, TITLE.to_owned());
    let [old, new] = [expected, actual].map(|it| it.lines().collect::<Vec<_>>());
    let groups = TextDiff::from_slices(&old, &new).grouped_ops(3);
    let mut shown: Vec<(Tone, String)> = Vec::new();
    if groups.is_empty() {
        let note = if expected == actual {
            "(shown alike)"
        } else {
            "(the same but for line ends)"
        };
        shown.push((Tone::Faint, note.to_owned()));
    }
    for (index, group) in groups.iter().enumerate() {
        let first = group.first().map_or(0, |op| op.new_range().start);
        if index > 0 || first > 0 {
            shown.push((Tone::Faint, format!("@@ line {} @@", first + 1)));
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
}

/// The lines of one change; lines that replace each other one by one are cut round their difference.
fn show_op(shown: &mut Vec<(Tone, String)>, op: &DiffOp, old: &[&str], new: &[&str]) {
    let (removed, added) = (&old[op.old_range()], &new[op.new_range()]);
    let paired = removed.len() == added.len();
    let cut = |line: &str, other: Option<&&str>| match other {
        Some(other) if paired => {
            let (line, other) = (beside(line, other), beside(other, line));
            window(&line, first_difference(&line, &other)).0
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
fn window(text: &str, at: Option<usize>) -> (String, usize) {
    let total = text.chars().count();
    let at = at.unwrap_or(0).min(total);
    let start = at
        .saturating_sub(WINDOW / 2)
        .min(total.saturating_sub(WINDOW));
    let before: String = text.chars().skip(start).take(at - start).collect();
    let after: String = text.chars().skip(at).collect();
    let left = if start > 0 { CUT } else { "" };
    let column = left.width() + before.width();
    let room = WINDOW - before.chars().count().min(WINDOW);
    (format!("{left}{before}{}", head(&after, room)), column)
}

#[cfg(test)]
#[path = "tests/comparison.rs"]
mod tests;
