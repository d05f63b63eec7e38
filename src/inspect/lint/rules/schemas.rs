//! Whether the schemas of a tool are what clients can take, and say what they mean.

use serde_json::{Map, Value};

use crate::inspect::lint::{
    rule::{Findings, rules},
    schema::{Place, Schema, is_of, types},
    view::Tool,
};

rules! {
    "E130" "input-schema-not-object" Error "very-high" [] Tool(not_object):
        "`inputSchema` is missing or not of type `object`" =>
        "write `\"inputSchema\": {\"type\": \"object\", \"properties\": {…}}`: the official clients refuse the whole list of tools";
    "E131" "invalid-schema" Error "very-high" [] Tool(invalid):
        "a schema is not valid in its own dialect" =>
        "mend the schema; without `$schema` the dialect is JSON Schema 2020-12";
    "E132" "unresolved-reference" Error "very-high" [] Tool(unresolved):
        "a `$ref` leads nowhere, or to another document" =>
        "put what is referred to into `$defs` of the same schema: clients fetch nothing";
    "E133" "unsatisfiable-schema" Error "high" [] Tool(unsatisfiable):
        "no value satisfies a schema" =>
        "mend the bounds, or remove what contradicts";
    "E134" "value-against-own-schema" Error "high" [] Tool(values):
        "a default, an example or a choice violates its own schema" =>
        "mend the value or the schema: a model copies the value, and the call is refused";
    "W130" "unknown-required" Warning "very-high" [] Tool(unknown_required):
        "`required` names a property that is not declared" =>
        "declare the property, or remove the name";
    "W131" "additional-properties-not-stated" Info "high" [] Tool(open):
        "`inputSchema` does not state `additionalProperties`" =>
        "write `\"additionalProperties\": false`, so that a misspelt parameter is refused";
    "E135" "output-schema" Error "very-high" [] Tool(output):
        "`outputSchema` is not a schema of an object" =>
        "write `\"type\": \"object\"`, and wrap other values in a property: the official clients refuse the whole list of tools";
}

/// Bounds of which the first must not be above the second.
const BOUNDS: [[&str; 2]; 5] = [
    ["minimum", "maximum"],
    ["minLength", "maxLength"],
    ["minItems", "maxItems"],
    ["minProperties", "maxProperties"],
    ["minContains", "maxContains"],
];

fn not_object(tool: &Tool<'_>, found: &mut Findings<'_>) {
    match &tool.input {
        None => {
            let renamed = tool.json.get("input_schema");
            let renamed = renamed.map_or("", |_| ": it is called `input_schema` here");
            found.say("/inputSchema", format!("`inputSchema` is missing{renamed}"));
        }
        Some(schema) if schema.get("type") != Some(&"object".into()) => {
            let message = match schema.get("type") {
                Some(word) => format!("`inputSchema` is of type {word}, not `object`"),
                None => "`inputSchema` does not state `\"type\": \"object\"`".to_owned(),
            };
            found.say("/inputSchema", message);
        }
        Some(_) => {}
    }
}

fn invalid(tool: &Tool<'_>, found: &mut Findings<'_>) {
    for schema in tool.schemas().filter(|it| dangling(it).next().is_none()) {
        if let (true, Some(why)) = (schema.root.is_object(), schema.invalid()) {
            let name = &schema.pointer[1..];
            let message = format!("`{name}` is not a valid schema: {why}");
            found.say(schema.pointer, message);
        }
    }
}

/// The references that lead nowhere, each with its place.
fn dangling<'a>(schema: &'a Schema<'_>) -> impl Iterator<Item = (&'a Place<'a>, &'a str)> {
    schema.places().iter().filter_map(|place| {
        let reference = place.schema.get("$ref")?.as_str()?;
        let is_lost = schema.target(reference).is_none();
        is_lost.then_some((place, reference))
    })
}

fn unresolved(tool: &Tool<'_>, found: &mut Findings<'_>) {
    for (place, reference) in tool.schemas().flat_map(dangling) {
        let message = if reference.starts_with('#') {
            format!("nothing stands at `{reference}`")
        } else {
            format!("`{reference}` is in another document")
        };
        found.say(format!("{}/$ref", place.pointer), message);
    }
}

fn unsatisfiable(tool: &Tool<'_>, found: &mut Findings<'_>) {
    for place in tool.schemas().flat_map(Schema::places) {
        if let Some(why) = contradiction(place.schema) {
            found.say(&place.pointer, format!("no value satisfies this: {why}"));
        }
    }
}

/// Why nothing satisfies a schema.
fn contradiction(schema: &Map<String, Value>) -> Option<String> {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    for [least, most] in BOUNDS {
        if let (Some(low), Some(high)) = (number(least), number(most))
            && low > high
        {
            return Some(format!("`{least}` is {low}, and `{most}` is {high}"));
        }
    }
    let kinds = types(schema);
    let choices = schema.get("enum").and_then(Value::as_array);
    if choices.is_some_and(Vec::is_empty) {
        return Some("`enum` is empty".to_owned());
    }
    let fits = |value: &Value| kinds.is_empty() || kinds.iter().any(|word| is_of(value, word));
    if choices.is_some_and(|it| !it.iter().any(fits)) {
        let kinds = kinds.join(" or ");
        return Some(format!("no value of `enum` is of type {kinds}"));
    }
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let required = schema.get("required").and_then(Value::as_array)?;
    let required = required.iter().filter_map(Value::as_str);
    let mut never = required.filter(|name| properties.get(*name) == Some(&Value::Bool(false)));
    let name = never.next()?;
    Some(format!("`{name}` is required, and its schema is false"))
}

fn values(tool: &Tool<'_>, found: &mut Findings<'_>) {
    for schema in tool.schemas() {
        for place in schema.places() {
            for (keyword, at, value) in stated(place.schema) {
                if schema.takes(place.schema, value) == Some(false) {
                    let message = format!("a value of `{keyword}` violates its own schema");
                    let pointer = format!("{}/{keyword}{at}", place.pointer);
                    found.say(pointer, message).evidence = Some(value.to_string());
                }
            }
        }
    }
}

/// The values that a schema shows, each with its keyword and its place there. Choices that all contradict are unsatisfiable.
fn stated(schema: &Map<String, Value>) -> Vec<(&'static str, String, &Value)> {
    let default = schema.get("default");
    let mut all: Vec<_> = default
        .map(|it| ("default", String::new(), it))
        .into_iter()
        .collect();
    for keyword in ["examples", "enum"] {
        let values = schema
            .get(keyword)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        all.extend(
            values
                .enumerate()
                .map(|(at, it)| (keyword, format!("/{at}"), it)),
        );
    }
    if contradiction(schema).is_some() {
        all.retain(|(keyword, _, _)| *keyword == "default");
    }
    all
}

fn unknown_required(tool: &Tool<'_>, found: &mut Findings<'_>) {
    for Place { pointer, schema } in tool.schemas().flat_map(Schema::places) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            continue;
        };
        // What a branch or a reference declares is declared too.
        let elsewhere = ["patternProperties", "$ref", "allOf", "anyOf", "oneOf"];
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.filter(|_| !elsewhere.iter().any(|it| schema.contains_key(*it)));
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !properties.contains_key(name) {
                let message = format!("`required` names `{name}`, which is not declared");
                found.say(format!("{pointer}/required"), message);
            }
        }
    }
}

fn open(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let schema = tool.input.as_ref().filter(|it| it.root.is_object());
    let keywords = ["additionalProperties", "unevaluatedProperties"];
    if schema.is_some_and(|it| keywords.iter().all(|keyword| it.get(keyword).is_none())) {
        let message = "`inputSchema` does not state `additionalProperties`";
        found.say("/inputSchema", message);
    }
}

fn output(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let Some(schema) = &tool.output else {
        return;
    };
    let message = if !schema.root.is_object() {
        "`outputSchema` is not an object"
    } else if !tool.is_of_any_type && schema.get("type") != Some(&"object".into()) {
        "`outputSchema` does not state `\"type\": \"object\"`"
    } else {
        return;
    };
    found.say("/outputSchema", message);
}
