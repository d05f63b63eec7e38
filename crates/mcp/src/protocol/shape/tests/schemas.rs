//! The table against the published schemas, definition by definition, where they are at hand.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::Value;

use super::super::{
    Member, Method, Record, Revision, Shape, input_required, notifications, requests, result,
};

/// Messages of our table in words of their own.
const LOOSE: [&str; 4] = [
    "PrimitiveSchemaDefinition",
    "JSONObject",
    "InputRequest",
    "MetaObject",
];

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../..", "shared", "schemas"]
        .iter()
        .collect()
}

/// The definitions of a revision.
pub(super) struct Definitions(pub(super) Value);

/// Those that are at hand.
pub(super) fn definitions(revision: Revision) -> Option<Definitions> {
    let folder = folder();
    if !folder.is_dir() {
        println!("skipped: no schemas at {}", folder.display());
        return None;
    }
    let path = folder.join(format!("{revision}.json"));
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut keys = ["definitions", "$defs"].iter();
    let definitions = keys.find_map(|key| schema.get(*key));
    Some(Definitions(definitions.unwrap().clone()))
}

impl Definitions {
    fn named(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The form of a schema: references are followed, names play no part.
    fn form(&self, schema: &Value) -> String {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            if LOOSE.contains(&name) {
                return "object".into();
            }
            return self.form(self.named(name).unwrap());
        }
        if let Some(parts) = schema["allOf"].as_array() {
            return self.merged(parts);
        }
        if schema["anyOf"].is_array() {
            let (many, one): (Vec<_>, Vec<_>) = self
                .alternatives(schema)
                .into_iter()
                .partition(|form| form.starts_with('['));
            let one = one.join("|");
            return match many.as_slice() {
                [] => one,
                [many] if *many == format!("[{one}]") => format!("one or many({one})"),
                _ => format!("{one}|{}", many.join("|")),
            };
        }
        if let Some(text) = schema["const"].as_str() {
            return format!("{text:?}");
        }
        if let Some(words) = schema["enum"].as_array() {
            return words_form(words.iter().filter_map(Value::as_str).collect());
        }
        match &schema["type"] {
            Value::Array(kinds) => {
                let mut kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).collect();
                kinds.sort_unstable();
                kinds.join("/")
            }
            Value::String(kind) => match kind.as_str() {
                "number" if schema["maximum"] == 1 => "ratio".into(),
                "array" => format!("[{}]", self.form(&schema["items"])),
                "object" => self.object(schema),
                other => other.to_owned(),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "any".into(),
        }
    }

    /// The forms of a union, however it is nested.
    fn alternatives(&self, schema: &Value) -> BTreeSet<String> {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            return self.alternatives(self.named(name).unwrap());
        }
        match schema["anyOf"].as_array() {
            Some(options) => options
                .iter()
                .flat_map(|option| self.alternatives(option))
                .collect(),
            None => BTreeSet::from([self.form(schema)]),
        }
    }

    fn object(&self, schema: &Value) -> String {
        let properties = schema["properties"].as_object();
        if let Some(properties) = properties.filter(|members| !members.is_empty()) {
            let required = schema["required"].as_array();
            let members = properties.iter().map(|(name, member)| {
                let is_required =
                    required.is_some_and(|names| names.contains(&name.as_str().into()));
                (name.clone(), is_required, self.form(member))
            });
            return object_form(members.collect());
        }
        let others = &schema["additionalProperties"];
        if others.as_object().is_some_and(|item| !item.is_empty()) {
            return format!("map({})", self.form(others));
        }
        "object".into()
    }

    fn merged(&self, parts: &[Value]) -> String {
        let mut members = serde_json::Map::new();
        let mut required = Vec::new();
        for part in parts {
            let part = match part["$ref"].as_str() {
                Some(name) => self.named(name.rsplit('/').next().unwrap()).unwrap(),
                None => part,
            };
            members.extend(part["properties"].as_object().cloned().unwrap());
            required.extend(part["required"].as_array().cloned().unwrap_or_default());
        }
        self.object(&serde_json::json!({"properties": members, "required": required}))
    }
}

fn object_form(mut members: Vec<(String, bool, String)>) -> String {
    members.sort();
    let members: Vec<String> = members
        .into_iter()
        .map(|(name, required, form)| format!("{name}{}:{form}", if required { "!" } else { "" }))
        .collect();
    format!("{{{}}}", members.join(","))
}

fn words_form(mut words: Vec<&str>) -> String {
    words.sort_unstable();
    format!("<{}>", words.join(","))
}

fn record_form(record: &Record, revision: Revision) -> String {
    let members = record
        .members
        .iter()
        .filter(|member| member.is_in(revision))
        .map(|member: &Member| {
            (
                member.name.to_owned(),
                member.is_required(revision),
                shape_form(member.shape, revision),
            )
        });
    object_form(members.collect())
}

fn shape_form(shape: Shape, revision: Revision) -> String {
    let union = |forms: BTreeSet<String>| forms.into_iter().collect::<Vec<_>>().join("|");
    match shape {
        Shape::Any => "any".into(),
        Shape::Text => "string".into(),
        Shape::Flag => "boolean".into(),
        Shape::Number => "number".into(),
        Shape::Ratio => "ratio".into(),
        Shape::Integer | Shape::Natural => "integer".into(),
        Shape::IntegerOrNull => "integer/null".into(),
        Shape::Token => "integer/string".into(),
        Shape::Object | Shape::Field => "object".into(),
        Shape::Const(text) => format!("{text:?}"),
        Shape::Words(words) => words_form(words.to_vec()),
        Shape::List(item) | Shape::AtMost(_, item) => format!("[{}]", shape_form(*item, revision)),
        Shape::Map(item) => format!("map({})", shape_form(*item, revision)),
        Shape::Record(record) => record_form(record, revision),
        Shape::Kinds(kinds) => union(
            kinds
                .iter()
                .filter(|kind| kind.since <= revision)
                .map(|kind| record_form(kind.record, revision))
                .collect(),
        ),
        Shape::Either(records) => union(
            records
                .iter()
                .map(|(_, record)| record_form(record, revision))
                .collect(),
        ),
        Shape::OneOrMany(one, many_since) if many_since <= revision => {
            format!("one or many({})", shape_form(*one, revision))
        }
        Shape::OneOrMany(one, _) => shape_form(*one, revision),
    }
}

/// Every record that has a definition of its own, with the place of its members in it.
pub(super) fn named(definitions: &Definitions) -> Vec<(&'static Record, &Value)> {
    let mut found = Vec::new();
    let results = Method::ALL.map(result).into_iter();
    for record in results.chain([input_required()]) {
        found.extend(
            definitions
                .named(record.name)
                .map(|schema| (record, schema)),
        );
    }
    let params = notifications::ALL
        .iter()
        .map(|(_, record)| *record)
        .chain([&requests::CREATE_MESSAGE]);
    for record in params {
        let message = definitions.named(record.name);
        found.extend(message.map(|schema| (record, &schema["properties"]["params"])));
    }
    for record in [&requests::ELICIT_FORM, &requests::ELICIT_URL] {
        found.extend(
            definitions
                .named(record.name)
                .map(|schema| (record, schema)),
        );
    }
    if definitions.named("ElicitRequestParams").is_none() {
        let form = definitions.named("ElicitRequest");
        found.extend(form.map(|schema| (&requests::ELICIT_FORM, &schema["properties"]["params"])));
    }
    found
}

#[test]
fn the_table_says_what_the_schemas_say() {
    for revision in Revision::ALL {
        let Some(definitions) = definitions(revision) else {
            return;
        };
        let records = named(&definitions);
        assert!(records.len() >= 13, "{revision} has definitions");
        for (record, schema) in records {
            let published = definitions.form(schema);
            assert_eq!(
                record_form(record, revision),
                published,
                "{} of {revision}",
                record.name
            );
        }
    }
}
