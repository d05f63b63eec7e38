//! The JSON Schema of the format, for editors, made from the same definitions as the readers.

use serde_json::{Map, Value, json};

use crate::suite::raw::{
    ShapeDoc,
    assertion::RawAssertion,
    settings::RawSettings,
    shape::{definition, paragraph, reference},
};

/// The schema of one document of a suite; the settings file's is its definition `Settings`.
pub(crate) fn json_schema() -> Value {
    let mut shapes: Vec<&'static ShapeDoc> = Vec::new();
    RawAssertion::SHAPE.collect(&mut shapes);
    RawSettings::SHAPE.collect(&mut shapes);
    let definitions: Map<String, Value> = shapes
        .into_iter()
        .map(|shape| (definition(shape.name).to_owned(), of_shape(shape)))
        .collect();
    let root = reference(RawAssertion::SHAPE.name);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcp-assert",
        "description": "One document of a suite of mcp-assert.",
        "$ref": root["$ref"],
        "$defs": definitions,
    })
}

/// The schema of one map. Keys without a value are taken and do nothing, so null is no error.
fn of_shape(shape: &ShapeDoc) -> Value {
    let properties: Map<String, Value> = shape
        .keys
        .iter()
        .map(|key| {
            let schema = json!({
                "description": paragraph(key.doc),
                "anyOf": [(key.schema)(), { "type": "null" }],
            });
            (key.key.to_owned(), schema)
        })
        .collect();
    json!({
        "type": "object",
        "description": paragraph(shape.doc),
        "properties": properties,
        "additionalProperties": false,
    })
}
