//! `mcp-assert validate`: reports all problems in suites without running them.

use std::path::PathBuf;

use crate::{
    cli::{options::StrictnessArgs, run::RunArgs, validate::ValidateArgs},
    commands::{
        Context,
        running::{self, Refusal},
    },
    deliver::stdout,
};
use suite::{
    lower::{FixtureFrom, ServerFrom},
    model::{Entry, Suite},
};
use text::{clean, count, diagnostic::Severity, exit::ExitCode};

/// Prints problems on stderr and totals on stdout.
pub(super) fn validate(args: &ValidateArgs, context: &Context) -> ExitCode {
    let paths = args.suites.iter().chain(&args.more_suites);
    let mut paths: Vec<PathBuf> = paths.cloned().collect();
    if paths.is_empty() {
        paths.push(PathBuf::from("evals"));
    }
    let mut typed = RunArgs {
        strictness: StrictnessArgs {
            strict_env: args.strict_env,
            ..StrictnessArgs::default()
        },
        ..RunArgs::default()
    };
    typed.selection.rules = args.rules;
    let server_from = match args.server {
        Some(_) => ServerFrom::Elsewhere,
        None => ServerFrom::Targets,
    };
    // `run --fixture` may supply one.
    let unset = running::unset_variables(&typed);
    let sources = (server_from, FixtureFrom::Elsewhere, unset);
    let loaded = match running::load(&paths, &typed, sources, &context.environment) {
        Ok(loaded) => loaded,
        Err(refusal) => return refusal.say(context),
    };
    let mut suite = loaded.suite;
    let fixture = running::of_settings(&loaded.settings).err();
    suite.problems.extend(fixture.map(Refusal::into_diagnostic));
    let colour = context.stderr_colour();
    for problem in &suite.problems {
        context.say(&format!("{}\n", problem.render(colour)));
    }
    for note in &suite.notes {
        context.say(&format!("note: {}\n", clean(note)));
    }
    conclude(&suite, context)
}

/// Prints the totals and returns the exit code.
fn conclude(suite: &Suite, context: &Context) -> ExitCode {
    let of = |severity| {
        let problems = suite.problems.iter();
        problems
            .filter(|problem| problem.severity == severity)
            .count()
    };
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let usable = suite.entries.iter().filter(|entry| match entry {
        Entry::Assertion(_) => true,
        Entry::Invalid { .. } => false,
    });
    let totals = format!(
        "{}, {} usable; {}, {}\n",
        count(suite.entries.len(), "assertion"),
        usable.count(),
        count(errors, "problem"),
        count(warnings, "warning"),
    );
    // A closed stdout is ignored; the exit code has the result.
    let lost = stdout::print(totals.as_bytes(), &context.streams).is_err();
    if errors > 0 {
        ExitCode::Invalid
    } else if lost {
        ExitCode::CouldNotRun
    } else if suite.entries.is_empty() {
        ExitCode::NothingSelected
    } else {
        ExitCode::Passed
    }
}
