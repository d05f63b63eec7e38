//! Where problems are told to be, and where the documents stand that they make unusable.

use std::{ffi::OsStr, fmt::Write as _, fs, os::unix::ffi::OsStrExt as _};

use super::Sample;
use crate::model::Entry;
use text::{
    diagnostic::Colour,
    source::{Origin, Position},
};

/// The code, line and column of every problem, and line and column of every document that cannot be used.
fn told(sample: &Sample) -> (Vec<String>, Vec<String>) {
    let suite = sample.load().suite;
    let shown = |Position { line, column }| format!("{line}:{column}");
    let problems = suite.problems.iter().map(|problem| {
        let place = problem.origin.as_ref().map(Origin::position);
        format!("{} {}", problem.code, place.map(shown).unwrap_or_default())
    });
    let unusable = suite.entries.iter().filter_map(|entry| match entry {
        Entry::Assertion(_) => None,
        Entry::Invalid { case, .. } => Some(shown(case.origin.position())),
    });
    (problems.collect(), unusable.collect())
}

fn case(sample: &Sample, problems: &[&str], unusable: &[&str]) {
    let (found, places) = told(sample);
    assert_eq!(found, problems);
    assert_eq!(places, unusable);
}

#[test]
fn a_document_that_cannot_be_used_stands_at_its_first_problem() {
    let good = "name: good\nserver: {command: s}\nassert: {tool: x}\n";
    let bad = "name: bad\nserver: {command: s}\nassert: {tool: x, args: 5}\n";
    let sample = Sample::one(&format!("{good}---\n{bad}"));
    case(&sample, &["wrong-type 7:25"], &["7:25"]);
    let settings = "defaults: {server: {command: s, argz: [a]}}\n";
    let sample = Sample::new(&[
        ("mcp-assert.yaml", settings),
        ("a.yaml", "assert: {tool: x}\n"),
    ]);
    case(&sample, &["unknown-key 1:33"], &["1:33", "1:1"]);
}

#[test]
fn a_request_of_the_server_without_a_method_is_told_at_its_place() {
    let around = |wanted: &str| {
        let text = format!(
            "name: a\nserver: {{command: s}}\nassert:\n  tool: x\n  expect:\n    server_requests: {wanted}\n"
        );
        Sample::one(&text)
    };
    case(&around("{}"), &["missing-key 6:22"], &["6:22"]);
    case(
        &around("[{method: a}, {}]"),
        &["missing-key 6:36"],
        &["6:36"],
    );
    case(&around("[{count: 1}]"), &["missing-key 6:23"], &["6:23"]);
}

#[test]
fn bytes_that_are_no_text_have_a_place() {
    let sample = Sample::one("").bytes("a.yaml", b"name: \xc3\xa4\ntags: [\xc3\xa4, \xff]\nx: 1\n");
    case(&sample, &["not-utf8 2:11"], &["2:11"]);
    insta::assert_snapshot!(sample.shown(), @r"
error[not-utf8]: `a.yaml` is not UTF-8
 --> a.yaml:2:11
  |
2 | tags: [ä, �
  |           ^ the first byte that is not
  |
  = help: save the file as UTF-8
");
}

#[test]
fn texts_in_utf16_are_read() {
    let text = "name: ä𝄞\nserver: {command: s}\nassert: {tool: x}\nx: 1\n";
    let marked = format!("\u{feff}{text}");
    let bytes = |text: &str, bytes_of: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(bytes_of).collect()
    };
    for bytes_of in [u16::to_le_bytes, u16::to_be_bytes] {
        let sample = Sample::one("").bytes("a.yaml", &bytes(&marked, bytes_of));
        case(&sample, &["unknown-key 4:1"], &["4:1"]);
        assert!(!sample.shown().contains('\u{feff}'));
    }
    let mut broken = bytes("\u{feff}name: ä\nx: ", u16::to_le_bytes);
    broken.extend([0x00, 0xd8, b'a', 0]);
    let sample = Sample::one("").bytes("a.yaml", &broken);
    case(&sample, &["not-utf8 2:4"], &["2:4"]);
    let odd = [bytes(&marked, u16::to_be_bytes), vec![0]].concat();
    let sample = Sample::one("").bytes("a.yaml", &odd);
    case(&sample, &["not-utf8 5:1"], &["5:1"]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let text = "nam: a\nserver: {command: s}\nassert: {tool: x, expect: {json_schema: s.json}}\n";
    let sample = Sample::one(&format!("\u{feff}{text}"));
    let sample = sample.bytes("s.json", "\u{feff}{}".as_bytes());
    case(&sample, &["unknown-key 1:1"], &["1:1"]);
    assert!(!sample.shown().contains('\u{feff}'));
}

#[test]
fn a_file_whose_name_is_no_text_is_read() {
    let sample = Sample::new(&[]);
    let name = OsStr::from_bytes(b"b\xff.yaml");
    let text = "server: {command: s}\nassert: {tool: x, args: 5}\n";
    fs::write(sample.folder.path().join(name), text).unwrap();
    case(&sample, &["wrong-type 2:25"], &["2:25"]);
    assert!(
        sample.shown().contains("b\u{fffd}.yaml:2:25"),
        "{}",
        sample.shown()
    );
}

#[test]
fn what_is_wrong_with_defaults_is_told_once() {
    let settings = "defaults:\n  server: {command: s, env: {A: $NOT_SET}, argz: [x]}\n  client: {protocol: newest}\n";
    let mut text = String::new();
    for number in 0..3 {
        write!(text, "name: n{number}\nassert: {{tool: x, args: 5}}\n---\n").unwrap();
    }
    let sample = Sample::new(&[("mcp-assert.yaml", settings), ("a.yaml", &text)]);
    let (mut problems, _) = told(&sample);
    problems.sort();
    assert_eq!(
        problems,
        [
            "unknown-key 2:44",
            "unknown-word 3:22",
            "unset-variable 2:33",
            "wrong-type 2:25",
            "wrong-type 5:25",
            "wrong-type 8:25",
        ]
    );
}

#[test]
fn a_profile_that_the_embedded_server_does_not_have_is_a_problem() {
    let sample = Sample::one("server: {builtin: conformence}\nassert: {tool: x}\n");
    insta::assert_snapshot!(sample.shown(), @r"
error[unknown-word]: unknown profile of the embedded server `conformence`
 --> a.yaml:1:19
  |
1 | server: {builtin: conformence}
  |                   ^^^^^^^^^^^
  |
  = help: did you mean `conformance`?
");
}

#[test]
fn what_is_drawn_of_a_long_file_is_what_is_drawn_of_its_line() {
    let document = "name: näme\nserver: {command: s}\nassert: {tool: x, expekt: {}}\n---\n";
    let sample = Sample::one(&document.repeat(400));
    let problems = sample.load().suite.problems;
    let last = problems.iter().rev().find(|it| it.code == "unknown-key");
    insta::assert_snapshot!(last.unwrap().render(Colour::Off), @r"
error[unknown-key]: unknown key `expekt`
    --> a.yaml:1599:19
     |
1599 | assert: {tool: x, expekt: {}}
     |                   ^^^^^^ not a key of `assert`
     |
     = help: did you mean `expect`?
");
}
