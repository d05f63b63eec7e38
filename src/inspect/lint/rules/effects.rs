//! What a tool may change, and whether it says so.

use serde_json::Value;

use super::{is_among, words};
use crate::inspect::{
    effect::{Effect, writing_verb},
    lint::{
        rule::{Findings, rules},
        view::Tool,
    },
};
use report::inspection::Severity::Info;

rules! {
    "W108" "hidden-side-effect" Warning "medium" [go] Tool(unsaid):
        "the name says that something is changed, and nothing else does" =>
        "say in the description what is changed, or declare `readOnlyHint: false`";
    "W120" "no-annotations" Warning "high" [] Tool(none):
        "the tool has no annotations" =>
        "declare `readOnlyHint: true`, or `destructiveHint`: without them clients assume that a call destroys something";
    "E120" "read-only-hint-against-name" Error "high" [security] Tool(contradiction):
        "the tool declares that it only reads, and its name says that it changes something" =>
        "declare `readOnlyHint: false`, or rename the tool: clients call read-only tools without asking";
    "W121" "meaningless-hint" Warning "very-high" [] Tool(meaningless):
        "a hint means nothing beside `readOnlyHint: true`" =>
        "leave `destructiveHint` and `idempotentHint` out of tools that only read";
    "E121" "annotation-type" Error "very-high" [] Tool(wrong_type):
        "an annotation has the wrong type" =>
        "write hints as true or false and titles as text: the official clients refuse the whole list of tools";
    "W122" "no-title" Info "high" [] Tool(untitled):
        "the tool has no title" =>
        "add a `title` for people; the name is for programs";
}

/// The hints.
const HINTS: [&str; 4] = [
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

/// Beginnings of words that say that something is changed.
const CHANGES: &str = "creat delet remov updat modif writ insert drop destroy set put post send sent publish push add patch \
    replac chang edit sav stor mov renam copi overwrit append clear reset run execut start stop clos cancel \
    merg commit appl deploy install submit upload archiv make";

fn unsaid(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let sets = tool.words.first().filter(|it| *it == "set").map(|_| "set");
    let Some(verb) = writing_verb(&tool.words).or(sets) else {
        return;
    };
    let said = words(tool.description);
    let is_said = said.iter().any(|word| {
        let is = |it: &str| word.starts_with(it);
        is(verb) || CHANGES.split(' ').any(is)
    });
    let is_declared = tool.hint("readOnlyHint").is_some() || tool.hint("destructiveHint").is_some();
    if !is_said && !is_declared && tool.told != Some(Effect::Read) {
        let message = format!(
            "the name says `{verb}`, and neither the description nor an annotation says that something is changed"
        );
        found.say("/description", message);
    }
}

fn none(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let is_hinted = HINTS.into_iter().any(|it| tool.hint(it).is_some());
    if !is_hinted {
        let message = "the tool declares neither that it only reads nor what it changes";
        found.say("/annotations", message);
    }
}

/// Verbs that also begin what only reads: `start_search`, `run_query`.
const BEGINS: &str = "run execute start stop apply";

fn contradiction(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let verb = writing_verb(&tool.words).filter(|it| !is_among(it, BEGINS));
    let word = match tool.told {
        Some(Effect::Read) => None,
        Some(told @ (Effect::Write | Effect::Destructive)) => Some(("settings say", told.word())),
        Some(Effect::Likely) | None => verb.map(|verb| ("name says", verb)),
    };
    if let (Some(true), Some((who, word))) = (tool.hint("readOnlyHint"), word) {
        let message = format!("`readOnlyHint` is true, and the {who} `{word}`");
        found.say("/annotations/readOnlyHint", message);
    }
}

fn meaningless(tool: &Tool<'_>, found: &mut Findings<'_>) {
    if tool.hint("readOnlyHint") != Some(true) {
        return;
    }
    for hint in ["destructiveHint", "idempotentHint"] {
        if let Some(value) = tool.hint(hint) {
            let message = format!("`{hint}: {value}` means nothing beside `readOnlyHint: true`");
            let finding = found.say(format!("/annotations/{hint}"), message);
            // What only repeats that nothing is changed does no harm.
            if hint == "idempotentHint" || !value {
                finding.severity = Info;
            }
        }
    }
}

fn wrong_type(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let Some(annotations) = tool.json.get("annotations") else {
        return;
    };
    let Value::Object(members) = annotations else {
        found.say("/annotations", "`annotations` is not an object");
        return;
    };
    for (name, value) in members {
        let wanted = match name.as_str() {
            "title" if !value.is_string() => "text",
            name if HINTS.contains(&name) && !value.is_boolean() => "true or false",
            _ => continue,
        };
        let message = format!("`{name}` is {value}, which is not {wanted}");
        found.say(format!("/annotations/{name}"), message);
    }
}

fn untitled(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let has = |of: Option<&Value>| of.and_then(|it| it.get("title")).is_some();
    if !has(Some(tool.json)) && !has(tool.json.get("annotations")) {
        found.say("", "the tool has no title");
    }
}
