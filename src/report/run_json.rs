//! The whole run as one file, `run.json`: what a shard hands on and a later report is made of. Sorted keys, one
//! assertion a line, a digest over all before its end; read strictly, because it may come from strangers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    report::{
        End, Problem, RunReport, Tool,
        cleaner::{LONGEST_TEXT_BYTES, cut},
        compare::Comparison,
        record::Record,
    },
    words::text::clean,
};

/// What stands in `format`.
const FORMAT: &str = "mcp-assert/run";

/// The version of the format.
const VERSION: u64 = 1;

/// The longest file, in bytes.
const LONGEST_FILE: usize = 64 * 1024 * 1024;

/// Texts are not cut shorter than this.
const SHORTEST_TEXT: usize = 128;

/// From this length of a text on, cutting alone does not help, and only the last frames stay.
const FEW_FRAMES_FROM: usize = 4 * 1024;

/// The frames that stay then.
const FEW_FRAMES: usize = 6;

/// What begins the last member; texts hold no raw line end, so it stands there only.
const END_MARK: &str = "\n\"end\":";

/// The part of a run that is planned before it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanFacts {
    /// The digest of the plan, when there is one.
    pub(crate) digest: Option<String>,
    /// The shard, from 1; 0 when the run is whole.
    pub(crate) shard: u32,
    /// How many shards there are.
    pub(crate) of: u32,
    /// The ids that were to run, when the run is a shard.
    pub(crate) ids: Vec<String>,
}

/// The members besides the assertions, in the order of their names.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    assertions: Vec<Record>,
    comparison: Option<Comparison>,
    format: FormatFacts,
    notes: Vec<String>,
    plan: PlanFacts,
    problems: Vec<Problem>,
    run: RunFacts,
    source: BTreeMap<String, String>,
    timing: TimingFacts,
    tool: Tool,
    end: EndFacts,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatFacts {
    name: String,
    version: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunFacts {
    jobs: usize,
    planned: usize,
    trials: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimingFacts {
    duration_us: u64,
    started_unix_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndFacts {
    sha256: String,
    state: End,
}

/// The run as `run.json`, with a final line end. Texts are cut further and further until it fits.
pub(crate) fn render(report: &RunReport) -> String {
    within(report, LONGEST_FILE)
}

fn within(report: &RunReport, longest: usize) -> String {
    let mut limit = LONGEST_TEXT_BYTES;
    loop {
        let text = rendered(report, limit, longest);
        if text.len() <= longest || limit <= SHORTEST_TEXT {
            return text;
        }
        limit /= 2;
    }
}

/// The file with texts of at most `limit` bytes; given up early when it is too long and can still shrink.
fn rendered(report: &RunReport, limit: usize, longest: usize) -> String {
    let mut text = "{\n\"assertions\":[".to_owned();
    for (index, record) in report.records.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&line(record, limit));
        if text.len() > longest && limit > SHORTEST_TEXT {
            return text;
        }
    }
    text.push_str("\n]");
    let format = FormatFacts {
        name: FORMAT.to_owned(),
        version: VERSION,
    };
    let run = RunFacts {
        jobs: report.jobs,
        planned: report.planned,
        trials: report.trials,
    };
    let timing = TimingFacts {
        duration_us: report.duration_us,
        started_unix_ms: report.started_unix_ms,
    };
    for (name, value) in [
        ("comparison", sorted(&report.comparison)),
        ("format", sorted(&format)),
        ("notes", sorted(&report.notes)),
        ("plan", sorted(&report.plan)),
        ("problems", sorted(&report.problems)),
        ("run", sorted(&run)),
        ("source", sorted(&report.source)),
        ("timing", sorted(&timing)),
        ("tool", sorted(&report.tool)),
    ] {
        text.extend([",\n\"", name, "\":", &value]);
    }
    text.push(',');
    let end = EndFacts {
        sha256: digest(&text),
        state: report.end,
    };
    text.push_str(END_MARK);
    text.push_str(&sorted(&end));
    text.push_str("\n}\n");
    text
}

/// One assertion on one line.
fn line(record: &Record, limit: usize) -> String {
    if limit >= LONGEST_TEXT_BYTES {
        return sorted(record);
    }
    let mut record = record.clone();
    for text in record.long_texts() {
        cut(text, limit);
    }
    if let Some(evidence) = &mut record.evidence
        && limit <= FEW_FRAMES_FROM
    {
        let surplus = evidence.wire.len().saturating_sub(FEW_FRAMES);
        evidence.wire.drain(..surplus);
        evidence.wire_left_out = evidence.wire_left_out.saturating_add(surplus);
    }
    sorted(&record)
}

/// Compact JSON with sorted keys. Our own types always have such a form; `null` is refused by [`parse`].
fn sorted(value: &impl Serialize) -> String {
    let mut value = serde_json::to_value(value).unwrap_or(Value::Null);
    value.sort_all_objects();
    value.to_string()
}

fn digest(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Reads a `run.json`; what is wrong with it is said without the file's name.
pub(crate) fn parse(text: &str) -> Result<RunReport, String> {
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
    if file.end.sha256 != digest(&text[..before]) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LONGEST_FILE, digest, parse, render, within};
    use crate::report::{
        End, Format,
        baseline::Baseline,
        compare::{Scope, compare},
        tests::sample::{UGLY, failure_with, report, sample},
    };

    #[test]
    fn a_stored_run_gives_every_report_again() {
        let mut run = sample();
        run.notes.push("a note".to_owned());
        run.source.insert("ref".to_owned(), "main".to_owned());
        run.comparison = Some(compare(&Baseline::default(), "main", &run, Scope::Whole));
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
                digest(&text[..before]),
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
}
