//! Prompts, resources and resource templates.

use std::collections::HashMap;

use serde_json::Value;

use crate::inspect::lint::{
    rule::{Findings, rules},
    view::{Entry, View},
};
use report::inspection::Kind;

rules! {
    "W150" "prompt-without-description" Warning "very-high" [] Entry(&[Kind::Prompt], prompt):
        "a prompt has no description" =>
        "say what the prompt is for; people choose it by that";
    "W151" "argument-without-description" Warning "very-high" [] Entry(&[Kind::Prompt], arguments):
        "an argument of a prompt has no description" =>
        "say what to fill in";
    "E150" "duplicate-entry" Error "very-high" [] Server(duplicates):
        "two prompts, resources or templates have the same name" =>
        "rename one: clients keep only one of them";
    "E151" "invalid-uri" Error "very-high" [] Entry(&[Kind::Resource, Kind::Template], uri):
        "a resource has no valid URI, or a template no valid URI template" =>
        "write a scheme and a path, such as `file:///notes/1`, and close each `{`";
    "W152" "no-mime-type" Warning "high" [] Entry(&[Kind::Resource], mime_type):
        "a resource states no MIME type" =>
        "state `mimeType`, so that a client knows how to show the resource";
}

fn is_described(entry: &Value) -> bool {
    let said = entry.get("description").and_then(Value::as_str);
    said.is_some_and(|it| !it.trim().is_empty())
}

fn prompt(entry: &Value, found: &mut Findings<'_>) {
    if !is_described(entry) {
        found.say("/description", "the prompt has no description");
    }
}

fn arguments(entry: &Value, found: &mut Findings<'_>) {
    let arguments = entry.get("arguments").and_then(Value::as_array);
    for (at, argument) in arguments.into_iter().flatten().enumerate() {
        if !is_described(argument) {
            let name = argument.get("name").and_then(Value::as_str);
            let name = name.unwrap_or_default();
            let message = format!("the argument `{name}` has no description");
            found.say(format!("/arguments/{at}"), message);
        }
    }
}

/// The second entry of each name, of the kinds that are meant.
fn repeated<'a>(
    view: &'a View<'_>,
    is_meant: fn(Kind) -> bool,
) -> impl Iterator<Item = &'a Entry<'a>> {
    let mut times: HashMap<(Kind, &str), usize> = HashMap::new();
    view.entries.iter().filter(move |it| {
        let times = times.entry((it.kind, it.name)).or_default();
        *times += 1;
        *times == 2 && is_meant(it.kind)
    })
}

pub(super) fn duplicate_tools(view: &View<'_>, found: &mut Findings<'_>) {
    for it in repeated(view, |kind| kind == Kind::Tool) {
        let message = format!("the name `{}` is listed more than once", it.name);
        found.about(it.kind, it.name).say("/name", message);
    }
}

fn duplicates(view: &View<'_>, found: &mut Findings<'_>) {
    for it in repeated(view, |kind| kind != Kind::Tool) {
        let message = format!("`{}` is listed more than once", it.name);
        found.about(it.kind, it.name).say("", message);
    }
}

fn uri(entry: &Value, found: &mut Findings<'_>) {
    let text = |member: &str| entry.get(member).and_then(Value::as_str);
    let (pointer, why) = match (text("uri"), text("uriTemplate")) {
        (Some(uri), _) => ("/uri", wrong_uri(uri, "")),
        (None, Some(template)) => ("/uriTemplate", wrong_template(template)),
        (None, None) => ("/uri", Some("it is missing")),
    };
    if let Some(why) = why {
        found.say(pointer, format!("the URI is not valid: {why}"));
    }
}

/// What is wrong with a URI, in which also these signs may stand.
fn wrong_uri(uri: &str, signs: &str) -> Option<&'static str> {
    let is_scheme =
        |it: char| it.is_ascii_alphanumeric() || "+-.".contains(it) || signs.contains(it);
    let begins = |it: char| it.is_ascii_alphabetic() || signs.contains(it);
    let parts = uri.split_once(':');
    let Some((_, rest)) =
        parts.filter(|it| it.0.starts_with(begins) && it.0.chars().all(is_scheme))
    else {
        return Some("it has no scheme");
    };
    if rest.is_empty() {
        return Some("nothing stands behind the scheme");
    }
    let is_wrong = |it: char| {
        let is_outside = it.is_whitespace() || it.is_control() || "<>\"{}|\\^`".contains(it);
        is_outside && !signs.contains(it)
    };
    rest.contains(is_wrong)
        .then_some("it holds a sign that must be encoded")
}

/// What is wrong with a URI template.
fn wrong_template(template: &str) -> Option<&'static str> {
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let inner = rest[at..]
            .strip_prefix('{')
            .and_then(|it| it.split_once('}'));
        let Some((name, behind)) = inner else {
            return Some("a brace stands alone");
        };
        let name = name.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
        let is_allowed = |it: char| it.is_ascii_alphanumeric() || "_.,:*%-".contains(it);
        if name.is_empty() || !name.chars().all(is_allowed) {
            return Some("an expression names no variable");
        }
        rest = behind;
    }
    // A template may begin with an expression, in the place of a scheme.
    let begins = template.starts_with('{');
    wrong_uri(template, "{}?&#*,/;").filter(|_| !begins)
}

fn mime_type(entry: &Value, found: &mut Findings<'_>) {
    if entry.get("mimeType").and_then(Value::as_str).is_none() {
        found.say("/mimeType", "the resource states no MIME type");
    }
}
