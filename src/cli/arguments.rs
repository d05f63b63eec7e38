//! Accepts the Go tool's forms of options: one dash (`-suite x`) and switches with a value (`--json=false`). They are
//! rewritten before clap parses them.

use std::{collections::BTreeMap, ffi::OsString};

use clap::{ArgAction, Command};

/// Commands that ignore options with an empty value, like the Go tool and the action.
const EMPTY_IS_NONE: [&str; 3] = ["run", "ci", "validate"];

/// Option names, and whether each takes a value.
type Known = BTreeMap<String, bool>;

/// Rewrites the arguments. Unknown options and everything after `--` stay as they are. The last use of a switch counts.
pub(crate) fn normalise(
    mut arguments: impl Iterator<Item = OsString>,
    command: &Command,
) -> Vec<OsString> {
    let mut known = Known::from([("help".to_owned(), false)]);
    add_own_options(command, &mut known);
    let mut out: Vec<OsString> = Vec::new();
    let mut verb: Option<String> = None;
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().unwrap_or_default();
        if text == "--" {
            out.push(argument);
            out.extend(arguments);
            break;
        }
        let Some((name, value)) = option_name(text) else {
            if verb.is_none() {
                verb = Some(text.to_owned());
                // An option's kind may depend on the command.
                if let Some(chosen) = command.find_subcommand(text) {
                    add_options(chosen, &mut known);
                }
            }
            out.push(argument);
            continue;
        };
        let drops = EMPTY_IS_NONE.iter().any(|it| verb.as_deref() == Some(it));
        let is_none = |value: &str| drops && value.is_empty();
        let usual = usual(name);
        match (known.get(name), value, value.and_then(truth)) {
            (None, _, _) => out.push(argument),
            (Some(true), Some(value), _) if is_none(value) => {}
            (Some(true), None, _) => {
                let value = arguments.next();
                let text = value.as_ref().and_then(|value| value.to_str());
                if !text.is_some_and(is_none) {
                    out.push(usual.into());
                    out.extend(value);
                }
            }
            (Some(false), None, _) | (Some(false), _, Some(true)) => {
                switch(&mut out, &usual);
                out.push(usual.into());
            }
            (Some(false), _, Some(false)) => {
                switch(&mut out, &usual);
                let opposite = opposite(name);
                out.extend(
                    known
                        .contains_key(&opposite)
                        .then(|| self::usual(&opposite).into()),
                );
            }
            (Some(_), Some(value), _) => out.push(format!("{usual}={value}").into()),
        }
    }
    out
}

/// Parses a boolean as Go does.
fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" | "t" | "T" | "1" => Some(true),
        "false" | "False" | "FALSE" | "f" | "F" | "0" => Some(false),
        _ => None,
    }
}

/// Removes earlier uses of a switch and of its opposite.
fn switch(out: &mut Vec<OsString>, usual_name: &str) {
    let opposite = usual(&opposite(usual_name.trim_start_matches('-')));
    out.retain(|word| word != usual_name && *word != *opposite);
}

/// The opposite of a switch.
fn opposite(name: &str) -> String {
    match name.strip_prefix("no-") {
        Some(name) => name.to_owned(),
        None => format!("no-{name}"),
    }
}

/// The name with dashes, as clap expects it.
fn usual(name: &str) -> String {
    let dashes = if name.len() > 1 { "--" } else { "-" };
    format!("{dashes}{name}")
}

/// Splits `-name`, `--name` and `-name=value`. Names of one letter have one dash.
fn option_name(text: &str) -> Option<(&str, Option<&str>)> {
    let long = text.strip_prefix("--");
    let bare = long.or_else(|| text.strip_prefix('-'))?;
    let (name, value) = match bare.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (bare, None),
    };
    let least = if long.is_some() { 2 } else { 1 };
    (name.len() >= least).then_some((name, value))
}

/// Adds the options of a command and its subcommands.
fn add_options(command: &Command, known: &mut Known) {
    add_own_options(command, known);
    for below in command.get_subcommands() {
        add_options(below, known);
    }
}

fn add_own_options(command: &Command, known: &mut Known) {
    for argument in command.get_arguments() {
        let takes_value = !matches!(
            argument.get_action(),
            ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Count
        );
        for name in argument.get_long_and_visible_aliases().unwrap_or_default() {
            known.insert(name.to_owned(), takes_value);
        }
        // Short switches may be combined, which clap handles.
        let letter = argument.get_short().filter(|_| takes_value);
        known.extend(letter.map(|letter| (letter.to_string(), true)));
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
            &["run", "--json", "x", "--trace", "-json=false"],
            &["run", "x", "--trace"],
        );
        case(
            &["run", "--json=false", "-json", "--trace", "--json=1"],
            &["run", "--trace", "--json"],
        );
        // The settings may say it too.
        case(&["run", "--compat", "--compat=0"], &["run", "--no-compat"]);
        case(
            &["ci", "plan", "--compat=false", "-compat"],
            &["ci", "plan", "--compat"],
        );
        case(
            &["run", "--server", "-trials"],
            &["run", "--server", "-trials"],
        );
        case(
            &["run", "-h", "--", "-suite"],
            &["run", "-h", "--", "-suite"],
        );
        case(&["run", "-nonsense", "x"], &["run", "-nonsense", "x"]);
        case(
            &["run", "-j", "4", "-j=4", "-j4"],
            &["run", "-j", "4", "-j=4", "-j4"],
        );
        case(&["run", "--server"], &["run", "--server"]);
        case(&["-V"], &["-V"]);
    }

    #[test]
    fn an_option_with_an_empty_value_is_none() {
        let case = |typed: &[&str], wanted: &[&str]| {
            let seen = normalise(typed.iter().map(Into::into), &Cli::command());
            assert_eq!(seen, wanted, "{typed:?}");
        };
        case(&["run", "--fixture", "", "--trace"], &["run", "--trace"]);
        case(
            &["run", "--markdown=", "-suite", "", "-server=", "x"],
            &["run", "x"],
        );
        case(&["run", "-j", "", "-j="], &["run"]);
        case(&["ci", "merge", "--needs", "", "--plan="], &["ci", "merge"]);
        case(
            &["--color", "never", "validate", "--suite", ""],
            &["--color", "never", "validate"],
        );
        // A word of its own, what belongs to another option, and what only looks like one.
        case(&["run", "", "--"], &["run", "", "--"]);
        case(
            &["run", "--server", "--junit", ""],
            &["run", "--server", "--junit", ""],
        );
        case(&["run", "--", "--junit", ""], &["run", "--", "--junit", ""]);
        case(&["run", "--trace", ""], &["run", "--trace", ""]);
        case(
            &["serve", "--suffix", "", "--files", ""],
            &["serve", "--suffix", "", "--files", ""],
        );
    }
}
