//! Reads one shard of a plan and checks that the suites are those of the plan.

use std::{collections::BTreeSet, path::Path};

use super::artifacts;
use crate::{
    cli::run::RunArgs,
    commands::running::{Prepared, Refusal, enumerated},
};
use report::{
    Tool,
    plan_file::{PlannedFile, suites_digest},
    run_json::PlanFacts,
};
use suite::{discover::Files, plan::shard::Shard};
use text::{count, name};

/// The suites' files, as a plan lists them.
pub(super) fn files(found: &Files) -> Vec<PlannedFile> {
    let files = found.read().iter();
    files
        .map(|file| PlannedFile(file.path.clone(), file.sha256.clone()))
        .collect()
}

/// Returns the facts of shard `K/N` and the files of the plan's suites, if listed. The number of trials is the plan's.
pub(super) fn facts(
    shard: Shard,
    path: &Path,
    tool: &Tool,
    typed: &mut RunArgs,
) -> Result<(PlanFacts, Option<Vec<PlannedFile>>), Refusal> {
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
    Ok((facts, plan.files))
}

/// Refuses suites that changed since the plan: they may hold assertions that no shard runs, or others under the same
/// names. Stores their digest in the facts, for the merge.
pub(super) fn refuse_changed(
    facts: &mut PlanFacts,
    planned: Option<&[PlannedFile]>,
    found: &Files,
) -> Result<(), Refusal> {
    let found = files(found);
    facts.suites = Some(suites_digest(&found));
    let Some(planned) = planned.filter(|planned| **planned != *found) else {
        return Ok(());
    };
    let differs = |one: &[PlannedFile], other: &[PlannedFile]| -> Vec<String> {
        let alone = one.iter().filter(|file| !other.contains(file));
        alone.map(|file| format!("`{}`", name(&file.0))).collect()
    };
    let mut changed = differs(planned, &found);
    changed.extend(differs(&found, planned));
    changed.sort();
    changed.dedup();
    Err(of_other_suites(&match &changed[..] {
        [] => "they stand in another order".to_owned(),
        [..] => format!("{} changed", enumerated(&changed)),
    }))
}

/// The error for a plan of other suites.
fn of_other_suites(difference: &str) -> Refusal {
    Refusal::invalid(format!("the plan is of other suites: {difference}")).with_help(
        "`ci plan`, the shards and `ci merge` need the same files and the same `--suite`, in the same order",
    )
}

/// Refuses a plan with assertions that no suite has.
pub(super) fn refuse_missing(facts: &PlanFacts, prepared: &Prepared) -> Result<(), Refusal> {
    let jobs = prepared.plan.jobs.iter();
    let found: BTreeSet<&str> = jobs.map(|job| job.case.id.as_str()).collect();
    let missing = facts.ids.iter().filter(|id| !found.contains(id.as_str()));
    let missing: Vec<String> = missing.map(|id| format!("`{id}`")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let number = count(missing.len(), "assertion");
    let named = enumerated(&missing);
    Err(of_other_suites(&format!("{number} missing: {named}")))
}
