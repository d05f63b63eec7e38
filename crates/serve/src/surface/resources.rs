//! Resources, the template, and reading them.

use rmcp::ErrorData;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};

use super::official::TABLE;
use super::rounds::Inquiry;

/// The resource that a subscription gets an update of.
pub(super) const WATCHED: &str = "test://watched-resource";
/// The one template.
pub(super) const TEMPLATE: &str = "test://template/{id}/data";
/// All templates.
pub(super) const TEMPLATES: [&str; 1] = [TEMPLATE];

/// Eight bytes of no text.
const BINARY: &str = "iVBORw0KGgo=";

/// The resource whose text the client gives.
const ASKING: &str = "test://input-required";

/// One fixed resource.
pub(super) struct Fixed {
    pub(super) uri: &'static str,
    name: &'static str,
    about: &'static str,
    mime_type: &'static str,
    /// The member of its contents, and its value.
    body: (&'static str, &'static str),
}

/// All fixed resources, in the order of the list.
pub(super) const RESOURCES: [Fixed; 4] = [
    Fixed {
        uri: "test://static-text",
        name: "static-text",
        about: "Text that never changes",
        mime_type: "text/plain",
        body: ("text", "text that never changes"),
    },
    Fixed {
        uri: "test://static-binary",
        name: "static-binary",
        about: "Bytes that never change",
        mime_type: "image/png",
        body: ("blob", BINARY),
    },
    Fixed {
        uri: WATCHED,
        name: "watched-resource",
        about: "Text that can be subscribed to; one update follows each subscription",
        mime_type: "text/plain",
        body: ("text", "text that is watched"),
    },
    Fixed {
        uri: ASKING,
        name: "input-required",
        about: "Text that the client's user gives",
        mime_type: "text/plain",
        body: ("text", ""),
    },
];

/// The entry of `resources/list` for `uri`.
pub(super) fn entry(uri: &str) -> Option<Resource> {
    let fixed = RESOURCES.iter().find(|fixed| fixed.uri == uri)?;
    Some(
        Resource::new(fixed.uri, fixed.name)
            .with_description(fixed.about)
            .with_mime_type(fixed.mime_type),
    )
}

/// The entry of `resources/templates/list` for a template.
pub(super) fn template_entry(template: &str) -> ResourceTemplate {
    ResourceTemplate::new(template, "template")
        .with_description("JSON that holds the id of its URI")
        .with_mime_type("application/json")
}

/// The contents of `uri`, if one of `offered` holds it.
pub(super) fn read(uri: &str, resources: &[&str], templates: &[&str]) -> Option<Value> {
    let fixed = RESOURCES
        .iter()
        .find(|fixed| fixed.uri == uri && resources.contains(&uri));
    if let Some(fixed) = fixed {
        let (key, body) = fixed.body;
        return Some(json!({"uri": uri, "mimeType": fixed.mime_type, key: body}));
    }
    let id = template_id(uri).filter(|_| templates.contains(&TEMPLATE))?;
    let text = json!({"id": id, "templateTest": true}).to_string();
    Some(json!({"uri": uri, "mimeType": "application/json", "text": text}))
}

/// The question before `uri` is read; the answer is its text.
pub(super) fn asks(uri: &str) -> Option<&'static Inquiry> {
    (uri == ASKING).then_some(&TABLE.resource)
}

/// The value of `{id}` in a URI of the template.
fn template_id(uri: &str) -> Option<&str> {
    let id = uri
        .strip_prefix("test://template/")?
        .strip_suffix("/data")?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}

/// The answer to a URI that nothing is behind.
pub(super) fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        format!("no resource at \"{uri}\""),
        Some(json!({"uri": uri})),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_offered_can_be_read() {
        let all: Vec<&str> = RESOURCES.iter().map(|fixed| fixed.uri).collect();
        for uri in &all {
            assert!(read(uri, &all, &TEMPLATES).is_some(), "{uri}");
            assert!(read(uri, &[], &TEMPLATES).is_none(), "{uri}");
        }
        let filled = read("test://template/123/data", &all, &TEMPLATES).unwrap();
        assert_eq!(filled["text"], r#"{"id":"123","templateTest":true}"#);
        for uri in [
            "test://template//data",
            "test://template/a/b/data",
            "test://nothing",
            "file:///etc/passwd",
            "",
        ] {
            assert!(read(uri, &all, &TEMPLATES).is_none(), "{uri}");
        }
        assert!(read("test://template/123/data", &all, &[]).is_none());
    }
}
