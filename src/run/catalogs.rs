//! The catalogs of targets: asked once per run for each target and each set of client capabilities, in a session of its own
//! in which nothing is called.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use tokio::{sync::OnceCell, time::Instant};

use super::{RunOptions, attempt, job::Shared};
use check::outcome::event::Event;
use mcp::{
    observation::{
        Observation,
        catalog::{Catalog, Listing, SurfaceSeen},
        disruption::DisruptionKind,
    },
    script::subject::Subject,
    session::Listed,
};
use suite::model::{expectation::Beside, server::Target};
use suite::plan::{
    Plan,
    job::{OwnFixture, Planned, RunJob, Terms, Work},
};

/// How long a server may take to list what it has, at most.
const LISTING: Duration = Duration::from_secs(3);

/// How long the place, the start and the handshake may take together, at most.
const GREETING: Duration = Duration::from_secs(15);

/// Surfaces that are kept, in plan order: a suite with a server of its own for every assertion is about something else.
const MOST_SURFACES: usize = 64;

/// The catalogs of a run, by the place of the server among the listed ones of the plan, which has a place for each set of
/// capabilities.
#[derive(Debug, Default)]
pub(super) struct Catalogs(Mutex<BTreeMap<usize, Arc<OnceCell<Fetched>>>>);

/// What came of asking for a catalog.
#[derive(Debug, Default)]
struct Fetched {
    /// What is known; `None` when it could not be asked.
    catalog: Option<Arc<Catalog>>,
    /// Why something of it is not known.
    missing: Option<Arc<str>>,
}

impl Catalogs {
    /// Whether the catalog of a job's target was asked for, or can never be.
    pub(super) fn has(&self, planned: &Planned) -> bool {
        let listed = planned.terms.listed;
        listed.is_none_or(|listed| self.cell(listed).initialized())
    }

    fn cell(&self, listed: usize) -> Arc<OnceCell<Fetched>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(listed).or_default())
    }
}

/// Whether the verdict may hang on what the server lists: on whether it has the tools that were called, on what they
/// declare, and on what is wrong with the lists where that is judged; or whether the run asks for it anyway.
pub(super) fn is_wanted(job: &RunJob, options: &RunOptions, seen: &Observation) -> bool {
    let answered = seen.disruption.as_ref().is_none_or(|disruption| {
        matches!(
            disruption.kind,
            DisruptionKind::ProtocolError | DisruptionKind::Step
        )
    });
    // A list that is the subject is looked at as it is fetched.
    let is_judged = (options.rules.strict_protocol || job.body.looks_at(Beside::Findings))
        && !matches!(job.body.subject, Subject::Tools(_));
    let is_judged = is_judged || options.lists_every_target;
    // A server that refused the handshake refuses it again.
    answered && seen.session.is_some() && (is_judged || job.body.calls_tools())
}

/// The catalog of a job's target; `None` when it cannot be had.
pub(super) async fn of(planned: &Planned, shared: &Shared) -> Option<Arc<Catalog>> {
    let cell = shared.catalogs.cell(planned.terms.listed?);
    let fetched = cell.get_or_init(|| Box::pin(fetch(planned, shared))).await;
    fetched.catalog.clone()
}

async fn fetch(planned: &Planned, shared: &Shared) -> Fetched {
    let (catalog, missing) = match ask(planned, shared).await {
        Ok(Listed { catalog, missing }) => (Some(Arc::new(catalog)), missing),
        Err(why) => (None, why),
    };
    let missing = missing.map(Arc::from);
    Fetched { catalog, missing }
}

/// Asks in a session of its own; otherwise why it could not be asked, `None` when the run is over.
async fn ask(planned: &Planned, shared: &Shared) -> Result<Listed, Option<String>> {
    let interrupt = &shared.options.interrupt;
    if interrupt.is_cancelled() {
        return Err(None);
    }
    let planned = asking(planned);
    let timeout = planned.terms.timeout;
    let deadline = Instant::now() + timeout;
    let opened = attempt::open(&planned, shared).await;
    let (mut live, bindings) = opened.map_err(|disruption| Some(disruption.message))?;
    let asked = async {
        live.session.greet(&bindings, deadline).await?;
        let deadline = Instant::now() + timeout.min(LISTING);
        Ok(live.session.catalog(deadline).await)
    };
    let listed = tokio::select! {
        listed = asked => listed.map_err(|why: String| Some(why)),
        () = interrupt.cancelled() => Err(None),
    };
    // How it ends says nothing about an assertion. A server that is not ours is not left with a session.
    match planned.terms.server.target {
        Target::Url { .. } => live.close(shared).await,
        Target::Process(_) | Target::Builtin { .. } | Target::Container { .. } | Target::None => {
            live.abandon(shared).await;
        }
    }
    listed
}

/// The server and the client of a job, whatever its assertion does: the place is the same for all that ask this target.
pub(super) fn asking(planned: &Planned) -> Planned {
    let terms = &planned.terms;
    let names_fixture = terms.server.target.names_fixture() || terms.client.names_fixture();
    Planned {
        assertion: Arc::clone(&planned.assertion),
        terms: Arc::new(Terms {
            timeout: terms.timeout.min(GREETING),
            fixture: if names_fixture {
                OwnFixture::Copied
            } else {
                OwnFixture::None
            },
            ..Terms::clone(terms)
        }),
    }
}

/// Tells what targets list, where a comparison asks for it, and of which that is not known. Of a target that would not
/// tell nothing is known, which is not the same as a target that is not there; an interrupted run has not asked all.
pub(super) async fn tell(plan: &Plan, shared: &Shared, emit: &mut impl FnMut(Event)) {
    let surfaces = surfaces(plan);
    let options = &shared.options;
    if options.lists_every_target {
        let asked = surfaces.values().map(|planned| of(planned, shared));
        let mut asked = stream::iter(asked).buffered(options.jobs.max(1));
        let silent = Arc::new(Catalog {
            unknown: Listing::ALL.to_vec(),
            ..Catalog::default()
        });
        for listed in surfaces.keys() {
            let known = asked.next().await.flatten();
            let silent = || (!options.interrupt.is_cancelled()).then(|| Arc::clone(&silent));
            let server = plan.servers.listed.get(*listed);
            if let (Some(catalog), Some(server)) = (known.or_else(silent), server) {
                emit(Event::CatalogKnown(SurfaceSeen {
                    target: server.name.clone(),
                    capabilities: server.capabilities.clone(),
                    catalog,
                    used_by: server.users(),
                }));
            }
        }
    }
    let mut told = HashSet::new();
    for listed in surfaces.into_keys() {
        let cell = shared.catalogs.cell(listed);
        let missing = cell.get().and_then(|fetched| fetched.missing.clone());
        if let (Some(why), Some(server)) = (missing, plan.servers.listed.get(listed))
            && told.insert(server.place)
        {
            emit(Event::CatalogMissing {
                target: server.name.clone(),
                why,
            });
        }
    }
}

/// The surfaces that a plan's jobs meet, each with the first job that does, in plan order.
fn surfaces(plan: &Plan) -> BTreeMap<usize, &Planned> {
    let mut surfaces = BTreeMap::new();
    for job in &plan.jobs {
        if let Work::Run(planned) = &job.work
            && let Some(listed) = planned.terms.listed
        {
            surfaces.entry(listed).or_insert(planned);
        }
    }
    surfaces.into_iter().take(MOST_SURFACES).collect()
}
