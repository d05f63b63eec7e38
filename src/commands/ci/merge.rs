//! `mcp-assert ci merge`: judges and reports merged shard results or one stored run. Starts no server.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    artifacts, begin, cause_of, check, needs_a_run, options, places,
    reporting::{ExitBasis, Reporting},
};
use crate::{
    cli::ci::{MergeArgs, Store},
    commands::{Context, running::places::option},
    deliver::facts::CiEnvironment,
};
use report::{
    Format, RunReport,
    failure::Frames,
    merge::{self, Blobs, Merged, Needs},
    source::{Source, workflow_file},
    verdict::{Cause, Demands, Gate, Verdict},
};
use text::exit::ExitCode;

/// Reads the results, checks that they are complete, and reports them.
pub(super) fn merge(args: &MergeArgs, context: &Context) -> ExitCode {
    let (mut screen, made, here) = begin(context, 1);
    for note in &made.report.notes {
        screen.note(note);
    }
    let of_another = here.reports_another_run();
    // Removes a trailing slash, which would follow a link.
    let blobs: PathBuf = args.blobs.components().collect();
    let one_run = is_one_run(&blobs, of_another);
    let mut merged = if one_run {
        whole_run(&blobs)
    } else {
        from_shards(args, &here)
    };
    if merged.report.tool.version.is_empty() {
        merged.report.tool = made.report.tool;
    }
    if of_another {
        merged.report.source = source_from_event(&here, merged.report.source);
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
        // The run may be written back to the same file.
        let again = Some(option(Format::RunJson));
        places.read.push(("--blobs", args.blobs.clone(), again));
    } else {
        places.read.push(("--plan", args.plan.clone(), None));
        places.blobs = Some(args.blobs.clone());
    }
    let clash = check(&places).err();
    let misuse = clash.or_else(|| needs_a_run(&args.judging.baseline));
    let misuse = misuse.map(|refusal| cause_of(&refusal));
    if misuse.is_some() {
        wishes.files.clear();
        update_baseline = &Store::Off;
    }
    let reporting = Reporting {
        here: &here,
        misuse,
        wishes,
        demands,
        flaky: args.judging.flaky,
        baseline: &args.judging.baseline,
        update_baseline,
        secrets: made.secrets,
        built: None,
        frames: Frames::Last,
        exits: if only_tells {
            ExitBasis::ByReporting
        } else {
            ExitBasis::ByVerdict
        },
    };
    reporting.report(merged.report, merged.causes, &mut screen)
}

/// Whether `--blobs` is one stored run and not a folder of shard results. A missing path is a run if its name says so,
/// or if this workflow reports on another one, whose plan is not trusted.
fn is_one_run(path: &Path, of_another: bool) -> bool {
    // A link counts as a file, which is then refused.
    match fs::symlink_metadata(path) {
        Ok(found) => !found.is_dir(),
        Err(_) => of_another || path.extension().is_some_and(|it| it == "json"),
    }
}

/// Reads one stored run.
fn whole_run(path: &Path) -> Merged {
    let (report, causes) = match artifacts::run(path) {
        Ok(report) => (report, Vec::new()),
        Err(cause) => (RunReport::default(), vec![cause]),
    };
    Merged { report, causes }
}

/// The source of another workflow's run. Its file is not trusted: only the names of suite, job and folder are taken
/// from it, because the event lacks them.
fn source_from_event(here: &CiEnvironment, told: Source) -> Source {
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

/// The demands on the merged run; causes of a stored run are added to `merged`.
fn demands(args: &MergeArgs, one_run: bool, merged: &mut Merged) -> Demands {
    let mut demands = options::demands(&args.judging);
    if one_run && !merged.causes.is_empty() {
        // It is unknown whether anything was executed.
        demands.empty = Gate::Open;
    }
    // A stored run was judged by its own job. Demands made here can only make the verdict worse.
    if let Some(judgement) = &merged.report.judgement {
        merged.causes.extend(judgement.causes.iter().cloned());
        let given = args.judging.threshold.map_or(0, |it| it.hundredths);
        demands.threshold = given.max(judgement.threshold);
        demands.empty = Gate::Open;
    }
    demands
}

/// Merges the shards' results.
fn from_shards(args: &MergeArgs, here: &CiEnvironment) -> Merged {
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

/// The source of the merged run: this job, and the revision that the shards tested.
fn source(here: &CiEnvironment, shards: &Source, suite: &str) -> Source {
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
