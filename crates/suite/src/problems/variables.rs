//! Problems of `{{…}}` and of environment variables.

use super::{code, error, listed, warning};
use text::diagnostic::Diagnostic;

/// How to write braces that are not a name.
const BRACES: &str = "for the braces themselves write `{{{{`";

/// A `{{name}}` that nothing defines.
pub(crate) fn unknown_variable(name: &str, known: &[&str]) -> Diagnostic {
    let help = match text::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{{{{{near}}}}}`?"),
        None => format!("known here: {}", listed(known)),
    };
    let message = format!("unknown variable `{{{{{name}}}}}`");
    error(code::UNKNOWN_VARIABLE, message)
        .with_help(help)
        .with_help(BRACES)
}

/// A `{{name}}` that is captured later; `captured` is the place of the capture.
pub(crate) fn captured_too_late(name: &str, captured: &str) -> Diagnostic {
    let message = format!("`{{{{{name}}}}}` has no value here");
    let help =
        format!("it is captured at {captured}, later or at the same time: capture it before");
    error(code::UNKNOWN_VARIABLE, message).with_help(help)
}

/// A `{{name}}` where only variables of the environment have a value yet.
pub(crate) fn too_early(written: &str) -> Diagnostic {
    error(
        code::UNKNOWN_VARIABLE,
        format!("`{written}` has no value here"),
    )
    .with_help("this text is needed before anything runs: only `{{env.NAME}}` is filled in")
    .with_help(BRACES)
}

/// A `{{env.NAME}}` without a value.
pub(crate) fn no_such_env(variable: &str) -> Diagnostic {
    let help =
        format!("set it, or add `skip_unless_env: {variable}` to skip the assertion without it");
    let message = format!("the environment variable `{variable}` is not set");
    error(code::UNSET_VARIABLE, message).with_help(help)
}

/// A variable of the environment whose value is not text.
pub(crate) fn unreadable_env(variable: &str) -> Diagnostic {
    let message = format!("the value of the environment variable `{variable}` is not UTF-8");
    error(code::UNSET_VARIABLE, message).with_help("set it to a text")
}

/// `{{fixture}}` where there is none.
pub(crate) fn no_fixture() -> Diagnostic {
    let message = "`{{fixture}}` has no value: there is no fixture";
    error(code::UNKNOWN_VARIABLE, message)
        .with_help("give a fixture with --fixture DIR or `fixture:` in mcp-assert.yaml")
}

/// Braces with blanks in them.
pub(crate) fn no_variable(written: &str, name: &str) -> Diagnostic {
    warning(code::NO_VARIABLE, format!("`{written}` stays as it is"))
        .with_help(format!("write `{{{{{name}}}}}` for its value"))
}

/// A `${NAME}` in an argument, as other programs expand it.
pub(crate) fn not_expanded(written: &str, name: &str) -> Diagnostic {
    warning(code::NO_VARIABLE, format!("`{written}` stays as it is"))
        .with_help(format!("write `{{{{env.{name}}}}}` for its value"))
}

/// A `{{name}}` in a key of a value that is sent.
pub(crate) fn marker_in_key(written: &str) -> Diagnostic {
    warning(code::NO_VARIABLE, format!("`{written}` stays as it is"))
        .with_help("variables are filled in in values, not in keys")
}

/// A `$NAME` without a value.
pub(crate) fn unset_variable(name: &str) -> Diagnostic {
    let message = format!("the environment variable `{name}` is not set; the empty text is used");
    let help =
        format!("set it, give a default with `${{{name}:-…}}`, or write `$$` for a dollar sign");
    warning(code::UNSET_VARIABLE, message).with_help(help)
}

/// A variable of `prepare` without a value.
pub(crate) fn unset_in_preparation(name: &str) -> Diagnostic {
    let message = format!(
        "the environment variable `{name}` is not set, and the image is prepared without it"
    );
    let help = format!("set it, or take `{name}` out of the list");
    warning(code::UNSET_VARIABLE, message).with_help(help)
}

/// A name alone in an `env_file`, without a value. The line may be part of a secret, and is not shown.
pub(crate) fn unset_line_of_variables(place: &str) -> Diagnostic {
    let message =
        format!("`{place}`: the environment variable it names is not set, and is left out");
    let help = "set it, or write `NAME=value`; a value ends with its line";
    warning(code::UNSET_VARIABLE, message).with_help(help)
}

/// `${` without a name or without an end.
pub(crate) fn bad_variable(written: &str) -> Diagnostic {
    let message = format!("invalid environment variable `{written}`");
    let help = "write `$NAME`, `${NAME}` or `${NAME:-default}`, and `$$` for a dollar sign";
    error(code::BAD_VARIABLE, message).with_help(help)
}

/// A name that an environment variable cannot have.
pub(crate) fn bad_variable_name(found: &str) -> Diagnostic {
    let message = format!("invalid environment variable name `{found}`");
    error(code::BAD_VARIABLE, message).with_help("write its name alone, such as `HOME`")
}

/// A line of an `env_file` that names no variable. The line may be part of a secret, and is not shown.
pub(crate) fn bad_line_of_variables(place: &str) -> Diagnostic {
    let message = format!("`{place}`: the line names no environment variable");
    let help = "each line is `NAME=value` or a name alone, without `export`";
    error(code::BAD_VARIABLE, message).with_help(help)
}
