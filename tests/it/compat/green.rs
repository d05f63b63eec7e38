//! Green with the Go tool, although it should not be.

use super::{case, embedded, run_in};
use crate::harness::Project;

/// Go tool: notifications over plain stdio are never delivered, unless `client_capabilities` is set: assertions
/// about log messages, progress and updates fail.
/// Here: every notification is recorded from the first byte on.
#[test]
fn notifications_reach_the_assertion() {
    embedded(
        "
name: log messages
assert_logging:
  set_level: debug
  tool: emit
  args: {method: notifications/message, params: {level: info, data: hello}, count: 2}
  expect: {min_messages: 2, contains_level: [info], contains_data: [hello]}
---
name: too few log messages
assert_logging:
  set_level: debug
  tool: emit
  args: {method: notifications/message, params: {level: info, data: hello}}
  expect: {min_messages: 2}
---
name: any notification
assert_notifications:
  tool: emit
  args: {method: notifications/tools/list_changed}
  expect: {min_count: 1, methods: [notifications/tools/list_changed]}
---
name: an update of a resource
assert_resources:
  subscribe: test://watched-resource
  read: test://watched-resource
  expect_notification: true
---
name: any notification of the setup
setup: [{tool: emit, args: {method: notifications/tools/list_changed}}]
assert_notifications:
  tool: echo
  args: {message: done}
  expect: {min_count: 1, methods: [notifications/tools/list_changed]}
---
name: no notification of the setup
setup: [{tool: emit, args: {method: notifications/tools/list_changed}}]
assert_notifications:
  tool: echo
  args: {message: done}
  expect: {max_count: 0}
",
        &[],
        &["PASS", "FAIL", "PASS", "PASS", "PASS", "FAIL"],
    );
}

/// Go tool: for the same reason `max_count: 0`, `not_methods` and `not_contains_data` always pass.
/// Here: they fail when such a notification comes.
#[test]
fn a_notification_that_must_not_come_is_seen() {
    embedded(
        "
name: none at all
assert_notifications:
  tool: emit
  args: {method: notifications/message, params: {level: info, data: secret}}
  expect: {max_count: 0}
---
name: not this method
assert_notifications:
  tool: emit
  args: {method: notifications/message, params: {level: info, data: secret}}
  expect: {not_methods: [notifications/message]}
---
name: not this text
assert_notifications:
  tool: emit
  args: {method: notifications/message, params: {level: info, data: secret}}
  expect: {not_contains_data: [secret]}
---
name: not after the answer either
assert_notifications:
  tool: emit
  args: {method: notifications/message, params: {level: info, data: late}, after_reply: true}
  expect: {max_count: 0}
---
name: none comes
assert_notifications:
  tool: echo
  args: {message: quiet}
  expect: {max_count: 0}
",
        &[],
        &["FAIL", "FAIL", "FAIL", "FAIL", "PASS"],
    );
}

/// Go tool: no progress token is sent, so a correct server never reports progress. With `client_capabilities`,
/// progress of the `setup` counts.
/// Here: each tool call has a token, and the notifications that name it are counted.
#[test]
fn progress_is_asked_for_and_counted() {
    embedded(
        "
name: progress comes
assert:
  tool: test_tool_with_progress
  capture_progress: true
  expect: {min_progress: 1}
---
name: more than comes
assert:
  tool: test_tool_with_progress
  capture_progress: true
  expect: {min_progress: 1000}
",
        &[],
        &["PASS", "FAIL"],
    );
}

/// Go tool and `--compat`: an unknown key is ignored, and its check with it. `--compat` warns.
/// Here: a problem with file, line and the nearest known key; exit code 2.
#[test]
fn a_misspelt_key_is_a_problem() {
    let seen = embedded(
        "
name: misspelt
assert:
  tool: echo
  args: {message: hello}
  expect: {containz: [zzz]}
",
        &[],
        &["ERROR"],
    );
    assert_eq!(seen.ran.code, 2);
    assert!(seen.details().contains("`containz`"), "{}", seen.details());
    let told = &seen.ran.stderr;
    assert!(
        told.contains("evals/a.yaml:6") && told.contains("`contains`"),
        "{told}"
    );
}

/// Go tool and `--compat`: without expectations, or with an empty `expect`, anything passes, a tool error too.
/// Here: the answer must not be an error.
#[test]
fn no_expectation_means_no_error() {
    const SUITE: &str = "
name: empty expectations of a tool error
assert:
  tool: reply
  args: {text: broken, isError: true}
  expect: {}
---
name: no expectations of a tool error
assert:
  tool: reply
  args: {text: broken, isError: true}
---
name: no expectations of a result
assert:
  tool: reply
  args: {text: fine}
";
    embedded(SUITE, &[], &["FAIL", "FAIL", "PASS"]);
    embedded(SUITE, &["--compat"], &["PASS", "PASS", "PASS"]);
}

/// Go tool and `--compat`: `is_error: false` and `not_error: false` check nothing.
/// Here: they are the opposite of `true`.
#[test]
fn false_is_the_opposite_of_true() {
    const SUITE: &str = "
name: is_error false of a tool error
assert: {tool: reply, args: {text: x, isError: true}, expect: {is_error: false}}
---
name: not_error false of a result
assert: {tool: reply, args: {text: x}, expect: {not_error: false}}
---
name: not_error false of a tool error
assert: {tool: reply, args: {text: x, isError: true}, expect: {not_error: false}}
---
name: is_error false of a result
assert: {tool: reply, args: {text: x}, expect: {is_error: false}}
";
    embedded(SUITE, &[], &["FAIL", "FAIL", "PASS", "PASS"]);
    embedded(SUITE, &["--compat"], &["PASS", "PASS", "PASS", "PASS"]);
}

/// Go tool and `--compat`: a `setup` step that answers with a tool error goes on.
/// Here: the assertion is an *Error* that names the step; `allow_error: true` allows it.
#[test]
fn a_step_that_answers_with_a_tool_error_stops_the_assertion() {
    const SUITE: &str = "
name: a broken step
setup:
  - tool: reply
    args: {text: the step broke, isError: true}
assert: {tool: echo, args: {message: hello}, expect: {contains: [hello]}}
---
name: a step that may break
setup:
  - tool: reply
    args: {text: the step broke, isError: true}
    allow_error: true
assert: {tool: echo, args: {message: hello}, expect: {contains: [hello]}}
";
    let seen = embedded(SUITE, &[], &["ERROR", "PASS"]);
    assert!(
        seen.details().contains("the step broke"),
        "{}",
        seen.details()
    );
    embedded(SUITE, &["--compat"], &["PASS", "PASS"]);
}

/// Go tool: `setup` is not run before a completion; captured values do not reach resource URIs, log messages and
/// others.
/// Here: every subject runs its setup, and captured values reach names, URIs, arguments and expectations.
#[test]
fn every_subject_runs_its_setup_and_sees_what_it_captured() {
    embedded(
        "
name: a completion after a broken step
setup:
  - tool: reply
    args: {text: broken, isError: true}
assert_completion:
  ref: {type: ref/prompt, name: test_prompt_with_arguments}
  argument: {name: arg1, value: ''}
---
name: a captured value in a uri and in an expectation
setup:
  - tool: reply
    args: {text: '{\"id\": \"1984\"}'}
    capture: {id: $.id}
assert_resources:
  read: test://template/{{id}}/data
  expect: {contains: ['{{id}}']}
---
name: a captured value in the data of a log message
setup:
  - tool: reply
    args: {text: '{\"word\": \"owl\"}'}
    capture: {word: $.word}
assert_logging:
  set_level: debug
  tool: emit
  args: {method: notifications/message, params: {level: info, data: 'an {{word}}'}}
  expect: {contains_data: ['an owl']}
",
        &[],
        &["ERROR", "PASS", "PASS"],
    );
}

/// Go tool: of several documents in a file only the first is read.
/// Here: each is an assertion.
#[test]
fn every_document_of_a_file_runs() {
    embedded(
        "
name: first
assert: {tool: echo, args: {message: hello}, expect: {contains: [hello]}}
---
name: second
assert: {tool: echo, args: {message: hello}, expect: {contains: [goodbye]}}
",
        &[],
        &["PASS", "FAIL"],
    );
}

/// Go tool: files named `.YAML` are not read.
/// Here: they are.
#[test]
fn files_in_any_depth_and_of_either_case_are_read() {
    const FAILS: &str =
        "assert: {tool: echo, args: {message: hello}, expect: {contains: [goodbye]}}";
    let project = Project::new()
        .file("evals/mcp-assert.yaml", super::EMBEDDED)
        .file("evals/sub/deep/deeper/c.yaml", FAILS)
        .file("evals/UP.YAML", FAILS)
        .file("evals/z.yml", FAILS);
    assert_eq!(run_in(&project, &[]).statuses(), ["FAIL", "FAIL", "FAIL"]);
}

/// Go tool and `--compat`: of two kinds of assertion in a document, the first in a fixed order runs.
/// Here: a problem that names both.
#[test]
fn two_subjects_in_one_document_are_a_problem() {
    const SUITE: &str = "
name: two at once
assert: {tool: echo, args: {message: hello}, expect: {contains: [goodbye]}}
assert_prompts: {list: {}}
";
    let seen = embedded(SUITE, &[], &["ERROR"]);
    assert_eq!(seen.ran.code, 2);
    assert!(
        seen.details().contains("assert_prompts"),
        "{}",
        seen.details()
    );
    embedded(SUITE, &["--compat"], &["PASS"]);
}

/// Go tool and `--compat`: `file_unchanged` behind a `setup` compares with what the steps left.
/// Here: it compares with the state before the server started.
#[test]
fn what_a_setup_changed_is_no_change_with_compat() {
    let project = Project::with_suite(
        "
name: the setup writes
setup: [{tool: write_file, args: {path: kept.txt, text: changed}}]
assert: {tool: echo, args: {message: a}, expect: {file_unchanged: ['{{fixture}}/kept.txt']}}
---
name: the subject writes, too
setup: [{tool: write_file, args: {path: kept.txt, text: changed}}]
assert:
  tool: write_file
  args: {path: kept.txt, text: again}
  expect: {file_unchanged: ['{{fixture}}/kept.txt']}
---
name: nothing is written
setup: [{tool: echo, args: {message: a}}]
assert: {tool: echo, args: {message: a}, expect: {file_unchanged: ['{{fixture}}/kept.txt']}}
",
    )
    .file(
        "evals/mcp-assert.yaml",
        "defaults: {server: {builtin: conformance, args: [--files, '{{fixture}}']}}\n",
    )
    .file("data/kept.txt", "original");
    let seen = run_in(&project, &["--fixture", "data"]);
    assert_eq!(seen.statuses(), ["FAIL", "FAIL", "PASS"]);
    let seen = run_in(&project, &["--fixture", "data", "--compat"]);
    let wanted = ["PASS", "FAIL", "PASS"];
    assert_eq!(seen.statuses(), wanted, "{}", seen.details());
}

/// Go tool: `min_progress` without `capture_progress`, and `file_unchanged` outside of `assert`, check nothing.
/// Here: they are checked everywhere.
#[test]
fn expectations_hold_wherever_they_stand() {
    let project = Project::with_suite(
        "
name: progress without the switch
assert: {tool: echo, args: {message: hello}, expect: {min_progress: 99}}
---
name: a file that a step changed before a prompt
setup:
  - tool: write_file
    args: {path: kept.txt, text: changed}
assert_prompts:
  get: {name: test_simple_prompt}
  expect: {file_unchanged: [kept.txt]}
---
name: a file that nothing changed before a prompt
assert_prompts:
  get: {name: test_simple_prompt}
  expect: {file_unchanged: [kept.txt]}
",
    )
    .file(
        "evals/mcp-assert.yaml",
        "defaults: {server: {builtin: conformance, args: [--files, '{{fixture}}']}}\n",
    )
    .file("data/kept.txt", "original");
    let seen = run_in(&project, &["--fixture", "data"]);
    assert_eq!(
        seen.statuses(),
        ["FAIL", "FAIL", "PASS"],
        "{}",
        seen.details()
    );
}

/// Go tool and `--compat`: `expect_notification: false` checks nothing.
/// Here: it fails when an update comes.
#[test]
fn an_update_that_must_not_come_is_seen() {
    const SUITE: &str = "
name: an update comes
assert_resources:
  subscribe: test://watched-resource
  read: test://watched-resource
  expect_notification: false
---
name: nobody subscribed
assert_resources:
  read: test://static-text
  expect_notification: false
";
    embedded(SUITE, &[], &["FAIL", "PASS"]);
    embedded(SUITE, &["--compat"], &["PASS", "PASS"]);
}

/// Go tool: `not_contains` passes whatever is in images, audio, embedded resources and structured content.
/// Here: it looks at all content; `content` and `structured` check it.
#[test]
fn content_that_is_no_text_is_looked_at() {
    embedded(
        "
name: an image
assert:
  tool: reply
  args: {content: [{type: image, data: aGVsbG8gd29ybGQ=, mimeType: image/png}]}
  expect: {not_contains: [aGVsbG8]}
---
name: structured content
assert:
  tool: reply
  args: {text: fine, structuredContent: {password: hunter2}}
  expect: {not_contains: [hunter2]}
---
name: what an image must be
assert:
  tool: reply
  args: {content: [{type: image, data: aGVsbG8gd29ybGQ=, mimeType: image/png}]}
  expect: {content: [{type: image, mimeType: image/png, min_bytes: 11}], not_empty: true}
",
        &[],
        &["FAIL", "FAIL", "PASS"],
    );
}

/// Go tool and `--compat`: `json_path` compares what both values print as: `"1"` equals `1`.
/// Here: it compares type and value.
///
/// Go tool: `json_path` drops a second index (`a[0][1]`) and takes `a[1abc]` for `a[1]`.
/// Here: paths are compiled when the suite is loaded; a bad one is a problem.
#[test]
fn json_paths_tell_types_and_indexes_apart() {
    const SUITE: &str = "
name: a number is no text
assert: {tool: reply, args: {text: '{\"n\": 1}'}, expect: {json_path: {n: '1'}}}
---
name: a flag is no text
assert: {tool: reply, args: {text: '{\"n\": true}'}, expect: {json_path: {n: 'true'}}}
---
name: null is no text
assert: {tool: reply, args: {text: '{\"n\": null}'}, expect: {json_path: {n: '<nil>'}}}
---
name: the second index counts
assert: {tool: reply, args: {text: '{\"a\": [[1, 2]]}'}, expect: {json_path: {'a[0][1]': 2}}}
";
    embedded(SUITE, &[], &["FAIL", "FAIL", "FAIL", "PASS"]);
    let seen = embedded(
        "
name: no index
assert: {tool: reply, args: {text: '{\"a\": [1, 2]}'}, expect: {json_path: {'a[1abc]': 2}}}
",
        &[],
        &["ERROR"],
    );
    assert_eq!(seen.ran.code, 2);
    embedded(
        "
name: the old comparison
assert: {tool: reply, args: {text: '{\"n\": 1}'}, expect: {json_path: {n: '1'}}}
",
        &["--compat"],
        &["PASS"],
    );
}

/// Go tool and `--compat`: `net_delta: 2` accepts 2.9.
/// Here: it is exact.
#[test]
fn a_net_delta_is_exact() {
    const SUITE: &str = "
name: a fraction more
assert: {tool: reply, args: {text: '{\"net_delta\": 2.9}'}, expect: {net_delta: 2}}
---
name: the same number
assert: {tool: reply, args: {text: '{\"net_delta\": 2.0}'}, expect: {net_delta: 2}}
";
    embedded(SUITE, &[], &["FAIL", "PASS"]);
    embedded(SUITE, &["--compat"], &["PASS", "PASS"]);
}

/// Go tool and `--compat`: a `timeout` that cannot be read is ignored.
/// Here: a problem when the suite is loaded.
#[test]
fn a_timeout_that_cannot_be_read_is_a_problem() {
    for timeout in ["abc", "30", "-5s"] {
        let seen = case(
            &format!(
                "server: {{builtin: conformance}}\ntimeout: {timeout}\nassert: {{tool: echo}}\n"
            ),
            &[],
            &["ERROR"],
        );
        assert_eq!(seen.ran.code, 2, "{timeout}");
        assert!(
            seen.ran.stderr.contains("evals/a.yaml:2"),
            "{}",
            seen.ran.stderr
        );
    }
}

/// Go tool and `--compat`: relative paths of `file_…` start at the caller's folder.
/// Here: they start at the fixture, if there is one.
#[test]
fn paths_of_files_are_relative_to_the_fixture() {
    const SUITE: &str = "
name: there for the caller
assert: {tool: echo, args: {message: '{{fixture}}'}, expect: {file_exists: [own.txt], file_not_exists: [kept.txt]}}
---
name: there in the fixture
assert: {tool: echo, args: {message: '{{fixture}}'}, expect: {file_contains: {kept.txt: kept}, file_unchanged: [kept.txt]}}
---
name: by the marker
assert: {tool: echo, args: {message: '{{fixture}}'}, expect: {file_contains: {'{{fixture}}/kept.txt': kept}}}
";
    let project = Project::with_suite(SUITE)
        .file("own.txt", "own")
        .file("data/kept.txt", "kept")
        .file(
            "evals/mcp-assert.yaml",
            "defaults: {server: {builtin: conformance}}\n",
        );
    let case = |arguments: &[&str], wanted: &[&str]| {
        let seen = run_in(&project, arguments);
        assert_eq!(seen.statuses(), wanted, "{}", seen.details());
    };
    case(&["--fixture", "data"], &["FAIL", "PASS", "PASS"]);
    case(
        &["--fixture", "data", "--compat"],
        &["PASS", "FAIL", "PASS"],
    );
}

/// Go tool: `not_empty` passes for `[ ]` and `{ }`.
/// Here: they are empty, as `[]` and `{}` are.
#[test]
fn an_empty_list_is_empty_however_it_is_written() {
    const SERVER: &str = r#"
read -r ask; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
read -r noted; read -r ask; echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"'"$1"'"}]}}'
cat >/dev/null
"#;
    let case = |text: &str| {
        format!(
            "server: {{command: sh, args: [server.sh, '{text}']}}\nassert: {{tool: t, expect: {{not_empty: true}}}}\n"
        )
    };
    let suite = ["[ ]", "{ }", "[ 0 ]"].map(case).join("---\n");
    let project = Project::with_suite(&suite).file("server.sh", SERVER);
    let seen = run_in(&project, &[]);
    assert_eq!(
        seen.statuses(),
        ["FAIL", "FAIL", "PASS"],
        "{}",
        seen.details()
    );
}

/// Go tool and `--compat`: `assert_sampling` without `expect_request` passes when the server never asks.
/// Here: it fails.
#[test]
fn a_server_that_never_asks_is_passed_over_where_the_go_tool_does() {
    const SUITE: &str = "
name: never samples
assert_sampling: {tool: echo, args: {message: hi}, mock_text: x, expect: {contains: hi}}
---
name: never elicits
assert_elicitation: {tool: echo, args: {message: hi}, answer: {action: accept}, expect: {contains: hi}}
";
    embedded(SUITE, &[], &["FAIL", "FAIL"]);
    embedded(SUITE, &["--compat"], &["PASS", "FAIL"]);
}

/// Go tool and `--compat`: a trajectory without `trace` and `audit_log` has no calls, so that `absence` holds.
/// Here: a problem.
#[test]
fn what_cannot_be_read_is_passed_over_where_the_go_tool_does() {
    const SUITE: &str = "
name: a time
timeout: abc
assert: {tool: echo, args: {message: hi}, expect: {contains: hi}}
---
name: no trace
trajectory: [{type: absence, tools: [x]}]
---
name: no key
assert: {tool: echo, args: {message: hi}, expect: {contains: hi, contians: x}}
";
    embedded(SUITE, &[], &["ERROR", "ERROR", "ERROR"]);
    embedded(SUITE, &["--compat"], &["PASS", "PASS", "PASS"]);
}

/// Go tool and `--compat`: `0644`, `1_000`, `0b11` and `-0x10` without quotes are numbers, as in YAML 1.1.
/// Here: as in YAML 1.2: `0644` is 644, the others are texts, with a warning. A key that takes a whole number
/// accepts `1_000`.
#[test]
fn numbers_are_those_of_the_go_tool() {
    const SUITE: &str = r#"
name: octal and digits apart
assert:
  tool: reply
  args: {text: '{"mode": 420, "limit": 1000000, "bits": 3, "low": -16}'}
  expect: {json_path: {mode: 0644, limit: 1_000_000, bits: 0b11, low: -0x10}}
---
name: a count
assert: {tool: reply, args: {text: '[1,2,3,4,5,6,7,8,9]'}, expect: {max_results: 010}}
---
name: texts stay as they are
assert: {tool: echo, args: {message: "0644 1_0"}, expect: {contains: [0644, 1_0]}}
"#;
    embedded(SUITE, &[], &["FAIL", "PASS", "PASS"]);
    let seen = embedded(SUITE, &["--compat"], &["PASS", "FAIL", "PASS"]);
    assert!(
        !seen.ran.stderr.contains("ambiguous-number"),
        "{}",
        seen.ran.stderr
    );
}

/// Go tool and `--compat`: any text is a variable's name in `capture`, also `fixture`.
/// Here: a problem.
///
/// Go tool and `--compat`: `${` without an end, and `${A.B}`, stay or are empty in `env` and `headers`.
/// Here: problems.
#[test]
fn names_that_can_be_none_are_taken_where_the_go_tool_does() {
    const SUITE: &str = r#"
name: captures
setup:
  - {tool: reply, args: {text: '{"n": 7}'}, capture: {my id: $.n, 1st: $.n, a/b: $.n, fixture: $.n}}
assert:
  tool: echo
  args: {message: "{{my id}} {{1st}} {{a/b}} {{fixture}} {{other name}}"}
  expect: {contains: ["7 7 7 7 {{other name}}"]}
---
name: variables
server: {builtin: conformance, env: {Y: "${HOME", W: "${X-1}"}}
assert: {tool: echo, args: {message: hi}, expect: {contains: [hi]}}
"#;
    embedded(SUITE, &[], &["ERROR", "ERROR"]);
    embedded(SUITE, &["--compat"], &["PASS", "PASS"]);
}

/// Go tool and `--compat`: a `~` in a list of texts or steps is skipped.
/// Here: a problem.
#[test]
fn items_that_are_nothing_are_passed_over_where_the_go_tool_does() {
    const SUITE: &str = "
name: nothing in lists
description: [1, 2]
setup: [~]
assert: {tool: echo, args: {message: hi}, expect: {contains: [~, hi]}}
";
    embedded(SUITE, &[], &["ERROR"]);
    embedded(SUITE, &["--compat"], &["PASS"]);
}

/// Go tool and `--compat`: `tool: ""` is called.
/// Here: a problem.
#[test]
fn a_tool_without_a_name_is_called_where_the_go_tool_does() {
    const SUITE: &str = r#"
name: no name
assert: {tool: "", expect: {error: {code: -32602}}}
"#;
    embedded(SUITE, &[], &["ERROR"]);
    embedded(SUITE, &["--compat"], &["PASS"]);
}

/// Go tool and `--compat`: the `stopReason` of a sampling reply is `end_turn`.
/// Here: it is `endTurn`, the protocol's word.
#[test]
fn a_sampled_reply_stops_as_the_go_tool_says() {
    let suite = |reason: &str| {
        format!(
            "
name: sampled
assert_sampling: {{tool: test_sampling, args: {{prompt: hi}}, mock_text: x, expect: {{structured: {{stopReason: {reason}}}}}}}
---
name: by capability
client: {{client_capabilities: {{sampling: {{text: x}}}}}}
assert: {{tool: test_sampling, args: {{prompt: hi}}, expect: {{structured: {{stopReason: {reason}}}}}}}
"
        )
    };
    embedded(&suite("endTurn"), &[], &["PASS", "PASS"]);
    embedded(&suite("end_turn"), &["--compat"], &["PASS", "PASS"]);
}

#[test]
fn what_was_captured_is_written_with_sorted_keys() {
    embedded(
        r#"
name: an object in a text
setup: [{tool: reply, args: {text: '{"o": {"b": 1, "a": [{"d": 1, "c": 2}]}}'}, capture: {o: $.o}}]
assert: {tool: reply, args: {text: "got {{o}}"}, expect: {equals: 'got {"a":[{"c":2,"d":1}],"b":1}'}}
"#,
        &[],
        &["PASS"],
    );
}

/// Go tool and `--compat`: `skip: true` needs no server and no subject.
/// Here: a problem without them.
#[test]
fn what_is_skipped_needs_no_server_where_the_go_tool_needs_none() {
    const SUITE: &str = "
name: later
skip: true
assert: {tool: echo}
";
    case(SUITE, &[], &["ERROR"]);
    case(SUITE, &["--compat"], &["SKIP"]);
}

/// Go tool: a line of broken JSON that is JSON by itself is taken for the whole.
/// Here: the assertion fails and names the line where the JSON breaks off.
#[test]
fn no_piece_of_broken_json_is_taken_for_the_whole() {
    let seen = embedded(
        r#"
name: an item
assert:
  tool: reply
  args: {text: "{\n \"total\": 2,\n \"score\": NaN,\n \"items\": [\n  {\"id\": 9}\n ]\n}"}
  expect: {json_path: {id: 9}}
---
name: nothing of that name
assert:
  tool: reply
  args: {text: "Found: {\n 'error': 'x',\n \"items\": [\n  {\"id\": 9}\n ]\n}"}
  expect: {json_path: {error: {exists: false}}}
---
name: captured
setup:
  - tool: reply
    args: {text: "{\n \"score\": NaN,\n \"items\": [\n  {\"id\": 9}\n ]\n}"}
    capture: {id: $.id}
assert: {tool: echo, args: {message: "{{id}}"}}
"#,
        &[],
        &["FAIL", "FAIL", "ERROR"],
    );
    let told = "the text is not JSON (expected value at line 3 column 11)";
    assert!(seen.details().contains(told), "{}", seen.details());
}

/// Go tool: lines of an `audit_log` that name the tool with another key than `tool` are skipped, so that `absence`
/// holds.
/// Here: the names in use are read. A line that tells of a call but not of which tool is an *Error*.
#[test]
fn a_call_is_found_under_other_names() {
    let logs = [
        (r#"{"toolName": "delete_file", "args": {}}"#, "FAIL"),
        (
            r#"{"tool": {"name": "delete_file", "arguments": {}}}"#,
            "FAIL",
        ),
        (r#"{"tool": "delete_file", "source": "portal-eu"}"#, "FAIL"),
        (
            r#"{"tool": "delete_file", "error_category": "auth"}"#,
            "FAIL",
        ),
        (r#"{"tool": {"id": 3}}"#, "ERROR"),
        (r#"{"name": "delete_file"}"#, "FAIL"),
        (r#"{"name": "read_file"}"#, "PASS"),
    ];
    for (line, wanted) in logs {
        let suite =
            "name: none\naudit_log: log\ntrajectory: [{type: absence, tools: [delete_file]}]\n";
        let log = format!("{{\"tool\": \"read_file\", \"say\": \"\\ud83d\"}}\n{line}\n");
        let project = Project::with_suite(suite).file("log", log);
        let seen = run_in(&project, &["--strict-vacuity"]);
        assert_eq!(seen.statuses(), [wanted], "{line}: {}", seen.details());
    }
}
