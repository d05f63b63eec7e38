//! Catalogs as reports keep them: harmless, and with every secret hidden behind its name. What the protocol and JSON
//! Schema call things is no secret wherever it stands for that, whatever value reads like it: a schema whose keywords
//! are hidden says nothing any more.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use crate::{
    observation::catalog::{Catalog, Listing},
    report::cleaner::Cleaner,
};

/// Values inside of values.
const DEEPEST: usize = 64;

/// Names of members that the protocol and JSON Schema give a meaning that is compared.
const KEYWORDS: [&str; 62] = [
    "$anchor",
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "annotations",
    "anyOf",
    "arguments",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "description",
    "destructiveHint",
    "else",
    "enum",
    "execution",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "idempotentHint",
    "if",
    "inputSchema",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "mimeType",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "name",
    "not",
    "oneOf",
    "openWorldHint",
    "outputSchema",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnlyHint",
    "required",
    "taskSupport",
    "then",
    "title",
    "type",
    "uri",
    "uriTemplate",
];

/// Words that stand under `type` and `taskSupport`.
const WORDS: [&str; 10] = [
    "array",
    "boolean",
    "forbidden",
    "integer",
    "null",
    "number",
    "object",
    "optional",
    "required",
    "string",
];

/// Texts of a run's catalogs as they came, by what is kept of them. They are there while the run is compared, and no
/// longer.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Unmasked(pub(super) BTreeMap<String, String>);

impl fmt::Debug for Unmasked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Unmasked({})", self.0.len())
    }
}

/// A catalog without its secrets; what they were is noted.
pub(crate) fn catalog(catalog: &Catalog, cleaner: &Cleaner, unmasked: &mut Unmasked) -> Catalog {
    let mut kept = Catalog {
        unknown: catalog.unknown.clone(),
        ..Catalog::default()
    };
    let open = Cleaner::default();
    let mut hide = |text: &str| {
        let (hidden, plain) = (cleaner.text_named(text), open.text_named(text));
        if hidden != plain {
            unmasked.0.insert(hidden.clone(), plain);
        }
        hidden
    };
    for listing in Listing::ALL {
        *kept.list_mut(listing) = catalog.list(listing).map(|entries| {
            let entries = entries.iter();
            entries.map(|it| rewritten(it, &mut hide)).collect()
        });
    }
    kept
}

/// A value with each of its texts and names rewritten, except for words that mean what they say. What lies deeper than
/// servers nest anything is left out.
pub(super) fn rewritten(value: &Value, rewrite: &mut impl FnMut(&str) -> String) -> Value {
    within(value, rewrite, (DEEPEST, ""))
}

fn within(
    value: &Value,
    rewrite: &mut impl FnMut(&str) -> String,
    (depth, under): (usize, &str),
) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    match value {
        Value::String(text) if is_word(under, text) => value.clone(),
        Value::String(text) => rewrite(text).into(),
        Value::Array(items) => {
            let items = items.iter();
            items
                .map(|it| within(it, rewrite, (depth, under)))
                .collect()
        }
        Value::Object(members) => {
            let members = members.iter();
            let member = |(name, it): (&String, &Value)| {
                let inner = within(it, rewrite, (depth, name));
                let is_keyword = KEYWORDS.contains(&name.as_str());
                let name = if is_keyword {
                    name.clone()
                } else {
                    rewrite(name)
                };
                (name, inner)
            };
            members.map(member).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn is_word(under: &str, text: &str) -> bool {
    matches!(under, "type" | "taskSupport") && WORDS.contains(&text)
}
