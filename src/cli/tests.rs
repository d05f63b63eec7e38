//! The page of the command line, made from the clap types; a test holds it against the file.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use crate::cli::Cli;

/// Every command with its options, and the exit codes.
fn page() -> String {
    let mut out = String::from(
        "# The command line\n\nMade from the program's own definitions.\n\nOptions may be written with one dash too \
         (`-suite evals`), and switches with a value (`--json=false`).\n\n\
         | for every command | meaning |\n|---|---|\n",
    );
    let mut root = Cli::command();
    root.build();
    for argument in root.get_arguments().filter(|argument| !is_help(argument)) {
        row(&mut out, argument);
    }
    for command in root
        .get_subcommands()
        .filter(|command| command.get_name() != "help" && !command.is_hide_set())
    {
        section(&mut out, "mcp-assert", command);
    }
    out.push_str("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for line in include_str!("../../crates/text/src/exit.rs").lines() {
        let Some((code, meaning)) = line
            .trim()
            .strip_prefix("/// ")
            .and_then(|doc| doc.split_once(": "))
        else {
            continue;
        };
        if code.parse::<u8>().is_ok() {
            // Writing to a text cannot fail.
            let _ = writeln!(out, "| {code} | {meaning} |");
        }
    }
    out
}

/// One command.
fn section(out: &mut String, above: &str, command: &Command) {
    let about = command.get_about().map(ToString::to_string);
    let name = format!("{above} {}", command.get_name());
    let _ = write!(out, "\n## `{name}`\n\n{}.\n", about.unwrap_or_default());
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| {
            !is_help(argument) && !argument.is_global_set() && !argument.is_hide_set()
        })
        .collect();
    if !arguments.is_empty() {
        out.push_str("\n| option | meaning |\n|---|---|\n");
    }
    for argument in arguments {
        row(out, argument);
    }
    for below in command
        .get_subcommands()
        .filter(|below| below.get_name() != "help")
    {
        section(out, &name, below);
    }
}

/// One option.
fn row(out: &mut String, argument: &Arg) {
    let values = argument
        .get_value_names()
        .filter(|_| argument.get_action().takes_values())
        .and_then(|names| names.first())
        .map(ToString::to_string);
    let mut name = String::new();
    if let Some(short) = argument.get_short() {
        let _ = write!(name, "-{short}, ");
    }
    match (argument.get_long(), &values) {
        (Some(long), Some(value)) => {
            let _ = write!(name, "--{long} {value}");
        }
        (Some(long), None) => {
            let _ = write!(name, "--{long}");
        }
        (None, value) => name.push_str(value.as_deref().unwrap_or_default()),
    }
    let mut help = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let words: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|_| argument.get_action().takes_values())
        .map(|word| format!("`{}`", word.get_name()))
        .collect();
    if !words.is_empty() {
        let _ = write!(help, ": {}", words.join(", "));
    }
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .filter(|_| argument.get_action().takes_values())
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    if !defaults.is_empty() {
        let _ = write!(help, " (default: `{}`)", defaults.join(" "));
    }
    let _ = writeln!(
        out,
        "| `{name}` | {} |",
        help.replace('|', "\\|").replace('\n', " ")
    );
}

/// `--help` explains itself.
fn is_help(argument: &Arg) -> bool {
    argument.get_id() == "help"
}

#[test]
fn the_page_of_the_command_line_is_current() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/docs/reference/command-line.md"
    );
    let wanted = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/reference/command-line.md is not what the program says: run this test with UPDATE_DOCS=1"
    );
}
