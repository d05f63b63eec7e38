//! Writes findings: to the terminal or as JSON, and to the files that the options name.

use std::path::Path;

use serde_json::Value;

use super::{
    Context,
    asking::print,
    list::pretty,
    running::{Refusal, places::Places},
};
use crate::{
    cli::findings::FindingsArgs,
    deliver::{self, Destination, command_file, stdout::Stdout, stream::stream},
};
use report::inspection::{Inspection, Place, junit, markdown, sarif, terminal};
use text::exit::ExitCode;

/// The name of the settings file.
const SETTINGS: &str = "mcp-assert.yaml";

/// A file that a command writes beside the reports: the option and the path.
pub(super) type Named<'a> = (&'static str, Option<&'a Path>);

/// Refuses, before anything is asked, files that would overwrite each other or the catalog, and streams: in a workflow they
/// are its log.
pub(super) fn check(
    args: &FindingsArgs,
    catalog: Option<&Path>,
    written: &[Named<'_>],
    context: &Context,
) -> Result<(), Refusal> {
    let markdown = args.markdown.as_deref();
    let reports = [
        ("--junit", args.junit.as_deref()),
        ("--markdown", markdown.filter(|it| !is_summary(it, context))),
        ("--sarif", args.sarif.as_deref()),
    ];
    let named = reports.iter().chain(written);
    let named = named.filter_map(|(by, path)| Some((*by, (*path)?)));
    if let Some((by, path)) = named.clone().find(|(_, path)| stream(path).is_some()) {
        let message = format!("`{by}` cannot write to `{}`", path.display());
        return Err(Refusal::invalid(message).with_help("write it to a file"));
    }
    let mut places = Places::new(&context.environment, named, None, ("", None));
    let read = catalog.map(|path| ("--catalog", path.to_owned(), None));
    places.read.extend(read);
    places.check()
}

fn is_summary(path: &Path, context: &Context) -> bool {
    command_file::is_summary(path, &context.environment)
}

/// Writes the files, then prints the findings, or `json`.
pub(super) fn deliver(
    args: &FindingsArgs,
    inspection: &Inspection,
    json: impl FnOnce() -> Value,
    context: &Context,
) -> Result<(), Refusal> {
    if let Some(path) = &args.junit {
        let text = junit::render(inspection);
        let text = text.map_err(|error| failed(&format!("cannot make JUnit: {error}")))?;
        write(path, &text, context)?;
    }
    if let Some(path) = &args.markdown {
        write(path, &markdown::render(inspection), context)?;
    }
    if let Some(path) = &args.sarif {
        write(path, &sarif::render(inspection), context)?;
    }
    let text = if args.json {
        pretty(&json())
    } else {
        terminal::render(inspection)
    };
    print(&text, args.json, context)
}

/// The command line that looks again: as it was typed, without the values of headers.
pub(super) fn again(headers: &[String], context: &Context) -> String {
    let shown = |word: &String| match headers.iter().find(|it| word.ends_with(*it)) {
        Some(_) => format!("{}: …", word.split(':').next().unwrap_or_default()),
        None => word.clone(),
    };
    let words = context.words.iter().map(shown);
    shell_words::join(["mcp-assert".to_owned()].into_iter().chain(words))
}

/// The settings file, to which findings without a place belong in code scanning.
pub(super) fn settings_file() -> Option<Place> {
    let is_there = Path::new(SETTINGS).is_file();
    is_there.then(|| Place::beginning(SETTINGS.to_owned()))
}

/// Writes a file, or appends to the summary of the step.
pub(super) fn write(path: &Path, text: &str, context: &Context) -> Result<(), Refusal> {
    let place = if is_summary(path, context) {
        Destination::StepSummary(path.to_owned())
    } else {
        Destination::from_path(path)
    };
    let written = deliver::write(&place, text, &mut Stdout::new(&context.streams));
    written.map_err(|error| failed(&error.to_string()))
}

fn failed(why: &str) -> Refusal {
    Refusal::new(ExitCode::CouldNotRun, why)
}
