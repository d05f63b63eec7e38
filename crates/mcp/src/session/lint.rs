//! What is wrong with the entries of a list: names that repeat or break the rules, tool schemas that no client
//! can use. Nothing is fetched, and every walk is bounded.

use std::collections::HashSet;

use serde_json::Value;

use super::record::{Record, brief};
use crate::{
    json::{
        json_schema::{self, NotCompiled},
        walk::walk,
    },
    observation::finding::FindingCode,
    protocol::{method::Method, revision::Revision},
};

/// The longest name of a tool that the specification advises.
const LONGEST_NAME: usize = 128;

/// Nodes of one schema that are looked at.
const MOST_NODES: usize = 20_000;

/// References and requirements that are followed before a schema is left alone.
const DEEPEST: usize = 100;

/// Notes what is wrong with the items of a list.
pub(super) fn items(record: &mut Record, method: Method, items: &[Value], revision: Revision) {
    let Some(key) = method.item_key() else {
        return;
    };
    let mut seen = HashSet::with_capacity(items.len());
    for item in items {
        let Some(name) = item.get(key).and_then(Value::as_str) else {
            continue;
        };
        if !seen.insert(name) {
            let message = format!("`{}` is listed twice by `{}`", cut(name), method.name());
            record.note_bare(FindingCode::DuplicateName, message);
        }
    }
    if method == Method::ToolsList {
        for item in items {
            tool(record, item, revision);
        }
    }
}

fn tool(record: &mut Record, tool: &Value, revision: Revision) {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let is_advised = name.len() <= LONGEST_NAME && name.bytes().all(allowed);
    if name.is_empty() || revision.names_tools() && !is_advised {
        let message = format!(
            "the tool name `{}` is not 1 to 128 of A-Z a-z 0-9 _ - .",
            cut(name)
        );
        record.note_bare(FindingCode::BadName, message);
    }
    if let Some(written) = tool.get("inputSchema") {
        schema(
            record,
            &format!("`inputSchema` of `{}`", cut(name)),
            written,
        );
    } else {
        let message = format!("`inputSchema` of `{}` is missing", cut(name));
        record.note_bare(FindingCode::BadToolSchema, message);
    }
    if let Some(written) = tool.get("outputSchema") {
        schema(
            record,
            &format!("`outputSchema` of `{}`", cut(name)),
            written,
        );
    }
}

fn schema(record: &mut Record, what: &str, schema: &Value) {
    if let Some(reason) = flaw(schema) {
        record.note_bare(FindingCode::BadToolSchema, format!("{what} {reason}"));
    }
    if let Some(reference) = remote_reference(schema) {
        let message = format!(
            "{what} refers to `{}`, which was not fetched",
            cut(reference)
        );
        record.note_bare(FindingCode::RemoteReference, message);
    }
}

fn flaw(schema: &Value) -> Option<String> {
    let Some(members) = schema.as_object() else {
        return Some(format!("is {}, not an object", brief(schema)));
    };
    match members.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        Some(kind) => {
            return Some(format!("is of type {} instead of \"object\"", brief(kind)));
        }
        None => return Some("does not say `type: object`".to_owned()),
    }
    // A schema that refers to other documents, or is too large to compile, is not judged.
    if let Err(NotCompiled::Invalid(invalid)) = json_schema::compile(schema)
        && !invalid.is_elsewhere
    {
        return Some(format!(
            "is not a valid JSON Schema: {}",
            text::head(&invalid.message, 200)
        ));
    }
    let endless = requires_itself(schema, schema, &mut Vec::new(), &mut 0);
    endless.then(|| "requires itself within itself: no finite value satisfies it".to_owned())
}

/// The first reference that leaves the document for another host.
fn remote_reference(schema: &Value) -> Option<&str> {
    walk(schema).take(MOST_NODES).find_map(|node| {
        let references = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter();
        let mut references = references.filter_map(|key| node.get(key)?.as_str());
        references.find(|reference| is_remote(reference))
    })
}

fn is_remote(reference: &str) -> bool {
    let known = reference.contains("://json-schema.org/");
    let scheme = reference.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| !scheme.is_empty()) && !known
}

/// Whether a value of this schema has to hold another value of this schema, and so on without end.
fn requires_itself<'a>(
    node: &'a Value,
    root: &'a Value,
    above: &mut Vec<&'a Value>,
    nodes: &mut usize,
) -> bool {
    *nodes += 1;
    if *nodes > MOST_NODES || above.len() > DEEPEST {
        return false;
    }
    if above.iter().any(|other| std::ptr::eq(*other, node)) {
        return true;
    }
    above.push(node);
    let reference = node.get("$ref").and_then(Value::as_str);
    let target = reference
        .and_then(|reference| reference.strip_prefix('#'))
        .and_then(|pointer| root.pointer(pointer));
    let all = node.get("allOf").and_then(Value::as_array);
    let required = node.get("required").and_then(Value::as_array);
    let required = required
        .into_iter()
        .flatten()
        .filter_map(|name| node.get("properties")?.get(name.as_str()?));
    let endless = target
        .into_iter()
        .chain(all.into_iter().flatten())
        .chain(required)
        .any(|next| requires_itself(next, root, above, nodes));
    above.pop();
    endless
}

fn cut(name: &str) -> String {
    text::head(name, 60)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FindingCode, Method, Revision, items};
    use crate::session::record::Record;

    fn lint(method: Method, list: &Value) -> Vec<FindingCode> {
        lint_by(Revision::V2025_11_25, method, list)
    }

    fn lint_by(revision: Revision, method: Method, list: &Value) -> Vec<FindingCode> {
        let mut record = Record::default();
        items(&mut record, method, list.as_array().unwrap(), revision);
        record.findings.iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn names_of_tools_have_rules_since_there_are_some() {
        let list = |name: &str| json!([{"name": name, "inputSchema": {"type": "object"}}]);
        for (name, revision, wanted) in [
            ("my tool (x)", Revision::V2024_11_05, &[][..]),
            ("my tool (x)", Revision::V2025_06_18, &[]),
            (
                "my tool (x)",
                Revision::V2025_11_25,
                &[FindingCode::BadName],
            ),
            ("", Revision::V2024_11_05, &[FindingCode::BadName]),
            ("a.b-c_d1", Revision::V2025_11_25, &[]),
            // Proposed, and not what the specification came to say.
            ("a/b", Revision::V2025_11_25, &[FindingCode::BadName]),
        ] {
            let found = lint_by(revision, Method::ToolsList, &list(name));
            assert_eq!(found, wanted, "{name}, {revision}");
        }
    }

    #[test]
    fn schemas_are_objects_that_can_be_satisfied() {
        let case = |schema: Value, wanted: &[FindingCode]| {
            let list = json!([{"name": "a", "inputSchema": schema}]);
            assert_eq!(lint(Method::ToolsList, &list), wanted, "{schema}");
        };
        let bad = &[FindingCode::BadToolSchema];
        case(json!({"type": "object"}), &[]);
        case(json!("x"), bad);
        case(json!({}), bad);
        case(json!({"type": "string"}), bad);
        case(json!({"type": 12}), bad);
        case(
            json!({"type": "object", "properties": {"a": {"type": 12}}}),
            bad,
        );
        let with = |a: Value| json!({"type": "object", "properties": {"a": a}});
        case(with(json!({"pattern": "("})), bad);
        case(with(json!({"pattern": "^(?=.*a)[\\w-]+$"})), &[]);
        case(with(json!({"patternProperties": {"[": {}}})), bad);
        case(with(json!({"$ref": "#/$defs/none"})), bad);
        case(with(json!({"$ref": "#none"})), bad);
        case(
            with(json!({"$ref": "#/properties/a/$defs/b", "$defs": {"b": {}}})),
            &[],
        );
        // What is not fetched may be as good as any.
        case(with(json!({"$ref": "other.json"})), &[]);
        let huge = serde_json::from_str(r#"{"multipleOf": 1e999999999}"#).unwrap();
        case(with(huge), bad);
        let next = json!({"next": {"$ref": "#"}});
        case(json!({"type": "object", "properties": next}), &[]);
        case(
            json!({"type": "object", "properties": next, "required": ["next"]}),
            bad,
        );
        case(
            json!({"type": "object", "properties": {"a": {"$ref": "http://x.invalid/s"}}}),
            &[FindingCode::RemoteReference],
        );
        case(
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
            &[],
        );
        let mut deep = json!({"type": "object"});
        for _ in 0..100 {
            deep = json!({"type": "object", "properties": {"a": deep}, "required": ["a"]});
        }
        case(deep, &[]);
    }

    #[test]
    fn names_are_unique_and_plain() {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let case = |list: Value, wanted: &[FindingCode]| {
            assert_eq!(lint(Method::ToolsList, &list), wanted, "{list}");
        };
        case(json!([tool("a"), tool("b.c_d-F")]), &[]);
        case(json!([tool("a"), tool("a")]), &[FindingCode::DuplicateName]);
        case(json!([tool("a b")]), &[FindingCode::BadName]);
        case(json!([tool(&"n".repeat(129))]), &[FindingCode::BadName]);
        case(json!([{"name": "a"}]), &[FindingCode::BadToolSchema]);
        let resource = json!({"uri": "x:1", "name": "same"});
        assert_eq!(
            lint(Method::ResourcesList, &json!([resource, resource])),
            [FindingCode::DuplicateName]
        );
    }
}
