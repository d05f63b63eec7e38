//! The image of a job in a container: made ready before its clock starts, once for all jobs that share it.

use std::{path::PathBuf, sync::Arc};

use super::job::{Reporter, Shared};
use check::outcome::event::{Event, News};
use host::{
    container::{
        image::{ReadyImage, Update},
        upload,
        warm::FirstStart,
    },
    launch::{self, CommandLine},
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
    reporter: Reporter<'_>,
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
        let message = "there is no container engine or no image for it";
        return Err(Disruption::new(
            DisruptionKind::Place,
            Phase::Place,
            message,
        ));
    };
    reporter.phase(Phase::Place);
    // One that listens says nothing over its standard streams.
    let start = match served {
        None => first_start(planned, shared, container, program)?,
        Some(_) => None,
    };
    let tell = |told| {
        let (what, news) = match told {
            Update::Begun(what) => (what, News::Begun),
            Update::Going(what) => (what, News::Going),
        };
        shared.tell(Event::Preparing { what, news });
    };
    // Interrupted, it first ends what it began.
    let interrupt = &shared.options.interrupt;
    match Box::pin(containers.image((&source, start), &tell, interrupt)).await {
        Ok(image) => Ok(Some(image)),
        Err(failure) => Err(failure.disruption(Phase::Place)),
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
    let workdir = container.workdir.as_ref().map(PathBuf::from);
    Ok(Some(FirstStart {
        front: container.front(command.named()),
        line: CommandLine {
            env: [&container.env_file[..], &command.env].concat(),
            directory: command.directory.clone().or(workdir),
            ..command
        },
        user: container.user.clone(),
        fixture: bindings.fixture,
    }))
}
