//! A server in a container of its own: started when the engine has a turn for it; and how its end is explained.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::{
    container::{
        covered::covered,
        image::ReadyImage,
        server::{Listens, ServerContainer, Wanted},
    },
    container_files::ContainerFiles,
    fixture::Fixture,
    host::{Host, Start},
    launch::CommandLine,
};
use mcp::{
    observation::{
        Observation,
        disruption::{Culprit, Disruption, DisruptionKind, Phase},
        process::ExitStatus,
    },
    transport::Connection,
};
use suite::model::container::{Container, MountSource};

/// Waits for a turn at the engine, which is added to `delay`, then makes the container and starts the server in it.
/// Nothing is started any more once `called_off` resolves.
pub(super) async fn start(
    host: &Host,
    (container, image): (&Container, &ReadyImage),
    (command, listens): (CommandLine, Listens),
    start: &Start<'_>,
    (delay, called_off): (&mut Duration, impl Future<Output = ()>),
) -> Result<(ServerContainer, Connection), Disruption> {
    let Some(containers) = &host.containers else {
        let kind = DisruptionKind::Place;
        let message = "there is no container engine";
        return Err(Disruption::new(kind, Phase::Start, message));
    };
    if let Some(fixture) = &host.fixture {
        refuse_writable(container, fixture)?;
    }
    let files = start.place.in_container();
    if let Some(files) = files {
        check_fixture(container, image, files)?;
    }
    let wanted = Wanted {
        container,
        image,
        command,
        fixture: files.and_then(ContainerFiles::fixture),
        assertion: start.assertion,
        outside: files.map(ContainerFiles::outside).unwrap_or_default(),
        listens,
    };
    let starting = async {
        let begun = Instant::now();
        let _turn = containers.turn().await;
        *delay += begun.elapsed();
        ServerContainer::start(containers, &wanted, start.clock, start.timeout).await
    };
    let started = tokio::select! {
        started = Box::pin(starting) => started,
        () = host.interrupt.cancelled() => {
            containers.hurry();
            let kind = DisruptionKind::Interrupted;
            return Err(Disruption::new(kind, Phase::Start, "interrupted"));
        }
        () = called_off => return Err(not_wanted()),
    };
    started.map_err(|failure| failure.disruption(Phase::Start))
}

/// The original of the fixture is never writable, however it is mounted.
fn refuse_writable(container: &Container, fixture: &Fixture) -> Result<(), Disruption> {
    let writable = container.mounts.iter().find(|mount| match &mount.source {
        MountSource::Path(path) => mount.writable && fixture.touches(path),
        MountSource::Volume(_) => false,
    });
    match writable {
        None => Ok(()),
        Some(mount) => Err(invalid(
            format!(
                "the mount at `{}` would let the server write to the fixture's original",
                mount.target
            ),
            "mount it read-only; `{{fixture}}` is a copy to write to",
        )),
    }
}

fn invalid(message: String, help: &str) -> Disruption {
    Disruption::new(DisruptionKind::Invalid, Phase::Start, message).with_help(help)
}

/// Nothing may lie over the fixture or in it, and the server's directory must be there: the engine would make it, which
/// would be a change of the fixture.
fn check_fixture(
    container: &Container,
    image: &ReadyImage,
    files: &ContainerFiles,
) -> Result<(), Disruption> {
    let (Some(fixture), Some(place)) = (files.fixture(), files.fixture_path()) else {
        return Ok(());
    };
    if let Some(cover) = covered(container, image, &place, |path| fixture.has_directory(path)) {
        return Err(invalid(
            format!("{cover} would lie over the fixture, which is at `{place}` in the container"),
            "put it elsewhere; what the server is to find there belongs into the fixture",
        ));
    }
    let below = Path::new(files.directory()).strip_prefix(&place).ok();
    // A directory that leads out of the fixture is not a part of it.
    let missing = below
        .and_then(|below| fixture.way(below))
        .filter(|way| way.place != "." && !fixture.has_directory(Path::new(&way.place)));
    let Some(way) = missing else {
        return Ok(());
    };
    let message = format!(
        "the server could not be started: the fixture has no directory `{}`, where the server is to start",
        way.place
    );
    let help = "`cwd` is written `{{fixture}}/FOLDER`; `{{fixture}}` is the fixture itself";
    Err(Disruption::new(DisruptionKind::Start, Phase::Start, message).with_help(help))
}

/// Replaces the description of a crash by what is known of the container's end.
pub fn explain(container: &ServerContainer, status: ExitStatus, seen: &mut Observation) {
    let Some(disruption) = &mut seen.disruption else {
        return;
    };
    let crashed = disruption.kind == DisruptionKind::Crash;
    let gone = match status {
        ExitStatus::Unknown => Some((
            "the container engine is gone, and the server with it",
            "start it again, and look into its log",
        )),
        ExitStatus::Removed => Some((
            "the container was removed by somebody else, and the server with it",
            "`docker events` shows what removes containers while they run",
        )),
        ExitStatus::Code(_)
        | ExitStatus::Signal(_)
        | ExitStatus::LikeSignal(_)
        | ExitStatus::OutOfMemory => None,
    };
    if let Some((message, help)) = gone.filter(|_| crashed) {
        let told = Disruption::new(DisruptionKind::Transport, disruption.phase, message);
        *disruption = told.with_help(help);
        if status == ExitStatus::Unknown {
            disruption.culprit = Culprit::Engine;
        }
        return;
    }
    if crashed && container.seen.out_of_memory {
        disruption.help = Some(format!(
            "its container may have {} MiB; more with `docker: {{memory: …}}`",
            mebibytes(container)
        ));
    }
    let silent = disruption.phase == Phase::Handshake;
    if crashed
        && silent
        && let Some(failure) = container.explain(status)
    {
        seen.reached = Phase::Start;
        *disruption = failure.disruption(Phase::Start);
    }
}

/// A note that memory ran out in a container, when the server's end does not show it.
pub(super) fn ran_out(container: &ServerContainer, status: ExitStatus) -> Option<String> {
    if !container.seen.out_of_memory || status == ExitStatus::OutOfMemory {
        return None;
    }
    Some(format!(
        "memory ran out in its container, which may have {} MiB, and a process was ended for it; \
         more with `docker: {{memory: …}}`",
        mebibytes(container)
    ))
}

fn mebibytes(container: &ServerContainer) -> u64 {
    container.memory_limit() / (1024 * 1024)
}

/// The disruption of a job that was started ahead and called off. It does not become an outcome.
pub fn not_wanted() -> Disruption {
    let kind = DisruptionKind::Interrupted;
    Disruption::new(kind, Phase::Start, "not wanted any more")
}
