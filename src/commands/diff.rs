//! `mcp-assert diff`: what changed between two servers, or what they offered.

use std::path::Path;

use serde_json::Value;

use super::{
    Context,
    asking::{self, LONGEST_CATALOG, Typed, print},
    findings::write,
    list::pretty,
    running::{Refusal, input::regular_text},
};
use crate::{
    cli::{
        diff::{DiffArgs, FailOn},
        server::ServerArgs,
    },
    inspect::{catalog::Offer, lock},
};
use mcp::observation::catalog::{Catalog, Listing};
use report::{
    changes::{self, Changes, Level},
    junit_changes,
    run_json::{self, Unreadable},
    surface::locked::{Clients, Lock},
};
use text::{clean, exit::ExitCode, web};

/// What stands in front of an image.
const IMAGE: &str = "docker:";

/// Compares the sides and prints what changed.
pub(super) fn diff(args: &DiffArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let old = side(&args.old, args, context)?;
    let new = side(&args.new, args, context)?;
    let changes = changes::compare(&old, &new);
    let limit = limit(args.fail_on);
    if let Some(path) = &args.markdown {
        write(path, &changes::markdown(&changes), context)?;
    }
    if let Some(path) = &args.junit {
        let text = junit_changes::render(&changes, limit).map_err(|error| {
            Refusal::could_not_run(format!("cannot write a JUnit report: {error}"))
        })?;
        write(path, &text, context)?;
    }
    print(&shown(&changes, args.json), args.json, context)?;
    Ok(exit(changes.worst(), limit))
}

/// The changes as they are printed.
pub(super) fn shown(changes: &Changes, is_json: bool) -> String {
    if is_json {
        pretty(&changes::json(changes))
    } else {
        changes::text(changes)
    }
}

/// The level from which changes are a failure.
pub(super) fn limit(fail_on: FailOn) -> Option<Level> {
    match fail_on {
        FailOn::Breaking => Some(Level::Breaking),
        FailOn::Risky => Some(Level::Risky),
        FailOn::Any => Some(Level::Safe),
        FailOn::None => None,
    }
}

pub(super) fn exit(worst: Option<Level>, limit: Option<Level>) -> ExitCode {
    match (worst, limit) {
        (Some(worst), Some(limit)) if worst >= limit => ExitCode::Failed,
        (_, _) => ExitCode::Passed,
    }
}

/// The catalog of one side.
fn side(typed: &str, args: &DiffArgs, context: &Context) -> Result<Value, Refusal> {
    let is_server = web::has_web_scheme(typed) || typed.starts_with(IMAGE);
    if !is_server && is_file(typed) {
        return of_file(typed, args.target.as_deref()).map_err(|why| {
            let (typed, why) = (clean(typed), clean(&why));
            Refusal::could_not_run(format!("`{typed}` cannot be compared: {why}"))
        });
    }
    let mut server = ServerArgs {
        server: Some(typed.to_owned()),
        how: args.how.clone(),
        ..ServerArgs::default()
    };
    if !web::has_web_scheme(typed) {
        server.how.headers.clear();
    }
    if let Some(image) = typed.strip_prefix(IMAGE) {
        let (image, command) = image.split_once(' ').unwrap_or((image, ""));
        server.docker = Some(image.to_owned());
        server.server = (!command.trim().is_empty()).then(|| command.to_owned());
    }
    of_server(&Typed::read(&server, context)?, context)
}

/// Whether a side is a file, or is meant to be one.
fn is_file(typed: &str) -> bool {
    let endings = [".json", ".yaml", ".yml"];
    let is_named_so =
        !typed.contains(char::is_whitespace) && endings.iter().any(|it| typed.ends_with(it));
    is_named_so || is_data(Path::new(typed))
}

/// Whether there is a file that cannot be run.
fn is_data(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 == 0)
}

/// What a server offers, without its secrets.
pub(super) fn of_server(typed: &Typed, context: &Context) -> Result<Value, Refusal> {
    let offer = typed.ask(context, async |open| Ok(open.offer().await))?;
    asking::complete(&offer)?;
    let mut whole = offer.json();
    asking::mask(&mut whole, &typed.secrets);
    Ok(whole)
}

/// What a file tells: a lock file, a run.json, or a catalog.
fn of_file(path: &str, target: Option<&str>) -> Result<Value, String> {
    let text = regular_text(Path::new(path), LONGEST_CATALOG).map_err(|error| error.to_string())?;
    if !text.trim_start().starts_with(['{', '[']) {
        return of_lock(lock::read(&text)?, target);
    }
    match run_json::parse(&text) {
        Ok(run) => of_run(run.catalogs.into_iter().collect(), target),
        Err(Unreadable::Broken(why)) => Err(why),
        Err(Unreadable::Foreign(_)) => Ok(Offer::from_json(&text)?.json()),
    }
}

/// What a lock file says of one target, to a client that declares everything.
fn of_lock(mut all: Vec<Lock>, target: Option<&str>) -> Result<Value, String> {
    all.retain(|it| it.clients == Clients::All);
    if all.len() > 1 {
        all.retain(|it| target.is_some() && it.target.as_deref() == target);
    }
    match <[_; 1]>::try_from(all) {
        Ok([locked]) => Ok(locked.catalog),
        Err(_) => Err("it has several targets; choose one of them with `--target`".to_owned()),
    }
}

/// The lists of one target of a run.
fn of_run(mut catalogs: Vec<(String, Catalog)>, target: Option<&str>) -> Result<Value, String> {
    if catalogs.len() > 1
        && let Some(target) = target
    {
        catalogs.retain(|(name, _)| name == target);
    }
    let names = catalogs.iter().map(|(name, _)| format!("`{name}`"));
    let names: Vec<String> = names.collect();
    let catalog = match <[_; 1]>::try_from(catalogs) {
        Ok([(_, catalog)]) => catalog,
        Err(none) if none.is_empty() => {
            return Err("it has no lists of a server: a run has them with `--baseline` or `--save-baseline`".to_owned());
        }
        Err(_) => {
            let names = names.join(", ");
            return Err(format!(
                "it has several targets; choose with `--target`: {names}"
            ));
        }
    };
    if let Some(listing) = catalog.unknown.first() {
        return Err(format!("its list of {}s is not complete", listing.entry()));
    }
    let list = |it| catalog.list(it).unwrap_or_default();
    let lists = Listing::ALL.map(|it| (it.member(), list(it)));
    Ok(lists.into_iter().collect())
}
