//! Problems of keys and types: what stands where.

use serde_json::Number;

use super::{choices, code, error, home, listed, warning};
use text::diagnostic::Diagnostic;

/// Keys that are planned, with the owner of each.
const NOT_YET: [(&str, &str); 1] = [("snapshot", "`expect`")];

/// A key that does not exist there.
pub(crate) fn unknown_key(key: &str, owner: &str, known: &[&str]) -> Diagnostic {
    if NOT_YET.contains(&(key, owner)) {
        return error(code::UNKNOWN_KEY, format!("`{key}` is not supported yet"));
    }
    let help = home::home(key).unwrap_or_else(|| match home::nearest(key, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{owner} takes {}", listed(known)),
    });
    error(code::UNKNOWN_KEY, format!("unknown key `{key}`"))
        .with_label(format!("not a key of {owner}"))
        .with_help(help)
}

/// A value of another type.
pub(crate) fn wrong_type(found: &str, expected: &str) -> Diagnostic {
    let message = format!("expected {expected}, found {found}");
    error(code::WRONG_TYPE, message).with_label(format!("this is {found}"))
}

/// A value in the place of a map with these keys.
pub(crate) fn no_map(found: &str, owner: &str, keys: &[&str]) -> Diagnostic {
    wrong_type(found, "a map").with_help(format!("{owner} takes {}", listed(keys)))
}

/// An unknown readiness check.
pub(crate) fn unknown_readiness(found: &str) -> Diagnostic {
    unknown_word(found, "readiness check", &["port"]).with_help(
        "or a map: `{log: PATTERN}` for a line of its output, `{http: PATH}` for a path that is answered",
    )
}

/// A root that is not a map.
pub(crate) fn root_not_map(found: &str) -> Diagnostic {
    wrong_type(found, "a map with the keys of an assertion")
        .with_help("write several assertions as documents, with `---` between them")
}

/// A key without value.
pub(crate) fn empty_value(key: &str) -> Diagnostic {
    let message = format!("`{key}` has no value and does nothing");
    warning(code::EMPTY_VALUE, message).with_help("give it a value, or remove it")
}

/// A switch that is off and has no opposite.
pub(crate) fn idle_switch(key: &str) -> Diagnostic {
    let message = format!("`{key}: false` checks nothing");
    warning(code::EMPTY_VALUE, message).with_help(format!("write `{key}: true`, or remove it"))
}

/// A required key.
pub(crate) fn missing_key(key: &str, owner: &str) -> Diagnostic {
    error(code::MISSING_KEY, format!("`{key}` is missing"))
        .with_label(format!("{owner} requires it"))
}

/// Several keys of which one is required.
pub(crate) fn missing_one_of(keys: &[&str], owner: &str) -> Diagnostic {
    let message = format!("{owner} requires {}", listed(keys));
    error(code::MISSING_KEY, message)
}

/// An empty name.
pub(crate) fn nameless(key: &str) -> Diagnostic {
    let message = format!("`{key}` is empty");
    error(code::MISSING_KEY, message).with_help("write its name")
}

/// An empty list where an entry is required.
pub(crate) fn at_least_one(key: &str) -> Diagnostic {
    let message = format!("`{key}` is empty, at least one entry is required");
    error(code::MISSING_KEY, message)
}

/// `parallel` on some steps only.
pub(crate) fn partly_parallel() -> Diagnostic {
    let message = "only some of the steps have `parallel: true`";
    error(code::CONFLICTING_KEYS, message)
        .with_help("write it on all of them, or once beside `steps`")
}

/// Keys that exclude each other.
pub(crate) fn conflicting_keys(keys: &[&str], owner: &str) -> Diagnostic {
    let message = format!("{owner} takes one of {}, not several", listed(keys));
    error(code::CONFLICTING_KEYS, message).with_help("keep one of them")
}

/// Bounds between which there is no number.
pub(crate) fn no_number_between(least: u64, most: u64) -> Diagnostic {
    let message = format!("`min` is {least} and `max` is {most}: no number is between them");
    error(code::BAD_NUMBER, message).with_help("write the smaller one under `min`")
}

/// The embedded server in another image than its own.
pub(crate) fn image_of_builtin() -> Diagnostic {
    let message = "`builtin` has its own image";
    error(code::CONFLICTING_KEYS, message).with_help(
        "leave the image out (`docker: {}`), or start what is in it with `command` instead of `builtin`",
    )
}

/// A key that does nothing here.
pub(crate) fn no_effect(key: &str, reason: &str) -> Diagnostic {
    warning(code::NO_EFFECT, format!("`{key}` does nothing: {reason}"))
}

/// A key that expects something and is not looked at here.
pub(crate) fn not_looked_at(key: &str, reason: &str) -> Diagnostic {
    let message = format!("`{key}` does nothing: {reason}");
    error(code::NO_EFFECT, message).with_help(format!("remove `{key}`"))
}

/// A further document of the settings file.
pub(crate) fn further_settings() -> Diagnostic {
    let message = "the settings file has more than one document";
    error(code::FURTHER_DOCUMENT, message)
        .with_help("put all keys into the first document, without `---` between")
}

/// A word that is not in a list.
pub(crate) fn unknown_word(found: &str, what: &str, known: &[&str]) -> Diagnostic {
    let message = format!("unknown {what} `{found}`");
    error(code::UNKNOWN_WORD, message).with_help(choices(found, known))
}

/// A report without a path.
pub(crate) fn no_report(found: &str) -> Diagnostic {
    wrong_type(&format!("`{found}`"), "`FORMAT=PATH`").with_help("write it like `junit=report.xml`")
}

/// A target that `--target` cannot name.
pub(crate) fn no_target_name(name: &str, why: &str) -> Diagnostic {
    let message = format!("`--target` cannot select the target `{name}`: {why}");
    error(code::UNKNOWN_WORD, message).with_help("give it another name")
}

/// A second report on standard output.
pub(crate) fn second_stdout() -> Diagnostic {
    error(code::CONFLICTING_KEYS, "two reports want stdout")
        .with_help("write one of them to a file")
}

/// A number out of range.
pub(crate) fn bad_number(found: &str, expected: &str) -> Diagnostic {
    error(
        code::BAD_NUMBER,
        format!("expected {expected}, found `{found}`"),
    )
}

/// A scalar without quotes that the Go tool reads as another number.
pub(crate) fn ambiguous_number(here: &str, there: &Number) -> Diagnostic {
    let message = format!("{here} is the number `{there}` in the Go tool");
    let help = format!("write `{there}` if that is meant, or quotes around a text");
    warning(code::AMBIGUOUS_NUMBER, message).with_help(help)
}

/// A server and nothing to do with it.
pub(crate) fn no_subject(subjects: &[&str]) -> Diagnostic {
    let message = "the document does not say what to assert";
    error(code::NO_SUBJECT, message).with_help(format!("add one of {}", listed(subjects)))
}

/// More than one subject.
pub(crate) fn two_subjects(first: &str, second: &str) -> Diagnostic {
    let message = format!("a document has one subject, found `{first}` and `{second}`");
    error(code::TWO_SUBJECTS, message)
        .with_label("the second one")
        .with_help("write a document for each, with `---` between them")
}

/// No command, no url, no image.
pub(crate) fn no_server() -> Diagnostic {
    error(code::NO_SERVER, "no server is given").with_help(
        "add `server: {command: …}`, or `defaults: {server: …}` in `mcp-assert.yaml`, or run with `--server`, or with `--target` where the \
         settings have targets",
    )
}

/// A url beside a transport without one.
pub(crate) fn no_transport() -> Diagnostic {
    let message = "the transport is `stdio`, which does not use a `url`";
    error(code::NO_SERVER, message)
        .with_help("add `transport: http`, or `transport: sse`, beside the `url`")
}

/// No url for a transport that needs one.
pub(crate) fn no_url(transport: &str) -> Diagnostic {
    let message = format!("the transport `{transport}` requires a `url` or a `launch`");
    error(code::NO_SERVER, message).with_help("add `url: http://…`")
}
