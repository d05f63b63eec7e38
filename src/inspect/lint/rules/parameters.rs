//! Whether a model can fill in the parameters of a tool.

use super::{is_among, words};
use crate::inspect::lint::{
    rule::{Findings, rules},
    view::{Parameter, Tool},
};
use text::credential::SecretKeys;

rules! {
    "E102" "missing-parameter-type" Error "high" [go] Tool(untyped):
        "a parameter has no type" =>
        "state `type`, `enum` or `const`, or the branches that have one";
    "E103" "required-parameter-without-description" Error "high" [go] Tool(required):
        "a required parameter has no description" =>
        "say what the parameter is, in which unit or format";
    "W102" "optional-parameter-without-description" Warning "high" [go] Tool(optional):
        "an optional parameter has no description" =>
        "say what the parameter changes, and what holds without it";
    "W103" "text-without-constraint" Warning "low" [go] Tool(unconstrained):
        "a required text has neither a constraint nor an example" =>
        "add `enum`, `pattern`, `format`, `examples` or a `default`";
    "W104" "generic-parameter-name" Warning "medium" [go] Tool(generic):
        "a parameter has a generic name and no description" =>
        "describe the parameter, or name it after what it holds";
    "W109" "missing-example" Warning "low" [go] Tool(no_example):
        "a parameter whose name suggests a format has no example" =>
        "add `examples` with one real value";
    "E112" "secret-parameter" Error "medium" [go security] Tool(secret):
        "a parameter asks the model for a secret" =>
        "take secrets from the server's environment or from an authorization; a parameter stays in the conversation";
}

/// Names that say nothing without a description.
const GENERIC: &str = "data value input output payload info content body params args options config settings result object item \
    obj val str num";

/// Words of names that suggest a format.
const FORMATTED: &str = "query search email url uri phone address username name title message prompt question filter sort locale \
    timezone language currency country region date time datetime timestamp";

/// Words before `token` that make it no secret.
const HARMLESS_TOKENS: &str = "page next previous cursor continuation continue sync progress start end stop max min resume pagination \
    idempotency cancellation change link";

/// Writes about each parameter that is wrong what it is and what it lacks.
fn tell(
    (tool, found): (&Tool<'_>, &mut Findings<'_>),
    is_wrong: impl Fn(&Parameter<'_>) -> bool,
    (what, lacks): (&str, &str),
) {
    for it in tool.parameters.iter().filter(|it| is_wrong(it)) {
        found.say(&it.pointer, format!("the {what} `{}` {lacks}", it.name));
    }
}

fn untyped(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let is_untyped = |it: &Parameter<'_>| !it.has(&["type", "enum", "const"]);
    tell((tool, found), is_untyped, ("parameter", "has no type"));
}

fn required(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let is_bare = |it: &Parameter<'_>| it.is_required && !it.is_described();
    let message = ("required parameter", "has no description");
    tell((tool, found), is_bare, message);
}

fn optional(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let is_bare = |it: &Parameter<'_>| !it.is_required && !it.is_described();
    let message = ("optional parameter", "has no description");
    tell((tool, found), is_bare, message);
}

/// Keywords that narrow a text down or show one.
const SHOWN: [&str; 4] = ["enum", "const", "examples", "default"];

fn unconstrained(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let is_free = |it: &Parameter<'_>| {
        let narrowed = it.has(&SHOWN) || it.has(&["pattern", "format", "minLength", "maxLength"]);
        it.is_required && it.is("string") && !narrowed
    };
    let message = ("required text", "has neither a constraint nor an example");
    tell((tool, found), is_free, message);
}

fn generic(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let is_generic = |it: &Parameter<'_>| is_among(&it.name.to_lowercase(), GENERIC);
    let is_bare = |it: &Parameter<'_>| is_generic(it) && !it.is_described();
    let message = ("parameter", "has a generic name and no description");
    tell((tool, found), is_bare, message);
}

fn no_example(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let is_formatted = |it: &Parameter<'_>| {
        let by_name = it.words.iter().any(|word| is_among(word, FORMATTED));
        by_name && it.is("string") && !it.has(&SHOWN)
    };
    tell((tool, found), is_formatted, ("parameter", "has no example"));
}

fn secret(tool: &Tool<'_>, found: &mut Findings<'_>) {
    // `token` alone may be one that the description speaks of.
    let said = words(tool.description);
    let mut pairs = said.windows(2);
    let is_harmless =
        pairs.any(|it| is_among(&it[0], HARMLESS_TOKENS) && it[1].starts_with("token"));
    let is_meant = |it: &Parameter<'_>| is_secret(it) && !(is_harmless && it.words == ["token"]);
    tell(
        (tool, found),
        is_meant,
        ("parameter", "asks the model for a secret"),
    );
}

/// Whether the end of the name says that it is a secret: `access_token` is one, `jwt_claim_id` and `max_tokens` are none.
fn is_secret(parameter: &Parameter<'_>) -> bool {
    let is_kept = parameter.parts.iter().any(|part| {
        let is = |keyword: &str, value: &str| part.get(keyword).is_some_and(|it| it == value);
        let is_write_only = part.get("writeOnly") == Some(&true.into());
        is_write_only || is("format", "password")
    });
    let can_be_text = parameter.is("string") || !parameter.has(&["type"]);
    let (last, before) = match &parameter.words[..] {
        [] => return false,
        [last] => (last, None),
        [.., before, last] => (last, Some(before)),
    };
    let is_harmless = before.is_some_and(|it| is_among(it, HARMLESS_TOKENS));
    let keys = SecretKeys::default();
    // Two words mean a secret together (`api_key`); a word about a secret (`secret_type`) does not.
    let is_pair =
        |it: &String| keys.holds(&format!("{it}_{last}")) && !keys.holds(it) && last != "id";
    let is_key = last == "key" && before.is_some_and(|it| keys.holds(it));
    let holds = keys.holds(last) || is_key || before.is_some_and(is_pair);
    holds && can_be_text && !is_kept && !(is_harmless && last == "token")
}
