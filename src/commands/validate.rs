//! `mcp-assert validate`: reports all problems in suites without running them.

use std::path::PathBuf;

use crate::{
    cli::validate::ValidateArgs,
    commands::{
        Context,
        running::{self, Refusal},
    },
    deliver::stdout,
};
use suite::{
    Dialect,
    discover::{Contents, LoadOptions, load},
    lower::{FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables},
    model::{Entry, Suite},
};
use text::{clean, count, diagnostic::Severity, exit::ExitCode};

/// Prints problems on stderr and totals on stdout.
pub(super) fn validate(args: &ValidateArgs, context: &Context) -> ExitCode {
    let colour = context.stderr_colour();
    let mut paths: Vec<PathBuf> = args
        .suites
        .iter()
        .chain(&args.more_suites)
        .cloned()
        .collect();
    if paths.is_empty() {
        paths.push(PathBuf::from("evals"));
    }
    let options = LoadOptions {
        dialect: args.rules.compat().map(Dialect::of_compat),
        unset_variables: if args.strict_env {
            UnsetVariables::Refuse
        } else {
            UnsetVariables::Warn
        },
        server_from: if args.server.is_some() {
            ServerFrom::Elsewhere
        } else {
            ServerFrom::Targets
        },
        image_from: ImageFrom::Suite,
        started_in: StartedIn::Processes,
        // `run --fixture` may supply one.
        fixture_from: FixtureFrom::Elsewhere,
        contents: Contents::Unasked,
        environment: &context.environment,
    };
    let suite = match load(&paths, &options) {
        Ok(loaded) => {
            let mut suite = loaded.suite;
            let fixture = running::of_settings(&loaded.settings);
            suite
                .problems
                .extend(fixture.err().map(Refusal::into_diagnostic));
            suite
        }
        Err(error) => {
            context.say(&format!("{}\n", error.problem.render(colour)));
            return ExitCode::Invalid;
        }
    };
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
