//! `mcp-assert ci merge`: the shards' results, or one whole run, judged and told again. Starts no server.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    artifacts, cause_of, check, here, options, places, sinks,
    telling::{Exits, Telling},
};
use crate::{
    cli::ci::{MergeArgs, Store},
    commands::{
        Context,
        running::{Screen, places::option},
    },
    deliver::facts::Here,
    terminal::live::Results,
};
use report::{
    Format, RunReport,
    failure::Frames,
    merge::{self, Blobs, Merged, Needs},
    source::{Source, workflow_file},
    verdict::{Cause, Demands, Gate, Verdict},
};
use text::exit::ExitCode;

/// Reads, proves, judges, tells.
pub(super) fn merge(args: &MergeArgs, context: &Context) -> ExitCode {
    let mut screen = Screen::new(context, 1, Results::Lines);
    let secrets = sinks::own_secrets(&context.environment);
    sinks::mask(&secrets, &screen);
    let mut notes = Vec::new();
    let here = here::read(&context.environment, &context.interrupts, &mut notes);
    for note in &notes {
        screen.note(note);
    }
    let of_another = here.tells_of_another();
    // With a slash behind it a link would be what it leads to.
    let blobs: PathBuf = args.blobs.components().collect();
    let one_run = is_one_run(&blobs, of_another);
    let mut merged = if one_run {
        whole_run(&blobs)
    } else {
        from_shards(args, &here)
    };
    if merged.report.tool.version.is_empty() {
        merged.report.tool = here::tool(&context.environment);
    }
    if of_another {
        merged.report.source = told_by_event(&here, merged.report.source);
    }
    let only_tells = one_run && merged.causes.is_empty() && of_another;
    let demands = demands(args, one_run, &mut merged);
    let (mut wishes, mut update_baseline) = (
        options::wishes(&args.reporting, &args.judging, &context.environment),
        &args.judging.update_baseline,
    );
    let stores = (&args.judging.baseline, update_baseline);
    let mut places = places(&context.environment, &wishes, stores);
    if one_run {
        // It may be stored where it is.
        let again = Some(option(Format::RunJson));
        places.read.push(("--blobs", args.blobs.clone(), again));
    } else {
        places.read.push(("--plan", args.plan.clone(), None));
        places.blobs = Some(args.blobs.clone());
    }
    let misuse = check(&places).err().map(|clash| cause_of(&clash));
    if misuse.is_some() {
        wishes.files.clear();
        update_baseline = &Store::Off;
    }
    let telling = Telling {
        here: &here,
        misuse,
        wishes,
        demands,
        baseline: &args.judging.baseline,
        update_baseline,
        secrets,
        frames: Frames::Last,
        exits: if only_tells {
            Exits::ByTelling
        } else {
            Exits::ByVerdict
        },
    };
    telling.tell(merged.report, merged.causes, &mut screen)
}

/// Whether one stored run is meant and not the folder of the shards' results. Of what is not there the name says so, or
/// that this workflow tells of another one, whose plan is a stranger's and has no say.
fn is_one_run(path: &Path, of_another: bool) -> bool {
    // What a link leads to is not looked at: the link is refused, as one in the place of a file.
    match fs::symlink_metadata(path) {
        Ok(found) => !found.is_dir(),
        Err(_) => of_another || path.extension().is_some_and(|it| it == "json"),
    }
}

/// One run as it was stored.
fn whole_run(path: &Path) -> Merged {
    let (report, causes) = match artifacts::run(path) {
        Ok(report) => (report, Vec::new()),
        Err(cause) => (RunReport::default(), vec![cause]),
    };
    Merged { report, causes }
}

/// Where a run of another workflow is from. What its file says may be a stranger's words: only what names the suite is
/// taken over, because the event does not know it, and nothing that a link leads to.
fn told_by_event(here: &Here, told: Source) -> Source {
    let of_run = |pointer: &str| here.event.pointer(&format!("/workflow_run/{pointer}"));
    let text = |pointer: &str| of_run(pointer)?.as_str().map(str::to_owned);
    let number = |pointer: &str| of_run(pointer)?.as_u64();
    Source {
        server: here.source.server.clone(),
        folder: told.folder,
        repository: text("head_repository/full_name"),
        sha: text("head_sha"),
        head_sha: text("head_sha"),
        reference: text("head_branch").map(|branch| format!("refs/heads/{branch}")),
        event: text("event"),
        pull_request: None,
        workflow: text("path").map(|path| workflow_file(&path).to_owned()),
        job: told.job,
        run: number("id"),
        attempt: number("run_attempt"),
        suite: told.suite,
    }
}

/// What is asked of the run, beside the causes that it was stored with.
fn demands(args: &MergeArgs, one_run: bool, merged: &mut Merged) -> Demands {
    let mut demands = options::demands(&args.judging);
    if one_run && !merged.causes.is_empty() {
        // Whether it executed anything, nobody knows.
        demands.empty = Gate::Open;
    }
    // A stored run has its verdict, by what its own job asked for. What is asked for here is asked besides: it can make the
    // verdict worse, and never better.
    if let Some(judgement) = &merged.report.judgement {
        merged.causes.extend(judgement.causes.iter().cloned());
        let given = args.judging.threshold.map_or(0, |it| it.hundredths);
        demands.threshold = given.max(judgement.threshold);
        demands.empty = Gate::Open;
    }
    demands
}

/// The shards' results put together.
fn from_shards(args: &MergeArgs, here: &Here) -> Merged {
    let needs = args.needs.as_deref().map(Needs::parse);
    let plan = artifacts::plan(&args.plan);
    let found = artifacts::folder(&args.blobs);
    let mut merged = match &plan {
        Ok(plan) => {
            let mut merged = merge::merge(plan, found.blobs);
            merged.report.source = source(here, &merged.report.source, &plan.suite);
            merged
        }
        Err(cause) => Merged {
            report: RunReport {
                source: here.source.clone(),
                ..RunReport::default()
            },
            causes: vec![cause.clone()],
        },
    };
    merged.causes.extend(found.causes);
    match needs {
        None => {}
        Some(Err(problem)) => {
            let text = format!("`--needs` cannot be read: {problem}");
            merged.causes.push(Cause::new(Verdict::Invalid, &text));
        }
        Some(Ok(needs)) => {
            let green = merged.causes.is_empty() && !merged.report.tally().is_red();
            let blobs = if green {
                Blobs::CompleteAndGreen
            } else {
                Blobs::Otherwise
            };
            let causes = needs.causes(plan.as_ref().ok(), blobs);
            merged.causes.extend(causes);
        }
    }
    merged
}

/// Where the merged run is from: this job of the workflow, and the revision that the shards tested.
fn source(here: &Here, shards: &Source, suite: &str) -> Source {
    let own = here.source.clone();
    Source {
        server: own.server.or_else(|| shards.server.clone()),
        folder: shards.folder.clone().or(own.folder),
        repository: own.repository.or_else(|| shards.repository.clone()),
        sha: shards.sha.clone().or(own.sha),
        head_sha: own.head_sha.or_else(|| shards.head_sha.clone()),
        reference: own.reference.or_else(|| shards.reference.clone()),
        event: own.event.or_else(|| shards.event.clone()),
        pull_request: own.pull_request.or(shards.pull_request),
        workflow: own.workflow.or_else(|| shards.workflow.clone()),
        job: own.job.or_else(|| shards.job.clone()),
        run: own.run.or(shards.run),
        attempt: own.attempt.or(shards.attempt),
        suite: Some(suite.to_owned()),
    }
}
