//! Images that are built: the folder goes to the engine as an archive, and a step that fails is shown with its output.

use std::{
    collections::{HashMap, VecDeque},
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use anstream::adapter::strip_str;
use bollard::{
    body_try_stream,
    errors::Error,
    models::BuildInfo,
    query_parameters::{BuildImageOptions, BuildImageOptionsBuilder},
};
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use super::{
    bundle::{Bundle, Sealed, hex},
    ignore::Ignored,
    image::{Maker, ReadyImage, inspect},
    labels::BUILT,
    refusal::{Failure, words},
    unfinished::{self, UnfinishedBuild},
};
use crate::regular;
use suite::model::container::{Build, ImageSource, Pull};

/// The name of the images, their tag is the digest of what they are built from.
const REPOSITORY: &str = "mcp-assert/built";

/// How often an image is taken hold of that others replace.
const TRIES: usize = 5;

/// How long a step may say nothing.
const SILENCE: Duration = Duration::from_mins(10);

/// How long the engine may take to read the folder.
const SENDING: Duration = Duration::from_mins(30);

/// Lines of output that are kept for a failure.
const LAST_LINES: usize = 25;

/// What to do about a line that the builder does not understand.
const CLASSIC: &str = "`build:` uses the engine's classic builder, as `DOCKER_BUILDKIT=0 docker build` does; what only \
                       BuildKit understands (`RUN --mount`, `COPY --chmod`, heredocs) build yourself, `docker build -t \
                       NAME FOLDER`, and name it, `image: NAME`";

/// The Dockerfile where none is named.
const DOCKERFILE: &str = "Dockerfile";

/// A folder with a Dockerfile in it.
#[derive(Debug, Clone)]
struct Folder {
    path: PathBuf,
    /// The Dockerfile, relative to it.
    dockerfile: String,
}

/// Builds the image. The engine's own cache knows what has not changed. Interrupted, it leaves nothing half-made.
pub(super) async fn built(
    maker: &Maker<'_>,
    build: &Build,
    wanted: &ImageSource,
) -> Result<ReadyImage, Failure> {
    let folder = folder(build)?;
    let path = folder.path.join(&folder.dockerfile);
    regular::open(&path).map_err(|error| unreadable(&path, &error))?;
    maker.tell(format!("building `{}`", folder.path.display()));
    let packing = folder.clone();
    let tag = tag(&folder, build, wanted);
    let name = format!("{REPOSITORY}:{tag}");
    let begin = async {
        let packed = tokio::task::spawn_blocking(move || pack(&packing)).await;
        let sealed =
            packed.map_err(|error| unreadable(&folder.path, &io::Error::other(error)))??;
        Ok((sealed, inspect(maker.engine, &name).await?))
    };
    let (sealed, before) = maker.unless_interrupted(begin).await?;
    let mut unfinished = UnfinishedBuild::new(maker.engine, maker.run);
    let options = options(maker, &folder, build, wanted, &name);
    let sent = send(maker, (sealed, &path), options, &mut unfinished).await;
    // The image that had the name before is removed, unless a run still uses it, which has a name of its own for it.
    let replaced = before.map(|before| before.id);
    if let Err(failure) = sent {
        unfinished.tear_down().await;
        if let Some(replaced) = replaced {
            unfinished::delete_nameless(maker.engine, &replaced).await;
        }
        return Err(failure);
    }
    unfinished.finish(REPOSITORY, &tag).await;
    let image = held(maker, &name).await?.ok_or_else(|| {
        Failure::unusable(
            &folder.path.display().to_string(),
            "it was built, and is gone",
        )
    })?;
    if let Some(replaced) = replaced {
        unfinished::delete_nameless(maker.engine, &replaced).await;
    }
    Ok(ReadyImage {
        name: format!("build of {}", folder.path.display()),
        ..image
    })
}

/// What has the name now, held for this run by a name of the run's own: another run may build something else under the
/// same name at any time, and remove what has none.
async fn held(maker: &Maker<'_>, name: &str) -> Result<Option<ReadyImage>, Failure> {
    let own = unfinished::tag(&maker.run.job());
    let building = format!("{}:{own}", unfinished::REPOSITORY);
    for _ in 0..TRIES {
        let Some(image) = inspect(maker.engine, name).await? else {
            return Ok(None);
        };
        unfinished::name(maker.engine, &image.id, unfinished::REPOSITORY, &own).await;
        let found = inspect(maker.engine, &building).await?;
        if found.is_some_and(|found| found.id == image.id) {
            return Ok(Some(image));
        }
    }
    inspect(maker.engine, name).await
}

/// The folder that is meant, and its Dockerfile.
fn folder(build: &Build) -> Result<Folder, Failure> {
    let facts = fs::metadata(&build.context).map_err(|error| unreadable(&build.context, &error))?;
    if facts.is_dir() {
        let dockerfile = build.dockerfile.clone();
        return Ok(Folder {
            path: build.context.clone(),
            dockerfile: dockerfile.unwrap_or_else(|| DOCKERFILE.to_owned()),
        });
    }
    let name = build.context.file_name().unwrap_or_default();
    let parent = build.context.parent().unwrap_or(Path::new("."));
    Ok(Folder {
        path: parent.to_owned(),
        dockerfile: name.to_string_lossy().into_owned(),
    })
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::files("the build's", path, error)
}

/// The folder as an archive, without what `.dockerignore` leaves out.
fn pack(folder: &Folder) -> Result<Sealed, Failure> {
    let list = folder.path.join(".dockerignore");
    let text = match regular::text(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unreadable(&list, &error)),
    };
    let ignored =
        Ignored::new(&text, &[&folder.dockerfile, ".dockerignore"]).map_err(|(line, reason)| {
            let place = PathBuf::from(format!("{}:{line}", list.display()));
            Failure::files("the build's", &place, &reason)
        })?;
    let mut bundle = Bundle::new().map_err(|error| unreadable(&folder.path, &error))?;
    bundle
        .tree(&folder.path, Path::new(""), &|path| ignored.keeps(path))
        .map_err(|(path, error)| unreadable(&path, &error))?;
    bundle
        .seal()
        .map_err(|error| unreadable(&folder.path, &error))
}

/// The tag of what is built: the same for the same folder and the same wishes.
fn tag(folder: &Folder, build: &Build, wanted: &ImageSource) -> String {
    let Build {
        context: _,
        dockerfile: _,
        args,
        target,
    } = build;
    // One folder has many paths: suites name it from where they are.
    let path = fs::canonicalize(&folder.path).unwrap_or_else(|_| folder.path.clone());
    let dockerfile = &folder.dockerfile;
    let what = format!(
        "{}\0{dockerfile}\0{args:?}\0{target:?}\0{:?}",
        path.display(),
        wanted.platform
    );
    hex(&Sha256::digest(what.as_bytes()))
}

fn options(
    maker: &Maker<'_>,
    folder: &Folder,
    build: &Build,
    wanted: &ImageSource,
    name: &str,
) -> BuildImageOptions {
    let args: HashMap<&str, &str> = build
        .args
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let mut options = BuildImageOptionsBuilder::default()
        .dockerfile(&folder.dockerfile)
        .t(name)
        .buildargs(&args)
        .labels(&HashMap::from([(BUILT, name)]))
        .nocache(maker.rebuilds())
        .rm(true)
        .forcerm(true);
    if let Some(target) = &build.target {
        options = options.target(target);
    }
    if let Some(platform) = &wanted.platform {
        options = options.platform(platform);
    }
    if wanted.pull == Pull::Always {
        options = options.pull("true");
    }
    options.build()
}

/// Sends the archive and follows the build.
async fn send(
    maker: &Maker<'_>,
    (sealed, dockerfile): (Sealed, &Path),
    options: BuildImageOptions,
    unfinished: &mut UnfinishedBuild<'_>,
) -> Result<(), Failure> {
    let megabytes = sealed.bytes / 1_000_000;
    maker.tell_going(format!("building, {megabytes} MB are sent"));
    let docker = maker.engine.docker.clone().with_timeout(SENDING);
    let mut stream = docker.build_image(options, None, Some(body_try_stream(sealed.stream())));
    let mut said = BuildOutput::default();
    loop {
        let next = tokio::select! {
            next = timeout(SILENCE, stream.next()) => next,
            () = maker.interrupt.cancelled() => {
                // Without a listener the engine ends the build.
                drop(stream);
                if let Some(container) = &said.container {
                    unfinished::given_up(maker.engine, container).await;
                }
                return Err(Failure::Interrupted);
            }
        };
        match next {
            Err(_) => {
                return Err(Failure::Silent {
                    what: "building an image".to_owned(),
                    after: SILENCE,
                });
            }
            Ok(None) => return Ok(()),
            Ok(Some(Ok(info))) => follow(maker, info, &mut said, unfinished).await,
            Ok(Some(Err(error))) => return Err(said.failure(dockerfile, &error)),
        }
    }
}

/// Takes what the engine says.
async fn follow(
    maker: &Maker<'_>,
    info: BuildInfo,
    said: &mut BuildOutput,
    unfinished: &mut UnfinishedBuild<'_>,
) {
    let texts = [info.stream, info.status];
    for line in texts.iter().flatten().flat_map(|text| text.lines()) {
        match said.read(line) {
            Some(News::Stage(step)) => {
                unfinished.begin();
                maker.tell_going(format!("building: {step}"));
            }
            Some(News::Step(step)) => maker.tell_going(format!("building: {step}")),
            Some(News::Made(id)) => unfinished.made(id).await,
            None => {}
        }
    }
}

/// What a build said.
#[derive(Debug, Default)]
struct BuildOutput {
    /// The step it is at, as the engine tells it.
    step: Option<String>,
    /// Whether what the step gives was there before.
    found: bool,
    /// The container that the step runs in.
    container: Option<String>,
    last: VecDeque<String>,
}

/// What a line of output tells.
#[derive(Debug, PartialEq, Eq)]
enum News {
    /// A stage begins with this step.
    Stage(String),
    /// A step begins.
    Step(String),
    /// An image was made that was not there before.
    Made(String),
}

impl BuildOutput {
    /// Takes a line.
    fn read(&mut self, line: &str) -> Option<News> {
        let line = strip_str(line.trim_end()).to_string();
        let line = line.as_str();
        // Docker's arrow, and Podman's.
        let result = line.strip_prefix(" ---> ").or(line.strip_prefix("--> "));
        if let Some(result) = result {
            if let Some(container) = result.strip_prefix("Running in ") {
                self.container = Some(container.to_owned());
            } else if result.starts_with("Using cache") {
                self.found = true;
            } else if !self.found && result.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Some(News::Made(result.to_owned()));
            }
            return None;
        }
        if line.is_empty() || line.starts_with("Removing ") {
            return None;
        }
        if is_step(line) {
            self.step = Some(line.to_owned());
            self.container = None;
            self.last.clear();
            // What `FROM` names was there before too.
            self.found = line.to_ascii_uppercase().contains(": FROM ");
            return Some(if self.found {
                News::Stage(line.to_owned())
            } else {
                News::Step(line.to_owned())
            });
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line.to_owned());
        None
    }

    /// What an error means that came now.
    fn failure(&self, dockerfile: &Path, error: &Error) -> Failure {
        let place = format!("`{}`", dockerfile.display());
        match (words(error), &self.step) {
            (Ok(reason), _) if reason.contains("no space left") => Failure::of_image(&place, error),
            (Err(_), _) => Failure::of_image(&place, error),
            (Ok(reason), step) => {
                let step = step.iter().map(|step| format!(": `{step}`"));
                let message = format!("{place}{}: {reason}", step.collect::<String>());
                // A line that the builder ran and that failed was understood.
                let ran = reason.contains("returned a non-zero code");
                let help = (!ran).then(|| CLASSIC.to_owned());
                Failure::with_output(message, &self.output(), help)
            }
        }
    }

    fn output(&self) -> String {
        let lines: Vec<&str> = self.last.iter().map(String::as_str).collect();
        lines.join("\n")
    }
}

/// Whether a step begins: `Step 2/5 : RUN x`, or Podman's `STEP 2/5: RUN x` and `[1/2] STEP 2/5: RUN x`.
fn is_step(line: &str) -> bool {
    let staged = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    let line = staged.map_or(line, |(_, line)| line);
    let number = line.strip_prefix("Step ").or(line.strip_prefix("STEP "));
    let number = number.and_then(|rest| rest.split_once('/'));
    number.is_some_and(|(number, rest)| number.parse::<usize>().is_ok() && rest.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::{BuildOutput, News, is_step};

    #[test]
    fn steps_are_known() {
        for step in [
            "Step 2/5 : RUN x",
            "STEP 12/12: RUN x",
            "[2/2] STEP 3/4: RUN x",
        ] {
            assert!(is_step(step), "{step}");
        }
        for other in ["[2/2] COMMIT x:1", "Stepping 1/2: x", "Step by step", ""] {
            assert!(!is_step(other), "{other}");
        }
    }

    #[test]
    fn the_output_of_the_last_step_is_kept() {
        let mut said = BuildOutput::default();
        let from = "Step 1/2 : FROM scratch";
        assert_eq!(said.read(from), Some(News::Stage(from.to_owned())));
        // An image that was there before is not removed.
        assert_eq!(said.read(" ---> 0123456789ab"), None);
        said.read("noise");
        let run = "Step 2/2 : RUN x";
        assert_eq!(said.read(run), Some(News::Step(run.to_owned())));
        for number in 0..100 {
            said.read(&format!("line {number}"));
        }
        said.read("\u{1b}[91mred\u{1b}[0m");
        said.read(" ---> Running in 0123456789ab");
        assert_eq!(said.container.as_deref(), Some("0123456789ab"));
        let made = said.read(" ---> abcdef012345");
        assert_eq!(made, Some(News::Made("abcdef012345".to_owned())));
        assert_eq!(said.step.as_deref(), Some(run));
        let output = said.output();
        assert!(
            output.ends_with("line 99\nred") && !output.contains("noise"),
            "{output}"
        );
        assert_eq!(output.lines().count(), super::LAST_LINES);
        said.read("Step 3/3 : RUN y");
        assert_eq!(said.read(" ---> Using cache"), None);
        assert_eq!(said.read(" ---> 0123456789ab"), None);
        said.read("[2/2] STEP 2/2: RUN z");
        assert_eq!(said.read("--> Using cache 0123456789ab"), None);
        said.read("[2/2] STEP 3/3: RUN z");
        let made = said.read("--> 0123456789ab");
        assert_eq!(made, Some(News::Made("0123456789ab".to_owned())));
    }
}
