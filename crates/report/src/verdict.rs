//! The verdict of `ci` and its causes. The verdict of one expectation is in `check::outcome::verdict`.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{
    End, MOST_LINES, ProblemSeverity, RunReport,
    changes::Level,
    cleaner::one_line,
    record::{DisruptionRecord, Record},
    surface::Surface,
    tally::Tally,
};
use check::outcome::Status;
use mcp::observation::disruption::DisruptionKind;
use text::{clean, count, exit::ExitCode};

/// How a run ends. Of several causes the first of this order decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was interrupted.
    Interrupted,
    /// Inputs, suites or the plan cannot be used.
    Invalid,
    /// It is not proven that all of the plan has run.
    Incomplete,
    /// Nothing could be run, or what was asked for not be written.
    Error,
    /// Too little passed, or something got worse that must not.
    Fail,
    /// Nothing was executed.
    Empty,
    /// Enough passed.
    Pass,
}

impl Verdict {
    /// The word in outputs and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::Invalid => "invalid",
            Self::Incomplete => "incomplete",
            Self::Error => "error",
            Self::Fail => "fail",
            Self::Empty => "empty",
            Self::Pass => "pass",
        }
    }

    /// The code the process ends with.
    pub fn exit(self) -> ExitCode {
        match self {
            Self::Interrupted => ExitCode::Interrupted,
            Self::Invalid => ExitCode::Invalid,
            Self::Incomplete | Self::Error => ExitCode::CouldNotRun,
            Self::Fail => ExitCode::Failed,
            Self::Empty => ExitCode::NothingSelected,
            Self::Pass => ExitCode::Passed,
        }
    }
}

/// A verdict with everything that speaks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Each cause of it and of those behind it, one line each, worst first. None for a pass.
    pub causes: Vec<Cause>,
    /// The share that had to pass, in hundredths of a percent.
    pub threshold: u32,
}

impl Judgement {
    /// Keeps the worst [`MOST_LINES`] causes; the last one counts the rest.
    pub fn bound(&mut self) {
        let causes = &mut self.causes;
        let Some(first) = causes.get(MOST_LINES - 1).map(|it| it.verdict) else {
            return;
        };
        if causes.len() > MOST_LINES {
            let left_out = causes.len() - (MOST_LINES - 1);
            causes.truncate(MOST_LINES - 1);
            let more = format!("and {}", count(left_out, "more cause"));
            causes.push(Cause::new(first, &more));
        }
    }

    /// Whether something other than the assertions decided it.
    pub fn is_of_no_run(&self) -> bool {
        match self.verdict {
            Verdict::Interrupted | Verdict::Invalid | Verdict::Incomplete | Verdict::Error => true,
            Verdict::Fail | Verdict::Empty | Verdict::Pass => false,
        }
    }
}

/// Something that keeps a run from its pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The verdict it leads to.
    pub verdict: Verdict,
    /// What is so, for people.
    pub text: String,
}

impl Cause {
    /// A cause.
    pub fn new(verdict: Verdict, text: &str) -> Self {
        Self {
            verdict,
            text: one_line(&clean(text)),
        }
    }
}

/// What is asked of a run.
#[derive(Debug, Clone, Copy)]
pub struct Demands {
    /// The share that must pass, in hundredths of a percent.
    pub threshold: u32,
    /// Whether a regression is red.
    pub regression: Gate,
    /// Which changes of a server's surface are red.
    pub surface: SurfaceGate,
    /// Whether nothing executed is red.
    pub empty: Gate,
}

/// Whether something is let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It is.
    Open,
    /// It makes the run red.
    Closed,
}

/// Which changes of a server's surface are red. Each has those of the ones before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SurfaceGate {
    /// None.
    #[default]
    None,
    /// Those that callers trip over.
    Breaking,
    /// Those that make it less safe to use.
    Risky,
    /// All.
    Any,
}

impl SurfaceGate {
    /// The option that closes it, if it is closed.
    pub fn option(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Breaking => Some("`--fail-on-breaking`"),
            Self::Risky => Some("`--fail-on-surface risky`"),
            Self::Any => Some("`--fail-on-surface any`"),
        }
    }

    /// Why a run is red by this gate, one line each.
    pub fn reasons(self, surface: &Surface) -> Vec<String> {
        let (of, with) = match &surface.file {
            Some(file) => (format!("against `{file}`"), format!("`{file}`")),
            None => (
                "of the server's surface".to_owned(),
                "the baseline's".to_owned(),
            ),
        };
        let levels = [
            (Self::Breaking, Level::Breaking, "breaking change"),
            (Self::Risky, Level::Risky, "risky change"),
            (Self::Any, Level::Safe, "other change"),
        ];
        let closed = levels.into_iter().filter(|(gate, _, _)| *gate <= self);
        let changed = closed.filter_map(|(_, level, noun)| {
            let (number, first) = surface.of(level);
            let more = number.saturating_sub(1);
            let more = if more > 0 {
                format!(", and {more} more")
            } else {
                String::new()
            };
            let first = first.map_or(String::new(), |it| format!(": {}{more}", it.sentence()));
            (number > 0).then(|| format!("{} {of}{first}", count(number, noun)))
        });
        let unjudged = surface
            .unjudged()
            .into_iter()
            .map(|name| format!("the surface of `{name}` was not compared with {with}"));
        let unjudged = unjudged.filter(|_| self > Self::None);
        changed.chain(unjudged).collect()
    }
}

impl RunReport {
    /// Whether the run may become a baseline: its assertions decided the verdict, and there is at least one.
    pub fn may_be_baseline(&self, verdict: Verdict) -> bool {
        [Verdict::Pass, Verdict::Fail].contains(&verdict) && !self.records.is_empty()
    }

    /// Causes that no outcome shows, worst first; formats without a verdict would be green without them.
    pub fn untold(&self) -> Vec<Cause> {
        let Some(judgement) = &self.judgement else {
            let reds = self.reds.iter();
            let own = interrupted(self).into_iter().chain(invalid(self));
            return own
                .chain(reds.map(|red| Cause::new(Verdict::Fail, red)))
                .filter(|cause| !self.is_told(cause))
                .collect();
        };
        let causes = judgement.causes.iter();
        causes
            .filter(|cause| !self.is_told(cause))
            .cloned()
            .collect()
    }

    /// Whether outcomes show a cause: that too few of them passed, that none had a server, that they cannot be read.
    fn is_told(&self, cause: &Cause) -> bool {
        let unreadable = |record: &Record| {
            let disruption = record
                .evidence
                .as_ref()
                .and_then(|it| it.disruption.as_ref());
            disruption.is_some_and(|it| it.kind == DisruptionKind::Invalid.word())
        };
        match cause.verdict {
            Verdict::Fail => cause.text.starts_with(&passed_of(self.tally())),
            Verdict::Error => {
                cause.text.starts_with(NOTHING_STARTED) || cause.text == WITHOUT_ENGINE
            }
            Verdict::Invalid => {
                invalid(self).as_ref() == Some(cause) && self.records.iter().any(unreadable)
            }
            Verdict::Interrupted | Verdict::Incomplete | Verdict::Empty | Verdict::Pass => false,
        }
    }
}

/// The cause when no assertion came as far as a server.
const NOTHING_STARTED: &str = "no server could be started";

/// That the container engine was of no use to any assertion.
pub const WITHOUT_ENGINE: &str =
    "nothing could be observed: the container engine was gone or silent each time";

/// Judges a run that has been compared. `known` are causes that the report does not show: of the merge, of sinks.
pub fn judge(report: &RunReport, demands: Demands, known: Vec<Cause>) -> Judgement {
    let mut causes = known;
    causes.extend(interrupted(report));
    causes.extend(invalid(report));
    let tally = report.tally();
    if nothing_started(report) {
        let why = placeless(report).map(|why| format!(": {why}"));
        let text = if report.is_without_engine() {
            WITHOUT_ENGINE.to_owned()
        } else {
            NOTHING_STARTED.to_owned() + &why.unwrap_or_default()
        };
        causes.push(Cause::new(Verdict::Error, &text));
    }
    if tally.executed() == 0 && demands.empty == Gate::Closed {
        causes.push(Cause::new(Verdict::Empty, "nothing was executed"));
    }
    causes.extend(red(report, tally, demands));
    causes.sort_by_key(|cause| cause.verdict);
    let mut seen = HashSet::new();
    causes.retain(|cause| seen.insert(cause.text.clone()));
    let mut judgement = Judgement {
        verdict: causes.first().map_or(Verdict::Pass, |cause| cause.verdict),
        causes,
        threshold: demands.threshold,
    };
    judgement.bound();
    judgement
}

/// That it was interrupted.
fn interrupted(report: &RunReport) -> Option<Cause> {
    let text = || format!("the run was interrupted{}", report.left_undone(", "));
    (report.end == End::Interrupted).then(|| Cause::new(Verdict::Interrupted, &text()))
}

/// That its suites cannot be used.
fn invalid(report: &RunReport) -> Option<Cause> {
    let problems = report.problems.iter();
    let invalid = problems
        .filter(|problem| problem.severity == ProblemSeverity::Error)
        .count();
    let text = || format!("{} in the suite", count(invalid, "problem"));
    (invalid > 0).then(|| Cause::new(Verdict::Invalid, &text()))
}

/// How the cause begins that too little passed.
fn passed_of(tally: Tally) -> String {
    format!("{} of {} passed, ", tally.passed, tally.executed())
}

/// What makes it a failure.
fn red(report: &RunReport, tally: Tally, demands: Demands) -> Vec<Cause> {
    let mut causes = Vec::new();
    if !reaches(tally, demands.threshold) {
        let wanted = f64::from(demands.threshold) / 100.0;
        causes.push(Cause::new(
            Verdict::Fail,
            &format!("{}{wanted} % required", passed_of(tally)),
        ));
    }
    if let Some(comparison) = &report.comparison
        && demands.regression == Gate::Closed
        && comparison.has_regressions()
    {
        causes.push(Cause::new(
            Verdict::Fail,
            &format!("an assertion that passed in {} is red", comparison.against),
        ));
    }
    let reasons = report.surfaces();
    let reasons = reasons.flat_map(|it| demands.surface.reasons(it));
    causes.extend(reasons.map(|why| Cause::new(Verdict::Fail, &why)));
    causes
}

/// passed · 100 ≥ threshold · executed, in integers. Nothing executed reaches everything; that is another cause.
fn reaches(tally: Tally, threshold: u32) -> bool {
    let passed = tally.passed as u128;
    let executed = tally.executed() as u128;
    passed * 10_000 >= u128::from(threshold) * executed
}

/// Whether everything that was to run ended before a server was there.
fn nothing_started(report: &RunReport) -> bool {
    let usable = invalid(report).is_none();
    // A missing or unprepared image prevents the start; a container that ran does not.
    let unstarted = |disruption: &DisruptionRecord| match disruption.kind.as_str() {
        "start" | "unsupported" => true,
        "place" => matches!(disruption.phase.as_str(), "place" | "start"),
        // Unreadable suites have a cause of their own.
        "invalid" => usable && matches!(disruption.phase.as_str(), "place" | "start"),
        _ => false,
    };
    is_each(report, |it| it.by_engine || unstarted(it))
}

impl RunReport {
    /// Whether nothing could be observed because the container engine was gone or silent each time: then there was no
    /// run, as without an engine.
    pub fn is_without_engine(&self) -> bool {
        is_each(self, |disruption| disruption.by_engine)
    }
}

/// Whether all that was executed ended in such a disruption.
fn is_each(report: &RunReport, is_such: impl Fn(&DisruptionRecord) -> bool) -> bool {
    let errors = report.records.iter();
    let mut errors = errors
        .filter(|record| record.status == Status::Error)
        .peekable();
    let disruption = |record: &'_ Record| {
        let evidence = record.evidence.as_ref();
        evidence.is_some_and(|it| it.disruption.as_ref().is_some_and(&is_such))
    };
    // Most runs have no such error, and need not be counted.
    if errors.peek().is_none() || !errors.all(disruption) {
        return false;
    }
    let tally = report.tally();
    tally.errors > 0 && tally.errors == tally.executed()
}

/// The reason why no server could be placed, if it is the same for all and lies in the options.
fn placeless(report: &RunReport) -> Option<&str> {
    let errors = report.records.iter();
    let mut whys = errors
        .filter(|record| record.status == Status::Error)
        .map(|record| {
            let disruption = record.evidence.as_ref()?.disruption.as_ref()?;
            (disruption.kind == DisruptionKind::Invalid.word())
                .then_some(disruption.message.as_str())
        });
    let first = whys.next()??;
    whys.all(|why| why == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{Cause, Demands, Gate, SurfaceGate, Verdict, WITHOUT_ENGINE, judge, reaches};
    use crate::{
        End, Problem, ProblemSeverity, RunReport,
        baseline::Baseline,
        changes::{Change, Level},
        compare::{Scope, compare},
        sample::{outcome, report},
        surface::{Surface, TargetSurface},
        tally::Tally,
    };
    use check::outcome::Status;
    use mcp::observation::{
        catalog::Listing,
        disruption::{Disruption, DisruptionKind, Phase},
    };

    const STRICT: Demands = Demands {
        threshold: 10_000,
        regression: Gate::Closed,
        surface: SurfaceGate::Breaking,
        empty: Gate::Closed,
    };

    fn run(statuses: &[Status]) -> RunReport {
        let outcomes = statuses.iter().enumerate().map(|(index, status)| {
            let mut outcome = outcome("a.yaml", &index.to_string());
            outcome.status = *status;
            outcome
        });
        report(outcomes.collect(), 1)
    }

    /// Something that keeps a run from its pass.
    #[derive(Debug, Clone, Copy)]
    enum Trouble {
        Interrupted,
        Invalid,
        Incomplete,
        Breaking,
        Uncompared,
    }

    fn broken_surface() -> Surface {
        let target = TargetSurface {
            name: "s".to_owned(),
            changes: Vec::new(),
            left_out: 1,
            breaking: 1,
            risky: 0,
            unknown: Vec::new(),
            silent: Vec::new(),
        };
        Surface {
            targets: vec![target],
            ..Surface::default()
        }
    }

    /// The verdict of a run of one assertion with these troubles.
    fn verdict(status: Status, troubles: &[Trouble]) -> Verdict {
        let mut run = run(&[status]);
        let mut known = Vec::new();
        for trouble in troubles {
            match trouble {
                Trouble::Interrupted => run.end = End::Interrupted,
                Trouble::Invalid => run.problems.push(Problem {
                    code: "x".to_owned(),
                    severity: ProblemSeverity::Error,
                    file: None,
                    line: None,
                    text: String::new(),
                }),
                Trouble::Incomplete => known.push(Cause::new(Verdict::Incomplete, "shard 2")),
                Trouble::Breaking => run.surface = Some(broken_surface()),
                Trouble::Uncompared => {
                    run.surface = Some(Surface {
                        uncompared: vec!["s".to_owned()],
                        ..Surface::default()
                    });
                }
            }
        }
        judge(&run, STRICT, known).verdict
    }

    #[test]
    fn a_surface_that_was_not_compared_is_not_green_where_breaking_is_red() {
        assert_eq!(verdict(Status::Pass, &[Trouble::Uncompared]), Verdict::Fail);
    }

    #[test]
    fn a_gate_has_the_changes_of_the_ones_before_it() {
        let change = |level, name: &str| Change {
            level,
            listing: Some(Listing::Tools),
            name: name.to_owned(),
            what: "changed".to_owned(),
            wording: None,
            witness: None,
            unproven: None,
            is_hint: false,
        };
        let surface = Surface {
            targets: vec![TargetSurface {
                changes: vec![change(Level::Risky, "a"), change(Level::Safe, "b")],
                left_out: 2,
                breaking: 0,
                risky: 1,
                ..broken_surface().targets.remove(0)
            }],
            ..Surface::default()
        };
        let case = |gate: SurfaceGate, wanted: &[&str]| assert_eq!(gate.reasons(&surface), wanted);
        let risky = "1 risky change of the server's surface: tool `a` changed";
        let other = "3 other changes of the server's surface: tool `b` changed, and 2 more";
        case(SurfaceGate::None, &[]);
        case(SurfaceGate::Breaking, &[]);
        case(SurfaceGate::Risky, &[risky]);
        case(SurfaceGate::Any, &[risky, other]);
    }

    #[test]
    fn of_two_causes_the_earlier_row_wins() {
        use Trouble::{Breaking, Incomplete, Interrupted, Invalid};

        let case = |status, troubles: &[Trouble], wanted| {
            assert_eq!(verdict(status, troubles), wanted, "{status:?} {troubles:?}");
        };
        case(
            Status::Fail,
            &[Incomplete, Invalid, Interrupted],
            Verdict::Interrupted,
        );
        case(Status::Fail, &[Incomplete, Invalid], Verdict::Invalid);
        case(Status::Fail, &[Incomplete], Verdict::Incomplete);
        case(Status::Skip, &[Incomplete], Verdict::Incomplete);
        case(Status::Skip, &[Breaking], Verdict::Fail);
        case(Status::Skip, &[], Verdict::Empty);
        case(Status::Pass, &[Breaking], Verdict::Fail);
        case(Status::Error, &[], Verdict::Fail);
        case(Status::Pass, &[], Verdict::Pass);
    }

    #[test]
    fn a_run_whose_engine_was_of_no_use_is_none() {
        let ended = |by_engine: &[bool]| {
            let mut outcomes = Vec::new();
            for (index, by_engine) in by_engine.iter().enumerate() {
                let mut outcome = outcome("a.yaml", &index.to_string());
                outcome.status = Status::Error;
                let gone = Disruption::new(DisruptionKind::Transport, Phase::Subject, "gone");
                outcome.disruption = Some(if *by_engine { gone.by_engine() } else { gone });
                outcomes.push(outcome);
            }
            let run = report(outcomes, 1);
            (run.is_without_engine(), judge(&run, STRICT, Vec::new()))
        };
        let (without, judged) = ended(&[true, true]);
        assert_eq!((without, judged.verdict), (true, Verdict::Error));
        assert_eq!(judged.causes[0].text, WITHOUT_ENGINE);
        let (without, judged) = ended(&[true, false]);
        assert_eq!((without, judged.verdict), (false, Verdict::Fail));
        assert!(!run(&[Status::Pass]).is_without_engine());
    }

    #[test]
    fn the_threshold_is_exact() {
        let case = |passed, failed, threshold, wanted: bool| {
            let tally = Tally {
                passed,
                failed,
                ..Tally::default()
            };
            assert_eq!(
                reaches(tally, threshold),
                wanted,
                "{passed} {failed} {threshold}"
            );
        };
        case(2, 1, 6_666, true);
        case(2, 1, 6_667, false);
        case(19, 1, 9_500, true);
        case(18, 1, 9_500, false);
        case(0, 1, 0, true);
        case(usize::MAX / 2, 1, 10_000, false);
        case(0, 0, 10_000, true);
    }

    #[test]
    fn a_regression_is_red_above_the_threshold_when_asked_for() {
        let before = Baseline::updated(None, &run(&[Status::Pass]), Scope::Whole);
        let mut now = run(&[Status::Fail]);
        now.comparison = Some(compare(&before, "main", &now, Scope::Whole));
        let case = |regression, wanted| {
            let demands = Demands {
                threshold: 0,
                regression,
                ..STRICT
            };
            assert_eq!(judge(&now, demands, Vec::new()).verdict, wanted);
        };
        case(Gate::Closed, Verdict::Fail);
        case(Gate::Open, Verdict::Pass);
    }
}
