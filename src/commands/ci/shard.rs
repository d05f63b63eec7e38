//! One shard of a plan: what it is to run, and whether the suites still have it.

use std::{collections::BTreeSet, path::Path};

use super::artifacts;
use crate::{
    cli::run::RunArgs,
    commands::running::{Prepared, Refusal},
    plan::shard::Shard,
    report::{Tool, run_json::PlanFacts},
    words::text::{clean, count},
};

/// Assertions that are named when they are missing.
const MOST_NAMED: usize = 10;

/// The facts of shard `K/N`; its trials are the plan's.
pub(super) fn facts(
    text: &str,
    path: &Path,
    tool: &Tool,
    typed: &mut RunArgs,
) -> Result<PlanFacts, Refusal> {
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
    let planned = plan.shards.into_iter().nth(shard.number() - 1);
    let planned = planned.unwrap_or_default();
    typed.trials = plan.trials;
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(PlanFacts {
        digest: Some(plan.digest),
        shard: small(shard.number()),
        of: small(shard.of()),
        ids: planned.ids,
        planned_us: planned.planned_us,
    })
}

/// An assertion that was planned and is in no suite any more is an error: the plan is of other suites.
pub(super) fn refuse_missing(facts: &PlanFacts, prepared: &Prepared) -> Result<(), Refusal> {
    let jobs = &prepared.plan.jobs;
    let found: BTreeSet<&str> = jobs.iter().map(|job| job.case.id.as_str()).collect();
    let missing: Vec<&String> = facts
        .ids
        .iter()
        .filter(|id| !found.contains(id.as_str()))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = missing
        .iter()
        .take(MOST_NAMED)
        .map(|id| format!("`{}`", clean(id)))
        .collect();
    let more = missing.len() - named.len();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Err(Refusal::invalid(format!(
        "the plan is of other suites: {} is not there: {}{more}",
        count(missing.len(), "assertion"),
        named.join(", ")
    )))
}
