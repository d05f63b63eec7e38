//! `prepare`: lines that run once in a container of an image, whose result is kept as an image of its own and found
//! again by every later run.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::Duration,
};

use bollard::query_parameters::{ListImagesOptionsBuilder, RemoveImageOptions};
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
    refusal::Failure,
    script::Script,
    worker::{Freedom, Marks, Plan, Run, Running, SHELL, WorkError, Worker},
};
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

/// What to do about a line that failed.
const FAILED: &str = "the lines run as the image's user, in the network of `prepare: {network: …}`; variables of yours \
                      come with `prepare: {env: [NAME]}`, files with `prepare: {copy: {host: container}}`";

/// What to do about a line whose program is missing: the shell's exit code is 127.
const NO_PROGRAM: &str =
    "the image lacks the program: install it in a line before, or take an image that has it";

/// What keeps npm from asking other servers than the one that it installs from.
const QUIET: [&str; 2] = ["NPM_CONFIG_AUDIT=false", "NPM_CONFIG_FUND=false"];

/// The network of the lines when the suite does not say.
const NETWORK: &str = "default";

/// Prepares an image, or finds it prepared.
pub(super) async fn prepared(
    maker: &Maker<'_>,
    base: ReadyImage,
    prepare: &Prepare,
    wanted: &ImageSource,
) -> Result<ReadyImage, Failure> {
    let copied = prepare.copy.clone();
    let packed = tokio::task::spawn_blocking(move || pack(&copied)).await;
    let sealed = packed.map_err(Failure::own)??;
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
fn pack(copied: &[(PathBuf, String)]) -> Result<Sealed, Failure> {
    let failed = |path: &Path, error: &std::io::Error| {
        Failure::files("what `prepare` copies from", path, error)
    };
    let mut bundle = Bundle::new().map_err(|error| failed(Path::new("."), &error))?;
    for (from, to) in copied {
        let mut inside = PathBuf::from(to.trim_start_matches('/'));
        if to.ends_with('/') {
            inside.push(from.file_name().unwrap_or_default());
        }
        bundle
            .tree(from, &inside, &|_| true)
            .map_err(|(path, error)| failed(&path, &error))?;
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
    async fn made(&self, sealed: Sealed) -> Result<bool, Failure> {
        if let Some(worker) = self.open().await? {
            self.make(worker, sealed).await?;
        }
        Ok(true)
    }

    /// Makes the container. `None`: another run did the work while we waited for the name.
    async fn open(&self) -> Result<Option<Worker<'a>>, Failure> {
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
            match Worker::open(self.maker.engine, plan).await {
                Ok(worker) => return Ok(Some(worker)),
                Err(WorkError::Taken) => {}
                Err(error) => return Err(self.refused(error)),
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

    /// Waits until the container of another run is gone.
    async fn other(&self) -> Result<(), Failure> {
        while Instant::now() < self.deadline {
            let found = self.maker.engine.docker.inspect_container(&self.lock, None);
            match timeout_at(self.deadline, found).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) if is_unknown(&error) => {
                    // A name is taken a while before its container can be asked about, and after it is gone.
                    sleep(BETWEEN_TRIES).await;
                    return Ok(());
                }
                Ok(Err(error)) => return Err(self.refused(WorkError::Refused(error))),
                Err(_) => break,
            }
            tokio::select! {
                () = sleep(LOOKING) => {}
                () = self.maker.interrupt.cancelled() => return Err(Failure::Interrupted),
            }
        }
        let held = format!("another run has held `{}` all the time", self.lock);
        let first = self.prepare.run.first().map_or("", String::as_str);
        Err(self.failed(first, lost(&held), ""))
    }

    /// Does the work; the container is gone afterwards, whatever happens.
    async fn make(&self, mut worker: Worker<'a>, sealed: Sealed) -> Result<(), Failure> {
        let done = tokio::select! {
            done = self.fill(&mut worker, sealed) => done,
            () = self.maker.interrupt.cancelled() => Err(Failure::Interrupted),
        };
        worker.close().await;
        done
    }

    async fn fill(&self, worker: &mut Worker<'a>, sealed: Sealed) -> Result<(), Failure> {
        self.maker.tell(format!("preparing `{}`", self.base.name));
        if !self.prepare.copy.is_empty() {
            let put = worker.put(sealed.stream()).await;
            put.map_err(|error| self.refused(error))?;
        }
        if !self.prepare.run.is_empty() {
            worker.start().await.map_err(|error| self.refused(error))?;
            self.lines(worker).await?;
        }
        let before = inspect(self.maker.engine, self.name).await?;
        let kept = worker.keep(self.name, self.base, Marks::default()).await;
        kept.map_err(|error| self.refused(error))?;
        if let Some(before) = before {
            forget(self.maker.engine, &before.id).await;
        }
        Ok(())
    }

    /// Runs the lines.
    async fn lines(&self, worker: &Worker<'a>) -> Result<(), Failure> {
        let mut script = Script::new(&self.prepare.run, &self.maker.run.job());
        let variables = &self.maker.environment;
        let mut secrets = Secrets::default();
        let env = self.prepare.env.iter().filter_map(|name| {
            let value = variables.variable(name)?;
            secrets.add_named(name, value);
            Some(format!("{name}={value}"))
        });
        let quiet = QUIET.iter().map(|it| (*it).to_owned());
        let run = Run {
            env: quiet.chain(env).collect(),
            line: vec![SHELL.to_owned(), "-c".to_owned(), script.text.clone()],
            user: None,
            directory: None,
        };
        let running = worker.run(run).await.map_err(|error| self.refused(error))?;
        let id = running.id.clone();
        let listened = self.listen(running, &mut script, &secrets).await;
        let end = if let Err(end) = listened {
            end
        } else {
            let ended = worker.ended(&id).await;
            match ended.map_err(|error| self.refused(error))? {
                Some(0) if script.is_complete() => return Ok(()),
                Some(0) => (
                    "ended the shell, and the lines after it were not run".to_owned(),
                    "leave `exit` and `exec` out",
                ),
                Some(127) => ("ended with exit code 127".to_owned(), NO_PROGRAM),
                Some(code) => (format!("ended with exit code {code}"), FAILED),
                None => lost("the engine does not know how it ended"),
            }
        };
        let line = self.prepare.run.get(script.at);
        let line = line.cloned().unwrap_or_default();
        Err(self.failed(&line, end, &secrets.mask(&script.output())))
    }

    /// Follows the output of the lines until they end or are too late.
    async fn listen(
        &self,
        mut running: Running,
        script: &mut Script,
        secrets: &Secrets,
    ) -> Result<(), End> {
        // An installer that asks something reads the end of its input.
        let _ = running.input.shutdown().await;
        loop {
            match timeout_at(self.deadline, running.output.next()).await {
                Err(_) => {
                    let after = self.prepare.timeout.unwrap_or(PATIENCE).as_secs();
                    let how = format!("did not end within {after} s");
                    return Err((how, "give it more with `prepare: {timeout: 20m}`"));
                }
                Ok(None) => return Ok(()),
                Ok(Some(Err(error))) => return Err(lost(&error.to_string())),
                Ok(Some(Ok(said))) => {
                    if let Some(line) = script.read(&said.into_bytes()) {
                        let line = secrets.mask(&line);
                        self.maker.tell_going(format!("preparing: {line}"));
                    }
                }
            }
        }
    }

    fn failed(&self, line: &str, (how, help): End, output: &str) -> Failure {
        let message = format!("`prepare` in `{}`: `{line}` {how}", self.base.name);
        let help = Some(help.to_owned()).filter(|help| !help.is_empty());
        Failure::with_output(message, output, help)
    }

    fn refused(&self, error: WorkError) -> Failure {
        let first = self.prepare.run.first().map_or("", String::as_str);
        match error {
            WorkError::Taken => self.failed(first, lost("its name was taken"), ""),
            WorkError::Unanswered => self.gone(),
            WorkError::Interrupted => Failure::Interrupted,
            WorkError::NoShell => {
                let how = "cannot be run: the image has no `/bin/sh`".to_owned();
                self.failed(first, (how, "build the image with `build:` instead"), "")
            }
            WorkError::Slow(after) => Failure::Silent {
                what: format!("preparing `{}`", self.base.name),
                after,
            },
            WorkError::Refused(error) => Failure::of_image(&self.base.name, &error),
        }
    }

    fn gone(&self) -> Failure {
        let reason = format!("it was prepared as `{}`, which is gone", self.name);
        Failure::unusable(&self.base.name, &reason)
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
type End = (String, &'static str);

/// Its container ended under it.
fn lost(reason: &str) -> End {
    (format!("lost its container: {reason}"), "")
}
