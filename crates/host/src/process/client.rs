//! Commands that are a client of a container engine, such as `docker run -i IMAGE`: the container does not end when the
//! client is killed.

use std::path::Path;

use super::Runs;
use crate::launch::CommandLine;

/// The programs whose `run` starts a container.
const CLIENTS: [&str; 3] = ["docker", "podman", "nerdctl"];

/// What the process of a command line is to the server.
pub(super) fn runs(line: &CommandLine) -> Runs {
    let name = Path::new(&line.program).file_name();
    let known = CLIENTS.iter().any(|client| name == Some(client.as_ref()));
    if known && line.args.iter().any(|arg| arg == "run") {
        Runs::ContainerClient
    } else {
        Runs::Server
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
        case("docker exec -i box server", false);
        case("docker", false);
        case("node run", false);
    }
}
