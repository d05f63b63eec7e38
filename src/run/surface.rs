//! The catalogs of a run, one for each target, after its last assertion: what an assertion's session has fetched, else
//! what a session of its own fetches now, so that a suite of one assertion on whatever subject knows them too.

use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    sync::Arc,
};

use tokio::task::JoinSet;

use super::{job::Shared, survey};
use crate::{
    observation::catalog::{Catalog, Listing},
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

/// A target of a plan.
pub(super) struct Spoken<'a> {
    /// Its name for people.
    pub(super) name: String,
    /// A job for each way of talking to it.
    jobs: Vec<&'a Planned>,
    /// The identities of the assertions that talk to it.
    pub(super) used_by: BTreeSet<String>,
}

/// The targets of a plan in plan order.
fn targets(plan: &Plan) -> Vec<Spoken<'_>> {
    let mut places: HashMap<(Option<&str>, String), usize> = HashMap::new();
    let mut seen: HashMap<(Option<&str>, TargetKey), usize> = HashMap::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<Spoken<'_>> = Vec::new();
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
            all[*known.get()].speaks(work, planned.target.as_deref());
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
            all.push(Spoken {
                name,
                jobs: Vec::new(),
                used_by: BTreeSet::new(),
            });
        }
        all[place].speaks(work, planned.target.as_deref());
        seen.or_insert(place);
    }
    all.truncate(MOST_TARGETS);
    all
}

impl<'a> Spoken<'a> {
    fn speaks(&mut self, job: &'a Planned, target: Option<&str>) {
        let id = &job.assertion.case.id;
        self.used_by.insert(match target {
            Some(target) => format!("{id} [{target}]"),
            None => id.clone(),
        });
        let known = |it: &&Planned| it.target_key == job.target_key;
        if !self.jobs.iter().any(known) {
            self.jobs.push(job);
        }
    }
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
        .filter_map(|target| {
            let why = target.jobs.iter().find_map(why)?;
            Some((target.name, why))
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
