//! A few lines of a suite with the bytes that matter, as data, and their drawing with a caret. Columns are
//! counted as a terminal shows them. Where the caret points is decided by whoever made the outcome.

use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthStr;

use crate::words::{source::Origin, text::clean};

/// Lines shown of an expectation that is longer.
const MOST_LINES: usize = 6;

/// Characters shown of a longer line.
const MOST_COLUMNS: usize = 160;

/// Lines of a suite, cleaned, and what the caret underlines in the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Excerpt {
    /// The number of the first line, from 1.
    pub(crate) first_line: usize,
    /// The lines.
    pub(crate) lines: Vec<String>,
    /// Columns before the caret in the first line.
    pub(crate) indent: usize,
    /// Columns underlined, at least 1.
    pub(crate) width: usize,
    /// Lines of the span that are not shown.
    pub(crate) left_out: usize,
}

impl Excerpt {
    /// The lines that a span touches; the caret underlines its part of the first one.
    pub(crate) fn of(origin: &Origin, show: impl Fn(&str) -> String) -> Self {
        let text = origin.file.text.as_str();
        let start = boundary(text, origin.span.start);
        let end = boundary(text, origin.span.end).max(start);
        let end = start + text[start..end].trim_end().len();
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
        let touched: Vec<&str> = text[line_start..line_end].lines().collect();
        let first_end = text[start..]
            .find('\n')
            .map_or(text.len(), |at| start + at)
            .min(end);
        let tidy = |part: &str| show(&clean(&part.replace('\t', "    ")));
        Self {
            first_line: origin.position().line,
            lines: touched
                .iter()
                .take(MOST_LINES)
                .map(|line| cut(&tidy(line.trim_end())))
                .collect(),
            indent: tidy(&text[line_start..start]).width().min(MOST_COLUMNS),
            width: tidy(text[start..first_end].trim_end())
                .width()
                .clamp(1, MOST_COLUMNS),
            left_out: touched.len().saturating_sub(MOST_LINES),
        }
    }

    /// The lines with their numbers in a gutter, and the line of the caret after the first.
    pub(crate) fn draw(&self) -> Vec<String> {
        let last = self.first_line.saturating_add(self.lines.len());
        let gutter = last.to_string().len();
        let mut drawn = Vec::new();
        for (offset, line) in self.lines.iter().enumerate() {
            let number = self.first_line.saturating_add(offset);
            drawn.push(format!("{number:>gutter$} | {line}").trim_end().to_owned());
            if offset == 0 {
                let room = (line.width().max(1)).saturating_sub(self.indent).max(1);
                let caret = "^".repeat(self.width.clamp(1, room));
                let indent = " ".repeat(self.indent.min(MOST_COLUMNS));
                drawn.push(format!("{:gutter$} | {indent}{caret}", ""));
            }
        }
        if self.left_out > 0 {
            drawn.push(format!("{:gutter$} | …", ""));
        }
        drawn
    }
}

/// The nearest character boundary at or before an offset.
fn boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A line that fits; the cut is shown.
fn cut(line: &str) -> String {
    if line.chars().count() <= MOST_COLUMNS {
        return line.to_owned();
    }
    let kept: String = line.chars().take(MOST_COLUMNS).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Excerpt;
    use crate::words::source::{Origin, SourceFile, Span};

    fn drawn(text: &str, part: &str) -> String {
        let start = text.find(part).unwrap();
        let origin = Origin {
            file: Arc::new(SourceFile {
                path: "a.yaml".into(),
                text: text.into(),
            }),
            span: Span {
                start,
                end: start + part.len(),
            },
        };
        Excerpt::of(&origin, str::to_owned).draw().join("\n")
    }

    #[test]
    fn the_caret_underlines_the_span_in_its_line() {
        insta::assert_snapshot!(drawn("a:\n  b: [x]  # why\n", "b: [x]"), @r"
        2 |   b: [x]  # why
          |   ^^^^^^
        ");
    }

    #[test]
    fn a_span_over_lines_is_shown_whole_and_pointed_at_where_it_begins() {
        insta::assert_snapshot!(drawn("a:\n  b:\n    - x\n    - y\nc: 1\n", "b:\n    - x\n    - y\n"), @r"
        2 |   b:
          |   ^^
        3 |     - x
        4 |     - y
        ");
    }

    #[test]
    fn wide_and_hidden_characters_keep_the_caret_in_place() {
        insta::assert_snapshot!(drawn("漢\u{202e}: {b: 1}", "b: 1"), @r"
        1 | 漢\u{202e}: {b: 1}
          |              ^^^^
        ");
    }

    #[test]
    fn a_long_span_is_cut_and_says_so() {
        let text = format!("a:\n{}", "  - x\n".repeat(20));
        let drawn = drawn(&text, &text.clone());
        assert_eq!(drawn.lines().count(), 8);
        assert!(drawn.ends_with("| …"));
    }
}
