//! Builds the plan from options, settings and environment. All options have their final values here.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::{
    fixture::{fixture, fixture_from},
    refusal::Refusal,
};
use crate::{
    cli::{
        options::{Isolation as IsolationWord, Jobs},
        run::RunArgs,
    },
    commands::Context,
    run::{Rules, RunOptions},
};
use host::{
    container::labels::RunName,
    fixture::Fixture,
    launch::{add_secret, add_secrets},
};
use mcp::script::template::{self, Bindings};
use suite::{
    Dialect,
    discover::{self, Elsewhere, Files, LoadOptions, Loaded},
    lower::{FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables},
    model::{
        Entry, Suite,
        container::{ImageBase, Prepare},
        revisions::{self, Asked},
        server::Target,
    },
    plan::{
        Plan, PlanOptions, ServerOverride,
        filter::Filter,
        job::Work,
        place::{Isolation, Places},
        shard::Part,
    },
    settings::{NamedTarget, Settings},
};
use text::{
    count,
    diagnostic::{Diagnostic, Severity},
    environment::Environment,
    redact::Secrets,
};

/// The name that stands for all targets.
pub(in crate::commands) const ALL_TARGETS: &str = "all";

/// Everything known before the run.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The plan.
    pub(crate) plan: Plan,
    /// The settings file's contents.
    pub(crate) settings: Arc<Settings>,
    /// The files of the suites.
    pub(crate) files: Files,
    /// The suites' problems.
    pub(crate) problems: Vec<Diagnostic>,
    /// Notes on ignored files and options.
    pub(crate) notes: Vec<String>,
    /// The folder copied for each job that uses it.
    pub(crate) fixture: Option<Arc<Fixture>>,
    /// The environment at start.
    pub(crate) environment: Arc<Environment>,
    /// Whether to fetch the catalogs of all targets, because they are compared or saved.
    pub(crate) lists_every_target: bool,
    /// The name of the run, used as label of its containers.
    pub(crate) name: RunName,
    /// The variables used as `{{env.NAME}}`.
    variables: BTreeSet<String>,
}

impl Prepared {
    /// Whether a file of the suite cannot be used.
    pub(crate) fn is_invalid(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.severity == Severity::Error)
    }

    /// Whether any job needs a container engine.
    pub(crate) fn needs_engine(&self) -> bool {
        self.plan.jobs.iter().any(|job| match &job.work {
            Work::Run(work) => matches!(work.terms.server.target, Target::Container { .. }),
            Work::Skip(_) | Work::Invalid(_) => false,
        })
    }

    /// The secrets of the whole suite, so that every shard hides the same values.
    pub(crate) fn secrets(&self) -> Secrets {
        let bindings = Bindings {
            environment: Arc::clone(&self.environment),
            ..Bindings::default()
        };
        let mut secrets = Secrets::default();
        if let Some(token) = self.environment.set("GITHUB_TOKEN") {
            secrets.add_token(token);
        }
        for variable in self.variables.iter().chain(&self.environment.confidential) {
            add_secret(variable, &self.environment, &mut secrets);
        }
        for server in &self.plan.servers.distinct {
            add_secrets(&server.target, &bindings, &mut secrets);
        }
        secrets
    }

    /// The number of parallel jobs. Default: the cores, or twice that with containers, which wait for the engine.
    fn jobs(&self, asked: Jobs) -> usize {
        let cores = self.environment.cores;
        let jobs = match (asked, self.settings.jobs) {
            (Jobs::Exactly(jobs), _) => jobs,
            (Jobs::Auto, Some(jobs)) => usize::try_from(jobs).unwrap_or(usize::MAX),
            (Jobs::Auto, None) if self.needs_engine() => cores * 2,
            (Jobs::Auto, None) => cores,
        };
        jobs.max(1)
    }

    /// Converts the options of the run.
    pub(crate) fn run_options(&self, args: &RunArgs, interrupt: CancellationToken) -> RunOptions {
        RunOptions {
            jobs: self.jobs(args.place.jobs),
            rules: Rules {
                strict_protocol: args.strictness.strict_protocol,
                strict_vacuity: args.strictness.strict_vacuity,
            },
            fail_fast: args.fail_fast,
            reuse_server: args.place.reuse_server,
            keeps_all_frames: args.trace,
            lists_every_target: self.lists_every_target,
            tells_phases: false,
            fixture: self.fixture.clone(),
            containers: None,
            environment: Arc::clone(&self.environment),
            interrupt,
        }
    }
}

/// Which assertions to select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// Those selected by the options.
    ByOptions,
    /// Those selected by the options, for a plan whose shards get isolation and fixture later.
    ToDivide,
    /// Those with these ids, regardless of filters.
    ByPlan(BTreeSet<String>),
}

/// Loads the suites and creates the plan.
pub(crate) fn prepare(
    args: &RunArgs,
    chosen: &Chosen,
    context: &Context,
) -> Result<Prepared, Refusal> {
    let suites = suites(args)?;
    let environment = Arc::clone(&context.environment);
    let selection = &args.selection;
    let loaded = load(&suites, args, sources(args, chosen), &environment)?;
    let (targets, other_targets) = targets(&args.targets, &loaded.settings)?;
    let (filter, part) = match chosen {
        Chosen::ByOptions | Chosen::ToDivide => {
            let part = args.shard.map_or(Part::Whole, Part::EveryNth);
            (filter(args, &loaded.suite, &targets)?, part)
        }
        Chosen::ByPlan(ids) => (Filter::default(), Part::These(ids.clone())),
    };
    let typed = selection.server.as_deref();
    let server = typed.map(ServerOverride::from_text);
    let options = PlanOptions {
        filter,
        part,
        trials: selection.trials,
        retries: args.place.retries,
        timeout: args.place.timeout,
        timeout_scale: args.timeout_scale.unwrap_or(1.0),
        server: server.transpose().map_err(|error| usage(&error))?,
        places: places(args, &loaded.settings)?,
        protocol: protocol(&selection.protocol)?,
        targets,
        other_targets,
        environment: &environment,
    };
    let plan = suite::plan::plan(&loaded.suite, &options).map_err(|error| {
        usage(&error)
            .with_help("ask for fewer trials or targets, or for a part: `--filter`, `--shard`")
    })?;
    let environment = match &args.servers_in {
        Some(elsewhere) => Arc::new(moved(&environment, elsewhere)),
        None => environment,
    };
    let fixture = match fixture(args, &loaded.settings) {
        Ok(fixture) => fixture,
        Err(refusal) => return Err(refusal.beside(loaded.suite.problems)),
    };
    let mut notes = loaded.suite.notes;
    notes.extend(of_replaced_urls(&plan));
    let mut variables = loaded.suite.variables;
    variables.extend(template::variables(typed.unwrap_or_default()));
    Ok(Prepared {
        lists_every_target: args.baseline.is_some()
            || args.save_baseline.is_some()
            || loaded.settings.baseline.is_some(),
        plan,
        settings: loaded.settings,
        files: loaded.files,
        problems: loaded.suite.problems,
        notes,
        fixture,
        name: RunName::new(&environment),
        variables,
        environment,
    })
}

/// Where servers and the fixture may come from, and whether their variables must be set.
fn sources(args: &RunArgs, chosen: &Chosen) -> (ServerFrom, FixtureFrom, UnsetVariables) {
    let unset = match chosen {
        Chosen::ToDivide => UnsetVariables::Later,
        Chosen::ByOptions | Chosen::ByPlan(_) => unset_variables(args),
    };
    (server_from(args), fixture_from(args, chosen), unset)
}

/// Variables that lead to what the machine has: programs, caches, a place for temporary files.
const OF_THE_MACHINE: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// The environment of servers elsewhere: the caller's directory and the other variables that hold paths lead there.
fn moved(environment: &Environment, elsewhere: &Elsewhere) -> Environment {
    let mut moved = environment.clone();
    moved.directory = elsewhere.of(&environment.directory);
    let variables = moved.variables.iter_mut();
    for (_, value) in variables.filter(|(name, _)| !OF_THE_MACHINE.contains(&name.as_str())) {
        let parts = value.split(':').map(|part| {
            let moved = Path::new(part)
                .is_absolute()
                .then(|| elsewhere.of(Path::new(part)));
            let moved = moved.and_then(|path| path.to_str().map(str::to_owned));
            moved.unwrap_or_else(|| part.to_owned())
        });
        *value = parts.collect::<Vec<_>>().join(":");
    }
    moved
}

/// The suites on the command line.
fn suites(args: &RunArgs) -> Result<Vec<PathBuf>, Refusal> {
    let suites = args.suites.iter().chain(&args.more_suites);
    let suites: Vec<PathBuf> = suites.cloned().collect();
    if suites.is_empty() {
        return Err(Refusal::invalid("no suite was given")
            .with_help("name one: `mcp-assert run --suite evals`"));
    }
    Ok(suites)
}

/// Notes that `--server` also changes the transport of servers with a `url`.
fn of_replaced_urls(plan: &Plan) -> Option<String> {
    let urls = plan.urls_replaced;
    (urls > 0).then(|| {
        format!(
            "`--server` replaces the `url` of {}: its command is started instead, and talked to over stdio",
            count(urls, "assertion")
        )
    })
}

/// Where servers may come from.
fn server_from(args: &RunArgs) -> ServerFrom {
    if args.selection.server.is_some() || args.docker.is_some() || !args.targets.is_empty() {
        ServerFrom::Elsewhere
    } else {
        ServerFrom::Suite
    }
}

/// What unset variables mean where the suite runs.
pub(crate) fn unset_variables(args: &RunArgs) -> UnsetVariables {
    if args.strictness.strict_env {
        UnsetVariables::Refuse
    } else {
        UnsetVariables::Warn
    }
}

/// Loads the suites in the dialect of the command line or the settings.
pub(crate) fn load(
    suites: &[PathBuf],
    args: &RunArgs,
    (server_from, fixture_from, unset_variables): (ServerFrom, FixtureFrom, UnsetVariables),
    environment: &Arc<Environment>,
) -> Result<Loaded, Refusal> {
    let load = |dialect| {
        let options = LoadOptions {
            dialect,
            unset_variables,
            server_from,
            image_from: if args.docker.is_some() {
                ImageFrom::Elsewhere
            } else {
                ImageFrom::Suite
            },
            started_in: if args.docker.is_some() || args.isolation == Some(IsolationWord::Container)
            {
                StartedIn::Containers
            } else {
                StartedIn::Processes
            },
            fixture_from,
            servers_in: args.servers_in.as_ref(),
            environment,
        };
        discover::load(suites, &options).map_err(|error| {
            let refusal = Refusal::invalid(error.to_string());
            if is_without_checkout(environment) {
                refusal
                    .with_help(
                        "the workspace is empty: `actions/checkout` in a step before fills it",
                    )
                    .with_help(
                        "where the runner is a container itself, its work folder must have the same path on \
                         the machine of the engine",
                    )
            } else {
                refusal.with_help("a suite is a folder or a YAML file")
            }
        })
    };
    let asked = args.selection.rules.compat().map(Dialect::of_compat);
    let loaded = load(asked)?;
    match asked {
        // The settings of one suite apply to all.
        None if loaded.settings.compat => load(Some(Dialect::Compat)),
        Some(_) | None => Ok(loaded),
    }
}

/// Where servers run.
fn places(args: &RunArgs, settings: &Settings) -> Result<Places, Refusal> {
    let isolation = match args.isolation {
        None => Isolation::AsWritten,
        Some(IsolationWord::Process) => Isolation::Process,
        Some(IsolationWord::Container) => Isolation::Container,
    };
    if isolation == Isolation::Process && args.docker.is_some() {
        return Err(
            Refusal::invalid("`--docker` and `--isolation process` contradict each other")
                .with_help("leave one of them out"),
        );
    }
    let prepare = args.place.prepare.as_deref();
    Ok(Places {
        isolation,
        image: args.docker.as_deref().map(ImageBase::from_text),
        // Kept as one script, because shell constructs may span lines.
        prepare: prepare.map(|text| Prepare {
            run: vec![text.trim_end().to_owned()],
            copy: Vec::new(),
            env: Vec::new(),
            network: None,
            timeout: None,
        }),
        container: settings.docker.clone(),
    })
}

/// Whether the process runs in a workflow with an empty workspace.
fn is_without_checkout(environment: &Environment) -> bool {
    let holds_nothing = |folder: &str| {
        std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
    };
    environment
        .set("GITHUB_WORKSPACE")
        .is_some_and(holds_nothing)
}

/// Refuses what was typed.
pub(in crate::commands) fn usage(error: &impl std::fmt::Display) -> Refusal {
    Refusal::invalid(error.to_string())
}

/// Parses `--protocol`.
pub(in crate::commands) fn protocol(words: &[String]) -> Result<Asked, Refusal> {
    revisions::asked(words.iter().map(String::as_str)).map_err(|unknown| {
        let word = &words[unknown.index];
        Refusal::invalid(format!("unknown revision `{word}` in `--protocol`")).with_meant(
            word,
            "known revisions",
            &unknown.known,
        )
    })
}

fn filter(args: &RunArgs, suite: &Suite, targets: &[NamedTarget]) -> Result<Filter, Refusal> {
    let filter = Filter::new(&args.selection.filter, &args.tags, &args.not_tags);
    match filter.bad_pattern(&suite.entries.iter().map(Entry::case), targets) {
        Some(bad) => Err(usage(bad)),
        None => Ok(filter),
    }
}

/// The targets of these names (`all` in the order of the settings), and the others.
pub(in crate::commands) fn targets(
    names: &[String],
    settings: &Settings,
) -> Result<(Vec<NamedTarget>, Vec<NamedTarget>), Refusal> {
    let mut chosen: Vec<NamedTarget> = Vec::new();
    for name in names {
        if name == ALL_TARGETS {
            chosen.extend(settings.targets.iter().cloned());
            continue;
        }
        match settings.targets.iter().find(|target| target.name == *name) {
            Some(target) => chosen.push(target.clone()),
            None => return Err(unknown_target(name, settings)),
        }
    }
    let mut seen = BTreeSet::new();
    chosen.retain(|target| seen.insert(target.name.clone()));
    if !names.is_empty() && chosen.is_empty() {
        return Err(Refusal::invalid("`--target all` finds no targets")
            .with_help("name them under `targets:` in mcp-assert.yaml"));
    }
    let mut others = Vec::new();
    if !chosen.is_empty() {
        others.clone_from(&settings.targets);
        others.retain(|target| !seen.contains(&target.name));
    }
    Ok((chosen, others))
}

fn unknown_target(name: &str, settings: &Settings) -> Refusal {
    let targets = settings.targets.iter();
    let known: Vec<&str> = targets.map(|target| target.name.as_str()).collect();
    Refusal::invalid(format!("unknown target `{name}`")).with_meant(
        name,
        "targets of mcp-assert.yaml",
        &known,
    )
}
