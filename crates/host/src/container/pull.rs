//! Images that have a name: asked of the engine, and pulled from their registry as the suite says.

use std::time::Duration;

use bollard::{auth::DockerCredentials, query_parameters::CreateImageOptionsBuilder};
use futures_util::StreamExt;
use tokio::time::{Instant, sleep, timeout};

use super::{
    credentials::{credentials, registry},
    image::{Maker, ReadyImage, inspect},
    refusal::{About, Asked, Failure, Kind, PLATFORM},
};
use suite::model::container::{ImageSource, Pull};

/// How long the engine may say nothing while it pulls.
const SILENCE: Duration = Duration::from_mins(3);

/// How often a registry that cannot be reached is tried.
const TRIES: u32 = 3;

/// The wait before the second try; each further one takes three times as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How often progress is reported.
const TELLING: Duration = Duration::from_millis(500);

/// The image of a name.
pub(super) async fn named(
    maker: &Maker<'_>,
    name: &str,
    wanted: &ImageSource,
) -> Result<ReadyImage, Failure> {
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
            return Err(Failure::new(message, PLATFORM));
        }
        None if wanted.pull == Pull::Never => {
            let message =
                format!("the engine has no image `{name}`, and `pull: never` forbids to pull it");
            let help = format!("`docker pull {name}` first, or leave `pull` out");
            return Err(Failure::new(message, help));
        }
        None if is_id(name) => {
            return Err(Failure::unusable(
                name,
                "the engine has no image of this id",
            ));
        }
        Some(_) | None => {}
    }
    pull(maker, name, platform).await?;
    let pulled = inspect(maker.engine, name).await?;
    pulled.ok_or_else(|| Failure::unusable(name, "it was pulled, and is gone"))
}

/// Whether an image of this platform is what was wanted; variants of a processor are the engine's matter.
fn fits(wanted: &str, has: &str) -> bool {
    let mut parts = wanted.split('/').zip(has.split('/')).take(2);
    parts.all(|(wanted, has)| wanted.eq_ignore_ascii_case(has))
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
async fn pull(maker: &Maker<'_>, name: &str, platform: Option<&str>) -> Result<(), Failure> {
    maker.tell(format!("pulling `{name}`"));
    let credentials = credentials(name, maker.environment).await;
    let mut wait = FIRST_WAIT;
    let mut tried = 1;
    loop {
        match pull_once(maker, name, platform, &credentials).await {
            Err(Failure::Refused(refusal))
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
    (credentials, origin): &(Option<DockerCredentials>, String),
) -> Result<(), Failure> {
    let options = CreateImageOptionsBuilder::default()
        .from_image(&with_tag(name))
        .platform(platform.unwrap_or_default())
        .build();
    let docker = &maker.engine.docker;
    let mut stream = docker.create_image(Some(options), None, credentials.clone());
    let mut told = Instant::now();
    loop {
        let next = timeout(SILENCE, stream.next());
        let next = next.await.map_err(|_| Failure::Silent {
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
                    ("{credentials}", origin),
                ]);
                return Err(Failure::of(Asked::Registry, &about, &error));
            }
        };
        if told.elapsed() >= TELLING {
            told = Instant::now();
            let status = info.status.unwrap_or_default();
            maker.tell_going(format!("pulling `{name}`: {}", text::clean(&status)));
        }
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
