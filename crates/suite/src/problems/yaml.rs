//! Problems of the YAML itself.

use super::{code, error, warning};
use crate::Dialect;
use text::diagnostic::Diagnostic;

/// An error of the parser.
pub(crate) fn yaml_syntax(message: &str) -> Diagnostic {
    let tidy = message.strip_prefix("while ").unwrap_or(message);
    let help = if tidy.starts_with("unexpected character: `\\u{") {
        "remove the character; in double quotes it can be written as an escape"
    } else if tidy.contains("tab") {
        "indent with spaces: YAML does not allow tabs there"
    } else if tidy.contains("escape character") || tidy.contains("hexadecimal number") {
        "in double quotes a backslash begins an escape: write a pattern, or a path of Windows, in single quotes"
    } else if tidy.starts_with("plain scalar cannot start") {
        "put the text in quotes: `\"-\"`"
    } else {
        "look at the indentation, the quotes and the brackets before this place"
    };
    error(code::YAML_SYNTAX, format!("invalid YAML: {tidy}")).with_help(help)
}

/// YAML that is too deep or too large.
pub(crate) fn yaml_limit(what: &str) -> Diagnostic {
    error(code::YAML_LIMIT, format!("the YAML {what}"))
}

/// A key that occurs before in the same map.
pub(crate) fn duplicate_key(key: &str, first_line: usize) -> Diagnostic {
    let help = if key == "<<" {
        "merge several maps with a list: `<<: [*a, *b]`"
    } else {
        "join the two values, or remove one"
    };
    error(code::DUPLICATE_KEY, format!("duplicate key `{key}`"))
        .with_label(format!("first used in line {first_line}"))
        .with_help(help)
}

/// An alias without an anchor.
pub(crate) fn unknown_anchor(name: &str) -> Diagnostic {
    let message = format!("the alias `*{name}` has no anchor before it in this document");
    let help = format!("write `&{name}` before the value meant, or put the text in quotes");
    error(code::BAD_ALIAS, message).with_help(help)
}

/// An alias inside of its own anchor.
pub(crate) fn alias_of_itself() -> Diagnostic {
    error(code::BAD_ALIAS, "the alias stands inside of its own anchor")
}

/// `<<` with a value that is not a map.
pub(crate) fn merge_of_no_map() -> Diagnostic {
    error(
        code::BAD_ALIAS,
        "the merge key `<<` takes a map or a list of maps",
    )
    .with_help("put the key in quotes if it is meant as it is")
}

/// A tag that YAML does not have. The Go tool ignores it with a warning.
pub(crate) fn unknown_tag(tag: &str, dialect: Dialect) -> Diagnostic {
    let message = format!("unknown tag `{tag}`");
    let problem = match dialect {
        Dialect::Native => error(code::UNKNOWN_TAG, message),
        Dialect::Compat => warning(code::UNKNOWN_TAG, message),
    };
    problem.with_help("remove it, or put the text in quotes")
}

/// A tag before a value of another type: `!!int a`.
pub(crate) fn unfit_tag(tag: &str, wanted: &str) -> Diagnostic {
    let message = format!("expected {wanted} after `!!{tag}`");
    error(code::YAML_SYNTAX, message).with_help("remove the tag if the text is meant as it is")
}

/// `.inf`, `.nan`.
pub(crate) fn no_json_number(text: &str) -> Diagnostic {
    let message = format!("`{text}` is a number that JSON does not have");
    error(code::NO_JSON_NUMBER, message).with_help(format!("for the text write `\"{text}\"`"))
}

/// A list or a map as key.
pub(crate) fn key_not_scalar() -> Diagnostic {
    error(code::BAD_KEY, "expected a text as key")
        .with_help("a `{{name}}` at the beginning of a value needs quotes: `\"{{name}}\"`")
}
