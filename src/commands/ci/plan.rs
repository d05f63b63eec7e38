//! `mcp-assert ci plan`: divides the selected assertions into shards and writes the plan. Starts no server.

use std::{collections::BTreeMap, io::Write, path::Path, time::Duration};

use serde_json::json;

use super::{
    CiRun, UPDATE_BASELINE, begin, causes_of, check, here, needs_a_run, options, remote,
    report_no_run, shard, sinks, suites, untrusted,
};
use crate::{
    cli::{
        ci::{PlanArgs, Store, Switch},
        options::Jobs,
        run::RunArgs,
    },
    commands::{
        Context,
        running::{self, Chosen, Prepared, Refusal, Screen, baseline, places::Places},
    },
    deliver::{self, Destination, bounds::Bounds, facts::CiEnvironment, stdout::Stdout},
};
use report::{
    ProblemSeverity, RunReport,
    plan_file::{PlanFile, PlannedPlace, PlannedShard},
    recorder::{Keep, Recorder},
    verdict::{Cause, Verdict},
};
use suite::plan::{
    division::{self, Load},
    job::Work,
};
use text::{count, environment::Environment, exit::ExitCode};

/// The assumed duration if no assertion of the suite was ever measured, in microseconds.
const UNKNOWN_US: u64 = 1_000_000;

/// The most problems listed as causes; the log has all.
const MOST_NAMED: usize = 10;

/// Writes the plan, or reports why not.
pub(super) fn plan(args: &PlanArgs, context: &Context) -> ExitCode {
    let typed = options::selected(&args.suites);
    let (mut screen, mut made, here) = begin(context, typed.selection.trials);
    for note in std::mem::take(&mut made.report.notes) {
        screen.note(&note);
    }
    let planned = divide(args, &typed, (context, &here), &mut screen, &mut made)
        .and_then(|plan| write(args, &plan, &context.environment, &mut screen));
    let Err(refusal) = planned else {
        return ExitCode::Passed;
    };
    let mut causes = causes_of(&refusal);
    causes.extend(problems(&made.report));
    let code = refusal.say(context);
    if !has_runner(&context.environment) {
        return code;
    }
    made.report.source = here.source.clone();
    made.report.source.suite = Some(suites(&typed, &context.environment.directory));
    report_no_run((made, causes), (&here, [Switch::Auto; 2]), &mut screen)
}

/// The suites' errors as causes.
fn problems(report: &RunReport) -> Vec<Cause> {
    let errors = report.problems.iter();
    let errors = errors.filter(|it| it.severity == ProblemSeverity::Error);
    let told = errors.take(MOST_NAMED).map(|problem| {
        let what = problem.text.lines().next().unwrap_or_default();
        let at = match (&problem.file, problem.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            (Some(file), None) => format!("{file}: "),
            (None, _) => String::new(),
        };
        Cause::new(Verdict::Invalid, &(at + what))
    });
    told.collect()
}

/// Whether the step has outputs or a summary.
fn has_runner(environment: &Environment) -> bool {
    ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"]
        .iter()
        .any(|name| environment.set(name).is_some())
}

/// Loads the suites and divides the selected assertions. Problems are left in `made`.
fn divide(
    args: &PlanArgs,
    typed: &RunArgs,
    (context, here): (&Context, &CiEnvironment),
    screen: &mut Screen,
    made: &mut CiRun,
) -> Result<PlanFile, Refusal> {
    if !args.dangerously_run_untrusted_head {
        untrusted::refuse(here, typed.suites.iter().cloned())?;
    }
    if let Some(refusal) = needs_a_run(&args.baseline) {
        return Err(refusal);
    }
    let prepared = running::prepare(typed, &Chosen::ToDivide, context)?;
    made.secrets = prepared.secrets();
    sinks::mask(&made.secrets, screen);
    for problem in &prepared.problems {
        screen.problem(problem);
    }
    for note in &prepared.notes {
        screen.note(note);
    }
    let report = std::mem::take(&mut made.report);
    let mut recorder = Recorder::new(report, made.secrets.clone(), Keep::Red);
    for problem in &prepared.problems {
        recorder.problem(problem);
    }
    made.report = recorder.finish(Duration::ZERO);
    let written = [("--plan", &*args.plan)];
    let renewal = (UPDATE_BASELINE, None);
    let mut places = Places::new(&context.environment, written, args.baseline.path(), renewal);
    places.files.clone_from(&prepared.files);
    check(&places)?;
    let suite = suites(typed, &context.environment.directory);
    let known = durations(args, here, &suite, screen)?;
    make(args, &prepared, (suite, &known), context)
}

/// Known durations of assertions, from the data branch or a baseline file.
fn durations(
    args: &PlanArgs,
    here: &CiEnvironment,
    suite: &str,
    screen: &Screen,
) -> Result<BTreeMap<String, u64>, Refusal> {
    match &args.baseline {
        Store::Auto => Ok(remote::durations(here, &args.badge_branch, suite, screen)),
        Store::Off | Store::Build => Ok(BTreeMap::new()),
        Store::Path(path) => {
            let surroundings = (Path::new(""), &screen.context.interrupts);
            let known = baseline::read(path, (UPDATE_BASELINE, None), surroundings)?;
            Ok(known.map_or_else(BTreeMap::new, |(_, baseline)| baseline.durations()))
        }
    }
}

/// Divides the selected assertions.
fn make(
    args: &PlanArgs,
    prepared: &Prepared,
    (suite, known): (String, &BTreeMap<String, u64>),
    context: &Context,
) -> Result<PlanFile, Refusal> {
    if prepared.is_invalid() {
        return Err(Refusal::invalid(
            "nothing is planned: the suite has problems",
        ));
    }
    let expected = expected(prepared, known);
    let loads: Vec<Load<'_>> = expected
        .iter()
        .map(|(id, duration_us)| Load {
            id,
            duration_us: *duration_us,
        })
        .collect();
    let stands = stands(prepared);
    let jobs = match args.jobs {
        Jobs::Auto => prepared.environment.cores,
        Jobs::Exactly(jobs) => jobs,
    };
    let shards = match args.shards {
        Some(shards) => shards as usize,
        None => division::number_of_shards(
            &loads,
            jobs,
            u64::try_from(args.target_duration.as_micros()).unwrap_or(u64::MAX),
            args.max_shards as usize,
        ),
    };
    let shards = division::divide(&loads, shards)
        .into_iter()
        .map(|part| PlannedShard {
            ids: part
                .places
                .iter()
                .map(|place| loads[*place].id.to_owned())
                .collect(),
            places: part
                .places
                .iter()
                .filter_map(|place| stands.get(loads[*place].id).cloned())
                .collect(),
            planned_us: part.duration_us,
        });
    let plan = PlanFile {
        tool: here::tool(&context.environment),
        suite,
        trials: args.suites.selection.trials,
        left_out: prepared.plan.left_out,
        files: Some(shard::files(&prepared.files)),
        shards: shards.collect(),
        ..PlanFile::default()
    };
    Ok(plan.sealed())
}

/// The file and line of each assertion.
fn stands(prepared: &Prepared) -> BTreeMap<&str, PlannedPlace> {
    let jobs = prepared.plan.jobs.iter();
    jobs.map(|job| {
        let origin = &job.case.origin;
        let place = PlannedPlace(origin.file.path.to_string(), origin.position().line);
        (job.case.id.as_str(), place)
    })
    .collect()
}

/// The expected duration of each assertion over all trials: as measured, else the median of the suite, else one second.
/// Skipped assertions take no time.
fn expected(prepared: &Prepared, known: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let jobs = &prepared.plan.jobs;
    let mut measured: Vec<u64> = jobs
        .iter()
        .filter(|job| job.trial == 1)
        .filter_map(|job| known.get(&job.case.id).copied())
        .collect();
    measured.sort_unstable();
    let middle = measured.get(measured.len().saturating_sub(1) / 2);
    let usual = middle.copied().unwrap_or(UNKNOWN_US);
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for job in jobs {
        let duration = match &job.work {
            Work::Run(_) => known.get(&job.case.id).copied().unwrap_or(usual),
            Work::Skip(_) | Work::Invalid(_) => 0,
        };
        let sum = expected.entry(job.case.id.clone()).or_default();
        *sum = sum.saturating_add(duration);
    }
    expected
}

/// Writes the plan and prints the step's outputs.
fn write(
    args: &PlanArgs,
    plan: &PlanFile,
    environment: &Environment,
    screen: &mut Screen,
) -> Result<(), Refusal> {
    let cannot = |problem: String| Refusal::new(ExitCode::CouldNotRun, problem);
    let place = Destination::Within(Bounds::of(environment), args.plan.clone());
    deliver::write(&place, &plan.render(), &mut screen.stdout)
        .map_err(|error| cannot(error.to_string()))?;
    sinks::append_outputs(environment, &outputs(plan), screen);
    print(plan, &mut screen.stdout)
        .map_err(|error| cannot(format!("cannot write to stdout: {error}")))
}

fn print(plan: &PlanFile, out: &mut Stdout) -> std::io::Result<()> {
    for (index, shard) in plan.shards.iter().enumerate() {
        writeln!(
            out,
            "shard {}/{}: {}, {:.1}s",
            index + 1,
            plan.shards.len(),
            count(shard.ids.len(), "assertion"),
            Duration::from_micros(shard.planned_us).as_secs_f64(),
        )?;
    }
    for (name, value) in outputs(plan) {
        writeln!(out, "{name}={value}")?;
    }
    out.flush()
}

/// The outputs for the next jobs, which contain no user text.
fn outputs(plan: &PlanFile) -> [(&'static str, String); 3] {
    let of = plan.shards.len();
    let include: Vec<_> = (1..=of)
        .map(|shard| json!({"shard": shard, "of": of, "title": format!("{shard}/{of}")}))
        .collect();
    [
        ("shards", of.to_string()),
        ("matrix", json!({ "include": include }).to_string()),
        ("plan-digest", plan.digest.clone()),
    ]
}
