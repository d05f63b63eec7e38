//! Suites and options to jobs: filters, skips, trials, targets, shards. Decides what runs; runs nothing.

pub(crate) mod division;
pub(crate) mod filter;
pub(crate) mod job;
pub(crate) mod place;
pub(crate) mod shard;
pub(crate) mod target_key;

use std::{sync::Arc, time::Duration};

use self::{
    filter::Filter,
    job::{Job, Planned, Work},
    place::{Placed, Places},
    shard::Part,
    target_key::{OwnFixture, TargetKeys},
};
use crate::{
    suite::model::{
        Assertion, Entry, Suite,
        server::{ClientBehaviour, Launch, Program, Server, Target, UrlTransport},
        subject::Needs,
    },
    suite::settings::NamedTarget,
    suite::template::Template,
    words::{environment::Environment, text::count},
};

/// No deadline is longer: a moment so far away must still be a moment.
const LONGEST_TIMEOUT: Duration = Duration::from_hours(30 * 24);

/// The most jobs of a run. Each takes memory from its plan to its report.
const MOST_JOBS: usize = 1_000_000;

/// What was asked for on the command line and in the settings.
#[derive(Debug)]
pub(crate) struct PlanOptions<'a> {
    /// Which assertions.
    pub(crate) filter: Filter,
    /// Which part of them.
    pub(crate) part: Part,
    /// Independent repetitions of each, at least 1.
    pub(crate) trials: u32,
    /// Attempts after a failure, unless the assertion says otherwise.
    pub(crate) retries: u32,
    /// Deadline of an assertion that names none.
    pub(crate) timeout: Duration,
    /// Factor on every deadline.
    pub(crate) timeout_scale: f64,
    /// What replaces command and arguments of every server.
    pub(crate) server: Option<ServerOverride>,
    /// Where servers run.
    pub(crate) places: Places,
    /// The targets each assertion is repeated on; empty: each on its own server.
    pub(crate) targets: Vec<NamedTarget>,
    /// For `skip_unless_env`.
    pub(crate) environment: &'a Environment,
}

/// `--server`: a command line, or a url.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerOverride {
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
pub(crate) enum ServerOverrideError {
    /// There is no program in it.
    #[error("`--server` is empty")]
    Empty,
    /// A quote is not closed.
    #[error("`--server {0}` has an unclosed quote")]
    Quote(String),
}

impl ServerOverride {
    /// Splits a command line as a shell would, quotes included; an `http://` or `https://` url stays whole.
    pub(crate) fn from_text(text: &str) -> Result<Self, ServerOverrideError> {
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(Self::Url(text.to_owned()));
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

/// What will run, in this order.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The jobs; skipped and invalid ones stand in their place.
    pub(crate) jobs: Vec<Job>,
    /// Assertions that the filter or the shard left out.
    pub(crate) left_out: usize,
}

/// What was selected is too much for one run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{assertions} with {trials} on {targets} are {jobs} jobs, more than the {MOST_JOBS} that one run may have"
)]
pub(crate) struct TooManyJobs {
    assertions: String,
    trials: String,
    targets: String,
    jobs: usize,
}

/// Makes the plan: selection first, then the shard of what is left, then targets and trials of each.
pub(crate) fn plan(suite: &Suite, options: &PlanOptions<'_>) -> Result<Plan, TooManyJobs> {
    let (selected, left_out) = selected(suite, options);
    let of_each = (options.trials as usize).saturating_mul(options.targets.len().max(1));
    let jobs = selected.iter().fold(0_usize, |jobs, entry| match entry {
        Entry::Assertion(_) => jobs.saturating_add(of_each),
        Entry::Invalid { .. } => jobs.saturating_add(1),
    });
    if jobs > MOST_JOBS {
        return Err(TooManyJobs {
            assertions: count(selected.len(), "assertion"),
            trials: count(options.trials as usize, "trial"),
            targets: count(options.targets.len().max(1), "target"),
            jobs,
        });
    }
    let mut plan = Plan {
        jobs: Vec::with_capacity(jobs),
        left_out,
    };
    let mut placed = Placed::new(&options.places);
    let mut keys = TargetKeys::default();
    for entry in selected {
        match entry {
            Entry::Invalid { case, reasons } => plan.jobs.push(Job {
                case: Arc::clone(case),
                target: None,
                trial: 1,
                work: Work::Invalid(reasons.clone()),
            }),
            Entry::Assertion(assertion) => {
                add_jobs(&mut plan, assertion, options, &mut placed, &mut keys);
            }
        }
    }
    Ok(plan)
}

/// What the filter and the shard select, and how much they leave out.
fn selected<'a>(suite: &'a Suite, options: &PlanOptions<'_>) -> (Vec<&'a Entry>, usize) {
    let mut selected = Vec::with_capacity(suite.entries.len());
    let mut left_out = 0;
    let mut position = 0;
    for entry in &suite.entries {
        let case = entry.case();
        if !options.filter.selects(case) {
            left_out += 1;
            continue;
        }
        if options.part.holds(position, &case.id) {
            selected.push(entry);
        } else {
            left_out += 1;
        }
        position += 1;
    }
    (selected, left_out)
}

fn add_jobs(
    plan: &mut Plan,
    assertion: &Arc<Assertion>,
    options: &PlanOptions<'_>,
    placed: &mut Placed<'_>,
    keys: &mut TargetKeys,
) {
    let control = assertion.control.as_deref();
    let reason = control.and_then(|control| control.skip_reason(options.environment));
    let fixture = if assertion.uses_fixture {
        OwnFixture::Copied
    } else {
        OwnFixture::None
    };
    let targets: Vec<Option<&NamedTarget>> = if options.targets.is_empty() {
        vec![None]
    } else {
        options.targets.iter().map(Some).collect()
    };
    for target in targets {
        let server = server_for(
            assertion,
            target.map(|target| &target.server),
            options.server.as_ref(),
        );
        let server = placed.server(&server);
        let client = match target {
            Some(target) => Arc::new(assertion.client.or(&target.client)),
            None => Arc::clone(&assertion.client),
        };
        for trial in 1..=options.trials {
            let work = match (&reason, &server) {
                (Some(reason), _) => Work::Skip(reason.clone()),
                (None, Err(reason)) => Work::Invalid(vec![reason.clone()]),
                (None, Ok(server)) => {
                    let mut work = planned(assertion, server, &client, options);
                    work.target_key = keys.key(server, &client, fixture);
                    Work::Run(work)
                }
            };
            plan.jobs.push(Job {
                case: Arc::clone(&assertion.case),
                target: target.map(|target| target.name.clone()),
                trial,
                work,
            });
        }
    }
}

/// The server of a job: the target's if there is one, else the assertion's, with `--server` laid over it.
fn server_for(
    assertion: &Assertion,
    target: Option<&Server>,
    over: Option<&ServerOverride>,
) -> Arc<Server> {
    if let (None, None) = (target, over) {
        return Arc::clone(&assertion.server);
    }
    let mut server = target.unwrap_or(&assertion.server).clone();
    if assertion.needs == Needs::Nothing {
        return Arc::new(server);
    }
    match over {
        None => {}
        Some(ServerOverride::Command { program, args }) => {
            let (launch, container) = match server.target {
                Target::Process(launch) | Target::Builtin { launch, .. } => (launch, None),
                Target::Container { container, program } => {
                    (program.launch().clone(), Some(container))
                }
                Target::Url { .. } | Target::None => (Launch::default(), None),
            };
            let launch = Launch {
                command: Some(Template {
                    text: program.clone(),
                }),
                args: args
                    .iter()
                    .map(|text| Template { text: text.clone() })
                    .collect(),
                ..launch
            };
            server.target = match container {
                Some(container) => Target::Container {
                    container,
                    program: Program::Launched(launch),
                },
                None => Target::Process(launch),
            };
        }
        Some(ServerOverride::Url(url)) => {
            let (transport, headers, auth) = match server.target {
                Target::Url {
                    transport,
                    headers,
                    auth,
                    ..
                } => (transport, headers, auth),
                Target::Process(_)
                | Target::Builtin { .. }
                | Target::Container { .. }
                | Target::None => (UrlTransport::Http, Vec::new(), None),
            };
            server.target = Target::Url {
                transport,
                url: Template { text: url.clone() },
                headers,
                launch: None,
                auth,
            };
        }
    }
    Arc::new(server)
}

fn planned(
    assertion: &Arc<Assertion>,
    server: &Arc<Server>,
    client: &Arc<ClientBehaviour>,
    options: &PlanOptions<'_>,
) -> Planned {
    let control = assertion.control.as_deref();
    let timeout = control.and_then(|control| control.timeout);
    let seconds = timeout.unwrap_or(options.timeout).as_secs_f64() * options.timeout_scale;
    let timeout = Duration::try_from_secs_f64(seconds)
        .unwrap_or(LONGEST_TIMEOUT)
        .min(LONGEST_TIMEOUT);
    let lane = control
        .and_then(|control| control.serial.as_ref())
        .map(|name| format!("serial {name}"))
        .or_else(|| match &server.target {
            Target::Url { url, .. } => Some(format!("url {}", url.text)),
            Target::Process(_)
            | Target::Builtin { .. }
            | Target::Container { .. }
            | Target::None => None,
        });
    Planned {
        assertion: Arc::clone(assertion),
        server: Arc::clone(server),
        client: Arc::clone(client),
        target_key: None,
        timeout,
        retries: control
            .and_then(|control| control.retries)
            .unwrap_or(options.retries),
        lane,
    }
}
