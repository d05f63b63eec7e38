//! Expected against actual: a pointer to the first difference of two lines, a diff of longer texts, and of JSON
//! by its members.

use std::borrow::Cow;

use serde_json::Value;
use similar::{DiffOp, DiffTag, TextDiff};
use unicode_width::UnicodeWidthStr;

use crate::{
    report::failure::{Page, Tone},
    words::text::head,
};

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
        (Some(expected), Some(actual)) => (expected, actual),
        (Some(_) | None, None) | (None, Some(_)) => (expected.to_owned(), actual.to_owned()),
    };
    let lines = expected.lines().count().max(actual.lines().count());
    if lines > MOST_COMPARED_LINES {
        page.field(Tone::Expected, "value", &expected);
        page.field(Tone::Actual, "actual", &actual);
    } else if lines > 1 {
        page.push(Tone::Plain, TITLE.to_owned());
        show_diff(page, &expected, &actual);
    } else {
        show_pair(
            page,
            expected.trim_end_matches('\n'),
            actual.trim_end_matches('\n'),
        );
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
    let (expected, actual) = (beside(expected, actual), beside(actual, expected));
    let at = first_difference(&expected, &actual);
    if at == Some(0) && expected.len().max(actual.len()) <= SHORT {
        return;
    }
    page.push(Tone::Plain, TITLE.to_owned());
    let (shown_expected, _) = window(&expected, at);
    let (shown_actual, column) = window(&actual, at);
    page.push(Tone::Expected, format!("    | - {shown_expected}"));
    page.push(Tone::Actual, format!("    | + {shown_actual}"));
    if at.is_some_and(|at| at > 0) {
        page.push(Tone::Caret, format!("    |   {}^", " ".repeat(column)));
    }
}

/// A line diff with three lines of context.
fn show_diff(page: &mut Page, expected: &str, actual: &str) {
    let old: Vec<&str> = expected.lines().collect();
    let new: Vec<&str> = actual.lines().collect();
    let diff = TextDiff::from_slices(&old, &new);
    let mut shown: Vec<(Tone, String)> = Vec::new();
    let groups = diff.grouped_ops(3);
    if groups.is_empty() {
        shown.push((Tone::Faint, "(the same but for line ends)".to_owned()));
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
fn window(line: &str, at: Option<usize>) -> (String, usize) {
    let total = line.chars().count();
    let at = at.unwrap_or(0).min(total);
    let start = if total <= WINDOW {
        0
    } else {
        at.saturating_sub(WINDOW / 2).min(total - WINDOW)
    };
    let before: String = line.chars().skip(start).take(at - start).collect();
    let after: String = line.chars().skip(at).take(start + WINDOW - at).collect();
    let left = if start > 0 { "…" } else { "" };
    let right = if start + WINDOW < total {
        format!("… ({} more characters)", total - start - WINDOW)
    } else {
        String::new()
    };
    (
        format!("{left}{before}{after}{right}"),
        left.width() + before.width(),
    )
}

#[cfg(test)]
mod tests {
    use super::show;
    use crate::report::failure::Page;

    fn shown(expected: &str, actual: &str) -> String {
        let mut page = Page::default();
        show(&mut page, expected, actual);
        let lines: Vec<String> = page.lines.into_iter().map(|line| line.text).collect();
        lines.join("\n")
    }

    #[test]
    fn two_lines_part_where_the_pointer_is() {
        insta::assert_snapshot!(shown("Hello, Ann!", "Hello, Bob!"), @r"
          diff      - expected, + actual
            | - Hello, Ann!
            | + Hello, Bob!
            |          ^
        ");
        assert_eq!(shown("5", "\"5\""), "");
    }

    #[test]
    fn white_space_is_seen_when_nothing_else_differs() {
        insta::assert_snapshot!(shown("a b", "a  b"), @r"
          diff      - expected, + actual
            | - a·b
            | + a··b
            |     ^
        ");
        insta::assert_snapshot!(shown("one\n  two\nthree", "one\n\ttwo\nthree "), @r"
          diff      - expected, + actual
            |   one
            | - ··two
            | - three
            | + →two
            | + three·
        ");
    }

    #[test]
    fn json_is_compared_by_its_members() {
        insta::assert_snapshot!(shown(r#"{"a": 1, "b": [1, 2]}"#, r#"{"a":1,"b":[1,3]}"#), @r#"
          diff      - expected, + actual
            | @@ line 2 @@
            |     "a": 1,
            |     "b": [
            |       1,
            | -     2
            | +     3
            |     ]
            |   }
        "#);
    }

    #[test]
    fn long_lines_are_cut_round_their_difference() {
        let line = |middle: &str| format!("{}{middle}{}", "x".repeat(5_000), "y".repeat(5_000));
        let shown = shown(&line("here"), &line("there"));
        assert!(
            shown.lines().all(|line| line.chars().count() < 150),
            "{shown}"
        );
        assert!(
            shown.contains("- …xxx") && shown.contains("xxthere"),
            "{shown}"
        );
    }

    #[test]
    fn far_apart_changes_show_their_line() {
        let text = |middle: &str| format!("{}{middle}\n{}", "a\n".repeat(20), "b\n".repeat(20));
        let shown = shown(&text("old"), &text("new"));
        assert!(shown.contains("@@ line 18 @@"), "{shown}");
        assert_eq!(shown.lines().count(), 10, "{shown}");
    }
}
