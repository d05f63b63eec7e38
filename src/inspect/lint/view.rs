//! What a server offers as rules look at it: names in words, schemas resolved, and every text that a model may see.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::{
    rules::visible,
    schema::{Schema, escaped},
};
use crate::inspect::{
    catalog::Offer,
    effect::{Effect, Effects, words},
};
use mcp::observation::catalog::Listing;
use report::inspection::Kind;

/// The whole of an offer.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The offer itself.
    pub(crate) offer: &'a Offer,
    /// The tools.
    pub(crate) tools: Vec<Tool<'a>>,
    /// The entries of all lists.
    pub(crate) entries: Vec<Entry<'a>>,
    /// All texts.
    pub(crate) texts: Vec<Text<'a>>,
}

/// An entry of a list.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    /// What it is.
    pub(crate) kind: Kind,
    /// Its name.
    pub(crate) name: &'a str,
    /// The entry as it came.
    pub(crate) json: &'a Value,
}

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool<'a> {
    /// The entry as it came.
    pub(crate) json: &'a Value,
    /// Its name.
    pub(crate) name: &'a str,
    /// The words of the name.
    pub(crate) words: Vec<String>,
    /// Its description, empty without one.
    pub(crate) description: &'a str,
    /// What it takes.
    pub(crate) input: Option<Schema<'a>>,
    /// What it gives.
    pub(crate) output: Option<Schema<'a>>,
    /// The properties of what it takes.
    pub(crate) parameters: Vec<Parameter<'a>>,
    /// What the user says of a call.
    pub(crate) told: Option<Effect>,
    /// Whether its schemas may be of any type, which they may in the newest revision.
    pub(crate) is_of_any_type: bool,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Parameter<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The words of the name.
    pub(crate) words: Vec<String>,
    /// The pointer from the tool.
    pub(crate) pointer: String,
    /// The schemas that apply to it; none of `true` and `false`.
    pub(crate) parts: Vec<&'a Map<String, Value>>,
    /// Whether a call needs it.
    pub(crate) is_required: bool,
}

/// A text that a model may see.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    /// What it is a text of.
    pub(crate) kind: Kind,
    /// The name of that.
    pub(crate) name: &'a str,
    /// Where it stands.
    pub(crate) pointer: String,
    /// The text itself.
    pub(crate) content: &'a str,
    /// Whether it can say more than a word: most texts are types and names.
    pub(crate) is_prose: bool,
    sentences: OnceLock<Vec<Sentence>>,
}

/// A sentence of a text, as far as it can be seen.
#[derive(Debug)]
pub(crate) struct Sentence {
    /// The sentence.
    pub(crate) text: String,
    /// Its words in small letters.
    pub(crate) words: Vec<String>,
}

/// The revision from which on a schema need not be of type `object`.
const ANY_TYPE_SINCE: &str = "2026-07-28";

/// Members that no model sees.
const UNSEEN: [&str; 5] = ["icons", "_meta", "$schema", "$id", "$ref"];

impl<'a> View<'a> {
    /// The view of an offer.
    pub(crate) fn new(offer: &'a Offer, told: &Effects) -> Self {
        let is_of_any_type = offer.revision().is_some_and(|it| it >= ANY_TYPE_SINCE);
        let tools = offer.entries(Listing::Tools).iter();
        let mut tools: Vec<_> = tools.map(|it| Tool::new(it, is_of_any_type)).collect();
        for tool in &mut tools {
            tool.told = told.of(tool.name);
        }
        let mut entries = Vec::new();
        let mut texts = Vec::new();
        if let Some(text) = offer.instructions() {
            let pointer = "/instructions".to_owned();
            let (kind, name) = (Kind::Server, "");
            texts.push(Text::new((kind, name), pointer, text));
        }
        for listing in Listing::ALL {
            for json in offer.entries(listing) {
                let (kind, name) = (kind(listing), name(listing, json));
                entries.push(Entry { kind, name, json });
                let mut add = |pointer, text| texts.push(Text::new((kind, name), pointer, text));
                collect(json, &mut String::new(), &mut add);
            }
        }
        Self {
            offer,
            tools,
            entries,
            texts,
        }
    }
}

impl<'a> Text<'a> {
    fn new((kind, name): (Kind, &'a str), pointer: String, content: &'a str) -> Self {
        Self {
            kind,
            name,
            pointer,
            content,
            is_prose: content.bytes().any(|it| it == b' ' || it == b'<'),
            sentences: OnceLock::new(),
        }
    }

    /// Its sentences, without what nobody sees.
    pub(crate) fn sentences(&self) -> &[Sentence] {
        self.sentences.get_or_init(|| {
            let seen = visible(self.content);
            let sentences = seen
                .split(['!', '?', '\n', ';'])
                .flat_map(|it| it.split(". "));
            let sentences = sentences.map(|it| it.trim().trim_end_matches('.'));
            sentences
                .filter(|it| !it.is_empty())
                .map(|it| Sentence {
                    words: super::rules::words(it),
                    text: it.to_owned(),
                })
                .collect()
        })
    }
}

/// Calls `add` for each text of a value and each name of its members, with its pointer.
fn collect<'a>(value: &'a Value, pointer: &mut String, add: &mut impl FnMut(String, &'a str)) {
    let length = pointer.len();
    match value {
        Value::String(text) => add(pointer.clone(), text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer.extend(["/", &index.to_string()]);
                collect(item, pointer, add);
                pointer.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                if UNSEEN.contains(&name.as_str()) {
                    continue;
                }
                pointer.push('/');
                pointer.push_str(&escaped(name));
                if !name.is_ascii() || name.len() > 40 {
                    add(pointer.clone(), name);
                }
                collect(value, pointer, add);
                pointer.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl<'a> Tool<'a> {
    fn new(json: &'a Value, is_of_any_type: bool) -> Self {
        let text = |member: &str| json.get(member).and_then(Value::as_str).unwrap_or_default();
        let schema =
            |member: &'static str, pointer| json.get(member).map(|root| Schema::new(root, pointer));
        let input = schema("inputSchema", "/inputSchema");
        let name = text("name");
        Self {
            json,
            name,
            words: words(name),
            description: text("description").trim(),
            parameters: input.as_ref().map(parameters).unwrap_or_default(),
            input,
            output: schema("outputSchema", "/outputSchema"),
            told: None,
            is_of_any_type,
        }
    }

    /// Its two schemas, as far as it has them.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = &Schema<'a>> {
        self.input.iter().chain(&self.output)
    }

    /// A hint of its annotations.
    pub(crate) fn hint(&self, name: &str) -> Option<bool> {
        self.json.get("annotations")?.get(name)?.as_bool()
    }
}

/// The properties of a schema of an object.
pub(crate) fn parameters<'a>(schema: &Schema<'a>) -> Vec<Parameter<'a>> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    properties
        .map(|(name, of)| Parameter {
            name,
            words: words(name),
            pointer: format!("{}/properties/{}", schema.pointer, escaped(name)),
            parts: schema.parts(of),
            is_required: is_required(name),
        })
        .collect()
}

impl Parameter<'_> {
    /// Whether one of its schemas has one of these keywords.
    pub(crate) fn has(&self, keywords: &[&str]) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| keywords.iter().any(|it| part.contains_key(*it)))
    }

    /// Whether one of its schemas names this type.
    pub(crate) fn is(&self, word: &str) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| super::schema::types(part).contains(&word))
    }

    /// Whether anything is said of it.
    pub(crate) fn is_described(&self) -> bool {
        let said = self
            .parts
            .iter()
            .filter_map(|it| it.get("description")?.as_str());
        said.into_iter().any(|it| !it.trim().is_empty())
    }
}

/// The kind of the entries of a list.
pub(super) fn kind(listing: Listing) -> Kind {
    match listing {
        Listing::Tools => Kind::Tool,
        Listing::Prompts => Kind::Prompt,
        Listing::Resources => Kind::Resource,
        Listing::ResourceTemplates => Kind::Template,
    }
}

/// The name of an entry, empty without one.
pub(super) fn name(listing: Listing, entry: &Value) -> &str {
    let name = entry.get(listing.key()).and_then(Value::as_str);
    name.unwrap_or_default()
}
