//! Red with the Go tool, although it should not be.

use super::{case, embedded, run_in, scripted};
use crate::harness::{BINARY, Project};

/// Go tool: integers from 1,000,000 on never equal themselves in `json_path`; large ones lose digits.
/// Here: numbers keep their digits and are compared by value.
#[test]
fn large_numbers_equal_themselves() {
    embedded(
        r#"
name: in a text
assert:
  tool: reply
  args: {text: '{"million": 1000000, "big": 1234567, "beyond": 12345678901234567890123, "half": 0.5}'}
  expect:
    json_path: {million: 1000000, big: 1234567, beyond: 12345678901234567890123, half: 0.5}
---
name: another last digit
assert:
  tool: reply
  args: {text: '{"beyond": 12345678901234567890123}'}
  expect: {json_path: {beyond: 12345678901234567890124}}
---
name: the same number in another notation
assert:
  tool: reply
  args: {text: '{"million": 1e6}'}
  expect: {json_path: {million: 1000000}}
"#,
        &[],
        &["PASS", "FAIL", "PASS"],
    );
    let project = Project::with_suite(
        "
name: in the arguments of a recorded call
audit_log: calls.jsonl
trajectory:
  - {type: args_contain, tool: pay, args: {cents: 1000000}}
",
    )
    .file(
        "calls.jsonl",
        "{\"tool\": \"pay\", \"args\": {\"cents\": 1000000}}\n",
    );
    assert_eq!(run_in(&project, &[]).statuses(), ["PASS"]);
}

/// Go tool: `file_unchanged` with `{{fixture}}` in its path always fails.
/// Here: works with and without it.
#[test]
fn an_unchanged_file_is_found_by_either_path() {
    let project = Project::with_suite(
        "
name: with the marker
assert:
  tool: write_file
  args: {path: new.txt, text: x}
  expect: {file_unchanged: ['{{fixture}}/kept.txt'], file_exists: [new.txt]}
---
name: without it
assert:
  tool: write_file
  args: {path: new.txt, text: x}
  expect: {file_unchanged: [kept.txt]}
---
name: a file that changed
assert:
  tool: write_file
  args: {path: kept.txt, text: x}
  expect: {file_unchanged: ['{{fixture}}/kept.txt']}
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
        ["PASS", "PASS", "FAIL"],
        "{}",
        seen.details()
    );
}

/// Go tool: a server that writes more than 64 KiB to stderr hangs.
/// Here: stderr is always read; its end is shown with failures.
#[test]
fn much_on_stderr_does_not_stop_the_server() {
    case(
        "
name: a megabyte on stderr
server: {builtin: conformance, args: [--fault, 'stderr-flood:1MiB']}
timeout: 20s
assert: {tool: test_simple_text}
",
        &[],
        &["PASS"],
    );
}

/// Go tool: a JSON-RPC error cannot be expected; `error` is an unknown key.
/// Here: `error: {code, message, data}`.
#[test]
fn a_protocol_error_can_be_expected() {
    embedded(
        "
name: code, message and data
assert:
  tool: error
  args: {layer: rpc, code: -32602, message: no such thing, data: {id: 7, more: true}}
  expect: {error: {code: -32602, message: no such, data: {id: 7}}}
---
name: another code
assert:
  tool: error
  args: {layer: rpc, code: -32602, message: no such thing}
  expect: {error: {code: -32603}}
---
name: it is no tool error
assert:
  tool: error
  args: {layer: rpc, code: -32602, message: no such thing}
  expect: {is_error: true}
---
name: a missing resource
assert_resources:
  read: test://nowhere
  expect: {error: {}}
---
name: a missing prompt
assert_prompts:
  get: {name: no_such_prompt}
  expect: {error: {code: -32602}}
",
        &[],
        &["PASS", "FAIL", "FAIL", "PASS", "PASS"],
    );
}

/// Go tool: an empty text resource fails.
/// Here: it is empty text.
#[test]
fn an_empty_text_resource_is_empty_text() {
    scripted(
        r#"*resources/read*) answer '{"contents":[{"uri":"x://y","text":""}]}' ;;"#,
        "
name: it is empty
assert_resources: {read: 'x://y', expect: {equals: ''}}
---
name: it is not anything else
assert_resources: {read: 'x://y', expect: {not_empty: true}}
",
        &["PASS", "FAIL"],
    );
}

/// Go tool: content of a kind that it does not know fails to parse.
/// Here: it is recorded as it came, with a finding.
#[test]
fn unknown_content_is_no_failure() {
    scripted(
        r#"*tools/call*) answer '{"content":[{"type":"widget","size":3}],"structuredContent":{"n":1}}' ;;"#,
        "
name: a kind of content nobody knows
assert:
  tool: any
  expect: {content: [{type: widget, size: 3}], structured: {n: 1}}
---
name: and not another one
assert:
  tool: any
  expect: {content: [{type: widget, size: 4}]}
",
        &["PASS", "FAIL"],
    );
}

/// Go tool: a result with structured content only fails to parse.
/// Here: it is recorded as it came.
#[test]
fn structured_content_alone_is_no_failure() {
    scripted(
        r#"*tools/call*) answer '{"structuredContent":{"n":1}}' ;;"#,
        "
name: nothing but structured content
assert:
  tool: any
  expect: {structured: {n: 1}}
---
name: nothing is asked of it
assert: {tool: any}
---
name: there is no text
assert:
  tool: any
  expect: {contains: x}
",
        &["PASS", "PASS", "FAIL"],
    );
}

/// Go tool: `min_results` does not understand lists of resources, prompts and tools.
/// Here: it does, and takes a `path`.
#[test]
fn lists_can_be_counted() {
    embedded(
        "
name: resources
assert_resources: {list: {}, expect: {min_results: 1}}
---
name: prompts
assert_prompts: {list: {}, expect: {min_results: 1}}
---
name: tools
assert_tools: {expect: {min_results: 1}}
---
name: too few tools
assert_tools: {expect: {max_results: 1}}
",
        &[],
        &["PASS", "PASS", "PASS", "FAIL"],
    );
}

/// Go tool: `json_path` and `capture` do not know arrays at the root, `$`, wildcards and negative indexes.
/// Here: RFC 9535, beside the short form.
#[test]
fn paths_reach_into_arrays() {
    embedded(
        r#"
name: an array at the root, a wildcard, an index from the end
assert:
  tool: reply
  args: {text: '[{"id": 1}, {"id": 2}]'}
  expect:
    json_path:
      $[0].id: 1
      $[-1].id: 2
      $[*].id: {type: integer}
      $: {length: 2}
---
name: captured from an array
setup:
  - tool: reply
    args: {text: '[{"id": 1}, {"id": 2}]'}
    capture: {last: '$[-1].id'}
assert: {tool: echo, args: {message: 'number {{last}}'}, expect: {contains: [number 2]}}
"#,
        &[],
        &["PASS", "PASS"],
    );
}

/// Go tool: the pages of a list are merged and the cursor is lost.
/// Here: they are merged for the check; `--trace` shows each page; `cursor` asks for one page.
#[test]
fn all_pages_of_a_list_are_seen() {
    scripted(
        r#"*'"second"'*) answer '{"tools":[{"name":"b","inputSchema":{"type":"object"}}]}' ;;
    *'"cursor":""'*) answer '{"tools":[]}' ;;
    *tools/call*) answer '{"content":[{"type":"text","text":""}]}' ;;
    *tools/list*) answer '{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"second"}' ;;"#,
        "
name: both pages
assert_tools:
  expect:
    json_path: {'$.tools[0].name': a, '$.tools[1].name': b, '$.tools': {length: 2}}
---
name: an empty cursor is none
assert_tools: {cursor: '', expect: {json_path: {'$.tools': {length: 2}}}}
---
name: a captured one too
setup: [{tool: last, capture: {next: $}}]
assert_tools: {cursor: '{{next}}', expect: {json_path: {'$.tools': {length: 2}}}}
---
name: the page at a cursor
assert_tools: {cursor: second, expect: {json_path: {'$.tools': {length: 1}}}}
",
        &["PASS", "PASS", "PASS", "PASS"],
    );
}

/// Go tool: fields with the values `false` and 0 disappear from lists and completions.
/// Here: the answer is checked as it came.
#[test]
fn fields_that_are_false_or_zero_are_kept() {
    scripted(
        r#"*completion/complete*) answer '{"completion":{"values":[],"total":0,"hasMore":false}}' ;;"#,
        "
name: false and zero
assert_completion:
  ref: {type: ref/prompt, name: p}
  argument: {name: a, value: ''}
  expect: {json_path: {completion.hasMore: false, completion.total: 0}}
---
name: and not true
assert_completion:
  ref: {type: ref/prompt, name: p}
  argument: {name: a, value: ''}
  expect: {json_path: {completion.hasMore: true}}
",
        &["PASS", "FAIL"],
    );
}

/// Go tool and `--compat`: `args_contain` looks at the first call of a tool.
/// Here: it looks at every call, partially and deeply.
#[test]
fn any_call_of_a_trajectory_may_match() {
    const SUITE: &str = "
name: the second call, part of its arguments
trace:
  - {tool: search, args: {page: 1, filter: {kind: book, year: 1984}}}
  - {tool: search, args: {page: 2, filter: {kind: book, year: 1984}}}
trajectory:
  - {type: args_contain, tool: search, args: {page: 2, filter: {kind: book}}}
---
name: no call
trace:
  - {tool: search, args: {page: 1}}
trajectory:
  - {type: args_contain, tool: search, args: {page: 3}}
";
    case(SUITE, &[], &["PASS", "FAIL"]);
    case(SUITE, &["--compat"], &["FAIL", "FAIL"]);
}

/// Go tool: `2024-01-01` without quotes becomes a time stamp; whole numbers as keys cannot be sent.
/// Here: dates stay text; such keys become text.
#[test]
fn dates_and_numbered_keys_are_sent_as_written() {
    embedded(
        "
name: a date
assert:
  tool: echo
  args: {message: 2024-01-01}
  expect: {json_path: {message: '2024-01-01'}}
---
name: a number as a key
assert:
  tool: echo
  args: {message: x, extras: {1: a}}
  expect: {structured: {$.extras: {'1': a}}}
",
        &[],
        &["PASS", "PASS"],
    );
}

/// Go tool: a newly skipped assertion is a regression, and a skip a failed trial.
/// Here: skips do not count.
#[test]
fn a_skip_is_no_regression() {
    let project = Project::new()
        .file("evals/mcp-assert.yaml", super::EMBEDDED)
        .file("evals/a.yaml", "name: a\nassert: {tool: echo}\n");
    assert_eq!(run_in(&project, &["--save-baseline", "b.json"]).ran.code, 0);
    let project = project.file(
        "evals/a.yaml",
        "name: a\nskip: true\nassert: {tool: echo}\n",
    );
    let seen = run_in(&project, &["--baseline", "b.json", "--trials", "2"]);
    assert_eq!((seen.statuses(), seen.ran.code), (vec!["SKIP", "SKIP"], 0));
    let project = project.file(
        "evals/a.yaml",
        "name: a\nassert: {tool: echo, expect: {contains: [nothing of it]}}\n",
    );
    let seen = run_in(&project, &["--baseline", "b.json"]);
    assert_eq!((seen.statuses(), seen.ran.code), (vec!["FAIL"], 1));
}

/// Go tool: a `ping` of the server is answered with an error.
/// Here: it is answered.
#[test]
fn a_ping_of_the_server_is_answered() {
    scripted(
        r#"*tools/call*)
      asked=$id
      printf '{"jsonrpc":"2.0","id":"ping-1","method":"ping"}\n'
      IFS= read -r reply
      id=$asked
      case $reply in
        *'"result"'*) answer '{"content":[{"type":"text","text":"pong"}]}' ;;
        *) answer '{"content":[{"type":"text","text":"refused"}]}' ;;
      esac ;;"#,
        "
name: it is
assert: {tool: any, expect: {equals: pong}}
",
        &["PASS"],
    );
}

/// Go tool: what one assertion writes into a shared fixture can fail another.
/// Here: each has a fresh copy; the original is never written to.
#[test]
fn what_one_assertion_writes_the_next_does_not_see() {
    let project = Project::with_suite(
        "
name: writes
assert: {tool: write_file, args: {path: moved.txt, text: x}, expect: {file_exists: [moved.txt]}}
---
name: sees nothing of it
assert: {tool: echo, args: {message: x}, expect: {file_not_exists: [moved.txt]}}
",
    )
    .file(
        "evals/mcp-assert.yaml",
        "defaults: {server: {builtin: conformance, args: [--files, '{{fixture}}']}}\n",
    )
    .file("data/kept.txt", "original");
    let seen = run_in(&project, &["--fixture", "data", "--jobs", "1"]);
    assert_eq!(seen.statuses(), ["PASS", "PASS"], "{}", seen.details());
    assert!(!project.path().join("data/moved.txt").exists());
}

#[cfg(unix)]
/// Go tool: `${X:-default}` in `env` and `headers` is empty, and `${X:-${Y}}` is `}`.
/// Here: it is the default, in which variables and `{{…}}` are filled in too.
#[test]
fn defaults_of_variables_are_filled_in() {
    let suite = format!(
        "
server:
  command: sh
  args: [-c, 'echo \"[$ONE][$TWO][$THREE]\" >&2; exec {BINARY} serve']
  env:
    ONE: '${{UNSET_HERE:-plain}}'
    TWO: '${{UNSET_HERE:-a${{UNSET_TOO:-b$$c}}d}}'
    THREE: '${{UNSET_HERE:-{{{{fixture}}}}}}/x'
assert: {{tool: echo, expect: {{stderr: {{contains: ['[plain][ab$cd][', '/data/x]']}}}}}}
"
    );
    let project = Project::with_suite(&suite).file("data/kept.txt", "original");
    for arguments in [
        &["--fixture", "data"][..],
        &["--fixture", "data", "--compat"],
    ] {
        let seen = run_in(&project, arguments);
        assert_eq!(seen.statuses(), ["PASS"], "{}", seen.details());
    }
}

/// Go tool: a stray line with the id 1 before the handshake is taken for its answer.
/// Here: it is a finding; one that has the id of the handshake and is not an answer to it is an *Error* that shows
/// the frame.
#[test]
fn a_stray_answer_is_not_taken_for_the_handshake() {
    scripted(
        r#"start) for stray in 0 2 3; do printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$stray"; done ;;
    *tools/call*) answer '{"content":[{"type":"text","text":"here"}]}' ;;"#,
        "
name: the server is reached
assert: {tool: any, expect: {equals: here}}
",
        &["PASS"],
    );
    let seen = scripted(
        r#"*'"method":"initialize"'*) answer '{"banner":"hello"}' ;;"#,
        "
name: an answer that is no handshake is shown
assert: {tool: any}
",
        &["ERROR"],
    );
    let told = seen.details();
    assert!(
        told.contains("protocolVersion") && told.contains("banner"),
        "{told}"
    );
}

/// Go tool: `capture`, `min_results` and `net_delta` want a text that is JSON alone; `json_path` looks for JSON in
/// one line.
/// Here: all read the first JSON value that begins and ends with a line, over one line or several.
#[test]
fn json_is_found_among_other_lines() {
    embedded(
        r#"
name: captured and checked alike
steps:
  - tool: reply
    args: {text: "Here:\n{\n \"id\": 7,\n \"child\":\n {\"id\": 8}\n}\nHint: more"}
    capture: {id: $.id}
    expect: {json_path: {id: 7}}
  - {tool: reply, args: {text: "{{id}}"}, expect: {equals: "7"}}
---
name: results with a hint behind them
assert: {tool: reply, args: {text: "[\n 1,\n 2\n]\nHint: more"}, expect: {min_results: 2}}
---
name: a number with a hint behind it
assert: {tool: reply, args: {text: "{\"net_delta\": 1}\nHint: more"}, expect: {net_delta: 1}}
---
name: the first of two values
assert: {tool: reply, args: {text: "note\n{\n \"a\": 1\n}\n{\"a\": 2}"}, expect: {json_path: {a: 1}}}
"#,
        &[],
        &["PASS", "PASS", "PASS", "PASS"],
    );
}
