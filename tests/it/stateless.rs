//! Servers without a handshake (revision 2026-07-28): what is sent to them, and what they are told by who speaks another
//! revision.

use serde_json::Value;

use crate::harness::{BINARY, Project};

/// The messages that were sent to the server that was called; others were asked what they list.
fn sent(project: &Project) -> Vec<Value> {
    let entries = std::fs::read_dir(project.path()).unwrap();
    let texts = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "sent"))
        .map(|path| std::fs::read_to_string(path).unwrap());
    let text = texts.into_iter().find(|text| text.contains("tools/call"));
    text.unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A suite of one assertion against the embedded server, whose input is kept in a file of its own.
fn suite(era: &str, document: &str) -> Project {
    let server = format!("tee $$.sent | exec '{BINARY}' serve --era {era}");
    Project::with_suite(&format!(
        "name: a\nserver: {{command: sh, args: [-c, \"{server}\"]}}\n{document}\n"
    ))
}

fn passes(project: &Project) {
    let ran = project.run(&["run", "evals", "--strict-protocol"]);
    assert_eq!(ran.code, 0, "{}{}", ran.shown(), ran.complaints());
}

fn methods(sent: &[Value]) -> Vec<&str> {
    sent.iter()
        .filter_map(|message| message["method"].as_str())
        .collect()
}

#[test]
fn each_request_carries_what_a_handshake_would_say() {
    let project = suite(
        "auto",
        "client: {protocol: stateless}\n\
         assert_sampling: {tool: test_sampling, args: {prompt: why}, mock_text: so, expect: {contains: [so]}}",
    );
    passes(&project);
    let sent = sent(&project);
    let wanted = ["server/discover", "tools/call", "tools/call"];
    assert_eq!(methods(&sent), wanted);
    for request in &sent {
        let meta = &request["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        let declared = &meta["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*declared, serde_json::json!({"sampling": {}}));
    }
    let responses = &sent[2]["params"]["inputResponses"];
    assert_eq!(responses["sampling"]["content"]["text"], "so");
}

#[test]
fn a_server_that_refuses_the_handshake_is_spoken_to_without() {
    let project = suite("modern", "assert: {tool: test_simple_text}");
    passes(&project);
    let wanted = ["initialize", "server/discover", "tools/call"];
    assert_eq!(methods(&sent(&project)), wanted);
}

#[test]
fn a_server_that_shakes_hands_is_asked_for_nothing_else() {
    let project = suite("auto", "assert: {tool: test_simple_text}");
    passes(&project);
    let wanted = ["initialize", "notifications/initialized", "tools/call"];
    assert_eq!(methods(&sent(&project)), wanted);
}

#[test]
fn who_asks_in_a_revision_that_is_not_spoken_is_told_which_are() {
    let case = |era: &str, protocol: &str, wanted: &[&str]| {
        let document =
            format!("client: {{protocol: \"{protocol}\"}}\nassert: {{tool: test_simple_text}}");
        let project = suite(era, &document);
        let ran = project.run(&["run", "evals"]);
        let said = ran.shown();
        assert_eq!(ran.code, 1, "{said}");
        for wanted in wanted {
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
    };
    case(
        "modern",
        "2025-06-18",
        &[
            "`initialize` was refused with -32022 (unsupported protocol version)",
            "the server speaks 2026-07-28; write `protocol: 2026-07-28`",
        ],
    );
    case(
        "legacy",
        "stateless",
        &[
            "`server/discover` was refused with -32601",
            "without `protocol` a handshake is made first",
        ],
    );
}

#[test]
fn over_http_with_sse_it_is_not_spoken() {
    let project = Project::with_suite(
        "name: a\nserver: {transport: sse, url: 'http://127.0.0.1:9/mcp', protocol: stateless}\nassert: {tool: x}\n",
    );
    let ran = project.run(&["run", "evals"]);
    let said = ran.shown();
    assert_eq!(ran.code, 1, "{said}");
    let wanted = "2026-07-28 has no transport `sse`";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn an_assertion_runs_on_each_revision_that_its_server_speaks() {
    let project = Project::with_suite(
        "name: a\nserver: {builtin: conformance, args: [--protocol, 2025-06-18, --protocol, 2026-07-28]}\n\
         assert: {tool: test_simple_text}\n---\n\
         name: pinned\nclient: {protocol: stateless}\nserver: {builtin: conformance}\n\
         assert: {tool: test_simple_text}\n---\n\
         name: broken\nserver: {command: 'false'}\nassert: {tool: test_simple_text}\n",
    );
    let ran = project.run(&["run", "evals", "--protocol", "all", "--target", "all"]);
    assert_eq!(ran.code, 2, "there are no targets");
    let ran = project.run(&["run", "evals", "--protocol", "all"]);
    let shown = ran.shown();
    let outcomes: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.strip_suffix("  [TIME]"))
        .collect();
    let wanted = [
        "PASS  a [2025-06-18]",
        "PASS  a [2026-07-28]",
        "PASS  pinned",
        "ERROR broken [2025-11-25]",
    ];
    assert_eq!(outcomes, wanted, "{shown}");
    let told = ran.complaints();
    assert!(
        told.contains("the server speaks 2025-06-18, 2026-07-28; not 2024-11-05: "),
        "{told}"
    );
    let ran = project.run(&["run", "evals", "--protocol", "2025-06-19"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.complaints().contains("did you mean `2025-06-18`?"),
        "{}",
        ran.complaints()
    );
}

#[test]
fn what_differs_between_revisions_is_one_finding_with_both_answers() {
    let project = Project::with_suite(
        "name: a\nserver: {builtin: conformance, protocol: [2025-06-18, 2025-11-25, stateless]}\n\
         assert: {tool: echo, args: {message: hi, with_meta: true}}\n---\n\
         name: b\nserver: {builtin: conformance, protocol: [2025-06-18, stateless]}\n\
         assert: {tool: echo, args: {message: hi}}\n",
    );
    let ran = project.run(&["run", "evals", "--trials", "2"]);
    assert_eq!(ran.code, 0, "{}{}", ran.shown(), ran.complaints());
    let shown = ran.shown();
    let found: Vec<&str> = shown
        .lines()
        .filter(|line| line.contains("revisions-differ"))
        .collect();
    assert_eq!(found.len(), 1, "{shown}");
    assert!(
        found[0].contains("on 2025-06-18, 2025-11-25 the answer is"),
        "{shown}"
    );
    assert!(found[0].contains("on 2026-07-28 it is"), "{shown}");
    assert!(!found[0].contains("resultType"), "{shown}");
}
