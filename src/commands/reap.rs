//! `mcp-assert reap`: removes what killed runs left at the container engine and on this machine.

use super::{
    Context,
    running::{Refusal, engine},
    runtime,
};
use crate::cli::reap::ReapArgs;
use host::{
    container::{
        engine::{Asker, Engine, Wanted},
        reap::{Reaped, Whose, reap as remove},
    },
    sweep::{self, Swept},
};
use text::{clean, count, exit::ExitCode};

/// Runs `reap` and reports what was removed.
pub(super) fn reap(args: &ReapArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let runtime = runtime::of_this_thread()
        .map_err(|error| Refusal::new(ExitCode::CouldNotRun, error.to_string()))?;
    runtime.block_on(async {
        report_swept(sweep::before_run().await, context);
        let wanted = Wanted {
            host: args.docker_host.clone(),
            asker: Asker::Reaper,
        };
        let engine = match Engine::connect(&wanted, &context.environment).await {
            Ok(engine) => engine,
            Err(error) if error.is_absence() && args.run.is_none() => {
                context.say("note: no container engine was found\n");
                return Ok(ExitCode::Passed);
            }
            Err(error) => return Err(engine::refusal(&error, wanted.asker)),
        };
        let whose = match (&args.run, args.all) {
            (Some(run), _) => Whose::Run(run),
            (None, true) => Whose::Anybody,
            (None, false) => Whose::Abandoned,
        };
        Ok(report_reaped(&remove(&engine, whose).await, context))
    })
}

/// Reports what was removed on this machine.
fn report_swept(swept: Swept, context: &Context) {
    if swept.processes > 0 {
        let plural = if swept.processes == 1 { "" } else { "es" };
        context.say(&format!("ended {} process{plural}\n", swept.processes));
    }
    if swept.folders > 0 {
        let folders = count(swept.folders, "temporary folder");
        context.say(&format!("removed {folders}\n"));
    }
}

/// Reports what was removed at the engine, and whether anything is left.
fn report_reaped(reaped: &Reaped, context: &Context) -> ExitCode {
    for name in &reaped.containers {
        context.say(&format!("removed container `{}`\n", clean(name)));
    }
    for thing in &reaped.others {
        context.say(&format!("removed {}\n", clean(thing)));
    }
    for failure in &reaped.failures {
        context.say(&format!("could not be removed: {}\n", clean(failure)));
    }
    if reaped.failures.is_empty() {
        ExitCode::Passed
    } else {
        ExitCode::CouldNotRun
    }
}
