//! Values taken from a step's answer.

use serde_json::Value;

use crate::{
    observation::answer::Reply,
    suite::model::subject::{Capture, CaptureSource},
};

/// The value a capture names, or why there is none.
pub(super) fn capture(capture: &Capture, reply: &Reply) -> Result<Value, String> {
    let Some(path) = &capture.path else {
        return match capture.source {
            CaptureSource::Structured => reply
                .structured
                .clone()
                .ok_or_else(|| "there is no structured content".to_owned()),
            CaptureSource::Either | CaptureSource::Text => Ok(reply.text.clone().into()),
        };
    };
    let from_text = || text_json(&reply.text);
    let source = match capture.source {
        CaptureSource::Text => from_text(),
        CaptureSource::Structured => reply.structured.clone(),
        CaptureSource::Either => from_text().or_else(|| reply.structured.clone()),
    };
    let Some(source) = source else {
        return Err(match capture.source {
            CaptureSource::Structured => "there is no structured content".to_owned(),
            CaptureSource::Text => "the text is no JSON".to_owned(),
            CaptureSource::Either => {
                "the text is no JSON, and there is no structured content".to_owned()
            }
        });
    };
    let found = path.0.query(&source).first();
    found.cloned().ok_or_else(|| {
        let beside = reply.structured.as_ref();
        let beside = beside.is_some_and(|value| path.0.query(value).first().is_some());
        if beside && capture.source != CaptureSource::Structured {
            return "nothing is there in the text, but in `structuredContent`: write `structured:` before the path".to_owned();
        }
        "nothing is there".to_owned()
    })
}

/// The text read as JSON, else its first line that is JSON.
fn text_json(text: &str) -> Option<Value> {
    let parse = |text: &str| serde_json::from_str(text).ok();
    parse(text).or_else(|| text.lines().find_map(parse))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use CaptureSource::{Either, Structured, Text};

    use super::capture;
    use crate::{
        observation::answer::Reply,
        suite::model::subject::{Capture, CapturePath, CaptureSource},
    };

    fn take(source: CaptureSource, path: Option<&str>, reply: &Reply) -> Result<Value, String> {
        let wanted = Capture {
            name: "x".into(),
            source,
            path: path.map(|path| CapturePath(serde_json_path::JsonPath::parse(path).unwrap())),
            written: String::new(),
        };
        capture(&wanted, reply)
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
        case(Structured, Some("$.only[*]"), Ok("1"));
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
    fn what_is_no_json_says_so() {
        let reply = Reply {
            text: "hello".into(),
            ..Reply::default()
        };
        let case = |source, wanted: &str| {
            assert_eq!(take(source, Some("$.a"), &reply).unwrap_err(), wanted);
        };
        case(Text, "the text is no JSON");
        case(Structured, "there is no structured content");
        case(
            Either,
            "the text is no JSON, and there is no structured content",
        );
    }
}
