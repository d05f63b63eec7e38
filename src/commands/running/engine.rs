//! Connects to the container engine before the first job, and removes what killed runs left there.

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

/// The name of the run's label in the step's state; it comes back as `STATE_run`.
pub(crate) const STATE: &str = "run";

/// Connects to the engine and creates the shared state of the run's containers.
pub(crate) async fn containers(
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
    // The next run tries again what cannot be removed now.
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

/// The engine's entry in the report.
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

/// Connects to the engine.
pub(crate) async fn connect(wanted: &Wanted, environment: &Environment) -> Result<Engine, Refusal> {
    let connected = Engine::connect(wanted, environment).await;
    connected.map_err(|error| refusal(&error, wanted.asker))
}

/// Converts an engine error, with help.
pub(crate) fn refusal(error: &EngineError, asker: Asker) -> Refusal {
    let refusal = Refusal::new(ExitCode::CouldNotRun, error.to_string());
    let help = error.help(asker);
    help.into_iter().fold(refusal, Refusal::with_help)
}
