//! The image of a job in a container: made ready before its clock starts, once for all jobs that share it.

use std::sync::Arc;

use super::job::{Shared, Teller};
use crate::{
    isolate::container::image::ReadyImage,
    observation::disruption::{Disruption, DisruptionKind, Phase},
    outcome::event::Event,
    plan::job::RunJob,
    run::scheduler::Message,
    suite::model::server::Target,
};

/// The image that the job's container is made of; `None` for a job without one.
pub(super) async fn of(
    job: &RunJob,
    shared: &Shared,
    teller: Teller<'_>,
) -> Result<Option<Arc<ReadyImage>>, Disruption> {
    let Target::Container { container, .. } = &job.server.target else {
        return Ok(None);
    };
    let (Some(source), Some(containers)) = (container.source(), &shared.options.containers) else {
        return Err(place("there is no container engine or no image for it"));
    };
    teller.phase(Phase::Place);
    let tell = |what| shared.tell(Message::Progress(Event::Preparing { what }));
    tokio::select! {
        image = Box::pin(containers.image(&source, &tell)) => match image {
            Ok(image) => Ok(Some(image)),
            Err(error) => {
                let disruption = place(error.to_string());
                Err(match error.help() {
                    Some(help) => disruption.with_help(help),
                    None => disruption,
                })
            }
        },
        () = shared.options.interrupt.cancelled() => Err(Disruption::new(
            DisruptionKind::Interrupted,
            Phase::Place,
            "interrupted",
        )),
    }
}

fn place(message: impl Into<String>) -> Disruption {
    Disruption::new(DisruptionKind::Place, Phase::Place, message)
}
