//! The credentials for a registry, from Docker's configuration: written in it, or kept by a program that it names. They
//! are sent to the engine with the request and nowhere else.

use std::{io, process::Stdio, time::Duration};

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

/// The credentials for the registry of an image, and where they came from or why there are none, for people.
pub(super) async fn credentials(
    image: &str,
    environment: &Environment,
) -> (Option<DockerCredentials>, String) {
    match found(image, environment).await {
        Ok((send, place)) => (Some(send), format!("the credentials {place} were sent")),
        Err(reason) => (None, format!("no credentials were sent: {reason}")),
    }
}

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
        let kept = match timeout(PATIENCE, ask(&program, key, environment)).await {
            Ok(answer) => {
                answer.map_err(|error| format!("`{program}` could not be run: {error}"))?
            }
            Err(_) => return Err(format!("`{program}` did not answer within {PATIENCE:?}")),
        };
        if let Some(Kept { username, secret }) = kept {
            let mut send = DockerCredentials {
                serveraddress: Some(key.to_owned()),
                ..DockerCredentials::default()
            };
            if username == "<token>" {
                send.identitytoken = Some(secret);
            } else {
                (send.username, send.password) = (Some(username), Some(secret));
            }
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

/// The name of a registry without scheme and path, which older configurations have.
fn bare(name: &str) -> &str {
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    name.split('/').next().unwrap_or(name)
}

/// Credentials that are written in the configuration.
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

/// Runs a program as Docker does: `get`, the registry on its stdin. `None` when it has no credentials for the registry:
/// then it fails, and what it says differs from program to program.
async fn ask(program: &str, key: &str, environment: &Environment) -> io::Result<Option<Kept>> {
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
    if !child.wait().await?.success() {
        return Ok(None);
    }
    // The error of the parser could quote a secret.
    let kept = serde_json::from_slice(&output);
    kept.map(Some)
        .map_err(|_| io::Error::other("its answer has another form"))
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
        let hub = credentials("python", &around).await.0.unwrap();
        assert_eq!(hub.username.as_deref(), Some("ada"));
        assert_eq!(hub.password.as_deref(), Some("pass:word"));
        let token = credentials("ghcr.io/a/b", &around).await.0.unwrap();
        assert_eq!(token.identitytoken.as_deref(), Some("tok"));
        for unknown in ["empty.example/a", "other.example/a"] {
            assert!(credentials(unknown, &around).await.0.is_none(), "{unknown}");
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
        let (found, origin) = credentials("a.example/x", &around).await;
        assert_eq!(found.unwrap().password.as_deref(), Some("s3cret"));
        assert!(!origin.contains("s3cret"), "{origin}");
        let (gone, origin) = credentials("b.example/x", &around).await;
        assert!(gone.is_none());
        let wanted = "`docker-credential-gone` could not be run";
        assert!(origin.contains(wanted), "{origin}");
    }

    #[tokio::test]
    async fn a_broken_configuration_is_told_without_its_text() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.json"), "{\"auths\": s3cret").unwrap();
        let (_, origin) = credentials("a.example/x", &around(folder.path())).await;
        assert!(origin.contains("line 1 is not valid"), "{origin}");
        assert!(!origin.contains("s3cret"), "{origin}");
    }
}
