//! Instructions for the model that no documentation of a tool needs.
//!
//! A pattern is found where its parts stand in their order in one sentence, none more than [`FAR`] words behind the one
//! before. One such signal in a text informs, two warn; to conceal something or to send it away beside another one is an
//! error.

use std::{collections::HashMap, sync::LazyLock};

use super::{is_among, words};
use crate::inspect::lint::{
    rule::{Findings, rules},
    view::Text,
};
use report::inspection::Severity::{self, Error, Info, Warning};

rules! {
    "E162" "conceals-from-user" Error "high" [injection] Text(|text, found| say(Signal::Conceal, text, found)):
        "a text tells the model to conceal something from the user" =>
        "remove the instruction: what a tool does must be known to the user";
    "E163" "overrides-instructions" Error "high" [injection] Text(|text, found| say(Signal::Override, text, found)):
        "a text tells the model to ignore other instructions" =>
        "remove the instruction; describe only this tool";
    "E164" "acts-on-other-tools" Error "medium" [injection] Text(|text, found| say(Signal::OtherTools, text, found)):
        "a text changes how the model uses other tools" =>
        "describe only this tool; to need another one first is fine: \"call `login` before this tool\"";
    "E165" "reads-credentials" Error "high" [injection] Text(|text, found| say(Signal::Credentials, text, found)):
        "a text tells the model to read a file of credentials" =>
        "remove the instruction; take secrets from the server's environment";
    "E166" "sends-conversation" Error "high" [injection] Text(|text, found| say(Signal::Send, text, found)):
        "a text tells the model to pass on the conversation or its context" =>
        "take only what the tool needs, each in a parameter of its own";
    "W162" "pseudo-tags" Warning "high" [injection] Text(|text, found| say(Signal::Tags, text, found)):
        "a text holds tags or comments that only a model takes seriously" =>
        "write plain sentences without `<IMPORTANT>`, `<system>` and comments";
}

/// How many words one part of a pattern may stand behind the one before.
const FAR: usize = 12;

/// Patterns: parts with `>` between them, and phrases of which each part has one with `|` between them.
const CONCEAL: [&str; 4] = [
    "do not|dont|never|without|avoid|must not|not to > tell|telling|mention|mentioning|inform|informing|reveal|revealing\
     |disclose|disclosing|notify|notifying|alert|alerting > user|users|human|anyone|them|that you",
    "hide|conceal|keep > from the user|from users|secret from|hidden from",
    "user|users > must not|should not|shouldnt|must never > know|see|notice|learn|be told",
    "secretly|covertly|surreptitiously",
];

const OVERRIDE: [&str; 3] = [
    "ignore|disregard|forget|override|bypass > previous|prior|above|earlier|all|any|other|system|your|existing \
     > instructions|instruction|prompt|prompts|rules|guidelines|guardrails",
    "new|updated > system prompt|system instructions",
    "takes|take|has|have > precedence|priority > over > instructions|prompt|rules",
];

const OTHER_TOOLS: [&str; 5] = [
    "before|prior to > any|every|all|each > tool|tools|tool call|function call|other action",
    "instead of|rather than > any other|all other|other|every other > tool|tools",
    "when|whenever|every time|each time > other tool|other tools|another tool|any tool > first|also|instead|must",
    "do not|dont|never > use|call|invoke > other tools|any other tool|another tool",
    "side effect|side effects > on > tool|tools",
];

const SEND: [&str; 1] = [
    "send|post|upload|transmit|forward|exfiltrate|include|pass|append|copy|put|provide|attach|supply \
     > conversation history|chat history|message history|entire conversation|full conversation|whole conversation\
     |complete conversation|conversation so far|previous messages|all messages|conversation context|chat log|message list\
     |transcript of|system prompt|your instructions|all tools available|environment variables|api keys",
];

/// Parts of which each has phrases, and these have words.
type Pattern = Vec<Vec<Vec<&'static str>>>;

/// The patterns of a signal.
struct Patterns {
    /// Each with a bit for each of its parts.
    all: Vec<(Pattern, u32)>,
    /// The parts that a word begins. Most sentences begin none, and are not looked at more closely.
    begun: HashMap<&'static str, u32>,
}

static CONCEALING: LazyLock<Patterns> = LazyLock::new(|| read(&CONCEAL));
static OVERRIDING: LazyLock<Patterns> = LazyLock::new(|| read(&OVERRIDE));
static OF_OTHER_TOOLS: LazyLock<Patterns> = LazyLock::new(|| read(&OTHER_TOOLS));
static SENDING: LazyLock<Patterns> = LazyLock::new(|| read(&SEND));

fn read(patterns: &[&'static str]) -> Patterns {
    let (mut all, mut begun, mut bit) = (Vec::new(), HashMap::new(), 1);
    for pattern in patterns {
        let mut wanted = 0;
        let mut parts = Pattern::new();
        for part in pattern.split('>') {
            let mut phrases = Vec::new();
            for phrase in part.trim().split('|') {
                let words: Vec<&'static str> = phrase.split(' ').collect();
                if let Some(first) = words.first() {
                    *begun.entry(*first).or_default() |= bit;
                }
                phrases.push(words);
            }
            parts.push(phrases);
            wanted |= bit;
            bit <<= 1;
        }
        all.push((parts, wanted));
    }
    Patterns { all, begun }
}

/// Files of credentials as they are written.
const FILES: &str = "id_rsa|id_ed25519|.ssh/|/etc/passwd|/etc/shadow|.aws/credentials|.netrc|.npmrc|.git-credentials|mcp.json|claude_desktop_config|.kube/config|.env file";

const READING: &str = "read open cat load access include pass paste provide attach send upload";

/// Names of tags that look like those of a system prompt.
const TAGS: &str = "important,system,instruction,instructions,secret,hidden,assistant,admin,override,critical,|im_start|,|system|";

/// The sentence in which one of the patterns is found.
fn pattern(text: &Text<'_>, patterns: &Patterns) -> Option<String> {
    let bits = |word: &String| patterns.begun.get(word.as_str()).copied();
    let found = text.sentences().iter().find(|sentence| {
        let begun = sentence.words.iter().filter_map(bits);
        let begun = begun.fold(0, |all, bits| all | bits);
        let mut likely = patterns.all.iter().filter(|(_, it)| begun & it == *it);
        likely.any(|(parts, _)| stands(&sentence.words, parts))
    });
    found.map(|it| it.text.clone())
}

/// Words that turn an instruction into its opposite.
const NEGATIONS: &str = "not dont never without avoid no cannot shouldnt";

/// Whether a negation stands close before a place; "do not include the conversation history" asks for nothing.
fn is_negated(words: &[String], at: usize) -> bool {
    let before = &words[at.saturating_sub(3)..at];
    before.iter().any(|it| is_among(it, NEGATIONS))
}

/// Whether the parts stand in the words, in their order and near enough.
fn stands(words: &[String], parts: &[Vec<Vec<&str>>]) -> bool {
    let Some((first, rest)) = parts.split_first() else {
        return true;
    };
    (0..words.len()).any(|at| {
        let behind = behind(&words[at..], first).filter(|_| !is_negated(words, at));
        behind.is_some_and(|length| follows(&words[at + length..], rest))
    })
}

/// Whether the parts follow, each within [`FAR`] words.
fn follows(words: &[String], parts: &[Vec<Vec<&str>>]) -> bool {
    let Some((first, rest)) = parts.split_first() else {
        return true;
    };
    (0..words.len().min(FAR + 1)).any(|at| {
        let behind = behind(&words[at..], first);
        behind.is_some_and(|length| follows(&words[at + length..], rest))
    })
}

/// How many words one of the phrases takes at the beginning.
fn behind(words: &[String], phrases: &[Vec<&str>]) -> Option<usize> {
    let begins = |it: &&Vec<&str>| {
        words.len() >= it.len() && it.iter().zip(words).all(|(one, other)| one == other)
    };
    phrases.iter().find(begins).map(Vec::len)
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
        (near..before.len()).any(|at| is_among(&before[at], READING) && !is_negated(&before, at))
    });
    found.map(|it| it.text.clone())
}

/// A tag or a comment that is not for people.
fn pseudo_tag(text: &str) -> Option<String> {
    let mut comments = text.match_indices("<!--");
    // One without words only shows what a comment is.
    let has_words = |(at, _): &(usize, &str)| {
        let inner = text[*at..].split("-->").next().unwrap_or_default();
        inner.contains(char::is_alphanumeric)
    };
    let is_tag = |(at, _): &(usize, &str)| {
        let inner = text[at + 1..].trim_start_matches('/');
        let name = inner.split(['>', ' ']).next().unwrap_or_default();
        inner.contains('>') && TAGS.split(',').any(|it| it == name.to_lowercase())
    };
    let comment = comments.find(has_words).map(|(at, _)| at);
    let tag = || Some(text.match_indices('<').find(is_tag)?.0);
    let at = comment.or_else(|| text.find("[INST]")).or_else(tag)?;
    Some(text[at..].chars().take(60).collect())
}

/// All signals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signal {
    Conceal,
    Override,
    OtherTools,
    Credentials,
    Send,
    Tags,
}

impl Signal {
    const ALL: [Self; 6] = [
        Self::Conceal,
        Self::Override,
        Self::OtherTools,
        Self::Credentials,
        Self::Send,
        Self::Tags,
    ];

    /// What shows it in a text.
    fn sentence(self, text: &Text<'_>) -> Option<String> {
        match self {
            Self::Conceal => pattern(text, &CONCEALING),
            Self::Override => pattern(text, &OVERRIDING),
            Self::OtherTools => pattern(text, &OF_OTHER_TOOLS),
            Self::Credentials => credential_file(text),
            Self::Send => pattern(text, &SENDING),
            Self::Tags => pseudo_tag(text.content),
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Conceal => "the text tells the model to conceal something from the user",
            Self::Override => "the text tells the model to ignore other instructions",
            Self::OtherTools => "the text changes how the model uses other tools",
            Self::Credentials => "the text tells the model to read a file of credentials",
            Self::Send => "the text tells the model to pass on the conversation or its context",
            Self::Tags => "the text holds a tag or a comment that only a model takes seriously",
        }
    }

    /// Whether it asks for something that the user would not want done.
    fn is_act(self) -> bool {
        match self {
            Self::Override | Self::OtherTools | Self::Credentials | Self::Send => true,
            Self::Conceal | Self::Tags => false,
        }
    }
}

/// How bad a signal is beside the others of its text.
fn severity(text: &Text<'_>) -> Severity {
    let has = |it: &Signal| it.sentence(text).is_some();
    let signals: Vec<Signal> = Signal::ALL.into_iter().filter(has).collect();
    let acts = signals.iter().filter(|it| it.is_act()).count();
    let (conceals, sends) = (
        signals.contains(&Signal::Conceal),
        signals.contains(&Signal::Send),
    );
    match signals.len() {
        _ if (conceals && acts > 0) || (sends && acts > 1) => Error,
        0 | 1 => Info,
        _ => Warning,
    }
}

fn say(signal: Signal, text: &Text<'_>, found: &mut Findings<'_>) {
    if !text.content.contains([' ', '<']) {
        return;
    }
    if let Some(sentence) = signal.sentence(text) {
        let finding = found.say(&text.pointer, signal.message());
        finding.evidence = Some(sentence);
        finding.severity = severity(text);
    }
}
