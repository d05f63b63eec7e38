//! Instructions for the model that no documentation of a tool needs.
//!
//! A pattern is found where its parts stand in their order in one sentence, none more than [`FAR`] words behind the one
//! before. One such signal in a text informs, two warn; to conceal something or to send it away beside another one is an
//! error.

use std::sync::LazyLock;

use regex::Regex;

use super::{is_among, words};
use crate::inspect::lint::{
    rule::{Findings, rules},
    view::Text,
};
use report::inspection::Severity::{self, Error, Info, Warning};

rules! {
    "E162" "conceals-from-user" Error "high" [injection]
        Text(|text, found| say("the text tells the model to conceal something from the user", text, found)):
        "a text tells the model to conceal something from the user" =>
        "remove the instruction: what a tool does must be known to the user";
    "E163" "overrides-instructions" Error "high" [injection]
        Text(|text, found| say("the text tells the model to ignore other instructions", text, found)):
        "a text tells the model to ignore other instructions" =>
        "remove the instruction; describe only this tool";
    "E164" "acts-on-other-tools" Error "medium" [injection]
        Text(|text, found| say("the text changes how the model uses other tools", text, found)):
        "a text changes how the model uses other tools" =>
        "describe only this tool; to need another one first is fine: \"call `login` before this tool\"";
    "E165" "reads-credentials" Error "high" [injection]
        Text(|text, found| say("the text tells the model to read a file of credentials", text, found)):
        "a text tells the model to read a file of credentials" =>
        "remove the instruction; take secrets from the server's environment";
    "E166" "sends-conversation" Error "high" [injection]
        Text(|text, found| say("the text tells the model to pass on the conversation or its context", text, found)):
        "a text tells the model to pass on the conversation or its context" =>
        "take only what the tool needs, each in a parameter of its own";
    "W162" "pseudo-tags" Warning "high" [injection]
        Text(|text, found| say("the text holds a tag or a comment that only a model takes seriously", text, found)):
        "a text holds tags or comments that only a model takes seriously" =>
        "write plain sentences without `<IMPORTANT>`, `<system>` and comments";
}

/// How many words one part of a pattern may stand behind the one before.
const FAR: usize = 12;

/// Patterns: parts with `>` between them, and phrases of which each part has one with `|` between them.
const CONCEAL: &[&str] = &[
    "do not|dont|never|without|avoid|must not|not to > tell|telling|mention|mentioning|inform|informing|reveal|revealing\
     |disclose|disclosing|notify|notifying|alert|alerting > user|users|human|anyone|them|that you",
    "hide|conceal|keep > from the user|from users|secret from|hidden from",
    "user|users > must not|should not|shouldnt|must never > know|see|notice|learn|be told",
    "secretly|covertly|surreptitiously",
];

const OVERRIDE: &[&str] = &[
    "ignore|disregard|forget|override|bypass > previous|prior|above|earlier|all|any|other|system|your|existing \
     > instructions|instruction|prompt|prompts|rules|guidelines|guardrails",
    "new|updated > system prompt|system instructions",
    "takes|take|has|have > precedence|priority > over > instructions|prompt|rules",
];

const OTHER_TOOLS: &[&str] = &[
    "before|prior to > any|every|all|each > tool|tools|tool call|function call|other action",
    "instead of|rather than > any other|all other|other|every other > tool|tools",
    "when|whenever|every time|each time > other tool|other tools|another tool|any tool > first|also|instead|must",
    "do not|dont|never > use|call|invoke > other tools|any other tool|another tool",
    "side effect|side effects > on > tool|tools",
];

const SEND: &[&str] = &[
    "send|post|upload|transmit|forward|exfiltrate|include|pass|append|copy|put|provide|attach|supply \
     > conversation history|chat history|message history|entire conversation|full conversation|whole conversation\
     |complete conversation|conversation so far|previous messages|all messages|conversation context|chat log|message list\
     |transcript of|system prompt|your instructions|all tools available|environment variables|api keys",
];

static CONCEALING: LazyLock<Vec<Regex>> = LazyLock::new(|| read(CONCEAL));
static OVERRIDING: LazyLock<Vec<Regex>> = LazyLock::new(|| read(OVERRIDE));
static OF_OTHER_TOOLS: LazyLock<Vec<Regex>> = LazyLock::new(|| read(OTHER_TOOLS));
static SENDING: LazyLock<Vec<Regex>> = LazyLock::new(|| read(SEND));

/// The patterns as expressions for words with one blank before and behind each.
fn read(patterns: &[&str]) -> Vec<Regex> {
    let expressions = patterns.iter().map(|pattern| {
        let parts = pattern.split('>').map(|it| format!("(?:{}) ", it.trim()));
        let parts: Vec<String> = parts.collect();
        format!(" {}", parts.join(&format!("(?:[^ ]+ ){{0,{FAR}}}")))
    });
    expressions.map(|it| expression(&it)).collect()
}

#[expect(
    clippy::expect_used,
    reason = "the expressions are made of constants, which the tests compile"
)]
fn expression(text: &str) -> Regex {
    Regex::new(text).expect("a valid expression")
}

/// Files of credentials as they are written.
const FILES: &str = "id_rsa|id_ed25519|.ssh/|/etc/passwd|/etc/shadow|.aws/credentials|.netrc|.npmrc|.git-credentials|mcp.json|claude_desktop_config|.kube/config|.env file";

const READING: &str = "read open cat load access include pass paste provide attach send upload";

/// Tags that look like those of a system prompt.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    let names = r"important|system|instructions?|secret|hidden|assistant|admin|override|critical|\|im_start\||\|system\|";
    expression(&format!(r"(?s)\[INST\]|(?i:</*(?:{names})(?:>| .*>))"))
});

/// The sentence in which one of the patterns is found.
fn pattern(text: &Text<'_>, patterns: &[Regex]) -> Option<String> {
    let found = text.sentences().iter().find(|sentence| {
        let words = format!(" {} ", sentence.words.join(" "));
        patterns.iter().any(|it| stands(it, &words))
    });
    found.map(|it| it.text.clone())
}

/// Whether a pattern stands in words, and no negation close before it.
fn stands(pattern: &Regex, words: &str) -> bool {
    let mut from = 0;
    while let Some(found) = pattern.find_at(words, from) {
        if !is_negated(words[..found.start()].split(' ')) {
            return true;
        }
        // It begins with a blank.
        from = found.start() + 1;
    }
    false
}

/// Words that turn an instruction into its opposite.
const NEGATIONS: &str = "not dont never without avoid no cannot shouldnt";

/// Whether a negation stands at the end of words; "do not include the conversation history" asks for nothing.
fn is_negated<'a>(words: impl DoubleEndedIterator<Item = &'a str>) -> bool {
    words.rev().take(3).any(|it| is_among(it, NEGATIONS))
}

/// The sentence that tells to read a file of credentials.
fn credential_file(text: &Text<'_>) -> Option<String> {
    let found = text.sentences().iter().find(|sentence| {
        let lower = sentence.text.to_lowercase();
        let Some(at) = FILES.split('|').filter_map(|it| lower.find(it)).min() else {
            return false;
        };
        let before = words(&lower[..at]);
        let near = before.len().saturating_sub(FAR);
        (near..before.len()).any(|at| {
            let is_asked = is_among(&before[at], READING);
            is_asked && !is_negated(before[..at].iter().map(String::as_str))
        })
    });
    found.map(|it| it.text.clone())
}

/// A tag or a comment that is not for people.
fn pseudo_tag(text: &Text<'_>) -> Option<String> {
    let mut comments = text.content.match_indices("<!--").map(|(at, _)| at);
    // One without words only shows what a comment is.
    let comment = comments.find(|at| {
        let inner = text.content[*at..].split("-->").next().unwrap_or_default();
        inner.contains(char::is_alphanumeric)
    });
    let at = comment.or_else(|| Some(TAG.find(text.content)?.start()))?;
    Some(text.content[at..].chars().take(60).collect())
}

/// The code of a rule, whether what it finds asks for something that the user would not want done, and what shows that in a
/// text.
type Signal = (&'static str, bool, fn(&Text<'_>) -> Option<String>);

const SIGNALS: &[Signal] = &[
    ("E162", false, |text| pattern(text, &CONCEALING)),
    ("E163", true, |text| pattern(text, &OVERRIDING)),
    ("E164", true, |text| pattern(text, &OF_OTHER_TOOLS)),
    ("E165", true, credential_file),
    ("E166", true, |text| pattern(text, &SENDING)),
    ("W162", false, pseudo_tag),
];

/// How bad a signal is beside the others of its text.
fn severity(text: &Text<'_>) -> Severity {
    let shown = |(code, is_act, sentence): &Signal| sentence(text).map(|_| (*code, *is_act));
    let signals: Vec<(&str, bool)> = SIGNALS.iter().filter_map(shown).collect();
    let has = |code: &str| signals.iter().any(|it| it.0 == code);
    let acts = signals.iter().filter(|it| it.1).count();
    match signals.len() {
        _ if (has("E162") && acts > 0) || (has("E166") && acts > 1) => Error,
        0 | 1 => Info,
        _ => Warning,
    }
}

fn say(message: &str, text: &Text<'_>, found: &mut Findings<'_>) {
    let signal = SIGNALS.iter().find(|it| it.0 == found.code());
    let signal = signal.filter(|_| text.is_prose);
    if let Some(sentence) = signal.and_then(|(_, _, sentence)| sentence(text)) {
        let finding = found.say(&text.pointer, message);
        finding.evidence = Some(sentence);
        finding.severity = severity(text);
    }
}
