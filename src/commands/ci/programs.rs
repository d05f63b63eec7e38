//! Programs that servers of this machine need. The action runs in an image of its own, which has none.

use std::sync::Arc;

use crate::commands::running::{Prepared, Refusal, enumerated};
use mcp::script::template::Bindings;
use suite::model::server::{Launch, Target};
use text::exit::ExitCode;

/// Refuses a run of which no server can be started, because none of their programs is here.
pub(super) fn refuse_missing(prepared: &Prepared) -> Result<(), Refusal> {
    let servers = &prepared.plan.servers.distinct;
    let missing = servers.iter().map(|server| match &server.target {
        Target::Process(launch) => missing(launch, prepared),
        Target::Builtin { .. } | Target::Url { .. } | Target::Container { .. } | Target::None => {
            None
        }
    });
    match missing.collect::<Option<Vec<String>>>() {
        Some(programs) if !programs.is_empty() => Err(refusal(&programs)),
        Some(_) | None => Ok(()),
    }
}

/// The program of a server, if it is not on the PATH.
fn missing(launch: &Launch, prepared: &Prepared) -> Option<String> {
    let bindings = Bindings {
        environment: Arc::clone(&prepared.environment),
        ..Bindings::default()
    };
    let program = launch.command.as_ref()?.render(&bindings).ok()?;
    let has_own_path = launch.env.iter().any(|(name, _)| name == "PATH");
    if program.contains('/') || has_own_path {
        return None;
    }
    let path = prepared.environment.raw("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(path).any(|folder| folder.join(&program).is_file());
    (!is_there).then(|| format!("`{program}`"))
}

fn refusal(programs: &[String]) -> Refusal {
    let named = enumerated(programs);
    Refusal::new(
        ExitCode::CouldNotRun,
        format!("`isolation: process` finds no {named}: the action's image has no Node.js, no Python, nothing but itself"),
    )
    .with_help("start servers in an image that has it: the input `image`, and `prepare` to install the server")
    .with_help("or start them on the runner: `uses: mcp-assert/action/setup@v1`, then `run: mcp-assert ci --isolation process`")
}
