//! Images that are built: the folder goes to the engine as an archive, and when a step fails the Dockerfile's line
//! is found again.

use std::{
    collections::{HashMap, VecDeque},
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use anstream::adapter::strip_str;
use bollard::{
    body_try_stream,
    query_parameters::{BuildImageOptions, BuildImageOptionsBuilder, RemoveImageOptions},
};
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use super::{
    bundle::{Bundle, Sealed, hex},
    dockerfile,
    ignore::Ignored,
    image::{Maker, ReadyImage, inspect},
    image_failure::{ImageError, Words, is_full, words},
};
use crate::suite::model::container::{Build, ImageSource, Pull};

/// The name of the images, their tag is the digest of what they are built from.
const REPOSITORY: &str = "mcp-assert/built";

/// How long a step may say nothing.
const SILENCE: Duration = Duration::from_mins(10);

/// How long the engine may take to read the folder.
const SENDING: Duration = Duration::from_mins(30);

/// How long the engine may take for each step of removing what is not needed.
const FORGETTING: Duration = Duration::from_secs(30);

/// Lines of output that are kept for a failure.
const LAST_LINES: usize = 25;

/// The Dockerfile where none is named.
const DOCKERFILE: &str = "Dockerfile";

/// A folder with a Dockerfile in it.
#[derive(Debug, Clone)]
struct Folder {
    path: PathBuf,
    /// The Dockerfile, relative to it.
    dockerfile: String,
}

/// Builds the image. The engine's own cache knows what has not changed.
pub(super) async fn built(
    maker: &Maker<'_>,
    build: &Build,
    wanted: &ImageSource,
) -> Result<ReadyImage, ImageError> {
    let folder = folder(build)?;
    let path = folder.path.join(&folder.dockerfile);
    let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    maker.tell(format!("building `{}`", folder.path.display()));
    let packing = folder.clone();
    let packed = tokio::task::spawn_blocking(move || pack(&packing)).await;
    let sealed = packed.map_err(|error| unreadable(&folder.path, &io::Error::other(error)))??;
    let name = name(&folder, build, wanted);
    let before = inspect(maker.engine, &name).await?;
    send(
        maker,
        sealed,
        options(maker, &folder, build, wanted, &name),
        |step, reason, output| {
            let line = dockerfile::line(&text, step);
            ImageError::Build {
                place: place(&path, line),
                reason,
                output,
            }
        },
    )
    .await?;
    let image = inspect(maker.engine, &name)
        .await?
        .ok_or_else(|| ImageError::Refused {
            image: folder.path.display().to_string(),
            reason: "it was built, and is gone".to_owned(),
        })?;
    if let Some(before) = before.filter(|before| before.id != image.id) {
        // Nobody can name it any more; an engine that still uses it keeps it.
        let removal =
            maker
                .engine
                .docker
                .remove_image(&before.id, None::<RemoveImageOptions>, None);
        let _ = timeout(FORGETTING, removal).await;
    }
    Ok(ReadyImage {
        name: format!("build of {}", folder.path.display()),
        ..image
    })
}

/// The folder that is meant, and its Dockerfile.
fn folder(build: &Build) -> Result<Folder, ImageError> {
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

fn unreadable(path: &Path, error: &io::Error) -> ImageError {
    ImageError::Files {
        what: "the build's",
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}

/// The folder as an archive, without what `.dockerignore` leaves out.
fn pack(folder: &Folder) -> Result<Sealed, ImageError> {
    let list = folder.path.join(".dockerignore");
    let text = match fs::read_to_string(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unreadable(&list, &error)),
    };
    let ignored =
        Ignored::new(&text, &[&folder.dockerfile, ".dockerignore"]).map_err(|(line, reason)| {
            ImageError::Files {
                what: "the build's",
                path: format!("{}:{line}", list.display()),
                reason,
            }
        })?;
    let mut bundle = Bundle::new().map_err(|error| unreadable(&folder.path, &error))?;
    bundle
        .tree(&folder.path, Path::new(""), &|path| ignored.keeps(path))
        .map_err(|failed| unreadable(&failed.path, &failed.error))?;
    bundle
        .seal()
        .map_err(|error| unreadable(&folder.path, &error))
}

/// The name of what is built: the same for the same folder and the same wishes.
fn name(folder: &Folder, build: &Build, wanted: &ImageSource) -> String {
    let Build {
        context: _,
        dockerfile: _,
        args,
        target,
    } = build;
    let what = format!("{folder:?}\0{args:?}\0{target:?}\0{:?}", wanted.platform);
    format!("{REPOSITORY}:{}", hex(&Sha256::digest(what.as_bytes())))
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

/// Sends the archive and follows the build. `failure` makes an error of the step, what was said, and the output.
async fn send(
    maker: &Maker<'_>,
    sealed: Sealed,
    options: BuildImageOptions,
    failure: impl Fn(Option<usize>, String, String) -> ImageError,
) -> Result<(), ImageError> {
    let megabytes = sealed.bytes / 1_000_000;
    maker.tell_going(format!("building, {megabytes} MB are sent"));
    let docker = maker.engine.docker.clone().with_timeout(SENDING);
    let mut stream = docker.build_image(options, None, Some(body_try_stream(sealed.stream())));
    let mut heard = Heard::default();
    loop {
        let next = timeout(SILENCE, stream.next());
        let next = next.await.map_err(|_| ImageError::Silent {
            what: "building an image".to_owned(),
            after: SILENCE,
        })?;
        match next {
            None => return Ok(()),
            Some(Ok(info)) => {
                let texts = [info.stream, info.status];
                for line in texts.iter().flatten().flat_map(|text| text.lines()) {
                    if let Some(step) = heard.hear(line) {
                        maker.tell_going(format!("building: {step}"));
                    }
                }
            }
            Some(Err(error)) => {
                forget(maker, heard.made.as_deref()).await;
                return Err(match words(&error) {
                    Words::Said(reason) if is_full(&reason) => ImageError::NoSpace(reason),
                    Words::Said(reason) => failure(heard.step, reason, heard.output()),
                    Words::Gone(reason) => ImageError::Gone(reason),
                });
            }
        }
    }
}

/// Removes what a build that failed made last, and with it what only that was made of.
async fn forget(maker: &Maker<'_>, made: Option<&str>) {
    let Some(id) = made else {
        return;
    };
    let found = timeout(FORGETTING, maker.engine.docker.inspect_image(id)).await;
    let nameless = |names: Option<Vec<String>>| names.is_none_or(|names| names.is_empty());
    if let Ok(Ok(image)) = found
        && nameless(image.repo_tags)
        && nameless(image.repo_digests)
    {
        let docker = &maker.engine.docker;
        let removal = docker.remove_image(id, None::<RemoveImageOptions>, None);
        // What is still used stays, as after any build that failed.
        let _ = timeout(FORGETTING, removal).await;
    }
}

/// What a build said.
#[derive(Debug, Default)]
struct Heard {
    /// The step it is at, from 1.
    step: Option<usize>,
    /// Whether what the step gives was there before.
    found: bool,
    /// What the build made last.
    made: Option<String>,
    last: VecDeque<String>,
}

impl Heard {
    /// Takes a line; gives it back when a step begins with it.
    fn hear(&mut self, line: &str) -> Option<String> {
        let line = strip_str(line.trim_end()).to_string();
        let line = line.as_str();
        if let Some(result) = line.strip_prefix(" ---> ") {
            if result == "Using cache" {
                self.found = true;
            } else if !self.found && result.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                self.made = Some(result.to_owned());
            }
            return None;
        }
        if line.is_empty() || line.starts_with("Removing ") {
            return None;
        }
        if let Some(step) = dockerfile::step(line) {
            self.step = Some(step);
            // What `FROM` names was there before too.
            self.found = line.to_ascii_uppercase().contains(": FROM ");
            self.last.clear();
            return Some(line.to_owned());
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line.to_owned());
        None
    }

    fn output(&self) -> String {
        self.last.iter().fold(String::new(), |text, line| {
            text + line
                + "
"
        })
    }
}

/// Where a build failed, for people.
fn place(path: &Path, line: Option<(usize, String)>) -> String {
    match line {
        Some((number, text)) => format!("`{}:{number}`: `{text}`", path.display()),
        None => format!("`{}`", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::Heard;

    #[test]
    fn the_output_of_the_last_step_is_kept() {
        let mut heard = Heard::default();
        assert!(heard.hear("Step 1/2 : FROM scratch").is_some());
        heard.hear(" ---> 0123456789ab");
        heard.hear("noise");
        assert_eq!(
            heard.made, None,
            "an image that was there is nobody's to remove"
        );
        assert!(heard.hear("Step 2/2 : RUN x").is_some());
        for number in 0..100 {
            heard.hear(&format!("line {number}"));
        }
        heard.hear("\u{1b}[91mred\u{1b}[0m");
        heard.hear(" ---> Running in 0123456789ab");
        heard.hear(" ---> abcdef012345");
        assert_eq!(heard.step, Some(2));
        assert_eq!(heard.made.as_deref(), Some("abcdef012345"));
        let output = heard.output();
        assert!(
            output.ends_with("line 99\nred\n") && !output.contains("noise"),
            "{output}"
        );
        assert_eq!(output.lines().count(), super::LAST_LINES);
    }
}
