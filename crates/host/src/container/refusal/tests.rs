//! What the engine says and what is told of it, case by case.

use bollard::errors::Error;

use super::{About, ContainerFailure, SearchPath, explain};

const ABOUT: About<'_> = About {
    image: "server:1",
    platform: "linux/arm64",
    engine: "linux/amd64",
    program: "serve",
    reference: "0123456789ab",
    directory: "/srv/App",
    path: SearchPath::Image,
};

/// Status and message of the engine, what is told, and what helps.
const CASES: &[(u16, &str, &str, &str)] = &[
    (
        404,
        "No such image: server:1",
        "no image `server:1`",
        "docker pull",
    ),
    (
        500,
        "write /var/lib/docker/x: no space left on device",
        "no space left",
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
        "--entrypoint serve 0123456789ab`",
    ),
    (
        400,
        "OCI runtime create failed: exec: \"/serve\": permission denied: unknown",
        "cannot be executed",
        "chmod +x",
    ),
    (
        400,
        "OCI runtime create failed: exec: \"/etc\": is a directory: unknown",
        "cannot be run: it is a directory",
        "inside it",
    ),
    (
        400,
        "standard_init_linux.go: exec user process caused: exec format error",
        "it is for linux/arm64, the engine runs linux/amd64",
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
        "Cannot mkdir: /srv/App is not a directory",
        "the server's directory `/srv/App` is not a directory in the image",
        "`cwd`",
    ),
    (
        500,
        "lstat /var/lib/docker/overlay2/0/merged/srv/App: not a directory",
        "is not a directory",
        "workdir",
    ),
    (
        500,
        "OCI runtime create failed: runc create failed: unable to start container process: error during container \
         init: mkdir /srv/app: not a directory: unknown: Are you trying to mount a directory onto a file",
        "`/srv/App` is not a directory",
        "workdir",
    ),
    (
        500,
        "OCI runtime create failed: unable to start container process: chdir to cwd (\"/srv/App\") set in \
         config.json failed: permission denied: unknown",
        "may not be entered by its user",
        "workdir",
    ),
    (
        500,
        "lstat /var/lib/docker/overlay2/0/merged/other/x: not a directory",
        "could not be started: lstat",
        "",
    ),
    (
        500,
        "container create: container-init binary not found on the host: stat /usr/libexec/podman/catatonit: \
         no such file or directory",
        "no init process",
        "`catatonit`",
    ),
    (
        404,
        "network nowhere not found",
        "the network",
        "docker network ls",
    ),
    (
        400,
        "invalid mount config for type \"bind\": bind source path does not exist: /x",
        "mount",
        "another machine",
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
        let seen = explain(&error, ABOUT);
        let shown = seen.to_string();
        assert!(shown.contains(wanted), "{message}: {shown}");
        let found = seen.help().unwrap_or_default();
        assert!(found.contains(help), "{message}: {found}");
    }
}

#[test]
fn a_program_that_says_nothing_of_its_machine_is_told_by_its_image() {
    let message = "[fatal tini (7)] exec /serve failed: no such file or directory";
    let at_home = About {
        platform: ABOUT.engine,
        ..ABOUT
    };
    let seen = super::explain_text(message.to_owned(), at_home);
    assert!(matches!(seen, ContainerFailure::NoProgram { .. }), "{seen}");
    let no_folder = About {
        program: "serve",
        path: SearchPath::Suite,
        ..at_home
    };
    let seen = super::explain_text(message.to_owned(), no_folder);
    assert!(seen.help().is_some_and(|help| help.contains("`PATH`")));
    let seen = super::explain_text(message.to_owned(), ABOUT);
    assert!(seen.to_string().contains("it is for linux/arm64"), "{seen}");
    let seen = super::explain_text("exec format error".to_owned(), at_home);
    assert!(seen.to_string().contains("its program is not"), "{seen}");
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
    let seen = explain(&Error::IOError { err: refused }, ABOUT);
    assert!(matches!(seen, ContainerFailure::Gone(_)), "{seen}");
}
