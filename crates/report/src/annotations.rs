//! Annotations: a run as marks on the lines of its suites, the worst first, and no more of them than the runner keeps.

use crate::{
    RunReport,
    cleaner::one_line,
    compare::Class,
    place::beneath,
    rank::{Classes, Reason},
    record::Record,
    tally::Reliability,
    verdict::Verdict,
};
use check::outcome::Status;
use text::{
    count, head,
    workflow::{
        command::{Annotation, Kind, Place},
        neutral,
    },
};

/// Annotations of one kind that the runner keeps of a step.
const MOST_OF_A_KIND: usize = 10;

/// Annotations that are shown of all the shards of a run together; GitHub shows 50 of a run.
const MOST_OF_ALL_SHARDS: usize = 40;

/// The longest message, in UTF-16 units.
const LONGEST_MESSAGE: usize = 3_500;

/// The longest line of a message, in characters.
const LONGEST_LINE: usize = 500;

/// How bad a reason is, and its words.
fn words(reason: Reason) -> (Kind, &'static str) {
    match reason {
        Reason::Regressed => (Kind::Error, "regressed"),
        Reason::NewFailure => (Kind::Error, "new failure"),
        Reason::Failure => (Kind::Error, "failed"),
        Reason::Error => (Kind::Error, "error"),
        Reason::Flaky => (Kind::Warning, "flaky"),
        Reason::NewlySkipped => (Kind::Warning, "newly skipped"),
        Reason::Removed => (Kind::Warning, "removed"),
        Reason::Slower => (Kind::Notice, "slower"),
    }
}

/// An annotation with its rank.
struct Ranked {
    reason: Reason,
    annotation: Annotation,
}

impl Ranked {
    /// Where it stands among others.
    fn order(&self) -> (Reason, Option<(&str, usize)>) {
        let place = self.annotation.place.as_ref();
        (self.reason, place.map(|it| (it.file.as_str(), it.line)))
    }

    /// A mark without a place.
    fn bare(reason: Reason, name: &str, message: &str) -> Self {
        let (kind, title) = words(reason);
        let annotation = Annotation {
            kind,
            place: None,
            title: title.to_owned(),
            // A log shows the message alone.
            message: harmless(&format!("{name}: {message}"), LONGEST_MESSAGE),
        };
        Self { reason, annotation }
    }
}

/// The annotations of a run, those of one kind together, in the order in which they deserve a look.
pub fn annotations(report: &RunReport) -> Vec<Annotation> {
    let folder = report.source.folder.as_deref().unwrap_or_default();
    let shards = usize::try_from(report.plan.of).unwrap_or(usize::MAX);
    let (most, mut ranked) = if report.plan.shard > 0 {
        let share = MOST_OF_ALL_SHARDS / shards.max(1);
        (share.clamp(1, MOST_OF_A_KIND), all(report, folder))
    } else if report.shards.is_empty() {
        (MOST_OF_A_KIND, all(report, folder))
    } else {
        // The shards annotate their own lines.
        (MOST_OF_A_KIND, not_accepted(report))
    };
    if ranked.is_empty() && report.assertions().is_empty() {
        ranked = not_accepted(report);
    }
    ranked.sort_by(|one, other| one.order().cmp(&other.order()));
    let mut chosen = Vec::new();
    for kind in [Kind::Error, Kind::Warning, Kind::Notice] {
        let of_kind = ranked
            .iter()
            .filter(|it| it.annotation.kind == kind)
            .map(|it| it.annotation.clone());
        chosen.extend(at_most(most, of_kind.collect()));
    }
    chosen
}

/// The first ones, and in the last one's place how many more there are.
fn at_most(most: usize, mut all: Vec<Annotation>) -> Vec<Annotation> {
    if all.len() <= most {
        return all;
    }
    let kept = (most - 1).max(1);
    let more = format!("and {} more", all.len() - kept);
    let kind = all[0].kind;
    all.truncate(kept);
    if most == 1 {
        // A single annotation keeps its place.
        let first = &mut all[0].message;
        *first = format!("{}\n{more}", cut(first, LONGEST_MESSAGE - more.len() - 1));
    } else {
        all.push(Annotation {
            kind,
            place: None,
            title: "mcp-assert".to_owned(),
            message: more,
        });
    }
    all
}

/// A mark for each assertion that deserves one.
fn all(report: &RunReport, folder: &str) -> Vec<Ranked> {
    let classes = Classes::of(report);
    let mut ranked: Vec<Ranked> = report
        .assertions()
        .iter()
        .filter_map(|assertion| {
            let reason = classes.reason(assertion)?;
            Some(mark(report, worst(report, assertion), reason, folder))
        })
        .collect();
    let changes = report.comparison.iter();
    let removed = changes.flat_map(|it| it.of(Class::Removed));
    ranked.extend(removed.map(|it| Ranked::bare(Reason::Removed, &it.name, &it.transition())));
    ranked
}

/// The first record of the assertion that shows its worst.
fn worst<'a>(report: &'a RunReport, assertion: &Reliability<'a>) -> &'a Record {
    let shows = |record: &&Record| {
        record.id == assertion.record.id
            && record.target == assertion.record.target
            && record.status == assertion.worst
            && (assertion.worst != Status::Pass || assertion.flaky == 0 || record.is_flaky())
    };
    if shows(&assertion.record) {
        return assertion.record;
    }
    report
        .records
        .iter()
        .find(shows)
        .unwrap_or(assertion.record)
}

/// The mark of one outcome, at the expectation that did not hold.
fn mark(report: &RunReport, record: &Record, reason: Reason, folder: &str) -> Ranked {
    let at = record.place_of(record.first_mismatch());
    let name = record.display_name(report.trials);
    let mut mark = Ranked::bare(reason, &name, &message(record, reason));
    mark.annotation.place = Some(Place {
        file: beneath(folder, at.file),
        line: at.line,
        column: at.column,
    });
    mark
}

/// What is so, and below it what helps. The failure in full is in the log and in the reports.
fn message(record: &Record, reason: Reason) -> String {
    let first = record.attempts.first();
    match reason {
        Reason::Regressed | Reason::NewFailure | Reason::Failure | Reason::Error => {
            let line = |text: &str| head(&one_line(text), LONGEST_LINE);
            let evidence = record.evidence.as_deref();
            let disruption = evidence.and_then(|it| it.disruption.as_ref());
            let mismatches = evidence.map_or(0, |it| it.mismatches.len());
            let more = mismatches.saturating_sub(1);
            let more = (disruption.is_none() && more > 0)
                .then(|| format!("; and {}", count(more, "more expectation")));
            let help = disruption.and_then(|it| it.help.as_deref());
            let hint = record.first_mismatch().and_then(|it| it.hint.as_deref());
            let hint = help.or(hint).map(|it| format!("\nhint: {}", line(it)));
            [
                line(record.headline()),
                more.unwrap_or_default(),
                hint.unwrap_or_default(),
            ]
            .concat()
        }
        Reason::Flaky => {
            let first = first.map_or("", |attempt| attempt.detail.as_str());
            let attempts = count(record.attempts.len(), "failed attempt");
            format!("passed after {attempts}; the first: {first}")
        }
        Reason::NewlySkipped => format!("skipped, and was not before: {}", record.headline()),
        Reason::Slower => format!(
            "{} ms, more than twice what was usual",
            record.duration_us / 1_000
        ),
        Reason::Removed => String::new(),
    }
}

/// Why a merge is incomplete, or why a run has no assertions.
fn not_accepted(report: &RunReport) -> Vec<Ranked> {
    let causes = report.judgement.iter().flat_map(|it| &it.causes);
    causes
        .filter(|cause| match cause.verdict {
            Verdict::Invalid | Verdict::Incomplete | Verdict::Error => true,
            Verdict::Interrupted | Verdict::Fail | Verdict::Empty | Verdict::Pass => false,
        })
        .map(|cause| Ranked::bare(Reason::Error, cause.verdict.word(), &cause.text))
        .collect()
}

/// Neutralises workflow commands and cuts the text to `longest` UTF-16 units.
fn harmless(text: &str, longest: usize) -> String {
    cut(neutral::lines(text).trim_end_matches('\n'), longest)
}

/// Cuts a text to `longest` UTF-16 units; an ellipsis marks the cut.
fn cut(text: &str, longest: usize) -> String {
    if text.encode_utf16().count() <= longest {
        return text.to_owned();
    }
    let mut left = longest - 1;
    let kept: String = text
        .chars()
        .take_while(|character| {
            let fits = character.len_utf16() <= left;
            left = left.saturating_sub(character.len_utf16());
            fits
        })
        .collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_MESSAGE, annotations};
    use crate::{
        RunReport,
        baseline::Baseline,
        compare::{Scope, compare},
        run_json::ShardFacts,
        sample::{UGLY, failure_with, outcome, report, sample},
        verdict::{Cause, Judgement, Verdict},
    };
    use check::outcome::Status;
    use text::workflow::{
        command::{Annotation, Command, Kind},
        runner::{Step, read},
    };

    fn obeyed(report: &RunReport) -> Step {
        let mut log = String::new();
        for annotation in annotations(report) {
            log.push_str(&Command::Annotate(annotation).to_string());
            log.push('\n');
        }
        read(log.as_bytes())
    }

    /// Twenty-five failures of which the last two are regressions.
    fn failures() -> RunReport {
        let red = (0..25).map(|index| failure_with("b.yaml", &format!("case {index:02}"), "text"));
        let mut run = report(red.collect(), 1);
        let green = ["case 23", "case 24"].map(|name| outcome("b.yaml", name));
        let baseline = Baseline::updated(None, &report(green.to_vec(), 1), Scope::Whole);
        run.comparison = Some(compare(&baseline, "main", &run, Scope::Whole));
        run
    }

    #[test]
    fn of_many_failures_ten_commands_remain_regressions_first() {
        let step = obeyed(&failures());
        assert_eq!(step.obeyed.len(), 10);
        let errors = step.annotations("error");
        assert_eq!(errors.len(), 10);
        let told: Vec<String> = errors
            .iter()
            .map(|it| format!("{} {}", it.properties["title"], &it.data[..7]))
            .collect();
        assert_eq!(
            told[..3],
            [
                "regressed case 23",
                "regressed case 24",
                "new failure case 00"
            ]
        );
        assert_eq!(errors[9].data, "and 16 more");
        // `contains` of the sample suite.
        let at = |name: &str| errors[0].properties[name].as_str();
        assert_eq!((at("file"), at("line"), at("col")), ("b.yaml", "8", "5"));
        assert_eq!(
            errors[0].data,
            "case 23: contains: text: expected text, text\nhint: text"
        );
    }

    #[test]
    fn every_status_has_its_kind() {
        let kinds = |kind| {
            let all = annotations(&sample());
            all.iter().filter(|it| it.kind == kind).count()
        };
        assert_eq!(
            (
                kinds(Kind::Error),
                kinds(Kind::Warning),
                kinds(Kind::Notice)
            ),
            (3, 1, 0)
        );
    }

    #[test]
    fn removed_skipped_and_slower_ones_are_told() {
        let mut before = report(
            ["gone", "off", "slow"]
                .map(|name| outcome("a.yaml", name))
                .to_vec(),
            1,
        );
        before.records[2].duration_us = 1_000;
        let mut now = report(
            ["off", "slow"].map(|name| outcome("a.yaml", name)).to_vec(),
            1,
        );
        now.records[0].status = Status::Skip;
        now.records[1].duration_us = 5_000_000;
        let baseline = Baseline::updated(None, &before, Scope::Whole);
        now.comparison = Some(compare(&baseline, "main", &now, Scope::Whole));
        let all = annotations(&now);
        let told = all
            .iter()
            .map(|it| (it.kind, it.title.as_str(), it.message.as_str()));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                (
                    Kind::Warning,
                    "newly skipped",
                    "off: skipped, and was not before: "
                ),
                (Kind::Warning, "removed", "gone: was PASS, now missing"),
                (
                    Kind::Notice,
                    "slower",
                    "slow: 5000 ms, more than twice what was usual"
                )
            ]
        );
    }

    #[test]
    fn shards_share_what_a_run_may_have_and_the_merge_tells_of_itself() {
        let shown = |shard, of| {
            let mut run = failures();
            (run.plan.shard, run.plan.of) = (shard, of);
            annotations(&run)
        };
        let counts = [2, 4, 8, 40, 256].map(|of| shown(1, of).len());
        assert_eq!(counts, [10, 10, 5, 1, 1]);
        let single: Vec<Annotation> = shown(1, 256);
        assert_eq!(single[0].title, "regressed");
        assert!(single[0].message.ends_with("\nand 24 more"), "{single:?}");
        let mut merged = failures();
        merged.shards = vec![ShardFacts::default(); 4];
        assert_eq!(annotations(&merged), []);
        merged.judgement = Some(Judgement {
            verdict: Verdict::Incomplete,
            causes: vec![
                Cause::new(Verdict::Incomplete, "shard 2 is missing"),
                Cause::new(Verdict::Fail, "too few"),
            ],
            threshold: 10_000,
        });
        let told = annotations(&merged);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].message, "incomplete: shard 2 is missing");
    }

    #[test]
    fn ugly_text_is_a_message_and_no_command() {
        let huge = format!("{UGLY}{}", "漢".repeat(5_000));
        let mut run = report(vec![failure_with("a,b:c.yaml", UGLY, &huge)], 1);
        run.source.folder = Some("sub".into());
        let step = obeyed(&run);
        assert_eq!(step.obeyed.len(), 1);
        let found = step.annotations("error").remove(0);
        assert_eq!(found.properties["file"], "sub/a,b:c.yaml");
        assert!(found.data.encode_utf16().count() <= LONGEST_MESSAGE);
        // The runner writes the message into its log again.
        assert_eq!(read(found.data.as_bytes()).obeyed, []);
        assert_eq!(read(found.properties["title"].as_bytes()).obeyed, []);
    }
}
