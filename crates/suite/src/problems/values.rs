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

/// Flags behind a pattern between slashes.
pub fn flags_behind_pattern(origin: Origin, pattern: &str, flags: &str) -> Diagnostic {
    let problem = error(
        code::BAD_REGEX,
        origin,
        format!("`{flags}` stands behind the pattern `/{pattern}/`, where flags have no meaning"),
    );
    // Each place is looked for, and Unicode is the rule.
    let kept: String = flags
        .chars()
        .filter(|flag| !matches!(flag, 'g' | 'u'))
        .collect();
    let meant = if kept.is_empty() {
        format!("/{pattern}/")
    } else {
        format!("/(?{kept}){pattern}/")
    };
    helped(problem, format!("write `{meant}`"))
}

/// No JSONPath.
pub fn bad_path(origin: Origin, path: &str, reason: &str) -> Diagnostic {
    let problem = error(
        code::BAD_PATH,
        origin,
        format!("`{path}` is no path: {reason}"),
    );
    let problem = if has_single_equals(path) {
        helped(problem, "in a filter write `==` where values are compared")
    } else {
        problem
    };
    helped(
        problem,
        "write a JSONPath such as `$.items[0].name`, or short `items[0].name`; a key with other characters as `$['a key']`",
    )
}

/// Whether a single `=` stands in a filter, outside of quotes.
fn has_single_equals(path: &str) -> bool {
    let Some((_, filter)) = path.split_once("[?") else {
        return false;
    };
    let (mut quote, mut before) = (None, ' ');
    let mut signs = filter.chars().peekable();
    while let Some(sign) = signs.next() {
        let is_quote = matches!(sign, '\'' | '"') && before != '\\';
        match quote {
            Some(open) if is_quote && open == sign => quote = None,
            None if is_quote => quote = Some(sign),
            None if sign == '='
                && !matches!(before, '=' | '!' | '<' | '>')
                && !matches!(signs.peek(), Some('=' | '~')) =>
            {
                return true;
            }
            Some(_) | None => {}
        }
        before = sign;
    }
    false
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

/// A schema that is only `true` or `false`.
pub fn bare_schema(origin: Origin, word: &str) -> Diagnostic {
    let what = match word {
        "true" => "everything satisfies the schema `true`",
        _ => "nothing satisfies the schema `false`",
    };
    helped(
        error(
            code::BAD_SCHEMA,
            origin,
            format!("{what}: it checks nothing"),
        ),
        "a map is a schema, a text is the file of one; the tool's own schema is checked by `output_schema: true`",
    )
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
    match (fault, with_markers(found)) {
        (UrlFault::Scheme | UrlFault::Host | UrlFault::Port, Some(filled)) => {
            let filled = text::name(&filled);
            helped(
                problem,
                format!("`$` is not filled in here: write `{filled}`"),
            )
        }
        (UrlFault::Scheme, None) if !found.contains(":/") && !found.trim().is_empty() => {
            let rest = found.trim_start_matches('/');
            helped(problem, format!("write `http://{}`", text::name(rest)))
        }
        (UrlFault::Scheme | UrlFault::Host | UrlFault::Port | UrlFault::Sign, _) => {
            helped(problem, "write it like `http://localhost:8080/mcp`")
        }
    }
}

/// A text with `{{env.NAME}}` in place of every `$NAME` and `${NAME}`; `None` when there are none.
fn with_markers(text: &str) -> Option<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        let inner = behind.strip_prefix('{');
        let of_name = inner.unwrap_or(behind);
        let is_sign = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        let end = of_name.find(|sign| !is_sign(sign)).unwrap_or(of_name.len());
        let (name, after) = of_name.split_at(end);
        let after = if inner.is_some() {
            after.strip_prefix('}')?
        } else {
            after
        };
        filled = format!("{filled}{before}{{{{env.{name}}}}}");
        rest = (!name.is_empty()).then_some(after)?;
    }
    (!filled.is_empty()).then(|| filled + rest)
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

/// A map of matchers where values are compared as they are.
pub fn no_matcher_here(origin: Origin, word: &str) -> Diagnostic {
    let problem = warning(
        code::NO_MATCHER,
        origin,
        format!("`{word}` is no matcher here: `content` is compared with this map as it is"),
    );
    helped(
        problem,
        "`content` takes values: what a text must hold stands under `contains` or `matches_regex`"
            .to_owned(),
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
    let problem = match function {
        "length" | "count" => helped(
            problem,
            "how many there are is asked by the matcher `length`: `$.list: {length: 3}`",
        ),
        _ => problem,
    };
    helped(
        problem,
        format!("for a key of this name write `['{function}()']`"),
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

#[cfg(test)]
mod tests {
    use super::has_single_equals;

    #[test]
    fn a_single_equals_sign_in_a_filter_is_seen() {
        let case = |path: &str, wanted: bool| assert_eq!(has_single_equals(path), wanted, "{path}");
        case("$.items[?(@.id=1)]", true);
        case("$.items[?@.a == 1 && @.b = 2]", true);
        case("items[?@.a = 'x == y']", true);
        case("$.items[?(@.id == 1)]", false);
        case("$[?@.a <= 1 || @.a >= 2 || @.a != 3]", false);
        case("$[?@.a == 'x = y' && @.b == \"it's = \"]", false);
        case("$[?@.a =~ /x/]", false);
        case("$.a=b[0", false);
    }
}
