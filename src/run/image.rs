//! The image of a job in a container: made ready before its clock starts, once for all jobs that share it.

use std::sync::Arc;

use super::job::{Shared, Teller};
use check::outcome::event::{Event, News};
use host::{
    container::{
        image::{ReadyImage, Told},
        image_failure::ImageError,
        upload,
        warm::FirstStart,
    },
    launch,
};
use mcp::{
    observation::disruption::{Disruption, DisruptionKind, Phase},
    script::template::Bindings,
};
use suite::{
    model::{
        container::Container,
        server::{Program, Target},
    },
    plan::job::Planned,
};

/// The image that the job's container is made of; `None` for a job without one.
pub(super) async fn of(
    planned: &Planned,
    shared: &Shared,
    teller: Teller<'_>,
) -> Result<Option<Arc<ReadyImage>>, Disruption> {
    let Target::Container {
        container,
        program,
        served,
    } = &planned.terms.server.target
    else {
        return Ok(None);
    };
    let (Some(source), Some(containers)) = (container.source(), &shared.options.containers) else {
        return Err(place("there is no container engine or no image for it"));
    };
    teller.phase(Phase::Place);
    // One that listens says nothing over its standard streams.
    let start = match served {
        None => first_start(planned, shared, container, program)?,
        Some(_) => None,
    };
    let tell = |told| {
        let (what, news) = match told {
            Told::Begun(what) => (what, News::Begun),
            Told::Going(what) => (what, News::Going),
        };
        shared.tell(Event::Preparing { what, news });
    };
    // Interrupted, it first ends what it began.
    let interrupt = &shared.options.interrupt;
    match Box::pin(containers.image((&source, start), &tell, interrupt)).await {
        Ok(image) => Ok(Some(image)),
        Err(ImageError::Interrupted) => Err(Disruption::new(
            DisruptionKind::Interrupted,
            Phase::Place,
            "interrupted",
        )),
        Err(error) => {
            let mut disruption = place(error.to_string());
            if error.is_by_engine() {
                disruption = disruption.by_engine();
            }
            if let Some(help) = error.help() {
                disruption = disruption.with_help(help);
            }
            Err(disruption)
        }
    }
}

/// How the server of the job is started, for an image that is started once before it is kept.
fn first_start(
    planned: &Planned,
    shared: &Shared,
    container: &Container,
    program: &Program,
) -> Result<Option<FirstStart>, Disruption> {
    if !container.is_warmed() {
        return Ok(None);
    }
    let fixture = planned.terms.fixture.of(shared.options.fixture.as_ref());
    let bindings = Bindings {
        fixture: fixture.map(|fixture| upload::place(fixture)),
        ..planned
            .assertion
            .rules
            .bindings(&shared.options.environment)
    };
    let command = launch::contained(program, &bindings)?;
    Ok(Some(FirstStart {
        front: container.front(command.program.as_deref()),
        program: command.program,
        args: command.args,
        env: [&container.env_file[..], &command.env].concat(),
        directory: command.workdir.or_else(|| container.workdir.clone()),
        user: container.user.clone(),
        fixture: bindings.fixture,
    }))
}

fn place(message: impl Into<String>) -> Disruption {
    Disruption::new(DisruptionKind::Place, Phase::Place, message)
}
