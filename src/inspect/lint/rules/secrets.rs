//! Secrets in what a server lists.

use crate::inspect::lint::{
    rule::{Findings, rules},
    view::Text,
};
use text::credential::{REDACTED, key_in};

rules! {
    "E167" "secret-in-definition" Error "high" [injection] Text(secret):
        "a text holds what looks like a key of a service" =>
        "remove it, and revoke the key: everyone who lists the tools has it";
}

fn secret(text: &Text<'_>, found: &mut Findings<'_>) {
    let Some(key) = key_in(text.content).filter(|it| !is_placeholder(it)) else {
        return;
    };
    let begin: String = key.chars().take(4).collect();
    let message = "the text holds what looks like a key of a service";
    let finding = found.say(&text.pointer, message);
    finding.evidence = Some(format!("{begin}{REDACTED}"));
}

/// Whether a key only shows how keys look.
fn is_placeholder(key: &str) -> bool {
    let lower = key.to_lowercase();
    let mut says = "example your xxxx placeholder redacted 1234567890 abcdef".split(' ');
    let signs: std::collections::BTreeSet<char> = lower.chars().collect();
    says.any(|it| lower.contains(it)) || signs.len() < 10
}
