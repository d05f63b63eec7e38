//! What a server offers, as people read it.

use std::fmt::Write;

use serde_json::Value;

use super::{
    catalog::Offer,
    parameters::{self, Parameter},
    sample::{Sources, Which, sample_of},
};
use mcp::observation::catalog::Listing;
use text::{clean, count, head};

/// The most characters of a description in a list. One entry alone is shown whole.
const LONGEST_LINE: usize = 100;

/// All lists, or one of them: an entry a line, with the first line of what is said of it below.
pub(crate) fn offer(offer: &Offer, only: Option<Listing>) -> String {
    let mut out = heading(offer);
    let lists = Listing::ALL.into_iter();
    for listing in lists.filter(|it| only.is_none_or(|only| only == *it)) {
        let Some(entries) = offer.catalog.list(listing) else {
            continue;
        };
        let _ = writeln!(out, "\n{}", count(entries.len(), listing.entry()));
        for entry in entries {
            let _ = writeln!(out, "  {}", signature(listing, entry));
            let said = entry["description"].as_str().or(entry["title"].as_str());
            if let Some(line) = said.map(first_line).filter(|it| !it.is_empty()) {
                let _ = writeln!(out, "      {line}");
            }
        }
    }
    out
}

/// The server in a few lines.
fn heading(offer: &Offer) -> String {
    let mut out = clean(&offer.name());
    if let Some(revision) = offer.revision() {
        let _ = write!(out, ", MCP {revision}");
    }
    let tokens = count(offer.tokens(), "token");
    let _ = writeln!(out, ", about {tokens} in a model's context");
    if let Some(instructions) = offer.instructions() {
        let _ = writeln!(out, "instructions: {}", first_line(instructions));
    }
    out
}

/// One entry whole: what is said of it, its parameters, its schema, and how to call it from the command line.
pub(crate) fn entry(listing: Listing, entry: &Value, server: &[&str]) -> String {
    let mut out = format!("{}\n", signature(listing, entry));
    for word in ["title", "description"] {
        if let Some(said) = entry[word].as_str() {
            let _ = writeln!(out, "\n{}", clean(said.trim_end()));
        }
    }
    let parameters = declared(listing, entry);
    if !parameters.is_empty() {
        let _ = writeln!(out, "\nparameters");
    }
    for it in &parameters {
        let needed = if it.is_required { ", required" } else { "" };
        let _ = writeln!(out, "  {}: {}{needed}", clean(&it.name), clean(&it.kind));
        if let Some(said) = &it.description {
            let _ = writeln!(out, "      {}", clean(said).replace('\n', "\n      "));
        }
    }
    for word in ["inputSchema", "outputSchema", "annotations"] {
        if let Some(value) = entry.get(word) {
            let _ = writeln!(out, "\n{word}\n{}", clean(&format!("{value:#}")));
        }
    }
    if listing == Listing::Tools {
        let _ = writeln!(out, "\ncall it\n  {}", sample_call(entry, server));
    }
    out
}

/// A command line that calls the tool with arguments that its schema suggests.
fn sample_call(tool: &Value, server: &[&str]) -> String {
    let sample = sample_of(tool, Which::Required, &Sources::default());
    let name = tool["name"].as_str().unwrap_or_default();
    let words = [&["mcp-assert", "call"], server, &[name]].concat();
    let mut line = shell_words::join(words);
    for (name, value) in sample.arguments.as_object().into_iter().flatten() {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let _ = write!(line, " {name}={}", shell_words::quote(&value));
    }
    clean(&line)
}

/// The entry in one line: its name, its parameters, and what its annotations say.
fn signature(listing: Listing, entry: &Value) -> String {
    let name = entry[listing.key()].as_str();
    let mut line = name.unwrap_or("(no name)").to_owned();
    match listing {
        Listing::Tools | Listing::Prompts => {
            let parameters = declared(listing, entry);
            let shown = parameters.iter().map(|it| {
                let mark = if it.is_required { "" } else { "?" };
                format!("{}{mark}: {}", it.name, it.kind)
            });
            let _ = write!(line, "({})", shown.collect::<Vec<_>>().join(", "));
        }
        Listing::Resources | Listing::ResourceTemplates => {
            if let Some(kind) = entry["mimeType"].as_str() {
                let _ = write!(line, "  {kind}");
            }
        }
    }
    for word in annotated(entry) {
        let _ = write!(line, "  [{word}]");
    }
    clean(&line).replace('\n', " ")
}

/// What the annotations of a tool say, in words.
fn annotated(entry: &Value) -> Vec<&'static str> {
    let hints = [
        ("readOnlyHint", true, "read-only"),
        ("destructiveHint", true, "destructive"),
        ("destructiveHint", false, "not destructive"),
        ("idempotentHint", true, "idempotent"),
        ("openWorldHint", true, "open world"),
    ];
    let annotations = &entry["annotations"];
    let said = hints
        .into_iter()
        .filter(|(name, value, _)| annotations[name] == *value);
    said.map(|(_, _, word)| word).collect()
}

fn declared(listing: Listing, entry: &Value) -> Vec<Parameter> {
    match listing {
        Listing::Tools => entry.get("inputSchema").map(parameters::parameters),
        Listing::Prompts => Some(parameters::arguments(entry)),
        Listing::Resources | Listing::ResourceTemplates => None,
    }
    .unwrap_or_default()
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    clean(&head(line, LONGEST_LINE))
}

/// The name of a list on the command line and in JSON.
pub(crate) fn word(listing: Listing) -> &'static str {
    match listing {
        Listing::Tools | Listing::Prompts | Listing::Resources => listing.member(),
        Listing::ResourceTemplates => "templates",
    }
}
