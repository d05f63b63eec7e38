//! A reader of `run.json` as strict as a stranger's file deserves, and what it reads back of what was written.

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    END_MARK, EndFacts, FORMAT, FormatFacts, LONGEST_FILE, PlanFacts, RunFacts, TimingFacts,
    VERSION, render, within,
};
use crate::{
    observation::catalog::Catalog,
    report::{
        End, Format, Problem, RunReport, Tool,
        baseline::Baseline,
        cleaner::LONGEST_TEXT_BYTES,
        compare::{Comparison, Scope, compare},
        record::Record,
        source::Source,
        surface::{self, Catalogs, Surface},
        tests::sample::{UGLY, failure_with, report, sample},
        verdict::Judgement,
    },
    words::{digest::sha256, text::clean},
};

/// The members besides the assertions, in the order of their names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    assertions: Vec<Record>,
    catalogs: Catalogs,
    comparison: Option<Comparison>,
    #[expect(dead_code, reason = "looked at before the members are read")]
    format: FormatFacts,
    judgement: Option<Judgement>,
    notes: Vec<String>,
    plan: PlanFacts,
    problems: Vec<Problem>,
    run: RunFacts,
    source: Source,
    surface: Option<Surface>,
    timing: TimingFacts,
    tool: Tool,
    end: EndFacts,
}

/// Reads a `run.json`; what is wrong with it is said without the file's name.
fn parse(text: &str) -> Result<RunReport, String> {
    if text.len() > LONGEST_FILE + LONGEST_TEXT_BYTES {
        return Err(format!("it is longer than {LONGEST_FILE} bytes"));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let format = value.get("format");
    let member = |key: &str| format.and_then(|it| it.get(key));
    if member("name").and_then(Value::as_str) != Some(FORMAT) {
        return Err(format!("it is no `{FORMAT}`"));
    }
    if member("version").and_then(Value::as_u64) != Some(VERSION) {
        return Err(format!("its version is not {VERSION}"));
    }
    let before = text
        .rfind(END_MARK)
        .ok_or("it has no end: it was cut off or changed")?;
    if let Some(dirty) = first_unclean(&value) {
        return Err(format!(
            "it holds text that was never cleaned: `{}`",
            clean(dirty)
        ));
    }
    let file: File =
        serde_json::from_value(value).map_err(|error| format!("it is not as written: {error}"))?;
    if file.end.sha256 != sha256(&text.as_bytes()[..before]) {
        return Err("its digest is wrong: it was cut off or changed".to_owned());
    }
    Ok(RunReport {
        tool: file.tool,
        source: file.source,
        plan: file.plan,
        started_unix_ms: file.timing.started_unix_ms,
        duration_us: file.timing.duration_us,
        jobs: file.run.jobs,
        trials: file.run.trials,
        planned: file.run.planned,
        passes_not_kept: 0,
        records: file.assertions,
        notes: file.notes,
        problems: file.problems,
        comparison: file.comparison,
        judgement: file.judgement,
        catalogs: file.catalogs,
        surface: file.surface,
        end: file.end.state,
    })
}

/// A text that a report would not have written.
fn first_unclean(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => (clean(text) != *text).then_some(text.as_str()),
        Value::Array(items) => items.iter().find_map(first_unclean),
        Value::Object(members) => members.values().find_map(first_unclean),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[test]
fn a_stored_run_gives_every_report_again() {
    let mut run = sample();
    run.notes.push("a note".to_owned());
    run.source.reference = Some("main".to_owned());
    run.comparison = Some(compare(&Baseline::default(), "main", &run, Scope::Whole));
    let catalog = Catalog {
        tools: Some(vec![json!({"name": "z", "a": 1})]),
        ..Catalog::default()
    };
    let before = Catalogs::from([("s".to_owned(), Catalog::default())]);
    run.catalogs.insert("s".to_owned(), catalog);
    run.surface = Some(surface::compare(&before, &run.catalogs));
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
fn what_was_changed_is_refused() {
    let text = render(&sample());
    let case = |text: &str, wanted: &str| {
        let problem = parse(text).unwrap_err();
        assert!(problem.contains(wanted), "{problem}");
    };
    case("", "no JSON");
    case("{}", "it is no `mcp-assert/run`");
    case(&text[..text.len() / 2], "no JSON");
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
    let resealed = |text: &str| {
        let before = text.rfind("\n\"end\":").unwrap();
        let end = text[before..].find("\"sha256\":\"").unwrap() + before + 10;
        format!(
            "{}{}{}",
            &text[..end],
            sha256(&text.as_bytes()[..before]),
            &text[end + 64..]
        )
    };
    assert!(parse(&resealed(&text)).is_ok());
    let raw = text.replacen("\"greets\"", "\"\\u001b[2J\"", 1);
    case(&resealed(&raw), "never cleaned");
    let unknown = text.replacen("\"id\":", "\"idea\":1,\"id\":", 1);
    case(&resealed(&unknown), "unknown field `idea`");
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
