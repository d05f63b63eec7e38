//! The catalogs of a run, one for each target, after its last assertion: what an assertion's session has fetched, else
//! what a session of its own fetches now, so that a suite of one assertion on whatever subject knows them too.

use std::{collections::BTreeMap, sync::Arc};

use tokio::task::JoinSet;

use super::{job::Shared, survey};
use crate::{
    observation::catalog::{Catalog, Listing},
    plan::{
        Plan,
        job::{Planned, Work},
        servers::ListedServer,
    },
};

/// Targets of which catalogs are kept, in plan order: a suite with a server of its own for every assertion is about
/// something else.
const MOST_TARGETS: usize = 64;

/// A target of a plan.
pub(super) struct Spoken<'a> {
    /// Its name for people, and who talks to it.
    pub(super) server: &'a ListedServer,
    /// Its place among those whose lists are kept.
    pub(super) place: usize,
    /// A job for each way of talking to it.
    jobs: Vec<&'a Planned>,
}

/// The targets of a plan that a job talks to, in plan order.
fn targets(plan: &Plan) -> Vec<Spoken<'_>> {
    let mut all: BTreeMap<usize, Spoken<'_>> = BTreeMap::new();
    for planned in &plan.jobs {
        let Work::Run(work) = &planned.work else {
            continue;
        };
        let Some(listed) = work.terms.listed else {
            continue;
        };
        let Some(server) = plan.servers.listed.get(listed) else {
            continue;
        };
        let spoken = all.entry(listed).or_insert_with(|| Spoken {
            server,
            place: listed,
            jobs: Vec::new(),
        });
        // Most jobs talk in the same few ways.
        let known = |it: &&Planned| it.terms.target_key == work.terms.target_key;
        if !spoken.jobs.iter().any(known) {
            spoken.jobs.push(work);
        }
    }
    all.into_values().take(MOST_TARGETS).collect()
}

/// Of which targets something is not known that a session has asked for, and why; in plan order.
pub(super) async fn missing(plan: &Plan, shared: &Shared) -> Vec<(String, Arc<str>)> {
    let missing = shared.catalogs.missing().await;
    if missing.is_empty() {
        return Vec::new();
    }
    let why = |job: &&Planned| missing.get(&job.terms.target_key?).cloned();
    targets(plan)
        .into_iter()
        .filter_map(|target| {
            let why = target.jobs.iter().find_map(why)?;
            Some((target.server.name.clone(), why))
        })
        .collect()
}

/// The catalogs of all targets, in plan order. Of a target that would not tell nothing is known, which is not the same as
/// a target that is not there; an interrupted run has not asked all of them.
pub(super) async fn collect<'a>(
    plan: &'a Plan,
    shared: &Arc<Shared>,
) -> Vec<(Spoken<'a>, Arc<Catalog>)> {
    let targets = targets(plan);
    let mut found: Vec<Option<Arc<Catalog>>> = Vec::new();
    let mut fetching = JoinSet::new();
    for (index, target) in targets.iter().enumerate() {
        let known = known(&target.jobs, shared).await;
        if known.is_none() {
            while fetching.len() >= shared.options.jobs.max(1) {
                settle(fetching.join_next().await, &mut found);
            }
            let (job, shared) = (target.jobs[0].clone(), Arc::clone(shared));
            fetching.spawn(async move { (index, Box::pin(fetch(job, &shared)).await) });
        }
        found.push(known);
    }
    while let Some(ended) = fetching.join_next().await {
        settle(Some(ended), &mut found);
    }
    let silent = (!shared.options.interrupt.is_cancelled()).then(|| {
        Arc::new(Catalog {
            unknown: Listing::ALL.to_vec(),
            ..Catalog::default()
        })
    });
    let known =
        |(target, catalog): (_, Fetched)| Some((target, catalog.or_else(|| silent.clone())?));
    targets.into_iter().zip(found).filter_map(known).collect()
}

type Fetched = Option<Arc<Catalog>>;

/// Puts a catalog that came to its target. Fetching fails without harm: the target stays without one.
fn settle(ended: Option<Result<(usize, Fetched), tokio::task::JoinError>>, found: &mut [Fetched]) {
    if let Some(Ok((index, catalog))) = ended
        && let Some(place) = found.get_mut(index)
    {
        *place = catalog;
    }
}

/// What sessions of assertions have fetched.
async fn known(jobs: &[&Planned], shared: &Shared) -> Fetched {
    let mut looked_up = Vec::new();
    for job in jobs {
        let Some(key) = job.terms.target_key else {
            continue;
        };
        if looked_up.contains(&key) {
            continue;
        }
        if let Some(catalog) = shared.catalogs.known(key).await {
            return Some(catalog);
        }
        looked_up.push(key);
    }
    None
}

/// Asks a target in a session of its own.
async fn fetch(planned: Planned, shared: &Shared) -> Fetched {
    survey::in_own_session(&planned, shared).await;
    shared.catalogs.known(planned.terms.target_key?).await
}
