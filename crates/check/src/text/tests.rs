use std::fmt::Write as _;

use serde_json::json;

use crate::{
    check,
    outcome::verdict::Verdict,
    sample::{fails, json, refuses, rendered, says, told, tool},
};
use mcp::{
    observation::{
        Observation, Proof,
        answer::{Body, Rendering},
    },
    script::pattern::Pattern,
};
use suite::model::expectation::{Expectation, TextWanted};

fn words(items: &[&str]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

fn patterns(items: &[&str]) -> Vec<Pattern> {
    items.iter().map(|item| Pattern::plain(item)).collect()
}

/// What is said about each case, one after another.
fn report(cases: &[(Expectation, Observation)]) -> String {
    cases.iter().fold(String::new(), |mut out, (wanted, seen)| {
        writeln!(out, "{}", told(&check(wanted, seen))).unwrap();
        out
    })
}

#[test]
fn texts_that_are_as_wanted_hold() {
    let case = |wanted: Expectation, text: &str| {
        assert_eq!(check(&wanted, &says(text)), Verdict::Held, "{wanted:?}");
    };
    case(
        Expectation::Text(TextWanted::Contains(words(&["ell", "o"]))),
        "hello",
    );
    case(Expectation::Text(TextWanted::Contains(words(&[""]))), "");
    case(
        Expectation::Text(TextWanted::ContainsAny(words(&["x", "ell"]))),
        "hello",
    );
    case(
        Expectation::Text(TextWanted::ContainsAny(Vec::new())),
        "hello",
    );
    case(
        Expectation::Text(TextWanted::NotContains(words(&["Hello"]))),
        "hello",
    );
    case(
        Expectation::Text(TextWanted::InOrder(words(&["a", "b", "a"]))),
        "a b a",
    );
    case(
        Expectation::Text(TextWanted::InOrder(words(&["aa", "aa"]))),
        "aaaa",
    );
    case(
        Expectation::Text(TextWanted::Equals("hello".into())),
        "\n hello \t",
    );
    case(
        Expectation::Text(TextWanted::Equals(" hello".into())),
        "hello",
    );
    case(Expectation::Text(TextWanted::Equals(String::new())), "  ");
    case(
        Expectation::Text(TextWanted::MatchesRegex(patterns(&["^h", "(?i)LL"]))),
        "hello",
    );
    case(Expectation::Text(TextWanted::NotEmpty(true)), "x");
    case(Expectation::Text(TextWanted::NotEmpty(true)), "[1]");
    case(Expectation::Text(TextWanted::NotEmpty(false)), " \n");
    case(Expectation::Text(TextWanted::NotEmpty(false)), "{}");
}

#[test]
fn other_content_is_content() {
    let image =
        tool(json!({"content": [{"type": "image", "data": "QUJD", "mimeType": "image/png"}]}));
    let hollow =
        tool(json!({"content": [{"type": "text", "text": "{}"}], "structuredContent": {}}));
    assert_eq!(
        check(&Expectation::Text(TextWanted::NotEmpty(true)), &image),
        Verdict::Held
    );
    assert!(check(&Expectation::Text(TextWanted::NotEmpty(true)), &hollow) != Verdict::Held);
}

#[test]
fn a_missing_text_is_explained() {
    let contains =
        |items: &[&str], seen| (Expectation::Text(TextWanted::Contains(words(items))), seen);
    insta::assert_snapshot!(report(&[
        contains(&["hello", "there"], says("good bye")),
        contains(&["Hello World"], says("oh, hello world!")),
        contains(&["a b c"], says("x a  b\n c y")),
        contains(&["A b"], says("x a\tB y")),
        contains(&["say \"hi\""], says(r#"{"t":"say \"hi\""}"#)),
        contains(&["count: 15 items"], says("count: 15 apples\nand more\n")),
        contains(&["x"], says("")),
        contains(&["x"], fails("it broke")),
        contains(&["x"], refuses(&json!({"code": -32602, "message": "no such tool"}))),
        contains(&["needle"], tool(json!({
            "content": [{"type": "resource", "resource": {"uri": "a://b", "text": "a needle"}}]
        }))),
    ]), @r#"
    contains: expected the text to contain `hello`, the text is `good bye`
    contains: expected the text to contain `there`, the text is `good bye`
    contains: expected the text to contain `Hello World`, the text is `oh, hello world!`
      hint: the text has it in another case or with other white space: `hello world`
    contains: expected the text to contain `a b c`, it is not in the text (2 lines, 11 bytes)
      hint: the text has it in another case or with other white space: `a  b\n c`
    contains: expected the text to contain `A b`, the text is `x a	B y`
      hint: the text has it in another case or with other white space: `a	B`
    contains: expected the text to contain `say "hi"`, the text is `{"t":"say \"hi\""}`
    contains: expected the text to contain `count: 15 items`, it is not in the text (2 lines, 26 bytes)
    contains: expected the text to contain `x`, the text is empty
    contains: expected the text to contain `x`, the text is `it broke`
      hint: the tool answered with an error: `it broke`
    contains: expected the text to contain `x`, the answer is the JSON-RPC error -32602, `no such tool`
      hint: if this error is what should happen, expect it with `error: {code: -32602}`
    contains: expected the text to contain `needle`, the text is empty
      hint: it is not in the text, but in `content[0].resource.text`; look there with `content`
    "#);
}

#[test]
fn the_place_that_matters_is_shown() {
    let text = format!("{}status: Ok{}", "a".repeat(5_000), "b".repeat(5_000));
    let Verdict::Missed(mismatches) = check(
        &Expectation::Text(TextWanted::Contains(words(&["status: ok"]))),
        &says(&text),
    ) else {
        panic!("it holds");
    };
    let actual = mismatches[0].actual.as_deref().unwrap();
    assert!(
        actual.contains("aaastatus: Okbbb") && actual.len() < 1_000,
        "{actual}"
    );
}

#[test]
fn unequal_texts_are_explained() {
    let equals = |wanted: &str, seen: &str| {
        (
            Expectation::Text(TextWanted::Equals(wanted.into())),
            says(seen),
        )
    };
    insta::assert_snapshot!(report(&[
        equals("hello", "hallo"),
        equals("hello", "Hello"),
        equals("a b", "a  b"),
        equals("a\nb", "a\r\nb"),
        equals("hello", "\"hello\""),
        equals(r#"{"a": 1}"#, r#"{"a":1}"#),
        equals("one\ntwo", "one\ntwo and a half\nthree"),
        equals("hello", ""),
    ]), @r#"
    equals: expected the text to be `hello`, the text is `hallo`
    equals: expected the text to be `hello`, the text is `Hello`
      hint: they differ only in case
    equals: expected the text to be `a b`, the text is `a  b`
      hint: they differ only in white space
    equals: expected the text to be `a\nb`, the text differs from line 1, column 2
      hint: they differ only in white space
    equals: expected the text to be `hello`, the text is `"hello"`
    equals: expected the text to be `{"a": 1}`, the text is `{"a":1}`
      hint: both are the same JSON written differently; `json_path` with `$` compares values
    equals: expected the text to be `one\ntwo`, the text differs from line 2, column 4
    equals: expected the text to be `hello`, the text is empty
    "#);
}

#[test]
fn none_of_several_texts_is_explained() {
    insta::assert_snapshot!(report(&[
        (Expectation::Text(TextWanted::ContainsAny(words(&["red", "green"]))), says("BLUE or RED")),
        (Expectation::Text(TextWanted::ContainsAny(words(&["red", "green"]))), says("")),
    ]), @r"
    contains_any: expected the text to contain `red` or `green`, none of them is there
      hint: the text has it in another case or with other white space: `RED`
    contains_any: expected the text to contain `red` or `green`, the text is empty
    ");
}

#[test]
fn forbidden_content_is_found_wherever_it_is() {
    let never = |item: &str, seen| {
        (
            Expectation::Text(TextWanted::NotContains(words(&[item]))),
            seen,
        )
    };
    let blob = |data: &str| {
        let resource = json!({"uri": "a://b", "blob": data});
        tool(json!({"content": [{"type": "resource", "resource": resource}]}))
    };
    insta::assert_snapshot!(report(&[
        never("secret", says("line\na secret here")),
        never("secret", tool(json!({"content": [], "structuredContent": {"a": {"b": ["top secret"]}}}))),
        never("\"admin\":true", tool(json!({"content": [], "structuredContent": {"admin": true}}))),
        never("secret", tool(json!({
            "content": [{"type": "resource_link", "uri": "file:///secret", "name": "x"}]
        }))),
        never("secret", tool(json!({
            "content": [{"type": "resource", "resource": {"uri": "a://b", "blob": "YSBzZWNyZXQ="}}]
        }))),
        never("top secret", blob("YSB0b3Agc2Vj\ncmV0IGhlcmU=\n")),
        never("top secret", blob("JVBERuLjz9MgdG9wIHNlY3JldCD//g==")),
        never("aGVsbG8=", tool(json!({
            "content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}]
        }))),
        never("x", refuses(&json!({"code": -32603, "message": "x"}))),
    ]), @r#"
    not_contains: expected no content to contain `secret`, the text has it at line 2, column 3
    not_contains: structuredContent.a.b[0]: expected no content to contain `secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: structuredContent: expected no content to contain `"admin":true`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[0].uri: expected no content to contain `secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[0].resource.blob: expected no content to contain `secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[0].resource.blob: expected no content to contain `top secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[0].resource.blob: expected no content to contain `top secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[0].data: expected no content to contain `aGVsbG8=`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: expected no content to contain `x`, the answer is the JSON-RPC error -32603, `x`
      hint: if this error is what should happen, expect it with `error: {code: -32603}`
    "#);
}

#[test]
fn forbidden_content_is_found_in_text_blocks_that_are_no_text() {
    let never = |item: &str, block: serde_json::Value| {
        let seen = tool(json!({"content": [{"type": "text", "text": "fine"}, block]}));
        (
            Expectation::Text(TextWanted::NotContains(words(&[item]))),
            seen,
        )
    };
    let read = rendered(
        Rendering::Contents { asked: None },
        "",
        json!({"contents": [{"uri": "a://b", "text": ["secret"]}]}),
    );
    insta::assert_snapshot!(report(&[
        never("secret", json!({"type": "text", "text": ["Traceback: secret"]})),
        never("secret", json!({"type": "text", "text": {"v": "secret"}})),
        never("\"admin\":true", json!({"type": "text", "text": {"admin": true}})),
        never("12345", json!({"type": "text", "text": 12345})),
        never("secret", json!({"type": "text", "data": "secret"})),
        never("secret", json!({"type": "text", "text": "a", "x": "secret"})),
        never("12345", json!({"type": "zzz", "n": 12345})),
        (Expectation::Text(TextWanted::NotContains(words(&["secret"]))), read),
    ]), @r#"
    not_contains: content[1].text[0]: expected no content to contain `secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[1].text.v: expected no content to contain `secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[1].text: expected no content to contain `"admin":true`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[1].text: expected no content to contain `12345`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[1].data: expected no content to contain `secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[1].x: expected no content to contain `secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[1].n: expected no content to contain `12345`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: contents[0].text[0]: expected no content to contain `secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    "#);
}

#[test]
fn what_describes_a_block_of_text_is_not_its_content() {
    let never = |item: &str, seen: &Observation| {
        let wanted = Expectation::Text(TextWanted::NotContains(words(&[item])));
        assert_eq!(check(&wanted, seen), Verdict::Held, "{item}");
    };
    let text = json!({"type": "text", "text": "hello", "annotations": {"priority": 0.75, "audience": ["user"]},
        "_meta": {"trace": "abc-1"}});
    let called = tool(json!({"content": [text]}));
    let mut prompted = rendered(
        Rendering::Messages,
        "hello",
        json!({"messages": [{"role": "user", "content": text}]}),
    );
    for item in ["text", "0.75", "user", "abc"] {
        never(item, &called);
        never(item, &prompted);
    }
    let said = prompted.answer.as_mut().map(|answer| &mut answer.body);
    if let Some(Body::Result(reply)) = said {
        reply.raw["messages"][0]["content"]["x"] = json!("a secret");
    }
    let wanted = Expectation::Text(TextWanted::NotContains(words(&["secret"])));
    assert!(matches!(check(&wanted, &prompted), Verdict::Missed(_)));
}

#[test]
fn forbidden_content_is_found_however_the_text_writes_it() {
    let never = |item: &str, seen| {
        (
            Expectation::Text(TextWanted::NotContains(words(&[item]))),
            seen,
        )
    };
    let listed =
        |description: &str| json(json!({"tools": [{"name": "a", "description": description}]}));
    let prompt = || {
        let content = json!({"type": "resource", "resource": {
            "uri": "a://b", "text": "say \"secret\"", "blob": "YSBzZWNyZXQ="
        }});
        let text = content.to_string();
        let raw = json!({"messages": [{"role": "user", "content": content}]});
        rendered(Rendering::Messages, &text, raw)
    };
    let read = |asked: &str| {
        let asked = Some(asked.to_owned());
        let raw = json!({"contents": [
            {"uri": "a://secret", "mimeType": "text/x-secret", "text": "hello"}
        ]});
        rendered(Rendering::Contents { asked }, "hello", raw)
    };
    let mut frame = json(json!([{"id": 1, "result": {"a": "say \"secret\""}}]));
    if let Some(Body::Result(reply)) = frame.answer.as_mut().map(|answer| &mut answer.body) {
        reply.frames = Some(Box::default());
    }
    insta::assert_snapshot!(report(&[
        never("say \"secret\"", listed("please say \"secret\" now")),
        never("two\nlines", listed("two\nlines")),
        never("a\"b", json(json!({"properties": {"a\"b": {}}}))),
        never("say \"secret\"", prompt()),
        never("a secret", prompt()),
        never("a://secret", read("a://other")),
        never("say \"secret\"", frame),
    ]), @r#"
    not_contains: $.tools[0].description: expected no content to contain `say "secret"`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: $.tools[0].description: expected no content to contain `two\nlines`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: $.properties: expected no content to contain `a"b`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: messages[0].content.resource.text: expected no content to contain `say "secret"`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: messages[0].content.resource.blob: expected no content to contain `a secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: contents[0].uri: expected no content to contain `a://secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: frames[0].result.a: expected no content to contain `say "secret"`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    "#);
    let own = never("a://secret", read("a://secret"));
    assert_eq!(
        check(&own.0, &own.1),
        Verdict::Held,
        "the author's own word"
    );
}

#[test]
fn forbidden_content_is_found_however_the_server_wrote_its_json() {
    let never = |item: &str, seen| {
        (
            Expectation::Text(TextWanted::NotContains(words(&[item]))),
            seen,
        )
    };
    let dumped = r#"{"owner":"M\u00fcller","note":"said \"no\"","\u00fc":1,"at":"a\/b","smile":"\ud83d\ude00"}"#;
    let several = || {
        tool(json!({"content": [
            {"type": "text", "text": "{\"id\": 1}"},
            {"type": "text", "text": "found [\n{\"id\": \"M\\u00fcller\"}"},
            {"type": "text", "text": "{\"id\": \"caf\\u00e9\"}"},
        ]}))
    };
    let read = || {
        let raw = json!({"contents": [{"uri": "a://b", "text": dumped}]});
        rendered(Rendering::Contents { asked: None }, dumped, raw)
    };
    insta::assert_snapshot!(report(&[
        never("Müller", says(dumped)),
        never("said \"no\"", says(dumped)),
        never("ü", says(r#"{"\u00fc":1}"#)),
        never("a/b", says(dumped)),
        never("\u{1f600}", says(dumped)),
        never("a<b", says(r#"{"x":"a\u003cb"}"#)),
        never("Müller", says("Here it is:\n{\"a\": 1}\n{\"owner\": \"M\\u00fcller\"}\nand more")),
        never("café", several()),
        never("Müller", read()),
    ]), @r#"
    not_contains: content[0].text.owner: expected no content to contain `Müller`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: content[0].text.note: expected no content to contain `said "no"`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: content[0].text: expected no content to contain `ü`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: content[0].text.at: expected no content to contain `a/b`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: content[0].text.smile: expected no content to contain `😀`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: content[0].text.x: expected no content to contain `a<b`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: content[0].text.owner: expected no content to contain `Müller`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: content[2].text.id: expected no content to contain `café`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    not_contains: contents[0].text.owner: expected no content to contain `Müller`, it is there
      hint: the text has it as JSON escapes it; `not_contains` looks at both
    "#);
    let holds = |seen: &Observation| {
        let wanted = Expectation::Text(TextWanted::NotContains(words(&["Müller"])));
        assert_eq!(check(&wanted, seen), Verdict::Held);
    };
    holds(&says(r"M\u00fcller, in prose"));
    holds(&Observation {
        proof: Proof::AsWritten,
        ..says(dumped)
    });
    let many = format!("[{}\"\\u00e9\"]", "{\"name\":\"x\\ny\"},".repeat(20_000));
    holds(&says(&many));
}

#[test]
fn what_describes_content_is_no_content() {
    let image = tool(json!({
        "content": [{"type": "image", "data": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=", "mimeType": "image/png",
            "annotations": {"audience": ["user"]}}]
    }));
    for item in ["image", "user", "png", "R0"] {
        let wanted = Expectation::Text(TextWanted::NotContains(words(&[item])));
        assert_eq!(check(&wanted, &image), Verdict::Held, "{item}");
    }
    let noise = tool(json!({"content": [{"type": "image", "data":
        "/////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////29r"}]}));
    let wanted = Expectation::Text(TextWanted::NotContains(words(&["ok"])));
    assert_eq!(check(&wanted, &noise), Verdict::Held, "by chance");
}

#[test]
fn a_broken_order_is_explained() {
    let order = |items: &[&str], seen: &str| {
        (
            Expectation::Text(TextWanted::InOrder(words(items))),
            says(seen),
        )
    };
    insta::assert_snapshot!(report(&[
        order(&["first", "second"], "second, then first"),
        order(&["a", "b", "c"], "a b"),
        order(&["x"], "a b"),
        order(&["one", "two"], "one TWO"),
    ]), @r"
    in_order: expected the text to contain, one after another, `first` and `second`, `second` does not follow `first`
      hint: it stands before that, at line 1, column 1
    in_order: expected the text to contain, one after another, `a`, `b` and `c`, `c` does not follow `b`
    in_order: expected the text to contain, one after another, `x`, `x` is not in the text
    in_order: expected the text to contain, one after another, `one` and `two`, `two` does not follow `one`
      hint: the text has it in another case or with other white space: `TWO`
    ");
}

#[test]
fn a_pattern_that_is_not_found_is_explained() {
    let pattern = |pattern: &str, seen: &str| {
        (
            Expectation::Text(TextWanted::MatchesRegex(patterns(&[pattern]))),
            says(seen),
        )
    };
    insta::assert_snapshot!(report(&[
        pattern("^[0-9]+$", "abc"),
        pattern("^Done", "done"),
        pattern("^b$", "a\nb\nc"),
        pattern("a.c", "a\nc"),
        pattern("a", ""),
        pattern("/a.c/", "xabcx"),
        pattern("/usr/", "abc"),
    ]), @r"
    matches_regex: expected the text to match `^[0-9]+$`, nothing in the text does
    matches_regex: expected the text to match `^Done`, nothing in the text does
      hint: it would match in another case: with `(?i)` it finds `done`
    matches_regex: expected the text to match `^b$`, nothing in the text does
      hint: it would match a single line: with `(?m)` it finds `b`
    matches_regex: expected the text to match `a.c`, nothing in the text does
      hint: it would match across lines: with `(?s)` it finds `a\nc`
    matches_regex: expected the text to match `a`, the text is empty
    matches_regex: expected the text to match `/a.c/`, nothing in the text does
    matches_regex: expected the text to match `/usr/`, nothing in the text does
    ");
}

#[test]
fn emptiness_is_explained() {
    insta::assert_snapshot!(report(&[
        (Expectation::Text(TextWanted::NotEmpty(true)), says("")),
        (Expectation::Text(TextWanted::NotEmpty(true)), says(" \n")),
        (Expectation::Text(TextWanted::NotEmpty(true)), says("[ ]")),
        (Expectation::Text(TextWanted::NotEmpty(true)), fails("")),
        (Expectation::Text(TextWanted::NotEmpty(false)), says("something")),
        (Expectation::Text(TextWanted::NotEmpty(false)), tool(json!({"content": [], "structuredContent": {"result": []}}))),
        (Expectation::Text(TextWanted::NotEmpty(false)), tool(json!({"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}))),
    ]), @"
    not_empty: expected content that is not empty, there is no text and no other content
    not_empty: expected content that is not empty, the text is only white space
    not_empty: expected content that is not empty, the text is only an empty JSON value
    not_empty: expected content that is not empty, there is no text and no other content
      hint: the tool answered with an error (`isError: true`) without any text
    not_empty: expected empty content, there is content
    not_empty: expected empty content, there is content
    not_empty: expected empty content, there is content
    ");
}

#[test]
fn large_texts_are_checked_in_a_moment() {
    let text = "lorem ipsum dolor ".repeat(10_000);
    let seen = says(&text);
    let many: Vec<String> = (0..200).map(|index| format!("needle {index}")).collect();
    assert!(
        check(
            &Expectation::Text(TextWanted::Contains(many.clone())),
            &seen
        ) != Verdict::Held
    );
    assert_eq!(
        check(&Expectation::Text(TextWanted::NotContains(many)), &seen),
        Verdict::Held
    );
}

#[test]
fn what_is_no_part_of_the_protocol_in_a_block_is_content_with_its_name() {
    let block = |block: serde_json::Value| tool(json!({"content": [block]}));
    let without = |word: &str| Expectation::Text(TextWanted::NotContains(words(&[word])));
    let weird = || block(json!({"type": "weird", "payload": {"password": true, "type": "key"}}));
    let contents = json!({"contents": [{"uri": "x://y", "text": "z", "owner": {"admin": true}}]});
    insta::assert_snapshot!(report(&[
        (without("password"), weird()),
        (without("payload"), weird()),
        (without("true"), weird()),
        (without("key"), weird()),
        (without("secret"), block(json!({"type": "text", "text": "x", "secret": 1}))),
        (without("admin"), rendered(Rendering::Contents { asked: None }, "z", contents)),
    ]), @r"
    not_contains: content[0].payload: expected no content to contain `password`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[0]: expected no content to contain `payload`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[0].payload: expected no content to contain `true`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[0].payload.type: expected no content to contain `key`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: content[0]: expected no content to contain `secret`, it is there
      hint: `not_contains` looks at all content, not only at the text
    not_contains: contents[0].owner: expected no content to contain `admin`, it is there
      hint: `not_contains` looks at all content, not only at the text
    ");
    let resource = json!({"uri": "x://y", "mimeType": "text/plain", "text": "hello"});
    let ordinary = || {
        tool(json!({"content": [
            {"type": "text", "text": "hello", "annotations": {"audience": ["user"]}},
            {"type": "image", "mimeType": "image/png", "data": "AAAA", "_meta": {"password": true}},
            {"type": "resource", "resource": resource},
            {"type": "resource_link", "uri": "x://y", "name": "z", "title": "z", "size": 3},
        ]}))
    };
    for name in [
        "type",
        "text",
        "annotations",
        "image",
        "mimeType",
        "data",
        "_meta",
        "resource",
        "uri",
        "name",
        "title",
        "size",
        "password",
    ] {
        assert_eq!(check(&without(name), &ordinary()), Verdict::Held, "{name}");
    }
}
