//! Masks and cleans catalogs for reports. Each mask names its variable, and catalogs are compared as masked.

use serde_json::Value;

use crate::cleaner::Cleaner;
use mcp::observation::catalog::{Catalog, Listing};

/// Levels of nesting that are kept of an entry.
const DEEPEST: usize = 64;

/// Members that the comparison looks for by name: they are never masked, whatever value reads like them.
const STRUCTURE: &str = "arguments description enum inputSchema items name outputSchema properties required type uri uriTemplate";

/// A catalog without its secrets.
pub(crate) fn catalog(catalog: &Catalog, cleaner: &Cleaner) -> Catalog {
    let mut kept = Catalog {
        unknown: catalog.unknown.clone(),
        ..Catalog::default()
    };
    for listing in Listing::ALL {
        *kept.list_mut(listing) = catalog.list(listing).map(|entries| {
            let entries = entries.iter();
            entries.map(|it| cleaned(it, cleaner, DEEPEST)).collect()
        });
    }
    kept
}

/// A value with each of its texts and names written so that a report may hold it.
pub(super) fn harmless(value: &Value) -> Value {
    cleaned(value, &Cleaner::default(), DEEPEST)
}

/// A value with each of its texts and names cleaned; what lies deeper than `depth` is left out.
fn cleaned(value: &Value, cleaner: &Cleaner, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    match value {
        Value::String(text) => cleaner.text_named(text).into(),
        Value::Array(items) => {
            let items = items.iter();
            items.map(|it| cleaned(it, cleaner, depth)).collect()
        }
        Value::Object(members) => {
            let member = |(name, it): (&String, &Value)| {
                let kept = if STRUCTURE.split(' ').any(|it| it == name) {
                    name.clone()
                } else {
                    cleaner.text_named(name)
                };
                (kept, cleaned(it, cleaner, depth))
            };
            members.iter().map(member).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::catalog;
    use crate::cleaner::Cleaner;
    use mcp::observation::catalog::Catalog;
    use text::redact::Secrets;

    #[test]
    fn values_and_names_are_masked_and_the_structure_stays() {
        let mut secrets = Secrets::default();
        for (name, value) in [("WHERE", "staging"), ("WHAT", "properties")] {
            secrets.add_named(name, value);
        }
        let tool = json!({"name": "staging", "inputSchema": {"properties": {"staging": {"enum": ["staging"]}}}});
        let listed = Catalog {
            tools: Some(vec![tool]),
            ..Catalog::default()
        };
        let kept = catalog(&listed, &Cleaner::new(secrets));
        let wanted = json!({
            "name": "***{WHERE}",
            "inputSchema": {"properties": {"***{WHERE}": {"enum": ["***{WHERE}"]}}},
        });
        assert_eq!(kept.tools, Some(vec![wanted]));
    }
}
