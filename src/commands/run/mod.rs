//! `mcp-assert run`: load, plan, run, report. What each of these does lives in its room; here is their order and
//! the exit code.

mod list;
mod options;
mod refusal;
mod reports;
mod screen;
mod signals;

use std::{
    cell::RefCell,
    convert::Infallible,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio_util::sync::CancellationToken;

use self::{
    options::Prepared,
    refusal::Refusal,
    reports::{Regressions, Reports},
    screen::Screen,
};
use super::Context;
use crate::{
    cli::run::RunArgs,
    deliver::stdout::Stdout,
    isolate,
    outcome::event::Event,
    report::{
        End, RunReport, Tool,
        recorder::{Keep, Recorder},
    },
    run::{self, Narration, RunEnd},
    terminal::live::Live,
    words::exit::ExitCode,
};

/// Runs suites as the options say.
pub(super) fn run(args: &RunArgs, context: &Context) -> ExitCode {
    let screen = Screen::new(context, args);
    match carry_out(args, context, screen) {
        Ok(code) => code,
        Err(refusal) => refusal.say(context),
    }
}

fn carry_out(args: &RunArgs, context: &Context, mut screen: Screen) -> Result<ExitCode, Refusal> {
    let mut prepared = options::prepare(args, context)?;
    for problem in &prepared.problems {
        screen.problem(problem);
    }
    for note in &prepared.notes {
        screen.note(note);
    }
    let invalid = prepared.is_invalid();
    if invalid && args.strict_load {
        list::nothing(args, screen.stdout())?;
        return Err(Refusal::invalid(
            "nothing was run: the suite has problems (--strict-load)",
        ));
    }
    if args.list {
        return list::list(&prepared, args, screen.stdout());
    }
    if prepared.plan.jobs.is_empty() {
        list::nothing(args, screen.stdout())?;
        return Err(nothing_selected(&prepared));
    }
    if args.dry_run {
        return list::dry_run(&prepared, screen.stdout());
    }
    let reports = Reports::new(args, &prepared)?;
    let report = execute(&mut prepared, args, &reports, &mut screen)?;
    let (report, regressions) = reports.deliver(report, &mut screen)?;
    Ok(exit_code(
        &report,
        args,
        &Reds {
            invalid,
            regressions,
        },
    ))
}

/// What makes a run red besides its outcomes.
struct Reds {
    invalid: bool,
    regressions: Regressions,
}

/// Of several causes the first of this order counts: interrupted, invalid, red.
fn exit_code(report: &RunReport, args: &RunArgs, reds: &Reds) -> ExitCode {
    let red = report.records.iter().any(|record| record.status.is_red());
    let flaky = args.fail_flaky
        && report
            .records
            .iter()
            .any(crate::report::record::Record::is_flaky);
    match report.end {
        End::Interrupted => ExitCode::Interrupted,
        End::Finished if reds.invalid => ExitCode::Invalid,
        End::Finished if red || flaky || reds.regressions == Regressions::Found => ExitCode::Failed,
        End::Finished => ExitCode::Passed,
    }
}

fn nothing_selected(prepared: &Prepared) -> Refusal {
    if prepared.is_invalid() && prepared.left_out == 0 {
        return Refusal::invalid("nothing could be run");
    }
    let message = match prepared.left_out {
        0 => "no assertion was found".to_owned(),
        left_out => format!("nothing was selected: the filters left out all {left_out}"),
    };
    Refusal::new(ExitCode::NothingSelected, message)
        .with_help("`mcp-assert run --list` without filters shows what there is")
}

/// Runs the plan and folds its events into the report, while the screen shows them.
fn execute(
    prepared: &mut Prepared,
    args: &RunArgs,
    reports: &Reports,
    screen: &mut Screen,
) -> Result<RunReport, Refusal> {
    let begun = Instant::now();
    let keep = if args.trace { Keep::All } else { Keep::Red };
    let mut recorder = Recorder::new(blank_report(args, prepared), prepared.secrets(), keep);
    if !reports.need_passes() {
        recorder = recorder.counting_passes();
    }
    for problem in &prepared.problems {
        recorder.problem(problem);
    }
    let plan = std::mem::take(&mut prepared.plan);
    let interrupt = CancellationToken::new();
    let mut options = prepared.run_options(args, interrupt.clone());
    if screen.has_bars() {
        options.narration = Narration::Phases;
    }
    let runtime = runtime(options.jobs, prepared.cores()).map_err(|error| {
        Refusal::new(
            ExitCode::CouldNotRun,
            format!("the run could not be started: {error}"),
        )
    })?;
    let stage = RefCell::new(Stage {
        recorder,
        live: screen.live(),
        out: screen.stdout(),
    });
    let ran = runtime.block_on(async {
        let listener = signals::listen(interrupt.clone());
        isolate::sweep::before_run().await;
        let running = run::run(plan, options, |event| {
            if stage.borrow_mut().show(&event).is_err() {
                // Nobody can be shown a result any more; the reports will say the same.
                interrupt.cancel();
            }
        });
        let end = tokio::select! {
            end = running => end,
            never = redraw(&stage) => match never {},
        };
        isolate::sweep::after_run().await;
        listener.abort();
        end
    });
    runtime.shutdown_timeout(Duration::from_millis(100));
    let Stage {
        recorder,
        mut live,
        out,
    } = stage.into_inner();
    live.finish(out).map_err(|error| {
        Refusal::new(
            ExitCode::CouldNotRun,
            format!("cannot write to stdout: {error}"),
        )
    })?;
    let mut report = recorder.finish(begun.elapsed());
    if ran == RunEnd::Interrupted {
        report.end = End::Interrupted;
    }
    Ok(report)
}

/// What events of a run change.
struct Stage<'a> {
    recorder: Recorder,
    live: Live,
    out: &'a mut Stdout,
}

impl Stage<'_> {
    fn show(&mut self, event: &Event) -> std::io::Result<()> {
        let record = self.recorder.apply(event);
        self.live.apply(event, record, self.out)
    }
}

/// Keeps the clocks of the bars going between events.
async fn redraw(stage: &RefCell<Stage<'_>>) -> Infallible {
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    loop {
        ticks.tick().await;
        let stage = &mut *stage.borrow_mut();
        // Trouble with the screen shows when the next result is written.
        let _ = stage.live.tick(stage.out);
    }
}

fn blank_report(args: &RunArgs, prepared: &Prepared) -> RunReport {
    let started = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    RunReport {
        tool: Tool {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sha256: None,
        },
        started_unix_ms: u64::try_from(started.as_millis()).unwrap_or(u64::MAX),
        trials: args.trials,
        planned: prepared.plan.jobs.len(),
        ..RunReport::default()
    }
}

/// One thread is cheapest for one job; more jobs get the machine's cores.
fn runtime(jobs: usize, cores: usize) -> std::io::Result<tokio::runtime::Runtime> {
    if jobs == 1 || cores == 1 {
        return tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
    }
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(jobs.min(cores))
        .enable_all()
        .build()
}
