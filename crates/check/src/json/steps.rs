//! Paths of JSON as text: how a place is written, and the steps of a path that can match one place only. Queries
//! themselves are the business of `serde_json_path`.

use serde_json_path::{JsonPath, NormalizedPath, PathElement};

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A member of an object.
    Name(String),
    /// An item of an array; negative from its end.
    Index(i64),
}

/// A member's step as people write it: `.name`, or `['odd name']`.
pub(crate) fn step(name: &str) -> String {
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
        format!("['{}']", escaped(name))
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
///
/// The library shows a path only as it prints it, with the names in quotes as they are: `['a','b']` may be one name or
/// two. The reading is right when a path written from it is the same. A name with `']` in it is not read.
pub(crate) fn of_path(path: &JsonPath) -> Option<Vec<Step>> {
    let printed = path.to_string();
    let mut rest = printed.strip_prefix('$')?;
    let mut steps = Vec::new();
    let mut again = "$".to_owned();
    while !rest.is_empty() {
        let (step, piece, after) = next_step(rest)?;
        rest = after;
        steps.push(step);
        again += &piece;
    }
    let is_same = || JsonPath::parse(&again).is_ok_and(|read| read == *path);
    (!printed.contains('\'') || is_same()).then_some(steps)
}

/// The first step of a path, as a path writes it, and what follows it.
fn next_step(path: &str) -> Option<(Step, String, &str)> {
    if let Some(name) = path.strip_prefix('.') {
        let (name, rest) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
        let is_single = !name.is_empty() && name != "*";
        return is_single.then(|| (Step::Name(name.to_owned()), format!(".{name}"), rest));
    }
    let inner = path.strip_prefix('[')?;
    if let Some(name) = inner.strip_prefix('\'') {
        let (name, rest) = name.split_once("']")?;
        let piece = format!("['{}']", escaped(name));
        return Some((Step::Name(name.to_owned()), piece, rest));
    }
    let (index, rest) = inner.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), format!("[{index}]"), rest))
}

/// A name as it stands between single quotes in a path.
fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '\'' | '\\' => out.extend(['\\', letter]),
            '\0'..='\x1f' => out.extend(["\\u", &format!("{:04x}", u32::from(letter))]),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json_path::JsonPath;

    use super::{Step, of_path, written};

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
        case("$['a',*]", None);
        case("$['a',*]['b']", None);
        case("$['a']['b',0]", None);
        case("$[*,'a']['b']", None);
        case("$['a','b']['c']['d']['e']['f']['g']['h']['i']['j']", None);
    }

    #[test]
    fn names_in_quotes_may_hold_what_ends_others() {
        let case = |path: &str, wanted: &[&str]| {
            let steps = of_path(&JsonPath::parse(path).unwrap());
            let wanted = wanted.iter().map(|name| Step::Name((*name).to_owned()));
            assert_eq!(steps, Some(wanted.collect()), "{path}");
        };
        case(r#"$["a','b"]"#, &["a','b"]);
        case(
            r#"$['it\'s']['\\']["\u0001\n\\u"]"#,
            &["it's", "\\", "\u{1}\n\\u"],
        );
        case("$['']['é.[x]']", &["", "é.[x]"]);
    }
}
