//! Problems of `{{…}}` and of environment variables.

use super::{code, error, helped, listed, warning};
use mcp::script::subject::StepOrder;
use text::{diagnostic::Diagnostic, source::Origin};

/// A name in braces that nothing defines.
pub fn unknown_variable(origin: Origin, name: &str, known: &[&str]) -> Diagnostic {
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

/// A name in braces that a capture defines which has no value yet; `captured` is its place.
pub fn captured_too_late(
    origin: Origin,
    name: &str,
    order: StepOrder,
    captured: &str,
) -> Diagnostic {
    let problem = error(
        code::UNKNOWN_VARIABLE,
        origin,
        format!("`{{{{{name}}}}}` has no value here"),
    );
    match order {
        StepOrder::OneByOne => helped(
            problem,
            format!("it is captured later, at {captured}: it has a value in what comes after"),
        ),
        StepOrder::Parallel => helped(
            problem,
            format!(
                "it is captured at {captured}, by a step that runs at the same time: capture it in `setup`"
            ),
        ),
    }
}

/// A name in braces where only variables of the environment have a value yet.
pub fn too_early(origin: Origin, written: &str) -> Diagnostic {
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
pub fn no_such_env(origin: Origin, variable: &str) -> Diagnostic {
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
pub fn unreadable_env(origin: Origin, variable: &str) -> Diagnostic {
    let problem = error(
        code::UNSET_VARIABLE,
        origin,
        format!("the value of the environment variable `{variable}` is no UTF-8"),
    );
    helped(problem, "set it to a text")
}

/// The same where an empty text stands in.
pub fn unreadable_text(origin: Origin, name: &str) -> Diagnostic {
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
pub fn no_fixture(origin: Origin) -> Diagnostic {
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
pub fn no_variable(origin: Origin, written: &str, name: &str) -> Diagnostic {
    let problem = warning(
        code::NO_VARIABLE,
        origin,
        format!("`{written}` stays as it is"),
    );
    helped(problem, format!("write `{{{{{name}}}}}` for its value"))
}

/// Braces in a key of a value that is sent.
pub fn marker_in_key(origin: Origin, written: &str) -> Diagnostic {
    let problem = warning(
        code::NO_VARIABLE,
        origin,
        format!("`{written}` stays as it is"),
    );
    helped(problem, "in keys nothing is filled in, only in values")
}

/// A variable of the environment without a value.
pub fn unset_variable(origin: Origin, name: &str) -> Diagnostic {
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
pub fn unset_in_preparation(origin: Origin, name: &str) -> Diagnostic {
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
pub fn unset_line_of_variables(origin: Origin, place: &str) -> Diagnostic {
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
pub fn bad_variable(origin: Origin, written: &str) -> Diagnostic {
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
pub fn bad_variable_name(origin: Origin, found: &str) -> Diagnostic {
    let problem = error(
        code::BAD_VARIABLE,
        origin,
        format!("`{found}` is no name of an environment variable"),
    );
    helped(problem, "write its name alone, such as `HOME`")
}

/// A line of an `env_file` that names no environment variable; `place` is the file and the line. Nothing of the line
/// is shown that may be a secret.
pub fn bad_line_of_variables(origin: Origin, place: &str) -> Diagnostic {
    let problem = error(
        code::BAD_VARIABLE,
        origin,
        format!("`{place}`: the line names no environment variable"),
    );
    helped(
        problem,
        "each line is `NAME=value` or a name alone, without `export`",
    )
}
