//! `content`: the content blocks of a tool result, each compared in part.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::Value;

use crate::{
    ask::Ask,
    json::{self, Extent},
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    traits::{Says, Traits},
    view,
};
use mcp::observation::{
    Observation,
    answer::{Rendering, Reply},
};
use suite::{
    model::expectation::{ContentRule, ContentWanted},
    written::Part,
};
use text::count;

/// Takes padding or none.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The content blocks are these, in order, each given partially.
pub(super) fn check(wanted: &ContentWanted, seen: &Observation) -> Verdict {
    let ContentWanted::Blocks(rules) = wanted;
    let whole = ask(wanted);
    view::with_reply(seen, &whole, |reply| {
        let Some(blocks) = blocks(reply) else {
            return vec![without_blocks(&whole)];
        };
        let is_miscounted = rules.len() != blocks.len();
        let miscounted = is_miscounted.then(|| miscounted(&whole, &blocks));
        let pairs = rules.iter().zip(&blocks).enumerate();
        let unlike = pairs.filter_map(|(index, (rule, block))| {
            unlike(rule, block, index).map(|it| it.within(Part::Item(index)))
        });
        miscounted.into_iter().chain(unlike).collect()
    })
}

pub(super) fn ask(ContentWanted::Blocks(rules): &ContentWanted) -> Ask {
    let blocks: Vec<String> = rules.iter().map(clause).collect();
    let wanted = match &blocks[..] {
        [] => "no content blocks".to_owned(),
        blocks => {
            let number = count(blocks.len(), "content block");
            format!("{number}: {}", phrase::joined(blocks, "and"))
        }
    };
    Ask::new("content", wanted)
}

pub(super) fn traits(ContentWanted::Blocks(_): &ContentWanted) -> Traits {
    Traits {
        says: Says::Content,
        ..Traits::PLAIN
    }
}

/// The verdict of `not` when the answer has nothing of what is spoken of.
pub(super) fn unspoken(ask: &Ask, seen: &Observation) -> Option<Verdict> {
    view::refusal(ask, seen).or_else(|| {
        let reply = view::reply(seen).ok()?;
        let missing = blocks(reply).is_none();
        missing.then(|| Verdict::Missed(vec![without_blocks(ask)]))
    })
}

/// Decodes base64, with or without padding and line breaks.
pub(super) fn decoded(data: &str) -> Option<Vec<u8>> {
    let data: String = data.split_ascii_whitespace().collect();
    BASE64.decode(data).ok()
}

/// What a rule wants of its block.
fn clause(rule: &ContentRule) -> String {
    let members = phrase::value(&rule.members);
    match rule.min_bytes {
        Some(least) => format!("{members} of at least {}", count(least, "byte")),
        None => members,
    }
}

/// The mismatch with an answer of another kind.
fn without_blocks(ask: &Ask) -> Mismatch {
    Mismatch {
        hint: Some("`json_path` looks into it".to_owned()),
        ..ask.miss("an answer of this kind has no content blocks")
    }
}

/// The content blocks of a tool result, the contents of a resource, or what the messages of a prompt hold; `None`
/// where an answer has nothing of the kind.
fn blocks(reply: &Reply) -> Option<Vec<&Value>> {
    let list = |name| {
        let list = reply.raw.get(name).and_then(Value::as_array);
        list.into_iter().flatten()
    };
    match reply.rendering {
        Rendering::Blocks => Some(reply.content.iter().collect()),
        Rendering::Contents { .. } => Some(list("contents").collect()),
        Rendering::Messages => Some(
            list("messages")
                .filter_map(|message| message.get("content"))
                .collect(),
        ),
        Rendering::Json => None,
    }
}

/// The mismatch when there are more or fewer blocks.
fn miscounted(ask: &Ask, blocks: &[&Value]) -> Mismatch {
    let kinds: Vec<&str> = blocks.iter().map(|block| kind(block)).collect();
    let seen = match kinds.as_slice() {
        [] => "there is none".to_owned(),
        kinds => format!(
            "there {} {}: {}",
            if kinds.len() == 1 { "is" } else { "are" },
            kinds.len(),
            phrase::list(kinds, "and")
        ),
    };
    Mismatch {
        actual: Some(phrase::laid_out(&Value::Array(
            blocks.iter().copied().cloned().collect(),
        ))),
        ..ask.miss(seen)
    }
}

/// The type of a block, as it says; the contents of resources have none.
fn kind(block: &Value) -> &str {
    let text = |name| block.get(name).and_then(Value::as_str);
    text("type").or(text("uri")).unwrap_or("(no type)")
}

/// What is not as wanted about one block.
fn unlike(rule: &ContentRule, block: &Value, index: usize) -> Option<Mismatch> {
    if let Some(difference) = json::difference(&rule.members, block, Extent::Part) {
        let wanted = difference
            .wanted
            .map_or("nothing".to_owned(), phrase::value);
        let ask = Ask::new("content", wanted);
        return Some(Mismatch {
            path: Some(format!("content[{index}]{}", difference.path)),
            expected: Some(phrase::laid_out(&rule.members)),
            actual: Some(phrase::laid_out(&json::part_of(&rule.members, block))),
            hint: json::near_value(&difference),
            ..ask.miss(
                difference
                    .seen
                    .map_or_else(|| "nothing is there".to_owned(), phrase::found),
            )
        });
    }
    let least = rule.min_bytes?;
    let ask = Ask::new("content", clause(rule));
    let path = Some(format!("content[{index}]"));
    match size(block) {
        Ok(size) if size >= least => None,
        Ok(size) => Some(Mismatch {
            path,
            ..ask.miss(format!("it has {}", count(size, "byte")))
        }),
        Err(reason) => Some(Mismatch {
            path,
            actual: Some(phrase::laid_out(block)),
            ..ask.miss(reason)
        }),
    }
}

/// The size of a block's content: of decoded data, or of text.
fn size(block: &Value) -> Result<u64, &'static str> {
    let resource = block.get("resource").unwrap_or(block);
    let member = |name| resource.get(name).and_then(Value::as_str);
    let length = match (member("data").or_else(|| member("blob")), member("text")) {
        (Some(data), _) => decoded(data).ok_or("its data is not base64")?.len(),
        (None, Some(text)) => text.len(),
        (None, None) => return Err("it has neither data nor text"),
    };
    Ok(length as u64)
}

#[cfg(test)]
mod tests;
