//! Suites and options to jobs: filters, skips, trials, targets, shards. Decides what runs; runs nothing.

mod digest;
pub mod division;
pub mod filter;
pub mod job;
pub mod place;
pub mod servers;
pub mod shard;
pub mod target_key;

use std::{sync::Arc, time::Duration};

use self::{
    filter::Filter,
    job::{Job, Lane, OnRevision, OwnFixture, Planned, Terms, Work},
    place::Places,
    servers::{ServerRegistry, Servers},
    shard::Part,
    target_key::TargetKeys,
};
use crate::{
    model::{
        Assertion, Entry, Suite,
        revisions::{Asked, Revisions},
        server::{Endpoint, Launch, Program, Server, Target},
    },
    settings::NamedTarget,
};
use mcp::{
    protocol::revision::Revision,
    script::{
        client::{ClientBehaviour, RevisionWanted},
        subject::Needs,
        template::Template,
    },
};
use text::{
    count,
    environment::Environment,
    web::{self, UrlFault},
};

/// No deadline is longer: a moment so far away must still be a moment.
const LONGEST_TIMEOUT: Duration = Duration::from_hours(30 * 24);

/// The most jobs of a run. Each takes memory from its plan to its report.
const MOST_JOBS: usize = 1_000_000;

/// The options of the command line and the settings.
#[derive(Debug)]
pub struct PlanOptions<'a> {
    /// Which assertions.
    pub filter: Filter,
    /// Which part of them.
    pub part: Part,
    /// Independent repetitions of each, at least 1.
    pub trials: u32,
    /// Attempts after a failure, unless the assertion says otherwise.
    pub retries: u32,
    /// Deadline of an assertion that names none.
    pub timeout: Duration,
    /// Factor on every deadline.
    pub timeout_scale: f64,
    /// `--server`: replaces command and arguments of every server.
    pub server: Option<ServerOverride>,
    /// Where servers run.
    pub places: Places,
    /// The revision for assertions and targets that name none, or several to repeat them on.
    pub protocol: Asked,
    /// The targets each assertion is repeated on; empty: each on its own server.
    pub targets: Vec<NamedTarget>,
    /// Targets that were not chosen where others were.
    pub other_targets: Vec<NamedTarget>,
    /// For `skip_unless_env`.
    pub environment: &'a Environment,
}

/// `--server`: a command line, or a url.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerOverride {
    /// Program and arguments; the transport becomes stdio.
    Command {
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A server behind a url.
    Url(String),
}

/// Why a value of `--server` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerOverrideError {
    /// There is no program in it.
    #[error("`--server` is empty")]
    Empty,
    /// A quote is not closed.
    #[error("`--server {0}` has an unclosed quote")]
    Quote(String),
    /// A url that leads nowhere.
    #[error("invalid url in `--server {0}`: {1}")]
    Url(String, UrlFault),
}

impl ServerOverride {
    /// Splits a command line as a shell would, quotes included; an `http://` or `https://` url stays whole.
    pub fn from_text(text: &str) -> Result<Self, ServerOverrideError> {
        if web::has_web_scheme(text) {
            return match web::fault_before(text, "{{") {
                None => Ok(Self::Url(text.to_owned())),
                Some(fault) => Err(ServerOverrideError::Url(text.to_owned(), fault)),
            };
        }
        let words =
            shell_words::split(text).map_err(|_| ServerOverrideError::Quote(text.to_owned()))?;
        let mut words = words.into_iter();
        let program = words.next().ok_or(ServerOverrideError::Empty)?;
        Ok(Self::Command {
            program,
            args: words.collect(),
        })
    }
}

/// The server of `--server` where there is no suite, in its place; otherwise why it cannot be there.
pub fn typed_server(typed: &ServerOverride, places: &Places) -> Result<Arc<Server>, String> {
    let mut server = Server {
        target: Target::None,
    };
    lay_over(&mut server, Some(typed));
    places.server(&Arc::new(server))
}

/// What will run, in this order.
#[derive(Debug, Default)]
pub struct Plan {
    /// The jobs; skipped and invalid ones stand in their place.
    pub jobs: Vec<Job>,
    /// Assertions that the filter or the shard left out.
    pub left_out: usize,
    /// Those of them in other shards.
    pub of_other_shards: usize,
    /// Assertions, once for each target that was not chosen for them.
    pub of_other_targets: usize,
    /// Assertions that would talk to a url, and to a command of `--server` instead.
    pub urls_replaced: usize,
    /// The servers of the whole suite.
    pub servers: Servers,
}

/// The selection is too large for one run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{assertions} with {trials} on {targets} are more than the {MOST_JOBS} jobs that one run may have"
)]
pub struct TooManyJobs {
    assertions: String,
    trials: String,
    targets: String,
}

/// Makes the plan: selection first, then the shard of the selected, then targets and trials of each.
pub fn plan(suite: &Suite, options: &PlanOptions<'_>) -> Result<Plan, TooManyJobs> {
    let (selected, of_other_shards) = selected(suite, options);
    let mut plan = Plan {
        left_out: suite.entries.len() - selected.len(),
        of_other_shards,
        of_other_targets: selected.len().saturating_mul(options.other_targets.len()),
        ..Plan::default()
    };
    let too_many = TooManyJobs {
        assertions: count(selected.len(), "assertion"),
        trials: count(options.trials as usize, "trial"),
        targets: count(options.targets.len().max(1), "target"),
    };
    let mut talks = Talks::new(options);
    let mut selected = selected.into_iter().peekable();
    for entry in &suite.entries {
        let is_selected = selected.next_if(|it| std::ptr::eq(*it, entry)).is_some();
        match entry {
            Entry::Invalid { case, reasons } if is_selected => plan.jobs.push(Job {
                case: Arc::clone(case),
                target: None,
                trial: 1,
                work: Work::Invalid(reasons.clone()),
            }),
            Entry::Invalid { .. } => {}
            Entry::Assertion(assertion) => {
                let all = talks.of(assertion);
                if !is_selected {
                    continue;
                }
                let jobs = all.len().saturating_mul(options.trials as usize);
                if plan.jobs.len().saturating_add(jobs) > MOST_JOBS {
                    return Err(too_many);
                }
                add_jobs(&mut plan, assertion, all, options);
            }
        }
    }
    plan.servers = talks.registry.into_servers();
    Ok(plan)
}

/// The entries that the filter and the shard select, and how many are in other shards.
fn selected<'a>(suite: &'a Suite, options: &PlanOptions<'_>) -> (Vec<&'a Entry>, usize) {
    let mut selected = Vec::with_capacity(suite.entries.len());
    let mut of_other_shards = 0;
    let mut position = 0;
    for entry in &suite.entries {
        let case = entry.case();
        if !options.filter.selects(case, &options.targets) {
            continue;
        }
        if options.part.holds(position, &case.id) {
            selected.push(entry);
        } else {
            of_other_shards += 1;
        }
        position += 1;
    }
    (selected, of_other_shards)
}

/// On what an assertion runs: a target, if the run has several, and a revision, if it is repeated on several.
type Way<'a> = (Option<&'a NamedTarget>, Option<OnRevision>);

/// On what an assertion runs, one after another.
fn ways<'a>(assertion: &Assertion, options: &'a PlanOptions<'_>) -> Vec<Way<'a>> {
    let mut targets: Vec<Option<&NamedTarget>> = options.targets.iter().map(Some).collect();
    if targets.is_empty() {
        targets.push(None);
    }
    let mut ways = Vec::with_capacity(targets.len());
    for target in targets {
        match revisions(assertion, target, options) {
            None => ways.push((target, None)),
            Some(Revisions::These(these)) => {
                let these = these.iter().copied().map(OnRevision::Named);
                ways.extend(these.map(|on| (target, Some(on))));
            }
            Some(Revisions::Spoken) => {
                let all = Revision::ALL.map(OnRevision::IfSpoken);
                ways.extend(all.map(|on| (target, Some(on))));
            }
        }
    }
    ways
}

/// The revisions that an assertion is repeated on: it says so first, then its target, then the command line.
fn revisions<'a>(
    assertion: &'a Assertion,
    target: Option<&'a NamedTarget>,
    options: &'a PlanOptions<'_>,
) -> Option<&'a Revisions> {
    if assertion.needs == Needs::Nothing {
        return None;
    }
    let own = (&assertion.revisions, assertion.client.as_ref());
    let of_target = target.map(|it| (&it.revisions, &it.client));
    for (revisions, client) in [Some(own), of_target].into_iter().flatten() {
        if revisions.is_some() || client.revision != RevisionWanted::Auto {
            return revisions.as_ref();
        }
    }
    match &options.protocol {
        Asked::Repeated(revisions) => Some(revisions),
        Asked::Revision(_) => None,
    }
}

/// How an assertion talks to a server.
struct Talk<'a> {
    /// The target, when the run has several.
    target: Option<&'a NamedTarget>,
    /// The target and the revision for people, when there are several.
    label: Option<String>,
    /// How it runs, or why its server cannot be in its place.
    terms: Result<Arc<Terms>, String>,
}

/// Finds out how assertions talk to servers. All of a suite are asked, whichever part of it runs.
struct Talks<'a> {
    options: &'a PlanOptions<'a>,
    keys: TargetKeys,
    registry: ServerRegistry,
}

impl<'a> Talks<'a> {
    fn new(options: &'a PlanOptions<'a>) -> Self {
        let mut registry = ServerRegistry::default();
        for target in options.targets.iter().chain(&options.other_targets) {
            registry.meet(&Arc::new(target.server.clone()));
        }
        Self {
            options,
            keys: TargetKeys::default(),
            registry,
        }
    }

    /// How an assertion talks to its server, or to that of each target.
    fn of(&mut self, assertion: &Assertion) -> Vec<Talk<'a>> {
        let options = self.options;
        // A server that is replaced may have secrets, too: a token in its headers.
        self.registry.meet(&assertion.server);
        for target in &options.other_targets {
            let server = self.server(assertion, Some(target));
            let placed = options.places.server(&server).unwrap_or(server);
            self.registry.meet(&placed);
        }
        let ways = ways(assertion, options).into_iter();
        ways.map(|way| self.on(assertion, way)).collect()
    }

    fn on(&mut self, assertion: &Assertion, (target, revision): Way<'a>) -> Talk<'a> {
        let server = self.server(assertion, target);
        let client = self.client(assertion, (target, revision));
        let fixture = own_fixture(assertion, &server, &client);
        let placed = self.options.places.server(&server);
        let server = self.registry.shared(placed.as_ref().unwrap_or(&server));
        let label = label(target, revision);
        let terms = placed.map(|_| {
            let target_key = self.keys.key(&server, &client, fixture);
            let name = target.map(|target| target.name.as_str());
            let user = (&assertion.case, label.as_deref());
            let listed = target_key.map(|_| self.registry.talks(user, name, (&server, &client)));
            let (timeout, retries, lane) = bounds(assertion, &server, self.options);
            Arc::new(Terms {
                server,
                client,
                revision,
                fixture,
                target_key,
                listed,
                timeout,
                retries,
                lane,
            })
        });
        Talk {
            target,
            label,
            terms,
        }
    }

    /// How the client behaves on a target, and on a revision.
    fn client(&self, assertion: &Assertion, (target, revision): Way<'_>) -> Arc<ClientBehaviour> {
        let client = match target {
            Some(target) => Arc::new(assertion.client.or(&target.client)),
            None => Arc::clone(&assertion.client),
        };
        let wanted = match (revision, &self.options.protocol) {
            (Some(on), _) => RevisionWanted::Exactly(on.revision()),
            (None, Asked::Revision(wanted)) if client.revision == RevisionWanted::Auto => *wanted,
            (None, Asked::Revision(_) | Asked::Repeated(_)) => client.revision,
        };
        if client.revision == wanted {
            return client;
        }
        Arc::new(ClientBehaviour {
            revision: wanted,
            ..ClientBehaviour::clone(&client)
        })
    }

    fn server(&self, assertion: &Assertion, target: Option<&NamedTarget>) -> Arc<Server> {
        let target = target.map(|target| &target.server);
        server_for(assertion, target, self.options.server.as_ref())
    }
}

fn add_jobs(
    plan: &mut Plan,
    assertion: &Arc<Assertion>,
    talks: Vec<Talk<'_>>,
    options: &PlanOptions<'_>,
) {
    let control = assertion.control.as_deref();
    let reason = control.and_then(|control| control.skip_reason(options.environment));
    let has_url = |talk: &Talk<'_>| {
        let own = &assertion.server.target;
        let own = talk.target.map_or(own, |it| &it.server.target);
        matches!(own, Target::Url { .. })
    };
    if matches!(options.server, Some(ServerOverride::Command { .. }))
        && reason.is_none()
        && assertion.needs != Needs::Nothing
        && talks.iter().any(has_url)
    {
        plan.urls_replaced += 1;
    }
    for talk in talks {
        if !options.filter.selects_on(&assertion.case, talk.target) {
            plan.of_other_targets += 1;
            continue;
        }
        for trial in 1..=options.trials {
            let work = match (&reason, &talk.terms) {
                (Some(reason), _) => Work::Skip(reason.clone()),
                (None, Err(reason)) => Work::Invalid(vec![reason.clone()]),
                (None, Ok(terms)) => Work::Run(Planned {
                    assertion: Arc::clone(assertion),
                    terms: Arc::clone(terms),
                }),
            };
            plan.jobs.push(Job {
                case: Arc::clone(&assertion.case),
                target: talk.label.clone(),
                trial,
                work,
            });
        }
    }
}

/// The label of one run of an assertion.
fn label(target: Option<&NamedTarget>, revision: Option<OnRevision>) -> Option<String> {
    let target = target.map(|target| target.name.as_str());
    let revision = revision.map(|on| on.revision().name());
    let parts: Vec<&str> = target.into_iter().chain(revision).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Whether a job gets a copy. Loading found what the assertion says of the fixture, but not what another
/// server or client says.
fn own_fixture(
    assertion: &Assertion,
    server: &Arc<Server>,
    client: &Arc<ClientBehaviour>,
) -> OwnFixture {
    let other = assertion.needs != Needs::Nothing
        && (!Arc::ptr_eq(server, &assertion.server) && server.target.names_fixture()
            || !Arc::ptr_eq(client, &assertion.client) && client.names_fixture());
    if assertion.uses_fixture || other {
        OwnFixture::Copied
    } else {
        OwnFixture::None
    }
}

/// The server of a job: the target's with the variables of the assertion's own file if there is one, else the
/// assertion's, with `--server` laid over it.
fn server_for(
    assertion: &Assertion,
    target: Option<&Server>,
    over: Option<&ServerOverride>,
) -> Arc<Server> {
    if let (None, None) = (target, over) {
        return Arc::clone(&assertion.server);
    }
    let own = &assertion.server.target;
    let mut server = match target {
        Some(target) => Server {
            target: target.target.clone().with_own_variables_of(own),
        },
        None => Server::clone(&assertion.server),
    };
    if assertion.needs != Needs::Nothing {
        lay_over(&mut server, over);
    }
    Arc::new(server)
}

/// Puts what `--server` says into the place of what is started or reached.
fn lay_over(server: &mut Server, over: Option<&ServerOverride>) {
    match over {
        None => {}
        Some(ServerOverride::Command { program, args }) => {
            let (launch, container) = match std::mem::replace(&mut server.target, Target::None) {
                Target::Process(launch) | Target::Builtin { launch, .. } => (launch, None),
                Target::Container {
                    container, program, ..
                } => (program.launch().clone().without_port(), Some(container)),
                Target::Url { launch, .. } => (launch.without_port(), None),
                Target::None => (Launch::default(), None),
            };
            let launch = Launch {
                command: Some(Template::new(program)),
                args: args.iter().map(Template::new).collect(),
                ..launch
            };
            server.target = match container {
                Some(container) => Target::Container {
                    container,
                    program: Program::Launched(launch),
                    served: None,
                },
                None => Target::Process(launch),
            };
        }
        Some(ServerOverride::Url(url)) => {
            let url = Template::new(url);
            let endpoint = match std::mem::replace(&mut server.target, Target::None) {
                Target::Url { endpoint, .. } => Endpoint { url, ..*endpoint },
                Target::Process(_)
                | Target::Builtin { .. }
                | Target::Container { .. }
                | Target::None => Endpoint::of(url),
            };
            server.target = Target::Url {
                endpoint: Box::new(endpoint),
                launch: Box::default(),
                listening: None,
            };
        }
    }
}

/// The timeout, the retries and the lane of a job.
fn bounds(
    assertion: &Assertion,
    server: &Server,
    options: &PlanOptions<'_>,
) -> (Duration, u32, Option<Lane>) {
    let control = assertion.control.as_deref();
    let timeout = control.and_then(|control| control.timeout);
    let seconds = timeout.unwrap_or(options.timeout).as_secs_f64() * options.timeout_scale;
    let timeout = Duration::try_from_secs_f64(seconds);
    let timeout = timeout.map_or(LONGEST_TIMEOUT, |it| it.min(LONGEST_TIMEOUT));
    let retries = control.and_then(|control| control.retries);
    let serial = control.and_then(|control| control.serial.clone());
    let lane = match (serial, &server.target) {
        (Some(name), _) => Some(Lane::Serial(name)),
        (
            None,
            Target::Url {
                endpoint,
                listening: None,
                ..
            },
        ) if !endpoint.parallel => Some(Lane::Url(endpoint.url.text.clone())),
        (None, _) => None,
    };
    (timeout, retries.unwrap_or(options.retries), lane)
}
