//! What a call of a tool may change, and which tools are called although nobody asked for that call.

use serde_json::Value;

use super::parameters;
pub(crate) use suite::settings::{Effect, Effects};

/// First words of names that read.
const READS: [&str; 21] = [
    "check", "count", "describe", "echo", "explain", "fetch", "find", "get", "inspect", "list",
    "lookup", "ping", "preview", "query", "read", "resolve", "search", "show", "status",
    "validate", "view",
];

/// Words of names that change something.
const WRITES: [&str; 45] = [
    "add", "append", "apply", "archive", "cancel", "clear", "close", "commit", "copy", "create",
    "delete", "deploy", "destroy", "disable", "drop", "edit", "enable", "execute", "insert",
    "install", "kill", "merge", "modify", "move", "patch", "post", "publish", "purge", "push",
    "put", "remove", "rename", "replace", "reset", "restart", "run", "save", "send", "start",
    "stop", "submit", "update", "upload", "wipe", "write",
];

/// What a call of this tool may do: as the user says, else by its annotations and its name. Annotations are the claims of an untrusted party;
/// where they are missing, MCP says destructive.
pub(crate) fn effect(tool: &Value, told: &Effects) -> Effect {
    let name = parameters::text(tool, "name").unwrap_or_default();
    if let Some(effect) = told.of(&name) {
        return effect;
    }
    let words = words(&name);
    let writes = words.iter().any(|word| WRITES.contains(&&**word));
    let hint = |name: &str| tool["annotations"][name].as_bool();
    let reads = words.first().is_some_and(|word| READS.contains(&&**word));
    match (hint("readOnlyHint"), hint("destructiveHint")) {
        (Some(true), _) if !writes => Effect::Read,
        (Some(false) | None, Some(false)) => Effect::Write,
        (None, None) if reads && !writes => Effect::Likely,
        (Some(_) | None, Some(_) | None) => Effect::Destructive,
    }
}

/// The verb of a name that changes something: the first verb decides, and the first behind each `and`, because a noun may
/// look like one (`get_commit`).
pub(crate) fn writing_verb(words: &[String]) -> Option<&'static str> {
    let mut parts = words.split(|word| ["and", "or", "then"].contains(&&**word));
    parts.find_map(|part| {
        let verbs = READS.iter().chain(&WRITES);
        let is_verb = |word: &&String| verbs.clone().any(|verb| verb == *word);
        let verb = part.iter().find(is_verb)?;
        WRITES.iter().find(|it| *it == verb).copied()
    })
}

/// The words of a name in small letters, divided at `_`, `-`, `.`, blanks and capital letters.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        let divides = !character.is_alphanumeric();
        if divides || (character.is_uppercase() && was_small) {
            words.push(String::new());
        }
        if let (false, Some(word)) = (divides, words.last_mut()) {
            word.extend(character.to_lowercase());
        }
        was_small = character.is_lowercase() || character.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Why a call of this tool is not made.
pub(crate) fn reason(tool: &Value, told: &Effects) -> String {
    let name = parameters::text(tool, "name").unwrap_or_default();
    if let Some(effect) = told.of(&name) {
        return format!("the settings say `{}`", effect.word());
    }
    let why = match effect(tool, told) {
        Effect::Read => "it is declared to only read",
        Effect::Likely => "nothing is declared, and its name says that it reads",
        Effect::Write => "it is declared to change something",
        Effect::Destructive => "nothing declares that it is not destructive",
    };
    why.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Effect, Effects, effect, words};

    #[test]
    fn names_are_divided_into_words() {
        for (name, wanted) in [
            ("get_user-name.v2", &["get", "user", "name", "v2"][..]),
            ("getUserName", &["get", "user", "name"]),
            ("HTTPGet", &["httpget"]),
            ("__", &[]),
        ] {
            assert_eq!(words(name), wanted, "{name}");
        }
    }

    #[test]
    fn the_first_verb_decides() {
        for (name, wanted) in [
            ("delete_all", Some("delete")),
            ("git_commit", Some("commit")),
            ("get_commit", None),
            ("get_and_delete", Some("delete")),
            ("settings", None),
        ] {
            assert_eq!(super::writing_verb(&words(name)), wanted, "{name}");
        }
    }

    #[test]
    fn an_effect_is_what_is_declared_unless_the_name_says_more() {
        let tool = |name: &str, annotations: Value| {
            let tool = json!({"name": name, "annotations": annotations});
            effect(&tool, &Effects::default())
        };
        let none = Value::Null;
        let read = json!({"readOnlyHint": true});
        for (found, wanted) in [
            (tool("get_settings", read.clone()), Effect::Read),
            (tool("anything", read.clone()), Effect::Read),
            (tool("delete_all", read), Effect::Destructive),
            (tool("get_settings", none.clone()), Effect::Likely),
            (tool("settings", none.clone()), Effect::Destructive),
            (tool("get_and_delete", none.clone()), Effect::Destructive),
            (
                tool("save", json!({"destructiveHint": false})),
                Effect::Write,
            ),
            (
                tool("get", json!({"destructiveHint": true})),
                Effect::Destructive,
            ),
            (
                tool("get", json!({"readOnlyHint": false})),
                Effect::Destructive,
            ),
        ] {
            assert_eq!(found, wanted);
        }
    }
}
