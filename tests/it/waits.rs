//! What comes after an answer: it is waited for whatever the subject or the step, an end of the server meanwhile is no
//! verdict, and what came before counts by one rule.

use serde_json::Value;

use crate::harness::Project;

/// A server that says `$LATE` behind each of its answers, in one breath, so that no time lies between; behind that of the
/// handshake only where `$GREETS` is set. Then it does `$THEN`.
const SERVER: &str = r#"
NEWLINE='
'
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n%s' "$id" "$1" "${LATE:+$LATE$NEWLINE}"; }
  ask() {
    printf '{"jsonrpc":"2.0","id":"q","method":"%s","params":{"message":"m","messages":[],"maxTokens":1,"requestedSchema":{"type":"object","properties":{}}}}\n' "$1"
    read -r ignored
  }
  case "$line" in
    *'"initialize"'*) [ -n "$GREETS" ] || kept=$LATE LATE=; answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{},"completions":{},"prompts":{},"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}}'; LATE=${LATE:-$kept}; continue ;;
    *'"tools/list"'*) answer '{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}' ;;
    *'"resources/list"'*) answer '{"resources":[]}' ;;
    *'"resources/read"'*) answer '{"contents":[{"uri":"a://b","text":"text"}]}' ;;
    *'"prompts/get"'*) answer '{"messages":[]}' ;;
    *'"completion/complete"'*) answer '{"completion":{"values":[]}}' ;;
    *'"tools/call"'*)
      case "$line" in *'"sample"'*) ask sampling/createMessage ;; *'"elicit"'*) ask elicitation/create ;; esac
      answer '{"content":[{"type":"text","text":"text"}]}' ;;
    *'"id"'*) answer '{}' ;;
    *) continue ;;
  esac
  eval "$THEN"
done
"#;

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const UPDATED: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b"}}"#;
const ROOTS: &str = r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#;

/// Subjects and steps; `@` stands for what is expected.
const PLACES: [&str; 13] = [
    "assert: {tool: x, expect: {@}}",
    "assert_tools: {expect: {@}}",
    "assert_resources: {list: true, expect: {@}}",
    "assert_resources: {read: 'a://b', expect: {@}}",
    "assert_prompts: {get: {name: p}, expect: {@}}",
    "assert_completion: {ref: {type: ref/prompt, name: p}, argument: {name: a, value: b}, expect: {@}}",
    "assert_sampling: {tool: sample, mock_text: m, expect: {@}}",
    "assert_elicitation: {tool: elicit, answer: {action: accept}, expect: {@}}",
    "raw: {send: [{jsonrpc: '2.0', id: 77, method: ping}], expect: {@}}",
    "steps: [{tool: x, expect: {@}}]",
    "{parallel: true, steps: [{tool: x, expect: {@}}, {read: 'a://b'}]}",
    "{setup: [{tool: x, expect: {@}}], assert_initialize: {}}",
    "assert_initialize: {expect: {@}}",
];

/// What a document's server does.
#[derive(Clone, Copy, Default)]
struct Does {
    late: &'static str,
    then: &'static str,
}

/// Runs documents, and gives `error` or the status of each, and what is told of it.
fn outcomes(does: Does, documents: &[String]) -> Vec<(String, Value)> {
    let Does { late, then } = does;
    let suite: Vec<String> = documents
        .iter()
        .map(|document| {
            let greets = if document.starts_with("assert_initialize") {
                "1"
            } else {
                ""
            };
            let document = match document.strip_prefix('{') {
                Some(rest) => rest
                    .strip_suffix('}')
                    .unwrap()
                    .replace("true, ", "true\n")
                    .replace("}], ", "}]\n"),
                None => document.clone(),
            };
            format!(
                "server: {{command: sh, args: [server.sh], env: {{LATE: '{late}', THEN: '{then}', GREETS: '{greets}'}}}}\nclient: {{client_capabilities: {{roots: [.]}}}}\n{document}\n"
            )
        })
        .collect();
    let ran = Project::with_suite(&suite.join("---\n"))
        .file("server.sh", SERVER)
        .run(&["run", "--json", "evals"]);
    let Value::Array(outcomes) = ran.json() else {
        panic!("{}", ran.stdout);
    };
    assert_eq!(outcomes.len(), documents.len(), "{}", ran.stderr);
    let verdict = |outcome: Value| {
        let kind = outcome["kind"].as_str().filter(|kind| *kind == "error");
        let word = kind.or(outcome["status"].as_str()).unwrap().to_owned();
        (word, outcome)
    };
    outcomes.into_iter().map(verdict).collect()
}

fn everywhere(does: Does, expect: &str, wanted: &str) {
    let documents: Vec<String> = PLACES
        .iter()
        .map(|place| place.replace('@', expect))
        .collect();
    for (document, (verdict, outcome)) in documents.iter().zip(outcomes(does, &documents)) {
        assert_eq!(verdict, wanted, "{document}: {outcome}");
    }
}

#[test]
fn a_late_notification_counts_wherever_it_is_asked_for() {
    let does = Does {
        late: CHANGED,
        ..Does::default()
    };
    everywhere(does, "notifications: {max_count: 0}", "FAIL");
    everywhere(
        does,
        "notifications: {methods: notifications/tools/list_changed}",
        "PASS",
    );
    everywhere(does, "not: {notifications: {min_count: 1}}", "FAIL");
    everywhere(does, "not: {notifications: {max_count: 0}}", "PASS");
}

#[test]
fn a_late_request_of_the_server_counts_wherever_it_is_asked_for() {
    let does = Does {
        late: ROOTS,
        ..Does::default()
    };
    everywhere(does, "server_requests: {method: roots/list}", "PASS");
    everywhere(
        does,
        "server_requests: {method: roots/list, count: 0}",
        "FAIL",
    );
}

#[test]
fn a_server_that_ends_while_it_is_listened_to_is_an_error() {
    let does = Does {
        then: "echo at the end >&2; exit 7",
        ..Does::default()
    };
    let documents = [
        "assert_notifications: {tool: x, within: 5s, expect: {max_count: 0}}",
        "assert_notifications: {tool: x, within: 5s, expect: {min_count: 1}}",
        "assert_logging: {tool: x, within: 5s, expect: {max_messages: 0}}",
        "assert_resources: {subscribe: 'a://b', within: 5s, expect_notification: false}",
        "assert_resources: {read: 'a://b', within: 5s, expect: {notifications: {max_count: 0}}}",
        "steps: [{tool: x}, {wait: 5s}]",
    ]
    .map(str::to_owned);
    for (document, (verdict, outcome)) in documents.iter().zip(outcomes(does, &documents)) {
        assert_eq!(verdict, "error", "{document}: {outcome}");
        let told = outcome.to_string();
        for part in ["ended with exit code 7", "at the end"] {
            assert!(told.contains(part), "{document}: {part} in {told}");
        }
    }
}

#[test]
fn an_end_that_is_expected_or_came_too_late_to_matter_is_none() {
    let does = Does {
        late: CHANGED,
        then: "exit 7",
    };
    let documents = [
        "assert: {tool: x, expect: {notifications: {max_count: 1}, exit: 7}}",
        "steps: [{tool: x, expect: {exit: 7}}, {wait: 200ms}]",
        "assert_notifications: {tool: x, within: 5s, expect: {min_count: 1}}",
    ]
    .map(str::to_owned);
    for (document, (verdict, outcome)) in documents.iter().zip(outcomes(does, &documents)) {
        assert_eq!(verdict, "PASS", "{document}: {outcome}");
    }
}

#[test]
fn a_clean_end_is_one_that_was_asked_for() {
    let does = Does {
        then: "exit 0",
        ..Does::default()
    };
    let documents = ["steps: [{tool: x, expect: {exit: clean}}, {wait: 2s}]".to_owned()];
    let (verdict, outcome) = &outcomes(does, &documents)[0];
    assert_eq!(verdict, "FAIL", "{outcome}");
    assert!(
        outcome.to_string().contains("exit code 0, by itself"),
        "{outcome}"
    );
}

#[test]
fn a_server_is_not_blamed_for_waiting_for_an_answer_that_it_cannot_get() {
    let asks_at_the_end = format!("{SERVER}\nprintf '%s\\n' '{ROOTS}'\nexec sleep 60\n");
    let suite = "server: {command: sh, args: [server.sh]}\nassert: {tool: x}\n";
    let ran = Project::with_suite(suite)
        .file("server.sh", asks_at_the_end)
        .run(&["run", "--json", "evals"]);
    assert!(ran.stdout.contains("PASS"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("ignores-stdin-end"), "{}", ran.stdout);
}

#[test]
fn an_update_counts_from_the_beginning_on_unless_the_subject_subscribes_to_another_resource() {
    let document = |subject: &str, flag: bool| {
        format!(
            "setup: [{{subscribe: 'a://b'}}, {{ping: true}}]\nassert_resources: {{{subject}: 'a://c', within: 1s, expect_notification: {flag}}}"
        )
    };
    let does = Does {
        late: UPDATED,
        ..Does::default()
    };
    let cases = [("read", ["PASS", "FAIL"]), ("subscribe", ["FAIL", "PASS"])];
    for (subject, wanted) in cases {
        let documents = [document(subject, true), document(subject, false)];
        let seen = outcomes(does, &documents);
        let verdicts: Vec<&str> = seen.iter().map(|(verdict, _)| verdict.as_str()).collect();
        assert_eq!(verdicts, wanted, "{subject}");
    }
}

#[test]
fn a_server_that_a_signal_stops_is_told_as_stopped_and_not_as_deaf() {
    let suite = r#"
name: asks
server: {command: sh, args: [-c, "trap 'echo ended >told; exit 0' TERM; kill -STOP $$; while :; do sleep 0.05; done"]}
timeout: 1s
assert: {tool: any}
"#;
    let project = Project::with_suite(suite);
    let ran = project.run(&["run", "evals"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let is_told = ran.stdout.contains("a signal has stopped the server");
    assert!(is_told, "{}", ran.stdout);
    assert!(!ran.stdout.contains("SIGKILL"), "{}", ran.stdout);
    assert_eq!(project.read("told"), "ended\n");
}

#[test]
fn who_hung_at_work_is_not_left_at_work_for_long() {
    let project = Project::with_suite(
        "name: computes for seconds\n\
         server: {command: python3, args: [-c, \"import time\\nwhile time.process_time() < 6: pass\"]}\n\
         assert: {tool: any}\n",
    );
    let ran = project.run(&["run", "evals", "--timeout", "300ms"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("SIGTERM, sent by us"), "{}", ran.stdout);
}
