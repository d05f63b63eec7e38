//! Help for what a disruption alone does not explain: which timeout was over and what took the time, and a server that waits
//! on a port. Reports that know no phases show these texts.

use std::{net::SocketAddr, time::Duration};

use host::host::Peer;
use mcp::observation::{
    Observation, Timings,
    disruption::{DisruptionKind, Phase},
    finding::FindingCode,
};
use suite::{model::server::Target, plan::job::RunJob};

/// Earlier phases are named that took at least this part of the timeout.
const WORTH_TELLING: u32 = 4;

/// Words of a log that tell that something waits to be reached.
const REACHABLE: [&str; 6] = [
    "listen",
    "running",
    "serving",
    "started",
    "available",
    "ready",
];

/// What is said of a server that a signal has stopped.
const STOPPED: &str = "a signal has stopped the server: one that asks for a password or a confirmation at the terminal is \
                       stopped by the system, because here it is not the program that the terminal belongs to";

/// Characters shown of a server's own words.
const SHOWN: usize = 120;

/// Says of an assertion whose time was over which timeout that was, and if a signal had stopped its server by then.
pub(super) fn timeout(seen: &mut Observation, job: &RunJob, server: &Peer) {
    name(seen, job.planned.terms.timeout);
    if let Some(disruption) = &mut seen.disruption
        && disruption.kind == DisruptionKind::Timeout
        && server.is_stopped()
    {
        disruption.help = Some(STOPPED.to_owned());
    }
}

/// Puts the timeout in front of what was waited for when it was over.
fn name(seen: &mut Observation, timeout: Duration) {
    if let Some(disruption) = &mut seen.disruption
        && disruption.kind == DisruptionKind::Timeout
    {
        let over = over(timeout, &seen.timings, disruption.phase);
        disruption.message = format!("{over}: {}", disruption.message);
    }
}

/// Says of a script that its first line has the line end of Windows, which the system takes for a part of the
/// interpreter's name.
pub(super) fn line_ends(seen: &mut Observation) {
    let stderr = seen.stderr.text();
    if let Some(disruption) = &mut seen.disruption
        && (disruption.kind, disruption.phase) == (DisruptionKind::Crash, Phase::Handshake)
        && stderr.contains("\\r\u{2019}: No such file or directory")
            | stderr.contains("\\r': No such file or directory")
            | stderr.contains("\r: No such file or directory")
    {
        let help =
            "the `#!` line of a script ends with a carriage return: save it with Unix line ends";
        disruption.help = Some(help.to_owned());
    }
}

/// What programs say where a name is not resolved.
const NO_NAME: [&str; 6] = [
    "Temporary failure in name resolution",
    "Name or service not known",
    "EAI_AGAIN",
    "getaddrinfo ENOTFOUND",
    "Could not resolve host",
    "failed to lookup address information",
];

/// What programs say where a file system is read-only.
const READ_ONLY: [&str; 3] = ["Read-only file system", "EROFS", "read-only file system"];

/// What a text tells of a server that meets the walls of its container.
pub(super) fn walls(target: &Target, said: &str) -> Option<&'static str> {
    let Target::Container { container, .. } = target else {
        return None;
    };
    let says = |texts: &[&str]| texts.iter().any(|text| said.contains(text));
    let is_alone = container.network.as_deref().is_none_or(|it| it == "none");
    if is_alone && says(&NO_NAME) {
        return Some("its container has no network: `docker: {network: bridge}` gives it one");
    }
    (container.read_only != Some(false) && says(&READ_ONLY)).then_some(
        "the root of its container is read-only: it can write to `/tmp` and `{{fixture}}`, and everywhere with \
         `docker: {read_only: false}`",
    )
}

/// Programs that install a package before they start it, with their words for that.
const INSTALLERS: [&str; 9] = [
    "npx",
    "npm exec",
    "pnpm dlx",
    "yarn dlx",
    "bunx",
    "uvx",
    "uv run",
    "uv tool run",
    "pipx run",
];

/// Says of an assertion whose time was over, and which nothing else explains, what may have taken the time.
pub(super) fn slowness(seen: &mut Observation, command_line: Option<&str>) {
    let is_noisy = seen
        .findings
        .iter()
        .any(|it| it.code == FindingCode::StdoutNoise);
    let Some(disruption) = &mut seen.disruption else {
        return;
    };
    if disruption.kind != DisruptionKind::Timeout || disruption.help.is_some() {
        return;
    }
    let is_early = disruption.phase == Phase::Handshake;
    disruption.help = match command_line.and_then(installer).filter(|_| is_early) {
        Some(installer) => Some(format!(
            "`{installer}` may still be installing the package: give it more `timeout`, or install it before the run"
        )),
        None if is_noisy && is_early => {
            Some("the server may still be starting: give it more `timeout`".to_owned())
        }
        None if is_noisy => {
            Some("the tool may still be at work: give it more `timeout`".to_owned())
        }
        None => None,
    };
}

/// The program of a command line that may install a package first.
fn installer(command_line: &str) -> Option<&'static str> {
    let mut words = command_line.split_whitespace();
    let program = words.next()?;
    let program = program.rsplit('/').next()?;
    let line = std::iter::once(program)
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ");
    let begins = |installer: &&str| {
        line.strip_prefix(*installer)
            .is_some_and(|rest| rest.starts_with(' '))
    };
    INSTALLERS.into_iter().find(begins)
}

/// Says of a server that answered nothing where its own words tell that it waits on a port.
pub(super) fn port(seen: &mut Observation) {
    let stderr = seen.stderr.text();
    let Some(disruption) = &mut seen.disruption else {
        return;
    };
    if (disruption.kind, disruption.phase) != (DisruptionKind::Timeout, Phase::Handshake) {
        return;
    }
    let frame = disruption.frame.as_deref();
    // A server that speaks JSON-RPC here does not use another transport.
    if frame.is_some_and(|frame| frame.contains("\"jsonrpc\"")) {
        return;
    }
    let said = frame.into_iter().chain(stderr.lines());
    if let Some(line) = said.map(str::trim).find(|line| tells_of_a_port(line)) {
        disruption.help = Some(format!(
            "it may speak over HTTP, and not over stdio as here: it says `{}`; start it with its transport `stdio`",
            text::head(line, SHOWN)
        ));
    }
}

/// Such as `listening on port 3001` or `running on http://127.0.0.1:8000`.
fn tells_of_a_port(line: &str) -> bool {
    let line = line.to_lowercase();
    let has_port = |place: &str| {
        let port = place.rsplit_once(':').map(|(_, port)| port);
        port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
    };
    let is_place = |word: &str| {
        let word = word.trim_end_matches(['.', '/']);
        match word.split_once("://") {
            // Without a port it is a page to read: "an update is available, see https://example.org".
            Some((_, rest)) => rest.split('/').next().is_some_and(has_port),
            None => {
                word.parse::<SocketAddr>().is_ok()
                    || word.starts_with("localhost:") && has_port(word)
            }
        }
    };
    let is_number = |rest: &str| rest.starts_with(|sign: char| ('1'..='9').contains(&sign));
    let mut ports = line.split(" port").skip(1);
    let mut words = line.split(|sign: char| sign.is_whitespace() || "\"'`(),=".contains(sign));
    let has_place = ports.any(|rest| is_number(rest.trim_start_matches([':', ' '])));
    (has_place || words.any(is_place)) && REACHABLE.iter().any(|word| line.contains(word))
}

/// "the timeout of 2 s was over, of which setup took 1.7 s".
fn over(timeout: Duration, timings: &Timings, reached: Phase) -> String {
    let told: Vec<String> = [
        (Phase::Place, timings.place),
        (Phase::Start, timings.start),
        (Phase::Handshake, timings.handshake),
        (Phase::Setup, timings.setup),
    ]
    .into_iter()
    .filter(|(phase, took)| *phase < reached && *took >= timeout / WORTH_TELLING)
    .map(|(phase, took)| format!("{phase} {}", text::time(took)))
    .collect();
    let over = format!("the timeout of {} was over", text::time(timeout));
    if told.is_empty() {
        return over;
    }
    let told = told.join(", ").replacen(' ', " took ", 1);
    format!("{over}, of which {told}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcp::observation::disruption::Disruption;

    use super::{DisruptionKind, Observation, Phase, Timings, name, port};

    fn told(kind: DisruptionKind, phase: Phase, times: [u64; 4]) -> String {
        let [place, start, handshake, setup] = times.map(Duration::from_millis);
        let mut seen = Observation {
            disruption: Some(Disruption::new(kind, phase, "no answer")),
            timings: Timings {
                place,
                start,
                handshake,
                setup,
                ..Timings::default()
            },
            ..Observation::default()
        };
        name(&mut seen, Duration::from_secs(2));
        seen.disruption.unwrap().message
    }

    #[test]
    fn the_timeout_is_named_with_what_took_it() {
        let case = |phase: Phase, times: [u64; 4], wanted: &str| {
            assert_eq!(told(DisruptionKind::Timeout, phase, times), wanted);
        };
        case(
            Phase::Subject,
            [1, 3, 23, 1_712],
            "the timeout of 2 s was over, of which setup took 1.7 s: no answer",
        );
        case(
            Phase::Subject,
            [1, 3, 900, 640],
            "the timeout of 2 s was over, of which handshake took 900 ms, setup 640 ms: no answer",
        );
        case(
            Phase::Handshake,
            [1_500, 3, 497, 0],
            "the timeout of 2 s was over, of which place took 1.5 s: no answer",
        );
        case(
            Phase::Handshake,
            [1, 3, 1_996, 0],
            "the timeout of 2 s was over: no answer",
        );
        case(
            Phase::Setup,
            [1, 3, 196, 1_800],
            "the timeout of 2 s was over: no answer",
        );
    }

    #[test]
    fn a_server_on_a_port_is_told_by_its_own_words() {
        let help = |phase: Phase, stderr: &str| {
            let mut seen = Observation {
                disruption: Some(Disruption::new(DisruptionKind::Timeout, phase, "no answer")),
                ..Observation::default()
            };
            seen.stderr.bytes = format!("one\n{stderr}\nlast\n").into_bytes();
            seen.stderr.total_bytes = seen.stderr.bytes.len() as u64;
            port(&mut seen);
            seen.disruption.unwrap().help
        };
        for told in [
            "INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)",
            "MCP Streamable HTTP Server listening on port 3001",
            "Server is running on port: 3001.",
            "level=info msg=listening addr=0.0.0.0:8080",
            "Server started at https://mcp.local:8443/mcp.",
            "Listening on [::1]:8080",
            "ready at localhost:8080",
        ] {
            let help = help(Phase::Handshake, told).unwrap_or_default();
            assert!(
                help.contains(&format!("it says `{told}`")),
                "{told}: {help}"
            );
        }
        for silent in [
            "12:30:05 server started",
            "listening on stdin",
            "an update is available: https://example.org/v2:3",
            "port 0 is listened to",
        ] {
            assert_eq!(help(Phase::Handshake, silent), None, "{silent}");
        }
        assert_eq!(help(Phase::Subject, "listening on port 3001"), None);
    }

    #[test]
    fn what_is_no_timeout_is_left_alone() {
        let crash = told(DisruptionKind::Crash, Phase::Subject, [1_999, 0, 0, 0]);
        assert_eq!(crash, "no answer");
    }
}
