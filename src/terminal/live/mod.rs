//! The live view of a run, built from its events. Result lines go to stdout in plan order; on a terminal, stderr shows
//! running jobs and a bar, which disappear at the end.

mod bars;

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::{Duration, Instant},
};

use console::Term;

use self::bars::Bars;
use crate::{
    deliver::{standard::Streams, workflow_log::WorkflowLog},
    terminal::{line, theme::Theme},
};
use check::outcome::{
    Status,
    event::{Event, JobIndex},
};
use mcp::observation::disruption::Phase;
use report::{cleaner::Cleaner, record::Record, tally::Tally};
use text::{count, head, workflow::command::Command};

/// The shortest time between redraws.
const REDRAW: Duration = Duration::from_millis(100);

/// Result lines that a workflow's log shows open; more are folded.
const MOST_OPEN: usize = 20;

/// The most running jobs shown.
const MOST_LINES: usize = 12;

/// The most characters of a job's name.
const NAME_CHARACTERS: usize = 60;

/// Whether stdout shows result lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Results {
    /// It does.
    Lines,
    /// It does not, because a report goes there.
    Silent,
}

/// Whether stderr shows bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It does: it is a terminal.
    Bars,
    /// It does not.
    None,
}

/// The options of the view.
#[derive(Clone)]
pub(crate) struct LiveOptions {
    /// Lines of outcomes.
    pub(crate) results: Results,
    /// Bars.
    pub(crate) progress: Progress,
    /// The streams of the process.
    pub(crate) streams: Streams,
    /// Colours of the lines.
    pub(crate) theme: Theme,
    /// Trials of each assertion, for names.
    pub(crate) trials: u32,
    /// The workflow's log, if stdout is one.
    pub(crate) log: Option<WorkflowLog>,
}

/// The live view. It owns the bars; the caller owns stdout.
pub(crate) struct Live {
    options: LiveOptions,
    /// The width of the terminal on stdout.
    columns: Option<usize>,
    bars: Option<Bars>,
    running: BTreeMap<JobIndex, Running>,
    /// The preparation that all jobs wait for; else empty.
    preparing: String,
    total: usize,
    finished: Tally,
    /// Result lines collected until the next redraw.
    waiting: String,
    drawn: Instant,
}

/// A running job.
#[derive(Debug)]
struct Running {
    name: String,
    phase: Phase,
    attempt: u32,
    since: Instant,
}

impl Live {
    /// Creates the view.
    pub(crate) fn new(options: LiveOptions) -> Self {
        Self {
            bars: match options.progress {
                Progress::Bars => Some(Bars::new(&options.streams)),
                Progress::None => None,
            },
            options,
            columns: Term::stdout().size_checked().map(|size| size.1.into()),
            running: BTreeMap::new(),
            preparing: String::new(),
            total: 0,
            finished: Tally::default(),
            waiting: String::new(),
            drawn: Instant::now(),
        }
    }

    /// Shows one event. `record` is the finished job's record.
    pub(crate) fn apply(
        &mut self,
        event: &Event,
        record: Option<&Record>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        match event {
            Event::RunStarted { total, .. } => {
                self.total = *total;
                if let Some(log) = self.folds() {
                    log.command(&Command::Group(count(*total, "result")));
                }
            }
            Event::JobStarted { job, case } => {
                let running = Running {
                    name: head(&Cleaner::name(&case.name), NAME_CHARACTERS),
                    phase: Phase::default(),
                    attempt: 1,
                    since: Instant::now(),
                };
                self.running.insert(*job, running);
            }
            Event::Preparing { what, news: _ } => {
                self.preparing = head(&Cleaner::name(what), NAME_CHARACTERS);
            }
            Event::PhaseReached { job, phase } => {
                self.preparing.clear();
                if let Some(running) = self.running.get_mut(job) {
                    running.phase = *phase;
                }
            }
            Event::Retrying { job, attempt } => {
                if let Some(running) = self.running.get_mut(job) {
                    running.attempt = *attempt;
                }
            }
            Event::JobFinished { job, .. } => {
                self.running.remove(job);
                if let Some(record) = record {
                    self.count(record.status);
                    self.show_result(record, out)?;
                }
            }
            Event::CatalogKnown(_) | Event::CatalogMissing { .. } | Event::LeftBehind { .. } => {}
            Event::Interrupted => self.running.clear(),
            Event::RunFinished => return self.finish(out),
        }
        if self.bars.is_some() && self.drawn.elapsed() >= REDRAW {
            self.tick(out)?;
        }
        Ok(())
    }

    /// Redraws the bars; called periodically.
    pub(crate) fn tick(&mut self, out: &mut impl Write) -> io::Result<()> {
        let Some(bars) = &mut self.bars else {
            return Ok(());
        };
        self.drawn = Instant::now();
        if !self.options.streams.is_read() {
            return Ok(());
        }
        let results = std::mem::take(&mut self.waiting);
        let written = if results.is_empty() {
            Ok(())
        } else {
            bars.beside(|| out.write_all(results.as_bytes()).and_then(|()| out.flush()))
        };
        let mut shown = lines(&self.running, self.drawn);
        if !self.preparing.is_empty() {
            shown.insert(0, format!("  {}", self.preparing));
        }
        bars.draw(&shown, self.total, self.finished);
        written
    }

    /// Removes the bars and prints the remaining lines, also after an aborted run.
    pub(crate) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        if let Some(bars) = self.bars.take() {
            bars.clear();
        }
        out.write_all(self.waiting.as_bytes())?;
        self.waiting.clear();
        out.flush()?;
        if let Some(log) = self.folds() {
            log.command(&Command::EndGroup);
        }
        self.total = 0;
        Ok(())
    }

    /// The log, if it folds so many results.
    fn folds(&self) -> Option<&WorkflowLog> {
        let is_long = self.total > MOST_OPEN && self.options.results == Results::Lines;
        self.options.log.as_ref().filter(|_| is_long)
    }

    fn count(&mut self, status: Status) {
        let finished = &mut self.finished;
        match status {
            Status::Pass => finished.passed += 1,
            Status::Fail => finished.failed += 1,
            Status::Error => finished.errors += 1,
            Status::Skip => finished.skipped += 1,
        }
    }

    fn show_result(&mut self, record: &Record, out: &mut impl Write) -> io::Result<()> {
        if self.options.results == Results::Silent {
            return Ok(());
        }
        let room = line::Room {
            trials: self.options.trials,
            columns: self.columns,
        };
        let mut shown = line::result(record, room, self.options.theme);
        if self.options.log.is_some() {
            // The failure in full, which follows, has the reason.
            shown.truncate(shown.find('\n').unwrap_or(shown.len()));
        }
        shown.push('\n');
        if self.bars.is_some() {
            self.waiting.push_str(&shown);
            return Ok(());
        }
        out.write_all(shown.as_bytes())?;
        out.flush()
    }
}

/// One line for each running job, in plan order.
fn lines(running: &BTreeMap<JobIndex, Running>, now: Instant) -> Vec<String> {
    let mut lines: Vec<String> = running
        .values()
        .take(MOST_LINES)
        .map(|job| {
            let seconds = now.saturating_duration_since(job.since).as_secs_f32();
            let attempt = if job.attempt > 1 {
                format!(", attempt {}", job.attempt)
            } else {
                String::new()
            };
            format!("  {seconds:>5.1}s  {}  {}{attempt}", job.name, job.phase)
        })
        .collect();
    if running.len() > MOST_LINES {
        lines.push(format!("  … and {} more", running.len() - MOST_LINES));
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Instant};

    use super::{Live, LiveOptions, Progress, Results, Streams, lines};
    use crate::terminal::theme::Theme;
    use check::outcome::event::Event;
    use mcp::observation::disruption::Phase;
    use report::{
        RunReport,
        recorder::{Keep, Recorder},
        sample::{outcome, outcomes},
    };
    use text::{diagnostic::Colour, redact::Secrets};

    fn shown(results: Results, progress: Progress) -> String {
        let options = LiveOptions {
            results,
            progress,
            streams: Streams::default(),
            theme: Theme::new(Colour::Off),
            trials: 1,
            log: None,
        };
        let (mut live, mut out) = (Live::new(options), Vec::new());
        let mut recorder = Recorder::new(RunReport::default(), Secrets::default(), Keep::Red);
        let mut events = vec![Event::RunStarted { total: 7, jobs: 2 }];
        for (job, outcome) in outcomes().into_iter().enumerate() {
            let case = Arc::clone(&outcome.case);
            events.push(Event::JobStarted { job, case });
            events.push(Event::JobFinished {
                job,
                outcome: Box::new(outcome),
            });
        }
        events.push(Event::RunFinished);
        for event in &events {
            let record = recorder.apply(event);
            live.apply(event, record, &mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_come_with_bars_and_without_and_never_beside_json() {
        let plain = shown(Results::Lines, Progress::None);
        assert_eq!(plain.lines().count(), 10, "{plain}");
        assert!(!plain.contains('\u{1b}') && !plain.contains('\r'));
        assert_eq!(shown(Results::Lines, Progress::Bars), plain);
        assert_eq!(shown(Results::Silent, Progress::None), "");
    }

    #[test]
    fn running_jobs_show_name_phase_and_attempt() {
        let options = LiveOptions {
            results: Results::Silent,
            progress: Progress::None,
            streams: Streams::default(),
            theme: Theme::new(Colour::Off),
            trials: 1,
            log: None,
        };
        let mut live = Live::new(options);
        let mut apply = |event| live.apply(&event, None, &mut Vec::new()).unwrap();
        for job in 0..14 {
            let case = outcome("a.yaml", &format!("job\u{1b}[2J {job}")).case;
            apply(Event::JobStarted { job, case });
        }
        let phase = Phase::Handshake;
        apply(Event::PhaseReached { job: 0, phase });
        apply(Event::Retrying { job: 0, attempt: 2 });
        let shown = lines(&live.running, Instant::now());
        assert!(
            shown[0].ends_with("s  job\\u{1b}[2J 0  handshake, attempt 2"),
            "{}",
            shown[0]
        );
        assert_eq!(shown.len(), 13);
        assert_eq!(shown[12], "  … and 2 more");
    }
}
