//! The container engine of a run that needs one: found before the first job, or the run ends; and what killed runs
//! left there is removed.

use std::sync::Arc;

use super::Refusal;
use crate::{cli::run::RunArgs, commands::Context};
use host::container::{
    Containers,
    engine::{Asker, Engine, EngineError, EngineKind, Location, Wanted},
    image::{Images, Rebuild},
    labels::RunName,
    reap::{self, Whose},
};
use report::EngineRecord;
use text::{clean, environment::Environment, exit::ExitCode};

/// What the run's label is called in the state of a step, from where it comes back as `STATE_run`.
pub(crate) const STATE: &str = "run";

/// Finds the engine and makes what the run's containers share.
pub(super) async fn containers(
    args: &RunArgs,
    context: &Context,
    name: RunName,
) -> Result<Arc<Containers>, Refusal> {
    let wanted = Wanted {
        host: args.place.docker_host.clone(),
        asker: context.asker,
    };
    let environment = &context.environment;
    let engine = connect(&wanted, environment).await?;
    // What cannot be removed now is tried again by the next run.
    let swept = reap::reap(&engine, Whose::Abandoned).await;
    let rebuild = if args.rebuild {
        Rebuild::Yes
    } else {
        Rebuild::No
    };
    let images = Images::new(Arc::clone(environment), rebuild, name);
    let containers = Containers::new(engine, images, &context.environment);
    if swept.was_silent {
        containers.mistrust();
    }
    Ok(containers)
}

/// What the report says about the engine.
pub(super) fn record(containers: &Containers) -> EngineRecord {
    let facts = containers.facts();
    EngineRecord {
        kind: match facts.kind {
            EngineKind::Docker => "Docker".to_owned(),
            EngineKind::Podman => "Podman".to_owned(),
        },
        version: clean(&facts.version),
        api: clean(&facts.api),
        platform: clean(&facts.platform),
        remote: facts.location == Location::Network,
        label: clean(containers.run().text()),
    }
}

/// Finds the engine, or says why none can be used.
pub(crate) async fn connect(wanted: &Wanted, environment: &Environment) -> Result<Engine, Refusal> {
    let connected = Engine::connect(wanted, environment).await;
    connected.map_err(|error| refusal(&error, wanted.asker))
}

/// Why none can be used, and what to do about it.
pub(crate) fn refusal(error: &EngineError, asker: Asker) -> Refusal {
    let refusal = Refusal::new(ExitCode::CouldNotRun, error.to_string());
    let help = error.help(asker);
    help.into_iter().fold(refusal, Refusal::with_help)
}
