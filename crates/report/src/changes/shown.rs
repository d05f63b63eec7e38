//! Changes as text, Markdown and JSON.

use std::fmt::Write;

use serde_json::{Value, json as object};

use super::{Change, Changes, Level};
use crate::markdown::escape::inline;
use mcp::observation::catalog::Listing;
use text::{clean, count, head};

/// Characters shown of a witness.
const LONGEST_WITNESS: usize = 300;

/// Changes shown in Markdown; the worst come first.
const MOST_IN_MARKDOWN: usize = 500;

/// The changes for people, the worst first.
pub fn text(changes: &Changes) -> String {
    let mut out = headline(changes);
    for level in Level::ALL {
        if changes.count(level) > 0 {
            let _ = writeln!(out, "\n{}", level.word());
        }
        for change in changes.all.iter().filter(|it| it.level == level) {
            let _ = writeln!(out, "  {}: {}", subject(change), change.what);
            for (word, detail) in details(change) {
                let _ = writeln!(out, "      {word}: {detail}");
            }
        }
    }
    out
}

/// The changes as a page.
pub fn markdown(changes: &Changes) -> String {
    let mut out = format!(
        "### Changes of the server\n\n{}",
        headline(changes).trim_end()
    );
    if !changes.all.is_empty() {
        out += "\n\n| level | what | change |\n|---|---|---|";
    }
    for change in changes.all.iter().take(MOST_IN_MARKDOWN) {
        let mut what = inline(&change.what, LONGEST_WITNESS);
        for (word, detail) in details(change) {
            let _ = write!(what, "<br>{word}: {}", inline(&detail, LONGEST_WITNESS));
        }
        let _ = write!(
            out,
            "\n| {} | {} | {what} |",
            change.level.word(),
            inline(&subject(change), LONGEST_WITNESS)
        );
    }
    let left_out = changes.all.len().saturating_sub(MOST_IN_MARKDOWN);
    if left_out > 0 {
        let _ = write!(out, "\n\nand {}", count(left_out, "more change"));
    }
    out.push('\n');
    out
}

/// The changes as JSON.
pub fn json(changes: &Changes) -> Value {
    let all = changes.all.iter().map(|change| {
        let mut whole = object!({
            "level": change.level.word(),
            "kind": change.listing.map_or("server", Listing::entry),
            "name": change.name,
            "change": change.what,
            "wording": change.wording,
            "witness": change.witness,
            "unproven": change.unproven,
        });
        if let Some(members) = whole.as_object_mut() {
            members.retain(|_, it| !it.is_null());
        }
        whole
    });
    object!({
        "breaking": changes.count(Level::Breaking),
        "risky": changes.count(Level::Risky),
        "safe": changes.count(Level::Safe),
        "not_compared": changes.uncompared,
        "changes": all.collect::<Vec<_>>(),
    })
}

/// The counts, and what was not compared.
fn headline(changes: &Changes) -> String {
    let mut out = if changes.all.is_empty() {
        "no changes".to_owned()
    } else {
        let counts = Level::ALL.map(|it| format!("{} {}", changes.count(it), it.word()));
        counts.join(", ")
    };
    if !changes.uncompared.is_empty() {
        let _ = write!(
            out,
            "; not compared, because one side does not tell: {}",
            changes.uncompared.join(", ")
        );
    }
    out.push('\n');
    out
}

/// What a change is about, in words.
pub(crate) fn subject(change: &Change) -> String {
    match change.listing {
        Some(listing) => format!("{} `{}`", listing.entry(), change.name),
        None => change.name.clone(),
    }
}

/// What is shown below a change.
pub fn details(change: &Change) -> Vec<(&'static str, String)> {
    let wording = change.wording.iter().map(|it| ("text", it.clone()));
    let witness = change.witness.iter();
    let witness = witness.map(|it| ("witness", clean(&head(&it.to_string(), LONGEST_WITNESS))));
    let unproven = change
        .unproven
        .iter()
        .map(|it| ("unproven", it.to_string()));
    wording.chain(witness).chain(unproven).collect()
}
