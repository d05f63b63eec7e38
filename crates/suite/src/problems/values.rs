//! Problems inside of values: durations, patterns, paths, schemas.

use super::{code, error, warning};
use text::{diagnostic::Diagnostic, web::UrlFault};

/// A text that is not a duration.
pub(crate) fn bad_duration(found: &str, reason: &str) -> Diagnostic {
    let message = format!("`{found}` is no duration: {reason}");
    error(code::BAD_DURATION, message).with_help("write it like `300ms`, `15s`, `1m30s` or `2min`")
}

/// A text that is not a regular expression.
pub(crate) fn bad_regex(pattern: &str, reason: &str) -> Diagnostic {
    let message = format!("`{pattern}` is no regular expression: {reason}");
    error(code::BAD_REGEX, message)
}

/// A text that is not a JSONPath.
pub(crate) fn bad_path(path: &str, reason: &str) -> Diagnostic {
    error(code::BAD_PATH, format!("`{path}` is no path: {reason}")).with_help(
        "write a JSONPath such as `$.items[0].name`, or short `items[0].name`; a key with other characters as `$['a key']`",
    )
}

/// A name that a capture cannot have.
pub(crate) fn bad_capture(name: &str) -> Diagnostic {
    let message = format!("`{name}` cannot be the name of a capture");
    error(code::UNKNOWN_VARIABLE, message).with_help(
        "use letters, digits, `_`, `-` and `.`, a letter first; `fixture`, `port` and `env.…` are taken",
    )
}

/// A value that is not a JSON Schema.
pub(crate) fn bad_schema(reason: &str) -> Diagnostic {
    let message = format!("the JSON Schema cannot be used: {reason}");
    error(code::BAD_SCHEMA, message)
}

/// A key of a schema that is nearly a keyword, and checks nothing.
pub(crate) fn misspelt_keyword(key: &str, near: &str) -> Diagnostic {
    let message = format!("`{key}` is no keyword of JSON Schema, and nothing is checked by it");
    warning(code::UNKNOWN_KEYWORD, message).with_help(format!("did you mean `{near}`?"))
}

/// A text that is not a glob.
pub(crate) fn bad_glob(pattern: &str, reason: &str) -> Diagnostic {
    error(
        code::BAD_GLOB,
        format!("`{pattern}` is no path pattern: {reason}"),
    )
}

/// A glob in the place of the name of one file.
pub(crate) fn no_pattern(path: &str) -> Diagnostic {
    let message = format!("`{path}` is no pattern here: it is the name of one file");
    let help = "name each file; patterns are taken by `only_changed`";
    warning(code::NO_PATTERN, message).with_help(help)
}

/// A path outside of the fixture where one inside is probably meant.
pub(crate) fn outside_fixture(path: &str, what: &str) -> Diagnostic {
    let message = format!("`{path}` leads out of the fixture: {what}");
    let inside = path.trim_start_matches("../").trim_start_matches('/');
    let help = format!("paths of the fixture are relative to it: `{inside}`");
    warning(code::OUTSIDE_FIXTURE, message).with_help(help)
}

/// A text that is not a url.
pub(crate) fn bad_url(found: &str, fault: UrlFault) -> Diagnostic {
    let message = format!("`{}` is no url: {fault}", text::name(found));
    error(code::BAD_URL, message).with_help("write it like `http://localhost:8080/mcp`")
}

/// A name that a header cannot have.
pub(crate) fn bad_header(name: &str) -> Diagnostic {
    let message = format!("`{}` is no name of a header", text::name(name));
    let help = "it has letters, digits and signs such as `-`, and no blank or colon: `X-Team`";
    error(code::BAD_HEADER, message).with_help(help)
}

/// A matcher and something it cannot compare with.
pub(crate) fn bad_matcher(matcher: &str, expected: &str, whole: &str) -> Diagnostic {
    let message = format!("the matcher `{matcher}` takes {expected}");
    let help = format!("to compare with the map as it is write `equals: {whole}`");
    error(code::BAD_MATCHER, message).with_help(help)
}

/// A map that is compared as it is, and reads like matchers.
pub(crate) fn no_matcher(word: &str, meant: &str, whole: &str) -> Diagnostic {
    let message = format!("`{word}` is no matcher: the answer is compared with this map as it is");
    let help =
        format!("the matcher is called `{meant}`; to compare with the map write `equals: {whole}`");
    warning(code::NO_MATCHER, message).with_help(help)
}

/// Two assertions with one name.
pub(crate) fn duplicate_name(name: &str, first: &str) -> Diagnostic {
    let message = format!("the name `{}` is used before, at {first}", text::name(name));
    let help =
        "give each assertion its own name, so that reports and baselines can tell them apart";
    warning(code::DUPLICATE_NAME, message).with_help(help)
}

/// A function in the place of a key.
pub(crate) fn function_in_path(path: &str, function: &str) -> Diagnostic {
    let reason = format!("`{function}()` is a function, and those stand in filters (`[?…]`) only");
    let help = "the matcher `length` asks how many there are: `$.list: {length: 3}`";
    error(code::BAD_PATH, format!("`{path}` is no path: {reason}")).with_help(help)
}
