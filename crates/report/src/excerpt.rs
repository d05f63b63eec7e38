//! A few lines of a suite with the bytes that matter, drawn with a caret. Columns are counted as a terminal shows them.

use unicode_width::UnicodeWidthStr;

use text::{
    CUT, clean,
    source::{Origin, Position, Span},
};

/// Lines shown of an expectation that is longer.
const MOST_LINES: usize = 6;

/// Lines shown before the caret when its line is not among the first.
const LINES_BEFORE: usize = 2;

/// Characters shown of a longer line.
const MOST_COLUMNS: usize = 160;

/// Characters shown before the caret where the beginning of its line is not.
const COLUMNS_BEFORE: usize = 40;

/// Draws the lines that a span touches, with their numbers and a caret, and tells the place of the caret. It underlines
/// what `focus` has of its first line: the one item of a list, the one path of a map. Without a focus in those lines that is
/// the span itself.
pub(super) fn draw(
    origin: &Origin,
    focus: Option<Span>,
    show: impl Fn(&str) -> String,
) -> (Vec<String>, Position) {
    let text = &*origin.file.text;
    let start = text.floor_char_boundary(origin.span.start);
    let end = text.floor_char_boundary(origin.span.end).max(start);
    let end = start + text[start..end].trim_end().len();
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let touched: Vec<&str> = text[line_start..line_end].lines().collect();
    let focus = focus.filter(|focus| start <= focus.start && focus.end <= end);
    let (from, to) = focus.map_or((start, end), |focus| {
        let from = text.floor_char_boundary(focus.start);
        (from, text.floor_char_boundary(focus.end).max(from))
    });
    let target = text[line_start..from].matches('\n').count();
    let target_start = text[..from].rfind('\n').map_or(0, |newline| newline + 1);
    let line = touched.get(target).copied().unwrap_or_default();
    let (before, rest) = line.split_at(line.floor_char_boundary(from - target_start));
    let under = &rest[..rest.floor_char_boundary(to - from)];
    let position = Position {
        line: origin.position().line + target,
        column: before.chars().count() + 1,
    };
    let tidy = |part: &str| show(&clean(&part.replace('\t', "    ")));
    let whole = tidy(line.trim_end());
    let (shown, indent) = window(&whole, &tidy(before), &tidy(under.trim_end()));
    let room = shown.width().saturating_sub(indent).max(1);
    let caret = "^".repeat(tidy(under.trim_end()).width().clamp(1, room));
    let first = if target < MOST_LINES {
        0
    } else {
        target - LINES_BEFORE
    };
    let last = touched.len().min(first + MOST_LINES);
    let number = |index: usize| origin.position().line + index;
    let gutter = number(last.saturating_sub(1)).to_string().len();
    let mut drawn = Vec::new();
    for (index, line) in touched.iter().enumerate().take(last).skip(first) {
        let line = if index == target {
            shown.clone()
        } else {
            cut(&tidy(line.trim_end()))
        };
        drawn.push(
            format!("{:>gutter$} | {line}", number(index))
                .trim_end()
                .to_owned(),
        );
        if index == target {
            drawn.push(format!("{:gutter$} | {:indent$}{caret}", "", ""));
        }
    }
    if touched.len() > last {
        drawn.push(format!("{:gutter$} | …", ""));
    }
    (drawn, position)
}

/// A line that fits; the cut is shown.
fn cut(line: &str) -> String {
    // The mark takes a column too.
    if line.chars().count() <= MOST_COLUMNS + 1 {
        return line.to_owned();
    }
    let kept: String = line.chars().take(MOST_COLUMNS).collect();
    format!("{kept}{CUT}")
}

/// As much of the caret's line as fits, so that what is underlined is seen, and the columns before that.
fn window(line: &str, before: &str, under: &str) -> (String, usize) {
    let (total, at) = (line.chars().count(), before.chars().count());
    let needed = under.chars().count().min(MOST_COLUMNS - COLUMNS_BEFORE);
    if total <= MOST_COLUMNS + 1 || at + needed <= MOST_COLUMNS {
        return (cut(line), before.width());
    }
    let start = at.saturating_sub(COLUMNS_BEFORE).min(total - MOST_COLUMNS);
    let rest: String = line.chars().skip(start).collect();
    let visible: String = rest.chars().take(at.saturating_sub(start)).collect();
    (
        format!("{CUT}{}", cut(&rest)),
        CUT.width() + visible.width(),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::draw;
    use text::source::{Origin, SourceFile, Span};

    fn drawn(text: &str, part: &str) -> String {
        focused(text, part, None)
    }

    /// Where a part stands last.
    fn span(text: &str, part: &str) -> Span {
        let start = text.rfind(part).unwrap();
        Span {
            start,
            end: start + part.len(),
        }
    }

    fn focused(text: &str, part: &str, focus: Option<&str>) -> String {
        let start = text.find(part).unwrap();
        let origin = Origin {
            file: Arc::new(SourceFile::new("a.yaml".into(), text.into())),
            span: Span {
                start,
                end: start + part.len(),
            },
        };
        let focus = focus.map(|focus| span(text, focus));
        let (drawn, position) = draw(&origin, focus, str::to_owned);
        let caret = drawn.iter().position(|line| line.ends_with('^')).unwrap();
        let above = drawn[caret - 1].trim_start();
        assert!(
            above.starts_with(&format!("{} |", position.line)),
            "{above}"
        );
        drawn.join("\n")
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
    fn a_long_line_is_shown_where_it_matters() {
        let line = |before: usize, after: usize| {
            let (before, after) = ("b".repeat(before), "a".repeat(after));
            drawn(
                &format!("{{{before}, contains: [x], {after}}}"),
                "contains: [x]",
            )
        };
        let under = |drawn: &str| {
            let lines: Vec<Vec<char>> = drawn.lines().map(|it| it.chars().collect()).collect();
            let carets = lines[1].iter().enumerate().filter(|it| *it.1 == '^');
            carets
                .filter_map(|(at, _)| lines[0].get(at))
                .collect::<String>()
        };
        for (before, after) in [
            (10, 10),
            (10, 900),
            (147, 9),
            (148, 9),
            (300, 900),
            (900, 2),
        ] {
            let drawn = line(before, after);
            assert_eq!(under(&drawn), "contains: [x]", "{before} {after}: {drawn}");
            let longest = drawn.lines().map(|line| line.chars().count()).max();
            assert!(longest.unwrap() < 170, "{drawn}");
        }
        let both = line(300, 300);
        let shown = both.lines().next().unwrap();
        assert!(
            shown.starts_with("1 | …b") && shown.ends_with("a…"),
            "{both}"
        );
        assert!(drawn(&"x".repeat(161), "x").ends_with("\n  | ^"));
        assert!(!drawn(&"x".repeat(161), "x").contains('…'));
    }

    #[test]
    fn a_long_span_is_cut_and_says_so() {
        let text = format!("a:\n{}", "  - x\n".repeat(20));
        let drawn = drawn(&text, &text.clone());
        assert_eq!(drawn.lines().count(), 8);
        assert!(drawn.ends_with("| …"));
    }

    #[test]
    fn the_caret_stands_below_the_item_that_is_meant() {
        let text = "expect:\n  contains:\n    - hello\n    - hello you\n  x: 1\n";
        let span = "contains:\n    - hello\n    - hello you";
        insta::assert_snapshot!(focused(text, span, Some("hello you")), @r"
        2 |   contains:
        3 |     - hello
        4 |     - hello you
          |       ^^^^^^^^^
        ");
        insta::assert_snapshot!(focused(text, span, None), @r"
        2 |   contains:
          |   ^^^^^^^^^
        3 |     - hello
        4 |     - hello you
        ");
        let long = format!("a:\n{}  $.b: 1\n  $.c: 2\n", "  $.x: 0\n".repeat(20));
        insta::assert_snapshot!(focused(&long, long.trim_end(), Some("$.b: 1")), @r"
        20 |   $.x: 0
        21 |   $.x: 0
        22 |   $.b: 1
           |   ^^^^^^
        23 |   $.c: 2
        ");
    }
}
