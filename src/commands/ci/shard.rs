//! One shard of a plan: what it is to run, and whether the suites still have it.

use std::{collections::BTreeMap, path::Path};

use super::artifacts;
use crate::{
    cli::{
        ci::{CiArgs, JudgingArgs, Store},
        run::RunArgs,
    },
    commands::running::{Prepared, Refusal, enumerated},
};
use report::{
    Tool,
    plan_file::{PlannedFile, PlannedPlace, suites_digest},
    run_json::PlanFacts,
};
use suite::{discover::Files, plan::shard::Shard};
use text::{count, name};

/// What a plan is of, as the suites are found.
pub(super) fn files(found: &Files) -> Vec<PlannedFile> {
    let files = found.read().iter();
    files
        .map(|file| PlannedFile(file.path.clone(), file.sha256.clone()))
        .collect()
}

/// What a shard has to find as it was planned.
#[derive(Debug, Default)]
pub(super) struct Planned {
    /// What the suites are made of, where the plan says so.
    files: Option<Vec<PlannedFile>>,
    /// Where each of the shard's assertions stands.
    places: Vec<PlannedPlace>,
}

/// The facts of shard `K/N`, and what it is planned for; its trials are the plan's.
pub(super) fn facts(
    text: &str,
    path: &Path,
    tool: &Tool,
    typed: &mut RunArgs,
) -> Result<(PlanFacts, Planned), Refusal> {
    let shard = Shard::from_text(text).map_err(|error| Refusal::invalid(error.to_string()))?;
    let plan = artifacts::plan(path).map_err(|cause| {
        Refusal::invalid(cause.text).with_help("`mcp-assert ci plan` writes it")
    })?;
    if plan.shards.len() != shard.of() {
        return Err(Refusal::invalid(format!(
            "the plan has {}, not {}",
            count(plan.shards.len(), "shard"),
            shard.of()
        )));
    }
    if plan.tool != *tool {
        return Err(
            Refusal::invalid("the plan was made by another executable than this one")
                .with_help("plan, shards and merge need the same version"),
        );
    }
    let part = plan.shards.into_iter().nth(shard.number() - 1);
    let part = part.unwrap_or_default();
    if typed.selection.trials != 1 && typed.selection.trials != plan.trials {
        return Err(Refusal::invalid(format!(
            "the plan has {} of each assertion, not {}",
            count(plan.trials as usize, "trial"),
            typed.selection.trials
        )));
    }
    typed.selection.trials = plan.trials;
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let facts = PlanFacts {
        digest: Some(plan.digest),
        suites: None,
        shard: small(shard.number()),
        of: small(shard.of()),
        ids: part.ids,
        planned_us: part.planned_us,
    };
    let planned = Planned {
        files: plan.files,
        places: part.places,
    };
    Ok((facts, planned))
}

/// What was asked of a shard that only the plan decides, or only the merge can do.
pub(super) fn refuse_useless(args: &CiArgs) -> Result<(), Refusal> {
    let JudgingArgs {
        threshold: _,
        baseline,
        update_baseline,
        fail_on_regression,
        fail_on_breaking,
        allow_empty: _,
    } = &args.judging;
    let asks = |store: &Store| matches!(store, Store::Path(_));
    let of_plan = [
        ("--filter", !args.suites.selection.filter.is_empty()),
        ("--tags", !args.suites.tags.is_empty()),
    ];
    let of_merge = [
        ("--baseline", asks(baseline)),
        ("--update-baseline", *update_baseline != Store::Off),
        ("--fail-on-regression", *fail_on_regression),
        ("--fail-on-breaking", *fail_on_breaking),
    ];
    let given = |options: &[(&'static str, bool)]| {
        let given = options.iter().find(|(_, given)| *given);
        given.map(|(name, _)| *name)
    };
    let (name, help) = match (given(&of_plan), given(&of_merge)) {
        (Some(name), _) => (name, "the plan says what runs: give it to `ci plan`"),
        (None, Some(name)) => (name, "it is about the whole run: give it to `ci merge`"),
        (None, None) => return Ok(()),
    };
    Err(Refusal::invalid(format!("`{name}` has no use with `--shard`")).with_help(help))
}

/// Suites that are not made of what was planned are an error: they may hold assertions that no shard runs, or others
/// under the same names. What was read is noted in the facts, for the merge.
pub(super) fn refuse_changed(
    facts: &mut PlanFacts,
    planned: &Planned,
    found: &Files,
) -> Result<(), Refusal> {
    let found = files(found);
    facts.suites = Some(suites_digest(&found));
    let planned = planned.files.as_deref();
    let Some(planned) = planned.filter(|planned| **planned != *found) else {
        return Ok(());
    };
    let (gone, new) = (beyond(planned, &found), beyond(&found, planned));
    let mut changes: BTreeMap<&str, &str> = gone.iter().map(|path| (*path, "is gone")).collect();
    for path in new {
        let change = changes.entry(path).or_insert("is new");
        if *change == "is gone" {
            *change = "differs";
        }
    }
    if changes.is_empty() {
        return Err(of_other_suites("they stand in another order"));
    }
    let changes = changes
        .into_iter()
        .map(|(path, change)| format!("`{}` {change}", name(path)));
    Err(of_other_suites(&enumerated(&changes.collect::<Vec<_>>())))
}

/// The plan is not of what was found.
fn of_other_suites(difference: &str) -> Refusal {
    Refusal::invalid(format!("the plan is of other suites: {difference}")).with_help(
        "`ci plan`, the shards and `ci merge` need the same files and the same `--suite`, in the same order",
    )
}

/// The paths of what one list has and another has not, or not as often.
fn beyond<'a>(one: &'a [PlannedFile], other: &[PlannedFile]) -> Vec<&'a str> {
    let mut left: BTreeMap<&PlannedFile, usize> = BTreeMap::new();
    for file in other {
        *left.entry(file).or_default() += 1;
    }
    let alone = one.iter().filter(|file| match left.get_mut(file) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    });
    alone.map(|file| file.0.as_str()).collect()
}

/// An assertion that was planned and is in no suite any more, or in another file, is an error: the plan is of other
/// suites. Two suites may hold the same text, so that their files do not show it. Lines are not compared: where a
/// problem is depends on variables too.
pub(super) fn refuse_misplaced(
    facts: &PlanFacts,
    planned: &Planned,
    prepared: &Prepared,
) -> Result<(), Refusal> {
    let jobs = prepared.plan.jobs.iter().map(|job| &job.case);
    let found: BTreeMap<&str, &str> = jobs
        .map(|case| (case.id.as_str(), &*case.origin.file.path))
        .collect();
    let missing: Vec<String> = facts
        .ids
        .iter()
        .filter(|id| !found.contains_key(id.as_str()))
        .map(|id| format!("`{id}`"))
        .collect();
    if !missing.is_empty() {
        let number = count(missing.len(), "assertion");
        let named = enumerated(&missing);
        return Err(of_other_suites(&format!("{number} is not there: {named}")));
    }
    // Who plans from another folder calls all files otherwise: only what lies here under the planned name is another one.
    let elsewhere: Vec<String> = facts
        .ids
        .iter()
        .zip(&planned.places)
        .filter_map(|(id, PlannedPlace(file, _))| {
            let found = found.get(id.as_str()).filter(|found| *found != file)?;
            Path::new(file).is_file().then(|| {
                format!(
                    "`{id}` stands in `{}`, not in `{}`",
                    name(found),
                    name(file)
                )
            })
        })
        .collect();
    if elsewhere.is_empty() {
        return Ok(());
    }
    Err(of_other_suites(&enumerated(&elsewhere)))
}
