//! Commands that are themselves a client of a container engine, such as `docker run -i IMAGE`: what runs is not the
//! process that we start and end.

use std::path::Path;

use super::Runs;
use crate::launch::CommandLine;

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

/// What the process of a command line is to the server.
pub(super) fn runs(line: &CommandLine) -> Runs {
    let name = Path::new(&line.program).file_name();
    let known = CLIENTS.iter().any(|client| name == Some(client.as_ref()));
    let mut args = line.args.iter().map(String::as_str);
    match command(&mut args).filter(|_| known) {
        Some("run") => Runs::ContainerClient,
        Some("container") if command(&mut args) == Some("run") => Runs::ContainerClient,
        Some(_) | None => Runs::Server,
    }
}

/// The first argument that is not an option.
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
    use super::{CommandLine, Runs, runs};

    #[test]
    fn a_client_is_known_by_its_name_and_its_command() {
        let case = |text: &str, wanted| {
            let mut words = text.split(' ').map(str::to_owned);
            let line = CommandLine {
                program: words.next().unwrap(),
                args: words.collect(),
                ..CommandLine::default()
            };
            assert_eq!(runs(&line) == Runs::ContainerClient, wanted, "{text}");
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
