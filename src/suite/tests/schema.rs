//! The JSON Schema accepts what the loader accepts, and the reference names every key.

use super::{Sample, go_suites::SUITES};
use crate::suite::{reference, schema::json_schema};

/// The documents of a text as JSON.
fn documents(text: &str) -> Vec<serde_json::Value> {
    let problems = Sample::problems(text);
    crate::suite::yaml::parse(text, crate::suite::yaml::Source::Suite, problems)
        .filter_map(|document| document.root)
        .map(crate::suite::yaml::Node::into_value)
        .collect()
}

#[test]
fn suites_satisfy_the_schema() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    for (name, text) in SUITES {
        for document in documents(text) {
            let errors: Vec<String> = schema
                .iter_errors(&document)
                .map(|error| format!("{error} at {}", error.instance_path()))
                .collect();
            assert_eq!(errors, [""; 0], "{name}: {document}");
        }
    }
}

#[test]
fn the_schema_refuses_what_the_loader_refuses() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    for text in [
        "asert: {tool: x}",
        "assert: {tool: x, expect: {containz: a}}",
        "timeout: [1]",
    ] {
        for document in documents(text) {
            assert!(!schema.is_valid(&document), "{text}");
        }
    }
}

#[test]
fn the_reference_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, reference()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == reference(),
        "docs/reference.md is not what the program says: run this test with UPDATE_DOCS=1"
    );
}

#[test]
fn the_reference_has_every_key() {
    let reference = reference();
    for key in [
        "`assert_elicitation`",
        "`by_message",
        "`not_below`",
        "`skip_unless_env`",
        "`threshold`",
        "`unknown-key`",
        "`vacuous`",
    ] {
        assert!(reference.contains(key), "{key}");
    }
    assert!(!reference.contains("RawTool"), "a Rust name shows through");
}
