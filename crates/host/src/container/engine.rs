//! The engine of a run: found, connected to, asked who it is. What it is used for stands in the files beside.

use std::{fs, io, path::Path, time::Duration};

use bollard::{
    API_DEFAULT_VERSION, Docker, errors::Error, models::SystemVersion,
    query_parameters::RemoveContainerOptionsBuilder,
};
use rustix::process::getuid;
use tokio::time::timeout;

pub use super::failure::{Asker, EngineError};
use super::{
    discover::{self, Candidate},
    failure::{Attempt, Unreachable, chain, unreachable},
};
use crate::{inside::is_absent, regular};
use text::environment::Environment;

/// How long an engine may take to say that it is there.
const GREETING: Duration = Duration::from_secs(5);

/// How long an engine may take to begin an answer. What needs less time has its own limit.
const ANSWER_SECONDS: u64 = 120;

/// The files of a secured connection.
const CERTIFICATES: [&str; 3] = ["ca.pem", "cert.pem", "key.pem"];

/// Which engine is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// `--docker-host`
    pub host: Option<String>,
    /// Who asked for it.
    pub asker: Asker,
}

/// A container engine that answered.
#[derive(Debug, Clone)]
pub struct Engine {
    /// The client.
    pub(super) docker: Docker,
    /// Who answered.
    pub facts: EngineFacts,
}

/// What an engine says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineFacts {
    /// Its address.
    pub address: String,
    /// What it is.
    pub kind: EngineKind,
    /// Its version.
    pub version: String,
    /// The version of the API that both speak.
    pub api: String,
    /// The platform that its containers run on, e.g. `linux/amd64`.
    pub platform: String,
    /// Whether it may be another machine.
    pub location: Location,
}

/// The kinds of engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// Docker's, or one that says so.
    Docker,
    /// Podman's.
    Podman,
}

/// Where an engine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// Behind a socket of this machine.
    Socket,
    /// Behind the network.
    Network,
}

impl Engine {
    /// Finds the engine and greets it.
    pub async fn connect(wanted: &Wanted, environment: &Environment) -> Result<Self, EngineError> {
        let user = getuid().as_raw();
        let mut attempts: Vec<Attempt> = Vec::new();
        for candidate in discover::candidates(wanted.host.as_deref(), environment, user)? {
            match greet(&candidate).await {
                Ok(engine) => return Ok(engine),
                Err(failure) => attempts.push(Attempt {
                    address: candidate.address,
                    origin: candidate.origin,
                    is_usual: candidate.is_usual,
                    failure,
                }),
            }
        }
        Err(EngineError::Unreachable(attempts))
    }

    /// Removes a container with its volumes by force. A container that is gone or being removed is not an error.
    pub(super) async fn remove_container(&self, id: &str) -> Result<(), Error> {
        let options = RemoveContainerOptionsBuilder::default()
            .force(true)
            .v(true)
            .build();
        match self.docker.remove_container(id, Some(options)).await {
            Err(Error::DockerResponseServerError {
                status_code: 404 | 409,
                ..
            }) => Ok(()),
            answer => answer,
        }
    }
}

/// Connects, waits for the answer to a ping, settles the API's version.
async fn greet(candidate: &Candidate) -> Result<Engine, Unreachable> {
    let (docker, location) = client(candidate)?;
    let greeted = timeout(GREETING, async {
        docker.ping().await?;
        let docker = docker.negotiate_version().await?;
        let version = docker.version().await?;
        Ok((docker, version))
    });
    let (docker, version) = match greeted.await {
        Ok(Ok(greeted)) => greeted,
        Ok(Err(error)) => return Err(unreachable(&error)),
        Err(_) => return Err(Unreachable::Silent(GREETING.as_secs())),
    };
    let facts = facts(candidate, location, version);
    Ok(Engine { docker, facts })
}

fn facts(candidate: &Candidate, location: Location, version: SystemVersion) -> EngineFacts {
    let podman = version.components.iter().flatten().any(|part| {
        let name = part.name.to_lowercase();
        name.contains("podman")
    });
    let os = version.os.as_deref().unwrap_or("linux");
    let arch = version.arch.as_deref().unwrap_or("unknown");
    EngineFacts {
        address: candidate.address.clone(),
        kind: if podman {
            EngineKind::Podman
        } else {
            EngineKind::Docker
        },
        platform: format!("{os}/{arch}"),
        version: version.version.unwrap_or_default(),
        api: version.api_version.unwrap_or_default(),
        location,
    }
}

/// A client for an address; nothing is sent yet.
fn client(candidate: &Candidate) -> Result<(Docker, Location), Unreachable> {
    let address = candidate.address.as_str();
    let (seconds, version) = (ANSWER_SECONDS, API_DEFAULT_VERSION);
    let scheme = address.split("://").next().unwrap_or_default();
    let (made, location) = match (scheme, &candidate.tls) {
        ("unix", _) => {
            let path = address.trim_start_matches("unix://");
            check_socket(Path::new(path))?;
            let made = Docker::connect_with_unix(path, seconds, version);
            (made, Location::Socket)
        }
        ("tcp" | "http" | "https", Some(folder)) => {
            return Ok((secured(address, folder)?, Location::Network));
        }
        ("https", None) => {
            let reason = "no folder with certificates is known";
            return Err(Unreachable::Tls(reason.to_owned()));
        }
        ("tcp" | "http", None) => {
            let made = Docker::connect_with_http(address, seconds, version);
            (made, Location::Network)
        }
        (other, _) => return Err(Unreachable::Scheme(other.to_owned())),
    };
    Ok((made.map_err(|error| unreachable(&error))?, location))
}

/// Says what is wrong with a path that is not a socket: connecting to a folder would only say that it failed.
fn check_socket(path: &Path) -> Result<(), Unreachable> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(Unreachable::NotASocket("a folder")),
        Ok(found) if found.is_file() => Err(Unreachable::NotASocket("a file")),
        Err(error) if is_absent(&error) => Err(Unreachable::Missing),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(Unreachable::Denied),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn secured(address: &str, folder: &Path) -> Result<Docker, Unreachable> {
    let [authority, certificate, key] = CERTIFICATES.map(|name| folder.join(name));
    for path in [&authority, &certificate, &key] {
        regular::open(path).map_err(|error| {
            Unreachable::Tls(format!("`{}` cannot be read: {error}", path.display()))
        })?;
    }
    let (seconds, version) = (ANSWER_SECONDS, API_DEFAULT_VERSION);
    Docker::connect_with_ssl(address, &key, &certificate, &authority, seconds, version)
        .map_err(|error| Unreachable::Tls(chain(&error)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::{Engine, Wanted};
    use crate::container::failure::{EngineError, Unreachable};
    use text::environment::Environment;

    async fn failure(host: String) -> (Unreachable, String) {
        let wanted = Wanted {
            host: Some(host),
            ..Wanted::default()
        };
        let error = Engine::connect(&wanted, &Environment::default())
            .await
            .unwrap_err();
        let help = error.help(wanted.asker).join("\n");
        let EngineError::Unreachable(attempts) = error else {
            panic!("{error}");
        };
        assert_eq!(attempts.len(), 1);
        (attempts[0].failure.clone(), help)
    }

    #[tokio::test]
    async fn what_is_no_engine_is_told_apart_and_comes_with_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let (seen, help) = failure(at("none")).await;
        assert_eq!(seen, Unreachable::Missing);
        assert!(help.contains("start Docker or Podman"), "{help}");
        let (seen, help) = failure(folder.path().display().to_string()).await;
        assert_eq!(seen, Unreachable::NotASocket("a folder"));
        assert!(help.contains("Kubernetes"), "{help}");
        std::fs::write(at("file"), "").unwrap();
        assert_eq!(
            failure(at("file")).await.0,
            Unreachable::NotASocket("a file")
        );
        drop(UnixListener::bind(at("left")).unwrap());
        assert_eq!(failure(at("left")).await.0, Unreachable::Refused);
        let (seen, help) = failure("ssh://far".into()).await;
        assert_eq!(seen, Unreachable::Scheme("ssh".into()));
        assert!(help.contains("ssh -nNT -L"), "{help}");
        let (seen, _) = failure("https://127.0.0.1:1".into()).await;
        assert!(matches!(seen, Unreachable::Tls(_)), "{seen}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_that_never_answers_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frozen");
        let _listener = UnixListener::bind(&path).unwrap();
        let (seen, help) = failure(path.display().to_string()).await;
        assert_eq!(seen, Unreachable::Silent(5));
        assert!(help.contains("restart it"), "{help}");
    }
}
