//! What is read back of what was written, and what is refused.

use proptest::prelude::*;
use serde_json::json;

use super::{LONGEST_FILE, Unreadable, fit_within, parse};
use crate::{
    End, Format, RunReport,
    baseline::Baseline,
    compare::{Scope, compare},
    sample::{UGLY, failure_with, report, sample},
    surface::{self, Catalogs},
    verdict::{Cause, Judgement, Verdict},
};
use mcp::observation::catalog::Catalog;
use text::digest::sha256;

fn render(run: &RunReport) -> String {
    Format::RunJson.render(run)
}

fn within(run: &RunReport, longest: usize) -> String {
    let mut run = run.clone();
    fit_within(&mut run, longest);
    render(&run)
}

#[test]
fn a_stored_run_gives_every_report_again() {
    let mut run = sample();
    run.notes.push("a note".to_owned());
    run.source.reference = Some("main".to_owned());
    run.uncompared = Some("no baseline was saved yet".to_owned());
    run.comparison = Some(compare(&Baseline::default(), "main", &run, Scope::Whole));
    let catalog = Catalog {
        tools: Some(vec![json!({"name": "z", "a": 1})]),
        ..Catalog::default()
    };
    let before = Catalogs::from([("s".to_owned(), Catalog::default())]);
    run.catalogs.insert("s".to_owned(), catalog);
    run.surface = Some(surface::compare(
        &before,
        &run.catalogs,
        &Scope::Whole.into(),
    ));
    let read = parse(&render(&run)).unwrap();
    assert_eq!(read, run);
    for format in Format::ALL {
        assert_eq!(
            format.render(&read),
            format.render(&run),
            "{}",
            format.word()
        );
    }
}

#[test]
fn of_notes_and_causes_no_more_are_read_than_anybody_reads() {
    let mut run = sample();
    let cause = |number| Cause::new(Verdict::Fail, &format!("cause {number}"));
    let stored = |run: &mut RunReport, number: usize| {
        run.notes = (0..number).map(|it| format!("note {it}")).collect();
        run.judgement = Some(Judgement {
            verdict: Verdict::Fail,
            causes: (0..number).map(cause).collect(),
            threshold: 10_000,
        });
        parse(&render(run)).unwrap()
    };
    assert_eq!(stored(&mut run, 1_000), run);
    let read = stored(&mut run, 20_000);
    let causes = read.judgement.unwrap().causes;
    assert_eq!((read.notes.len(), causes.len()), (1_000, 1_000));
    assert_eq!(read.notes[999], "and 19001 more notes");
    let more = Cause::new(Verdict::Fail, "and 19001 more causes");
    assert_eq!((&causes[998], &causes[999]), (&cause(998), &more));
}

#[test]
fn what_was_changed_is_refused() {
    let text = render(&sample());
    let case = |text: &str, wanted: &str| {
        let problem = parse(text).unwrap_err().to_string();
        assert!(problem.contains(wanted), "{problem}");
    };
    case("", "invalid JSON");
    case("{}", "it is not `mcp-assert/run`");
    case(&text[..text.len() / 2], "invalid JSON");
    case(
        &text.replace("\"status\":\"fail\"", "\"status\":\"pass\""),
        "digest",
    );
    case(
        &text
            .replace("finished", "interrupted")
            .replace("\"end\"", "\"eng\""),
        "no end",
    );
    case(
        &text.replacen("\"version\":1", "\"version\":7", 1),
        "version",
    );
    assert!(parse(&resealed(&text)).is_ok());
    let raw = text.replacen("\"greets\"", "\"\\u001b[2J\"", 1);
    case(&resealed(&raw), "never cleaned");
    let hidden = text.replacen("\"greets\"", "\"\u{202e}\"", 1);
    case(&resealed(&hidden), "never cleaned");
    case(&text.replace("\n}\n", "\n}\n\n"), "digest");
    let tail = text.replace("\"state\":\"finished\"", "\"state\": \"finished\"");
    case(&tail, "digest");
    let unknown = text.replacen("\"id\":", "\"idea\":1,\"id\":", 1);
    case(&resealed(&unknown), "unknown field `idea`");
}

#[test]
fn another_format_is_told_from_a_broken_file() {
    let text = render(&sample());
    let case = |text: &str, foreign: bool| {
        let found = matches!(parse(text), Err(Unreadable::Foreign(_)));
        assert_eq!(found, foreign, "{:?}", parse(text));
    };
    case("{}", true);
    case(r#"{"format": 1}"#, true);
    case(&text.replacen("\"version\":1", "\"version\":2", 1), true);
    case(&text[..text.len() - 3], false);
    case("", false);
    case(&text.replacen('a', "b", 1), false);
}

#[test]
fn an_interrupted_run_says_so() {
    let mut run = sample();
    run.end = End::Interrupted;
    assert_eq!(parse(&render(&run)).unwrap().end, End::Interrupted);
}

#[test]
fn texts_are_cut_until_it_fits_and_no_assertion_is_dropped() {
    let long = UGLY.repeat(60);
    let outcomes = (0..10).map(|index| failure_with("a.yaml", &index.to_string(), &long));
    let run = report(outcomes.collect(), 1);
    let text = within(&run, 150_000);
    assert!(text.len() <= 150_000, "{}", text.len());
    let read = parse(&text).unwrap();
    assert_eq!(read.records.len(), 10);
    assert!(text.contains("(cut, "), "{}", &text[..3_000]);
    assert!(render(&run).len() < LONGEST_FILE);
}

#[test]
fn thousands_of_long_failures_fit_however_little_room_there_is() {
    let long = UGLY.repeat(16 * 1024 / UGLY.len() + 1);
    let mut outcomes: Vec<_> = (0..6)
        .map(|index| failure_with("a.yaml", &index.to_string(), &long))
        .collect();
    for outcome in &mut outcomes {
        let many = outcome.failures[0].clone();
        outcome.failures = vec![many; 3];
    }
    let run = report(outcomes, 1);
    // As much for each as 20 000 of them would have.
    let longest = LONGEST_FILE * 6 / 20_000;
    let text = within(&run, longest);
    assert!(text.len() <= longest, "{} of {longest}", text.len());
    let read = parse(&text).unwrap();
    assert_eq!(read.records.len(), 6);
    assert!(text.contains("(cut, "), "{}", &text[..3_000]);
    assert_eq!(within(&read, longest), text);
}

#[test]
fn a_run_that_had_to_be_cut_gives_every_report_again() {
    let long = UGLY.repeat(60);
    let outcomes = (0..10).map(|index| failure_with("a.yaml", &index.to_string(), &long));
    let mut run = report(outcomes.collect(), 1);
    let read = parse(&within(&run, 150_000)).unwrap();
    assert_ne!(Format::Junit.render(&run), Format::Junit.render(&read));
    fit_within(&mut run, 150_000);
    for format in Format::ALL {
        let word = format.word();
        assert_eq!(format.render(&run), format.render(&read), "{word}");
    }
}

#[test]
fn numbers_of_a_stranger_break_no_format() {
    let text = render(&sample());
    let numbers = regex::Regex::new(r#""(line|column|first_line|caret_line|indent|width|left_out|duration_us|at_us|stderr_bytes|times|jobs|planned|started_unix_ms|wire_left_out|step|place|start|handshake|setup|subject)":\d+"#).unwrap();
    for number in ["0", "18446744073709551615"] {
        let hostile = numbers.replace_all(&text, format!("\"$1\":{number}"));
        let run = parse(&resealed(&hostile)).unwrap();
        for format in Format::ALL {
            assert!(!format.render(&run).is_empty());
        }
        crate::markdown::within(&run, 2_000);
    }
}

/// The text with a digest that fits.
fn resealed(text: &str) -> String {
    let before = text.rfind("\n\"end\":").unwrap();
    let end = text[before..].find("\"sha256\":\"").unwrap() + before + 10;
    let digest = sha256(&text.as_bytes()[..before]);
    format!("{}{digest}{}", &text[..end], &text[end + 64..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn no_text_makes_reading_panic(text in any::<String>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let _ = parse(&text);
        let mut bytes = render(&sample()).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(run) = parse(&String::from_utf8_lossy(&bytes)) {
            // Only what stands behind the digest may differ unnoticed.
            prop_assert_eq!(run.records, sample().records);
        }
    }
}
