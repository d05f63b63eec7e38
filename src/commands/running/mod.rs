//! Shared by `run` and `ci`: from options to a plan, and from a plan to a report. Each command delivers the report and
//! chooses the exit code itself.

pub(super) mod baseline;
pub(super) mod engine;
mod fixture;
pub(super) mod input;
mod open_files;
mod options;
pub(super) mod places;
mod refusal;
mod screen;
mod signals;

use std::{
    cell::RefCell,
    convert::Infallible,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::runtime::Runtime;

pub(super) use self::{
    fixture::{of_settings, open as open_fixture},
    options::{
        ALL_TARGETS, Chosen, Prepared, load, prepare, protocol, targets, unset_variables, usage,
    },
    refusal::Refusal,
    screen::Screen,
    signals::Interrupts,
};
use super::{Context, runtime};
use crate::{
    cli::{options::FlakyArgs, run::RunArgs},
    deliver::stdout::Stdout,
    run::{self, RunEnd, RunOptions},
    terminal::live::Live,
};
use check::outcome::event::{Event, News};
use report::{
    End, Machine, RunReport, Timing, Tool,
    recorder::{Keep, Recorder},
    run_json::PlanFacts,
};
use suite::plan::Plan;
use text::{
    clean, count,
    exit::ExitCode,
    workflow::command::{Annotation, Command, Kind},
};

/// The most names listed in a message.
const MOST_NAMED: usize = 10;

/// How long to wait for blocking work when the run is over.
const LAST_WORK: Duration = Duration::from_millis(100);

/// Runs the plan, collects its events into a report, and shows them; beside it the plan of the same suites on other files,
/// if any, whose report is the second one.
pub(super) fn execute(
    prepared: &mut Prepared,
    other: Option<&mut Prepared>,
    args: &RunArgs,
    screen: &mut Screen,
) -> Result<(RunReport, Option<RunReport>), Refusal> {
    let begun = Instant::now();
    let recorder = recorder(prepared, args);
    let interrupts = screen.context.interrupts.clone();
    interrupts.listen();
    let mut options = prepared.run_options(args, interrupts.token());
    if let Some((most, note)) = open_files::fewer_jobs(options.jobs) {
        screen.note(&note);
        options.jobs = most;
    }
    let needs_engine = prepared.needs_engine();
    let name = prepared.name.clone();
    let plan = std::mem::take(&mut prepared.plan);
    let mut beside = other.map(|other| Beside::new(other, args, &options));
    options.tells_phases = screen.has_bars();
    let runtime = runtime::of_jobs(options.jobs, prepared.environment.cores);
    let runtime = runtime.map_err(|error| unstarted(&error))?;
    let context = screen.context.clone();
    let stage = RefCell::new(Stage {
        recorder,
        notes: (!screen.has_bars()).then_some(context.clone()),
        live: screen.live(),
        out: &mut screen.stdout,
    });
    context.streams.defer();
    let ran = unless_panicked((&runtime, &context), async {
        host::sweep::before_run().await;
        if needs_engine {
            let interrupt = interrupts.token();
            tokio::select! {
                found = engine::containers(args, &context, name) => {
                    let containers = found?;
                    interrupts.hold(&containers);
                    if let Some(beside) = &mut beside {
                        beside.options.containers = Some(Arc::clone(&containers));
                    }
                    options.containers = Some(containers);
                }
                // Then no job starts, and every assertion is reported as interrupted.
                () = interrupt.cancelled() => {}
            }
        }
        let (end, other) = conduct(plan, options, beside, &stage).await;
        Ok((end, other, leave_nothing(&context, end).await))
    });
    runtime.shutdown_timeout(LAST_WORK);
    context.streams.settle();
    let (ran, other, left) = ran?;
    let Stage {
        recorder,
        notes: _,
        mut live,
        out,
    } = stage.into_inner();
    // A write error is reported by the next write; the reports are complete.
    let _ = live.finish(out);
    report_left(&left, screen);
    let mut report = recorder.finish(begun.elapsed());
    report.engine = interrupts.containers().map(|it| engine::record(it));
    if ran == RunEnd::Interrupted {
        report.end = End::Interrupted;
    }
    Ok((report, other))
}

fn unstarted(error: &std::io::Error) -> Refusal {
    let message = format!("the run could not be started: {error}");
    Refusal::new(ExitCode::CouldNotRun, message)
}

/// A plan that runs beside another one.
struct Beside {
    plan: Plan,
    options: RunOptions,
    recorder: Recorder,
}

impl Beside {
    /// With the jobs at once of the other one.
    fn new(prepared: &mut Prepared, args: &RunArgs, first: &RunOptions) -> Self {
        Self {
            recorder: recorder(prepared, args),
            options: RunOptions {
                jobs: first.jobs,
                ..prepared.run_options(args, first.interrupt.clone())
            },
            plan: std::mem::take(&mut prepared.plan),
        }
    }
}

/// Runs to the end. After a panic, which has printed its message, servers are still ended.
pub(super) fn unless_panicked<T>(
    (runtime, context): (&Runtime, &Context),
    run: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let ran = panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(run)));
    ran.unwrap_or_else(|_| {
        runtime.block_on(leave_nothing(context, RunEnd::Interrupted));
        let message = "a defect of mcp-assert itself ended the run";
        Err(Refusal::new(ExitCode::CouldNotRun, message))
    })
}

/// Waits until all processes and containers of the run are gone, after a signal only briefly. Returns what the engine
/// did not remove. A finished run has swept this machine already.
pub(super) async fn leave_nothing(context: &Context, end: RunEnd) -> Vec<String> {
    let interrupts = &context.interrupts;
    let removing = async {
        match interrupts.containers() {
            Some(containers) => containers.close().await,
            None => Vec::new(),
        }
    };
    let sweeping = async {
        if end == RunEnd::Interrupted {
            host::sweep::after_run().await;
        }
    };
    let rest = async { tokio::join!(removing, sweeping) };
    if let Some((left, ())) = Box::pin(interrupts.while_patient(rest)).await {
        return left;
    }
    let containers = interrupts.containers();
    context.say(if containers.is_some() {
        "note: interrupted before the container engine had removed everything; `mcp-assert reap` removes the rest\n"
    } else {
        "note: interrupted before everything that was started had ended; the next run ends the rest\n"
    });
    containers
        .map(|containers| containers.known())
        .unwrap_or_default()
}

/// Lists the first names and counts the others.
pub(super) fn enumerated(names: &[String]) -> String {
    let first = names[..names.len().min(MOST_NAMED)].join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Reports what the engine did not remove. It changes no verdict.
fn report_left(left: &[String], screen: &Screen) {
    if left.is_empty() {
        return;
    }
    let message = clean(&format!(
        "the container engine did not remove {} of this run: {}; `mcp-assert reap` removes what is left there",
        count(left.len(), "thing"),
        enumerated(left),
    ));
    screen.context.say(&format!("warning: {message}\n"));
    screen.command(&Command::Annotate(Annotation {
        kind: Kind::Notice,
        place: None,
        title: "mcp-assert".to_owned(),
        message,
    }));
}

/// Creates the recorder, which builds the report from events.
fn recorder(prepared: &Prepared, args: &RunArgs) -> Recorder {
    let keep = if args.trace { Keep::All } else { Keep::Red };
    let mut recorder = Recorder::new(blank_report(args, prepared), prepared.secrets(), keep);
    for problem in &prepared.problems {
        recorder.problem(problem);
    }
    recorder
}

/// Runs the plan and shows its events; of the plan beside it, only what it waits for is shown. Returns its report.
async fn conduct(
    plan: Plan,
    options: RunOptions,
    beside: Option<Beside>,
    stage: &RefCell<Stage<'_>>,
) -> (RunEnd, Option<RunReport>) {
    let show = |event| {
        // Stdout keeps its error for the end; the reports can still be written.
        let _ = stage.borrow_mut().show(&event);
    };
    let running = async {
        let Some(Beside {
            plan: other,
            options: other_options,
            mut recorder,
        }) = beside
        else {
            return (run::run(plan, options, show).await, None);
        };
        let listen = |event| {
            if let (Some(what), Some(notes)) = (awaited(&event), &stage.borrow().notes) {
                notes.say(&format!("note: base: {}\n", clean(what)));
            }
            recorder.apply(&event);
        };
        let end = run::run_both((plan, options, show), (other, other_options, listen)).await;
        (end, Some(recorder.finish(Duration::ZERO)))
    };
    tokio::select! {
        ended = running => ended,
        never = redraw(stage) => match never {},
    }
}

/// What an event says that the run waits for.
fn awaited(event: &Event) -> Option<&str> {
    let Event::Preparing {
        what,
        news: News::Begun,
    } = event
    else {
        return None;
    };
    Some(what)
}

/// The state that events change.
struct Stage<'a> {
    recorder: Recorder,
    /// Prints what the run waits for, if there are no bars.
    notes: Option<Context>,
    live: Live,
    out: &'a mut Stdout,
}

impl Stage<'_> {
    fn show(&mut self, event: &Event) -> std::io::Result<()> {
        if let (Some(what), Some(notes)) = (awaited(event), &self.notes) {
            notes.say(&format!("note: {}\n", clean(what)));
        }
        let record = self.recorder.apply(event);
        self.live.apply(event, record, self.out)
    }
}

/// Redraws the bars between events.
async fn redraw(stage: &RefCell<Stage<'_>>) -> Infallible {
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    loop {
        ticks.tick().await;
        let stage = &mut *stage.borrow_mut();
        // Write errors are reported at the end.
        let _ = stage.live.tick(stage.out);
    }
}

/// The message for `--fail-flaky`.
pub(super) fn flaky(report: &RunReport, asked: FlakyArgs) -> Option<String> {
    if !asked.fail_flaky {
        return None;
    }
    let assertions = report.assertions();
    let number = assertions.iter().filter(|it| it.flaky > 0).count();
    let are = if number == 1 { "is" } else { "are" };
    let which = || count(number, "assertion");
    (number > 0).then(|| format!("{} {are} flaky: --fail-flaky makes the run fail", which()))
}

/// The current Unix time in milliseconds.
pub(super) fn now_unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn blank_report(args: &RunArgs, prepared: &Prepared) -> RunReport {
    RunReport {
        plan: PlanFacts {
            digest: Some(prepared.plan.digest()),
            ..PlanFacts::default()
        },
        machine: Some(Machine {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cores: prepared.environment.cores,
        }),
        tool: Tool {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sha256: None,
        },
        timing: Timing {
            started_unix_ms: now_unix_ms(),
            ..Timing::default()
        },
        trials: args.selection.trials,
        planned: prepared.plan.jobs.len(),
        left_out: prepared.plan.left_out + prepared.plan.of_other_targets,
        ..RunReport::default()
    }
}

/// Runs `work` after the run; `None` if the process is or was interrupted.
pub(super) fn unless_interrupted<T>(
    interrupts: &Interrupts,
    work: impl Future<Output = T>,
) -> std::io::Result<Option<T>> {
    if interrupts.came() {
        return Ok(None);
    }
    let runtime = runtime::of_this_thread()?;
    let interrupt = interrupts.token();
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = work => Some(ended),
            () = interrupt.cancelled() => None,
        }
    });
    runtime.shutdown_timeout(LAST_WORK);
    Ok(ended)
}
