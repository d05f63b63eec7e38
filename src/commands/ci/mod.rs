//! `mcp-assert ci`: run, compare, judge, and tell it everywhere. Whatever happens on the way becomes a cause of the
//! verdict, so that the sinks hear of a suite that cannot be read as they hear of a failure.

mod artifacts;
mod here;
mod merge;
mod options;
mod plan;
mod remote;
mod shard;
mod sinks;
mod telling;
mod untrusted;

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use self::telling::{Exits, Telling};
use super::{
    Context,
    running::{
        self, Chosen, Refusal, Screen, engine,
        places::{Places, option},
    },
};
use crate::{
    cli::{
        ci::{CiArgs, CiVerb, Store},
        options::Isolation,
        run::RunArgs,
    },
    deliver::{
        facts::{Here, Wanted, Wishes},
        stream::stream,
    },
    terminal::live::Results,
};
use report::{
    RunReport,
    failure::Frames,
    verdict::{Cause, Gate, Verdict},
};
use suite::settings::Settings;
use text::{clean, environment::Environment, exit::ExitCode, redact::Secrets};

/// Which of the sinks that the runner offers are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marked {
    /// Marks in the log.
    pub(super) annotations: Wanted,
    /// The step summary.
    pub(super) summary: Wanted,
}

impl Marked {
    /// Both.
    pub(super) const ALL: Self = Self {
        annotations: Wanted::Yes,
        summary: Wanted::Yes,
    };
}

/// Carries out `ci` or what is below it.
pub(super) fn ci(args: &CiArgs, context: &Context) -> ExitCode {
    context.interrupts.listen();
    match &args.verb {
        None => run(args, context),
        Some(CiVerb::Plan(args)) => plan::plan(args, context),
        Some(CiVerb::Merge(args)) => merge::merge(args, context),
    }
}

/// Runs the suites, or one shard of them, and tells of it.
fn run(args: &CiArgs, context: &Context) -> ExitCode {
    let mut typed = options::run_args(args);
    let mut screen = Screen::new(context, typed.selection.trials, Results::Lines);
    let mut made = Made::by(&context.environment);
    sinks::mask(&made.secrets, &screen);
    let mut notes = Vec::new();
    // What is noted stands in the report, which is shown.
    let here = here::read(&context.environment, &context.interrupts, &mut notes);
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
    causes.extend(made_it.err().map(|refusal| {
        let cause = cause_of(&refusal);
        refusal.say(context);
        cause
    }));
    if let Err(clash) = check(&made.places) {
        // Whatever else kept it from running: of these files nobody can say which are to be lost.
        wishes.files.clear();
        update_baseline = &Store::Off;
        causes.push(cause_of(&clash));
    }
    made.report.source = here.source.clone();
    made.report.source.suite = Some(suites(&typed, &context.environment.directory));
    made.report.notes.append(&mut notes);
    let mut telling = Telling {
        here: &here,
        misuse: None,
        wishes,
        demands: options::demands(&args.judging),
        baseline: &args.judging.baseline,
        update_baseline,
        secrets: made.secrets,
        frames: if args.verbose {
            Frames::All
        } else {
            Frames::Last
        },
        exits: Exits::ByVerdict,
    };
    let plan = &made.report.plan;
    if args.shard.is_some() && plan.digest.is_some() {
        // That nothing is executed is said of the whole run, by the merge.
        telling.demands.empty = Gate::Open;
    }
    telling.tell(made.report, causes, &mut screen)
}

/// Tells the sinks that need no options of a command line or of inputs that cannot be used; `said` is what people are told.
pub(super) fn refused(
    (problem, said): (&str, &str),
    marked: Marked,
    context: &Context,
) -> ExitCode {
    let mut screen = Screen::new(context, 1, Results::Lines);
    let mut made = Made::by(&context.environment);
    sinks::mask(&made.secrets, &screen);
    context.say(said);
    let here = here::read(
        &context.environment,
        &context.interrupts,
        &mut made.report.notes,
    );
    made.report.source = here.source.clone();
    let cause = Cause::new(Verdict::Invalid, problem);
    tell_of_none((made, vec![cause]), (&here, marked), &mut screen)
}

/// Tells why there is no run, to the sinks that need none.
fn tell_of_none(
    (made, causes): (Made, Vec<Cause>),
    (here, marked): (&Here, Marked),
    screen: &mut Screen,
) -> ExitCode {
    let telling = Telling {
        here,
        misuse: None,
        wishes: options::wishes_of_refused(marked),
        demands: options::NO_DEMANDS,
        baseline: &Store::Off,
        update_baseline: &Store::Off,
        secrets: made.secrets,
        frames: Frames::None,
        exits: Exits::ByVerdict,
    };
    telling.tell(made.report, causes, screen)
}

/// The option that names the next baseline.
const UPDATE_BASELINE: &str = "--update-baseline";

/// What is written for these wishes, and the baseline.
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

/// Refuses a file that would be lost, and `-`: standard output is the log of the job.
fn check(places: &Places) -> Result<(), Refusal> {
    let mut written = places.written.iter();
    match written.find(|(_, path)| stream(path).is_some()) {
        None => places.check(),
        Some((by, path)) => Err(Refusal::invalid(format!(
            "`{by} {}` is no file, and stdout is the log of `ci`",
            path.display()
        ))
        .with_help("name a file; `run` writes a report to stdout")),
    }
}

/// What a run left behind, also one that was refused.
struct Made {
    report: RunReport,
    secrets: Secrets,
    places: Places,
}

impl Made {
    /// Nothing yet, by this executable.
    fn by(environment: &Environment) -> Self {
        Self {
            report: RunReport {
                tool: here::tool(environment),
                started_unix_ms: running::now_unix_ms(),
                ..RunReport::default()
            },
            secrets: sinks::own_secrets(environment),
            places: Places::default(),
        }
    }
}

/// Loads, plans and runs.
fn make(
    args: &CiArgs,
    typed: &mut RunArgs,
    (context, here): (&Context, &Here),
    screen: &mut Screen,
    made: &mut Made,
) -> Result<(), Refusal> {
    let allowed = args.dangerously_run_untrusted_head;
    if !allowed {
        let places = typed.suites.iter().chain(&typed.place.fixture);
        untrusted::refuse(here, places.cloned())?;
    }
    let mut planned = shard::Planned::default();
    let chosen = match &args.shard {
        None => Chosen::ByOptions,
        Some(text) => {
            shard::refuse_useless(args)?;
            let tool = &made.report.tool;
            (made.report.plan, planned) = shard::facts(text, &args.plan, tool, typed)?;
            // Also of a shard that has nothing to run.
            made.report.trials = typed.selection.trials;
            Chosen::ByPlan(made.report.plan.ids.iter().cloned().collect())
        }
    };
    refuse_containers(args)?;
    let mut prepared = running::prepare(typed, &chosen, context)?;
    made.secrets = prepared.secrets();
    sinks::mask(&made.secrets, screen);
    if !allowed {
        untrusted::refuse(here, untrusted::made_of(&prepared))?;
    }
    for problem in &prepared.problems {
        screen.problem(problem);
    }
    for note in prepared
        .notes
        .iter()
        .chain(&not_applied(&prepared.settings))
    {
        screen.note(note);
    }
    made.places.files = std::mem::take(&mut prepared.files);
    check(&made.places)?;
    if args.shard.is_some() {
        shard::refuse_changed(&mut made.report.plan, &planned, &made.places.files)?;
    }
    prepared.lists_every_target = true;
    shard::refuse_misplaced(&made.report.plan, &planned, &prepared)?;
    if prepared.plan.jobs.is_empty() && !prepared.is_invalid() {
        made.report.left_out = prepared.plan.left_out;
        return Ok(());
    }
    if prepared.needs_engine() {
        // Before the first container: whoever kills us kills no container.
        let label = (engine::STATE, prepared.name.text());
        sinks::save_state(&context.environment, label, screen);
    }
    let ran = running::execute(&mut prepared, typed, screen)?;
    let known = std::mem::replace(&mut made.report, ran);
    made.report.tool = known.tool;
    made.report.plan = known.plan;
    Ok(())
}

/// What the settings say to `run`. A job is told by its options, which have defaults of their own: what they are worth
/// must not depend on a file that the job's author may not know.
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

/// The suites by their names, which stand for their baseline, comment and badge: one name, however it was spelt.
fn suites(typed: &RunArgs, directory: &Path) -> String {
    let names: Vec<String> = typed
        .suites
        .iter()
        .map(|path| clean(&plain(path, directory).to_string_lossy()))
        .collect();
    names.join("\n")
}

/// A path without what changes nothing, relative to the directory where it leads below it.
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

/// What is about containers needs them, and nothing else is taken for them.
fn refuse_containers(args: &CiArgs) -> Result<(), Refusal> {
    let only_there = [
        ("--image", args.image.is_some()),
        ("--prepare", args.place.prepare.is_some()),
        ("--docker-host", args.place.docker_host.is_some()),
    ];
    let given = only_there.iter().find(|(_, given)| *given);
    match (args.isolation, given) {
        (Isolation::Process, Some((name, _))) => Err(Refusal::invalid(format!(
            "`{name}` is about containers, and `--isolation process` was asked for"
        ))),
        (Isolation::Process, None) | (Isolation::Container, _) => Ok(()),
    }
}

/// The cause that a refusal is.
fn cause_of(refusal: &Refusal) -> Cause {
    let verdict = match refusal.code() {
        ExitCode::Interrupted => Verdict::Interrupted,
        ExitCode::Invalid => Verdict::Invalid,
        ExitCode::CouldNotRun => Verdict::Error,
        ExitCode::NothingSelected => Verdict::Empty,
        ExitCode::Failed | ExitCode::Passed => Verdict::Fail,
    };
    Cause::new(verdict, refusal.message())
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
