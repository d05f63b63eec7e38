//! The places where a container engine may be: the one that was asked for, else the usual ones. Connects to none of them.

use std::path::{Path, PathBuf};

use super::{context, failure::EngineError};
use text::environment::Environment;

/// A place where an engine may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Its address, with a scheme.
    pub(super) address: String,
    /// Why it is looked at, for people.
    pub(super) origin: String,
    /// Whether it is a usual place, and not one that was asked for.
    pub(super) is_usual: bool,
    /// The folder with the `ca.pem`, `cert.pem` and `key.pem` that secure the connection; `None`: it is not secured.
    pub(super) tls: Option<PathBuf>,
}

/// The places to look at, in this order; only one when one is asked for.
pub(super) fn candidates(
    option: Option<&str>,
    environment: &Environment,
    user: u32,
) -> Result<Vec<Candidate>, EngineError> {
    if let Some(host) = option {
        return Ok(vec![asked(host, "--docker-host", environment)]);
    }
    let variable = environment.variable("DOCKER_HOST");
    if let Some(host) = variable.filter(|host| !host.is_empty()) {
        return Ok(vec![asked(host, "DOCKER_HOST", environment)]);
    }
    let current = context::current(environment).map_err(EngineError::Context)?;
    if let Some(name) = current {
        let found = context::endpoint(&name, environment).map_err(EngineError::Context)?;
        return Ok(vec![Candidate {
            tls: with_scheme_tls(&found.host, found.certificates, environment),
            address: found.host,
            origin: format!("context `{name}`"),
            is_usual: false,
        }]);
    }
    Ok(usual(environment, user))
}

fn asked(host: &str, origin: &str, environment: &Environment) -> Candidate {
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
        origin: origin.to_owned(),
        is_usual: false,
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
            origin: what.to_owned(),
            is_usual: true,
            tls: None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::candidates;
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
                    wanted: (&str, &str, Option<PathBuf>)| {
            let found = candidates(option, &around(variables), 1).unwrap();
            assert_eq!(found.len(), 1, "{option:?} {variables:?}");
            let found = found.into_iter().next().unwrap();
            assert_eq!((found.address.as_str(), &*found.origin, found.tls), wanted);
        };
        let host = [("DOCKER_HOST", "tcp://far:2375")];
        case(None, &host, ("tcp://far:2375", "DOCKER_HOST", None));
        case(
            Some("/tmp/s"),
            &host,
            ("unix:///tmp/s", "--docker-host", None),
        );
        case(Some("far:1"), &[], ("tcp://far:1", "--docker-host", None));
        let secured = [
            ("DOCKER_HOST", "tcp://far:2376"),
            ("DOCKER_TLS_VERIFY", "1"),
            ("DOCKER_CERT_PATH", "/certs"),
        ];
        let with = Some(PathBuf::from("/certs"));
        case(None, &secured, ("tcp://far:2376", "DOCKER_HOST", with));
        let with = Some(PathBuf::from("/home/me/.docker"));
        case(
            Some("https://far"),
            &[("HOME", "/home/me")],
            ("https://far", "--docker-host", with),
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
