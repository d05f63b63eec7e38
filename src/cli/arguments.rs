//! The command line as the Go tool of the same name takes it: long options with one dash (`-suite x`) and
//! switches with a value (`--json=false`). Rewritten to the usual form before clap reads them.

use std::{collections::BTreeMap, ffi::OsString};

use clap::{ArgAction, Command};

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    Value,
}

/// Rewrites the arguments after the program's name; everything behind `--` and every word that is no known
/// option stays as it is.
pub(crate) fn normalise(
    arguments: impl Iterator<Item = OsString>,
    command: &Command,
) -> Vec<OsString> {
    let known = long_options(command);
    let mut out = Vec::new();
    let mut literal = false;
    let mut value_follows = false;
    for argument in arguments {
        let Some(text) = argument.to_str().filter(|_| !literal && !value_follows) else {
            value_follows = false;
            out.push(argument);
            continue;
        };
        if text == "--" {
            literal = true;
            out.push(argument);
            continue;
        }
        let Some((name, value)) = option_name(text) else {
            out.push(argument);
            continue;
        };
        match (known.get(name), value) {
            (None, _) => out.push(argument),
            (Some(Kind::Switch), Some("false" | "0" | "f" | "F" | "FALSE" | "False")) => {}
            (Some(Kind::Switch), Some("true" | "1" | "t" | "T" | "TRUE" | "True") | None) => {
                out.push(format!("--{name}").into());
            }
            (Some(Kind::Switch | Kind::Value), Some(value)) => {
                out.push(format!("--{name}={value}").into());
            }
            (Some(Kind::Value), None) => {
                value_follows = true;
                out.push(format!("--{name}").into());
            }
        }
    }
    out
}

/// The name and value of `-name`, `--name`, `-name=value`; one-letter options are clap's.
fn option_name(text: &str) -> Option<(&str, Option<&str>)> {
    let bare = text.strip_prefix("--").or_else(|| text.strip_prefix('-'))?;
    let (name, value) = match bare.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (bare, None),
    };
    (name.len() > 1).then_some((name, value))
}

fn long_options(command: &Command) -> BTreeMap<String, Kind> {
    let mut known = BTreeMap::from([("help".to_owned(), Kind::Switch)]);
    add_long_options(command, &mut known);
    known
}

fn add_long_options(command: &Command, known: &mut BTreeMap<String, Kind>) {
    for argument in command.get_arguments() {
        let takes_none = matches!(
            argument.get_action(),
            ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Count
        );
        let kind = if takes_none {
            Kind::Switch
        } else {
            Kind::Value
        };
        for name in argument.get_long_and_visible_aliases().unwrap_or_default() {
            known.insert(name.to_owned(), kind);
        }
    }
    for subcommand in command.get_subcommands() {
        add_long_options(subcommand, known);
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::normalise;
    use crate::cli::Cli;

    #[test]
    fn the_go_tools_forms_are_rewritten() {
        let case = |typed: &[&str], wanted: &[&str]| {
            let seen = normalise(typed.iter().map(Into::into), &Cli::command());
            assert_eq!(seen, wanted, "{typed:?}");
        };
        case(&["run", "-suite", "x"], &["run", "--suite", "x"]);
        case(
            &["run", "-suite=x", "--json=true"],
            &["run", "--suite=x", "--json"],
        );
        case(&["run", "-json=false", "y"], &["run", "y"]);
        case(
            &["run", "--server", "-trials"],
            &["run", "--server", "-trials"],
        );
        case(
            &["run", "-h", "--", "-suite"],
            &["run", "-h", "--", "-suite"],
        );
        case(&["run", "-nonsense", "x"], &["run", "-nonsense", "x"]);
    }
}
