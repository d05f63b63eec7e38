//! The catalogs of a run, one for each target, after its last assertion: what an assertion's session has fetched, else
//! what a session of its own fetches now, so that a suite of one assertion on whatever subject knows them too.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use tokio::task::JoinSet;

use super::{job::Shared, survey};
use crate::{
    observation::catalog::Catalog,
    plan::{
        Plan,
        job::{Planned, Work},
        target_key::TargetKey,
    },
    suite::{
        model::{
            container::ImageBase,
            server::{Launch, Program, Target},
        },
        template::Template,
    },
};

/// Targets of which catalogs are kept, in plan order: a suite with a server of its own for every assertion is about
/// something else.
const MOST_TARGETS: usize = 64;

/// The targets of a plan in plan order, each with its name for people and a job for each way of talking to it.
fn targets(plan: &Plan) -> Vec<(String, Vec<&Planned>)> {
    let mut places: HashMap<(Option<&str>, String), usize> = HashMap::new();
    let mut seen: HashMap<(Option<&str>, TargetKey), usize> = HashMap::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<(String, Vec<&Planned>)> = Vec::new();
    for planned in &plan.jobs {
        let Work::Run(work) = &planned.work else {
            continue;
        };
        let Some(target_key) = work.target_key else {
            continue;
        };
        // Most jobs talk to the same few targets, and need not be compared by their text.
        let seen = seen.entry((planned.target.as_deref(), target_key));
        if let Entry::Occupied(known) = &seen {
            all[*known.get()].1.push(work);
            continue;
        }
        let key = (
            planned.target.as_deref(),
            format!("{:?}", work.server.target),
        );
        let place = *places.entry(key).or_insert(all.len());
        if place == all.len() {
            let label = planned
                .target
                .clone()
                .unwrap_or_else(|| name(&work.server.target));
            let times = names.entry(label.clone()).or_default();
            *times += 1;
            let name = match times {
                1 => label,
                times => format!("{label}#{times}"),
            };
            all.push((name, Vec::new()));
        }
        all[place].1.push(work);
        seen.or_insert(place);
    }
    all.truncate(MOST_TARGETS);
    all
}

/// A target as the suite writes it.
fn name(target: &Target) -> String {
    let words = |launch: &Launch| {
        let command = launch.command.iter().chain(&launch.args);
        shell_words::join(command.map(|word| &word.text))
    };
    let embedded = |profile: &str, args: &[Template]| {
        let args = args.iter().map(|word| word.text.as_str());
        shell_words::join(["builtin", profile].into_iter().chain(args))
    };
    match target {
        Target::Process(launch) => words(launch),
        Target::Builtin { profile, args, .. } => embedded(profile, args),
        Target::Url { url, .. } => url.text.clone(),
        Target::Container { container, program } => {
            let program = match program {
                Program::Launched(launch) => words(launch),
                Program::Builtin { profile, args, .. } => embedded(profile, args),
            };
            match &container.image {
                Some(ImageBase::Named(image)) => format!("container {image} {program}"),
                Some(ImageBase::Built(_) | ImageBase::Own) | None => format!("container {program}"),
            }
        }
        Target::None => "none".to_owned(),
    }
}

/// Of which targets something is not known that a session has asked for, and why; in plan order.
pub(super) async fn missing(plan: &Plan, shared: &Shared) -> Vec<(String, Arc<str>)> {
    let missing = shared.catalogs.missing().await;
    if missing.is_empty() {
        return Vec::new();
    }
    let why = |job: &&Planned| missing.get(&job.target_key?).cloned();
    targets(plan)
        .into_iter()
        .filter_map(|(name, jobs)| Some((name, jobs.iter().find_map(why)?)))
        .collect()
}

/// The catalogs of all targets, in plan order; targets that would not tell are left out.
pub(super) async fn collect(plan: &Plan, shared: &Arc<Shared>) -> Vec<(String, Arc<Catalog>)> {
    let targets = targets(plan);
    let mut found: Vec<Option<Arc<Catalog>>> = Vec::new();
    let mut fetching = JoinSet::new();
    for (index, (_, jobs)) in targets.iter().enumerate() {
        let known = known(jobs, shared).await;
        if known.is_none() {
            while fetching.len() >= shared.options.jobs.max(1) {
                settle(fetching.join_next().await, &mut found);
            }
            let (job, shared) = (jobs[0].clone(), Arc::clone(shared));
            fetching.spawn(async move { (index, Box::pin(fetch(job, &shared)).await) });
        }
        found.push(known);
    }
    while let Some(ended) = fetching.join_next().await {
        settle(Some(ended), &mut found);
    }
    targets
        .into_iter()
        .zip(found)
        .filter_map(|((name, _), catalog)| Some((name, catalog?)))
        .collect()
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
        let Some(key) = job.target_key else {
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
    shared.catalogs.known(planned.target_key?).await
}
