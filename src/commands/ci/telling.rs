//! After the run: compare, judge, and tell it to every sink, in this order: report files, GitHub's comment and data
//! branch, the log with its annotations, the step summary, and last the outputs. A file that cannot be written
//! changes the verdict; what GitHub refuses never does.

use std::{collections::BTreeSet, io::Write, path::Path};

use super::{UPDATE_BASELINE, cause_of, remote, remote::Known, sinks};
use crate::{
    cli::ci::Store,
    commands::running::{Screen, baseline},
    deliver::{
        self, DeliverError, Destination,
        bounds::Bounds,
        facts::{Facts, Here, Wanted, Wishes},
        github::comment::Commented,
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

/// What is known when the run is over, whichever way it ended.
#[derive(Debug)]
pub(super) struct Telling<'a> {
    /// Where this process runs.
    pub(super) here: &'a Here,
    /// Why what this process itself was asked for cannot be done, whatever the run is worth.
    pub(super) misuse: Option<Cause>,
    /// What is asked of the sinks.
    pub(super) wishes: Wishes,
    /// What is asked of the run.
    pub(super) demands: Demands,
    /// What it is compared with.
    pub(super) baseline: &'a Store,
    /// Where it becomes a baseline itself.
    pub(super) update_baseline: &'a Store,
    /// Values that no sink may show.
    pub(super) secrets: Secrets,
    /// Whether the log shows every frame.
    pub(super) frames: Frames,
    /// What the exit code says.
    pub(super) exits: Exits,
}

/// What the exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exits {
    /// The verdict.
    ByVerdict,
    /// Whether it could be told, in the files and in the comment: the verdict was somebody else's.
    ByTelling,
}

impl Telling<'_> {
    /// Compares, judges and tells; `causes` are those that the report does not show.
    pub(super) fn tell(
        self,
        mut report: RunReport,
        mut causes: Vec<Cause>,
        screen: &mut Screen,
    ) -> ExitCode {
        let mut told = causes.len();
        // Of a run that is not whole, what is not there says nothing.
        let scope = if causes.is_empty() {
            Scope::Whole
        } else {
            Scope::Part
        };
        causes.extend(self.misuse.clone());
        let known = match self.compare(&mut report, scope, screen) {
            Ok(known) => known,
            Err(cause) => {
                causes.push(cause);
                Known::default()
            }
        };
        if let Some(cause) = self.ungated(&known) {
            // It is the verdict's, and nothing that could not be told.
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
            // Nothing that is told may contradict the exit code.
            written = self.write_files(&mut report, &mut causes, screen);
        }
        let commented = self.tell_github((&mut report, &causes[..told]), &known, screen);
        let came = screen.context().interrupts.came();
        let came_late = note_interrupt(&mut report, screen);
        if came_late {
            written = self.write_files(&mut report, &mut causes, screen);
            screen.note("interrupted: the verdict is `interrupted`, and GitHub is asked and told nothing more");
        }
        let facts = self.facts(&report);
        sinks::annotate(&facts, screen);
        sinks::summarize(&facts, screen);
        sinks::tell_outputs(&facts, &written, commented.word(), screen);
        let verdict = match self.exits {
            Exits::ByVerdict => report.judgement.map(|judgement| judgement.verdict),
            // As the outputs have it: a signal that comes after them is too late.
            Exits::ByTelling if came || came_late => Some(Verdict::Interrupted),
            Exits::ByTelling => Some(worth_of_telling(causes.get(told), commented)),
        };
        verdict.unwrap_or(Verdict::Error).exit()
    }

    /// Tells GitHub. `theirs` are the causes that the run has whoever tells of it: people who read of a run of another
    /// workflow are not told what is wrong with this one.
    fn tell_github(
        &self,
        (report, theirs): (&mut RunReport, &[Cause]),
        known: &Known,
        screen: &Screen,
    ) -> Commented {
        if !self.speaks(report, screen) {
            return Commented::Off;
        }
        let own = report.judgement.clone();
        if self.here.tells_of_another() {
            report.judgement = Some(judge(report, self.demands, theirs.to_vec()));
        }
        let facts = self.facts(report);
        remote::publish(&facts, known, screen);
        let commented = remote::comment(&facts, screen);
        report.judgement = own;
        commented
    }

    /// Whether the run is one to be compared and told of on GitHub: a shard is a part, for the merge to speak of, and
    /// who is interrupted has no time. A run of another workflow may have been: whoever tells of it has the time, and
    /// what an earlier one left on the pull request is not how it is now.
    fn speaks(&self, report: &RunReport, screen: &Screen) -> bool {
        let has_time = match report.end {
            End::Finished => true,
            End::Interrupted => self.here.tells_of_another() && !screen.context().interrupts.came(),
        };
        has_time && report.plan.shard == 0
    }

    /// Keeps why there is no comparison: whoever tells of the stored run again says the same.
    fn keep_reason(&self, report: &mut RunReport, known: &Known, screen: &Screen) {
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

    /// That something was to be red and nobody can say whether it is, for the baseline could not be read.
    fn ungated(&self, known: &Known) -> Option<Cause> {
        let gates = self.gates()?;
        let unread = known.unread.as_ref()?;
        let text = format!("{gates} cannot be judged: {unread}");
        Some(Cause::new(Verdict::Fail, &text))
    }

    /// The switches by which the comparison makes a run red.
    fn gates(&self) -> Option<&'static str> {
        match (self.demands.regression, self.demands.breaking) {
            (Gate::Open, Gate::Open) => None,
            (Gate::Closed, Gate::Open) => Some("`--fail-on-regression`"),
            (Gate::Open, Gate::Closed) => Some("`--fail-on-breaking`"),
            (Gate::Closed, Gate::Closed) => Some("`--fail-on-regression` and `--fail-on-breaking`"),
        }
    }

    /// Says that a comparison was to make the run red and there was none.
    fn note_nothing_compared(&self, report: &RunReport, known: &Known, screen: &Screen) {
        let Some(gates) = self.gates() else {
            return;
        };
        if report.comparison.is_some() || !self.speaks(report, screen) {
            return;
        }
        let reason = match (self.baseline, &known.reason) {
            (Store::Off, _) => "`--baseline off` asks for no comparison",
            (Store::Auto | Store::Path(_), Some(reason)) => reason,
            (Store::Auto | Store::Path(_), None) => "there was nothing to compare",
        };
        let what = match self.demands.regression {
            Gate::Closed => "regression",
            Gate::Open => "breaking change",
        };
        let said = format!("{gates} can find no {what}: no baseline ({reason})");
        match self.wishes.annotations {
            Wanted::Yes => remote::say(self.here, screen, said),
            Wanted::No => screen.note(&said),
        }
    }

    /// Compares the run with what was asked for. One that was compared before, and one of nothing, stays as it is; one
    /// that had nothing to be compared with, too, unless a file is named here or the comparison is to make it red.
    fn compare(
        &self,
        report: &mut RunReport,
        scope: Scope,
        screen: &Screen,
    ) -> Result<Known, Cause> {
        if report.comparison.is_some() || report.records.is_empty() || !self.speaks(report, screen)
        {
            return Ok(Known::default());
        }
        if let (Store::Auto | Store::Off, Some(reason)) = (self.baseline, &report.uncompared)
            && self.gates().is_none()
        {
            return Ok(Known {
                reason: Some(reason.clone()).filter(|it| !it.is_empty()),
                ..Known::default()
            });
        }
        match self.baseline {
            Store::Auto => Ok(remote::compare(
                report,
                (self.here, &self.wishes),
                scope,
                screen,
            )),
            Store::Off => Ok(Known::default()),
            Store::Path(path) => {
                let base = &*self.here.environment.directory;
                let surroundings = (base, &screen.context().interrupts);
                let updated = (UPDATE_BASELINE, self.update_baseline.path());
                let read = baseline::read(path, updated, surroundings);
                let read = read.map_err(|refusal| cause_of(&refusal))?;
                let known = read.map(|(against, known)| {
                    report.compare_with(&known, &against, scope);
                    known
                });
                Ok(Known {
                    baseline: known,
                    ..Known::default()
                })
            }
        }
    }

    /// Writes the run into its baseline file, unless part of it is missing.
    fn keep_baseline(
        &self,
        (report, judged): (&RunReport, &Judgement),
        known: &Known,
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
        baseline::save((path, &place), report, compared, screen.stdout())
            .map_err(|error| Cause::new(Verdict::Error, &error.to_string()))
    }

    /// Writes the reports. One that cannot be written changes the verdict, which the others must show.
    /// Those that are there, each at its path.
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
                    .and_then(|text| deliver::write(&destination, &text, screen.stdout()));
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

    /// The closing report, and the verdict with its causes.
    fn show(&self, report: &RunReport, screen: &mut Screen) -> std::io::Result<()> {
        let detail = Detail {
            frames: self.frames,
            ..Detail::usual(report.trials)
        };
        let theme = screen.theme();
        if self.frames == Frames::All {
            screen.unheeded(|out| closing::write(out, report, &detail, theme))?;
        } else {
            closing::write(screen.stdout(), report, &detail, theme)?;
        }
        let out = screen.stdout();
        if let Some(judgement) = &report.judgement {
            writeln!(out, "verdict: {}", judgement.verdict.word())?;
            for cause in &judgement.causes {
                writeln!(out, "  {}: {}", cause.verdict.word(), cause.text)?;
            }
        }
        out.flush()
    }
}

/// Marks a run that was to be told of when the process was told to end; whether it was not marked before.
fn note_interrupt(report: &mut RunReport, screen: &Screen) -> bool {
    let is_new = screen.context().interrupts.came() && report.end == End::Finished;
    if is_new {
        report.end = End::Interrupted;
    }
    is_new
}

/// What telling of a run was worth: what hindered it, else whether the comment is as it should be.
fn worth_of_telling(own: Option<&Cause>, commented: Commented) -> Verdict {
    match (own, commented) {
        (Some(cause), _) => cause.verdict,
        (None, Commented::Denied | Commented::Failed) => Verdict::Error,
        (None, Commented::Created | Commented::Updated | Commented::Unchanged | Commented::Off) => {
            Verdict::Pass
        }
    }
}
