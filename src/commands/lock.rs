//! `mcp-assert lock`: what a server offers, in a file that is reviewed.

use std::{io, path::Path};

use super::{
    Context,
    asking::{LONGEST_CATALOG, print},
    diff::{exit, limit, of_server, shown},
    findings,
    running::{Refusal, input::regular_text},
};
use crate::{
    cli::lock::LockArgs,
    inspect::{
        lock::{self, Locked},
        server::Declares,
    },
};
use report::surface::locked::Clients;
use text::exit::ExitCode;

/// Writes the file, or compares it with the server.
pub(super) fn lock(args: &LockArgs, context: &Context) -> ExitCode {
    match carry_out(args, context) {
        Ok(code) => code,
        Err(refusal) => refusal.say(context),
    }
}

fn carry_out(args: &LockArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let locked = locked(&args.file)?;
    if args.check && locked.is_none() {
        let message = format!("there is no `{}`", args.file.display());
        let refusal = Refusal::new(ExitCode::CouldNotRun, message);
        return Err(refusal.with_help("`mcp-assert lock` without `--check` writes it"));
    }
    let offered = offered(args, context)?;
    let (Some(locked), false) = (&locked, args.update) else {
        write(&args.file, &offered, context)?;
        return Ok(ExitCode::Passed);
    };
    // What is not in the file is not compared: the file's form of the catalog is.
    let offered = lock::read(&lock::write(&offered)).map_err(|why| unusable(&args.file, &why))?;
    let changes = lock::compare(locked, &offered);
    let worst = changes.worst();
    if !print(&shown(&changes, false), false, context) {
        return Ok(ExitCode::CouldNotRun);
    }
    if args.check {
        return Ok(exit(worst, limit(args.fail_on)));
    }
    if worst.is_none() {
        return Ok(ExitCode::Passed);
    }
    let message = format!("the server differs from `{}`", args.file.display());
    let refusal = Refusal::new(ExitCode::Failed, message);
    Err(refusal.with_help("if that is intended, `mcp-assert lock --update` writes the file anew"))
}

/// What the server offers: to a client that declares everything, and to one that declares nothing where that differs.
fn offered(args: &LockArgs, context: &Context) -> Result<Vec<Locked>, Refusal> {
    let to = |declares, clients| {
        let catalog = of_server(&args.server, declares, context)?;
        Ok::<_, Refusal>(Locked {
            target: None,
            clients,
            catalog,
        })
    };
    let all = to(Declares::Everything, Clients::All)?;
    let plain = to(Declares::Nothing, Clients::Plain)?;
    Ok(lock::joined(all, plain))
}

/// What the file holds; `None` if there is none.
fn locked(path: &Path) -> Result<Option<Vec<Locked>>, Refusal> {
    match regular_text(path, LONGEST_CATALOG) {
        Ok(text) => lock::read(&text)
            .map(Some)
            .map_err(|why| unusable(path, &why)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, &error.to_string())),
    }
}

fn unusable(path: &Path, why: &str) -> Refusal {
    let message = format!("`{}` cannot be used: {}", path.display(), text::clean(why));
    Refusal::new(ExitCode::CouldNotRun, message)
}

fn write(path: &Path, offered: &[Locked], context: &Context) -> Result<(), Refusal> {
    let text = lock::write(offered);
    // A file that would be read as something else is worse than none.
    let again = lock::read(&text).map_err(|why| unusable(path, &why))?;
    if lock::write(&again) != text {
        return Err(unusable(
            path,
            "what the server offers cannot be written as YAML",
        ));
    }
    findings::write(path, &text, context)?;
    context.say(&format!("wrote {}\n", path.display()));
    Ok(())
}
