//! The JSON Schema accepts what the loader accepts, and the reference names every key.

use super::{Sample, go_suites::SUITES};
use crate::{reference, schema::json_schema};
use text::diagnostic::Severity;

/// The documents of a text as JSON.
pub(super) fn documents(text: &str) -> Vec<serde_json::Value> {
    let problems = Sample::problems(text);
    crate::yaml::parse(
        text,
        crate::yaml::Source::Suite,
        problems,
        crate::Dialect::Native,
    )
    .filter_map(|document| document.root)
    .map(crate::yaml::Node::into_value)
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

/// Whether the schema and the loader take a document on a plain server.
fn verdicts(schema: &jsonschema::Validator, text: &str) -> (bool, bool) {
    let text = if text.contains("server:") {
        text.to_owned()
    } else {
        format!("server: {{command: s}}\n{text}")
    };
    let found = documents(&text);
    assert_eq!(found.len(), 1, "{text}");
    let problems = Sample::one(&text).load().suite.problems;
    let loads = problems.iter().all(|it| it.severity == Severity::Warning);
    (schema.is_valid(&found[0]), loads)
}

/// Documents that schema and loader take, on a plain server.
const TAKEN: &[&str] = &[
    "assert_elicitation: {tool: x, expect_request: [{zz: 1}]}",
    "assert_elicitation: {tool: x, answer: {by_message: {a: {action: decline}}}}",
    "assert_elicitation: {tool: x, answer: {name: Ada, action: decline}}",
    "assert_logging: {set_level: warning, expect: {contains_level: [info, error], not_below: debug}}",
    "steps: [{set_level: '{{{{x'}]",
    "assert: {tool: x, expect: {findings: none}}",
    "skip: it is slow\nassert: {tool: x}",
    "skip: yes\nassert: {tool: x, expect: {not_error: On, exit: {clean: n}, output_schema: OFF}}",
    "assert: {tool: x, expect: {min_results: '{{fixture!}}', not_error: '{{fixture!}}', error: {code: '{{fixture!}}'}}}",
    "assert: {tool: x, expect: {not: {content: ['{{fixture!}}', {min_bytes: '{{fixture!}}'}]}, exit: '{{fixture!}}'}}",
    "assert: {tool: x, expect: {file_contains: {a: '{{fixture}}'}, notifications: {min_count: 'a {{{{ b'}}}",
    "assert_sampling: {tool: x, expect_request: '{{fixture!}}'}",
    "assert_sampling: {tool: x, expect_request: {count: 1}}",
    "trajectory: []\nassert: {tool: x}",
    "assert_logging: {tool: x, expect: {min_messages: '{{fixture!}}'}}",
    "trace: []\ntrajectory: [{type: count, tool: a, min: '{{fixture!}}'}, '{{fixture!}}', {type: order, tools: a, tool: }]",
    "steps: [{ping: yes}, {tool: a, read: }]",
    "http: {request: {}}",
    "http: {request: {path: /x, body: {a: 1}}, expect: {status: [4xx, 200], headers: {a: /b/}, body: {contains: x}}}",
    "assert_resources: {list: }",
    "assert_prompts: {list: }",
    "assert_elicitation: {tool: x, answer: {action: }}",
    "assert_elicitation: {tool: x, answer: {by_message: }}",
    "trace: [{tool: a, outcome: ok}]\ntrajectory: [{type: count, tool: a, min: 1}]",
];

/// Documents that neither of them takes.
const REFUSED: &[&str] = &[
    "trajectory: []",
    "assert: {tool: x}\ntimeout: 30",
    "assert: {tool: x, expect: {max_duration: 1}}",
    "setup: [{wait: true}]\nassert: {tool: x}",
    "assert_notifications: {tool: x, within: 2}",
    "assert: {args: {}}",
    "assert: {tool: }",
    "assert_sampling: {}",
    "assert_completion: {ref: {type: ref/prompt, name: a}}",
    "assert_completion: {ref: {type: ref/tool, name: a}, argument: {name: a}}",
    "assert_prompts: {get: {arguments: {}}}",
    "raw: {expect: {}}",
    "http: {expect: {}}",
    "http: {request: {}, expect: {stauts: 200}}",
    "http: {request: {}, expect: {status: 6xx}}",
    "http: {request: {}, expect: {body: hello}}",
    "assert: {tool: x, expect: {min_results: {path: $.a}}}",
    "assert: {tool: x, expect: {findings: [stdout-nois]}}",
    "assert: {tool: x, expect: {snapshot: 'true'}}",
    "assert_logging: {set_level: warn}",
    "skip: 'true'\nassert: {tool: x}",
    "steps: []",
    "steps: [{}]",
    "steps: [{tool: a, read: b}]",
    "steps: [{ping: no}]",
    "steps: [{tool: ' '}]",
    "assert_resources: {}",
    "assert_resources: {read: }",
    "assert_prompts: {}",
    "assert: {tool: x, expect: {min_results: '{{ fixture }}'}}",
    "assert: {tool: x, expect: {min_results: many}}",
    "assert: {tool: x, expect: {exit: {}}}",
    "assert: {tool: x, expect: {exit: {code: 1, clean: true}}}",
    "assert: {tool: x, expect: {server_requests: {}}}",
    "assert: {tool: x, expect: {server_requests: [{count: 1}]}}",
    "assert: {tool: x, expect: {content: {min_bytes: x}}}",
    "trace: []\ntrajectory: [{type: order, tool: a}]",
    "trace: []\ntrajectory: [{type: order, tools: [a], tool: a}]",
    "trace: []\ntrajectory: [{type: count, tool: a}]",
    "trace: []\ntrajectory: [{type: within_ms, from: a}]",
    "trace: [{tool: a, outcome: '{{fixture}}'}]\ntrajectory: [{type: presence, tools: [a]}]",
    "trace: [{}]\ntrajectory: [{type: presence, tools: [a]}]",
    "trace: [{tool: a}]\ntrajectory: []",
    "trace: [{tool: a}]\ntrajectory: [{type: presense, tools: [a]}]",
];

#[test]
fn the_schema_and_the_loader_agree() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    let case = |text: &str, wanted: bool| {
        assert_eq!(verdicts(&schema, text), (wanted, wanted), "{text}");
    };
    let client = |capability: &str| {
        format!("client: {{client_capabilities: {{{capability}}}}}\nassert: {{tool: x}}")
    };
    let server = |keys: &str| format!("server: {{{keys}}}\nassert: {{tool: x}}");
    let good = [
        server("command: s, transport: STDIO, protocol: 2025-06-18"),
        server("builtin: minimal, protocol: Auto"),
        server("command: s, inherit_env: [A]"),
        server("command: s, transport: ''"),
        server("command: s, docker: {image: a, warm: no}"),
    ];
    let good = good.iter().map(String::as_str).chain(TAKEN.iter().copied());
    for good in good {
        case(good, true);
    }
    let bad = [
        server("command: s, inherit_env: 'true'"),
        server("command: s, transport: htttp"),
        server("command: s, protocol: 2025-06-19"),
        server("builtin: conformence"),
        server("command: s, docker: {image: a, pull: allways}"),
        server("command: s, docker: {image: a, mounts: [{}]}"),
        client("elicitation: {action: acept}"),
        client("elicitation: {by_message: 5}"),
        client("elicitation: {by_message: [{a: {action: decline}}]}"),
        client("elicitation: {by_message: true}"),
        client("elicitation: {by_message: {a: {}}, action: decline}"),
    ];
    let bad = bad
        .iter()
        .map(String::as_str)
        .chain(REFUSED.iter().copied());
    for bad in bad {
        case(bad, false);
    }
}

#[test]
fn the_reference_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference.md");
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
