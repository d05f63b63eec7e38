//! Problems of the YAML itself.

use super::{code, error, helped, labelled, warning};
use crate::Dialect;
use text::{diagnostic::Diagnostic, source::Origin};

/// The parser's complaint.
pub fn yaml_syntax(origin: Origin, message: &str) -> Diagnostic {
    let tidy = message.strip_prefix("while ").unwrap_or(message);
    let problem = error(
        code::YAML_SYNTAX,
        origin,
        format!("the YAML is broken: {tidy}"),
    );
    let help = if tidy.starts_with("unexpected character: `\\u{") {
        "remove the character; in double quotes it can be written as an escape"
    } else if tidy.contains("tab") {
        "indent with blanks: YAML takes no tabs there"
    } else if tidy.contains("escape character") {
        "in double quotes a backslash begins an escape: write a pattern in single quotes"
    } else if tidy.starts_with("plain scalar cannot start") {
        "put the text in quotes: `\"-\"`"
    } else {
        "look at the indentation, the quotes and the brackets before this place"
    };
    helped(problem, help)
}

/// Too deep, too large.
pub fn yaml_limit(origin: Origin, what: &str) -> Diagnostic {
    error(
        code::YAML_LIMIT,
        origin,
        format!("the YAML is {what}").replace("is aliases", "has aliases that"),
    )
}

/// A key that was there before.
pub fn duplicate_key(origin: Origin, key: &str, first_line: usize) -> Diagnostic {
    let problem = error(
        code::DUPLICATE_KEY,
        origin,
        format!("the key `{key}` occurs twice"),
    );
    let problem = labelled(problem, format!("it stands in line {first_line} already"));
    let help = if key == "<<" {
        "merge several maps with a list: `<<: [*a, *b]`"
    } else {
        "join the two values, or remove one"
    };
    helped(problem, help)
}

/// An alias without an anchor.
pub fn unknown_anchor(origin: Origin, name: &str) -> Diagnostic {
    let problem = error(
        code::BAD_ALIAS,
        origin,
        format!("the alias `*{name}` has no anchor before it in this document"),
    );
    helped(
        problem,
        format!("write `&{name}` before the value meant, or put the text in quotes"),
    )
}

/// An alias inside of its own anchor.
pub fn alias_of_itself(origin: Origin) -> Diagnostic {
    error(
        code::BAD_ALIAS,
        origin,
        "the alias stands inside of the value it means".into(),
    )
}

/// `<<` with something that is no map.
pub fn merge_of_no_map(origin: Origin) -> Diagnostic {
    let problem = error(
        code::BAD_ALIAS,
        origin,
        "the merge key `<<` takes a map or a list of maps".into(),
    );
    helped(problem, "put the key in quotes if it is meant as it is")
}

/// A tag that is none of YAML's own. The Go tool's parser takes the value as if it were not there.
pub fn unknown_tag(origin: Origin, tag: &str, dialect: Dialect) -> Diagnostic {
    let message = format!("the tag `{tag}` means nothing here");
    let problem = match dialect {
        Dialect::Native => error(code::UNKNOWN_TAG, origin, message),
        Dialect::Compat => warning(code::UNKNOWN_TAG, origin, message),
    };
    helped(problem, "remove it, or put the text in quotes")
}

/// A tag of a type before what is of another: `!!int a`.
pub fn unfit_tag(origin: Origin, tag: &str, wanted: &str) -> Diagnostic {
    let problem = error(
        code::YAML_SYNTAX,
        origin,
        format!("`!!{tag}` takes {wanted}, which this is not"),
    );
    helped(problem, "remove the tag if the text is meant as it is")
}

/// `.inf`, `.nan`.
pub fn no_json_number(origin: Origin, text: &str) -> Diagnostic {
    let problem = error(
        code::NO_JSON_NUMBER,
        origin,
        format!("`{text}` is a number that JSON does not have"),
    );
    helped(problem, format!("for the text write `\"{text}\"`"))
}

/// A list or a map as key.
pub fn key_not_scalar(origin: Origin) -> Diagnostic {
    let problem = error(code::BAD_KEY, origin, "a key must be a text".into());
    helped(
        problem,
        "a `{{name}}` at the beginning of a value needs quotes: `\"{{name}}\"`",
    )
}
