//! Calls of the tools that may be called, and what their answers show.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Options, rules, schema::escaped};
use crate::inspect::{
    catalog::Offer,
    effect::{Effect, Effects, effect, reason},
    parameters,
    sample::{Sources, Which, sample_of},
    server::{Open, getting, reading},
};
use mcp::{
    json::json_schema::compile,
    observation::{
        Observation,
        answer::{Answer, Body, Reply},
        catalog::Listing,
    },
};
use report::inspection::{Finding, Kind, NotCalled};

/// What is called, and how the answers are judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<'a> {
    /// What arguments are made of.
    pub(crate) sources: &'a Sources,
    /// The most that a call may do.
    pub(crate) allowed: Effect,
    /// The largest answer, in bytes.
    pub(crate) most_bytes: usize,
    /// Whether tools that only read are called three times.
    pub(crate) repeats: bool,
}

/// What came of the calls.
#[derive(Debug, Default)]
pub(crate) struct Probed {
    /// What was found.
    pub(crate) findings: Vec<Finding>,
    /// The tools that were not called.
    pub(crate) not_called: Vec<NotCalled>,
    /// Whether a call was not answered at all, so that not everything was looked at.
    pub(crate) is_lost: bool,
}

/// Calls, and what came of them so far.
struct Prober<'a> {
    open: &'a mut Open,
    limits: Limits<'a>,
    options: &'a Options,
    probed: Probed,
}

/// Lists once more, reads what is listed, and calls each tool that may be called with arguments that its schema suggests.
pub(crate) async fn probe(
    open: &mut Open,
    offer: &Offer,
    limits: Limits<'_>,
    options: &Options,
) -> Probed {
    let probed = Probed::default();
    let mut calls = Prober {
        open,
        limits,
        options,
        probed,
    };
    let again = calls.open.offer().await;
    if again.missing.is_none() {
        calls.listed_twice(offer, &again);
    }
    calls.read(offer).await;
    for tool in offer.entries(Listing::Tools) {
        calls.call(tool).await;
    }
    let mut probed = calls.probed;
    options.settle(&mut probed.findings);
    probed
}

impl Prober<'_> {
    /// Writes a finding of a rule, if the rule runs.
    fn say(&mut self, code: &str, (kind, name): (Kind, &str), message: impl Into<String>) {
        if let Some(rule) = rules::of(code).filter(|it| self.options.wants(it)) {
            self.probed.findings.push(Finding {
                kind,
                name: name.to_owned(),
                message: message.into(),
                ..rule.finding()
            });
        }
    }

    /// Says which tools the second list has otherwise.
    fn listed_twice(&mut self, first: &Offer, second: &Offer) {
        let [one, other] = [first, second].map(|it| it.entries(Listing::Tools));
        let new = other.iter().filter(|it| !one.contains(it));
        let gone = one.iter().filter(|it| !other.contains(it));
        let names = new.chain(gone).map(|it| format!("`{}`", text(it, "name")));
        let names: BTreeSet<String> = names.collect();
        if !names.is_empty() {
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let message = format!("the second list differs from the first in {names}");
            self.say("E170", (Kind::Server, ""), message);
        }
    }

    /// Reads the resources, and gets the prompts that need no argument.
    async fn read(&mut self, offer: &Offer) {
        let resources = offer.names(Listing::Resources).into_iter();
        let resources = resources.map(|uri| (Kind::Resource, uri, reading(uri)));
        let needs = |it: &&Value| parameters::arguments(it).iter().any(|it| it.is_required);
        let prompts = offer.entries(Listing::Prompts).iter();
        let prompts = prompts.filter(|it| !needs(it)).map(|it| text(it, "name"));
        let prompts = prompts.map(|name| (Kind::Prompt, name, getting(name, json!({}))));
        for (kind, name, subject) in resources.chain(prompts) {
            let seen = self.open.perform(&subject).await;
            if reply(&seen).is_none() {
                let message = format!("it is listed, and {}", unanswered(&seen));
                self.say("E152", (kind, name), message);
            }
        }
    }

    /// Calls a tool, if it may be called.
    async fn call(&mut self, tool: &Value) {
        let name = text(tool, "name");
        let skipped = |reason, option| NotCalled {
            kind: Kind::Tool,
            name: name.to_owned(),
            reason,
            option,
        };
        let told = &self.options.effects;
        let effect = effect(tool, told);
        if effect > self.limits.allowed {
            let option = format!("--allow {}", effect.word());
            let it = skipped(reason(tool, told), Some(option));
            return self.probed.not_called.push(it);
        }
        let arguments = sample_of(tool, Which::Required, self.limits.sources).arguments;
        let seen = self.open.call(name, arguments.clone()).await;
        self.probed.is_lost |= seen.answer.is_none();
        let Some(first) = reply(&seen) else {
            let it = skipped(unanswered(&seen), None);
            return self.probed.not_called.push(it);
        };
        self.judge(tool, first);
        if !self.limits.repeats || !is_repeatable(tool, told) {
            return;
        }
        for _ in 0..2 {
            let again = self.open.call(name, arguments.clone()).await;
            let places = reply(&again).map(|other| differences(&said(first), &said(other)));
            if let Some(places) = places.filter(|it| !it.is_empty()) {
                let places = places.join(", ");
                let message = format!("equal calls have different answers at {places}");
                return self.say("W107", (Kind::Tool, name), message);
            }
        }
    }

    /// Judges the answer to a call.
    fn judge(&mut self, tool: &Value, reply: &Reply) {
        let (size, most) = (reply.text.len(), self.limits.most_bytes);
        let mut say = |code, message: &str| {
            self.say(code, (Kind::Tool, text(tool, "name")), message);
        };
        if size > most {
            let (size, most) = (size / 1024, most / 1024);
            let message = format!("the answer has {size} KiB of text, more than {most}");
            say("E301", &message);
        }
        let schema = tool.get("outputSchema");
        let Some(structured) = reply.structured() else {
            if schema.is_some() && !reply.is_error {
                let lacks = "and the answer has no `structuredContent`";
                say(
                    "E136",
                    &format!("the tool declares `outputSchema`, {lacks}"),
                );
            }
            return;
        };
        match schema.map(compile) {
            None => {
                let what = "the answer has `structuredContent`, which is not declared";
                say("W132", what);
            }
            Some(Ok(schema)) if !reply.is_error => {
                if let Some(error) = schema.validator().iter_errors(structured).next() {
                    let place = error.instance_path();
                    let what = format!("the answer violates `outputSchema` at `{place}`: {error}");
                    say("E136", &what);
                }
            }
            Some(_) => {}
        }
        let plain: Option<Value> = serde_json::from_str(&reply.text).ok();
        if plain.is_some_and(|it| it != *structured && (it.is_object() || it.is_array())) {
            say(
                "W133",
                "the text is JSON that differs from `structuredContent`",
            );
        }
    }
}

fn text<'a>(of: &'a Value, member: &str) -> &'a str {
    of.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn reply(seen: &Observation) -> Option<&Reply> {
    seen.answer.as_ref().and_then(Answer::reply)
}

fn unanswered(seen: &Observation) -> String {
    match seen.answer.as_ref().map(|it| &it.body) {
        Some(Body::ProtocolError(error)) => format!("the server refused: {}", error.message),
        Some(Body::Result(_)) | None => {
            let why = seen.disruption.as_ref();
            let why = why.map_or("the server did not say why", |it| &it.message);
            format!("there was no answer: {why}")
        }
    }
}

/// Whether equal calls may be made: the user says that the tool only reads; where he says nothing, the tool declares that,
/// or that a second call changes nothing more.
fn is_repeatable(tool: &Value, told: &Effects) -> bool {
    if let Some(effect) = told.of(text(tool, "name")) {
        return effect == Effect::Read;
    }
    let hints = tool.get("annotations");
    let hint = |name: &str| hints.and_then(|it| it.get(name)?.as_bool()) == Some(true);
    hint("readOnlyHint") || hint("idempotentHint")
}

/// What an answer says.
fn said(reply: &Reply) -> Value {
    let content = || reply.content.clone().into();
    reply.structured().cloned().unwrap_or_else(content)
}

/// The pointers of what differs, at most five.
fn differences(one: &Value, other: &Value) -> Vec<String> {
    let mut places = Vec::new();
    let mut waiting = vec![(one, other, String::new())];
    while let Some((one, other, at)) = waiting.pop().filter(|_| places.len() < 5) {
        match (one, other) {
            (one, other) if one == other => {}
            (Value::Object(left), Value::Object(right)) if left.keys().eq(right.keys()) => {
                for ((name, a), b) in left.iter().zip(right.values()).rev() {
                    waiting.push((a, b, format!("{at}/{}", escaped(name))));
                }
            }
            (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
                let pairs = left.iter().zip(right).enumerate().rev();
                waiting.extend(pairs.map(|(index, (a, b))| (a, b, format!("{at}/{index}"))));
            }
            _ if at.is_empty() => places.push("the root".to_owned()),
            _ => places.push(format!("`{at}`")),
        }
    }
    places
}
