//! Problems inside of values: durations, patterns, paths, schemas.

use super::{code, error, helped, warning};
use text::{diagnostic::Diagnostic, source::Origin, web::UrlFault};

/// No duration.
pub fn bad_duration(origin: Origin, found: &str, reason: &str) -> Diagnostic {
    let problem = error(
        code::BAD_DURATION,
        origin,
        format!("`{found}` is no duration: {reason}"),
    );
    helped(problem, "write it like `300ms`, `15s`, `1m30s` or `2min`")
}

/// No regular expression.
pub fn bad_regex(origin: Origin, pattern: &str, reason: &str) -> Diagnostic {
    error(
        code::BAD_REGEX,
        origin,
        format!("`{pattern}` is no regular expression: {reason}"),
    )
}

/// No JSONPath.
pub fn bad_path(origin: Origin, path: &str, reason: &str) -> Diagnostic {
    let problem = error(
        code::BAD_PATH,
        origin,
        format!("`{path}` is no path: {reason}"),
    );
    helped(
        problem,
        "write a JSONPath such as `$.items[0].name`, or short `items[0].name`; a key with other characters as `$['a key']`",
    )
}

/// A capture that would always take the same.
pub fn bad_capture(origin: Origin, name: &str) -> Diagnostic {
    let problem = error(
        code::UNKNOWN_VARIABLE,
        origin,
        format!("`{name}` cannot be the name of a capture"),
    );
    helped(
        problem,
        "use letters, digits, `_`, `-` and `.`, a letter first; `fixture`, `port` and `env.…` are taken",
    )
}

/// No JSON Schema.
pub fn bad_schema(origin: Origin, reason: &str) -> Diagnostic {
    error(
        code::BAD_SCHEMA,
        origin,
        format!("the JSON Schema cannot be used: {reason}"),
    )
}

/// A key of a schema that nothing looks at, and is nearly a keyword.
pub fn misspelt_keyword(origin: Origin, key: &str, near: &str) -> Diagnostic {
    let problem = warning(
        code::UNKNOWN_KEYWORD,
        origin,
        format!("`{key}` is no keyword of JSON Schema, and nothing is checked by it"),
    );
    helped(problem, format!("did you mean `{near}`?"))
}

/// No glob.
pub fn bad_glob(origin: Origin, pattern: &str, reason: &str) -> Diagnostic {
    error(
        code::BAD_GLOB,
        origin,
        format!("`{pattern}` is no path pattern: {reason}"),
    )
}

/// A path that reads like a pattern where it is the name of one file.
pub fn no_pattern(origin: Origin, path: &str) -> Diagnostic {
    let problem = warning(
        code::NO_PATTERN,
        origin,
        format!("`{path}` is no pattern here: it is the name of one file"),
    );
    helped(
        problem,
        "name each file; patterns are taken by `only_changed`",
    )
}

/// A path that is not of the fixture where only those below it have a meaning, or are probably meant.
pub fn outside_fixture(origin: Origin, path: &str, what: &str) -> Diagnostic {
    let problem = warning(
        code::OUTSIDE_FIXTURE,
        origin,
        format!("`{path}` leads out of the fixture: {what}"),
    );
    helped(
        problem,
        format!(
            "paths of the fixture are relative to it: `{}`",
            path.trim_start_matches("../").trim_start_matches('/')
        ),
    )
}

/// No url.
pub fn bad_url(origin: Origin, found: &str, fault: UrlFault) -> Diagnostic {
    let shown = text::name(found);
    let problem = error(
        code::BAD_URL,
        origin,
        format!("`{shown}` is no url: {fault}"),
    );
    helped(problem, "write it like `http://localhost:8080/mcp`")
}

/// No name of a header.
pub fn bad_header(origin: Origin, name: &str) -> Diagnostic {
    let problem = error(
        code::BAD_HEADER,
        origin,
        format!("`{}` is no name of a header", text::name(name)),
    );
    helped(
        problem,
        "it has letters, digits and signs such as `-`, and no blank or colon: `X-Team`",
    )
}

/// A matcher and something it cannot compare with.
pub fn bad_matcher(origin: Origin, matcher: &str, expected: &str, whole: &str) -> Diagnostic {
    let problem = error(
        code::BAD_MATCHER,
        origin,
        format!("the matcher `{matcher}` takes {expected}"),
    );
    helped(
        problem,
        format!("to compare with the map as it is write `equals: {whole}`"),
    )
}

/// A map that is compared as it is, and reads as if it were of matchers.
pub fn no_matcher(origin: Origin, word: &str, meant: &str, whole: &str) -> Diagnostic {
    let problem = warning(
        code::NO_MATCHER,
        origin,
        format!("`{word}` is no matcher: the answer is compared with this map as it is"),
    );
    helped(
        problem,
        format!("the matcher is called `{meant}`; to compare with the map write `equals: {whole}`"),
    )
}

/// Two assertions with one name.
pub fn duplicate_name(origin: Origin, name: &str, first: &str) -> Diagnostic {
    let problem = warning(
        code::DUPLICATE_NAME,
        origin,
        format!("the name `{}` is used before, at {first}", text::name(name)),
    );
    helped(
        problem,
        "give each assertion its own name, so that reports and baselines can tell them apart",
    )
}

/// A function in the place of a key.
pub fn function_in_path(origin: Origin, path: &str, function: &str) -> Diagnostic {
    let problem = error(
        code::BAD_PATH,
        origin,
        format!(
            "`{path}` is no path: `{function}()` is a function, and those stand in filters (`[?…]`) only"
        ),
    );
    helped(
        problem,
        "the matcher `length` asks how many there are: `$.list: {length: 3}`",
    )
}
