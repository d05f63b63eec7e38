//! The credentials for a registry, from Docker's own configuration: written down in it, or kept by a program it
//! names. They go to the engine with the request and nowhere else.

use std::{fmt, io, process::Stdio, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bollard::auth::DockerCredentials;
use serde::Deserialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
    time::timeout,
};

use super::context::{self, Auth};
use text::environment::Environment;

/// The registry of names without one, as the configuration calls it.
const HUB: &str = "https://index.docker.io/v1/";

/// How much a program may say.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// How long a program may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is known for a registry.
pub(super) struct Credentials {
    /// What to send.
    pub(super) send: Option<DockerCredentials>,
    /// Where it came from, or why there is none; for people.
    pub(super) origin: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.origin)
    }
}

/// What a program answers.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Kept {
    username: String,
    secret: String,
}

/// The registry that an image's name begins with.
pub(super) fn registry(image: &str) -> &str {
    match image.split_once('/') {
        Some((first, _)) if first.contains(['.', ':']) || first == "localhost" => first,
        Some(_) | None => "docker.io",
    }
}

/// The credentials for the registry of an image.
pub(super) async fn credentials(image: &str, environment: &Environment) -> Credentials {
    match found(image, environment).await {
        Ok((send, whence)) => Credentials {
            send: Some(send),
            origin: format!("the credentials {whence} were sent"),
        },
        Err(reason) => Credentials {
            send: None,
            origin: format!("no credentials were sent: {reason}"),
        },
    }
}

/// The credentials and where they were, or why there are none.
async fn found(
    image: &str,
    environment: &Environment,
) -> Result<(DockerCredentials, String), String> {
    let (config, path) = context::config(environment)?;
    let key = match registry(image) {
        "docker.io" => HUB,
        other => other,
    };
    let helper = config.cred_helpers.get(bare(key));
    if let Some(helper) = helper.or(config.creds_store.as_ref()) {
        let program = format!("docker-credential-{helper}");
        let kept = kept(&program, key, environment).await;
        if let Some(send) = kept.map_err(|reason| format!("`{program}` {reason}"))? {
            return Ok((send, format!("of `{program}`")));
        }
    }
    let mut auths = config.auths.into_iter();
    let auth = auths.find(|(name, _)| bare(name) == bare(key));
    match auth.and_then(|(_, auth)| written(auth, key)) {
        Some(send) => Ok((send, format!("in `{}`", path.display()))),
        None => Err(format!("`{}` has none for it", path.display())),
    }
}

/// The name of a registry without scheme and path, as older configurations have them.
fn bare(name: &str) -> &str {
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    name.split('/').next().unwrap_or(name)
}

/// Credentials that stand in the configuration.
fn written(auth: Auth, key: &str) -> Option<DockerCredentials> {
    let token = auth.identitytoken.filter(|token| !token.is_empty());
    let (username, password) = match auth.pair.filter(|pair| !pair.is_empty()) {
        Some(encoded) => {
            let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
            let (user, password) = text.trim_end_matches('\0').split_once(':')?;
            (Some(user.to_owned()), Some(password.to_owned()))
        }
        None => (auth.username, auth.password),
    };
    let is_any = username.is_some() || token.is_some();
    is_any.then(|| DockerCredentials {
        username,
        password: password.filter(|_| token.is_none()),
        identitytoken: token,
        serveraddress: Some(key.to_owned()),
        ..DockerCredentials::default()
    })
}

/// Credentials that a program keeps; `None` when it has none for this registry.
async fn kept(
    program: &str,
    key: &str,
    environment: &Environment,
) -> Result<Option<DockerCredentials>, String> {
    let answer = timeout(PATIENCE, ask(program, key, environment)).await;
    let (succeeded, output) = answer
        .map_err(|_| format!("did not answer within {} s", PATIENCE.as_secs()))?
        .map_err(|error| format!("could not be run: {error}"))?;
    if !succeeded {
        // What it says for "not found" differs between programs; Docker's own client takes it for none too.
        return Ok(None);
    }
    let kept: Kept =
        serde_json::from_slice(&output).map_err(|_| "gave an answer of another form".to_owned())?;
    let auth = if kept.username == "<token>" {
        Auth {
            identitytoken: Some(kept.secret),
            ..Auth::default()
        }
    } else {
        Auth {
            username: Some(kept.username),
            password: Some(kept.secret),
            ..Auth::default()
        }
    };
    Ok(written(auth, key))
}

/// Runs the program as Docker does: `get`, the registry on its stdin.
async fn ask(program: &str, key: &str, environment: &Environment) -> io::Result<(bool, Vec<u8>)> {
    let mut child = Command::new(program)
        .arg("get")
        .env_clear()
        .envs(&environment.variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that reads nothing may still answer.
        let _ = stdin.write_all(key.as_bytes()).await;
    }
    let mut output = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(LONGEST_ANSWER).read_to_end(&mut output).await?;
    }
    Ok((child.wait().await?.success(), output))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{Environment, credentials, registry};

    #[test]
    fn the_registry_is_the_first_part_that_looks_like_a_host() {
        let case = |image: &str, wanted: &str| assert_eq!(registry(image), wanted, "{image}");
        case("python:3.12", "docker.io");
        case("team/server", "docker.io");
        case("ghcr.io/team/server@sha256:00", "ghcr.io");
        case("localhost/x", "localhost");
        case("127.0.0.1:5000/x:1", "127.0.0.1:5000");
    }

    fn around(folder: &std::path::Path) -> Environment {
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let variables = [
            ("DOCKER_CONFIG".to_owned(), folder.display().to_string()),
            ("PATH".to_owned(), path),
        ];
        Environment {
            variables: variables.into_iter().collect(),
            ..Environment::default()
        }
    }

    #[tokio::test]
    async fn what_stands_in_the_configuration_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let config = r#"{"auths": {"https://index.docker.io/v1/": {"auth": "YWRhOnBhc3M6d29yZA=="},
                        "https://ghcr.io": {"identitytoken": "tok"}, "empty.example": {}}}"#;
        std::fs::write(folder.path().join("config.json"), config).unwrap();
        let around = around(folder.path());
        let hub = credentials("python", &around).await.send.unwrap();
        assert_eq!(hub.username.as_deref(), Some("ada"));
        assert_eq!(hub.password.as_deref(), Some("pass:word"));
        let token = credentials("ghcr.io/a/b", &around).await.send.unwrap();
        assert_eq!(token.identitytoken.as_deref(), Some("tok"));
        for unknown in ["empty.example/a", "other.example/a"] {
            assert!(
                credentials(unknown, &around).await.send.is_none(),
                "{unknown}"
            );
        }
    }

    #[tokio::test]
    async fn a_program_that_keeps_them_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let config = r#"{"credHelpers": {"a.example": "test"}, "credsStore": "gone"}"#;
        std::fs::write(folder.path().join("config.json"), config).unwrap();
        let program = folder.path().join("docker-credential-test");
        let script = "#!/bin/sh\n[ \"$1 $(cat)\" = 'get a.example' ] || exit 1\n\
                      echo '{\"ServerURL\": \"a\", \"Username\": \"ada\", \"Secret\": \"s3cret\"}'\n";
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let around = around(folder.path());
        let found = credentials("a.example/x", &around).await;
        assert_eq!(
            found.send.as_ref().unwrap().password.as_deref(),
            Some("s3cret")
        );
        assert!(!format!("{found:?}").contains("s3cret"));
        let gone = credentials("b.example/x", &around).await;
        assert!(gone.send.is_none());
        assert!(
            gone.origin
                .contains("`docker-credential-gone` could not be run"),
            "{gone:?}"
        );
    }

    #[tokio::test]
    async fn a_broken_configuration_is_told_without_its_text() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.json"), "{\"auths\": s3cret").unwrap();
        let found = credentials("a.example/x", &around(folder.path())).await;
        assert!(
            found.origin.contains("line 1 is no valid configuration"),
            "{found:?}"
        );
        assert!(!found.origin.contains("s3cret"), "{found:?}");
    }
}
