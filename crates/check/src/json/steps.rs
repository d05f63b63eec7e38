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
/// The library shows a path only as it prints it, with the names in quotes as they are: what looks like the end of a
/// name may be part of it. Whether a reading is right is known when a path written from it is the same.
pub(super) fn of_path(path: &JsonPath) -> Option<Vec<Step>> {
    let printed = path.to_string();
    let mut reading = Reading {
        rest: printed.strip_prefix('$')?,
        steps: Vec::new(),
        names: Vec::new(),
    };
    for _ in 0..MOST_READINGS {
        if reading.reach_end() && reading.is_of(path) {
            return Some(reading.steps.into_iter().map(|(step, _)| step).collect());
        }
        if !reading.end_a_name_later() {
            return None;
        }
    }
    None
}

/// More readings than this are not tried of one path: each needs a name with `']` in it.
const MOST_READINGS: usize = 64;

/// One way to read a path.
struct Reading<'a> {
    /// What is still to be read.
    rest: &'a str,
    /// What was read, each as a path writes it too.
    steps: Vec<(Step, String)>,
    /// The names in quotes among it.
    names: Vec<Name<'a>>,
}

/// A name in quotes of a path.
struct Name<'a> {
    /// How many steps there are before it.
    before: usize,
    /// The path from the beginning of the name.
    text: &'a str,
    /// The length of the name.
    length: usize,
}

impl<'a> Reading<'a> {
    /// Reads the rest, with names as short as can be; whether that goes to the end.
    fn reach_end(&mut self) -> bool {
        while !self.rest.is_empty() {
            if self.step().is_none() {
                return false;
            }
        }
        true
    }

    /// Reads a step.
    fn step(&mut self) -> Option<()> {
        if let Some(name) = self.rest.strip_prefix('.') {
            let (name, rest) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
            let is_single = !name.is_empty() && name != "*";
            let step = is_single.then(|| Step::Name(name.to_owned()))?;
            self.steps.push((step, format!(".{name}")));
            self.rest = rest;
            return Some(());
        }
        let inner = self.rest.strip_prefix('[')?;
        if let Some(text) = inner.strip_prefix('\'') {
            return self.name(text, 0);
        }
        let (index, rest) = inner.split_once(']')?;
        let step = Step::Index(index.parse().ok()?);
        self.steps.push((step, format!("[{index}]")));
        self.rest = rest;
        Some(())
    }

    /// Reads a name in quotes that is so long at least.
    fn name(&mut self, text: &'a str, least: usize) -> Option<()> {
        let length = least + text.get(least..)?.find("']")?;
        let (name, rest) = text.split_at(length);
        self.names.push(Name {
            before: self.steps.len(),
            text,
            length,
        });
        let step = Step::Name(name.to_owned());
        self.steps.push((step, format!("['{}']", escaped(name))));
        self.rest = &rest[2..];
        Some(())
    }

    /// Reads again from the last name that may be longer than it was taken for; whether there is one.
    fn end_a_name_later(&mut self) -> bool {
        while let Some(last) = self.names.pop() {
            self.steps.truncate(last.before);
            if self.name(last.text, last.length + 1).is_some() {
                return true;
            }
        }
        false
    }

    /// Whether the path is what was read.
    fn is_of(&self, path: &JsonPath) -> bool {
        if self.names.is_empty() {
            return true;
        }
        let steps = self.steps.iter();
        let written = steps.fold("$".to_owned(), |written, (_, step)| written + step);
        JsonPath::parse(&written).is_ok_and(|read| read == *path)
    }
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
        case(r#"$["a']['b"].c"#, &["a']['b", "c"]);
        case(r#"$["a']"]["']"]"#, &["a']", "']"]);
        case(
            r#"$['it\'s']['\\']["\u0001\n\\u"]"#,
            &["it's", "\\", "\u{1}\n\\u"],
        );
        case("$['']['é.[x]']", &["", "é.[x]"]);
    }
}
