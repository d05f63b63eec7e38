//! What hosts do not take in schemas.

use serde_json::{Map, Value};

use super::{SHORTER_NAME, constructs, grammar, ticked};
use crate::inspect::lint::{
    rules::is_plain,
    schema::{BRANCHES, Place, types},
};

/// What to write instead of a keyword.
const CHECK: &str = "leave the keyword out, and check in the tool";

/// What to write instead of several types.
const ONE: &str = "state one type; leave an optional parameter out of `required`";

constructs! {
    /// Something at a place of a schema.
    InSchema {
        /// `properties` that is an array.
        ArrayForObject: "`properties` is an array" =>
            "write an empty object, `{}`; PHP needs `new stdClass()` for that";
        /// The name of a parameter with other signs than letters, digits and these, or longer.
        Key(signs: &'static str, most: usize):
            format!("a parameter's name has other signs than {}", grammar(signs, most)) => SHORTER_NAME;
        /// One of these keywords.
        Keywords(keywords: &'static [&'static str]): format!("{} in `inputSchema`", ticked(keywords)) => CHECK;
        /// `$ref` beside other keywords than `description` and `default`.
        RefBeside: "`$ref` beside other keywords" => "write the schema in place of `$ref`";
        /// Values of `enum` that are not texts.
        EnumNotText: "`enum` with values that are not texts" => "write the values as texts";
        /// A `format` of a text that is none of these.
        FormatOther(known: &'static [&'static str]): format!("a `format` other than {}", ticked(known)) =>
            "leave `format` out, and name the format in the description";
        /// A list of types.
        TypeList: "a list of types" => ONE;
        /// A parameter without a type.
        Untyped: "a parameter without `type`" => "state `type`";
        /// A parameter of several types other than null.
        Union: "a parameter of several types" => ONE;
        /// An object that does not state `additionalProperties: false`.
        Open: "an object without `additionalProperties: false`" =>
            "write `\"additionalProperties\": false` in each object";
        /// An array without `items`.
        NoItems: "an array without `items`" => "state `items`";
        /// `items` that is a list.
        TupleItems: "`items` is a list of schemas" => "write `prefixItems` for tuples";
        /// A `pattern` without `^` and `$` around it.
        Unanchored: "a `pattern` without `^` and `$` around it" =>
            "begin the pattern with `^` and end it with `$`";
        /// A `pattern` that looks ahead or behind.
        LookAround: "a `pattern` that looks ahead or behind" =>
            "write the pattern without `(?=`, `(?!`, `(?<=` and `(?<!`";
        /// A `pattern` with `\d`, `\w`, `\s` or `\b`.
        Shorthand: "a `pattern` with `\\d`, `\\w`, `\\s` or `\\b`" =>
            "write `[0-9]` for `\\d`, `[A-Za-z0-9_]` for `\\w`";
        /// A `maxLength` above this.
        MaxLengthOver(most: u64): format!("`maxLength` above {most}") => CHECK;
        /// `exclusiveMinimum` or `exclusiveMaximum` that is true or false.
        BooleanBound: "`exclusiveMinimum` or `exclusiveMaximum` is true or false" => CHECK;
    }
}

impl InSchema {
    /// Where it stands, and what stands there.
    pub(super) fn places<'a, 'b: 'a>(
        self,
        places: impl Iterator<Item = &'a Place<'b>>,
    ) -> Vec<(String, String)> {
        let found = places.filter_map(|place| {
            let (keyword, what) = self.at(place)?;
            let below = if keyword.is_empty() { "" } else { "/" };
            Some((format!("{}{below}{keyword}", place.pointer), what))
        });
        found.collect()
    }

    /// The keyword with which it stands at a place, empty for the whole schema, and what stands there.
    fn at(self, place: &Place<'_>) -> Option<(&'static str, String)> {
        let schema = place.schema;
        let get = |keyword: &str| schema.get(keyword);
        let is_of = |kind: &str| types(schema).contains(&kind);
        let is_root = place.pointer.matches('/').count() == 1;
        let is_property = place.pointer.rsplit('/').nth(1) == Some("properties");
        let when = |is: bool, keyword| is.then(|| (keyword, self.words().0.into_owned()));
        let pattern = |is: fn(&str) -> bool| {
            let pattern = get("pattern")?.as_str().filter(|it| is(it))?;
            Some(("pattern", format!("the pattern is `{pattern}`")))
        };
        match self {
            Self::ArrayForObject => when(get("properties")?.is_array(), "properties"),
            Self::Key(signs, most) => {
                let mut names = get("properties")?.as_object()?.keys();
                let name = names.find(|it| is_root && !is_plain(it, signs, most))?;
                let grammar = grammar(signs, most);
                let what = format!("`{name}` has other signs than {grammar}");
                Some(("properties", what))
            }
            Self::Keywords(keywords) => {
                let keyword = keywords.iter().find(|it| schema.contains_key(**it))?;
                Some((keyword, format!("`{keyword}` is used")))
            }
            Self::RefBeside => {
                let usual = ["$ref", "description", "default"];
                let mut keywords = schema.keys().filter(|_| get("$ref").is_some());
                let other = keywords.find(|it| !usual.contains(&it.as_str()))?;
                Some(("$ref", format!("`$ref` stands beside `{other}`")))
            }
            Self::EnumNotText => when(!are_texts(get("enum")?.as_array()?), "enum"),
            Self::FormatOther(known) => {
                let format = get("format")?.as_str()?;
                let is_other = is_of("string") && !known.contains(&format);
                is_other.then(|| ("format", format!("the format is `{format}`")))
            }
            Self::TypeList => when(get("type")?.is_array(), "type"),
            Self::Untyped => when(is_property && is_untyped(schema), ""),
            Self::Union => when(is_property && is_union(schema), ""),
            Self::Open => {
                let is_closed = get("additionalProperties") == Some(&false.into());
                when(is_of("object") && !is_closed, "")
            }
            Self::NoItems => {
                let items = get("items").or(get("prefixItems"));
                when(is_of("array") && items.is_none(), "")
            }
            Self::TupleItems => when(get("items")?.is_array(), "items"),
            Self::Unanchored => pattern(|it| !(it.starts_with('^') && it.ends_with('$'))),
            Self::LookAround => pattern(|it| has(it, "(?= (?! (?<= (?<!")),
            Self::Shorthand => pattern(|it| has(it, "\\d \\w \\s \\b \\D \\W \\S \\B")),
            Self::MaxLengthOver(most) => when(get("maxLength")?.as_u64()? > most, "maxLength"),
            Self::BooleanBound => {
                let mut keywords = ["exclusiveMinimum", "exclusiveMaximum"].into_iter();
                let keyword = keywords.find(|it| get(it).is_some_and(Value::is_boolean))?;
                Some((keyword, format!("`{keyword}` is true or false")))
            }
        }
    }
}

fn are_texts(values: &[Value]) -> bool {
    values.iter().all(Value::is_string)
}

/// Whether a pattern has one of these parts, which blanks divide.
fn has(pattern: &str, parts: &str) -> bool {
    parts.split(' ').any(|it| pattern.contains(it))
}

fn is_untyped(schema: &Map<String, Value>) -> bool {
    let others = ["type", "$ref", "enum", "const"];
    let mut others = others.iter().chain(&BRANCHES);
    !others.any(|it| schema.contains_key(*it))
}

/// Whether several branches other than null are open.
fn is_union(schema: &Map<String, Value>) -> bool {
    let branches = ["anyOf", "oneOf"].into_iter();
    let mut branches = branches.filter_map(|it| schema.get(it)?.as_array());
    let is_null = |it: &&Value| it.get("type") == Some(&"null".into());
    branches.any(|all| all.iter().filter(|it| !is_null(it)).count() > 1)
}
