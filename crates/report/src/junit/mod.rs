//! JUnit XML: a test suite for each suite file, a test case for each outcome, and one of our own where the run is red
//! and no outcome says so. Two runs with the same verdicts differ only in their times.

pub mod inspection;

use std::{collections::HashMap, io, time::Duration};

use chrono::{DateTime, FixedOffset};
use quick_junit::{
    NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestRerun, TestSuite, XmlString,
};

use crate::{
    RunReport,
    cleaner::one_line,
    failure::{self, Detail, Times},
    place::beneath,
    record::{AttemptRecord, Record},
    tally::Reliability,
    verdict::{Cause, Verdict},
};
use check::outcome::Status;
use text::head;

/// Characters of an attribute that holds a message.
const LONGEST_MESSAGE: usize = 300;

/// Maximum number of causes.
const MOST_CAUSES: usize = 100;

/// The run as XML.
pub(crate) fn render(report: &RunReport) -> io::Result<String> {
    let started = started(report);
    let mut junit = Report::new("mcp-assert");
    junit.set_time(Duration::from_micros(report.timing.duration_us));
    if let Some(started) = started {
        junit.set_timestamp(started);
    }
    let assertions = report.assertions();
    for (file, records) in by_file(report) {
        let mut suite = TestSuite::new(file);
        if let Some(started) = started {
            suite.set_timestamp(started);
        }
        suite.set_time(records.iter().map(|it| duration(it)).sum());
        if report.trials > 1 {
            let own = assertions.iter().filter(|it| *it.record.file == *file);
            add_reliability(&mut suite, own);
        }
        let mut names = HashMap::new();
        for record in records {
            let name = unique(&mut names, &record.display_name(report.trials));
            suite.add_test_case(test_case(report, record, &name));
        }
        junit.add_test_suite(suite);
    }
    junit.add_test_suites(untold(report));
    junit.to_string().map_err(io::Error::other)
}

/// When the run began; unknown for an empty merge.
fn started(report: &RunReport) -> Option<DateTime<FixedOffset>> {
    i64::try_from(report.timing.started_unix_ms)
        .ok()
        .filter(|started| *started > 0)
        .and_then(DateTime::from_timestamp_millis)
        .map(|at| at.fixed_offset())
}

/// A suite for causes that no outcome shows: a failure for verdict `fail`, else an error.
fn untold(report: &RunReport) -> Option<TestSuite> {
    let causes = report.untold();
    let first = causes.first()?;
    let kind = if first.verdict == Verdict::Fail {
        NonSuccessKind::Failure
    } else {
        NonSuccessKind::Error
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(message(&first.text));
    status.set_type(first.verdict.word());
    let line = |cause: &Cause| format!("{}: {}", cause.verdict.word(), cause.text);
    let lines: Vec<String> = causes.iter().take(MOST_CAUSES).map(line).collect();
    status.set_description(lines.join("\n"));
    let mut case = TestCase::new("verdict", status);
    case.set_classname("mcp-assert");
    case.set_time(Duration::ZERO);
    let mut suite = TestSuite::new("mcp-assert");
    suite.set_time(Duration::ZERO);
    suite.add_test_case(case);
    Some(suite)
}

/// The records of each file; files in the order of the plan.
fn by_file(report: &RunReport) -> Vec<(&str, Vec<&Record>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut files: Vec<(&str, Vec<&Record>)> = Vec::new();
    for record in &report.records {
        let place = *places.entry(&record.file).or_insert(files.len());
        if place == files.len() {
            files.push((&record.file, Vec::new()));
        }
        files[place].1.push(record);
    }
    files
}

/// The name, numbered if the file has it already; each name is kept with its last number.
fn unique(taken: &mut HashMap<String, usize>, name: &str) -> String {
    let mut candidate = name.to_owned();
    while taken.contains_key(&candidate) {
        let number = taken.entry(name.to_owned()).or_default();
        *number += 1;
        candidate = format!("{name} #{number}");
    }
    taken.insert(candidate.clone(), 1);
    candidate
}

/// The Go tool's two properties; skipped assertions have no trials.
fn add_reliability<'a>(
    suite: &mut TestSuite,
    assertions: impl Iterator<Item = &'a Reliability<'a>>,
) {
    let tried: Vec<_> = assertions.filter(|it| it.trials > 0).collect();
    let capable = tried.iter().filter(|it| it.is_capable()).count();
    let reliable = tried.iter().filter(|it| it.is_reliable()).count();
    let total = tried.len();
    suite.add_property(Property::new("pass_at_k", format!("{capable}/{total}")));
    suite.add_property(Property::new("pass_up_k", format!("{reliable}/{total}")));
}

fn test_case(report: &RunReport, record: &Record, name: &str) -> TestCase {
    let trials = report.trials;
    let mut case = TestCase::new(name, status(record, trials));
    case.set_classname(record.file.as_ref());
    case.set_time(duration(record));
    let mut extra = |key: &str, value: &str| {
        case.extra
            .insert(XmlString::new(key), XmlString::new(value));
    };
    // Readers resolve `file` from the repository root; `classname` is an identity and stays as it is.
    let folder = report.source.folder.as_deref().unwrap_or_default();
    extra("file", &beneath(folder, &record.file));
    extra("line", &record.line.to_string());
    add_properties(&mut case, record, trials);
    if let (true, Some(evidence)) = (record.status.is_red(), &record.evidence)
        && !evidence.stderr.is_empty()
    {
        case.set_system_err(evidence.stderr.as_str());
    }
    case
}

fn add_properties(case: &mut TestCase, record: &Record, trials: u32) {
    let mut put = |name: &str, value: &str| {
        case.add_property(Property::new(name, value));
    };
    put("id", &record.id);
    put("subject", &record.subject);
    for tag in &record.tags {
        put("tag", tag);
    }
    if let Some(target) = &record.target {
        put("target", target);
    }
    if trials > 1 {
        put("trial", &record.trial.to_string());
    }
    if let Some(server) = &record.server {
        put("server", server);
    }
    if let Some(revision) = &record.revision {
        put("revision", revision);
    }
    for finding in &record.findings {
        let text = format!("{} {}: {}", finding.severity, finding.code, finding.message);
        put("finding", &head(&text, LONGEST_MESSAGE));
    }
}

fn status(record: &Record, trials: u32) -> TestCaseStatus {
    let mut status = match record.status {
        Status::Pass => TestCaseStatus::success(),
        Status::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Status::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Status::Skip => {
            let mut status = TestCaseStatus::skipped();
            if !record.headline().is_empty() {
                status.set_message(message(record.headline()));
            }
            return status;
        }
    };
    if record.status.is_red() {
        let detail = Detail {
            times: Times::Hidden,
            ..Detail::usual(trials)
        };
        status.set_message(message(record.headline()));
        status.set_type(kind(record));
        status.set_description(failure::text(record, &detail));
    }
    for attempt in &record.attempts {
        status.add_rerun(rerun(attempt));
    }
    status
}

/// The expectation's key, or the kind of what kept it from being observed.
fn kind(record: &Record) -> &str {
    let Some(evidence) = &record.evidence else {
        return "unknown";
    };
    match (&evidence.disruption, evidence.mismatches.first()) {
        (Some(disruption), _) => &disruption.kind,
        (None, Some(mismatch)) => &mismatch.key,
        (None, None) => "unknown",
    }
}

/// An earlier attempt: `flakyFailure` of a pass, `rerunFailure` of a failure.
fn rerun(attempt: &AttemptRecord) -> TestRerun {
    let (kind, word) = match attempt.status {
        Status::Fail => (NonSuccessKind::Failure, "failure"),
        Status::Error | Status::Pass | Status::Skip => (NonSuccessKind::Error, "error"),
    };
    let mut rerun = TestRerun::new(kind);
    // Required by the JUnit schema.
    rerun.set_type(word);
    rerun.set_time(Duration::from_micros(attempt.duration_us));
    rerun.set_message(message(&attempt.detail));
    rerun.set_description(attempt.detail.as_str());
    if !attempt.stderr.is_empty() {
        rerun.set_system_err(attempt.stderr.as_str());
    }
    rerun
}

fn message(text: &str) -> String {
    head(&one_line(text), LONGEST_MESSAGE)
}

/// The status of a case with this text: a failure with a message and a type, or a success of which the text is output.
pub(crate) fn judged(failure: Option<(&str, &str)>, text: String) -> (TestCaseStatus, String) {
    let Some((what, kind)) = failure else {
        return (TestCaseStatus::success(), text);
    };
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message(what));
    status.set_type(kind);
    status.set_description(text);
    (status, String::new())
}

fn duration(record: &Record) -> Duration {
    Duration::from_micros(record.duration_us)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use quick_junit::Report;

    use super::unique;
    use crate::{
        Format, RunReport,
        sample::{UGLY, outcome, report, sample},
        verdict::{Cause, Judgement, Verdict},
    };
    use check::outcome::Status;
    use text::clean;

    fn render(report: &RunReport) -> String {
        Format::Junit.render(report)
    }

    fn parsed(report: &RunReport) -> Report {
        Report::deserialize_from_str(&render(report)).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let report = parsed(&sample());
        assert_eq!((report.tests, report.failures, report.errors), (7, 2, 1));
        let files: Vec<&str> = report
            .test_suites
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(
            files,
            [
                "evals/greet.yaml",
                "evals/crash.yaml",
                "evals/ugly.yaml",
                "evals/slow.yaml"
            ]
        );
        let ugly = &report.test_suites[2].test_cases[0];
        assert_eq!(ugly.name.as_str(), clean(UGLY).replace('\n', " ⏎ "));
        assert!(ugly.system_err.as_ref().unwrap().contains("::error::boom"));
    }

    #[test]
    fn each_case_has_a_name_of_its_own_however_many_have_the_same() {
        let mut names = HashMap::new();
        let all = ["a", "a", "a #3", "a", "a", "a #3", "a"];
        let numbered = all.map(|name| unique(&mut names, name));
        let wanted = ["a", "a #2", "a #3", "a #4", "a #5", "a #3 #2", "a #6"];
        assert_eq!(numbered, wanted);
        // Were each looked for from the first number on, this would take minutes.
        for number in 2..=100_000 {
            let name = unique(&mut names, "b");
            assert!(
                number == 2 || name == format!("b #{}", number - 1),
                "{name}"
            );
        }
    }

    #[test]
    fn what_no_outcome_shows_is_a_case_of_its_own() {
        let case = |causes: &[(Verdict, &str)], failures, errors, wanted: &str| {
            let mut run = report(vec![outcome("a.yaml", "a")], 1);
            let causes = causes
                .iter()
                .map(|(verdict, text)| Cause::new(*verdict, text));
            run.judgement = Some(Judgement {
                verdict: Verdict::Fail,
                causes: causes.collect(),
                threshold: 10_000,
            });
            let text = render(&run);
            let whole = parsed(&run);
            assert_eq!((whole.failures, whole.errors), (failures, errors), "{text}");
            assert!(text.contains(wanted), "{text}");
        };
        let gate = (Verdict::Fail, "1 breaking change of the server's surface");
        let lost = (Verdict::Incomplete, "shard 2 of 2 left no \u{1b}result");
        case(&[], 0, 0, "errors=\"0\"");
        case(&[gate], 1, 0, "<failure message=\"1 breaking change of");
        case(&[lost, gate], 0, 1, "<error message=\"shard 2 of 2");
        case(&[lost, gate], 0, 1, "\nfail: 1 breaking change");
        case(
            &[(Verdict::Empty, "nothing was executed")],
            0,
            1,
            "type=\"empty\"",
        );
        // Its outcomes say that.
        case(
            &[(Verdict::Fail, "1 of 1 passed, 101 % required")],
            0,
            0,
            "errors=\"0\"",
        );
    }

    #[test]
    fn files_are_named_from_the_root_of_the_repository() {
        let mut run = report(vec![outcome("evals/a.yaml", "a")], 1);
        assert!(render(&run).contains(" file=\"evals/a.yaml\""));
        run.source.folder = Some("sub/x".to_owned());
        let text = render(&run);
        assert!(text.contains(" file=\"sub/x/evals/a.yaml\""), "{text}");
        assert!(text.contains(" classname=\"evals/a.yaml\""), "{text}");
    }

    #[test]
    fn a_run_that_never_began_has_no_time() {
        let never = RunReport::default();
        assert!(!render(&never).contains("timestamp"));
        assert!(render(&sample()).contains("timestamp"));
    }

    #[test]
    fn a_long_suite_is_one_suite() {
        let outcomes = (0..200).map(|number| {
            let mut outcome = outcome("a.yaml", &number.to_string());
            outcome.status = [Status::Pass, Status::Fail, Status::Skip, Status::Error][number % 4];
            outcome
        });
        let run = report(outcomes.collect(), 1);
        let whole = parsed(&run);
        let [suite] = &whole.test_suites[..] else {
            panic!("{whole:?}");
        };
        let counts = |tests, skipped, errors, failures| (tests, skipped, errors, failures);
        let wanted = counts(200, 50, 50, 50);
        let told = counts(suite.tests, suite.skipped, suite.errors, suite.failures);
        assert_eq!(told, wanted);
        let told = counts(whole.tests, whole.skipped, whole.errors, whole.failures);
        assert_eq!(told, wanted);
        assert_eq!(suite.test_cases.len(), 200);
        assert_eq!(suite.test_cases[199].name.as_str(), "199");
    }

    #[test]
    fn names_are_unique_in_their_file() {
        let mut run = report(vec![outcome("a.yaml", "a"), outcome("a.yaml", "a")], 1);
        run.records
            .push(report(vec![outcome("a.yaml", "a #2")], 1).records.remove(0));
        let names: Vec<String> = parsed(&run).test_suites[0]
            .test_cases
            .iter()
            .map(|case| case.name.to_string())
            .collect();
        assert_eq!(names, ["a", "a #2", "a #2 #2"]);
    }

    #[test]
    fn runs_that_differ_only_in_time_give_the_same_text_but_for_times() {
        let masked = |report: &RunReport| {
            let text = render(report);
            let times = regex::Regex::new(r#" time(stamp)?="[^"]*""#).unwrap();
            times.replace_all(&text, "").into_owned()
        };
        let mut other = sample();
        other.timing.started_unix_ms += 5_000;
        other.timing.duration_us *= 3;
        for record in &mut other.records {
            record.duration_us *= 2;
            record.phases.start += 77;
            if let Some(evidence) = &mut record.evidence {
                evidence.wire.iter_mut().for_each(|frame| frame.at_us += 9);
            }
        }
        assert_eq!(masked(&sample()), masked(&other));
    }

    #[test]
    fn trials_are_told_apart_and_counted() {
        let trial = |trial, status| {
            let mut outcome = outcome("a.yaml", "a");
            (outcome.trial, outcome.status) = (trial, status);
            outcome
        };
        let run = report(vec![trial(1, Status::Pass), trial(2, Status::Fail)], 2);
        let suite = &parsed(&run).test_suites[0];
        assert_eq!(suite.test_cases[1].name.as_str(), "a [trial 2]");
        let property = |name: &str| {
            let found = suite.properties.iter().find(|it| it.name.as_str() == name);
            found.unwrap().value.to_string()
        };
        assert_eq!(property("pass_at_k"), "1/1");
        assert_eq!(property("pass_up_k"), "0/1");
    }
}
