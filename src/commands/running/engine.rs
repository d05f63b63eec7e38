//! The container engine of a run that needs one: found before the first job, or the run ends.

use std::sync::Arc;

use super::Refusal;
use crate::{
    cli::run::RunArgs,
    isolate::container::{
        Containers,
        engine::{Engine, Wanted},
        image::{Images, Rebuild},
    },
    words::{environment::Environment, exit::ExitCode},
};

/// Finds the engine and makes what the run's containers share.
pub(super) async fn containers(
    args: &RunArgs,
    environment: &Arc<Environment>,
) -> Result<Containers, Refusal> {
    let wanted = Wanted {
        host: args.docker_host.clone(),
    };
    match Engine::connect(&wanted, environment).await {
        Ok(engine) => {
            let rebuild = if args.rebuild {
                Rebuild::Yes
            } else {
                Rebuild::No
            };
            let images = Images::new(Arc::clone(environment), rebuild);
            Ok(Containers::new(engine, images))
        }
        Err(error) => {
            let refusal = Refusal::new(ExitCode::CouldNotRun, error.to_string());
            Err(error.help().into_iter().fold(refusal, Refusal::with_help))
        }
    }
}
