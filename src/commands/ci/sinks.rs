//! The sinks that a workflow's runner offers: masks and annotations in the log, the step summary, the outputs. None of them
//! changes the verdict; one that cannot be written is a note.

use std::path::{Path, PathBuf};

use crate::{
    commands::running::Screen,
    deliver::{
        self, Destination,
        bounds::Bounds,
        command_file,
        facts::{Facts, Wanted},
    },
};
use report::{
    Format,
    annotations::annotations,
    markdown,
    outputs::{Told, outputs},
};
use text::{count, environment::Environment, redact::Secrets, workflow::command::Command};

/// What this process itself must not tell.
pub(super) fn own_secrets(environment: &Environment) -> Secrets {
    let mut secrets = Secrets::default();
    if let Some(token) = environment.variable("GITHUB_TOKEN") {
        secrets.add_token(token.trim());
    }
    secrets
}

/// Has the runner mask every value, in each form it may be shown in. This comes before anything else is told, so that not
/// even our own words can show a value.
pub(super) fn mask(secrets: &Secrets, screen: &Screen) {
    for value in secrets.forms() {
        screen.command(&Command::AddMask(value.to_owned()));
    }
    if secrets.too_short() > 0 {
        screen.note(&format!(
            "{} from the environment cannot be hidden, because hiding so short a text would hide others too",
            count(secrets.too_short(), "value")
        ));
    }
}

/// Marks the lines that deserve a look.
pub(super) fn annotate(facts: &Facts<'_>, screen: &Screen) {
    if facts.wishes.annotations == Wanted::No {
        return;
    }
    for annotation in annotations(facts.report) {
        screen.command(&Command::Annotate(annotation));
    }
}

/// Appends the step summary.
pub(super) fn summarize(facts: &Facts<'_>, screen: &mut Screen) {
    let Some(path) = command_path(&facts.here.environment, "GITHUB_STEP_SUMMARY") else {
        return;
    };
    if facts.wishes.summary == Wanted::No {
        return;
    }
    let before = deliver::size(&path);
    let Some(text) = markdown::summary(facts.report, before) else {
        screen.note("the step summary is full: what is in it leaves no room for more");
        return;
    };
    let destination = Destination::StepSummary(path);
    if let Err(error) = deliver::write(&destination, &text, screen.stdout()) {
        screen.note(&error.to_string());
    }
}

/// Tells later steps, as the last of all sinks: `comment` is what became of the comment, `written` the report files
/// that are there.
pub(super) fn tell_outputs(
    facts: &Facts<'_>,
    written: &[(Format, &Path)],
    comment: &str,
    screen: &Screen,
) {
    let bounds = Bounds::of(&facts.here.environment);
    let shown = |wanted: Format| {
        let found = written.iter().find(|(format, _)| *format == wanted);
        found.map(|(_, path)| bounds.shown(path))
    };
    let (report_json, junit, badge) = (
        shown(Format::RunJson),
        shown(Format::Junit),
        shown(Format::Badge),
    );
    let told = Told {
        report_json: report_json.as_deref(),
        junit: junit.as_deref(),
        badge: badge.as_deref(),
        comment,
    };
    let outputs = outputs(facts.report, &told);
    append_outputs(&facts.here.environment, &outputs, screen);
}

/// Appends to the outputs of this step, where there is a runner that takes them.
pub(super) fn append_outputs(
    environment: &Environment,
    outputs: &[(&'static str, String)],
    screen: &Screen,
) {
    let pairs = outputs.iter().map(|(name, value)| (*name, value.as_str()));
    append("GITHUB_OUTPUT", pairs, environment, screen);
}

/// Keeps a pair for what the runner starts when the job is over.
pub(super) fn save_state(environment: &Environment, pair: (&str, &str), screen: &Screen) {
    append("GITHUB_STATE", [pair], environment, screen);
}

fn append<'a>(
    file: &str,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    environment: &Environment,
    screen: &Screen,
) {
    if let Some(path) = command_path(environment, file)
        && let Err(error) = command_file::append(&path, pairs)
    {
        screen.note(&error.to_string());
    }
}

/// The path of a file of the runner's, where there is one.
fn command_path(environment: &Environment, name: &str) -> Option<PathBuf> {
    let path = environment.variable(name)?;
    (!path.is_empty()).then(|| path.into())
}
