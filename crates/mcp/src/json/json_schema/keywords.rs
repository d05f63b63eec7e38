//! Keywords of JSON Schema, of all drafts: a schema may have others, and one that is nearly one of these is a slip.

use serde_json::Value;
use strsim::damerau_levenshtein;

/// Keywords whose members are schemas under names of the author's choice.
pub const NAMED_SCHEMAS: [&str; 6] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
];

/// Keywords whose values are data.
pub const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// Keywords that are long enough to be told apart from a word of the author's own, with spaces between them.
const KEYWORDS: &str = "$anchor $comment $defs $dynamicAnchor $dynamicRef $recursiveAnchor $recursiveRef $schema \
    $vocabulary additionalItems additionalProperties allOf anyOf const contains \
    contentEncoding contentMediaType contentSchema default definitions dependencies \
    dependentRequired dependentSchemas deprecated description enum examples exclusiveMaximum \
    exclusiveMinimum format items maxContains maxItems maxLength maxProperties maximum \
    minContains minItems minLength minProperties minimum multipleOf oneOf pattern \
    patternProperties prefixItems properties propertyNames readOnly required type \
    unevaluatedItems unevaluatedProperties uniqueItems";

/// Words of others that are near to a keyword, and shorter keywords.
const OTHERS: &str = "$id $ref else example id if not note notes then title writeOnly";

/// A key that nothing looks at, and the keyword that was probably meant.
pub struct Misspelt {
    /// The key.
    pub key: String,
    /// The nearest keyword.
    pub near: &'static str,
}

/// The misspelt keywords of a schema, in its order.
pub fn misspelt(schema: &Value) -> Vec<Misspelt> {
    let mut found = Vec::new();
    look(schema, &mut found);
    found
}

fn look(schema: &Value, found: &mut Vec<Misspelt>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                look_at(key, value, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                look(item, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A key of a schema and its value.
fn look_at(key: &str, value: &Value, found: &mut Vec<Misspelt>) {
    if DATA.contains(&key) {
        return;
    }
    if let (true, Value::Object(named)) = (NAMED_SCHEMAS.contains(&key), value) {
        for schema in named.values() {
            look(schema, found);
        }
    } else if KEYWORDS
        .split(' ')
        .chain(OTHERS.split(' '))
        .any(|word| word == key)
    {
        look(value, found);
    } else if let Some(near) = near(key) {
        found.push(Misspelt {
            key: key.to_owned(),
            near,
        });
    }
}

/// The keyword that a key is a slip of: one letter off, two when it is long. What begins with `x-` is meant.
fn near(key: &str) -> Option<&'static str> {
    if key.starts_with("x-") {
        return None;
    }
    let lower = key.to_lowercase();
    // A word too far from what is meant by it for the distance to tell.
    if lower == "property" {
        return Some("properties");
    }
    let distance = |keyword: &str| damerau_levenshtein(&lower, &keyword.to_lowercase());
    let nearest = KEYWORDS.split(' ').min_by_key(|keyword| distance(keyword));
    nearest.filter(|keyword| distance(keyword) <= if keyword.len() < 7 { 1 } else { 2 })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::misspelt;

    #[test]
    fn slips_are_told_and_words_of_others_are_not() {
        let case = |schema: Value, wanted: &[(&str, &str)]| {
            let found = misspelt(&schema);
            let found: Vec<_> = found.iter().map(|it| (it.key.as_str(), it.near)).collect();
            assert_eq!(found, wanted, "{schema}");
        };
        case(json!({"requird": ["a"]}), &[("requird", "required")]);
        case(
            json!({"properties": {"requird": {"minimun": 1}}, "items": [{"Type": "string"}]}),
            &[("minimun", "minimum"), ("Type", "type")],
        );
        case(
            json!({"property": {}, "require": [], "additionalproperties": false}),
            &[
                ("property", "properties"),
                ("require", "required"),
                ("additionalproperties", "additionalProperties"),
            ],
        );
        case(json!({"properties": {"property": {}}}), &[]);
        case(
            json!({"anyOf": [{"not": {"maxlength": 3}}], "x-required": 1, "note": "", "example": 1}),
            &[("maxlength", "maxLength")],
        );
        case(
            json!({"const": {"requird": 1}, "enum": [{"requird": 1}], "nullable": true, "xml": {}}),
            &[],
        );
        case(json!({"discriminator": {"requird": 1}}), &[]);
    }
}
