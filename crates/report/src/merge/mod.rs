//! Merges the runs of shards into one, and checks that nothing of the plan is missing, doubled or from another run. What
//! cannot be proven is a cause of the verdict; an assertion that never ran is an error.

mod needs;
mod records;

use std::collections::{BTreeMap, HashSet};

use self::records::Sorted;
pub use self::{
    needs::{Blobs, Needs},
    records::NOT_RUN,
};
use crate::{
    End, RunReport,
    plan_file::{PlanFile, PlannedShard},
    run_json::{PlanFacts, ShardFacts},
    source::Source,
    surface::joined,
    verdict::{Cause, Verdict},
};

/// The run of one shard, read from its file.
#[derive(Debug, Clone)]
pub struct Blob {
    /// The file, for people.
    pub name: String,
    /// Its digest.
    pub sha256: String,
    /// What it holds.
    pub run: RunReport,
}

impl Blob {
    /// The attempt of the workflow's run that it is from.
    fn attempt(&self) -> u64 {
        self.run.source.attempt.unwrap_or(1)
    }
}

/// The result of a merge.
#[derive(Debug)]
pub struct Merged {
    /// The whole run.
    pub report: RunReport,
    /// What is not proven.
    pub causes: Vec<Cause>,
}

/// Puts the blobs of a plan's shards together.
pub fn merge(plan: &PlanFile, blobs: Vec<Blob>) -> Merged {
    let mut causes = Vec::new();
    let mut by_shard: BTreeMap<usize, Vec<Blob>> = BTreeMap::new();
    let reference = reference(&blobs);
    for blob in blobs {
        match belongs(plan, &blob, reference.as_ref()) {
            Ok(shard) => by_shard.entry(shard).or_default().push(blob),
            Err(cause) => causes.push(cause),
        }
    }
    let mut report = blank(plan);
    let mut sorted = Sorted::new(plan);
    for (index, planned) in plan.shards.iter().enumerate() {
        let shard = index + 1;
        let mut found = by_shard.remove(&shard).unwrap_or_default();
        found.sort_by(|one, other| {
            (one.attempt(), &one.sha256).cmp(&(other.attempt(), &other.sha256))
        });
        found.dedup_by(|one, other| one.sha256 == other.sha256);
        name_rivals(shard, &found, &mut causes);
        let counts = found.pop();
        report.shards.push(facts(shard, planned, counts.as_ref()));
        if let Some(counts) = counts {
            let whole = (&mut report, &mut sorted);
            take(shard, counts, found, whole, &mut causes);
        } else {
            let text = format!("shard {shard} of {} left no result", plan.shards.len());
            causes.push(Cause::new(Verdict::Incomplete, &text));
        }
        sorted.fill(shard, &mut causes);
    }
    report.records = sorted.into_records();
    let mut seen = HashSet::new();
    report.notes.retain(|note| seen.insert(note.clone()));
    Merged { report, causes }
}

/// What all attempts of one run have in common: results of two runs, or of two revisions, prove nothing together. What
/// says most comes first.
type Facts = [(&'static str, Option<String>); 4];

fn facts_of(source: &Source) -> Facts {
    [
        ("run", source.run.map(|run| run.to_string())),
        ("repository", source.repository.clone()),
        ("revision", source.sha.clone()),
        ("server", source.server.clone()),
    ]
}

/// Where most blobs are from; the latest run of those that are equally many.
fn reference(blobs: &[Blob]) -> Option<Facts> {
    let mut counts: BTreeMap<(Option<u64>, Facts), usize> = BTreeMap::new();
    for source in blobs.iter().map(|blob| &blob.run.source) {
        *counts.entry((source.run, facts_of(source))).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|((_, facts), _)| facts)
}

/// The shard of a blob, or why the blob cannot be used.
fn belongs(plan: &PlanFile, blob: &Blob, reference: Option<&Facts>) -> Result<usize, Cause> {
    let (name, facts) = (&blob.name, &blob.run.plan);
    let invalid = |text: String| Err(Cause::new(Verdict::Invalid, &text));
    let incomplete = |text: String| Err(Cause::new(Verdict::Incomplete, &text));
    if facts.digest.as_deref() != Some(plan.digest.as_str()) {
        return invalid(format!("`{name}` is of another plan"));
    }
    if facts.shard == 0 {
        return incomplete(format!(
            "`{name}` is the result of a merge, and of no shard: it belongs outside of the shards' results"
        ));
    }
    if blob.run.tool != plan.tool {
        return invalid(format!("`{name}` is by another executable than the plan"));
    }
    // A shard that ended before it read its suites has no digest of them.
    let read_none = facts.suites.is_none() && blob.run.records.is_empty();
    if !read_none
        && plan
            .suites()
            .is_some_and(|suites| facts.suites != Some(suites))
    {
        return invalid(format!("`{name}` is of other suites than the plan"));
    }
    let pairs = facts_of(&blob.run.source)
        .into_iter()
        .zip(reference.into_iter().flatten());
    let named = |value: &Option<String>| {
        value
            .as_ref()
            .map_or("none".to_owned(), |it| format!("`{it}`"))
    };
    let differing = pairs.filter(|((_, here), (_, there))| here != there);
    let told: Vec<String> = differing
        .map(|((what, here), (_, there))| {
            format!("its {what} is {}, not {}", named(&here), named(there))
        })
        .collect();
    if !told.is_empty() {
        let told = told.join("; ");
        return invalid(format!(
            "`{name}` is not of the same run as the others: {told}"
        ));
    }
    let shard = facts.shard as usize;
    let planned = shard
        .checked_sub(1)
        .and_then(|index| plan.shards.get(index));
    let Some(planned) = planned.filter(|_| facts.of as usize == plan.shards.len()) else {
        return incomplete(format!(
            "`{name}` is shard {shard} of {}, the plan has {}",
            facts.of,
            plan.shards.len()
        ));
    };
    if facts.ids != planned.ids || blob.run.trials != plan.trials {
        return incomplete(format!(
            "`{name}` names other assertions or trials than shard {shard} of the plan"
        ));
    }
    Ok(shard)
}

/// What is known of the whole before any shard.
fn blank(plan: &PlanFile) -> RunReport {
    let longest = plan.shards.iter().map(|shard| shard.planned_us).max();
    let ids: usize = plan.shards.iter().map(|shard| shard.ids.len()).sum();
    RunReport {
        tool: plan.tool.clone(),
        plan: PlanFacts {
            digest: Some(plan.digest.clone()),
            suites: plan.suites(),
            shard: 0,
            of: u32::try_from(plan.shards.len()).unwrap_or(u32::MAX),
            ids: Vec::new(),
            planned_us: longest.unwrap_or(0),
        },
        trials: plan.trials,
        planned: ids.saturating_mul(plan.trials as usize),
        left_out: plan.left_out,
        ..RunReport::default()
    }
}

/// Adds a cause for two different blobs of the same shard and attempt.
fn name_rivals(shard: usize, found: &[Blob], causes: &mut Vec<Cause>) {
    for pair in found.windows(2) {
        if pair[0].attempt() == pair[1].attempt() {
            causes.push(Cause::new(
                Verdict::Incomplete,
                &format!(
                    "shard {shard} has two different results of attempt {}: `{}` and `{}`",
                    pair[0].attempt(),
                    pair[0].name,
                    pair[1].name
                ),
            ));
        }
    }
}

/// Adds the newest blob of a shard to the merged run; older ones only serve as evidence of flakiness.
fn take(
    shard: usize,
    blob: Blob,
    older: Vec<Blob>,
    (report, sorted): (&mut RunReport, &mut Sorted<'_>),
    causes: &mut Vec<Cause>,
) {
    let run = blob.run;
    if run.end == End::Interrupted {
        causes.push(Cause::new(
            Verdict::Incomplete,
            &format!("shard {shard} was interrupted (`{}`)", blob.name),
        ));
    }
    report.timing.started_unix_ms = match report.timing.started_unix_ms {
        0 => run.timing.started_unix_ms,
        known => known.min(run.timing.started_unix_ms),
    };
    report.timing.duration_us = report.timing.duration_us.max(run.timing.duration_us);
    report.jobs = report.jobs.max(run.jobs);
    report.notes.extend(run.notes);
    for problem in run.problems {
        if !report.problems.contains(&problem) {
            report.problems.push(problem);
        }
    }
    for (target, catalog) in run.catalogs {
        joined::add(&mut report.catalogs, &target, &catalog);
    }
    if report.source == Source::default() {
        report.source = run.source;
    }
    sorted.add(shard, run.records, causes);
    for old in older.into_iter().rev() {
        let attempt = old.attempt();
        sorted.add_evidence(attempt, old.run.records);
    }
}

fn facts(shard: usize, planned: &PlannedShard, blob: Option<&Blob>) -> ShardFacts {
    ShardFacts {
        shard: u32::try_from(shard).unwrap_or(u32::MAX),
        attempt: blob.map_or(0, Blob::attempt),
        planned_us: planned.planned_us,
        duration_us: blob.map_or(0, |blob| blob.run.timing.duration_us),
        started_unix_ms: blob.map_or(0, |blob| blob.run.timing.started_unix_ms),
    }
}

#[cfg(test)]
mod tests;
