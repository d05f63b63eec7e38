//! Commands that are themselves a client of a container engine, such as `docker run -i IMAGE`: what runs is not the
//! process that we start and end.

use std::path::Path;

use super::{ProcessSpec, Runs};

/// The programs whose `run` starts a container.
const CLIENTS: [&str; 3] = ["docker", "podman", "nerdctl"];

/// Their options before the command that take the next argument as their value.
const WITH_VALUE: [&str; 8] = [
    "--config",
    "--connection",
    "--context",
    "--host",
    "--log-level",
    "--namespace",
    "-H",
    "-c",
];

/// What the process of the command is to the server.
pub(super) fn runs(spec: &ProcessSpec) -> Runs {
    if runs_a_container(spec) {
        Runs::ContainerClient
    } else {
        Runs::Server
    }
}

/// Whether the command runs a container.
fn runs_a_container(spec: &ProcessSpec) -> bool {
    let name = Path::new(&spec.program).file_name();
    let known = CLIENTS.iter().any(|client| name == Some(client.as_ref()));
    let mut args = spec.args.iter().map(String::as_str);
    known
        && match command(&mut args) {
            Some("run") => true,
            Some("container") => command(&mut args) == Some("run"),
            Some(_) | None => false,
        }
}

/// The first argument that is no option.
fn command<'a>(args: &mut impl Iterator<Item = &'a str>) -> Option<&'a str> {
    loop {
        let arg = args.next()?;
        if WITH_VALUE.contains(&arg) {
            args.next();
        } else if !arg.starts_with('-') {
            return Some(arg);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ProcessSpec, runs_a_container};

    #[test]
    fn a_client_is_known_by_its_name_and_its_command() {
        let case = |line: &str, wanted| {
            let mut words = line.split(' ').map(str::to_owned);
            let spec = ProcessSpec {
                program: words.next().unwrap(),
                args: words.collect(),
                ..ProcessSpec::default()
            };
            assert_eq!(runs_a_container(&spec), wanted, "{line}");
        };
        case("docker run -i --rm image run", true);
        case(
            "/usr/bin/podman --log-level debug container run image",
            true,
        );
        case("docker --context run ps", false);
        case("docker exec -i box run", false);
        case("docker", false);
        case("node run", false);
    }
}
