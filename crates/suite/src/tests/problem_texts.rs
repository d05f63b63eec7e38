//! For each code one example and the exact text shown.

use std::collections::BTreeSet;

use super::Sample;
use crate::problems::code;

/// Documents that are wrong, each in its own way; `S` stands for a server.
const BROKEN: &[&str] = &[
    "assert: {tool: [a, b\n",
    "a: 1\nassert:\n\ttool: x\n",
    "name: a\n\tassert: {tool: x}\n",
    "S\nassert: {tool: x, expect: {matches_regex: \"\\d+\"}}\n",
    "S\nassert: {tool: x, args: {a: !!bool yes, b: !!int 1.5}}\n",
    "S\nassert: {tool: x}\nexpect: {contains: a}\n---\nname: b\nS\nassert: {tool: x, contains: a}\n",
    "S\nfixture: fx\njobs: 2\ncommand: x\ntool: y\nassert: {tool: x}\n",
    "S\nassert: {tool: x, args: {a: '{{env.}}'}}\n",
    "name: x\nname: y\nS\nassert: {tool: a}\n",
    "S\nassert: {tool: x, args: {<<: {a: 1}, <<: {b: 1}}}\n",
    "S\nassert: {tool: x, args: {a: !!int a}}\n",
    "name: x\nassert: \"tool\n",
    "S\nassert: {tool: *nowhere}\n",
    "S\nassert: &a {tool: x, args: {a: *a}}\n",
    "S\nassert: {tool: x, args: {<<: 5}}\n",
    "S\nassert: {tool: !secret x}\n",
    "S\nassert: {tool: x, args: {n: .inf}}\n",
    "S\nassert: {tool: {{name}}}\n",
    "- assert: {tool: x}\n",
    "S\nassert:\n  tool: x\n  expect:\n    containz: [a]\n    zzzzzzz: 1\n",
    "S\nassert: {tool: x, expect: {contains: {a: 1}, not_error: 'true', min_results: many}}\n",
    "S\nassert: {tool: x, expect: {contains: , equals: x, in_order: []}}\n",
    "S\nassert: {expect: {contains: x}}\n",
    "S\nassert: {tool: ''}\n---\nname: b\nS\nsetup: [{tool: ' '}]\nassert_logging: {tool: ''}\n",
    "S\nassert: {tool: x, args: {mode: 0644, limits: [1_000, 0x10]}, expect: {max_results: 010, min_results: 1_0}}\n",
    "S\nassert_prompts: {expect: {contains: x}}\n",
    "S\nassert_prompts: {get: greet, args: {x: 1}}\n",
    "S\nassert_resources: {list: {}, read: a}\n",
    "server: {command: s, url: 'http://x'}\nassert: {tool: x}\ntrace: [{tool: a}]\n",
    "server: {command: s, transport: htttp}\nassert: {tool: x}\n",
    "S\nassert: {tool: x, expect: {min_results: -1, max_bytes: 1.5}}\n",
    "S\nasert: {tool: x}\n",
    "server: {command: x}\n",
    "S\nassert: {tool: x}\nassert_tools: {}\n",
    "assert: {tool: x}\n",
    "server: {transport: http}\nassert: {tool: x}\n",
    "server: {url: http://localhost:8080/mcp}\nassert: {tool: x}\n",
    "S\nassert: {tool: x}\ntimeout: 30\n---\nname: b\nS\nassert: {tool: x, expect: {max_duration: -5s}}\n",
    "S\nassert: {tool: x, expect: {matches_regex: ['(?=a)', '(', ok]}}\n",
    "S\nassert: {tool: x, expect: {json_path: {'a[1abc]': 1, '$.b': 2}}}\n",
    "S\nassert: {tool: x, expect: {json_path: {\"$[?search(@.n, '(secret')]\": 1}}}\n",
    "S\nassert: {tool: x, expect: {error: {message: /denied/gi}}}\n---\nname: b\nS\nassert: {tool: x, expect: {error: {message: /tmp/a}}}\n",
    "S\nassert: {tool: x, expect: {json_schema: {type: strin}}}\n---\nname: b\nS\nassert: {tool: x, expect: {json_schema: missing.json}}\n---\nname: c\nS\nassert: {tool: x, expect: {json_schema: {requird: [a]}}}\n",
    "trace: [{tool: a}]\ntrajectory: [{type: count, tool: a, min: 3, max: 1}]\n",
    "S\nassert: {tool: x, expect: {only_changed: ['a[']}}\n",
    "S\nassert: {tool: x, expect: {file_not_exists: ['*.tmp'], only_changed: [/srv/data/a.txt]}}\n",
    "S\nassert: {tool: x, expect: {json_path: {'$.a': {type: text}, '$.b': {gt: high}}}}\n",
    "S\nassert: {tool: x, expect: {json_path: {'$.a': {gte: 5}, '$.b': {not: {exist: true}}, '$.c': {get: 5}, '$.d': {equals: {gte: 5}}}}}\n",
    "S\nassert: {tool: x, expect: {content: [{type: text, text: {contains: a}}, {resource: {uri: {regex: b}}, _meta: {type: c}}]}}\n",
    "S\nsetup: [{tool: a, capture: {session_id: '$.id'}}]\nassert: {tool: x, args: {id: '{{sesion_id}}'}, expect: {contains: 'a {{nothing}}'}}\n",
    "S\nsetup: [{tool: a, capture: {fixture: '$.id'}}]\nassert: {tool: x}\n",
    "S\nassert: {tool: x, args: {id: '{{ fixture }}'}}\n",
    "S\nsteps: [{tool: a, args: {id: '{{id}}'}}, {tool: b, capture: {id: '$.id'}}]\n",
    "S\nparallel: true\nsteps: [{tool: a, args: {id: '{{id}}'}}, {tool: b, capture: {id: '$.id'}}]\n",
    "S\nassert: {tool: x, expect: {json_path: {'$.a': {lt: .inf}, '$.i[?(@.id=1)]': 1}}}\n",
    "server: {command: s, env: {TOKEN: $MISSING_TOKEN, A: '${1x}'}}\nassert: {tool: x}\n",
    "S\nassert_logging: {set_level: warn, tool: x}\n",
    "S\nassert: {tool: x, expect: {findings: [stdout-nois]}}\n",
    "S\nassert_notifications: {tool: x, expect: {not_methods: tools/list_changed}}\n",
    "trace: [{tool: a}]\ntrajectory: [{type: ordr, tools: [a]}, {type: order}]\n",
    "trace: [{tool: a}]\ntrajectory: [{type: presence, tools: []}]\n",
    "S\nsetup: [{tool: a, read: b}, {}, {wait: 1}]\nassert: {tool: x}\n",
    "server: {command: s, protocol: 2025-06-19}\nassert: {tool: x}\n",
    "S\nassert: {tool: x, expect: {not: {}, exit: {code: 1, clean: true}}}\n",
    "S\nskip: 'true'\nassert: {tool: x}\n",
    "S\nsetup: [{wait: 1ms, capture: {x: $.a}}]\nsteps: [{tool: a}, {wait: 1ms, expect: {contains: a}, allow_error: true}]\n",
    "setup: [{tool: a}]\ntrace: [{tool: a}]\ntrajectory: [{type: presence, tools: [a], min: 3}, {type: count, tool: a, count: 1, max: 2}]\n",
    "S\nsetup: [{tool: a}]\nraw: {handshake: false, send: [a], expect: {not_empty: true}}\n",
    "S\nassert: {tool: x, expect: [{contains: a}]}\n",
    "S\nsetup: [{tool: a, args: {capture: {id: $.id}}}]\nassert: {tool: x, args: {a: 1, expect: {contains: a}}}\n",
    "S\nassert: {tool: x, args: {'{{fixture}}': 1, '{{{{a}} {{ b }}': [{'b {{nope}}': 2}]}, expect: {json_path: {'$.l.length()': 3, 'a.value()': 1, b.main(): 2}}}\n",
    "S\nassert: {tool: x, expect: {exit: claen, findings: non, content: x, server_requests: 5, min_results: x, max_results: [1]}}\n",
    "S\nassert: {tool: x, expect: {exit: [1], findings: {a: 1}, content: [x], server_requests: [x], min_results: {count: x}}}\n",
    "server: {transport: http, launch: {command: s, ready: log}}\nclient: {client_capabilities: {sampling: treu, elicitation: false}}\nassert: {tool: x}\n",
    "S\nassert: {tool: a\u{7}}\n",
    "server: {transport: http, url: 'localhost:8080/mcp', headers: {'bad name': x}}\nassert: {tool: x}\n",
    "S\nsteps: []\n---\nname: b\nS\nsteps: [{tool: a, parallel: true}, {tool: b}]\n",
];

#[test]
fn every_problem_says_where_what_and_how_to_mend_it() {
    let mut shown = String::new();
    for text in BROKEN {
        let text = text.replace("S\n", "server: {command: srv}\n");
        let sample = Sample::one(&text);
        shown.push_str(&sample.shown());
        shown.push_str("\n\n========\n\n");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn every_code_has_an_example() {
    let mut seen: BTreeSet<&str> = BROKEN
        .iter()
        .flat_map(|text| {
            let text = text.replace("S\n", "server: {command: srv}\n");
            let loaded = Sample::one(&text).load();
            let problems = loaded.suite.problems;
            problems
                .into_iter()
                .map(|problem| problem.code)
                .collect::<Vec<_>>()
        })
        .collect();
    let deep = format!("S: {}", "[".repeat(200));
    let again = "name: same\nserver: {command: s}\nassert: {tool: x}\n";
    let samples = [
        Sample::one(&deep),
        Sample::new(&[("a.yaml", again), ("b.yaml", again)]),
        Sample::new(&[("mcp-assert.yaml", "jobs: 1\n---\njobs: 2\n")]),
        Sample::new(&[("bytes.yaml", "")]).bytes("bytes.yaml", b"name: \xff\n"),
        Sample::new(&[("long.yaml", "")]).bytes("long.yaml", &vec![b'#'; 17 * 1024 * 1024]),
        Sample::new(&[]).link("gone.yaml", "/nowhere/at/all"),
    ];
    for sample in samples {
        seen.extend(
            sample
                .load()
                .suite
                .problems
                .iter()
                .map(|problem| problem.code),
        );
    }
    seen.insert(Sample::new(&[("a.txt", "")]).refused("a.txt"));
    let missing: Vec<&str> = code::ALL
        .iter()
        .map(|(code, _)| *code)
        .filter(|code| !seen.contains(code))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn the_codes_are_known_by_their_names() {
    let codes: Vec<String> = code::ALL
        .iter()
        .map(|(code, doc)| format!("{code}:{doc}"))
        .collect();
    insta::assert_snapshot!(codes.join("\n"));
}

#[test]
fn all_problems_of_a_document_are_told_and_the_rest_still_loads() {
    let good = "name: good\nserver: {command: s}\nassert: {tool: x}\n";
    let bad = "nam: bad\nserver: {comand: s}\nassert: {tool: x, expect: {containz: a, matches_regex: '('}}\ntimeout: 5\n";
    let sample = Sample::new(&[("a.yaml", &format!("{bad}---\n{good}---\nx: [\n"))]);
    let loaded = sample.load();
    let codes: Vec<&str> = loaded
        .suite
        .problems
        .iter()
        .map(|problem| problem.code)
        .collect();
    assert_eq!(
        codes,
        [
            "unknown-key",
            "unknown-key",
            "unknown-key",
            "bad-regex",
            "bad-duration",
            "yaml-syntax"
        ]
        .map(|code| code)
    );
    assert_eq!(loaded.suite.entries.len(), 3);
}
