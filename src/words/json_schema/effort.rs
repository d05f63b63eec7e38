//! What work a schema makes, counted before the validator is asked, which has no bound of its own: how deep it goes
//! when it compiles a schema, and how many schemas it holds against a document. Both counts may be too high, and
//! depend on nothing but schema and document.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::references::References;

/// Schemas within schemas, those behind references included. Compiling and checking call themselves as deep.
const DEEPEST: usize = 1_000;

/// Values of a schema whose references lead in circles: how deep such a one goes depends on where one begins.
const MOST_IN_CIRCLES: usize = 20_000;

/// Schemas that may be held against any document, however small.
const MOST_STEPS: usize = 300_000;

/// Schemas that may be held against each value of a document besides.
const STEPS_OF_A_VALUE: usize = 16;

/// Whether a schema can be compiled.
pub(crate) fn is_compilable(schema: &Value) -> bool {
    let mut depth = Depth {
        references: References::new(schema),
        heights: HashMap::new(),
        values: 0,
        is_in_circles: false,
    };
    let height = depth.of(schema, 0);
    height.is_some() && !(depth.is_in_circles && depth.values > MOST_IN_CIRCLES)
}

struct Depth<'a> {
    references: References<'a>,
    /// How deep it goes below what references lead to, by where that lies; `None` while it is looked at.
    heights: HashMap<usize, Option<usize>>,
    values: usize,
    is_in_circles: bool,
}

impl<'a> Depth<'a> {
    /// How deep it goes below a value that itself lies so deep; `None` when that is too deep.
    fn of(&mut self, value: &'a Value, depth: usize) -> Option<usize> {
        if depth > DEEPEST {
            return None;
        }
        self.values += 1;
        let mut height = 0;
        match value {
            Value::Object(map) => {
                for (keyword, inner) in map {
                    let below = self.of(inner, depth + 1)?;
                    height = height.max(below + 1);
                    if let (true, Some(reference)) = (refers(keyword), inner.as_str()) {
                        let below = self.behind(reference, depth + 1)?;
                        height = height.max(below + 1);
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    let below = self.of(item, depth + 1)?;
                    height = height.max(below + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Some(height)
    }

    fn behind(&mut self, reference: &str, depth: usize) -> Option<usize> {
        let Some(target) = self.references.target(reference) else {
            return Some(0);
        };
        let place = std::ptr::from_ref(target).addr();
        match self.heights.get(&place) {
            Some(Some(height)) => (depth + height <= DEEPEST).then_some(*height),
            Some(None) => {
                self.is_in_circles = true;
                Some(0)
            }
            None => {
                self.heights.insert(place, None);
                let height = self.of(target, depth)?;
                self.heights.insert(place, Some(height));
                Some(height)
            }
        }
    }
}

/// Whether a document can be held against a schema.
pub(crate) fn is_bearable(schema: &Value, document: &Value) -> bool {
    let of_document = values(document).saturating_mul(STEPS_OF_A_VALUE);
    let mut steps = Steps {
        references: References::new(schema),
        left: MOST_STEPS.saturating_add(of_document),
    };
    steps.visit(schema, document, 0).is_some()
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

struct Steps<'a> {
    references: References<'a>,
    left: usize,
}

impl<'a> Steps<'a> {
    fn spend(&mut self, steps: usize) -> Option<()> {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }

    /// Holds a schema against a value; `None` when it is too much. Every alternative counts, whichever comes first.
    fn visit(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        self.spend(1)?;
        let Value::Object(map) = schema else {
            return Some(());
        };
        self.spend(map.len())?;
        self.apply(map, value, depth + 1)?;
        // To know what was not looked at, everything is looked at once more.
        if map.contains_key("unevaluatedProperties") || map.contains_key("unevaluatedItems") {
            self.apply(map, value, depth + 1)?;
        }
        Some(())
    }

    fn apply(&mut self, map: &'a Map<String, Value>, value: &Value, depth: usize) -> Option<()> {
        for (keyword, inner) in map {
            match keyword.as_str() {
                it if refers(it) => {
                    let target = inner.as_str().and_then(|it| self.references.target(it));
                    self.all(target, value, depth)?;
                }
                "allOf" | "anyOf" | "oneOf" => {
                    self.all(inner.as_array().into_iter().flatten(), value, depth)?;
                }
                "not" | "if" | "then" | "else" => self.visit(inner, value, depth)?,
                "dependentSchemas" | "dependencies" => {
                    let schemas = inner.as_object().into_iter().flat_map(Map::values);
                    self.all(schemas, value, depth)?;
                }
                "enum" => self.spend(inner.as_array().map_or(0, Vec::len))?,
                other => match value {
                    Value::Object(members) => self.members(other, inner, members, depth)?,
                    Value::Array(items) => self.items(other, inner, items, depth)?,
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
                },
            }
        }
        Some(())
    }

    fn all(
        &mut self,
        schemas: impl IntoIterator<Item = &'a Value>,
        value: &Value,
        depth: usize,
    ) -> Option<()> {
        for schema in schemas {
            self.visit(schema, value, depth)?;
        }
        Some(())
    }

    fn members(
        &mut self,
        keyword: &str,
        inner: &'a Value,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        match keyword {
            "properties" => {
                for (name, schema) in inner.as_object().into_iter().flatten() {
                    self.spend(1)?;
                    if let Some(member) = members.get(name) {
                        self.visit(schema, member, depth)?;
                    }
                }
            }
            "patternProperties" => {
                for schema in inner.as_object().into_iter().flat_map(Map::values) {
                    for member in members.values() {
                        self.visit(schema, member, depth)?;
                    }
                }
            }
            "additionalProperties" | "unevaluatedProperties" => {
                for member in members.values() {
                    self.visit(inner, member, depth)?;
                }
            }
            "propertyNames" => {
                for _ in members {
                    self.visit(inner, &Value::Null, depth)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn items(
        &mut self,
        keyword: &str,
        inner: &'a Value,
        items: &[Value],
        depth: usize,
    ) -> Option<()> {
        match (keyword, inner) {
            ("items" | "prefixItems", Value::Array(schemas)) => {
                for (schema, item) in schemas.iter().zip(items) {
                    self.visit(schema, item, depth)?;
                }
            }
            ("items" | "contains" | "additionalItems" | "unevaluatedItems", _) => {
                for item in items {
                    self.visit(inner, item, depth)?;
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

    use super::{is_bearable, is_compilable};

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
