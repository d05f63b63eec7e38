//! Problems inside of values: durations, patterns, paths, schemas, variables.

use super::{code, error, helped, listed, warning};
use crate::words::{
    diagnostic::Diagnostic, environment::is_variable_name, source::Origin, text, web::UrlFault,
};

/// No duration.
pub(crate) fn bad_duration(origin: Origin, found: &str, reason: &str) -> Diagnostic {
    let problem = error(
        code::BAD_DURATION,
        origin,
        format!("`{found}` is no duration: {reason}"),
    );
    helped(problem, "write it like `300ms`, `15s`, `1m30s` or `2min`")
}

/// No regular expression.
pub(crate) fn bad_regex(origin: Origin, pattern: &str, reason: &str) -> Diagnostic {
    error(
        code::BAD_REGEX,
        origin,
        format!("`{pattern}` is no regular expression: {reason}"),
    )
}

/// Flags behind a pattern between slashes.
pub(crate) fn flags_behind_pattern(origin: Origin, pattern: &str, flags: &str) -> Diagnostic {
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
pub(crate) fn bad_path(origin: Origin, path: &str, reason: &str) -> Diagnostic {
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
pub(crate) fn bad_capture(origin: Origin, name: &str) -> Diagnostic {
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
pub(crate) fn bad_schema(origin: Origin, reason: &str) -> Diagnostic {
    error(
        code::BAD_SCHEMA,
        origin,
        format!("the JSON Schema cannot be used: {reason}"),
    )
}

/// A key of a schema that nothing looks at, and is nearly a keyword.
pub(crate) fn misspelt_keyword(origin: Origin, key: &str, near: &str) -> Diagnostic {
    let problem = warning(
        code::UNKNOWN_KEYWORD,
        origin,
        format!("`{key}` is no keyword of JSON Schema, and nothing is checked by it"),
    );
    helped(problem, format!("did you mean `{near}`?"))
}

/// A schema that is only `true` or `false`.
pub(crate) fn bare_schema(origin: Origin, word: &str) -> Diagnostic {
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
pub(crate) fn bad_glob(origin: Origin, pattern: &str, reason: &str) -> Diagnostic {
    error(
        code::BAD_GLOB,
        origin,
        format!("`{pattern}` is no path pattern: {reason}"),
    )
}

/// No url.
pub(crate) fn bad_url(origin: Origin, found: &str, fault: UrlFault) -> Diagnostic {
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
pub(crate) fn bad_header(origin: Origin, name: &str) -> Diagnostic {
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
pub(crate) fn bad_matcher(
    origin: Origin,
    matcher: &str,
    expected: &str,
    whole: &str,
) -> Diagnostic {
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
pub(crate) fn no_matcher(origin: Origin, word: &str, meant: &str, whole: &str) -> Diagnostic {
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
pub(crate) fn no_matcher_here(origin: Origin, word: &str) -> Diagnostic {
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

/// A name in braces that nothing defines.
pub(crate) fn unknown_variable(origin: Origin, name: &str, known: &[&str]) -> Diagnostic {
    let problem = error(
        code::UNKNOWN_VARIABLE,
        origin,
        format!("nothing defines `{{{{{name}}}}}`"),
    );
    let problem = match text::nearest(name, known.iter().copied()) {
        Some(near) => helped(problem, format!("did you mean `{{{{{near}}}}}`?")),
        None => helped(problem, format!("known here: {}", listed(known))),
    };
    helped(problem, "for the braces themselves write `{{{{`")
}

/// A name in braces where only variables of the environment have a value yet.
pub(crate) fn too_early(origin: Origin, written: &str) -> Diagnostic {
    let problem = error(
        code::UNKNOWN_VARIABLE,
        origin,
        format!("`{written}` has no value here"),
    );
    let problem = helped(
        problem,
        "this is needed before anything runs: only `{{env.NAME}}` is filled in",
    );
    helped(problem, "for the braces themselves write `{{{{`")
}

/// A name in braces that is a variable of the environment without a value.
pub(crate) fn no_such_env(origin: Origin, variable: &str) -> Diagnostic {
    let problem = error(
        code::UNSET_VARIABLE,
        origin,
        format!("the environment variable `{variable}` is not set"),
    );
    helped(
        problem,
        format!("set it, or add `skip_unless_env: {variable}` to skip the assertion without it"),
    )
}

/// A name in braces that is a variable of the environment whose value is no text.
pub(crate) fn unreadable_env(origin: Origin, variable: &str) -> Diagnostic {
    let problem = error(
        code::UNSET_VARIABLE,
        origin,
        format!("the value of the environment variable `{variable}` is no UTF-8"),
    );
    helped(problem, "set it to a text")
}

/// The same where an empty text stands in.
pub(crate) fn unreadable_text(origin: Origin, name: &str) -> Diagnostic {
    let problem = warning(
        code::UNSET_VARIABLE,
        origin,
        format!(
            "the value of the environment variable `{name}` is no UTF-8; an empty text stands in"
        ),
    );
    helped(problem, "set it to a text")
}

/// `{{fixture}}` where there is none.
pub(crate) fn no_fixture(origin: Origin) -> Diagnostic {
    let problem = error(
        code::UNKNOWN_VARIABLE,
        origin,
        "`{{fixture}}` has no value: there is no fixture".into(),
    );
    helped(
        problem,
        "give a fixture with --fixture DIR or `fixture:` in mcp-assert.yaml",
    )
}

/// Braces with blanks in them.
pub(crate) fn no_variable(origin: Origin, written: &str, name: &str) -> Diagnostic {
    let problem = warning(
        code::NO_VARIABLE,
        origin,
        format!("`{written}` stays as it is"),
    );
    helped(problem, format!("write `{{{{{name}}}}}` for its value"))
}

/// Braces in a key of a value that is sent.
pub(crate) fn marker_in_key(origin: Origin, written: &str) -> Diagnostic {
    let problem = warning(
        code::NO_VARIABLE,
        origin,
        format!("`{written}` stays as it is"),
    );
    helped(problem, "in keys nothing is filled in, only in values")
}

/// A function in the place of a key.
pub(crate) fn function_in_path(origin: Origin, path: &str, function: &str) -> Diagnostic {
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

/// A variable of the environment without a value.
pub(crate) fn unset_variable(origin: Origin, name: &str) -> Diagnostic {
    let problem = warning(
        code::UNSET_VARIABLE,
        origin,
        format!("the environment variable `{name}` is not set; an empty text stands in"),
    );
    helped(
        problem,
        format!("set it, give a default with `${{{name}:-…}}`, or write `$$` for a dollar sign"),
    )
}

/// A variable that the lines of `prepare` are to see, without a value.
pub(crate) fn unset_in_preparation(origin: Origin, name: &str) -> Diagnostic {
    let problem = warning(
        code::UNSET_VARIABLE,
        origin,
        format!(
            "the environment variable `{name}` is not set, and the image is prepared without it"
        ),
    );
    helped(problem, format!("set it, or take `{name}` out of the list"))
}

/// A line of an `env_file` that is a name alone, which the caller has no value for. What looks like a name may be a
/// line of a secret, and is not shown.
pub(crate) fn unset_line_of_variables(origin: Origin, place: &str) -> Diagnostic {
    let problem = warning(
        code::UNSET_VARIABLE,
        origin,
        format!("`{place}`: the environment variable it names is not set, and is left out"),
    );
    helped(
        problem,
        "set it, or write `NAME=value`; a value ends with its line",
    )
}

/// `${` without a name or without an end.
pub(crate) fn bad_variable(origin: Origin, written: &str) -> Diagnostic {
    let problem = error(
        code::BAD_VARIABLE,
        origin,
        format!("`{written}` is no environment variable"),
    );
    helped(
        problem,
        "write `$NAME`, `${NAME}` or `${NAME:-default}`, and `$$` for a dollar sign",
    )
}

/// What no environment variable is called.
pub(crate) fn bad_variable_name(origin: Origin, found: &str) -> Diagnostic {
    let problem = error(
        code::BAD_VARIABLE,
        origin,
        format!("`{found}` is no name of an environment variable"),
    );
    let bare = found.trim_start_matches(['$', '{']).trim_end_matches('}');
    let bare = bare.split(['=', ':']).next().unwrap_or_default().trim();
    if !is_variable_name(bare) {
        helped(problem, "write its name alone, such as `HOME`")
    } else {
        helped(problem, format!("write its name alone: `{bare}`"))
    }
}

/// A line of an `env_file` that names no environment variable; `place` is the file and the line. Nothing of the line
/// is shown that may be a secret.
pub(crate) fn bad_line_of_variables(origin: Origin, place: &str, found: &str) -> Diagnostic {
    let bad = |message: String| error(code::BAD_VARIABLE, origin, message);
    match found.split_once(char::is_whitespace) {
        Some(("export", name)) => {
            let name = name.trim_start();
            let problem = bad(format!(
                "`{place}`: `export` is no part of a variable's name"
            ));
            helped(
                problem,
                format!("leave it out, no shell reads the file: `{name}=…`"),
            )
        }
        Some(_) => helped(
            bad(format!(
                "`{place}`: the name of its variable has a space in it"
            )),
            "each line is `NAME=value` or a name alone",
        ),
        None => helped(
            bad(format!("`{place}`: it has no name in front of the `=`")),
            "each line is `NAME=value` or a name alone",
        ),
    }
}

/// Two assertions with one name.
pub(crate) fn duplicate_name(origin: Origin, name: &str, first: &str) -> Diagnostic {
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
