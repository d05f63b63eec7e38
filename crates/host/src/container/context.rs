//! Docker's contexts: named engines that `docker context` keeps in the folder of its configuration, with the
//! certificates that belong to them.

use std::{
    collections::BTreeMap,
    fmt::Display,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::bundle::hex;
use crate::{inside::is_absent, regular};
use text::environment::Environment;

/// The context that stands for no context.
const NO_CONTEXT: &str = "default";

/// An engine as a context names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Its address.
    pub(super) host: String,
    /// The folder with `ca.pem`, `cert.pem` and `key.pem`, when the context has one.
    pub(super) certificates: Option<PathBuf>,
}

/// Docker's own configuration.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Config {
    current_context: String,
    /// What is written down for registries.
    pub(super) auths: BTreeMap<String, Auth>,
    /// The program that keeps credentials.
    pub(super) creds_store: Option<String>,
    /// The same for single registries.
    pub(super) cred_helpers: BTreeMap<String, String>,
}

/// What is written down for a registry.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Auth {
    #[serde(rename = "auth")]
    pub(super) pair: Option<String>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) identitytoken: Option<String>,
}

/// The folder of Docker's configuration.
pub(super) fn folder(environment: &Environment) -> Option<PathBuf> {
    let own = environment.variable("DOCKER_CONFIG");
    match own.filter(|path| !path.is_empty()) {
        Some(path) => Some(environment.directory.join(path)),
        None => Some(Path::new(environment.variable("HOME")?).join(".docker")),
    }
}

/// Docker's configuration, empty where there is none, and the path of its file; the error is for people.
pub(super) fn config(environment: &Environment) -> Result<(Config, PathBuf), String> {
    let Some(folder) = folder(environment) else {
        return Ok((Config::default(), PathBuf::new()));
    };
    let path = folder.join("config.json");
    match regular::text(&path) {
        // The error of the parser could quote a secret.
        Ok(text) => match serde_json::from_str(&text) {
            Ok(config) => Ok((config, path)),
            Err(error) => {
                let reason = format!("line {} is not valid", error.line());
                Err(unreadable(&path, &reason))
            }
        },
        Err(error) if is_absent(&error) => Ok((Config::default(), path)),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

/// The name of the current context; `None` when there is none.
pub(super) fn current(environment: &Environment) -> Result<Option<String>, String> {
    let own = environment.variable("DOCKER_CONTEXT");
    let name = match own.filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None => config(environment)?.0.current_context,
    };
    Ok(Some(name).filter(|name| !name.is_empty() && name != NO_CONTEXT))
}

/// The engine of a context.
pub(super) fn endpoint(name: &str, environment: &Environment) -> Result<Endpoint, String> {
    let missing =
        || format!("there is no context `{name}`; `docker context ls` lists those there are");
    let contexts = folder(environment).ok_or_else(missing)?.join("contexts");
    let id = hex(&Sha256::digest(name.as_bytes()));
    let path = contexts.join("meta").join(&id).join("meta.json");
    let text = match regular::text(&path) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return Err(missing()),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    let meta: Value = serde_json::from_str(&text).map_err(|error| unreadable(&path, &error))?;
    let host = meta
        .pointer("/Endpoints/docker/Host")
        .and_then(Value::as_str);
    let host = host
        .filter(|host| !host.is_empty())
        .ok_or_else(|| format!("`{}` names no `docker` endpoint", path.display()))?;
    let certificates = contexts.join("tls").join(id).join("docker");
    Ok(Endpoint {
        host: host.to_owned(),
        certificates: certificates.is_dir().then_some(certificates),
    })
}

fn unreadable(path: &Path, error: &dyn Display) -> String {
    format!("`{}` cannot be read: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::Path};

    use sha2::{Digest, Sha256};

    use super::{current, endpoint, hex};
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
        assert!(broken.contains("config.json"), "{broken}");
    }

    #[test]
    fn a_context_gives_its_address_and_certificates() {
        let folder = tempfile::tempdir().unwrap();
        let contexts = folder.path().join("contexts");
        let around = environment(&[("DOCKER_CONFIG", folder.path().to_str().unwrap())]);
        let meta = contexts
            .join("meta")
            .join(hex(&Sha256::digest("far")))
            .join("meta.json");
        write(
            &meta,
            r#"{"Name": "far", "Metadata": {}, "Endpoints": {"docker": {"Host": "tcp://far:2376", "SkipTLSVerify": false}}}"#,
        );
        let found = endpoint("far", &around).unwrap();
        assert_eq!(
            (found.host.as_str(), found.certificates),
            ("tcp://far:2376", None)
        );
        let tls = contexts
            .join("tls")
            .join(hex(&Sha256::digest("far")))
            .join("docker");
        write(&tls.join("ca.pem"), "");
        assert_eq!(endpoint("far", &around).unwrap().certificates, Some(tls));
        let missing = endpoint("near", &around).unwrap_err();
        assert!(missing.contains("no context `near`"), "{missing}");
        write(&meta, r#"{"Name": "far", "Endpoints": {}}"#);
        let empty = endpoint("far", &around).unwrap_err();
        assert!(empty.contains("no `docker` endpoint"), "{empty}");
    }
}
