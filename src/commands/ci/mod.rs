//! `mcp-assert ci`: runs, compares, judges and reports. Every error becomes a cause of the verdict, so that all sinks
//! report it.

mod artifacts;
mod base;
mod here;
mod locks;
mod merge;
mod options;
mod plan;
mod programs;
mod remote;
mod reporting;
mod shard;
mod sinks;
mod untrusted;

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use self::{
    base::{Base, Built},
    reporting::{ExitBasis, Reporting},
};
use super::{
    Context,
    running::{
        self, Chosen, Prepared, Refusal, Screen, engine,
        places::{Places, option},
    },
};
use crate::{
    cli::{
        ci::{CiArgs, CiVerb, Store, Switch},
        options::{FlakyArgs, Isolation},
        run::RunArgs,
    },
    deliver::{
        facts::{CiEnvironment, Wishes},
        stream::stream,
    },
    terminal::live::Results,
};
use host::container::engine::Asker;
use report::{
    RunReport, Timing,
    failure::Frames,
    verdict::{Cause, Gate, Verdict},
};
use suite::settings::Settings;
use text::{clean, environment::Environment, exit::ExitCode, redact::Secrets};

/// Runs `ci`, `ci plan` or `ci merge`.
pub(super) fn ci(args: &CiArgs, context: &Context) -> ExitCode {
    context.interrupts.listen();
    match &args.verb {
        None => run(args, context),
        Some(CiVerb::Plan(args)) => plan::plan(args, context),
        Some(CiVerb::Merge(args)) => merge::merge(args, context),
    }
}

/// Runs the suites or one shard, and reports.
fn run(args: &CiArgs, context: &Context) -> ExitCode {
    let mut typed = options::run_args(args);
    let (mut screen, mut made, here) = begin(context, typed.selection.trials);
    let mut wishes = options::wishes(&args.reporting, &args.judging, &context.environment);
    let mut update_baseline = &args.judging.update_baseline;
    if args.shard.is_some() {
        options::for_shard(&mut wishes, &args.reporting);
        update_baseline = &Store::Off;
    }
    let stores = (&args.judging.baseline, update_baseline);
    made.places = places(&context.environment, &wishes, stores);
    made.places.suites.clone_from(&typed.suites);
    if args.shard.is_some() {
        made.places.read.push(("--plan", args.plan.clone(), None));
    }
    let made_it = make(args, &mut typed, (context, &here), &mut screen, &mut made);
    let mut causes: Vec<Cause> = Vec::new();
    if let Err(refusal) = made_it {
        causes.extend(causes_of(&refusal));
        refusal.say(context);
    }
    if let Err(clash) = check(&made.places) {
        // No file is written while two options name the same one.
        wishes.files.clear();
        update_baseline = &Store::Off;
        causes.push(cause_of(&clash));
    }
    made.report.source = here.source.clone();
    made.report.source.suite = Some(suites(&typed, &context.environment.directory));
    let mut reporting = Reporting {
        here: &here,
        misuse: None,
        wishes,
        demands: options::demands(&args.judging),
        flaky: args.judging.flaky,
        baseline: &args.judging.baseline,
        update_baseline,
        secrets: made.secrets,
        built: made.built,
        frames: if args.verbose {
            Frames::All
        } else {
            Frames::Last
        },
        exits: ExitBasis::ByVerdict,
    };
    let plan = &made.report.plan;
    if args.shard.is_some() && plan.digest.is_some() {
        // Only the merge decides whether nothing was executed.
        reporting.demands.empty = Gate::Open;
    }
    reporting.report(made.report, causes, &mut screen)
}

/// Reports an invalid command line or invalid inputs. `said` is printed; `marked` is whether annotations and the
/// summary are wanted.
pub(super) fn refused(
    (problems, said): (&[String], &str),
    marked: [Switch; 2],
    context: &Context,
) -> ExitCode {
    let (mut screen, mut made, here) = begin(context, 1);
    context.say(said);
    made.report.source = here.source.clone();
    let causes = problems.iter();
    let causes = causes.map(|problem| Cause::new(Verdict::Invalid, problem));
    report_no_run((made, causes.collect()), (&here, marked), &mut screen)
}

/// Reports why there is no run, to annotations, summary and outputs.
fn report_no_run(
    (made, causes): (CiRun, Vec<Cause>),
    (here, marked): (&CiEnvironment, [Switch; 2]),
    screen: &mut Screen,
) -> ExitCode {
    let reporting = Reporting {
        here,
        misuse: None,
        wishes: options::wishes_of_refused(marked),
        demands: options::NO_DEMANDS,
        flaky: FlakyArgs::default(),
        baseline: &Store::Off,
        update_baseline: &Store::Off,
        secrets: made.secrets,
        built: made.built,
        frames: Frames::None,
        exits: ExitBasis::ByVerdict,
    };
    reporting.report(made.report, causes, screen)
}

/// The option that names the next baseline.
const UPDATE_BASELINE: &str = "--update-baseline";

/// The files that will be written and read.
fn places(
    environment: &Arc<Environment>,
    wishes: &Wishes,
    (baseline, updated): (&Store, &Store),
) -> Places {
    let files = wishes.files.iter();
    let written = files.map(|(format, path)| (option(*format), path.as_path()));
    Places::new(
        environment,
        written,
        baseline.path(),
        (UPDATE_BASELINE, updated.path()),
    )
}

/// Refuses to overwrite a file that is needed, and `-`, because stdout is the job's log.
fn check(places: &Places) -> Result<(), Refusal> {
    let mut written = places.written.iter();
    match written.find(|(_, path)| stream(path).is_some()) {
        None => places.check(),
        Some((by, path)) => Err(Refusal::invalid(format!(
            "`{by} {}` is not a file; stdout is the log of `ci`",
            path.display()
        ))
        .with_help("name a file; `run` writes a report to stdout")),
    }
}

/// Refuses to build a base where no server is started.
fn needs_a_run(baseline: &Store) -> Option<Refusal> {
    let message =
        "`--baseline build` needs `ci` without shards: the base runs beside the whole suite";
    (*baseline == Store::Build).then(|| {
        Refusal::invalid(message).with_help("`--baseline auto` compares with a stored baseline")
    })
}

/// The results of a run, possibly of one that was refused.
struct CiRun {
    report: RunReport,
    secrets: Secrets,
    places: Places,
    /// The baseline of the base that was built here, or why there is none, where that was asked for.
    built: Option<Built>,
}

/// Masks secrets before anything is printed, and reads the CI environment; problems with it go to the report's notes.
fn begin(context: &Context, trials: u32) -> (Screen, CiRun, CiEnvironment) {
    let screen = Screen::new(context, trials, Results::Lines);
    let mut made = CiRun {
        report: RunReport {
            tool: here::tool(&context.environment),
            timing: Timing {
                started_unix_ms: running::now_unix_ms(),
                ..Timing::default()
            },
            ..RunReport::default()
        },
        secrets: sinks::own_secrets(&context.environment),
        places: Places::default(),
        built: None,
    };
    sinks::mask(&made.secrets, &screen);
    let here = here::read(&context.environment, &mut made.report.notes);
    if let Some(system) = here.other_system() {
        screen.note(&format!(
            "this is {system}: no comment, baseline or badge is kept there, because its API is not GitHub's; reports are files"
        ));
    }
    (screen, made, here)
}

/// Loads, plans and runs.
fn make(
    args: &CiArgs,
    typed: &mut RunArgs,
    (context, here): (&Context, &CiEnvironment),
    screen: &mut Screen,
    made: &mut CiRun,
) -> Result<(), Refusal> {
    if args.baseline_prepare.is_some() && args.judging.baseline != Store::Build {
        let message = "`--baseline-prepare` has no use without `--baseline build`";
        return Err(Refusal::invalid(message));
    }
    let allowed = args.dangerously_run_untrusted_head;
    if !allowed {
        let places = typed.suites.iter().chain(&typed.place.fixture);
        untrusted::refuse(here, places.cloned())?;
    }
    let mut planned = None;
    let chosen = match args.shard {
        None => Chosen::ByOptions,
        Some(shard) => {
            let tool = &made.report.tool;
            (made.report.plan, planned) = shard::facts(shard, &args.plan, tool, typed)?;
            // Set even if the shard runs nothing.
            made.report.trials = typed.selection.trials;
            Chosen::ByPlan(made.report.plan.ids.iter().cloned().collect())
        }
    };
    let mut prepared = running::prepare(typed, &chosen, context)?;
    made.secrets = prepared.secrets();
    sinks::mask(&made.secrets, screen);
    if !allowed {
        untrusted::refuse(here, untrusted::made_of(&prepared))?;
    }
    tell(&prepared, screen);
    made.places.files = std::mem::take(&mut prepared.files);
    check(&made.places)?;
    if args.shard.is_some() {
        shard::refuse_changed(
            &mut made.report.plan,
            planned.as_deref(),
            &made.places.files,
        )?;
    }
    prepared.lists_every_target = true;
    shard::refuse_missing(&made.report.plan, &prepared)?;
    if context.asker == Asker::Action && args.isolation == Isolation::Process {
        programs::refuse_missing(&prepared)?;
    }
    if prepared.plan.jobs.is_empty() && !prepared.is_invalid() {
        made.report.left_out = prepared.plan.left_out;
        return Ok(());
    }
    if prepared.needs_engine() {
        // Saved before the first container starts, so that the post step finds it after a kill.
        let label = (engine::STATE, prepared.name.text());
        sinks::save_state(&context.environment, label, screen);
    }
    let ran = run_beside_base(args, typed, (&mut prepared, here), screen, made)?;
    let known = std::mem::replace(&mut made.report, ran);
    made.report.tool = known.tool;
    made.report.plan = known.plan;
    made.report.notes.extend(known.notes);
    Ok(())
}

/// Reports what loading the suites found.
fn tell(prepared: &Prepared, screen: &mut Screen) {
    for problem in &prepared.problems {
        screen.problem(problem);
    }
    let not_applied = not_applied(&prepared.settings);
    for note in prepared.notes.iter().chain(&not_applied) {
        screen.note(note);
    }
}

/// Runs the plan, and beside it the base where that is asked for.
fn run_beside_base(
    args: &CiArgs,
    typed: &RunArgs,
    (prepared, here): (&mut Prepared, &CiEnvironment),
    screen: &mut Screen,
    made: &mut CiRun,
) -> Result<RunReport, Refusal> {
    let context = screen.context.clone();
    let lines = args.baseline_prepare.as_deref();
    let mut base = (args.judging.baseline == Store::Build).then(|| {
        Base::new(
            (typed, lines),
            (&context, here),
            (&prepared.name, &made.places.files),
            screen,
        )
    });
    let beside = base.as_mut().and_then(|base| base.as_mut().ok());
    let beside = beside.map(|base| &mut base.prepared);
    let (ran, compared) = running::execute(prepared, beside, typed, screen)?;
    made.built = base.map(|base| base?.baseline(compared.unwrap_or_default()));
    Ok(ran)
}

/// Notes on settings that only `run` applies. A CI job is configured by its options alone.
fn not_applied(settings: &Settings) -> Vec<String> {
    let threshold = settings.threshold.as_ref();
    let baseline = settings.baseline.as_ref();
    let all = [
        threshold.map(|percent| (format!("threshold: {percent}"), "--threshold")),
        baseline.map(|path| (format!("baseline: {}", path.display()), "--baseline PATH")),
        (!settings.report.is_empty()).then(|| {
            let options = "--junit, --report-json, --markdown, --badge and --sarif";
            ("report".to_owned(), options)
        }),
    ];
    let given = all.into_iter().flatten();
    given
        .map(|(key, options)| {
            format!("`{key}` of the settings is not applied: `ci` takes {options}")
        })
        .collect()
}

/// The suites' names, which identify baseline, comment and badge. Different spellings of one path give one name.
fn suites(typed: &RunArgs, directory: &Path) -> String {
    let names: Vec<String> = typed
        .suites
        .iter()
        .map(|path| clean(&plain(path, directory).to_string_lossy()))
        .collect();
    names.join("\n")
}

/// A path without `.` components, relative to the directory if it is below it.
fn plain<'a>(path: &'a Path, directory: &Path) -> PathBuf {
    let below = path.strip_prefix(directory).unwrap_or(path);
    let is_idle = |part: &Component<'a>| matches!(part, Component::CurDir);
    let plain: PathBuf = below.components().filter(|part| !is_idle(part)).collect();
    if plain.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        plain
    }
}

/// Converts a refusal and each of its next steps into causes: annotations and the summary have nothing else of it.
fn causes_of(refusal: &Refusal) -> Vec<Cause> {
    let cause = cause_of(refusal);
    let steps = refusal.help().iter();
    let steps: Vec<Cause> = steps.map(|help| Cause::new(cause.verdict, help)).collect();
    [vec![cause], steps].concat()
}

/// Converts a refusal into a cause.
fn cause_of(refusal: &Refusal) -> Cause {
    let verdict = match refusal.code {
        ExitCode::Interrupted => Verdict::Interrupted,
        ExitCode::Invalid => Verdict::Invalid,
        ExitCode::CouldNotRun => Verdict::Error,
        ExitCode::NothingSelected => Verdict::Empty,
        ExitCode::Failed | ExitCode::Passed => Verdict::Fail,
    };
    Cause::new(verdict, &refusal.message)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::plain;

    #[test]
    fn a_suite_has_one_name_however_it_is_spelt() {
        let case = |path: &str, wanted: &str| {
            let name = plain(Path::new(path), Path::new("/w"));
            assert_eq!(name.to_string_lossy(), wanted, "{path}");
        };
        for same in [
            "evals",
            "./evals",
            "evals/",
            "evals//",
            "evals/.",
            "/w/evals/",
        ] {
            case(same, "evals");
        }
        case("a/./b//c.yaml", "a/b/c.yaml");
        case("../evals", "../evals");
        case("/other/evals/", "/other/evals");
        case("/workshop", "/workshop");
        case(".", ".");
        case("/w", ".");
    }
}
