//! `mcp-assert reap`: removes what killed runs left at the container engine and on this machine.

use super::{
    Context,
    running::{Refusal, engine},
    runtime,
};
use crate::{
    cli::reap::ReapArgs,
    isolate::{
        container::{
            engine::Wanted,
            reap::{Reaped, Whose, reap as remove},
        },
        sweep,
    },
    words::{exit::ExitCode, text::clean},
};

/// Removes it and tells what was removed.
pub(super) fn reap(args: &ReapArgs, context: &Context) -> ExitCode {
    match carry_out(args, context) {
        Ok(reaped) => {
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
        Err(refusal) => refusal.say(context),
    }
}

fn carry_out(args: &ReapArgs, context: &Context) -> Result<Reaped, Refusal> {
    let runtime = runtime::of_this_thread()
        .map_err(|error| Refusal::new(ExitCode::CouldNotRun, error.to_string()))?;
    runtime.block_on(async {
        sweep::before_run().await;
        let wanted = Wanted {
            host: args.docker_host.clone(),
            asker: context.asker,
        };
        let engine = engine::connect(&wanted, &context.environment).await?;
        let whose = match (&args.run, args.all) {
            (Some(run), _) => Whose::Run(run),
            (None, true) => Whose::Anybody,
            (None, false) => Whose::Abandoned,
        };
        Ok(remove(&engine, whose).await)
    })
}
