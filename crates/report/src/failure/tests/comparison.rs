//! Pairs of values and how their difference is shown.

use super::show;
use crate::failure::Page;

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
fn the_same_json_is_compared_as_it_is_written() {
    insta::assert_snapshot!(shown(r#"{"a":1}"#, r#"{"a": 1}"#), @r#"
    diff      - expected, + actual
      | - {"a":1}
      | + {"a": 1}
      |        ^
    "#);
    insta::assert_snapshot!(shown("{\"a\":\n1}", "{\"a\":\n 1}"), @r#"
    diff      - expected, + actual
      |   {"a":
      | - 1}
      | + ·1}
    "#);
    insta::assert_snapshot!(shown("[\n1]", "[\n1]"), @r"
    diff      - expected, + actual
      | (shown alike)
    ");
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
