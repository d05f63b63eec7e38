//! Values taken from a step's answer.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    json::{json_path, json_text::document},
    observation::answer::Reply,
    script::{
        path::compile,
        quoting::filled_path,
        subject::{Capture, CapturePath, CaptureSource},
        template::{Bindings, Template},
    },
};

/// The value a capture names, or why there is none.
pub(super) fn capture(
    capture: &Capture,
    reply: &Reply,
    bindings: &Bindings,
) -> Result<Value, String> {
    let filled = |template: &Template| {
        let text = filled_path(template, bindings)?;
        match compile(&text) {
            Ok(path) => Ok((Cow::Owned(text), Cow::Owned(path))),
            Err(reason) => Err(format!("`{text}` is not a path: {reason}")),
        }
    };
    let path = match &capture.path {
        None => None,
        Some(CapturePath::Compiled(path)) => {
            Some((capture.written.as_str().into(), Cow::Borrowed(path)))
        }
        Some(CapturePath::Template(template)) => Some(filled(template)?),
    };
    let structured = || {
        let content = reply.structured.clone();
        content.ok_or_else(|| "there is no structured content".to_owned())
    };
    let Some((written, path)) = path else {
        return match capture.source {
            CaptureSource::Structured => structured(),
            CaptureSource::Either | CaptureSource::Text => Ok(reply.text.clone().into()),
        };
    };
    let from_text = || document(&reply.text).map_err(|none| none.reason);
    let source = match capture.source {
        CaptureSource::Text => from_text(),
        CaptureSource::Structured => structured(),
        CaptureSource::Either => from_text()
            .or_else(|reason| structured().map_err(|nothing| format!("{reason}, and {nothing}"))),
    }?;
    let found = json_path::query((&written, &path), &source, |_| ());
    let found = found.map_err(|reason| format!("`{written}` {reason}"))?;
    if found.len() > 1 {
        let places = found.len();
        return Err(format!(
            "`{written}` leads to {places} places: name one of them, such as the first of a list by `[0]`"
        ));
    }
    let found = found.first().map(|((), value)| Value::clone(value));
    found.ok_or_else(|| {
        let is_there = |value| {
            let found = json_path::query((&written, &path), value, |_| ());
            found.is_ok_and(|found| !found.is_empty())
        };
        let beside = reply.structured.as_ref().is_some_and(is_there);
        if beside && capture.source != CaptureSource::Structured {
            return "nothing is there in the text, but in `structuredContent`: write `structured:` before the path".to_owned();
        }
        "nothing is there".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use CaptureSource::{Either, Structured, Text};

    use super::{Bindings, Template, capture};
    use crate::{
        observation::answer::Reply,
        script::subject::{Capture, CapturePath, CaptureSource},
    };

    fn take(source: CaptureSource, path: Option<&str>, reply: &Reply) -> Result<Value, String> {
        let wanted = Capture {
            name: "x".into(),
            source,
            path: path
                .map(|path| CapturePath::Compiled(serde_json_path::JsonPath::parse(path).unwrap())),
            written: path.unwrap_or("$").to_owned(),
        };
        capture(&wanted, reply, &Bindings::default())
    }

    #[test]
    fn values_come_from_the_text_or_the_structured_content() {
        let reply = Reply {
            text: "a note\n{\"id\": 12345678901234567890123}\n".into(),
            structured: Some(json!({"id": "s", "only": [1, 2]})),
            ..Reply::default()
        };
        let case = |source, path, wanted: Result<&str, &str>| {
            let seen = take(source, path, &reply).map(|value| value.to_string());
            assert_eq!(seen.as_deref().map_err(String::as_str), wanted, "{path:?}");
        };
        case(Either, Some("$.id"), Ok("12345678901234567890123"));
        case(Text, Some("$.id"), Ok("12345678901234567890123"));
        case(Structured, Some("$.id"), Ok("\"s\""));
        case(Structured, Some("$.only[:1]"), Ok("1"));
        let several =
            "`$.only[*]` leads to 2 places: name one of them, such as the first of a list by `[0]`";
        case(Structured, Some("$.only[*]"), Err(several));
        let beside = "nothing is there in the text, but in `structuredContent`: write `structured:` before the path";
        case(Either, Some("$.only"), Err(beside));
        case(Either, Some("$.none"), Err("nothing is there"));
        case(
            Either,
            None,
            Ok(r#""a note\n{\"id\": 12345678901234567890123}\n""#),
        );
    }

    #[test]
    fn filters_tell_long_numbers_apart() {
        let reply = Reply {
            text: r#"[{"id":9007199254740992,"n":"a"},{"id":9007199254740993,"n":"b"}]"#.into(),
            ..Reply::default()
        };
        let take = |path: &str| take(Text, Some(path), &reply);
        assert_eq!(take("$[?@.id == 9007199254740993].n"), Ok(json!("b")));
        assert_eq!(
            take("$[?@.id == 9007199254740994].n").unwrap_err(),
            "nothing is there"
        );
        let between = "$[?@.id > 9007199254740992 && @.id < 9007199254740993]";
        assert_eq!(
            take(between).unwrap_err(),
            format!(
                "`{between}` compares numbers of so many digits that they cannot be told apart there"
            )
        );
    }

    #[test]
    fn what_is_no_json_says_so() {
        let reply = Reply {
            text: "hello".into(),
            ..Reply::default()
        };
        let case = |source, wanted: &str| {
            assert_eq!(take(source, Some("$.a"), &reply).unwrap_err(), wanted);
        };
        case(
            Text,
            "the text is not JSON (expected value at line 1 column 1)",
        );
        case(Structured, "there is no structured content");
        case(
            Either,
            "the text is not JSON (expected value at line 1 column 1), and there is no structured content",
        );
    }

    #[test]
    fn the_document_is_the_one_that_json_path_looks_at() {
        let case = |text: &str, wanted: Result<Value, &str>| {
            let reply = Reply {
                text: text.into(),
                ..Reply::default()
            };
            let taken = take(Text, Some("$.id"), &reply);
            assert_eq!(taken, wanted.map_err(str::to_owned), "{text}");
        };
        let inner = "Here:\n{\n \"id\": 7,\n \"child\":\n {\"id\": 8}\n}";
        case(inner, Ok(json!(7)));
        case("{\n \"id\": 7\n}\nHint: more", Ok(json!(7)));
        case(
            "{\n \"x\": NaN,\n \"rows\": [\n {\"id\": 1}\n ]\n}",
            Err("the text is not JSON (expected value at line 2 column 7)"),
        );
        let half = r#"{"id": "\ud83d"}"#;
        case(half, Ok(json!("\u{fffd}")));
    }

    #[test]
    fn a_path_is_filled_in() {
        let reply = Reply {
            text: r#"{"/a": {"k": 1}}"#.into(),
            ..Reply::default()
        };
        let wanted = |path: &str| Capture {
            name: "x".into(),
            source: Either,
            path: Some(CapturePath::Template(Template::new(path))),
            written: path.into(),
        };
        let bindings = Bindings {
            fixture: Some("/a".into()),
            ..Bindings::default()
        };
        let take = |path: &str| capture(&wanted(path), &reply, &bindings);
        assert_eq!(take("$['{{fixture}}'].k"), Ok(json!(1)));
        assert_eq!(
            take("$[{{fixture}}]").unwrap_err().split(':').next(),
            Some("`$[/a]` is not a path")
        );
        assert_eq!(
            take("$.{{nothing}}"),
            Err("`{{nothing}}` has no value here".into())
        );
    }
}
