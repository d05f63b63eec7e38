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

/// The verbs whose options are not given when their value is empty, as the Go tool's and the action's are not.
const EMPTY_IS_NONE: [&str; 3] = ["run", "ci", "validate"];

/// Rewrites the arguments after the program's name; everything behind `--` and every word that is no known
/// option stays as it is.
pub(crate) fn normalise(
    mut arguments: impl Iterator<Item = OsString>,
    command: &Command,
) -> Vec<OsString> {
    let mut known = BTreeMap::from([("help".to_owned(), Kind::Switch)]);
    add_own_options(command, &mut known);
    let mut out = Vec::new();
    // The last one of a switch counts: where the earlier ones stand.
    let mut switches: Vec<(String, usize)> = Vec::new();
    let mut verb: Option<String> = None;
    while let Some(argument) = arguments.next() {
        let Some(text) = argument.to_str() else {
            out.push(argument);
            continue;
        };
        if text == "--" {
            out.push(argument);
            out.extend(arguments);
            break;
        }
        let Some((name, value)) = option_name(text) else {
            if verb.is_none() {
                verb = Some(text.to_owned());
                // A switch of one verb may take a value as an option of another.
                if let Some(chosen) = command.find_subcommand(text) {
                    add_options(chosen, &mut known);
                }
            }
            out.push(argument);
            continue;
        };
        let drops = verb
            .as_ref()
            .is_some_and(|verb| EMPTY_IS_NONE.contains(&verb.as_str()));
        let is_none = |value: &str| drops && value.is_empty();
        match (known.get(name), value) {
            (None, _) => out.push(argument),
            (Some(Kind::Switch), Some("false" | "0" | "f" | "F" | "FALSE" | "False")) => {
                let opposite = opposite(name);
                drop_switch(&mut out, &mut switches, &[name, &opposite]);
                if known.contains_key(&opposite) {
                    switches.push((opposite.clone(), out.len()));
                    out.push(usual(&opposite).into());
                }
            }
            (Some(Kind::Switch), Some("true" | "1" | "t" | "T" | "TRUE" | "True") | None) => {
                drop_switch(&mut out, &mut switches, &[name, &opposite(name)]);
                switches.push((name.to_owned(), out.len()));
                out.push(usual(name).into());
            }
            (Some(Kind::Value), Some(value)) if is_none(value) => {}
            (Some(Kind::Switch | Kind::Value), Some(value)) => {
                out.push(format!("{}={value}", usual(name)).into());
            }
            (Some(Kind::Value), None) => {
                let value = arguments.next();
                let text = value.as_ref().and_then(|value| value.to_str());
                if text.is_some_and(is_none) {
                    continue;
                }
                out.push(usual(name).into());
                out.extend(value);
            }
        }
    }
    out
}

/// The switch that takes another one back.
fn opposite(name: &str) -> String {
    match name.strip_prefix("no-") {
        Some(name) => name.to_owned(),
        None => format!("no-{name}"),
    }
}

/// Takes out what was said with any of these names.
fn drop_switch(out: &mut Vec<OsString>, switches: &mut Vec<(String, usize)>, names: &[&str]) {
    while let Some(at) = switches
        .iter()
        .position(|(name, _)| names.contains(&name.as_str()))
    {
        let (_, place) = switches.remove(at);
        out.remove(place);
        for (_, other) in &mut *switches {
            *other -= usize::from(*other > place);
        }
    }
}

/// The form that clap reads.
fn usual(name: &str) -> String {
    let dashes = if name.len() > 1 { "--" } else { "-" };
    format!("{dashes}{name}")
}

/// The name and value of `-name`, `--name`, `-name=value`; a name of one letter has one dash.
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

/// The options of a verb, and of those below it.
fn add_options(command: &Command, known: &mut BTreeMap<String, Kind>) {
    add_own_options(command, known);
    for below in command.get_subcommands() {
        add_options(below, known);
    }
}

fn add_own_options(command: &Command, known: &mut BTreeMap<String, Kind>) {
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
        // Switches of one letter are put together, which is clap's to read.
        let letter = argument.get_short().filter(|_| kind == Kind::Value);
        known.extend(letter.map(|letter| (letter.to_string(), kind)));
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
        case(
            &["run", "--server", "--json", "--json=false"],
            &["run", "--server", "--json"],
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
