//! A container in which an image is worked on before it is kept; commands run in it.
//!
//! Its first process reads from a pipe that we hold, and the engine removes the container when that process ends, even if
//! we are killed. A container that was not started yet is found by its labels.

use std::{io, pin::Pin, sync::Mutex, time::Duration};

use bollard::{
    body_try_stream,
    container::AttachContainerResults,
    errors::Error,
    exec::{CreateExecOptions, StartExecOptions, StartExecResults},
    models::{ContainerConfig, ContainerCreateBody, FilesystemChange, HostConfig},
    query_parameters::{
        AttachContainerOptionsBuilder, CommitContainerOptionsBuilder,
        ContainerArchiveInfoOptionsBuilder, CreateContainerOptionsBuilder,
        DownloadFromContainerOptionsBuilder, StartContainerOptions,
        UploadToContainerOptionsBuilder,
    },
};
use bytes::Bytes;
use futures_util::{Stream, TryStreamExt};
use tokio::{io::AsyncWrite, time::timeout};

use super::{
    engine::{Engine, EngineKind},
    failure::is_unknown,
    image::ReadyImage,
    labels::{self, PREPARED, RunName},
    prepare::MADE_OF,
    sight,
};

/// The shell that commands run in.
pub(super) const SHELL: &str = "/bin/sh";

/// How long the engine may take for a step.
const STEP: Duration = Duration::from_mins(2);

/// The most that is read of one path, in bytes.
const LARGEST_FETCH: usize = 256 << 20;

/// How long it may take to keep an image.
const KEEPING: Duration = Duration::from_mins(10);

/// The container.
pub(super) struct Worker<'a> {
    engine: &'a Engine,
    id: String,
    /// Held: the container ends with it. Behind a lock only because it cannot be shared without.
    stdin: Mutex<Option<Pin<Box<dyn AsyncWrite + Send>>>>,
}

/// What it is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'a> {
    /// The image.
    pub(super) image: &'a ReadyImage,
    /// The image's platform, when one was asked for.
    pub(super) platform: Option<&'a str>,
    /// Its name: two of the same cannot be, so that one run waits for the other.
    pub(super) name: &'a str,
    /// Whose it is.
    pub(super) run: &'a RunName,
    /// The name of the image that it is for.
    pub(super) makes: &'a str,
    /// The network of the container.
    pub(super) network: &'a str,
    /// What commands in it may do.
    pub(super) freedom: Freedom,
}

/// What commands in a worker may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freedom {
    /// What a build may do.
    Open,
    /// What a server may do.
    Closed,
}

/// A command that runs beside.
pub(super) struct Run<'a> {
    /// The program and its arguments.
    pub(super) line: Vec<String>,
    /// Variables, `NAME=value`, which are not kept.
    pub(super) env: Vec<String>,
    /// Its user; `None`: the image's.
    pub(super) user: Option<&'a str>,
    /// Its directory; `None`: the image's.
    pub(super) directory: Option<&'a str>,
}

/// The pipes of a running command.
pub(super) struct Running {
    /// The engine's name of it.
    pub(super) id: String,
    /// Its output.
    pub(super) output:
        Pin<Box<dyn Stream<Item = Result<bollard::container::LogOutput, Error>> + Send>>,
    /// What it hears.
    pub(super) input: Pin<Box<dyn AsyncWrite + Send>>,
}

/// What an image gets besides its files.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks<'a> {
    /// Further variables, `NAME=value`.
    pub(super) variables: &'a [String],
    /// The id of the image it was made of, when it goes with that one.
    pub(super) made_of: Option<&'a str>,
}

/// Why a step failed.
#[derive(Debug)]
pub(super) enum WorkError {
    /// Another one has the name.
    Taken,
    /// The image has no shell.
    NoShell,
    /// The server in it did not answer.
    Unanswered,
    /// The run was interrupted.
    Interrupted,
    /// The engine did not answer in time.
    Slow(Duration),
    /// The engine refused.
    Refused(Error),
}

impl From<io::Error> for WorkError {
    fn from(error: io::Error) -> Self {
        Self::Refused(Error::IOError { err: error })
    }
}

impl From<Error> for WorkError {
    fn from(error: Error) -> Self {
        let Error::DockerResponseServerError {
            status_code,
            message,
        } = &error
        else {
            return Self::Refused(error);
        };
        if *status_code == 409 {
            Self::Taken
        } else if message.contains("exec: \"/bin/sh\"") || message.contains("sh: no such file") {
            Self::NoShell
        } else {
            Self::Refused(error)
        }
    }
}

/// Waits for a step of the engine.
async fn step<T>(
    limit: Duration,
    step: impl Future<Output = Result<T, Error>>,
) -> Result<T, WorkError> {
    match timeout(limit, step).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(WorkError::Slow(limit)),
    }
}

impl<'a> Worker<'a> {
    /// Makes the container; it is not running yet, so that files can be put into it.
    pub(super) async fn open(engine: &'a Engine, plan: Plan<'_>) -> Result<Self, WorkError> {
        let options = CreateContainerOptionsBuilder::default()
            .name(plan.name)
            .platform(plan.platform.unwrap_or_default())
            .build();
        let body = body(plan, engine.facts.kind);
        let created = step(STEP, engine.docker.create_container(Some(options), body)).await?;
        Ok(Self {
            engine,
            id: created.id,
            stdin: Mutex::new(None),
        })
    }

    /// Puts an archive into it.
    pub(super) async fn put(
        &self,
        archive: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<(), WorkError> {
        let archive = body_try_stream(archive);
        let options = UploadToContainerOptionsBuilder::default().path("/").build();
        let docker = self.engine.docker.clone().with_timeout(KEEPING);
        step(
            KEEPING,
            docker.upload_to_container(&self.id, Some(options), archive),
        )
        .await
    }

    /// A path of it as an archive.
    pub(super) async fn fetch(&self, path: &str) -> Result<Vec<u8>, WorkError> {
        let options = DownloadFromContainerOptionsBuilder::default()
            .path(path)
            .build();
        let docker = &self.engine.docker;
        let pieces = docker.download_from_container(&self.id, Some(options));
        let whole = pieces.try_fold(Vec::new(), |mut all, piece| async move {
            if all.len() + piece.len() > LARGEST_FETCH {
                let err = io::Error::other(format!("`{path}` is too large"));
                return Err(Error::IOError { err });
            }
            all.extend_from_slice(&piece);
            Ok(all)
        });
        step(STEP, whole).await
    }

    /// What is not as in the image it was made of.
    pub(super) async fn changes(&self) -> Result<Vec<FilesystemChange>, WorkError> {
        let changes = self.engine.docker.container_changes(&self.id);
        Ok(step(STEP, changes).await?.unwrap_or_default())
    }

    /// A table of its users or groups.
    pub(super) async fn table(&self, path: &str) -> String {
        sight::table(&self.engine.docker, &self.id, path).await
    }

    /// Starts its first process, a shell, if the image or what was put into it has one: without, the container would
    /// be over at once, and whatever is asked of it next be refused for reasons that say nothing.
    pub(super) async fn start(&mut self) -> Result<(), WorkError> {
        let shell = ContainerArchiveInfoOptionsBuilder::default()
            .path(SHELL)
            .build();
        let found = self
            .engine
            .docker
            .get_container_archive_info(&self.id, Some(shell));
        match step(STEP, found).await {
            Err(WorkError::Refused(error)) if is_unknown(&error) => return Err(WorkError::NoShell),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        let options = AttachContainerOptionsBuilder::default()
            .stream(true)
            .stdin(true)
            .build();
        let docker = &self.engine.docker;
        let AttachContainerResults { output: _, input } =
            step(STEP, docker.attach_container(&self.id, Some(options))).await?;
        self.stdin = Mutex::new(Some(input));
        step(
            STEP,
            docker.start_container(&self.id, None::<StartContainerOptions>),
        )
        .await
    }

    /// Starts a command.
    pub(super) async fn run(&self, run: Run<'_>) -> Result<Running, WorkError> {
        let docker = &self.engine.docker;
        let options = CreateExecOptions {
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            env: Some(run.env),
            cmd: Some(run.line),
            user: run.user.map(str::to_owned),
            working_dir: run.directory.map(str::to_owned),
            ..CreateExecOptions::default()
        };
        let id = step(STEP, docker.create_exec(&self.id, options)).await?.id;
        let started = step(STEP, docker.start_exec(&id, None::<StartExecOptions>)).await?;
        match started {
            StartExecResults::Attached { output, input } => Ok(Running { id, output, input }),
            StartExecResults::Detached => Err(WorkError::Refused(Error::IOError {
                err: io::Error::other("the engine started a command detached"),
            })),
        }
    }

    /// The exit code of a command whose output has ended.
    pub(super) async fn ended(&self, id: &str) -> Result<Option<i64>, WorkError> {
        let found = step(STEP, self.engine.docker.inspect_exec(id)).await?;
        Ok(found.exit_code)
    }

    /// Keeps it as an image, with what the image it was made of starts.
    pub(super) async fn keep(
        &self,
        name: &str,
        of: &ReadyImage,
        marks: Marks<'_>,
    ) -> Result<(), WorkError> {
        let (repository, tag) = name.split_once(':').unwrap_or((name, "latest"));
        let kind = self.engine.facts.kind;
        let options = CommitContainerOptionsBuilder::default()
            .container(&self.id)
            .repo(repository)
            .tag(tag)
            .comment("made by mcp-assert")
            .pause(true);
        let options = match kind {
            EngineKind::Docker => options,
            // It does not read what is sent with the request, and takes one change.
            EngineKind::Podman => options.changes("ENTRYPOINT []"),
        };
        let mut labels = labels::of_image();
        labels.insert(PREPARED.to_owned(), name.to_owned());
        labels.extend(marks.made_of.map(|id| (MADE_OF.to_owned(), id.to_owned())));
        let env = [&of.env[..], marks.variables].concat();
        let config = ContainerConfig {
            // Empty lists too: without them the engine takes what this container starts.
            entrypoint: Some(of.entrypoint.clone()),
            cmd: Some(of.command.clone()),
            env: (!env.is_empty()).then_some(env),
            labels: Some(labels),
            ..ContainerConfig::default()
        };
        let docker = self.engine.docker.clone().with_timeout(KEEPING);
        step(KEEPING, docker.commit_container(options.build(), config)).await?;
        Ok(())
    }

    /// Removes it.
    pub(super) async fn close(self) {
        remove(self.engine, &self.id).await;
    }
}

/// Removes a container with its volumes. Failures are ignored: the engine removes it once its first process has ended.
pub(super) async fn remove(engine: &Engine, name: &str) {
    let _ = timeout(STEP, engine.remove_container(name)).await;
}

fn body(plan: Plan<'_>, kind: EngineKind) -> ContainerCreateBody {
    let list = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    ContainerCreateBody {
        image: Some(plan.image.id.clone()),
        // All in the entry point, and no command: an image without either would take over a command.
        entrypoint: list(&[SHELL, "-c", "read line"]),
        labels: match kind {
            EngineKind::Docker => Some(plan.run.maker(plan.makes)),
            // An image that it makes of this would take them over.
            EngineKind::Podman => None,
        },
        open_stdin: Some(true),
        stdin_once: Some(true),
        attach_stdin: Some(true),
        tty: Some(false),
        host_config: Some(HostConfig {
            auto_remove: Some(true),
            init: Some(true),
            network_mode: Some(plan.network.to_owned()),
            cap_drop: match plan.freedom {
                Freedom::Open => None,
                Freedom::Closed => list(&["ALL"]),
            },
            security_opt: match plan.freedom {
                Freedom::Open => None,
                Freedom::Closed => list(&["no-new-privileges:true"]),
            },
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    }
}
