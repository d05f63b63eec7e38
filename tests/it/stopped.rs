//! A run that is stopped and continued (Ctrl-Z and `fg`): what servers did meanwhile is judged as if it had been read
//! in time.

use serde_json::Value;

use crate::harness::Project;

/// A server whose tool stops its parent and continues it after the deadline. The tool's name says what it sends in
/// between, or right before.
const SERVER: &str = r#"
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
text() { answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
stop() { kill -STOP $PPID; until grep -q '^State:.T' /proc/$PPID/status; do :; done; }
heard() { say '{"jsonrpc":"2.0","id":"p","method":"ping"}'; read -r pong; }
go_on() { sleep 2.5; kill -CONT $PPID; }
while IFS= read -r line; do
  id=$(say "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"name":"answers"'*) stop; text yes; go_on ;;
    *'"name":"long"'*) stop; text "$(head -c 300000 /dev/zero | tr '\0' x)" & go_on ;;
    *'"name":"asks"'*) stop; say '{"jsonrpc":"2.0","id":"q","method":"roots/list"}'; go_on; read -r roots; text yes ;;
    *'"name":"tells"'*) text yes; heard; stop; say '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"bad"}}'; go_on ;;
    *'"name":"ends"'*) stop; text yes; (go_on) & exit 0 ;;
    *'"name":"silent"'*) stop; go_on ;;
    *'"name":"quick"'*) text yes ;;
  esac
done
"#;

/// The outcomes of these assertions, each with its own server and a deadline shorter than the stop.
fn outcomes(documents: &[&str]) -> Vec<Value> {
    let server =
        "server: {command: sh, args: [server.sh]}\nclient: {client_capabilities: {roots: [.]}}\n";
    let documents: Vec<String> = documents
        .iter()
        .map(|document| format!("{server}timeout: 2s\n{document}\n"))
        .collect();
    let ran = Project::with_suite(&documents.join("---\n"))
        .file("server.sh", SERVER)
        .run(&["run", "--json", "--jobs", "1", "evals"]);
    let Value::Array(outcomes) = ran.json() else {
        panic!("{}", ran.stdout);
    };
    assert_eq!(outcomes.len(), documents.len(), "{}", ran.stderr);
    outcomes
}

#[test]
fn nightly_an_answer_that_came_while_we_were_stopped_came_in_time() {
    let documents = [
        "assert: {tool: answers, expect: {contains: 'yes'}}",
        "assert: {tool: long, expect: {contains: xxx}}",
        "assert: {tool: asks, expect: {contains: 'yes'}}",
        "setup: [{tool: answers}]\nassert: {tool: quick, expect: {contains: 'yes'}}",
        "steps: [{tool: answers}, {wait: 10ms}, {tool: quick, expect: {contains: 'yes'}}]",
        "assert: {tool: ends, expect: {contains: 'yes'}}",
    ];
    for (document, outcome) in documents.iter().zip(outcomes(&documents)) {
        assert_eq!(outcome["status"], "PASS", "{document}: {outcome}");
    }
}

#[test]
fn what_must_not_come_and_came_while_we_were_stopped_fails() {
    let documents = [
        "assert_notifications: {tool: tells, within: 1s, expect: {not_methods: [notifications/message]}}",
        "assert_logging: {tool: tells, within: 1s, expect: {max_messages: 0}}",
        "steps: [{tool: tells, expect: {within: 1s, notifications: {max_count: 0}}}, {tool: quick}]",
    ];
    for (document, outcome) in documents.iter().zip(outcomes(&documents)) {
        assert_eq!(outcome["status"], "FAIL", "{document}: {outcome}");
    }
}

#[test]
fn a_server_that_said_nothing_while_we_were_stopped_is_still_out_of_time() {
    let silent = "assert: {tool: silent, expect: {contains: 'yes'}}";
    let outcome = &outcomes(&[silent])[0];
    assert_eq!(outcome["kind"], "error", "{outcome}");
    let reason = outcome.to_string();
    assert!(reason.contains("the timeout of 2 s was over"), "{reason}");
}
