//! Commands that are a client of a container engine, such as `docker run -i IMAGE`: the container does not end when the
//! client is killed. It gets labels of ours, by which the same client finds and removes it.

use std::{path::Path, time::Duration};

use tokio::time::timeout;

use super::{Patience, Process, ProcessSpec};
use crate::{container::labels, launch::CommandLine};
use mcp::transport::{Connection, Inbound, clock::JobClock};

/// The programs whose `run` starts a container.
const CLIENTS: [&str; 3] = ["docker", "podman", "nerdctl"];

/// The programs that run what stands in one of their arguments.
const SHELLS: [&str; 4] = ["sh", "bash", "dash", "zsh"];

/// How long the engine may take to list and to remove.
const REMOVAL: Duration = Duration::from_secs(3);

/// What is said of a container that could not be removed.
const LEFT: &str = "what was killed is the client of the engine: the container that it ran may live on (see the engine's \
                    list). `--init` lets it end on SIGTERM; under `docker:` in `server` nothing is left";

/// The client that a command line starts.
#[derive(Debug)]
pub(super) struct Client {
    /// What starts the client again, with the arguments left out.
    spec: ProcessSpec,
    /// The label of the container, as it is filtered by.
    label: String,
    /// Whether the container may be there.
    is_left: bool,
}

impl Client {
    /// The client that a command line starts, if it is one; from now on it gives the container our labels.
    pub(super) fn labelled(spec: &mut ProcessSpec, marker: &str) -> Option<Self> {
        let all = labels::of_client(marker);
        let options = all.iter().map(|label| format!("--label={label}"));
        let program = add_options(&mut spec.line, &options.collect::<Vec<_>>())?;
        let mut spec = spec.clone();
        spec.line.args.clear();
        if program != spec.line.program {
            spec.line.file = None;
            spec.line.program = program;
        }
        let label = all.into_iter().next()?;
        Some(Self {
            spec,
            label,
            is_left: false,
        })
    }

    /// What is to be said of the container, if it may be there.
    pub(super) fn left(&self) -> Option<&str> {
        self.is_left.then_some(LEFT)
    }

    /// Removes the container, if there is one.
    pub(super) async fn remove(&mut self) {
        let removed = timeout(REMOVAL, async {
            let filter = format!("label={}", self.label);
            let ids = self.ask(&["ps", "-aq", "--filter", &filter]).await?;
            if ids.is_empty() {
                return Some(());
            }
            let mut args = vec!["rm", "-f", "-v"];
            args.extend(ids.iter().map(String::as_str));
            self.ask(&args).await.map(drop)
        });
        self.is_left = !matches!(removed.await, Ok(Some(())));
    }

    /// What the client says, in lines; `None` where it does not do it.
    async fn ask(&self, args: &[&str]) -> Option<Vec<String>> {
        let mut spec = self.spec.clone();
        spec.line.args = args.iter().copied().map(str::to_owned).collect();
        let started = Box::pin(Process::start(spec, JobClock::start())).await;
        let (mut process, mut connection) = started.ok()?;
        let said = lines(&mut connection).await;
        let status = process.exited().await;
        Box::pin(process.end(Patience::HURRIED)).await;
        status.may_be_code(0).then_some(said)
    }
}

async fn lines(connection: &mut Connection) -> Vec<String> {
    let mut said = Vec::new();
    loop {
        match connection.next().await {
            Inbound::Message { bytes, .. } => {
                said.push(String::from_utf8_lossy(&bytes).trim().to_owned());
            }
            Inbound::Closed => return said,
            Inbound::TooLong { .. }
            | Inbound::Noted(..)
            | Inbound::Unanswered { .. }
            | Inbound::Sent(_) => {}
        }
    }
}

/// Adds options to the `run` of a client in a command line, also to one in the text of a shell; gives back its program.
fn add_options(line: &mut CommandLine, options: &[String]) -> Option<String> {
    let name = Path::new(&line.program).file_name()?.to_str()?.to_owned();
    if CLIENTS.contains(&name.as_str()) {
        let run = line.args.iter().position(|arg| arg == "run")?;
        line.args.splice(run + 1..=run, options.iter().cloned());
        return Some(line.program.clone());
    }
    if !SHELLS.contains(&name.as_str()) {
        return None;
    }
    line.args.iter_mut().find_map(|script| {
        let (program, end) = run_in(script)?;
        script.insert_str(end, &format!(" {}", options.join(" ")));
        Some(program)
    })
}

/// The client that the text of a shell runs, and where its `run` ends; `None` where it runs several.
fn run_in(script: &str) -> Option<(String, usize)> {
    let mut words = script.split_inclusive(char::is_whitespace);
    let (mut at, mut found, mut client) = (0, None, None);
    for word in words.by_ref() {
        let bare = word.trim_matches(|sign: char| sign.is_whitespace() || "(;&|".contains(sign));
        let name = bare.rsplit('/').next().unwrap_or_default();
        if CLIENTS.contains(&name) {
            client = Some(bare.to_owned());
        } else if let ("run", Some(program)) = (bare, &client) {
            let end = at + word.trim_end().len();
            if found.replace((program.clone(), end)).is_some() {
                return None;
            }
            client = None;
        }
        at += word.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{CommandLine, add_options};

    #[test]
    fn a_client_is_known_by_its_name_and_its_command() {
        let case = |words: &[&str], wanted: Option<(&str, &[&str])>| {
            let mut words = words.iter().copied().map(str::to_owned);
            let mut line = CommandLine {
                program: words.next().unwrap(),
                args: words.collect(),
                ..CommandLine::default()
            };
            let program = add_options(&mut line, &["-l=1".to_owned(), "-l=2".to_owned()]);
            let args: Vec<&str> = line.args.iter().map(String::as_str).collect();
            let found = program.as_deref().map(|program| (program, args.as_slice()));
            assert_eq!(found, wanted, "{line:?}");
        };
        case(
            &["docker", "run", "-i", "--rm", "image", "run"],
            Some((
                "docker",
                &["run", "-l=1", "-l=2", "-i", "--rm", "image", "run"],
            )),
        );
        case(
            &["/usr/bin/podman", "container", "run", "image"],
            Some((
                "/usr/bin/podman",
                &["container", "run", "-l=1", "-l=2", "image"],
            )),
        );
        case(
            &["sh", "-c", "cd x; exec docker run -i image"],
            Some((
                "docker",
                &["-c", "cd x; exec docker run -l=1 -l=2 -i image"],
            )),
        );
        case(
            &["bash", "-lc", "podman --log-level debug run image"],
            Some((
                "podman",
                &["-lc", "podman --log-level debug run -l=1 -l=2 image"],
            )),
        );
        case(&["sh", "-c", "docker run a; docker run b"], None);
        case(&["sh", "-c", "npm run docker"], None);
        case(&["docker", "exec", "-i", "box", "server"], None);
        case(&["docker"], None);
        case(&["node", "run"], None);
    }
}
