//! Where results are counted: a path and its steps. The meaning of a path that matches nothing
//! depends on the step that matches nothing.

use serde_json_path::JsonPath;

use mcp::json::json_path;

/// A path to what is counted.
#[derive(Debug, Clone)]
pub struct CountedPath {
    /// As written.
    pub written: String,
    /// Compiled.
    pub path: JsonPath,
    /// Its steps, from the root on.
    pub steps: Vec<CountedStep>,
}

/// The path up to one of its steps.
#[derive(Debug, Clone)]
pub struct CountedStep {
    /// As written.
    pub written: String,
    /// Compiled.
    pub path: JsonPath,
    /// What its last step does.
    pub kind: StepKind,
}

/// What a step of a path does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// Names a member or an item.
    Named,
    /// Chooses among members or items, of which there may be none: `[*]`, `[?…]`, `[0:2]`.
    Choice,
}

impl CountedPath {
    /// A path that was compiled; the beginnings of it are compiled in the same way.
    pub fn new(written: &str, path: JsonPath, compile: impl Fn(&str) -> Option<JsonPath>) -> Self {
        let steps = beginnings(written.trim()).into_iter();
        let steps: Option<Vec<_>> = steps
            .map(|(written, kind)| {
                Some(CountedStep {
                    written: written.to_owned(),
                    path: compile(written)?,
                    kind,
                })
            })
            .collect();
        Self {
            written: written.to_owned(),
            path,
            steps: steps.unwrap_or_default(),
        }
    }

    /// What the last step does.
    pub fn ends(&self) -> StepKind {
        self.steps.last().map_or(StepKind::Named, |step| step.kind)
    }
}

/// The place that a path chooses from: where it leads before its first step that can match several places. `None` where
/// no step can, or the first one does.
pub fn chosen_from(
    written: &str,
    compile: impl Fn(&str) -> Option<JsonPath>,
) -> Option<CountedStep> {
    let mut before = None;
    let mut end = 0;
    for (beginning, kind) in beginnings(written.trim()) {
        let is_descent = beginning[end..].trim_start().starts_with("..");
        if kind == StepKind::Choice || is_descent {
            let written: &str = before?;
            return Some(CountedStep {
                written: written.to_owned(),
                path: compile(written)?,
                kind: StepKind::Named,
            });
        }
        (before, end) = (Some(beginning), beginning.len());
    }
    None
}

/// The beginnings of a path in either form, each up to the end of a step, with what that step does.
fn beginnings(path: &str) -> Vec<(&str, StepKind)> {
    let is_root = |rest: &str| !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_');
    let mut at = match path.strip_prefix('$') {
        Some(rest) if is_root(rest) => 1,
        Some(_) | None => 0,
    };
    let mut found = Vec::new();
    while at < path.len() {
        let (length, kind) = step(&path[at..]);
        at += length;
        found.push((path[..at].trim_end(), kind));
    }
    found
}

/// The length of the step that a text begins with, and what it does.
fn step(text: &str) -> (usize, StepKind) {
    let bare = text.trim_start().trim_start_matches('.');
    let before = text.len() - bare.len();
    if bare.starts_with('[') {
        let length = brackets(bare);
        let inner = bare[..length].trim_matches(['[', ']']).trim();
        let is_named = inner.parse::<i64>().is_ok() || is_name(inner);
        return (before + length, kind(is_named));
    }
    let length = bare.find(['.', '[']).unwrap_or(bare.len());
    let is_named = bare[..length].trim() != "*";
    (before + length, kind(is_named))
}

fn kind(is_named: bool) -> StepKind {
    if is_named {
        StepKind::Named
    } else {
        StepKind::Choice
    }
}

/// The length of the brackets that a text begins with, and of what they hold.
fn brackets(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(sign) = text[at..].chars().next() {
        at += match sign {
            '\'' | '"' => json_path::quoted(&text[at..], sign),
            other => other.len_utf8(),
        };
        match sign {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Whether a text is one name in quotes.
fn is_name(text: &str) -> bool {
    let quote = text
        .chars()
        .next()
        .filter(|sign| matches!(sign, '\'' | '"'));
    quote.is_some_and(|quote| json_path::quoted(text, quote) == text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};
    use serde_json_path::JsonPath;

    use super::{StepKind, beginnings, chosen_from};

    #[test]
    fn what_is_chosen_from_is_named() {
        let case = |path: &str, wanted: Option<&str>| {
            let from = chosen_from(path, |text| {
                JsonPath::parse(text)
                    .or_else(|_| JsonPath::parse(&format!("$.{text}")))
                    .ok()
            });
            assert_eq!(from.map(|it| it.written).as_deref(), wanted, "{path}");
        };
        case("$.a.b", None);
        case("$[*].a", None);
        case("$..a", None);
        case("$.a[*].b", Some("$.a"));
        case("a.b[?@.c == 1]", Some("a.b"));
        case("$.a[0]['x y'][0,1]", Some("$.a[0]['x y']"));
        case("$.a..b", Some("$.a"));
        case("$.a.*", Some("$.a"));
    }

    #[test]
    fn a_path_is_taken_apart_into_its_steps() {
        let case = |path: &str, wanted: &[&str]| {
            let found = beginnings(path).into_iter();
            let found: Vec<String> = found
                .map(|(written, kind)| match kind {
                    StepKind::Named => written.to_owned(),
                    StepKind::Choice => format!("{written} *"),
                })
                .collect();
            assert_eq!(found, wanted, "{path}");
        };
        case("$", &[]);
        case("$.a.b[0]", &["$.a", "$.a.b", "$.a.b[0]"]);
        case("a.b[*].c", &["a", "a.b", "a.b[*] *", "a.b[*].c"]);
        case("$ref[-1]", &["$ref", "$ref[-1]"]);
        case("[0]['x.y']", &["[0]", "[0]['x.y']"]);
        case("$..items", &["$..items"]);
        case("$..*", &["$..* *"]);
        case("$..['a','b']", &["$..['a','b'] *"]);
        case("$.*[1:2]", &["$.* *", "$.*[1:2] *"]);
        case(
            "$.a[?@['x]'] == 'a[' && @.b[0]].c",
            &[
                "$.a",
                "$.a[?@['x]'] == 'a[' && @.b[0]] *",
                "$.a[?@['x]'] == 'a[' && @.b[0]].c",
            ],
        );
        case(
            r#"$["it's"][ 0 ] .c"#,
            &[r#"$["it's"]"#, r#"$["it's"][ 0 ]"#, r#"$["it's"][ 0 ] .c"#],
        );
    }

    proptest! {
        #[test]
        fn any_text_can_be_taken_apart(text in any::<String>(), near in r"[$.a\['0\]*?@\\ -]{0,12}") {
            let _ = (beginnings(&text), beginnings(&near));
        }
    }
}
