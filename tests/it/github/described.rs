//! GitHub's published API description: the used endpoints, and validation of requests and answers.

use std::{collections::HashMap, sync::LazyLock};

use jsonschema::Validator;
use serde_json::{Value, json};

/// What `scripts/github-schemas` recorded.
static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("openapi.json")).expect("the description is JSON")
});

static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| {
    let endpoints = DESCRIPTION["endpoints"].as_array().expect("endpoints");
    endpoints.iter().map(Endpoint::new).collect()
});

/// One endpoint.
pub(super) struct Endpoint {
    method: String,
    /// Its path with `{names}`.
    pub(super) path: String,
    query: HashMap<String, Validator>,
    body: Option<Validator>,
    answers: HashMap<String, Option<Validator>>,
    /// An answer as GitHub gives it.
    pub(super) example: Value,
}

fn validator(schema: &Value) -> Validator {
    let mut schema = schema.clone();
    // References are to the whole document's components.
    if let Some(map) = schema.as_object_mut() {
        map.insert("components".to_owned(), DESCRIPTION["components"].clone());
    }
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(&schema)
        .expect("a valid schema")
}

impl Endpoint {
    fn new(described: &Value) -> Self {
        let text = |name: &str| described[name].as_str().unwrap().to_owned();
        let optional = |schema: &Value| (!schema.is_null()).then(|| validator(schema));
        let pairs = |name: &str| described[name].as_object().unwrap().clone().into_iter();
        Self {
            method: text("method"),
            path: text("path"),
            query: pairs("query")
                .map(|(name, it)| (name, validator(&it)))
                .collect(),
            body: optional(&described["body"]),
            answers: pairs("answers")
                .map(|(status, it)| (status, optional(&it)))
                .collect(),
            example: mended(described["example"].clone()),
        }
    }

    /// The values of the path's parameters, if the path matches.
    fn names(&self, path: &str) -> Option<Vec<String>> {
        let wanted: Vec<&str> = self.path.split('/').collect();
        let found: Vec<&str> = path.split('/').collect();
        let mut names = Vec::new();
        for (index, part) in wanted.iter().enumerate() {
            if *part == "{path}" || *part == "{ref}" {
                // These parameters may contain slashes.
                names.push(found.get(index..).filter(|it| !it.is_empty())?.join("/"));
                return Some(names);
            }
            let found = found.get(index)?;
            if part.starts_with('{') {
                names.push((*found).to_owned());
            } else if part != found {
                return None;
            }
        }
        (wanted.len() == found.len()).then_some(names)
    }

    /// The errors of a request.
    pub(super) fn question(&self, query: &[(String, String)], body: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, text) in query {
            let Some(schema) = self.query.get(name) else {
                wrong.push(format!("{}: unknown parameter `{name}`", self.path));
                continue;
            };
            let number = text.parse::<i64>().ok().map(|it| json!(it));
            let fits =
                schema.is_valid(&json!(text)) || number.is_some_and(|it| schema.is_valid(&it));
            if !fits {
                wrong.push(format!("{}: `{name}={text}`", self.path));
            }
        }
        match &self.body {
            Some(schema) => wrong.extend(errors(schema, body, &self.path)),
            None if !body.is_null() => wrong.push(format!("{}: a body", self.path)),
            None => {}
        }
        wrong
    }

    /// The errors of an answer.
    pub(super) fn answer(&self, status: u16, body: &Value) -> Vec<String> {
        match self.answers.get(&status.to_string()) {
            Some(Some(schema)) => errors(schema, body, &self.path),
            // Common answers are not described per endpoint.
            Some(None) => Vec::new(),
            None if status >= 400 => Vec::new(),
            None => vec![format!("{}: {status} is no answer of it", self.path)],
        }
    }
}

/// GitHub's example, completed where it violates its own schema.
fn mended(mut example: Value) -> Value {
    for at in ["", "/source", "/parent"] {
        let repository = example.pointer_mut(at).and_then(Value::as_object_mut);
        if let Some(repository) = repository.filter(|it| it.contains_key("default_branch")) {
            repository.entry("language").or_insert(Value::Null);
        }
    }
    for pull in example.as_array_mut().into_iter().flatten() {
        if let Some(teams) = pull.get_mut("requested_teams") {
            *teams = json!([]);
        }
    }
    example
}

fn errors(schema: &Validator, value: &Value, path: &str) -> Vec<String> {
    let errors = schema.iter_errors(value);
    errors
        .map(|error| format!("{path}: {error} at {}", error.instance_path()))
        .collect()
}

/// The endpoint of a request, and the path's parameters.
pub(super) fn endpoint(method: &str, path: &str) -> Option<(&'static Endpoint, Vec<String>)> {
    ENDPOINTS
        .iter()
        .filter(|it| it.method == method)
        .find_map(|it| Some((it, it.names(path)?)))
}

#[test]
fn what_the_twin_answers_from_is_as_described() {
    for endpoint in ENDPOINTS.iter().filter(|it| !it.example.is_null()) {
        let status = if endpoint.method == "POST" { 201 } else { 200 };
        let wrong = endpoint.answer(status, &endpoint.example);
        assert!(wrong.is_empty(), "{wrong:#?}");
        let broken = endpoint.answer(status, &json!({"message": 1}));
        assert!(!broken.is_empty(), "{} takes anything", endpoint.path);
    }
}
