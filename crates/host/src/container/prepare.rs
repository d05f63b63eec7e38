//! `prepare`: lines that run once in a container of an image, whose result is kept as an image of its own and found
//! again by every later run.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::Duration,
};

use bollard::{
    container::LogOutput,
    query_parameters::{ListImagesOptionsBuilder, RemoveImageOptions},
};
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use tokio::{
    io::AsyncWriteExt,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    bundle::{Bundle, Sealed, hex},
    engine::Engine,
    failure::is_unknown,
    image::{Maker, ReadyImage, inspect},
    image_failure::{ImageError, local_error, unusable},
    script::{Script, Tail},
    workshop::{self, Closed, Freedom, Marks, Plan, Run, Running, SHELL, Workshop},
};
use crate::fixture::Listing;
use suite::model::container::{ImageSource, Prepare};
use text::{environment::Environment, redact::Secrets};

/// The name of the images, their tag is the digest of what they are made from.
pub(super) const REPOSITORY: &str = "mcp-assert/prepared";

/// Changes with what is done here, so that images of other versions are not taken for ours.
const FORMAT: &str = "2";

/// The label of an image that was started once: the id of the one it was made of.
pub(super) const MADE_OF: &str = "io.mcp-assert.made-of";

/// How long the engine may take for each step of removing what is not needed.
const FORGETTING: Duration = Duration::from_secs(30);

/// How long the lines may take when the suite does not say.
const PATIENCE: Duration = Duration::from_mins(10);

/// How often we look whether another run is done with the same image.
const LOOKING: Duration = Duration::from_millis(500);

/// How long is waited before a name is tried again whose container is not there.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// A container that was made and not started within this was left behind.
const ABANDONED: i64 = 120;

/// The network of the lines when the suite does not say.
const NETWORK: &str = "default";

/// Prepares an image, or finds it prepared.
pub(super) async fn prepared(
    maker: &Maker<'_>,
    base: ReadyImage,
    prepare: &Prepare,
    wanted: &ImageSource,
) -> Result<ReadyImage, ImageError> {
    let copied = prepare.copy.clone();
    let packed = tokio::task::spawn_blocking(move || pack(&copied)).await;
    let sealed = packed.map_err(ImageError::own)??;
    let environment = &maker.environment;
    let digest = digest(&base, prepare, wanted, (&sealed.digest, environment));
    let name = format!("{REPOSITORY}:{digest}");
    let work = Work {
        maker,
        base: &base,
        prepare,
        platform: wanted.platform.as_deref(),
        name: &name,
        lock: format!("mcp-assert-prepare-{}", &digest[..16]),
        deadline: Instant::now() + prepare.timeout.unwrap_or(PATIENCE),
    };
    let made = Box::pin(maker.once(&name, work.made(sealed))).await?;
    let made = made.ok_or_else(|| work.gone())?;
    Ok(made.in_place_of(&base, format!("{} (prepared)", base.name)))
}

/// Everything that decides what comes out. Values of variables are left out: they are secrets, and are not kept. Whether
/// there is one counts: lines do other things without a token than with it.
fn digest(
    base: &ReadyImage,
    prepare: &Prepare,
    wanted: &ImageSource,
    (copied, environment): (&str, &Environment),
) -> String {
    let Prepare {
        run,
        copy: _,
        env,
        network,
        timeout: _,
    } = prepare;
    let is_set = |name: &String| environment.variable(name).is_some();
    let env: Vec<(&String, bool)> = env.iter().map(|name| (name, is_set(name))).collect();
    let what = serde_json::json!([FORMAT, base.id, wanted.platform, run, env, network, copied]);
    hex(&Sha256::digest(what.to_string().as_bytes()))
}

/// The files that go into the container.
fn pack(copied: &[(PathBuf, String)]) -> Result<Sealed, ImageError> {
    let failed = |path: &Path, error: &std::io::Error| {
        let path = path.display().to_string();
        ImageError::files("what `prepare` copies from", &path, &error.to_string())
    };
    let mut bundle = Bundle::new().map_err(|error| failed(Path::new("."), &error))?;
    for (from, to) in copied {
        let mut inside = PathBuf::from(to.trim_start_matches('/'));
        if to.ends_with('/') {
            inside.push(from.file_name().unwrap_or_default());
        }
        bundle
            .tree(from, &inside, &|_| true)
            .map_err(|unreadable| failed(&unreadable.path, &unreadable.error))?;
    }
    bundle
        .seal()
        .map_err(|error| failed(Path::new("."), &error))
}

/// One preparation.
struct Work<'a> {
    maker: &'a Maker<'a>,
    base: &'a ReadyImage,
    prepare: &'a Prepare,
    platform: Option<&'a str>,
    name: &'a str,
    lock: String,
    deadline: Instant,
}

impl<'a> Work<'a> {
    /// Makes the image, unless another run does it meanwhile.
    async fn made(&self, sealed: Sealed) -> Result<bool, ImageError> {
        if let Some(shop) = self.open().await? {
            self.make(shop, sealed).await?;
        }
        Ok(true)
    }

    /// Makes the container. `None`: another run did the work while we waited for the name.
    async fn open(&self) -> Result<Option<Workshop<'a>>, ImageError> {
        let mut told = false;
        loop {
            let plan = Plan {
                image: self.base,
                platform: self.platform,
                name: &self.lock,
                run: self.maker.run,
                makes: self.name,
                network: self.prepare.network.as_deref().unwrap_or(NETWORK),
                freedom: Freedom::Open,
            };
            match Workshop::open(self.maker.engine, plan).await {
                Ok(shop) => return Ok(Some(shop)),
                Err(Closed::Taken) => {}
                Err(closed) => return Err(self.refused(closed)),
            }
            if !told {
                self.maker.tell(format!(
                    "waiting for another run that prepares `{}`",
                    self.base.name
                ));
                told = true;
            }
            self.other().await?;
            if inspect(self.maker.engine, self.name).await?.is_some() {
                return Ok(None);
            }
        }
    }

    /// Waits until the container of another run is gone, and removes one that was left behind before its start.
    async fn other(&self) -> Result<(), ImageError> {
        while Instant::now() < self.deadline {
            let found = self.maker.engine.docker.inspect_container(&self.lock, None);
            let container = match timeout_at(self.deadline, found).await {
                Ok(Ok(container)) => container,
                Ok(Err(error)) if is_unknown(&error) => {
                    // A name is taken a while before its container can be asked about, and after it is gone.
                    sleep(BETWEEN_TRIES).await;
                    return Ok(());
                }
                Ok(Err(error)) => return Err(self.refused(Closed::Refused(error))),
                Err(_) => break,
            };
            let state = container.state.and_then(|state| state.status);
            let waits = state.is_some_and(|state| state.to_string() == "created");
            if waits && age(container.created.as_deref()).is_some_and(|age| age > ABANDONED) {
                workshop::remove(self.maker.engine, &self.lock).await;
                return Ok(());
            }
            tokio::select! {
                () = sleep(LOOKING) => {}
                () = self.maker.interrupt.cancelled() => return Err(ImageError::Interrupted),
            }
        }
        Err(self.failed(
            self.prepare.run.first().map_or("", String::as_str),
            &End::lost(&format!(
                "another run has held `{}` all the time",
                self.lock
            )),
            "",
        ))
    }

    /// Does the work; the container is gone afterwards, whatever happens.
    async fn make(&self, mut shop: Workshop<'a>, sealed: Sealed) -> Result<(), ImageError> {
        let done = tokio::select! {
            done = self.fill(&mut shop, sealed) => done,
            () = self.maker.interrupt.cancelled() => Err(ImageError::Interrupted),
        };
        shop.close().await;
        done
    }

    async fn fill(&self, shop: &mut Workshop<'a>, sealed: Sealed) -> Result<(), ImageError> {
        self.maker.tell(format!("preparing `{}`", self.base.name));
        let volumes = self.volumes(shop).await;
        if !self.prepare.copy.is_empty() {
            shop.put(sealed)
                .await
                .map_err(|closed| self.refused(closed))?;
        }
        if !self.prepare.run.is_empty() {
            shop.start().await.map_err(|closed| self.refused(closed))?;
            self.lines(shop).await?;
        }
        for (path, before) in &volumes {
            if shop.listing(path).await != *before {
                self.maker.tell(format!(
                    "what `prepare` wrote to `{path}` is lost: the image declares a volume there, which no image made of \
                     it can hold; write to another path"
                ));
            }
        }
        let before = inspect(self.maker.engine, self.name).await?;
        let kept = shop.keep(self.name, self.base, Marks::default()).await;
        kept.map_err(|closed| self.refused(closed))?;
        if let Some(before) = before {
            forget(self.maker.engine, &before.id).await;
        }
        Ok(())
    }

    /// What is in the volumes that the image declares.
    async fn volumes(&self, shop: &Workshop<'_>) -> Vec<(String, Option<Listing>)> {
        let mut volumes = Vec::new();
        for path in &self.base.volumes {
            volumes.push((path.clone(), shop.listing(path).await));
        }
        volumes
    }

    /// Runs the lines.
    async fn lines(&self, shop: &Workshop<'a>) -> Result<(), ImageError> {
        let script = Script::new(&self.prepare.run, &self.maker.run.job());
        let variables = &self.maker.environment;
        let mut secrets = Secrets::default();
        let env = self.prepare.env.iter().filter_map(|name| {
            let value = variables.variable(name)?;
            secrets.add_named(name, value);
            Some(format!("{name}={value}"))
        });
        let run = Run {
            env: env.collect(),
            line: vec![SHELL.to_owned(), "-c".to_owned(), script.text.clone()],
            user: None,
            directory: None,
        };
        let running = shop.run(run).await.map_err(|closed| self.refused(closed))?;
        let id = running.id.clone();
        let (tail, timely) = self.listen(running, &script, &secrets).await;
        let index = tail.line();
        let line = self.prepare.run.get(index).cloned().unwrap_or_default();
        let output = secrets.mask(&tail.text());
        let end = match timely {
            Timely::No => Some(End::late(self.prepare.timeout.unwrap_or(PATIENCE))),
            Timely::Broken(reason) => Some(End::lost(&reason)),
            Timely::Yes => match shop
                .ended(&id)
                .await
                .map_err(|closed| self.refused(closed))?
            {
                Some(0) if tail.is_complete() => None,
                Some(0) => Some(End::early()),
                Some(code) => Some(End::code(code)),
                None => Some(End::lost("the engine does not know how it ended")),
            },
        };
        match end {
            None => Ok(()),
            Some(end) => Err(self.failed(&line, &end, &output)),
        }
    }

    /// Hears what the lines say until they end or are too late.
    async fn listen(
        &self,
        mut running: Running,
        script: &Script,
        secrets: &Secrets,
    ) -> (Tail, Timely) {
        // Nobody answers questions of an installer: they read the end of their input.
        let _ = running.input.shutdown().await;
        let mut tail = script.tail();
        loop {
            match timeout_at(self.deadline, running.output.next()).await {
                Err(_) => return (tail, Timely::No),
                Ok(None) => return (tail, Timely::Yes),
                Ok(Some(Err(error))) => {
                    return (tail, Timely::Broken(error.to_string()));
                }
                Ok(Some(Ok(said))) => {
                    let bytes = match said {
                        LogOutput::StdErr { message }
                        | LogOutput::StdOut { message }
                        | LogOutput::StdIn { message }
                        | LogOutput::Console { message } => message,
                    };
                    if let Some(line) = tail.hear(&bytes) {
                        let line = secrets.mask(&line);
                        self.maker.tell_going(format!("preparing: {line}"));
                    }
                }
            }
        }
    }

    fn failed(&self, line: &str, end: &End, output: &str) -> ImageError {
        let message = format!("`prepare` in `{}`: `{line}` {}", self.base.name, end.how);
        ImageError::with_output(&message, output, end.help.map(str::to_owned))
    }

    fn refused(&self, closed: Closed) -> ImageError {
        let first = self.prepare.run.first().cloned().unwrap_or_default();
        match closed {
            Closed::Taken => self.failed(&first, &End::lost("its name was taken"), ""),
            Closed::Mute => self.gone(),
            Closed::NoShell => self.failed(&first, &End::no_shell(), ""),
            Closed::Slow(after) => ImageError::Silent {
                what: format!("preparing `{}`", self.base.name),
                after,
            },
            Closed::Refused(error) => local_error(&self.base.name, &error),
        }
    }

    fn gone(&self) -> ImageError {
        let reason = format!("it was prepared as `{}`, which is gone", self.name);
        unusable(&self.base.name, &reason)
    }
}

/// Removes an image whose name another one has now, and those that were made of it by a first start. What is still
/// used stays.
async fn forget(engine: &Engine, id: &str) {
    let of = HashMap::from([("label", vec![format!("{MADE_OF}={id}")])]);
    let options = ListImagesOptionsBuilder::default().filters(&of).build();
    let docker = &engine.docker;
    let children: Vec<String> = match timeout(FORGETTING, docker.list_images(Some(options))).await {
        Ok(Ok(images)) => images.into_iter().map(|image| image.id).collect(),
        Ok(Err(_)) | Err(_) => Vec::new(),
    };
    for id in children.iter().map(String::as_str).chain([id]) {
        let removal = docker.remove_image(id, None::<RemoveImageOptions>, None);
        let _ = timeout(FORGETTING, removal).await;
    }
}

/// How a line of `prepare` ended that did not work, and what to do about it.
struct End {
    how: String,
    help: Option<&'static str>,
}

impl End {
    fn new(how: impl Into<String>, help: &'static str) -> Self {
        Self {
            how: how.into(),
            help: Some(help),
        }
    }

    fn code(code: i64) -> Self {
        let help = if code == 127 {
            "the image lacks that program: take another image, or install it in a line before"
        } else {
            "the lines run as the image's user, in the network of `prepare: {network: …}`; variables of yours come with \
             `prepare: {env: [NAME]}`, files with `prepare: {copy: {host: container}}`"
        };
        Self::new(format!("ended with exit code {code}"), help)
    }

    /// It ended the shell, although lines are left.
    fn early() -> Self {
        Self::new(
            "ended the shell, and the lines after it were not run",
            "leave `exit` and `exec` out",
        )
    }

    fn late(after: Duration) -> Self {
        let how = format!("did not end within {} s", after.as_secs());
        Self::new(how, "give it more with `prepare: {timeout: 20m}`")
    }

    /// Its container ended under it.
    fn lost(reason: &str) -> Self {
        Self {
            how: format!("lost its container: {reason}"),
            help: None,
        }
    }

    fn no_shell() -> Self {
        Self::new(
            "cannot be run: the image has no `/bin/sh`",
            "build the image with `build:` instead",
        )
    }
}

/// How listening ended.
enum Timely {
    /// The lines ended.
    Yes,
    /// They did not.
    No,
    /// The engine ended it.
    Broken(String),
}

/// Seconds since a time as engines write it.
fn age(created: Option<&str>) -> Option<i64> {
    let created = chrono::DateTime::parse_from_rfc3339(created?).ok()?;
    Some((chrono::Utc::now() - created.to_utc()).num_seconds())
}
