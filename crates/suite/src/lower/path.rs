//! Paths into JSON, with the problems that a suite can have with them.

use serde_json_path::JsonPath;

use super::{Compiled, Lowering};
use crate::{Dialect, problems, yaml::At};
use mcp::script::path::{compile, full};

impl Compiled {
    /// The compiled path, or why it is none.
    pub(super) fn path(&self, text: &str) -> Result<JsonPath, String> {
        self.path_by(text, || compile(text))
    }
}

impl Lowering<'_> {
    /// The compiled path of a text.
    pub(super) fn path(&mut self, text: &str, at: At) -> Option<JsonPath> {
        self.path_of((text, text), at)
    }

    /// The compiled path of a text as it is when its `{{…}}` are filled in; problems show it as written.
    pub(super) fn path_of(&mut self, (text, filled): (&str, &str), at: At) -> Option<JsonPath> {
        if self.dialect() == Dialect::Native
            && let Some(function) = called(filled)
        {
            self.problem(at, |origin| {
                problems::function_in_path(origin, text, function)
            });
            return None;
        }
        match self.compiled.path(filled) {
            Ok(path) => Some(path),
            Err(reason) => {
                self.problem(at, |origin| problems::bad_path(origin, text, &reason));
                None
            }
        }
    }
}

/// The functions of RFC 9535.
const FUNCTIONS: [&str; 5] = ["length", "count", "match", "search", "value"];

/// The function that a path calls where a key belongs. As a key of the short form it would never be found.
fn called(text: &str) -> Option<&'static str> {
    if !text.contains('(') || JsonPath::parse(&full(text.trim())).is_ok() {
        return None;
    }
    let mut parts = text.trim().split(['.', '[', ']']);
    parts.find_map(|part| {
        FUNCTIONS.into_iter().find(|function| {
            let rest = part
                .strip_prefix(function)
                .and_then(|it| it.strip_prefix('('));
            rest.is_some_and(|rest| rest.starts_with([')', '@', '$', '\'', '"']))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn a_function_is_no_selector() {
        let case = |path: &str, wanted: Option<&str>| assert_eq!(called(path), wanted, "{path}");
        case("$.l.length()", Some("length"));
        case("l.length()", Some("length"));
        case("$.l[0].count(@.x)", Some("count"));
        case("$.l[*].match('x')", Some("match"));
        case("length()", Some("length"));
        case("$.l[?length(@) > 2].n", None);
        case("l[?length(@) > 2]", None);
        case("$.l['length()']", None);
        case("a.main()", None);
        case("a.value(EUR)", None);
        case("a.length", None);
    }
}
