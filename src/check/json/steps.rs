//! Paths of JSON as text: how a place is written, and the steps of a path that can match one place only. Queries
//! themselves are the business of `serde_json_path`.

use serde_json_path::{JsonPath, NormalizedPath, PathElement};

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A member of an object.
    Name(String),
    /// An item of an array; negative from its end.
    Index(i64),
}

/// A member's step as people write it: `.name`, or `['odd name']`.
pub(in crate::check) fn step(name: &str) -> String {
    let plain = name
        .chars()
        .all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-')
        && name
            .chars()
            .next()
            .is_some_and(|letter| !letter.is_ascii_digit() && letter != '-');
    if plain {
        format!(".{name}")
    } else {
        format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}

/// A step in the same way.
pub(super) fn written(steps: &[Step]) -> String {
    steps.iter().fold("$".to_owned(), |path, next| match next {
        Step::Name(name) => path + &step(name),
        Step::Index(index) => format!("{path}[{index}]"),
    })
}

/// The place of a node.
pub(super) fn location(path: &NormalizedPath<'_>) -> String {
    path.iter()
        .fold("$".to_owned(), |path, element| match element {
            PathElement::Name(name) => path + &step(name),
            PathElement::Index(index) => format!("{path}[{index}]"),
        })
}

/// The steps of a path that can match one place only; `None` when it can match several.
pub(super) fn of_path(path: &JsonPath) -> Option<Vec<Step>> {
    let written = path.to_string();
    let mut rest = written.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = first_step(rest)?;
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

/// The first step of a path as `JsonPath` prints it, and what follows.
fn first_step(text: &str) -> Option<(Step, &str)> {
    if let Some(name) = text.strip_prefix('.') {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (name, rest) = name.split_at(end);
        let single = !name.is_empty() && name != "*";
        return single.then(|| (Step::Name(name.to_owned()), rest));
    }
    let inner = text.strip_prefix('[')?;
    if let Some(name) = inner.strip_prefix('\'') {
        let end = name.find("']")?;
        let (name, rest) = name.split_at(end);
        let single = !name.contains("','");
        return single.then(|| (Step::Name(name.to_owned()), &rest[2..]));
    }
    let (index, rest) = inner.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), rest))
}

#[cfg(test)]
mod tests {
    use serde_json_path::JsonPath;

    use super::{of_path, written};

    #[test]
    fn only_paths_to_one_place_have_steps() {
        let case = |path: &str, wanted: Option<&str>| {
            let steps = of_path(&JsonPath::parse(path).unwrap());
            assert_eq!(
                steps.map(|steps| written(&steps)).as_deref(),
                wanted,
                "{path}"
            );
        };
        case("$", Some("$"));
        case("$.a.b[0]", Some("$.a.b[0]"));
        case("$['a b'][-1]", Some("$['a b'][-1]"));
        case("$['a']['b']", Some("$.a.b"));
        case("$[*]", None);
        case("$.*", None);
        case("$..a", None);
        case("$[0,1]", None);
        case("$['a','b']", None);
        case("$[0:2]", None);
        case("$.a[?@.b == 1].c", None);
    }
}
