//! Suites in the style of those written for the Go tool of the same name: all of them load without a word.

use super::Sample;

/// Suites by what they show.
pub(super) const SUITES: &[(&str, &str)] = &[
    (
        "a filesystem server",
        "name: read_file returns the content\nserver:\n  command: npx\n  args: [\"-y\", \"@modelcontextprotocol/server-filesystem\", \"{{fixture}}\"]\n  env:\n    LOG_LEVEL: debug\n    PORT: 8080\n    DEBUG: true\nassert:\n  tool: read_file\n  args:\n    path: \"{{fixture}}/hello.txt\"\n  expect:\n    not_error: true\n    contains: [\"Hello\", \"World\"]\n    not_contains: [\"error\"]\ntimeout: 30s\n",
    ),
    (
        "errors",
        "name: unknown path is an error\nserver: {command: srv}\nassert:\n  tool: read_file\n  args: {path: /etc/shadow}\n  expect:\n    is_error: true\n    contains_any: [denied, \"not allowed\"]\ntimeout: 1m30s\nskip: false\n",
    ),
    (
        "setup with captures",
        "name: update what was created\nserver:\n  command: srv\nsetup:\n  - tool: create\n    args: {title: one, n: 1}\n    capture:\n      item_id: $.item.id\n      raw: $\n      first: items[0].name\n  - tool: touch\n    args: {id: \"{{item_id}}\"}\nassert:\n  tool: update\n  args:\n    id: \"{{item_id}}\"\n    nested: {list: [\"{{first}}\", 2, null, true]}\n  expect:\n    json_path:\n      $.item.title: two\n      item.count: 3\n      item.ok: true\n      item.gone: null\n      $.items[0].id: 12\n",
    ),
    (
        "all text expectations",
        "name: texts\nserver: {command: srv}\nassert:\n  tool: t\n  expect:\n    not_error: true\n    is_error: false\n    not_empty: true\n    equals: 42\n    contains: [a, 1, true]\n    contains_any: [a]\n    not_contains: [b]\n    matches_regex: [\"(?i)^done\", \"\\\\d{4}-\\\\d{2}\", \"\\\\bfoo\\\\b\", \"{\\\"a\\\": [0-9]+}\"]\n    in_order: [a, b]\n    min_results: 1\n    max_results: 10\n    net_delta: 2\n",
    ),
    (
        "files",
        "name: files\nserver: {command: srv, args: [\"{{fixture}}\"]}\nassert:\n  tool: write\n  args: {}\n  capture_progress: true\n  expect:\n    file_contains:\n      \"{{fixture}}/a.txt\": hello\n    file_not_contains:\n      out/b.txt: bye\n    file_not_exists: [\"{{fixture}}/tmp\"]\n    file_unchanged: [\"{{fixture}}/r.txt\"]\n    min_progress: 1\n",
    ),
    (
        "skips",
        "name: needs a token\nskip_unless_env: GITHUB_TOKEN\nserver: {command: srv}\nassert: {tool: t, expect: {not_error: true}}\n",
    ),
    (
        "skipped",
        "name: destructive\nskip: true\nserver: {command: srv}\nassert: {tool: wipe, expect: {not_error: true}}\n",
    ),
    (
        "http and sse",
        "name: over http\nserver:\n  transport: http\n  url: http://localhost:3000/mcp\n  headers: {X-Team: a}\nassert: {tool: t, expect: {not_error: true}}\n---\nname: over sse\nserver: {transport: SSE, url: \"http://localhost:3000/sse\"}\nassert: {tool: t, expect: {not_error: true}}\n",
    ),
    (
        "docker",
        "name: in a container\nserver: {command: python, args: [server.py], docker: \"python:3.12\"}\nassert: {tool: t, expect: {not_error: true}}\n",
    ),
    (
        "resources",
        "name: resources\nserver: {command: srv}\nassert_resources:\n  list: {}\n  expect: {contains: [\"file://\"]}\n---\nname: read\nserver: {command: srv}\nassert_resources:\n  read: \"file://{{fixture}}/a.txt\"\n  expect: {not_empty: true}\n---\nname: subscription\nserver: {command: srv}\nassert_resources:\n  subscribe: test://a\n  read: test://a\n  unsubscribe: test://a\n  expect_notification: true\n  expect: {not_error: true}\n",
    ),
    (
        "prompts",
        "name: prompts\nserver: {command: srv}\nassert_prompts: {list: {}, expect: {contains: [greet]}}\n---\nname: a prompt\nserver: {command: srv}\nassert_prompts:\n  get: {name: greet, arguments: {name: Ada, times: 3}}\n  expect: {contains: [Ada]}\n",
    ),
    (
        "completion",
        "name: completion\nserver: {command: srv}\nassert_completion:\n  ref: {type: ref/prompt, name: greet}\n  argument: {name: name, value: A}\n  expect: {contains: [Ada]}\n---\nname: resource completion\nserver: {command: srv}\nassert_completion:\n  ref: {type: ref/resource, name: \"file:///{path}\"}\n  argument: {name: path, value: a}\n  expect: {not_empty: true}\n",
    ),
    (
        "sampling, roots, elicitation",
        "name: sampling\nserver:\n  command: srv\n  client_capabilities:\n    roots: [\"{{fixture}}\"]\n    sampling: {text: hi, model: m, stop_reason: end_turn}\n    elicitation: {action: accept, content: {ok: true}}\nassert_sampling:\n  tool: ask\n  args: {q: a}\n  mock_text: hello\n  mock_model: m\n  expect: {contains: [hi]}\n---\nname: short elicitation\nserver:\n  command: srv\n  client_capabilities: {elicitation: {name: Ada, age: 3}}\nassert: {tool: ask, expect: {not_error: true}}\n",
    ),
    (
        "logging and notifications",
        "name: logging\nserver: {command: srv}\nassert_logging:\n  set_level: debug\n  tool: t\n  args: {}\n  expect: {min_messages: 0, contains_level: [info], contains_data: [x]}\n---\nname: notifications\nserver: {command: srv}\nassert_notifications:\n  tool: t\n  expect:\n    min_count: 1\n    max_count: 5\n    methods: [notifications/message]\n    not_methods: [notifications/progress]\n    contains_data: [a]\n    not_contains_data: [b]\n",
    ),
    (
        "trajectories",
        "name: trajectory\ntrace:\n  - tool: search\n    args: {q: x}\n  - tool: open\ntrajectory:\n  - {type: order, tools: [search, open]}\n  - {type: presence, tools: [open]}\n  - {type: absence, tools: [delete]}\n  - {type: args_contain, tool: search, args: {q: x}}\n---\nname: from a log\naudit_log: logs/audit.jsonl\ntrajectory: [{type: presence, tools: [open]}]\n",
    ),
    (
        "anchors and comments",
        "# a comment\nname: 'anchors: here'\nserver: &srv\n  command: srv # inline\nassert:\n  tool: t\n  args:\n    text: |\n      two\n      lines\n    folded: >-\n      one\n      line\n    date: 2024-01-01\n    when: on\n  expect: {not_error: true}\n",
    ),
];

#[test]
fn suites_of_the_go_tool_load_without_a_word() {
    for (name, text) in SUITES {
        let sample = Sample::one(text);
        assert_eq!(sample.shown(), "", "{name}");
        assert!(!sample.assertions().is_empty(), "{name}");
        assert_eq!(
            Sample::one(text).compat().shown(),
            "",
            "{name}, with its rules"
        );
    }
}

#[test]
fn what_the_go_tool_passes_over_is_a_warning_under_its_rules() {
    let text = "name: x\nextra: 1\nserver: {command: s}\nassert: {tool: t, expect: {containz: [a]}}\ntimeout: abc\n";
    let sample = Sample::one(text).compat();
    assert_eq!(sample.assertions().len(), 1);
    assert!(!sample.shown().contains("error["), "{}", sample.shown());
}
