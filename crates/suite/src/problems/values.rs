//! Problems inside of values: durations, patterns, paths, schemas.

use super::{code, error, warning};
use text::{diagnostic::Diagnostic, web::UrlFault};

/// A text that is not a duration.
pub(crate) fn bad_duration(found: &str, reason: &str) -> Diagnostic {
    let message = format!("invalid duration `{found}`: {reason}");
    error(code::BAD_DURATION, message).with_help("write it like `300ms`, `15s`, `1m30s` or `2min`")
}

/// A text that is not a regular expression.
pub(crate) fn bad_regex(pattern: &str, reason: &str) -> Diagnostic {
    let message = format!("invalid regular expression `{pattern}`: {reason}");
    error(code::BAD_REGEX, message)
}

/// A text that is not a JSONPath.
pub(crate) fn bad_path(path: &str, reason: &str) -> Diagnostic {
    error(code::BAD_PATH, format!("invalid JSONPath `{path}`: {reason}")).with_help(
        "write a JSONPath such as `$.items[0].name`, or short `items[0].name`; a key with other characters as `$['a key']`",
    )
}

/// A name that a capture cannot have.
pub(crate) fn bad_capture(name: &str) -> Diagnostic {
    let message = format!("a capture cannot have the name `{name}`");
    error(code::UNKNOWN_VARIABLE, message).with_help(
        "use letters, digits, `_`, `-` and `.`, a letter first; `fixture`, `port` and `env.…` are taken",
    )
}

/// A value that is not a JSON Schema.
pub(crate) fn bad_schema(reason: &str) -> Diagnostic {
    let message = format!("invalid JSON Schema: {reason}");
    error(code::BAD_SCHEMA, message)
}

/// A key of a schema that is nearly a keyword, and checks nothing.
pub(crate) fn misspelt_keyword(key: &str, near: &str) -> Diagnostic {
    let message = format!("unknown JSON Schema keyword `{key}`: it checks nothing");
    warning(code::UNKNOWN_KEYWORD, message).with_help(format!("did you mean `{near}`?"))
}

/// A text that is not a glob.
pub(crate) fn bad_glob(pattern: &str, reason: &str) -> Diagnostic {
    error(
        code::BAD_GLOB,
        format!("invalid glob `{pattern}`: {reason}"),
    )
}

/// A glob in the place of the name of one file.
pub(crate) fn no_pattern(path: &str) -> Diagnostic {
    let message = format!("`{path}` is taken as the name of one file, not as a pattern");
    let help = "name each file; `only_changed` takes patterns";
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
    let message = format!("invalid url `{}`: {fault}", text::name(found));
    error(code::BAD_URL, message).with_help("write it like `http://localhost:8080/mcp`")
}

/// A name that a header cannot have.
pub(crate) fn bad_header(name: &str) -> Diagnostic {
    let message = format!("invalid header name `{}`", text::name(name));
    let help = "use letters, digits and `-`, without blanks and colons: `X-Team`";
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
    let message =
        format!("unknown matcher `{word}`: the answer is compared with this map as it is");
    let help =
        format!("the matcher is called `{meant}`; to compare with the map write `equals: {whole}`");
    warning(code::NO_MATCHER, message).with_help(help)
}

/// Two assertions with one name.
pub(crate) fn duplicate_name(name: &str, first: &str) -> Diagnostic {
    let message = format!("the name `{}` is already used at {first}", text::name(name));
    let help =
        "give each assertion its own name, so that reports and baselines can tell them apart";
    warning(code::DUPLICATE_NAME, message).with_help(help)
}

/// A function in the place of a key.
pub(crate) fn function_in_path(path: &str, function: &str) -> Diagnostic {
    let reason = format!("the function `{function}()` is allowed in filters (`[?…]`) only");
    let help = "the matcher `length` asks how many there are: `$.list: {length: 3}`";
    error(
        code::BAD_PATH,
        format!("invalid JSONPath `{path}`: {reason}"),
    )
    .with_help(help)
}
