//! Images that have a name: asked of the engine, and pulled from their registry as the suite says.

use std::{collections::HashMap, time::Duration};

use bollard::{models::CreateImageInfo, query_parameters::CreateImageOptionsBuilder};
use futures_util::StreamExt;
use tokio::time::{Instant, sleep, timeout};

use super::{
    credentials::{Credentials, credentials, registry},
    image::{Maker, ReadyImage, inspect},
    image_failure::{ImageError, pull_error, unusable},
    refusal::{About, Kind, PLATFORM},
};
use suite::model::container::{ImageSource, Pull};

/// How long the engine may say nothing while it pulls.
const SILENCE: Duration = Duration::from_mins(3);

/// How often a registry that cannot be reached is tried.
const TRIES: u32 = 3;

/// The wait before the second try; each further one takes three times as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How often progress is told.
const TELLING: Duration = Duration::from_millis(500);

/// The image of a name.
pub(super) async fn named(
    maker: &Maker<'_>,
    name: &str,
    wanted: &ImageSource,
) -> Result<ReadyImage, ImageError> {
    let platform = wanted.platform.as_deref();
    let known = match wanted.pull {
        Pull::Always => None,
        Pull::Missing | Pull::Never => inspect(maker.engine, name).await?,
    };
    match known {
        Some(image) if platform.is_none_or(|platform| fits(platform, &image.platform)) => {
            return Ok(image);
        }
        Some(image) if wanted.pull == Pull::Never || is_id(name) => {
            let (has, wanted) = (image.platform, platform.unwrap_or_default());
            let message = format!("the image `{name}` is {has}, not {wanted}");
            return Err(ImageError::new(message, PLATFORM));
        }
        None if wanted.pull == Pull::Never => {
            let message =
                format!("the engine has no image `{name}`, and `pull: never` forbids to pull it");
            let help = format!("`docker pull {name}` first, or leave `pull` out");
            return Err(ImageError::new(message, help));
        }
        None if is_id(name) => {
            return Err(unusable(name, "the engine has no image of this id"));
        }
        Some(_) | None => {}
    }
    pull(maker, name, platform).await?;
    let pulled = inspect(maker.engine, name).await?;
    pulled.ok_or_else(|| unusable(name, "it was pulled, and is gone"))
}

/// Whether an image of this platform is what was wanted; variants of a processor are the engine's matter.
fn fits(wanted: &str, has: &str) -> bool {
    let parts = |text: &str| {
        let mut parts = text.split('/').map(str::to_lowercase);
        (parts.next(), parts.next())
    };
    let (wanted, has) = (parts(wanted), parts(has));
    wanted.0 == has.0 && (wanted.1.is_none() || wanted.1 == has.1)
}

/// Whether it is an id, which no registry knows.
fn is_id(name: &str) -> bool {
    name.starts_with("sha256:")
}

/// The name with its tag; without one the engine would pull every tag there is.
fn with_tag(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains([':', '@']) {
        name.to_owned()
    } else {
        format!("{name}:latest")
    }
}

/// Pulls, and tries again where the registry could not be reached.
async fn pull(maker: &Maker<'_>, name: &str, platform: Option<&str>) -> Result<(), ImageError> {
    maker.tell(format!("pulling `{name}`"));
    let credentials = credentials(name, maker.environment).await;
    let mut wait = FIRST_WAIT;
    let mut tried = 1;
    loop {
        match pull_once(maker, name, platform, &credentials).await {
            Err(ImageError::Refused(refusal))
                if refusal.kind == Kind::Unreachable && tried < TRIES =>
            {
                maker.tell(format!("pulling `{name}` again: {refusal}"));
                sleep(wait).await;
                wait *= 3;
                tried += 1;
            }
            ended => return ended,
        }
    }
}

async fn pull_once(
    maker: &Maker<'_>,
    name: &str,
    platform: Option<&str>,
    credentials: &Credentials,
) -> Result<(), ImageError> {
    let options = CreateImageOptionsBuilder::default()
        .from_image(&with_tag(name))
        .platform(platform.unwrap_or_default())
        .build();
    let docker = &maker.engine.docker;
    let mut stream = docker.create_image(Some(options), None, credentials.send.clone());
    let mut layers = Layers::default();
    let mut told = Instant::now();
    loop {
        let next = timeout(SILENCE, stream.next());
        let next = next.await.map_err(|_| ImageError::Silent {
            what: format!("pulling `{name}`"),
            after: SILENCE,
        })?;
        let info = match next {
            None => return Ok(()),
            Some(Ok(info)) => info,
            Some(Err(error)) => {
                let about = About::new([
                    ("{image}", name),
                    ("{registry}", registry(name)),
                    ("{credentials}", &credentials.origin),
                ]);
                return Err(pull_error(&about, &error));
            }
        };
        layers.hear(info);
        if told.elapsed() >= TELLING {
            told = Instant::now();
            maker.tell_going(format!("pulling `{name}`{}", layers.shown()));
        }
    }
}

/// How far the layers of an image are.
#[derive(Debug, Default)]
struct Layers {
    /// Bytes that came and bytes there are, by the layer's id.
    seen: HashMap<String, (i64, i64)>,
}

impl Layers {
    fn hear(&mut self, info: CreateImageInfo) {
        let (Some(id), Some(detail)) = (info.id, info.progress_detail) else {
            return;
        };
        if info.status.as_deref() != Some("Downloading") {
            return;
        }
        if let (Some(current), Some(total)) = (detail.current, detail.total) {
            self.seen.insert(id, (current, total));
        }
    }

    fn shown(&self) -> String {
        let current: i64 = self.seen.values().map(|(current, _)| current).sum();
        let total: i64 = self.seen.values().map(|(_, total)| total).sum();
        if total <= 0 {
            return String::new();
        }
        let megabytes = |bytes: i64| bytes / 1_000_000;
        format!(": {} of {} MB", megabytes(current), megabytes(total))
    }
}

#[cfg(test)]
mod tests {
    use super::{fits, with_tag};

    #[test]
    fn a_name_without_a_tag_means_the_latest() {
        let case = |name: &str, wanted: &str| assert_eq!(with_tag(name), wanted);
        case("python", "python:latest");
        case("python:3", "python:3");
        case("127.0.0.1:5000/a", "127.0.0.1:5000/a:latest");
        case("a@sha256:00", "a@sha256:00");
    }

    #[test]
    fn platforms_fit_by_system_and_processor() {
        let case = |wanted: &str, has: &str, fitting: bool| {
            assert_eq!(fits(wanted, has), fitting, "{wanted} {has}");
        };
        case("linux/amd64", "linux/amd64", true);
        case("linux/arm64/v8", "linux/arm64", true);
        case("linux", "linux/arm64", true);
        case("linux/arm64", "linux/amd64", false);
        case("windows/amd64", "linux/amd64", false);
    }
}
