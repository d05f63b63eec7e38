//! One shard of a plan: what it is to run, and whether the suites still have it.

use std::{collections::BTreeSet, path::Path};

use super::artifacts;
use crate::{
    cli::{
        ci::{CiArgs, JudgingArgs, Store},
        run::RunArgs,
    },
    commands::running::{Prepared, Refusal},
    plan::shard::Shard,
    report::{Tool, run_json::PlanFacts},
    words::text::count,
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
    if typed.trials != 1 && typed.trials != plan.trials {
        return Err(Refusal::invalid(format!(
            "the plan has {} of each assertion, not {}",
            count(plan.trials as usize, "trial"),
            typed.trials
        )));
    }
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
        ("--filter", !args.selection.filter.is_empty()),
        ("--tags", !args.selection.tags.is_empty()),
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
        .map(|id| format!("`{id}`"))
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
