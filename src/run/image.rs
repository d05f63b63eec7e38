//! The image of a job in a container: made ready before its clock starts, once for all jobs that share it.

use std::sync::Arc;

use super::job::{Shared, Teller};
use crate::{
    isolate::container::{
        image::{ReadyImage, Told},
        image_failure::ImageError,
    },
    observation::disruption::{Disruption, DisruptionKind, Phase},
    outcome::event::{Event, News},
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
    let tell = |told| {
        let (what, news) = match told {
            Told::Begun(what) => (what, News::Begun),
            Told::Going(what) => (what, News::Going),
        };
        shared.tell(Message::Progress(Event::Preparing { what, news }));
    };
    // Interrupted, it first ends what it began.
    let interrupt = &shared.options.interrupt;
    match Box::pin(containers.image(&source, &tell, interrupt)).await {
        Ok(image) => Ok(Some(image)),
        Err(ImageError::Interrupted) => Err(Disruption::new(
            DisruptionKind::Interrupted,
            Phase::Place,
            "interrupted",
        )),
        Err(error) => {
            let disruption = place(error.to_string());
            Err(match error.help() {
                Some(help) => disruption.with_help(help),
                None => disruption,
            })
        }
    }
}

fn place(message: impl Into<String>) -> Disruption {
    Disruption::new(DisruptionKind::Place, Phase::Place, message)
}
