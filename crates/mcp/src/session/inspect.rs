//! What is wrong inside a usable result: findings, never verdicts. The table of shapes, the data of images and
//! audio, errors without words, and the second opinion of the official types.

use base64::Engine;
use serde_json::Value;

use super::{
    correlation::Settled,
    record::{Record, brief},
    second_opinion,
};
use crate::{
    observation::finding::FindingCode,
    protocol::{method::Method, revision::Revision, shape},
};

/// Bytes of a frame up to which the official types are asked too.
const LARGEST_SECOND: usize = 1024 * 1024;

/// A usable result with what belongs to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inspected<'a> {
    /// The method that was called.
    pub(super) method: Method,
    /// The result.
    pub(super) result: &'a Value,
    /// How it came.
    pub(super) settled: &'a Settled,
}

/// Looks at a result that asks for input.
pub(super) fn input_required(
    record: &mut Record,
    revision: Revision,
    (result, frame): (&Value, &[u8]),
) {
    for flaw in shape::check(shape::input_required(), revision, result) {
        record.note_flaw("a result that asks for input", &flaw, frame);
    }
}

/// Looks at a usable result.
pub(super) fn result(record: &mut Record, revision: Revision, seen: Inspected<'_>) {
    let frame = seen.settled.frame.as_bytes();
    for flaw in shape::check(shape::result(seen.method), revision, seen.result) {
        // The schemas of tools are looked at more closely where lists are.
        if !flaw.message.contains("].inputSchema") && !flaw.message.contains("].outputSchema") {
            record.note_flaw(&format!("`{}`", seen.method.name()), &flaw, frame);
        }
    }
    if seen.method == Method::ToolsCall {
        tool(record, seen);
    }
    for part in array(seen.result, "contents") {
        data(record, part, "blob", frame);
    }
    for message in array(seen.result, "messages") {
        if let Some(content) = message.get("content") {
            block(record, content, frame);
        }
    }
    if seen.settled.bytes <= LARGEST_SECOND
        && let Some(reason) = second_opinion::refusal(seen.method, seen.result)
    {
        let message = format!(
            "the official Rust types cannot read this answer to `{}`: {reason}",
            seen.method.name()
        );
        record.note(FindingCode::TypedClientRejects, message, frame);
    }
}

fn tool(record: &mut Record, seen: Inspected<'_>) {
    let frame = seen.settled.frame.as_bytes();
    let content = array(seen.result, "content");
    for one in content {
        block(record, one, frame);
    }
    let is_error = seen.result.get("isError") == Some(&Value::Bool(true));
    let says = |holder: &Value| {
        let text = holder.get("text").and_then(Value::as_str);
        text.is_some_and(|text| !text.trim().is_empty())
    };
    // An embedded resource may hold the text.
    let speaks = |one: &Value| says(one) || one.get("resource").is_some_and(says);
    let speaks = content.iter().any(speaks);
    if is_error && !speaks {
        let message = "a tool error without any text";
        record.note(FindingCode::ErrorWithoutText, message, frame);
    }
}

fn block(record: &mut Record, block: &Value, frame: &[u8]) {
    match block.get("type").and_then(Value::as_str) {
        Some("image" | "audio") => data(record, block, "data", frame),
        Some("resource") => {
            if let Some(resource) = block.get("resource") {
                data(record, resource, "blob", frame);
            }
        }
        Some(_) | None => {}
    }
}

/// Looks at base64 text and at what its first bytes say of the format.
fn data(record: &mut Record, holder: &Value, member: &str, frame: &[u8]) {
    let Some(text) = holder.get(member).and_then(Value::as_str) else {
        return;
    };
    let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(text) else {
        let message = format!("`{member}` is not base64: {}", brief(&Value::from(text)));
        return record.note(FindingCode::BadBase64, message, frame);
    };
    let said = holder.get("mimeType").and_then(Value::as_str);
    if let (Some(said), Some(format)) = (said, image_format(&bytes))
        && let Some(name) = image_name(said)
        && !format.contains(&name.as_str())
    {
        let format = format[0];
        let message = format!("`mimeType` says `{said}`, and the data is image/{format}");
        record.note(FindingCode::MimeMismatch, message, frame);
    }
}

/// The name of a format of images, small and without parameters.
fn image_name(mime: &str) -> Option<String> {
    let bare = mime.split(';').next().unwrap_or_default().trim();
    let name = bare.to_ascii_lowercase();
    name.strip_prefix("image/").map(str::to_owned)
}

/// The format that the first bytes of an image tell: its name, and the others that it goes by.
fn image_format(bytes: &[u8]) -> Option<&'static [&'static str]> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(&["png", "x-png", "apng", "vnd.mozilla.apng"])
    } else if bytes.starts_with(b"\xFF\xD8\xFF") {
        Some(&["jpeg", "jpg", "pjpeg", "x-jpeg", "x-jpg", "jfif"])
    } else if bytes.starts_with(b"GIF8") {
        Some(&["gif", "x-gif"])
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some(&["webp", "x-webp"])
    } else if bytes.starts_with(b"BM") {
        Some(&["bmp", "x-bmp", "x-ms-bmp", "x-windows-bmp", "ms-bmp"])
    } else {
        None
    }
}

fn array<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    let items = value.get(member).and_then(Value::as_array);
    items.map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FindingCode as F, Inspected, Method, Revision, Settled, result};
    use crate::session::record::Record;

    fn codes(method: Method, value: &Value) -> Vec<F> {
        let mut record = Record::default();
        let seen = Inspected {
            method,
            result: value,
            settled: &Settled::default(),
        };
        result(&mut record, Revision::V2025_11_25, seen);
        record.findings.iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn tool_results_are_looked_into() {
        let case = |value: Value, wanted: &[F]| {
            assert_eq!(codes(Method::ToolsCall, &value), wanted, "{value}");
        };
        let png = "iVBORw0KGgo=";
        let image =
            |data: &str, mime: &str| json!({"type": "image", "data": data, "mimeType": mime});
        case(json!({"content": [image(png, "image/png")]}), &[]);
        case(
            json!({"content": [image("%%%", "image/png")]}),
            &[F::BadBase64],
        );
        case(
            json!({"content": [image("/9j/4AA=", "image/png")]}),
            &[F::MimeMismatch],
        );
        for (data, mime) in [
            ("/9j/4AA=", "image/jpg"),
            ("/9j/4AA=", "image/pjpeg"),
            (png, "image/x-png"),
            (png, "IMAGE/PNG; q=1"),
            ("Qk0AAAAA", "image/x-ms-bmp"),
            ("Qk0AAAAA", "image/bmp"),
            ("AAABAAEA", "image/vnd.microsoft.icon"),
            ("PHN2Zz4=", "image/svg+xml"),
        ] {
            case(json!({"content": [image(data, mime)]}), &[]);
        }
        case(
            json!({"content": [image("Qk0AAAAA", "image/x-png")]}),
            &[F::MimeMismatch],
        );
        let embedded = |text: &str| {
            let resource = json!({"uri": "a:b", "text": text});
            json!({"content": [{"type": "resource", "resource": resource}], "isError": true})
        };
        case(embedded("why"), &[]);
        case(embedded(" "), &[F::ErrorWithoutText]);
        case(
            json!({"content": [], "isError": true}),
            &[F::ErrorWithoutText],
        );
        case(
            json!({"content": [{"type": "text", "text": "no"}], "isError": true}),
            &[],
        );
        let hologram = json!({"type": "hologram"});
        case(
            json!({"content": [{"type": "text", "text": "x"}, hologram]}),
            &[F::UnknownContentType, F::TypedClientRejects],
        );
        case(
            json!({"content": [], "isError": "yes"}),
            &[F::Schema, F::TypedClientRejects],
        );
    }

    #[test]
    fn binary_resources_are_base64() {
        let blob = json!({"contents": [{"uri": "x:1", "blob": "!"}]});
        assert_eq!(codes(Method::ResourcesRead, &blob), [F::BadBase64]);
    }
}
