//! What hosts do not take in schemas.

use serde_json::{Map, Value};

use super::{grammar, ticked};
use crate::inspect::lint::{
    rules::is_plain,
    schema::{BRANCHES, Place, types},
};

/// Something at a place of a schema.
#[derive(Debug, Clone, Copy)]
pub(super) enum InSchema {
    /// `properties` that is an array.
    ArrayForObject,
    /// The name of a parameter with other signs than letters, digits and these, or longer.
    Key(&'static str, usize),
    /// One of these keywords.
    Keywords(&'static [&'static str]),
    /// `$ref` beside other keywords than `description` and `default`.
    RefBeside,
    /// Values of `enum` that are not texts.
    EnumNotText,
    /// A `format` of a text that is none of these.
    FormatOther(&'static [&'static str]),
    /// A list of types.
    TypeList,
    /// A parameter without a type.
    Untyped,
    /// A parameter of several types other than null.
    Union,
    /// An object that does not state `additionalProperties: false`.
    Open,
    /// An array without `items`.
    NoItems,
    /// `items` that is a list.
    TupleItems,
    /// A `pattern` with something that the host cannot read.
    Pattern(Unread),
    /// A `maxLength` above this.
    MaxLengthOver(u64),
    /// `exclusiveMinimum` or `exclusiveMaximum` that is true or false.
    BooleanBound,
}

/// What a host cannot read of a regular expression.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unread {
    /// None without `^` and `$` around it.
    Unanchored,
    /// None that looks ahead or behind.
    LookAround,
    /// None with `\d`, `\w`, `\s` or `\b`.
    Shorthand,
}

impl InSchema {
    /// In words, and what to write instead.
    pub(super) fn words(self) -> (String, &'static str) {
        let check = "leave the keyword out, and check in the tool";
        let one = "state one type; leave an optional parameter out of `required`";
        let (words, help) = match self {
            Self::ArrayForObject => (
                "`properties` is an array",
                "write an empty object, `{}`; PHP needs `new stdClass()` for that",
            ),
            Self::Key(signs, most) => {
                let words = format!(
                    "a parameter's name has other signs than {}",
                    grammar(signs, most)
                );
                return (words, "use a shorter name of letters, digits, `_` and `-`");
            }
            Self::Keywords(keywords) => {
                return (format!("{} in `inputSchema`", ticked(keywords)), check);
            }
            Self::RefBeside => (
                "`$ref` beside other keywords",
                "write the schema in place of `$ref`",
            ),
            Self::EnumNotText => (
                "`enum` with values that are not texts",
                "write the values as texts",
            ),
            Self::FormatOther(known) => {
                let help = "leave `format` out, and name the format in the description";
                return (format!("a `format` other than {}", ticked(known)), help);
            }
            Self::TypeList => ("a list of types", one),
            Self::Untyped => ("a parameter without `type`", "state `type`"),
            Self::Union => ("a parameter of several types", one),
            Self::Open => (
                "an object without `additionalProperties: false`",
                "write `\"additionalProperties\": false` in each object",
            ),
            Self::NoItems => ("an array without `items`", "state `items`"),
            Self::TupleItems => (
                "`items` is a list of schemas",
                "write `prefixItems` for tuples",
            ),
            Self::Pattern(Unread::Unanchored) => (
                "a `pattern` without `^` and `$` around it",
                "begin the pattern with `^` and end it with `$`",
            ),
            Self::Pattern(Unread::LookAround) => (
                "a `pattern` that looks ahead or behind",
                "write the pattern without `(?=`, `(?!`, `(?<=` and `(?<!`",
            ),
            Self::Pattern(Unread::Shorthand) => (
                "a `pattern` with `\\d`, `\\w`, `\\s` or `\\b`",
                "write `[0-9]` for `\\d`, `[A-Za-z0-9_]` for `\\w`",
            ),
            Self::MaxLengthOver(most) => return (format!("`maxLength` above {most}"), check),
            Self::BooleanBound => (
                "`exclusiveMinimum` or `exclusiveMaximum` is true or false",
                check,
            ),
        };
        (words.to_owned(), help)
    }

    /// Where it stands, and what stands there.
    pub(super) fn places<'a, 'b: 'a>(
        self,
        places: impl Iterator<Item = &'a Place<'b>>,
    ) -> Vec<(String, String)> {
        let found = places.filter_map(|place| {
            let (keyword, what) = self.at(place)?;
            let pointer = if keyword.is_empty() {
                place.pointer.clone()
            } else {
                format!("{}/{keyword}", place.pointer)
            };
            Some((pointer, what))
        });
        found.collect()
    }

    /// The keyword with which it stands at a place, and what stands there.
    fn at(self, place: &Place<'_>) -> Option<(&'static str, String)> {
        let schema = place.schema;
        let get = |keyword: &str| schema.get(keyword);
        let is_of = |kind: &str| types(schema).contains(&kind);
        let is_root = place.pointer.matches('/').count() == 1;
        let is_property = place.pointer.rsplit('/').nth(1) == Some("properties");
        let when = |is: bool, keyword| is.then(|| (keyword, self.words().0));
        match self {
            Self::ArrayForObject => when(get("properties")?.is_array(), "properties"),
            Self::Key(signs, most) => {
                let mut names = get("properties")?.as_object()?.keys();
                let name = names.find(|it| is_root && !is_plain(it, signs, most))?;
                Some((
                    "properties",
                    format!("`{name}` has other signs than {}", grammar(signs, most)),
                ))
            }
            Self::Keywords(keywords) => {
                let keyword = keywords.iter().find(|it| schema.contains_key(**it))?;
                Some((keyword, format!("`{keyword}` is used")))
            }
            Self::RefBeside => {
                let is_other =
                    |it: &&String| !["$ref", "description", "default"].contains(&it.as_str());
                let other = get("$ref").and_then(|_| schema.keys().find(is_other))?;
                Some(("$ref", format!("`$ref` stands beside `{other}`")))
            }
            Self::EnumNotText => when(
                get("enum")?.as_array()?.iter().any(|it| !it.is_string()),
                "enum",
            ),
            Self::FormatOther(known) => {
                let format = get("format")?
                    .as_str()
                    .filter(|it| is_of("string") && !known.contains(it))?;
                Some(("format", format!("the format is `{format}`")))
            }
            Self::TypeList => when(get("type")?.is_array(), "type"),
            Self::Untyped => when(is_property && is_untyped(schema), ""),
            Self::Union => when(is_property && is_union(schema), ""),
            Self::Open => when(
                is_of("object") && get("additionalProperties") != Some(&false.into()),
                "",
            ),
            Self::NoItems => when(
                is_of("array") && get("items").or(get("prefixItems")).is_none(),
                "",
            ),
            Self::TupleItems => when(get("items")?.is_array(), "items"),
            Self::Pattern(unread) => {
                let pattern = get("pattern")?.as_str().filter(|it| unread.is_in(it))?;
                Some(("pattern", format!("the pattern is `{pattern}`")))
            }
            Self::MaxLengthOver(most) => when(get("maxLength")?.as_u64()? > most, "maxLength"),
            Self::BooleanBound => {
                let mut keywords = ["exclusiveMinimum", "exclusiveMaximum"].into_iter();
                let keyword = keywords.find(|it| get(it).is_some_and(Value::is_boolean))?;
                Some((keyword, format!("`{keyword}` is true or false")))
            }
        }
    }
}

impl Unread {
    /// Whether a pattern has it.
    fn is_in(self, pattern: &str) -> bool {
        let has = |parts: &str| parts.split(' ').any(|it| pattern.contains(it));
        match self {
            Self::Unanchored => !(pattern.starts_with('^') && pattern.ends_with('$')),
            Self::LookAround => has("(?= (?! (?<= (?<!"),
            Self::Shorthand => has("\\d \\w \\s \\b \\D \\W \\S \\B"),
        }
    }
}

fn is_untyped(schema: &Map<String, Value>) -> bool {
    let others = ["type", "$ref", "enum", "const"];
    !others
        .iter()
        .chain(&BRANCHES)
        .any(|it| schema.contains_key(*it))
}

/// Whether several branches other than null are open.
fn is_union(schema: &Map<String, Value>) -> bool {
    let mut branches = ["anyOf", "oneOf"]
        .into_iter()
        .filter_map(|it| schema.get(it)?.as_array());
    let is_null = |it: &&Value| it.get("type") == Some(&"null".into());
    branches.any(|all| all.iter().filter(|it| !is_null(it)).count() > 1)
}
