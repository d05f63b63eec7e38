//! Paths into JSON.

use serde_json_path::JsonPath;

use super::Lowering;
use crate::{problems, yaml::At};
use mcp::script::path::{compile, full};

impl Lowering<'_> {
    /// The compiled path of a text.
    pub(super) fn path(&mut self, text: &str, at: At) -> Option<JsonPath> {
        self.path_of((text, text), at)
    }

    /// The compiled path of a text whose `{{…}}` are filled in; problems show it as written.
    pub(super) fn path_of(&mut self, (text, filled): (&str, &str), at: At) -> Option<JsonPath> {
        let function = called(filled).filter(|_| !self.is_compat());
        let problem = match (function, compile(filled)) {
            (Some(function), _) => problems::function_in_path(text, function),
            (None, Ok(path)) => return Some(path),
            (None, Err(reason)) => problems::bad_path(text, &reason),
        };
        self.problem(at, problem);
        None
    }
}

/// The functions of RFC 9535.
const FUNCTIONS: [&str; 5] = ["length", "count", "match", "search", "value"];

/// The function that a path calls in the place of a key. As a key of the short form it would never be found.
fn called(text: &str) -> Option<&'static str> {
    if !text.contains('(') || JsonPath::parse(&full(text.trim())).is_ok() {
        return None;
    }
    let mut parts = text.trim().split(['.', '[', ']']);
    parts.find_map(|part| {
        FUNCTIONS.into_iter().find(|function| {
            let rest = part.strip_prefix(function);
            let rest = rest.and_then(|it| it.strip_prefix('('));
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
