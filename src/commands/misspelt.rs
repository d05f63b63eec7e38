//! What was probably meant by a verb or an option that there is none of. clap offers what is spelt alike only, and
//! whatever is a little so.

use std::ffi::OsString;

use clap::{
    Command, Error,
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};

use text::nearest;

/// The error with what was probably meant, if anything was.
pub(super) fn with_meant(mut error: Error, root: &Command, words: &[OsString]) -> Error {
    // All others name what there is.
    if error.kind() == ErrorKind::InvalidSubcommand {
        verb(&mut error, root, words);
    } else if error.kind() == ErrorKind::UnknownArgument {
        option(&mut error, root, words);
    }
    error
}

/// The verb that was given, and the one below it.
fn verb_of<'a>(root: &'a Command, words: &[OsString]) -> Option<&'a Command> {
    let mut words = words.iter();
    let verb = words.find_map(|word| root.find_subcommand(word))?;
    let below = words.find_map(|word| verb.find_subcommand(word));
    Some(below.unwrap_or(verb))
}

/// Commands of the Go tool of the same name that there are none of.
const GO_VERBS: [&str; 10] = [
    "audit",
    "fuzz",
    "lint",
    "generate",
    "init",
    "coverage",
    "watch",
    "matrix",
    "intercept",
    "snapshot",
];

/// An option of the Go tool's `run` that there is none of.
const GO_OPTION: &str = "fix";

/// Says that something of the Go tool is not here.
fn not_here(error: &mut Error, found: &str) {
    let text = format!("`{found}` of the Go tool is not here yet; docs/compat.md tells what is");
    let text = ContextValue::StyledStrs(vec![StyledStr::from(text)]);
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, text);
}

fn verb(error: &mut Error, root: &Command, words: &[OsString]) {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    if GO_VERBS.contains(&found.as_str()) {
        let found = found.clone();
        not_here(error, &found);
        return;
    }
    let of = verb_of(root, words).unwrap_or(root);
    let known = of.get_subcommands().filter(|it| !it.is_hide_set());
    if let Some(near) = nearest(found, known.map(Command::get_name)) {
        let near = ContextValue::Strings(vec![near.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, near);
    }
}

fn option(error: &mut Error, root: &Command, words: &[OsString]) {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    let Some(found) = typed.strip_prefix("--").map(str::to_owned) else {
        return;
    };
    let Some(verb) = verb_of(root, words) else {
        return;
    };
    if found == GO_OPTION && verb.get_name() == "run" {
        not_here(error, &format!("--{GO_OPTION}"));
        return;
    }
    let own = nearest(&found, options(verb));
    let others = owners(root, "mcp-assert", &found);
    error.remove(ContextKind::SuggestedArg);
    match (own, &others[..]) {
        (_, [_, ..]) => {
            let owners: Vec<String> = others.iter().map(|it| format!("`{it}`")).collect();
            let text = format!("`--{found}` is an option of {}", owners.join(", "));
            let text = ContextValue::StyledStrs(vec![StyledStr::from(text)]);
            error.insert(ContextKind::Suggested, text);
        }
        (Some(near), []) => {
            let near = ContextValue::String(format!("--{near}"));
            error.insert(ContextKind::SuggestedArg, near);
        }
        (None, []) => {}
    }
}

/// The long options of a verb.
fn options(verb: &Command) -> impl Iterator<Item = &str> {
    let shown = verb.get_arguments().filter(|it| !it.is_hide_set());
    shown.filter_map(clap::Arg::get_long)
}

/// The verbs that have an option.
fn owners(command: &Command, name: &str, option: &str) -> Vec<String> {
    let below = command.get_subcommands().filter(|it| !it.is_hide_set());
    below
        .flat_map(|verb| {
            let name = format!("{name} {}", verb.get_name());
            let own = options(verb).any(|it| it == option).then(|| name.clone());
            own.into_iter().chain(owners(verb, &name, option))
        })
        .collect()
}
