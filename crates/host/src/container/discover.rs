//! Where a container engine may be: what was asked for, else the places where engines usually listen. Connects to
//! none of them.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{context, failure::EngineError};
use text::environment::Environment;

/// Why a place is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// `--docker-host`
    Option,
    /// `DOCKER_HOST`
    Variable,
    /// The current context of Docker's configuration.
    Context(String),
    /// A usual place.
    Usual(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option => write!(formatter, "--docker-host"),
            Self::Variable => write!(formatter, "DOCKER_HOST"),
            Self::Context(name) => write!(formatter, "context `{name}`"),
            Self::Usual(what) => write!(formatter, "{what}"),
        }
    }
}

/// A place where an engine may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Its address, with a scheme.
    pub(super) address: String,
    /// Why it is looked at.
    pub(super) origin: Origin,
    /// The folder with the `ca.pem`, `cert.pem` and `key.pem` that secure the connection; `None`: it is not secured.
    pub(super) tls: Option<PathBuf>,
}

/// The places to look at, in this order. Whoever names one gets that one or an error.
pub(super) fn candidates(
    option: Option<&str>,
    environment: &Environment,
    user: u32,
) -> Result<Vec<Candidate>, EngineError> {
    if let Some(host) = option {
        return Ok(vec![asked(host, Origin::Option, environment)]);
    }
    let variable = environment.variable("DOCKER_HOST");
    if let Some(host) = variable.filter(|host| !host.is_empty()) {
        return Ok(vec![asked(host, Origin::Variable, environment)]);
    }
    let current = context::current(environment).map_err(EngineError::Context)?;
    if let Some(name) = current {
        let found = context::endpoint(&name, environment).map_err(EngineError::Context)?;
        return Ok(vec![Candidate {
            tls: with_scheme_tls(&found.host, found.certificates, environment),
            address: found.host,
            origin: Origin::Context(name),
        }]);
    }
    Ok(usual(environment, user))
}

fn asked(host: &str, origin: Origin, environment: &Environment) -> Candidate {
    let address = match host {
        path if path.starts_with('/') => format!("unix://{path}"),
        address if address.contains("://") => address.to_owned(),
        bare => format!("tcp://{bare}"),
    };
    let verify = environment.variable("DOCKER_TLS_VERIFY");
    let wanted = verify.is_some_and(|value| !value.is_empty());
    let tls = certificates(environment).filter(|_| wanted && address.starts_with("tcp://"));
    Candidate {
        tls: with_scheme_tls(&address, tls, environment),
        address,
        origin,
    }
}

/// An `https://` address is secured whatever else is said.
fn with_scheme_tls(
    address: &str,
    tls: Option<PathBuf>,
    environment: &Environment,
) -> Option<PathBuf> {
    let by_scheme = || certificates(environment).filter(|_| address.starts_with("https://"));
    tls.or_else(by_scheme)
}

/// The folder of the certificates that belong to no context.
fn certificates(environment: &Environment) -> Option<PathBuf> {
    let own = environment.variable("DOCKER_CERT_PATH");
    match own.filter(|path| !path.is_empty()) {
        Some(path) => Some(environment.directory.join(path)),
        None => context::folder(environment),
    }
}

/// The sockets of Docker and Podman, of the system and of the user.
fn usual(environment: &Environment, user: u32) -> Vec<Candidate> {
    let home = environment.variable("HOME").map(Path::new);
    let runtime = environment
        .variable("XDG_RUNTIME_DIR")
        .filter(|path| !path.is_empty())
        .map_or_else(|| PathBuf::from(format!("/run/user/{user}")), PathBuf::from);
    let mut places = vec![
        (PathBuf::from("/var/run/docker.sock"), "Docker's socket"),
        (runtime.join("docker.sock"), "rootless Docker"),
    ];
    if let Some(home) = home {
        places.push((home.join(".docker/run/docker.sock"), "Docker Desktop"));
        places.push((home.join(".docker/desktop/docker.sock"), "Docker Desktop"));
    }
    places.push((runtime.join("podman/podman.sock"), "rootless Podman"));
    places.push((PathBuf::from("/run/podman/podman.sock"), "Podman"));
    let places = places.into_iter();
    places
        .map(|(path, what)| Candidate {
            address: format!("unix://{}", path.display()),
            origin: Origin::Usual(what),
            tls: None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Origin, candidates};
    use text::environment::Environment;

    fn around(variables: &[(&str, &str)]) -> Environment {
        Environment {
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Environment::default()
        }
    }

    #[test]
    fn what_is_asked_for_is_the_only_place() {
        let case = |option: Option<&str>,
                    variables: &[(&str, &str)],
                    wanted: (&str, Origin, Option<PathBuf>)| {
            let found = candidates(option, &around(variables), 1).unwrap();
            assert_eq!(found.len(), 1, "{option:?} {variables:?}");
            let found = found.into_iter().next().unwrap();
            assert_eq!((found.address.as_str(), found.origin, found.tls), wanted);
        };
        let host = [("DOCKER_HOST", "tcp://far:2375")];
        case(None, &host, ("tcp://far:2375", Origin::Variable, None));
        case(
            Some("/tmp/s"),
            &host,
            ("unix:///tmp/s", Origin::Option, None),
        );
        case(Some("far:1"), &[], ("tcp://far:1", Origin::Option, None));
        let secured = [
            ("DOCKER_HOST", "tcp://far:2376"),
            ("DOCKER_TLS_VERIFY", "1"),
            ("DOCKER_CERT_PATH", "/certs"),
        ];
        let with = Some(PathBuf::from("/certs"));
        case(None, &secured, ("tcp://far:2376", Origin::Variable, with));
        let with = Some(PathBuf::from("/home/me/.docker"));
        case(
            Some("https://far"),
            &[("HOME", "/home/me")],
            ("https://far", Origin::Option, with),
        );
    }

    #[test]
    fn nobody_asked_means_every_usual_socket() {
        let found = candidates(None, &around(&[("HOME", "/home/me")]), 1000).unwrap();
        let found: Vec<_> = found.iter().map(|place| place.address.as_str()).collect();
        assert_eq!(
            found,
            [
                "unix:///var/run/docker.sock",
                "unix:///run/user/1000/docker.sock",
                "unix:///home/me/.docker/run/docker.sock",
                "unix:///home/me/.docker/desktop/docker.sock",
                "unix:///run/user/1000/podman/podman.sock",
                "unix:///run/podman/podman.sock",
            ]
        );
    }
}
