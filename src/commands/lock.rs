//! `mcp-assert lock`: what a server offers, in a file that is reviewed.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    Context,
    asking::{self, LONGEST_CATALOG, Typed, print},
    diff::{exit, limit, of_server, shown},
    findings,
    running::{Refusal, input::regular_text},
};
use crate::{
    cli::lock::LockArgs,
    inspect::{lock, server::Declares},
};
use report::{
    changes::Level,
    surface::locked::{Clients, Lock},
};
use suite::discover::LOCK;
use text::{clean, exit::ExitCode};

/// Writes the file, or compares it with the server.
pub(super) fn lock(args: &LockArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let (folder, servers) = servers(args, context)?;
    let file = args.file.clone().unwrap_or_else(|| folder.join(LOCK));
    let locked = locked(&file)?;
    if args.check && locked.is_none() {
        let message = format!("there is no `{}`", file.display());
        return Err(Refusal::could_not_run(message)
            .with_help("`mcp-assert lock` without `--check` writes it"));
    }
    let offered = offered(&servers, args, context)?;
    let (Some(locked), false) = (&locked, args.update) else {
        let all = lock::updated(locked.unwrap_or_default(), offered);
        write(&file, &all, context)?;
        return Ok(ExitCode::Passed);
    };
    // What is not in the file is not compared: the file's form of the catalog is.
    let offered = lock::read(&lock::write(&offered)).map_err(|why| unusable(&file, &why))?;
    let (text, worst) = compared(locked, &offered, &file)?;
    print(&text, false, context)?;
    if args.check {
        return Ok(exit(worst, limit(args.fail_on)));
    }
    if worst.is_none() {
        return Ok(ExitCode::Passed);
    }
    let message = format!("the server differs from `{}`", file.display());
    let refusal = Refusal::new(ExitCode::Failed, message);
    Err(refusal.with_help("if that is intended, `mcp-assert lock --update` writes the file anew"))
}

/// The targets that are locked, `None` for the server of the command line, and the folder that the file is for.
fn servers(args: &LockArgs, context: &Context) -> Result<(PathBuf, Vec<Option<String>>), Refusal> {
    let server = &args.server;
    if server.typed().is_some() || server.docker.is_some() {
        return Ok((PathBuf::new(), vec![None]));
    }
    let (folder, settings) = asking::targets(server.target.as_deref(), context)?;
    let shown = folder.strip_prefix(&context.environment.directory);
    let folder = shown.map_or(folder.clone(), Path::to_owned);
    let targets = settings.targets.into_iter();
    Ok((folder, targets.map(|it| Some(it.name)).collect()))
}

/// What servers offer: to a client that declares everything, and to one that declares nothing where that differs.
fn offered(
    servers: &[Option<String>],
    args: &LockArgs,
    context: &Context,
) -> Result<Vec<Lock>, Refusal> {
    let mut offered = Vec::new();
    for target in servers {
        let mut server = args.server.clone();
        server.target.clone_from(target);
        let lock = |clients, catalog| Lock {
            target: target.clone(),
            clients,
            catalog,
        };
        let mut typed = Typed::read(&server, context)?;
        let all = lock(Clients::All, of_server(&typed, context)?);
        typed.declares = Declares::Nothing;
        let plain = lock(Clients::Plain, of_server(&typed, context)?);
        offered.extend(lock::joined(all, plain));
    }
    Ok(offered)
}

/// What changed of each target, in words, and how bad it is at worst.
fn compared(
    locked: &[Lock],
    offered: &[Lock],
    file: &Path,
) -> Result<(String, Option<Level>), Refusal> {
    let (mut text, mut worst) = (String::new(), None);
    for now in offered.chunk_by(|one, other| one.target == other.target) {
        let target = now.first().and_then(|it| it.target.as_deref());
        let mut before = locked.to_vec();
        before.retain(|it| it.target.as_deref() == target);
        if before.is_empty() {
            return Err(unknown(file, target));
        }
        let changes = lock::compare(&before, now);
        worst = worst.max(changes.worst());
        if let (Some(target), true) = (target, now.len() < offered.len()) {
            text.extend(["target ", &*clean(target), ": "]);
        }
        text += &shown(&changes, false);
    }
    Ok((text, worst))
}

/// That a file says nothing of a server.
fn unknown(path: &Path, target: Option<&str>) -> Refusal {
    let what = target.map_or("a server without a target".to_owned(), |it| {
        format!("the target `{}`", clean(it))
    });
    let message = format!("`{}` says nothing of {what}", path.display());
    let refusal = Refusal::new(ExitCode::Failed, message);
    refusal.with_help("`mcp-assert lock --update` adds it")
}

/// What the file holds; `None` if there is none.
fn locked(path: &Path) -> Result<Option<Vec<Lock>>, Refusal> {
    match regular_text(path, LONGEST_CATALOG) {
        Ok(text) => lock::read(&text)
            .map(Some)
            .map_err(|why| unusable(path, &why)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, &error.to_string())),
    }
}

fn unusable(path: &Path, why: &str) -> Refusal {
    let message = format!("`{}` cannot be used: {}", path.display(), clean(why));
    Refusal::could_not_run(message)
}

fn write(path: &Path, offered: &[Lock], context: &Context) -> Result<(), Refusal> {
    let text = lock::write(offered);
    // A file that would be read as something else is worse than none.
    let again = lock::read(&text).map_err(|why| unusable(path, &why))?;
    if lock::write(&again) != text {
        let why = "what the server offers cannot be written as YAML";
        return Err(unusable(path, why));
    }
    findings::write(path, &text, context)?;
    context.say(&format!("wrote {}\n", path.display()));
    Ok(())
}
