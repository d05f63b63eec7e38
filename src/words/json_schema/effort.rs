//! What work a schema makes, counted before the validator is asked, which has no bound of its own: how deep it goes
//! when it compiles a schema, and how many schemas it holds against a document. Both counts may be too high, and
//! depend on nothing but schema and document.

use std::{borrow::Cow, collections::HashMap};

use serde_json::{Map, Value};

use super::layout::{Layout, Place};

/// Schemas within schemas, those behind references included. Compiling and checking call themselves as deep.
const DEEPEST: usize = 1_000;

/// Values of a schema whose references lead in circles: how deep such a one goes depends on where one begins.
const MOST_IN_CIRCLES: usize = 20_000;

/// Schemas that may be held against any document, however small: where all of them fail, so many errors take some
/// hundred megabytes.
const MOST_STEPS: usize = 1_000_000;

/// Schemas that may be held against each value of a document besides.
const STEPS_OF_A_VALUE: usize = 16;

/// Bytes of a reference that are read in the time of a step.
const BYTES_OF_A_STEP: usize = 64;

/// Whether a schema can be compiled.
pub(super) fn is_compilable(layout: &Layout) -> bool {
    let Some((schema, place)) = layout.root() else {
        return false;
    };
    let mut depth = Depth {
        heights: HashMap::new(),
        values: 0,
        is_in_circles: false,
    };
    let height = depth.of(schema, &place, 0);
    height.is_some() && !(depth.is_in_circles && depth.values > MOST_IN_CIRCLES)
}

struct Depth {
    /// How deep it goes below what references lead to, by where that lies; `None` while it is looked at.
    heights: HashMap<usize, Option<usize>>,
    values: usize,
    is_in_circles: bool,
}

impl Depth {
    /// How deep it goes below a value that itself lies so deep; `None` when that is too deep.
    fn of(&mut self, value: &Value, place: &Place<'_>, depth: usize) -> Option<usize> {
        if depth > DEEPEST {
            return None;
        }
        self.values += 1;
        let mut height = 0;
        match value {
            Value::Object(map) => {
                // What is data here can look like a schema with a bad address, and is none.
                let place = within(place, map, value).unwrap_or(Cow::Borrowed(place));
                for (keyword, inner) in map {
                    let below = self.of(inner, &place, depth + 1)?;
                    height = height.max(below + 1);
                    if let (true, Some(reference)) = (refers(keyword), inner.as_str()) {
                        let below = self.behind(&place, (keyword, reference), depth + 1)?;
                        height = height.max(below + 1);
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    let below = self.of(item, place, depth + 1)?;
                    height = height.max(below + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Some(height)
    }

    fn behind(
        &mut self,
        place: &Place<'_>,
        (keyword, reference): (&str, &str),
        depth: usize,
    ) -> Option<usize> {
        let Some((target, place)) = place.behind(keyword, reference) else {
            return Some(0);
        };
        let address = std::ptr::from_ref(target).addr();
        match self.heights.get(&address) {
            Some(Some(height)) => (depth + height <= DEEPEST).then_some(*height),
            Some(None) => {
                self.is_in_circles = true;
                Some(0)
            }
            None => {
                self.heights.insert(address, None);
                let height = self.of(target, &place, depth)?;
                self.heights.insert(address, Some(height));
                Some(height)
            }
        }
    }
}

/// The place within a schema; `None` where the address it gives itself is none.
fn within<'p, 'a>(
    place: &'p Place<'a>,
    map: &Map<String, Value>,
    schema: &Value,
) -> Option<Cow<'p, Place<'a>>> {
    if map.contains_key("$id") || map.contains_key("id") || map.contains_key("$schema") {
        place.within(schema).map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(place))
    }
}

/// Whether a document can be held against a schema.
pub(super) fn is_bearable(layout: &Layout, document: &Value) -> bool {
    let Some((schema, place)) = layout.root() else {
        return false;
    };
    let of_document = values(document).saturating_mul(STEPS_OF_A_VALUE);
    let mut steps = Steps {
        left: MOST_STEPS.saturating_add(of_document),
        depth: 0,
    };
    steps.visit(schema, document, &place).is_some()
}

/// How many values a document is made of.
fn values(document: &Value) -> usize {
    let mut open = vec![document];
    let mut count = 0;
    while let Some(value) = open.pop() {
        count += 1;
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    count
}

struct Steps {
    left: usize,
    /// How many schemas lie around the one that is looked at.
    depth: usize,
}

impl Steps {
    fn spend(&mut self, steps: usize) -> Option<()> {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }

    /// Holds a schema against a value; `None` when it is too much. Every alternative counts, whichever comes first.
    fn visit(&mut self, schema: &Value, value: &Value, place: &Place<'_>) -> Option<()> {
        self.spend(1)?;
        let Value::Object(map) = schema else {
            return Some(());
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        self.spend(map.len())?;
        let place = within(place, map, schema)?;
        self.apply(map, value, &place)?;
        // To know what was not looked at, everything is looked at once more.
        if map.contains_key("unevaluatedProperties") || map.contains_key("unevaluatedItems") {
            self.apply(map, value, &place)?;
        }
        self.depth -= 1;
        Some(())
    }

    fn apply(&mut self, map: &Map<String, Value>, value: &Value, place: &Place<'_>) -> Option<()> {
        for (keyword, inner) in map {
            match keyword.as_str() {
                it if refers(it) => {
                    self.refer((it, inner), value, place)?;
                }
                "allOf" | "anyOf" | "oneOf" => {
                    self.all(inner.as_array().into_iter().flatten(), value, place)?;
                }
                "not" | "if" | "then" | "else" => self.visit(inner, value, place)?,
                "dependentSchemas" | "dependencies" => {
                    let schemas = inner.as_object().into_iter().flat_map(Map::values);
                    self.all(schemas, value, place)?;
                }
                "enum" => self.spend(inner.as_array().map_or(0, Vec::len))?,
                other => match value {
                    Value::Object(members) => self.members(other, inner, members, place)?,
                    Value::Array(items) => self.items(other, inner, items, place)?,
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
                },
            }
        }
        Some(())
    }

    /// Follows a reference. One that leads nowhere is no part of a schema that compiles: nothing is known of it.
    fn refer(
        &mut self,
        (keyword, reference): (&str, &Value),
        value: &Value,
        place: &Place<'_>,
    ) -> Option<()> {
        let Some(reference) = reference.as_str() else {
            return Some(());
        };
        self.spend(reference.len() / BYTES_OF_A_STEP)?;
        let (schema, place) = place.behind(keyword, reference)?;
        self.visit(schema, value, &place)
    }

    fn all<'s>(
        &mut self,
        schemas: impl IntoIterator<Item = &'s Value>,
        value: &Value,
        place: &Place<'_>,
    ) -> Option<()> {
        for schema in schemas {
            self.visit(schema, value, place)?;
        }
        Some(())
    }

    fn members(
        &mut self,
        keyword: &str,
        inner: &Value,
        members: &Map<String, Value>,
        place: &Place<'_>,
    ) -> Option<()> {
        match keyword {
            "properties" => {
                for (name, schema) in inner.as_object().into_iter().flatten() {
                    self.spend(1)?;
                    if let Some(member) = members.get(name) {
                        self.visit(schema, member, place)?;
                    }
                }
            }
            "patternProperties" => {
                for schema in inner.as_object().into_iter().flat_map(Map::values) {
                    for member in members.values() {
                        self.visit(schema, member, place)?;
                    }
                }
            }
            "additionalProperties" | "unevaluatedProperties" => {
                for member in members.values() {
                    self.visit(inner, member, place)?;
                }
            }
            "propertyNames" => {
                for _ in members {
                    self.visit(inner, &Value::Null, place)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn items(
        &mut self,
        keyword: &str,
        inner: &Value,
        items: &[Value],
        place: &Place<'_>,
    ) -> Option<()> {
        match (keyword, inner) {
            ("items" | "prefixItems", Value::Array(schemas)) => {
                for (schema, item) in schemas.iter().zip(items) {
                    self.visit(schema, item, place)?;
                }
            }
            ("items" | "contains" | "additionalItems" | "unevaluatedItems", _) => {
                for item in items {
                    self.visit(inner, item, place)?;
                }
            }
            _ => {}
        }
        Some(())
    }
}

/// Whether a keyword holds a reference.
fn refers(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "$dynamicRef" | "$recursiveRef")
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{super::Nothing, Layout};

    fn layout(schema: &Value) -> Layout {
        Layout::new(schema.clone(), None, Nothing).unwrap()
    }

    fn is_compilable(schema: &Value) -> bool {
        super::is_compilable(&layout(schema))
    }

    fn is_bearable(schema: &Value, document: &Value) -> bool {
        super::is_bearable(&layout(schema), document)
    }

    /// A schema whose definitions are made for each number, the last of them given.
    fn chained(length: usize, link: impl Fn(&Value) -> Value, last: Value) -> Value {
        let next = |n: usize| json!({"$ref": format!("#/$defs/d{}", n + 1)});
        let mut all: Map<String, Value> = (0..length)
            .map(|n| (format!("d{n}"), link(&next(n))))
            .collect();
        all.insert(format!("d{length}"), last);
        json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": all})
    }

    #[test]
    fn long_chains_are_not_compiled() {
        let case = |schema: &Value, wanted: bool| {
            assert_eq!(is_compilable(schema), wanted);
        };
        let text = || json!({"type": "string"});
        case(&chained(100, Value::clone, text()), true);
        case(&chained(100_000, Value::clone, text()), false);
        let within = |next: &Value| json!({"items": {"anyOf": [{}, {"properties": {"y": next}}]}});
        case(&chained(50, within, text()), true);
        case(&chained(500, within, text()), false);
        let back = json!({"$ref": "#/$defs/d0"});
        case(&chained(100, Value::clone, back.clone()), true);
        case(&chained(900, within, back), false);
        let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        case(&tree, true);
        let long: Vec<Value> = (0..30_000).map(|n| json!({"const": n})).collect();
        case(&json!({"anyOf": long}), true);
        case(&json!({"anyOf": long, "not": {"$ref": "#"}}), false);
    }

    #[test]
    fn alternatives_of_alternatives_are_counted() {
        let doubled = |next: &Value| json!({"anyOf": [next, next]});
        let schema = |length: usize| chained(length, doubled, json!({"type": "integer"}));
        let given = json!({"x": "text"});
        assert!(is_bearable(&schema(10), &given));
        assert!(!is_bearable(&schema(40), &given));
        assert!(is_bearable(&schema(40), &json!({"y": "text"})));
        // The same by a schema that contains itself, and a document that is deep.
        let itself = json!({"properties": {"x": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
        let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!({"x": inner}));
        assert!(is_bearable(&itself, &nested(10)));
        assert!(!is_bearable(&itself, &nested(60)));
    }

    #[test]
    fn references_by_address_are_followed() {
        let nested = |depth: usize| (0..depth).fold(json!(0.5), |inner, _| json!({"x": inner}));
        for reference in [
            "#/$defs/n",
            "#n",
            "s#/$defs/n",
            "/s#n",
            "https://h.example/s#/$defs/n",
            "inner",
        ] {
            let link = json!({"properties": {"x": {"$ref": reference}}});
            let n = json!({"$id": "inner", "anyOf": [link, link]});
            // An address of its own changes what its references mean.
            let n = if reference == "inner" {
                n
            } else {
                json!({"$anchor": "n", "anyOf": [link, link]})
            };
            let schema =
                json!({"$id": "https://h.example/s", "$defs": {"n": n}, "$ref": "#/$defs/n"});
            assert!(is_bearable(&schema, &nested(8)), "{reference}");
            assert!(!is_bearable(&schema, &nested(40)), "{reference}");
        }
        let own = "https://json-schema.org/draft/2020-12/schema";
        let schema = json!({"properties": {"x": {"$ref": own}}});
        assert!(is_compilable(&schema));
        assert!(is_bearable(&schema, &json!({"x": {"type": "object"}})));
        let data = json!({"enum": [{"$id": "::", "$ref": "nowhere"}]});
        assert!(is_compilable(&data) && is_bearable(&data, &json!(1)));
    }

    #[test]
    fn large_documents_are_held_against_ordinary_schemas() {
        let entry = json!({
            "type": "object",
            "properties": {
                "id": {"type": "integer"},
                "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}},
            },
            "required": ["id"],
            "additionalProperties": false,
        });
        let schema = json!({"type": "object", "properties": {"all": {"items": {"$ref": "#/$defs/e"}}}, "$defs": {"e": entry}});
        let one = json!({"id": 1, "name": "n", "tags": ["a", "b"]});
        let all: Vec<Value> = (0..50_000).map(|_| one.clone()).collect();
        assert!(is_bearable(&schema, &json!({"all": all})));
        let tree = json!({"properties": {"children": {"items": {"$ref": "#"}}}});
        let deep = (0..60).fold(json!({}), |inner, _| json!({"children": [inner, {}]}));
        assert!(is_bearable(&tree, &deep));
    }
}
