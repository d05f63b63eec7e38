//! Docker's contexts: named engines that `docker context` keeps in the folder of its configuration, with the
//! certificates that belong to them.

use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::regular;
use text::environment::Environment;

/// The context that stands for no context.
const NO_CONTEXT: &str = "default";

/// Certificates longer than this are none.
const LONGEST_FILE: u64 = 1024 * 1024;

/// An engine as a context names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Its address.
    pub(super) host: String,
    /// The folder with `ca.pem`, `cert.pem` and `key.pem`, when the context has one.
    pub(super) certificates: Option<PathBuf>,
    /// Whether the server's certificate is to be believed unseen.
    pub(super) unverified: bool,
}

/// Why a context cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(super) struct BadContext {
    /// What is wrong with it.
    pub(super) reason: String,
}

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "currentContext", default)]
    current: String,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "Endpoints", default)]
    endpoints: std::collections::BTreeMap<String, MetaEndpoint>,
}

#[derive(Deserialize)]
struct MetaEndpoint {
    #[serde(rename = "Host", default)]
    host: String,
    #[serde(rename = "SkipTLSVerify", default)]
    unverified: bool,
}

/// The folder of Docker's configuration.
pub(super) fn folder(environment: &Environment) -> Option<PathBuf> {
    let own = environment.variable("DOCKER_CONFIG");
    match own.filter(|path| !path.is_empty()) {
        Some(path) => Some(environment.directory.join(path)),
        None => Some(Path::new(environment.variable("HOME")?).join(".docker")),
    }
}

/// The name of the current context; `None` when there is none.
pub(super) fn current(environment: &Environment) -> Result<Option<String>, BadContext> {
    if let Some(name) = environment
        .variable("DOCKER_CONTEXT")
        .filter(|name| !name.is_empty())
    {
        return Ok(named(name));
    }
    let Some(folder) = folder(environment) else {
        return Ok(None);
    };
    let path = folder.join("config.json");
    let text = match read(&path) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    match serde_json::from_str::<Config>(&text) {
        Ok(config) => Ok(named(&config.current)),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

/// The engine of a context.
pub(super) fn endpoint(name: &str, environment: &Environment) -> Result<Endpoint, BadContext> {
    let missing = || BadContext {
        reason: format!("there is no context `{name}`; `docker context ls` lists those there are"),
    };
    let contexts = folder(environment).ok_or_else(missing)?.join("contexts");
    let id = digest(name);
    let path = contexts.join("meta").join(&id).join("meta.json");
    let text = match read(&path) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return Err(missing()),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    let meta: Meta = serde_json::from_str(&text).map_err(|error| unreadable(&path, &error))?;
    let docker = meta.endpoints.get("docker");
    let docker = docker
        .filter(|endpoint| !endpoint.host.is_empty())
        .ok_or_else(|| BadContext {
            reason: format!("`{}` names no `docker` endpoint", path.display()),
        })?;
    let certificates = contexts.join("tls").join(id).join("docker");
    Ok(Endpoint {
        host: docker.host.clone(),
        certificates: certificates.is_dir().then_some(certificates),
        unverified: docker.unverified,
    })
}

fn named(name: &str) -> Option<String> {
    (!name.is_empty() && name != NO_CONTEXT).then(|| name.to_owned())
}

fn read(path: &Path) -> io::Result<String> {
    regular::short_text(path, LONGEST_FILE)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> BadContext {
    BadContext {
        reason: format!("`{}` cannot be read: {error}", path.display()),
    }
}

/// The name of a context's folders.
fn digest(name: &str) -> String {
    Sha256::digest(name.as_bytes())
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::Path};

    use super::{current, digest, endpoint};
    use text::environment::Environment;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let pairs = variables.iter();
        Environment {
            variables: pairs
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect::<BTreeMap<_, _>>(),
            ..Environment::default()
        }
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_current_context_is_the_variables_then_the_configurations() {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join(".docker/config.json");
        let home = home.path().to_str().unwrap();
        assert_eq!(current(&environment(&[])), Ok(None));
        assert_eq!(current(&environment(&[("HOME", home)])), Ok(None));
        write(&config, r#"{"auths": {}, "currentContext": "far"}"#);
        let far = Ok(Some("far".to_owned()));
        assert_eq!(current(&environment(&[("HOME", home)])), far);
        let near = environment(&[("HOME", home), ("DOCKER_CONTEXT", "near")]);
        assert_eq!(current(&near), Ok(Some("near".to_owned())));
        let none = environment(&[("HOME", home), ("DOCKER_CONTEXT", "default")]);
        assert_eq!(current(&none), Ok(None));
        write(&config, "{");
        let broken = current(&environment(&[("HOME", home)])).unwrap_err();
        assert!(broken.reason.contains("config.json"), "{broken}");
    }

    #[test]
    fn a_context_gives_its_address_and_certificates() {
        let folder = tempfile::tempdir().unwrap();
        let contexts = folder.path().join("contexts");
        let around = environment(&[("DOCKER_CONFIG", folder.path().to_str().unwrap())]);
        let meta = contexts.join("meta").join(digest("far")).join("meta.json");
        write(
            &meta,
            r#"{"Name": "far", "Metadata": {}, "Endpoints": {"docker": {"Host": "tcp://far:2376", "SkipTLSVerify": false}}}"#,
        );
        let found = endpoint("far", &around).unwrap();
        assert_eq!(
            (found.host.as_str(), found.certificates),
            ("tcp://far:2376", None)
        );
        let tls = contexts.join("tls").join(digest("far")).join("docker");
        write(&tls.join("ca.pem"), "");
        assert_eq!(endpoint("far", &around).unwrap().certificates, Some(tls));
        let missing = endpoint("near", &around).unwrap_err().to_string();
        assert!(missing.contains("no context `near`"), "{missing}");
        write(&meta, r#"{"Name": "far", "Endpoints": {}}"#);
        let empty = endpoint("far", &around).unwrap_err().to_string();
        assert!(empty.contains("no `docker` endpoint"), "{empty}");
    }
}
