//! Read otherwise.

use std::os::unix::fs::PermissionsExt as _;

use super::{case, embedded, run_in, scripted_with, shell_server};
use crate::harness::Project;

/// Arms of a server whose every tool answers with an error unless the request holds this.
fn wants(written: &str) -> String {
    format!(
        r#"*'{written}'*) answer '{{"content":[{{"type":"text","text":"ok"}}]}}' ;;
    *tools/call*) answer '{{"content":[{{"type":"text","text":"no"}}],"isError":true}}' ;;"#
    )
}

/// Go tool and `--compat`: numbers of more than 64 bits in arguments are sent as floats.
/// Here: they are sent with all digits.
#[test]
fn numbers_of_arguments_are_sent_as_any_server_takes_them() {
    let suite = "
name: whole numbers in other notations
setup: [{tool: step, args: {z: 1.0, a: [1e6], m: {n: -10.0}}}]
assert: {tool: subject, args: {z: 1.0, a: [1e6], m: {n: -10.0}}, expect: {not_error: true}}
";
    let sent = r#"{"z":1,"a":[1000000],"m":{"n":-10}}"#;
    scripted_with(&wants(sent), suite, &[], &["PASS"]);
    let suite = "
name: more digits than a float has
assert: {tool: subject, args: {big: 12345678901234567890123}, expect: {not_error: true}}
";
    let (here, there) = (
        r#"{"big":12345678901234567890123}"#,
        r#"{"big":1.2345678901234568e+22}"#,
    );
    scripted_with(&wants(here), suite, &[], &["PASS"]);
    scripted_with(&wants(there), suite, &["--compat"], &["PASS"]);
}

/// Go tool and `--compat`: keys of arguments are sent in alphabetical order.
/// Here: they are sent in the order of the suite.
#[test]
fn arguments_are_sent_in_the_order_of_the_suite() {
    let suite = "
name: keys out of order
setup: [{prompt: {name: p, arguments: {y: 1.0, b: 2}}}]
assert: {tool: subject, args: {z: 1, a: {y: 2, b: 3}}, expect: {not_error: true}}
";
    let server = |prompt: &str, tool: &str| {
        format!(
            "*prompts/get*'{prompt}'*) answer '{{\"messages\":[]}}' ;;\n    {}",
            wants(tool)
        )
    };
    let here = server(r#"{"y":"1.0","b":"2"}"#, r#"{"z":1,"a":{"y":2,"b":3}}"#);
    let there = server(r#"{"b":"2","y":"1.0"}"#, r#"{"a":{"b":3,"y":2},"z":1}"#);
    scripted_with(&here, suite, &[], &["PASS"]);
    scripted_with(&there, suite, &["--compat"], &["PASS"]);
}

/// Go tool and `--compat`: `args_contain` without `args`, and `order`, `presence` and `absence` without `tools`,
/// hold.
/// Here: problems.
///
/// Go tool and `--compat`: missing names (`tool`, `argument`, `ref`, `get`) are sent as empty texts.
/// Here: problems.
#[test]
fn what_the_go_tool_takes_for_empty_is_a_problem() {
    const TRAJECTORIES: &str = "
name: any call
trace: [{tool: a, args: {x: 1}}]
trajectory: [{type: args_contain, tool: a}]
---
name: no call
trace: [{tool: a}]
trajectory: [{type: args_contain, tool: b}]
---
name: an order of nothing
trace: [{tool: a}]
trajectory: [{type: order}, {type: presence, tools: }, {type: absence}]
---
name: a call without a name
trace: [{args: {x: 1}}, {tool: b}]
trajectory: [{type: order, tools: [b]}]
---
name: a rule without a tool
trace: [{tool: b}]
trajectory: [{type: args_contain, args: {x: 1}}]
";
    const CALLS: &str = "
name: a tool of no name
setup: [{args: {a: 1}, capture: {first: $}}]
assert: {tool: , args: {first: '{{first}}'}, expect: {contains: [nameless]}}
---
name: none at all
assert: {expect: {contains: [nameless]}}
---
name: a completion of nothing
assert_completion: {ref: {type: ref/prompt, name: p}, expect: {contains: [v]}}
---
name: a prompt without a name
assert_prompts: {get: {arguments: {a: b}}}
";
    case(TRAJECTORIES, &[], &["ERROR"; 5]);
    let old = ["PASS", "FAIL", "PASS", "PASS", "FAIL"];
    case(TRAJECTORIES, &["--compat"], &old);
    let server = r#"*'"name":""'*) answer '{"content":[{"type":"text","text":"nameless"}],"completion":{"values":["v"]},"messages":[]}' ;;
    *tools/call*) answer '{"content":[{"type":"text","text":"named"}]}' ;;"#;
    scripted_with(server, CALLS, &[], &["ERROR"; 4]);
    scripted_with(server, CALLS, &["--compat"], &["PASS"; 4]);
}

/// Go tool and `--compat`: progress does not come, so `not_methods: [notifications/progress]` holds.
/// Here: it comes, because it is asked for; `max_count` counts it only if it is named beside it.
#[test]
fn progress_that_nobody_asked_about_breaks_no_limit() {
    let server = r#"*tools/call*)
      token=$(printf '%s' "$line" | sed -n 's/.*"progressToken":\("[^"]*"\|[0-9]*\).*/\1/p')
      test -n "$token" && printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":"half"}}\n' "$token"
      answer '{"content":[{"type":"text","text":"done"}]}' ;;"#;
    let suite = "
name: a limit
setup: [{tool: step}]
assert_notifications: {tool: subject, expect: {max_count: 0}}
---
name: a limit beside the name
assert_notifications: {tool: subject, expect: {max_count: 0, methods: [notifications/progress]}}
---
name: the name
assert_notifications: {tool: subject, expect: {not_methods: [notifications/progress]}}
---
name: its data
assert_notifications: {tool: subject, expect: {not_contains_data: [half]}}
";
    let here = ["PASS", "FAIL", "FAIL", "FAIL"];
    scripted_with(server, suite, &[], &here);
    let there = ["PASS", "PASS", "PASS", "PASS"];
    scripted_with(server, suite, &["--compat"], &there);
}

/// Go tool and `--compat`: a map under `json_path` that reads like a matcher, `{type: string}`, is the value that
/// must be there.
/// Here: it is a matcher; `{equals: {type: string}}` asks for the value.
///
/// Go tool and `--compat`: `not_empty: false` checks nothing.
/// Here: it is the opposite of `true`.
#[test]
fn maps_that_read_like_matchers_are_values_on_request() {
    let server = r#"*tools/call*) answer '{"content":[{"type":"text","text":"{\"a\":{\"type\":\"string\"},\"b\":\"x\"}"}]}' ;;"#;
    let suite = "
name: the value
assert: {tool: x, expect: {json_path: {$.a: {type: string}}}}
---
name: the matcher
assert: {tool: x, expect: {json_path: {$.b: {type: string}}}}
---
name: the value, said so
assert: {tool: x, expect: {json_path: {$.a: {equals: {type: string}}}}}
---
name: not empty
assert: {tool: x, expect: {not_empty: false}}
";
    let here = ["FAIL", "PASS", "PASS", "FAIL"];
    scripted_with(server, suite, &[], &here);
    let there = ["PASS", "FAIL", "FAIL", "PASS"];
    scripted_with(server, suite, &["--compat"], &there);
}

/// Go tool and `--compat`: `args_contain` compares arguments as they print: `{x: "1"}` finds `x: 1`.
/// Here: it compares type and value.
#[test]
fn arguments_of_a_trajectory_print_alike_on_request() {
    let suite = "
name: a text and a number
trace: [{tool: a, args: {x: 1}}]
trajectory: [{type: args_contain, tool: a, args: {x: '1'}}]
";
    case(suite, &[], &["FAIL"]);
    case(suite, &["--compat"], &["PASS"]);
}

/// Go tool and `--compat`: a captured number in a text is a float: `1e+21`, `9007199254740992`.
/// Here: it has all its digits: `9007199254740993`.
///
/// Go tool and `--compat`: a captured map in a text has `<`, `>` and `&` as escapes, and `1.0` as `1`.
/// Here: texts and numbers are written as the server wrote them.
#[test]
fn captured_values_are_texts_as_the_go_tool_writes_them() {
    let server = |texts: &[(&str, &str)]| {
        let capture = r#"*'"name":"step"'*) answer '{"content":[{"type":"text","text":"{\"big\":1e21,\"long\":9007199254740993,\"map\":{\"z\":1.0,\"a\":\"<&>\"}}"}]}' ;;"#;
        let sent: Vec<String> = texts
            .iter()
            .map(|(name, text)| format!(r#""{name}":"{}""#, text.replace('"', "\\\"")))
            .collect();
        format!(
            "{capture}\n    {}",
            wants(&format!("{{{}}}", sent.join(",")))
        )
    };
    let suite = "
name: captured
setup: [{tool: step, capture: {big: $.big, long: $.long, map: $.map}}]
assert: {tool: subject, args: {big: 'x{{big}}', long: '{{long}}', map: '{{map}}'}, expect: {not_error: true}}
";
    let here = server(&[
        ("big", "x1000000000000000000000"),
        ("long", "9007199254740993"),
        ("map", r#"{"a":"<&>","z":1.0}"#),
    ]);
    scripted_with(&here, suite, &[], &["PASS"]);
    let there = server(&[
        ("big", "x1e+21"),
        ("long", "9007199254740992"),
        ("map", r#"{"a":"\\u003c\\u0026\\u003e","z":1}"#),
    ]);
    scripted_with(&there, suite, &["--compat"], &["PASS"]);
}

/// Go tool and `--compat`: `{{fixture}}` in `read` and `cursor` is empty without a fixture.
/// Here: a problem when the suite is loaded.
#[test]
fn addresses_of_resources_have_an_empty_fixture_where_there_is_none() {
    let server = r#"*'"uri":"/y"'*) answer '{"contents":[{"uri":"/y","text":"here"}]}' ;;"#;
    let suite = "
name: without a fixture
assert_resources: {read: '{{fixture}}/y', expect: {contains: here}}
";
    scripted_with(server, suite, &["--compat"], &["PASS"]);
    scripted_with(server, suite, &[], &["ERROR"]);
}

/// Go tool and `--compat`: with a `timeout` of `0s` or less nothing passes; a number without a unit is ignored.
/// Here: both are problems.
#[test]
fn nothing_passes_within_a_timeout_of_zero() {
    let server = r#"*tools/call*) answer '{"content":[{"type":"text","text":"done"}]}' ;;"#;
    for (timeout, wanted) in [
        ("0s", "ERROR"),
        ("-1s", "ERROR"),
        ("0", "ERROR"),
        ("-5", "PASS"),
    ] {
        let suite = format!("name: a\nassert: {{tool: x}}\ntimeout: '{timeout}'\n");
        scripted_with(server, &suite, &["--compat"], &[wanted]);
    }
}

/// Go tool and `--compat`: `{{env.NAME}}`, `{{name!}}` and `{{{{` have no meaning and stay.
/// Here: they are an environment variable, a captured value with its JSON type, and `{{`.
#[test]
fn braces_of_ours_are_text_for_the_go_tool() {
    let server = |sent: &str| {
        let capture =
            r#"*'"name":"step"'*) answer '{"content":[{"type":"text","text":"{\"id\":7}"}]}' ;;"#;
        format!(
            "{capture}\n    {}",
            wants(&format!(r#"{{"text":"{sent}"}}"#))
        )
    };
    let suite = "
name: braces
setup: [{tool: step, capture: {id: $.id}}]
assert: {tool: subject, args: {text: '{{env.SEEN}} {{id!}} {{{{id}}}}'}, expect: {not_error: true}}
";
    scripted_with(
        &server("{{env.SEEN}} {{id!}} {{7}}"),
        suite,
        &["--compat"],
        &["PASS"],
    );
    let suite = suite.replace("{{env.SEEN}}", "{{env.PATH}}");
    let path = std::env::var("PATH").unwrap();
    let here = server(&format!("{path} 7 {{{{id}}}}}}}}"));
    scripted_with(&here, &suite, &[], &["PASS"]);
}

/// Go tool and `--compat`: `{{fixture}}` in `subscribe` and `unsubscribe` is sent as it is.
/// Here: it is the fixture's path.
#[test]
fn a_subscription_names_the_fixture_as_it_is_written() {
    let server = r#"*subscribe*'"uri":"{{fixture}}/y"'*) answer '{}' ;;
    *resources/list*) answer '{"resources":[]}' ;;"#;
    let suite = "
name: subscribed
assert_resources: {subscribe: '{{fixture}}/y', list: {}, unsubscribe: '{{fixture}}/y'}
timeout: 2s
";
    for arguments in [&["--compat"][..], &["--compat", "--fixture", "."]] {
        scripted_with(server, suite, arguments, &["PASS"]);
    }
    scripted_with(server, suite, &["--fixture", "evals"], &["ERROR"]);
}

/// Go tool and `--compat`: `{{fixture}}` in `audit_log` is empty without a fixture.
/// Here: a problem when the suite is loaded.
#[test]
fn a_log_of_calls_is_looked_for_without_the_fixture_that_is_not_there() {
    let suite = "
name: log
audit_log: '{{fixture}}evals/log.jsonl'
trajectory: [{type: presence, tools: [a]}]
";
    let project = Project::with_suite(suite).file("evals/log.jsonl", "{\"tool\":\"a\"}\n");
    assert_eq!(run_in(&project, &["--compat"]).statuses(), ["PASS"]);
    assert_eq!(run_in(&project, &[]).statuses(), ["ERROR"]);
}

/// Go tool and `--compat`: a `command` without a path is looked for on the caller's `PATH`.
/// Here: it is looked for on the `PATH` under `env`, as clients built on Node and Python do, then on the caller's.
#[test]
fn the_path_of_a_server_chooses_its_program_only_here() {
    let suite = "
name: two programs
server: {command: one-of-two, env: {PATH: $OTHER}}
assert: {tool: x, expect: {contains: other}}
";
    let server = |says: &str| {
        let arms = format!(
            r#"*tools/call*) answer '{{"content":[{{"type":"text","text":"{says}"}}]}}' ;;"#
        );
        format!("#!/bin/sh\n{}", shell_server(&arms))
    };
    let project = Project::with_suite(suite)
        .file("callers/one-of-two", server("ours"))
        .file("others/one-of-two", server("other"));
    let here = project.path();
    for folder in ["callers", "others"] {
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(here.join(folder).join("one-of-two"), executable).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let [callers, others] =
        ["callers", "others"].map(|it| format!("{}/{it}:{path}", here.display()));
    let case = |other: &str, arguments: &[&str], wanted: i32| {
        let mut command = project.command(&[&["run", "evals"], arguments].concat());
        command.env("PATH", &callers).env("OTHER", other);
        let ran = project.finish(command);
        assert_eq!(ran.code, wanted, "{other} {arguments:?}: {}", ran.stdout);
        ran.stdout
    };
    case(&others, &[], 0);
    // A `PATH` that does not lead to the program keeps nobody from starting it.
    let said = case(&format!("/nowhere:{path}"), &[], 1);
    assert!(said.contains("ours"), "{said}");
    let said = case(&others, &["--compat"], 1);
    assert!(said.contains("ours"), "{said}");
}

/// Go tool and `--compat`: `skip: true` beside a pattern or path that cannot be used is skipped; `--compat` warns.
/// Here: a problem.
#[test]
fn what_is_skipped_may_be_broken() {
    for expect in ["matches_regex: ['(']", "json_path: {'a[': 1}"] {
        let suite = format!("name: a\nskip: true\nassert: {{tool: x, expect: {{{expect}}}}}\n");
        let seen = embedded(&suite, &["--compat"], &["SKIP"]);
        assert!(seen.ran.stderr.contains("warning"), "{}", seen.ran.stderr);
        embedded(&suite, &[], &["ERROR"]);
        embedded(&suite.replace("skip: true", ""), &["--compat"], &["ERROR"]);
    }
}

/// Go tool and `--compat`: folders below the first level are not read.
/// Here: all depths are read.
///
/// Go tool and `--compat`: folders named `fixtures`, `fixture`, `node_modules` or with a dot are read.
/// Here: they are not; a note says so.
#[test]
fn folders_that_are_passed_over_are_read_on_request() {
    let suite = "assert: {tool: echo, args: {message: hi}, expect: {contains: [hi]}}\n";
    let project = Project::with_suite(suite)
        .file("evals/mcp-assert.yaml", super::EMBEDDED)
        .file("evals/.hidden/b.yaml", suite)
        .file("evals/fixtures/c.yaml", suite)
        .file("evals/sub/deep/d.yaml", suite);
    assert_eq!(run_in(&project, &[]).statuses().len(), 2);
    assert_eq!(run_in(&project, &["--compat"]).statuses().len(), 3);
}

/// Go tool and `--compat`: `list` beside `read` or `get`: one of them is done.
/// Here: a problem that names both.
///
/// Go tool and `--compat`: `{{name}}` that nothing defines stays as it is.
/// Here: a problem when the suite is loaded.
///
/// Go tool and `--compat`: a tag that YAML does not have, `!note text`, is left out.
/// Here: a problem.
///
/// Go tool and `--compat`: an unknown `action` of an elicitation is `accept`; an unknown log level is sent.
/// Here: problems that name the known words.
#[test]
fn what_the_go_tool_passes_over_is_a_problem() {
    for suite in [
        "assert_resources: {list: {}, read: 'test://static-text', expect: {not_empty: true}}",
        "assert: {tool: echo, args: {message: '{{nobody}}'}, expect: {contains: ['{{nobody}}']}}",
        "assert: {tool: echo, args: {message: !note hi}, expect: {contains: [hi]}}",
        "assert_elicitation: {tool: test_elicitation, args: {message: Who?}, answer: {action: agree, content: {username: ada, email: a@b.org}}, expect: {contains: [ada]}}",
    ] {
        let suite = format!("name: a\n{suite}\n");
        embedded(&suite, &[], &["ERROR"]);
        embedded(&suite, &["--compat"], &["PASS"]);
    }
    let server = r#"*logging/setLevel*'"level":"loud"'*) answer '{}' ;;
    *tools/call*) answer '{"content":[]}' ;;"#;
    let suite = "name: a\nassert_logging: {set_level: loud, tool: x, expect: {max_messages: 0}}\n";
    scripted_with(server, suite, &[], &["ERROR"]);
    scripted_with(server, suite, &["--compat"], &["PASS"]);
}

/// Go tool and `--compat`: captured text in a path is part of the path: `a.b` leads to `b` in `a`.
/// Here: it is a key, an index or a text in quotes.
///
/// Go tool and `--compat`: captured text in `matches_regex` is part of the pattern: `a.b` matches `axb`.
/// Here: it stands for itself.
#[test]
fn captured_text_is_part_of_a_path_or_pattern_on_request() {
    let suite = "
name: in a path
setup: [{tool: echo, args: {message: a.b}, capture: {key: $.message}}]
assert: {tool: reply, args: {text: '{\"a\": {\"b\": 1}, \"a.b\": 2}'}, expect: {json_path: {'{{key}}': 2}}}
---
name: in a pattern
setup: [{tool: echo, args: {message: a.b}, capture: {key: $.message}}]
assert: {tool: reply, args: {text: axb}, expect: {matches_regex: ['^{{key}}$']}}
";
    embedded(suite, &[], &["PASS", "FAIL"]);
    embedded(suite, &["--compat"], &["FAIL", "PASS"]);
}

/// Go tool and `--compat`: `not_contains: Müller` passes for the text `{"owner":"M\u00fcller"}`.
/// Here: it fails: the text says `Müller`.
#[test]
fn escapes_of_json_hide_a_text_on_request() {
    let suite = "
name: escaped
assert: {tool: x, expect: {not_contains: Müller}}
";
    let server = r#"*tools/call*) answer '{"content":[{"type":"text","text":"{\"owner\":\"M\\u00fcller\"}"}]}' ;;"#;
    scripted_with(server, suite, &[], &["FAIL"]);
    scripted_with(server, suite, &["--compat"], &["PASS"]);
}
