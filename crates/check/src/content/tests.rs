use serde_json::{Value, json};

use crate::sample::{self, fails, hold, refuses, rendered, report, says, tool};
use mcp::observation::{Observation, answer::Rendering};
use suite::model::expectation::{ContentRule, ContentWanted, Expectation};

fn content(blocks: &[(Value, Option<u64>)]) -> Expectation {
    Expectation::Content(ContentWanted::Blocks(
        blocks
            .iter()
            .map(|(members, min_bytes)| ContentRule {
                members: members.clone(),
                min_bytes: *min_bytes,
            })
            .collect(),
    ))
}

fn mixed() -> Observation {
    tool(json!({"content": [
        {"type": "text", "text": "héllo", "annotations": {"priority": 1.0, "audience": ["user"]}},
        {"type": "image", "data": "aGVsbG8", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "a://b", "blob": "QUJD"}}
    ]}))
}

#[test]
fn blocks_that_are_as_given_hold() {
    hold(&[
        (
            content(&[
                (
                    json!({"type": "text", "annotations": {"priority": 1}}),
                    Some(6),
                ),
                (json!({"type": "image", "mimeType": "image/png"}), Some(5)),
                (json!({"resource": {"uri": "a://b"}}), Some(3)),
            ]),
            mixed(),
        ),
        (content(&[]), tool(json!({"content": []}))),
    ]);
}

#[test]
fn resources_and_prompts_have_content_and_lists_have_none() {
    let read = || {
        let raw = json!({"contents": [{"uri": "a://b", "mimeType": "text/plain", "text": "hi"}]});
        rendered(Rendering::Contents { asked: None }, "hi", raw)
    };
    let prompt = || {
        let block = json!({"type": "image", "data": "QUJD", "mimeType": "image/png"});
        let raw = json!({"messages": [{"role": "user", "content": block}]});
        rendered(Rendering::Messages, "{}", raw)
    };
    hold(&[
        (
            content(&[(json!({"mimeType": "text/plain"}), Some(2))]),
            read(),
        ),
        (content(&[(json!({"type": "image"}), Some(3))]), prompt()),
    ]);
    insta::assert_snapshot!(report(&[
        (content(&[]), read()),
        (content(&[]), prompt()),
        (content(&[]), sample::json(json!({"tools": []}))),
    ]), @r"
    content: expected no content blocks, there is 1: `a://b`
    content: expected no content blocks, there is 1: `image`
    content: expected no content blocks, an answer of this kind has no content blocks
      hint: `json_path` looks into it
    ");
}

#[test]
fn blocks_that_are_not_are_explained() {
    let any = || (json!({}), None);
    let image = |mime: &str, least| (json!({"type": "image", "mimeType": mime}), least);
    insta::assert_snapshot!(report(&[
        (content(&[any(), image("image/jpeg", None), any()]), mixed()),
        (content(&[any(), image("image/png", Some(6)), any()]), mixed()),
        (content(&[(json!({"type": "image"}), None)]), mixed()),
        (content(&[(json!({"type": "text", "Text": "x"}), None)]), says("x")),
        (content(&[(json!({"type": "text", "text": {"contains": "x"}}), None)]), says("x")),
        (content(&[(json!({"type": "text"}), None)]), tool(json!({"content": []}))),
        (content(&[]), says("x")),
        (content(&[image("image/png", Some(1))]), tool(json!({
            "content": [{"type": "image", "mimeType": "image/png", "data": "?!"}]
        }))),
        (content(&[(json!({"type": "image"}), None)]), fails("no camera")),
        (content(&[any()]), refuses(&json!({"code": -32601, "message": "gone"}))),
    ]), @r#"
    content: content[1].mimeType: expected `"image/jpeg"`, found the string `"image/png"`
    content: content[1]: expected `{"type":"image","mimeType":"image/png"}` of at least 6 bytes, it has 5 bytes
    content: expected 1 content block: `{"type":"image"}`, there are 3: `text`, `image` and `resource`
    content: content[0].type: expected `"image"`, found the string `"text"`
    content: content[0].Text: expected `"x"`, nothing is there
    content: content[0].text: expected `{"contains":"x"}`, found the string `"x"`
    content: expected 1 content block: `{"type":"text"}`, there is none
    content: expected no content blocks, there is 1: `text`
    content: content[0]: expected `{"type":"image","mimeType":"image/png"}` of at least 1 byte, its data is not base64
    content: content[0].type: expected `"image"`, found the string `"text"`
      hint: the tool answered with an error: `no camera`
    content: expected 1 content block: `{}`, the answer is the JSON-RPC error -32601, `gone`
      hint: if this error is what should happen, expect it with `error: {code: -32601}`
    "#);
}
