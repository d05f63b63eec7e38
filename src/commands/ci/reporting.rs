//! After the run: compares, judges and reports to all sinks in this order: report files, GitHub, log with annotations,
//! step summary, outputs. A file that cannot be written changes the verdict; a refusal by GitHub never does.

use std::{collections::BTreeSet, io::Write, path::Path};

use super::{UPDATE_BASELINE, base::Built, cause_of, locks, remote, remote::BaselineLookup, sinks};
use crate::{
    cli::{
        ci::{Store, Switch},
        options::FlakyArgs,
    },
    commands::running::{self, Screen, baseline},
    deliver::{
        self, DeliverError, Destination,
        bounds::Bounds,
        facts::{CiEnvironment, Facts, Wishes},
        github::comment::CommentOutcome,
    },
    terminal::closing,
};
use report::{
    End, Format, RunReport,
    cleaner::Cleaner,
    compare::Scope,
    failure::{Detail, Frames},
    notes_at_most,
    verdict::{Cause, Demands, Gate, Judgement, Verdict, judge},
};
use text::{exit::ExitCode, redact::Secrets};

/// Everything needed to report a run, however it ended.
#[derive(Debug)]
pub(super) struct Reporting<'a> {
    /// Where this process runs.
    pub(super) here: &'a CiEnvironment,
    /// An error in this job's own options, independent of the run.
    pub(super) misuse: Option<Cause>,
    /// The wishes for the sinks.
    pub(super) wishes: Wishes,
    /// The demands on the run.
    pub(super) demands: Demands,
    /// Whether a flaky pass is red.
    pub(super) flaky: FlakyArgs,
    /// The baseline to compare with.
    pub(super) baseline: &'a Store,
    /// Where to write the new baseline.
    pub(super) update_baseline: &'a Store,
    /// The baseline of a base that was built here, or why there is none.
    pub(super) built: Option<Built>,
    /// Values that no sink may show.
    pub(super) secrets: Secrets,
    /// Whether the log shows every frame.
    pub(super) frames: Frames,
    /// What decides the exit code.
    pub(super) exits: ExitBasis,
}

/// What the exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExitBasis {
    /// The verdict.
    ByVerdict,
    /// Whether files and comment could be written. The verdict belongs to another workflow.
    ByReporting,
}

impl Reporting<'_> {
    /// Compares, judges and reports. `causes` are those that the report itself does not show.
    pub(super) fn report(
        self,
        mut report: RunReport,
        mut causes: Vec<Cause>,
        screen: &mut Screen,
    ) -> ExitCode {
        let mut told = causes.len();
        // Missing assertions mean nothing in a partial run.
        let scope = if causes.is_empty() {
            Scope::Whole
        } else {
            Scope::Part
        };
        if let Some(flaky) = running::flaky(&report, self.flaky) {
            causes.push(Cause::new(Verdict::Fail, &flaky));
            told += 1;
        }
        causes.extend(self.misuse.clone());
        let unusable = self.compare_with_locks(&mut report, screen);
        told += unusable.len();
        causes.splice(0..0, unusable);
        let known = match self.compare(&mut report, scope, screen) {
            Ok(known) => known,
            Err(cause) => {
                causes.push(cause);
                BaselineLookup::default()
            }
        };
        if let Some(cause) = self.ungated(&known) {
            // It counts as a cause of the run's verdict, not as a reporting error.
            causes.insert(told, cause);
            told += 1;
        } else {
            self.note_nothing_compared(&report, &known, screen);
        }
        self.keep_reason(&mut report, &known, screen);
        note_interrupt(&mut report, screen);
        let judged = judge(&report, self.demands, causes.clone());
        if let Err(cause) = self.keep_baseline((&report, &judged), &known, screen) {
            causes.push(cause);
        }
        let mut written = self.write_files(&mut report, &mut causes, screen);
        if let Err(error) = self.show(&report, screen) {
            let text = format!("cannot write to stdout: {error}");
            screen.note(&text);
            causes.push(Cause::new(Verdict::Error, &text));
            // The reports must agree with the exit code.
            written = self.write_files(&mut report, &mut causes, screen);
        }
        let commented = self.report_to_github((&mut report, &causes[..told]), &known, screen);
        let came = screen.context.interrupts.came();
        let came_late = note_interrupt(&mut report, screen);
        if came_late {
            written = self.write_files(&mut report, &mut causes, screen);
            screen.note("interrupted: the verdict is `interrupted`, and no further requests are sent to GitHub");
        }
        let facts = self.facts(&report);
        sinks::annotate(&facts, screen);
        sinks::summarize(&facts, screen);
        sinks::write_outputs(&facts, &written, commented.word(), screen);
        let verdict = match self.exits {
            ExitBasis::ByVerdict => report.judgement.map(|judgement| judgement.verdict),
            // As in the outputs: later signals do not count.
            ExitBasis::ByReporting if came || came_late => Some(Verdict::Interrupted),
            ExitBasis::ByReporting => Some(reporting_verdict(causes.get(told), commented)),
        };
        verdict.unwrap_or(Verdict::Error).exit()
    }

    /// Writes to GitHub. `theirs` are the causes of the run itself: readers of another workflow's run do not see this
    /// job's own errors.
    fn report_to_github(
        &self,
        (report, theirs): (&mut RunReport, &[Cause]),
        known: &BaselineLookup,
        screen: &Screen,
    ) -> CommentOutcome {
        if !self.speaks(report, screen) {
            return CommentOutcome::Off;
        }
        let own = report.judgement.clone();
        if self.here.reports_another_run() {
            report.judgement = Some(judge(report, self.demands, theirs.to_vec()));
        }
        let facts = self.facts(report);
        remote::publish(&facts, known, screen);
        let (commented, refusal) = remote::comment(&facts, screen);
        report.judgement = own;
        // The summary is what the reader of a pull request sees in place of the comment.
        let refusal = refusal.map(|said| Cleaner::new(self.secrets.clone()).line(&said));
        report.notes.extend(refusal);
        commented
    }

    /// Whether the run is compared and reported on GitHub. A shard is not, nor is an interrupted run, unless another
    /// workflow reports it: an older comment would be wrong.
    fn speaks(&self, report: &RunReport, screen: &Screen) -> bool {
        let has_time = match report.end {
            End::Finished => true,
            End::Interrupted => {
                self.here.reports_another_run() && !screen.context.interrupts.came()
            }
        };
        has_time && report.plan.shard == 0
    }

    /// Stores why there is no comparison, so that a later report of the stored run gives the same reason.
    fn keep_reason(&self, report: &mut RunReport, known: &BaselineLookup, screen: &Screen) {
        if report.comparison.is_some() {
            report.uncompared = None;
        } else if !report.records.is_empty() && self.speaks(report, screen) {
            let reason = known.reason.as_deref();
            let reason = reason.map(|it| Cleaner::new(self.secrets.clone()).line(it));
            report.uncompared = reason
                .or(report.uncompared.take())
                .or_else(|| Some(String::new()));
        }
    }

    /// What a sink is given.
    fn facts<'a>(&'a self, report: &'a RunReport) -> Facts<'a> {
        Facts {
            report,
            here: self.here,
            wishes: &self.wishes,
            secrets: &self.secrets,
        }
    }

    /// The cause if a gate cannot be judged because the baseline could not be read.
    fn ungated(&self, known: &BaselineLookup) -> Option<Cause> {
        let gates = self.gates()?;
        let unread = known.reason.as_ref().filter(|_| known.is_unread)?;
        let text = format!("{gates} cannot be judged: {unread}");
        Some(Cause::new(Verdict::Fail, &text))
    }

    /// The options that make the run red by comparison.
    fn gates(&self) -> Option<String> {
        let regression = match self.demands.regression {
            Gate::Closed => Some("`--fail-on-regression`"),
            Gate::Open => None,
        };
        let gates: Vec<&str> = regression
            .into_iter()
            .chain(self.demands.surface.option())
            .collect();
        (!gates.is_empty()).then(|| gates.join(" and "))
    }

    /// Notes that a gate had nothing to compare with.
    fn note_nothing_compared(&self, report: &RunReport, known: &BaselineLookup, screen: &Screen) {
        let Some(gates) = self.gates() else {
            return;
        };
        let is_locked = self.demands.regression == Gate::Open && !report.locked.is_empty();
        if report.comparison.is_some() || is_locked || !self.speaks(report, screen) {
            return;
        }
        let reason = match (self.baseline, &known.reason) {
            (Store::Off, _) => "`--baseline off` asks for no comparison",
            (Store::Auto | Store::Build | Store::Path(_), Some(reason)) => reason,
            (Store::Auto | Store::Build | Store::Path(_), None) => "there was nothing to compare",
        };
        let what = match self.demands.regression {
            Gate::Closed => "regression",
            Gate::Open => "change of a surface",
        };
        let said = format!("{gates} can find no {what}: no baseline ({reason})");
        match self.wishes.annotations {
            Switch::Auto => remote::say(self.here, screen, said),
            Switch::Off => screen.note(&said),
        }
    }

    /// Compares the run with the baseline. A stored comparison and an empty run stay as they are, and so does a stored
    /// run without a baseline, unless a file or a gate is given here.
    fn compare(
        &self,
        report: &mut RunReport,
        scope: Scope,
        screen: &Screen,
    ) -> Result<BaselineLookup, Cause> {
        if report.comparison.is_some() || report.records.is_empty() || !self.speaks(report, screen)
        {
            return Ok(BaselineLookup::default());
        }
        if let (Store::Auto | Store::Off, Some(reason)) = (self.baseline, &report.uncompared)
            && self.gates().is_none()
        {
            return Ok(BaselineLookup {
                reason: Some(reason.clone()).filter(|it| !it.is_empty()),
                ..BaselineLookup::default()
            });
        }
        match self.baseline {
            Store::Auto => Ok(remote::compare(
                report,
                (self.here, &self.wishes),
                scope,
                screen,
            )),
            Store::Build => Ok(self.compare_with_built(report, scope, screen)),
            Store::Off => Ok(BaselineLookup::default()),
            Store::Path(path) => {
                let base = &*self.here.environment.directory;
                let surroundings = (base, &screen.context.interrupts);
                let updated = (UPDATE_BASELINE, self.update_baseline.path());
                let read = baseline::read(path, updated, surroundings);
                let read = read.map_err(|refusal| cause_of(&refusal))?;
                let known = read.map(|(against, known)| {
                    report.compare_with(&known, &against, scope);
                    known
                });
                Ok(BaselineLookup {
                    baseline: known,
                    ..BaselineLookup::default()
                })
            }
        }
    }

    /// Compares what the servers list with the lock files of the suites; those of another workflow's run are not here.
    fn compare_with_locks(&self, report: &mut RunReport, screen: &Screen) -> Vec<Cause> {
        let is_known = !report.locked.is_empty() || report.catalogs.is_empty();
        if is_known || self.here.reports_another_run() || !self.speaks(report, screen) {
            return Vec::new();
        }
        let cleaner = Cleaner::new(self.secrets.clone());
        locks::compare(report, &self.here.environment.directory, &cleaner)
    }

    /// Compares the run with that of the base that was built here.
    fn compare_with_built(
        &self,
        report: &mut RunReport,
        scope: Scope,
        screen: &Screen,
    ) -> BaselineLookup {
        let mut known = BaselineLookup::default();
        match &self.built {
            Some(Ok((against, baseline))) => {
                report.compare_with(baseline, against, scope);
                screen.note(&format!("compared with {against}"));
                known.baseline = Some(baseline.clone());
            }
            Some(Err(reason)) => {
                remote::say(
                    self.here,
                    screen,
                    format!("compared with nothing: {reason}"),
                );
                known.reason = Some(reason.clone());
            }
            None => {}
        }
        known
    }

    /// Writes the baseline file, unless the run is incomplete.
    fn keep_baseline(
        &self,
        (report, judged): (&RunReport, &Judgement),
        known: &BaselineLookup,
        screen: &mut Screen,
    ) -> Result<(), Cause> {
        let Some(path) = self.update_baseline.path() else {
            return Ok(());
        };
        if !report.may_be_baseline(judged.verdict) {
            return Ok(());
        }
        let place = Destination::Within(Bounds::of(&self.here.environment), path.to_owned());
        let compared = known.baseline.as_ref();
        baseline::save((path, &place), report, compared, &mut screen.stdout)
            .map_err(|error| Cause::new(Verdict::Error, &error.to_string()))
    }

    /// Writes the reports and returns those that exist. A write error changes the verdict, so the others are written
    /// again.
    fn write_files(
        &self,
        report: &mut RunReport,
        causes: &mut Vec<Cause>,
        screen: &mut Screen,
    ) -> Vec<(Format, &Path)> {
        let bounds = Bounds::of(&self.here.environment);
        let mut broken: BTreeSet<&Path> = BTreeSet::new();
        loop {
            report.judgement = Some(judge(report, self.demands, causes.clone()));
            notes_at_most(&mut report.notes);
            report.fit_to(self.wishes.files.iter().map(|(format, _)| *format));
            let known = broken.len();
            for (format, path) in &self.wishes.files {
                if broken.contains(path.as_path()) {
                    continue;
                }
                let destination = Destination::Within(bounds.clone(), path.clone());
                let written = format
                    .text(report)
                    .map_err(|cause| DeliverError::new("make", path, cause))
                    .and_then(|text| deliver::write(&destination, &text, &mut screen.stdout));
                if let Err(error) = written {
                    causes.push(Cause::new(Verdict::Error, &error.to_string()));
                    broken.insert(path);
                }
            }
            if broken.len() == known {
                let files = self.wishes.files.iter();
                return files
                    .map(|(format, path)| (*format, path.as_path()))
                    .filter(|(_, path)| !broken.contains(path))
                    .collect();
            }
        }
    }

    /// Prints the closing report, and the verdict with its causes.
    fn show(&self, report: &RunReport, screen: &mut Screen) -> std::io::Result<()> {
        let detail = Detail {
            frames: self.frames,
            ..Detail::usual(report.trials)
        };
        let theme = screen.theme();
        if self.frames == Frames::All {
            screen.unheeded(|out| closing::write(out, report, (&detail, theme), None))?;
        } else {
            let log = screen.context.log.as_ref();
            closing::write(&mut screen.stdout, report, (&detail, theme), log)?;
        }
        let out = &mut screen.stdout;
        if let Some(judgement) = &report.judgement {
            writeln!(out, "verdict: {}", judgement.verdict.word())?;
            for cause in &judgement.causes {
                writeln!(out, "  {}: {}", cause.verdict.word(), cause.text)?;
            }
        }
        out.flush()
    }
}

/// Marks the run as interrupted if a signal came; returns whether that is new.
fn note_interrupt(report: &mut RunReport, screen: &Screen) -> bool {
    let is_new = screen.context.interrupts.came() && report.end == End::Finished;
    if is_new {
        report.end = End::Interrupted;
    }
    is_new
}

/// The verdict on the reporting itself.
fn reporting_verdict(own: Option<&Cause>, commented: CommentOutcome) -> Verdict {
    match (own, commented) {
        (Some(cause), _) => cause.verdict,
        (None, CommentOutcome::Denied | CommentOutcome::Failed) => Verdict::Error,
        (
            None,
            CommentOutcome::Created
            | CommentOutcome::Updated
            | CommentOutcome::Unchanged
            | CommentOutcome::Off,
        ) => Verdict::Pass,
    }
}
