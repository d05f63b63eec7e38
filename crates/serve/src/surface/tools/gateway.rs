//! The tools of the profile `gateway`: those of another well-known fixture for gateways, by name, input and output.

use std::time::Duration;

use bytes::Bytes;
use rmcp::ErrorData;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::draw::{Pcg, fnv1a};
use crate::http;
use crate::surface::call::{Call, structured_result, tool_error};

/// The most characters of `sized_response`.
const LARGEST: i64 = 1 << 20;

/// Its different words are what `lorem` draws from.
const LOREM: &str = "\
lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua \
ut enim ad minim veniam quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat duis aute irure \
dolor in reprehenderit in voluptate velit esse cillum dolore fugiat nulla pariatur excepteur sint occaecat cupidatat non \
proident sunt in culpa qui officia deserunt mollit anim id est laborum";

/// A number from 1 to `most`; `otherwise` where it is none of them or not given.
fn within(call: &Call<'_>, name: &str, otherwise: usize, most: usize) -> usize {
    let given = call.whole(name).filter(|given| *given > 0);
    given.map_or(otherwise, |given| {
        usize::try_from(given).unwrap_or(most).min(most)
    })
}

pub(super) fn long(call: &Call<'_>) -> Value {
    let blocks = within(call, "blocks", 3, 50);
    let chars = within(call, "chars", 256, 65_536);
    let texts = (0..blocks).map(|at| json!({"type": "text", "text": filler(at, chars)}));
    json!({"content": texts.collect::<Vec<_>>()})
}

pub(super) fn whoami(call: &Call<'_>) -> Value {
    structured_result(&match http::identity(call.context) {
        Some(name) => {
            json!({"subject": format!("apikey:{name}"), "auth_type": "apikey", "name": name})
        }
        None => json!({"subject": "anonymous", "auth_type": "anonymous"}),
    })
}

pub(super) fn headers(call: &Call<'_>) -> Value {
    let headers: Map<String, Value> = http::headers(call.context);
    let count = headers.len();
    structured_result(&json!({"headers": headers, "count": count}))
}

pub(super) fn fixed(key: &str) -> Value {
    let digest = Bytes::copy_from_slice(&Sha256::digest(key.as_bytes()));
    let hash = format!("{digest:x}");
    let body = format!("fixed[{key}]: {hash}");
    structured_result(&json!({"key": key, "hash": hash, "body": body}))
}

pub(super) fn sized(size: i64) -> Value {
    if size < 0 {
        return tool_error(&format!("size must be >= 0, got {size}"));
    }
    if size > LARGEST {
        return tool_error(&format!("size must be <= {LARGEST}, got {size}"));
    }
    let letters = ('a'..='z').cycle();
    let body: String = letters.take(usize::try_from(size).unwrap_or(0)).collect();
    structured_result(&json!({"size": size, "body": body}))
}

pub(super) fn lorem(call: &Call<'_>) -> Value {
    let words = within(call, "words", 50, 5_000);
    let of_server = call.bench.options.seed.to_string();
    let seed = call.text("seed").filter(|seed| !seed.is_empty());
    let body = drawn(words, seed.unwrap_or(&of_server));
    structured_result(&json!({"words": words, "body": body}))
}

/// So many words as one sentence.
fn drawn(words: usize, seed: &str) -> String {
    let mut bank: Vec<&str> = Vec::new();
    for word in LOREM.split(' ') {
        if !bank.contains(&word) {
            bank.push(word);
        }
    }
    let mut draws = Pcg::new(fnv1a(seed), fnv1a(&format!("salt:{seed}")));
    let words: Vec<&str> = (0..words)
        .map(|_| bank[draws.next_below(bank.len())])
        .collect();
    let mut text = words.join(" ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text + "."
}

fn filler(at: usize, chars: usize) -> String {
    let letters = ('a'..='j').cycle();
    format!("[block {at}] ")
        .chars()
        .chain(letters)
        .take(chars)
        .collect()
}

pub(super) async fn steps(call: &Call<'_>) -> Result<Value, ErrorData> {
    let steps = within(call, "steps", 5, 100);
    let pause = within(call, "step_ms", 200, 5_000);
    let pause = Duration::from_millis(u64::try_from(pause).unwrap_or(0));
    let failed = |why: String| ErrorData::internal_error(why, None);
    let token = call.meta.get("progressToken");
    for step in 1..=steps {
        if let Some(token) = token {
            let params = json!({
                "progressToken": token,
                "progress": step,
                "total": steps,
                "message": format!("step {step}/{steps}"),
            });
            let told = call.notify("notifications/progress", params).await;
            told.map_err(|error| failed(format!("a notification was lost: {error}")))?;
        }
        if call.wait(pause).await.is_none() {
            return Err(failed("the call was cancelled".to_owned()));
        }
    }
    Ok(structured_result(
        &json!({"steps": steps, "notified": token.is_some(), "done": true}),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_drawn_as_published() {
        let case = |seed: &str, text: &str| assert_eq!(drawn(10, seed), text, "{seed}");
        case(
            "abc",
            "Exercitation et qui dolore duis labore exercitation esse reprehenderit elit.",
        );
        case(
            "test",
            "Qui laborum lorem excepteur sed nisi aliquip consectetur ex non.",
        );
        case(
            "42",
            "Laboris in deserunt dolore ea labore qui fugiat esse quis.",
        );
        case(
            "é",
            "Lorem ea deserunt officia esse incididunt proident culpa dolore aliqua.",
        );
        let sum = |text: String| fixed(&text)["structuredContent"]["hash"].clone();
        assert_eq!(
            sum(drawn(50, "abc")),
            "990df1efed86f2a04fa474b358728687b431ad9433c2636126b9968825c5b1b3"
        );
        assert_eq!(drawn(5_000, "abc").len(), 32_938);
        assert_eq!(
            sum(drawn(5_000, "abc")),
            "ea509392c0f9573a2d655310c3e1a49d77425f7630c83654f2718052646bf6d0"
        );
    }

    #[test]
    fn bodies_are_as_published() {
        let of = |key: &str| fixed(key)["structuredContent"]["hash"].clone();
        assert_eq!(
            of("hello"),
            "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        );
        assert_eq!(
            of(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        let sized = sized(28);
        assert_eq!(
            sized["structuredContent"]["body"],
            "abcdefghijklmnopqrstuvwxyzab"
        );
        assert_eq!(super::sized(-1)["isError"], true);
        assert_eq!(super::sized(LARGEST + 1)["isError"], true);
        assert_eq!(filler(0, 14), "[block 0] abcd");
        assert_eq!(filler(49, 3), "[bl");
    }
}
