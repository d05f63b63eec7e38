//! The patterns that a path writes out for `match` and `search`. The library compiles them where it meets a value, and
//! takes one that is none for one that matches nothing.

use regex::Regex;

use crate::json::json_path;

/// The functions whose second argument is a pattern.
const FUNCTIONS: [&str; 2] = ["match", "search"];

/// What is wrong with the first pattern that is none. The path is one of RFC 9535.
pub(super) fn wrong(path: &str) -> Option<String> {
    let mut at = 0;
    let mut is_in_name = false;
    while let Some(sign) = path[at..].chars().next() {
        let rest = &path[at..];
        let called = FUNCTIONS.into_iter().find_map(|function| {
            let arguments = rest.strip_prefix(function)?.strip_prefix('(')?;
            (!is_in_name).then_some((function, arguments))
        });
        if let Some((function, arguments)) = called
            && let Some(pattern) = second(arguments).and_then(literal)
            && let Err(error) = Regex::new(&pattern)
        {
            let reason = super::pattern::reason(&error);
            return Some(format!(
                "the pattern `{pattern}` of `{function}` is not a regular expression: {reason}"
            ));
        }
        at += match sign {
            '\'' | '"' => json_path::quoted(rest, sign),
            other => other.len_utf8(),
        };
        is_in_name = sign.is_alphanumeric() || sign == '_';
    }
    None
}

/// The second of the arguments that a text begins with.
fn second(arguments: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut start = None;
    let mut at = 0;
    while let Some(sign) = arguments[at..].chars().next() {
        match sign {
            ')' if depth == 0 => return Some(arguments[start?..at].trim()),
            ',' if depth == 0 => start = Some(at + 1),
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += match sign {
            '\'' | '"' => json_path::quoted(&arguments[at..], sign),
            other => other.len_utf8(),
        };
    }
    None
}

/// The text that an argument writes out; `None` when it is looked up in the document.
fn literal(argument: &str) -> Option<String> {
    let quote = argument
        .chars()
        .next()
        .filter(|it| matches!(it, '\'' | '"'))?;
    if json_path::quoted(argument, quote) != argument.len() {
        return None;
    }
    let inner = argument.get(1..argument.len() - 1)?;
    let json = match quote {
        '\'' => inner.replace(r"\'", "'").replace('"', "\\\""),
        _ => inner.to_owned(),
    };
    serde_json::from_str(&format!("\"{json}\"")).ok()
}

#[cfg(test)]
mod tests {
    use super::wrong;

    #[test]
    fn patterns_that_are_none_are_found() {
        let case = |path: &str, is_wrong: bool| {
            assert_eq!(wrong(path).is_some(), is_wrong, "{path}");
        };
        case("$[?search(@.n, '(secret')]", true);
        case(r#"$[?match(@['a,b)'], "[a")].x"#, true);
        case("$.a[?@.x == 1 && !search(@.n,'*')]", true);
        case("$[?count(@[?match(@, 'a)')]) > 1]", true);
        case("$[?search(@.n, 'secret')]", false);
        case(r"$[?search(@.n, 'it\'s \\d \u0028\u0029')]", false);
        case("$[?search(@.n, $.pattern)]", false);
        case("$[?search(@.n, $['(secret'])]", false);
        case("$['search(@, \"(\")']", false);
        case("$[?@.n == \"match(@.n, '(')\"]", false);
    }
}
