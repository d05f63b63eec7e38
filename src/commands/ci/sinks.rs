//! The sinks of a workflow's runner: masks, annotations, step summary and outputs. They do not change the verdict; a
//! write error is a note.

use std::path::Path;

use crate::{
    cli::ci::Switch,
    commands::running::Screen,
    deliver::{self, Destination, bounds::Bounds, command_file, facts::Facts},
};
use host::launch::add_secret;
use report::{
    Format,
    annotations::annotations,
    markdown,
    outputs::{Told, outputs},
};
use text::{count, environment::Environment, redact::Secrets, workflow::command::Command};

/// The secrets of this process itself, whatever the suite takes.
pub(super) fn own_secrets(environment: &Environment) -> Secrets {
    let mut secrets = Secrets::default();
    if let Some(token) = environment.set("GITHUB_TOKEN") {
        secrets.add_token(token);
    }
    for name in &environment.confidential {
        add_secret(name, environment, &mut secrets);
    }
    secrets
}

/// Makes the runner mask every form of every secret. Must come before any other output.
pub(super) fn mask(secrets: &Secrets, screen: &Screen) {
    for value in secrets.forms() {
        screen.command(&Command::AddMask(value.to_owned()));
    }
    if secrets.too_short() > 0 {
        screen.note(&format!(
            "{} from the environment cannot be masked, because so short a text would mask others too",
            count(secrets.too_short(), "value")
        ));
    }
}

/// Writes annotations.
pub(super) fn annotate(facts: &Facts<'_>, screen: &Screen) {
    if facts.wishes.annotations == Switch::Off {
        return;
    }
    for annotation in annotations(facts.report) {
        screen.command(&Command::Annotate(annotation));
    }
}

/// Appends the step summary.
pub(super) fn summarize(facts: &Facts<'_>, screen: &mut Screen) {
    let Some(path) = facts.here.environment.set("GITHUB_STEP_SUMMARY") else {
        return;
    };
    if facts.wishes.summary == Switch::Off {
        return;
    }
    let before = deliver::size(Path::new(path));
    let Some(text) = markdown::summary(facts.report, before) else {
        screen.note("the step summary is full");
        return;
    };
    let destination = Destination::StepSummary(path.into());
    if let Err(error) = deliver::write(&destination, &text, &mut screen.stdout) {
        screen.note(&error.to_string());
    }
}

/// Writes the step's outputs, last of all sinks. `comment` is the comment's result, `written` the report files that
/// exist.
pub(super) fn write_outputs(
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

/// Appends to the step's outputs, if there is a file for them.
pub(super) fn append_outputs(
    environment: &Environment,
    outputs: &[(&'static str, String)],
    screen: &Screen,
) {
    let pairs = outputs.iter().map(|(name, value)| (*name, value.as_str()));
    append("GITHUB_OUTPUT", pairs, environment, screen);
}

/// Saves a pair for the post step.
pub(super) fn save_state(environment: &Environment, pair: (&str, &str), screen: &Screen) {
    append("GITHUB_STATE", [pair], environment, screen);
}

fn append<'a>(
    file: &str,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    environment: &Environment,
    screen: &Screen,
) {
    if let Some(path) = environment.set(file)
        && let Err(error) = command_file::append(Path::new(path), pairs)
    {
        screen.note(&error.to_string());
    }
}
