//! What the engine says and what is told of it, case by case.

use bollard::errors::Error;

use super::{About, Asked, Failure, Refusal, unstarted};
use mcp::observation::process::ExitStatus;

fn about() -> About {
    About::new([
        ("{image}", "server:1"),
        (
            "{platforms}",
            " (the image is for linux/arm64, the engine runs linux/amd64)",
        ),
        ("{program}", "serve"),
    ])
}

/// Status and message of the engine, what is told, and what helps.
const CASES: &[(u16, &str, &str, &str)] = &[
    (
        500,
        "write /var/lib/docker/x: no space left on device",
        "no space is left",
        "docker system df",
    ),
    (
        409,
        "Conflict. The container name \"/x\" is already in use by container \"1\".",
        "name of the container",
        "mcp-assert reap",
    ),
    (
        500,
        "driver failed: Bind for 0.0.0.0:80 failed: port is already allocated",
        "port of the container",
        "another port",
    ),
    (
        400,
        "OCI runtime create failed: exec: \"serve\": executable file not found in $PATH: unknown",
        "program `serve` was not found in the image `server:1`",
        "install the program",
    ),
    (
        400,
        "OCI runtime create failed: exec: \"/serve\": permission denied: unknown",
        "cannot be executed",
        "chmod +x",
    ),
    (
        400,
        "standard_init_linux.go: exec user process caused: exec format error",
        "exec format error (the image is for linux/arm64, the engine runs linux/amd64)",
        "engine's platform",
    ),
    (
        500,
        "unable to find user ghost: no matching entries in passwd file",
        "does not know the user",
        "/etc/passwd",
    ),
    (
        500,
        "container create: container-init binary not found on the host: stat /usr/libexec/podman/catatonit: \
         no such file or directory",
        "no init process",
        "`catatonit`",
    ),
    (
        500,
        "something else",
        "could not be started: something else",
        "",
    ),
];

#[test]
fn every_refusal_is_told_apart_and_comes_with_its_fix() {
    for (status_code, message, wanted, help) in CASES {
        let error = Error::DockerResponseServerError {
            status_code: *status_code,
            message: (*message).to_owned(),
        };
        let seen = Failure::of(Asked::Container, &about(), &error);
        let shown = seen.to_string();
        assert!(shown.contains(wanted), "{message}: {shown}");
        let found = seen.help().unwrap_or_default();
        assert!(found.contains(help), "{message}: {found}");
    }
}

#[test]
fn words_of_registries_are_told_apart() {
    let about = About::new([
        ("{image}", "a:1"),
        ("{registry}", "docker.io"),
        ("{credentials}", "none were sent"),
    ]);
    let case = |said: &str, wanted: &str| {
        let seen = Refusal::of(Asked::Registry, said, &about).to_string();
        assert!(
            seen.starts_with(wanted) && seen.ends_with(said),
            "{said}: {seen}"
        );
    };
    let unreachable = "the registry of the image `a:1` cannot be reached";
    let denied = "the registry refused to give the image `a:1`";
    let missing = "the image `a:1` was not found";
    case(
        "manifest for a:1 not found: manifest unknown: manifest unknown",
        missing,
    );
    case(
        "pull access denied for a, repository does not exist or may require 'docker login': denied: no",
        denied,
    );
    case("unauthorized: authentication required", denied);
    case(
        "toomanyrequests: You have reached your pull rate limit",
        "the registry's limit of pulls is used up",
    );
    case(
        "Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such host",
        unreachable,
    );
    case(
        "no matching manifest for linux/arm64/v8 in the manifest list entries",
        "the image `a:1` is not made for",
    );
    case(
        "failed to register layer: write /usr/lib/x: no space left on device",
        "no space is left",
    );
    case(
        "received unexpected HTTP status: 500 Internal Server Error",
        unreachable,
    );
    case("something else", "the image `a:1` cannot be used");
}

#[test]
fn what_could_not_be_started_is_told_by_the_one_who_was_to_start_it() {
    let case = |said: &str, code: i32, wanted: Option<&str>| {
        let seen = unstarted(said, ExitStatus::Code(code), &about());
        match (seen.map(|seen| seen.to_string()), wanted) {
            (Some(seen), Some(wanted)) => assert!(seen.contains(wanted), "{said}: {seen}"),
            (seen, wanted) => assert_eq!(seen.as_deref(), wanted, "{said}"),
        }
    };
    let missing = "program `serve` was not found in the image `server:1`, or what it needs to run was not \
                   (the image is for linux/arm64, the engine runs linux/amd64)";
    case(
        "[FATAL tini (7)] exec /serve failed: No such file or directory",
        127,
        Some(missing),
    );
    case(
        "noise\n[FATAL tini (7)] exec /serve failed: Permission denied",
        126,
        Some("cannot be executed"),
    );
    case(
        "exec /serve: exec format error",
        1,
        Some("cannot run on this engine: exec format error"),
    );
    case(
        "sh: 1: /serve: Exec format error",
        126,
        Some("cannot run on this engine: exec format error"),
    );
    case("exec /serve: exec format error", 3, None);
    case("/serve: line 1: syntax error", 1, None);
}

#[test]
fn a_container_that_runs_no_more_is_told_from_one_that_cannot_be_signalled() {
    let case = |status_code, message: &str, wanted| {
        let error = Error::DockerResponseServerError {
            status_code,
            message: message.to_owned(),
        };
        assert_eq!(super::is_over(&error), wanted, "{message}");
    };
    case(404, "No such container: 1", true);
    case(409, "Container 1 is not running", true);
    case(
        409,
        "can only kill running containers. 1 is in state exited: container state improper",
        true,
    );
    case(
        500,
        "Cannot kill container: 1: Container 1 is not running",
        true,
    );
    case(500, "cannot kill container: 1: permission denied", false);
}

#[test]
fn an_engine_that_is_gone_is_no_refusal() {
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    let seen = Failure::of(Asked::Container, &about(), &Error::IOError { err: refused });
    assert!(matches!(seen, Failure::Gone(_)), "{seen}");
}
