//! What jobs share, repeat, wait for and leave out: --reuse-server, --retries, --trials, --fail-fast, --shard,
//! `serial`, deadlines.

use std::{collections::BTreeSet, fmt::Write, process::Command};

use serde_json::Value;

use crate::{
    harness::{BINARY, Project},
    running::{Ended, Running},
};

fn run(project: &Project, more: &[&str]) -> Ended {
    let mut arguments = vec!["run", "evals", "--json"];
    arguments.extend(more);
    let ended = Running::start(project, &arguments).end();
    ended.left_nothing();
    ended
}

/// A member of each outcome.
fn each(ended: &Ended, key: &str) -> Vec<Value> {
    let outcomes = ended.json();
    let outcomes = outcomes.as_array().unwrap().iter();
    outcomes.map(|outcome| outcome[key].clone()).collect()
}

/// Asks a server how often this process was called: each wants the number in brackets.
fn counting(server: &str, wanted: &[u32]) -> String {
    let documents: Vec<String> = wanted
        .iter()
        .enumerate()
        .map(|(at, wanted)| {
            format!(
                "name: number {at}\nserver: {server}\n\
                 assert: {{tool: counter, expect: {{structured: {{$.process: {wanted}}}}}}}\n"
            )
        })
        .collect();
    documents.join("---\n")
}

#[test]
fn no_more_is_done_at_once_than_files_may_be_open() {
    let one = "---\nname: a\nserver: {builtin: conformance}\nassert: {tool: test_simple_text}\n";
    let project = Project::with_suite(&one.repeat(60));
    let limited = |limit: u32| {
        let inner = project.command(&[]);
        let environment = inner
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        let mut command = Command::new("sh");
        command
            .env_clear()
            .envs(environment)
            .current_dir(project.path());
        command.args([
            "-c",
            &format!("ulimit -n {limit}; exec \"$@\""),
            "sh",
            BINARY,
        ]);
        command.args(["run", "evals", "--jobs", "50"]);
        Running::of(&project, command).end()
    };
    let ended = limited(128);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stderr.contains("7 at a time instead of 50"),
        "{}",
        ended.stderr
    );
    for limit in [5, 6, 7, 8, 10, 12, 14, 16, 18, 20] {
        let ended = limited(limit);
        assert!(
            !ended.stderr.contains("panicked"),
            "{limit}: {}",
            ended.stderr
        );
        assert_eq!(ended.temporary, [""; 0], "{limit}: {}", ended.stderr);
    }
}

#[test]
fn a_shared_server_is_one_process_and_results_keep_their_order() {
    let server = "{builtin: conformance}";
    let project = Project::with_suite(&counting(server, &[1, 2, 3, 9, 5]));
    let shared = run(
        &project,
        &["--reuse-server", "--jobs", "4", "--report-json", "run.json"],
    );
    assert_eq!(
        each(&shared, "kind"),
        ["pass", "pass", "pass", "fail", "pass"],
        "{}",
        shared.stdout
    );
    let names: Vec<String> = (0..5).map(|at| format!("number {at}")).collect();
    assert_eq!(each(&shared, "name"), names);
    let stored: Value = serde_json::from_str(&project.read("run.json")).unwrap();
    assert_eq!(
        stored["assertions"][3]["evidence"]["shared_server"],
        "a.yaml::number 0 and 2 more"
    );
    let fresh = run(&project, &["--jobs", "4"]);
    assert_eq!(
        each(&fresh, "kind"),
        ["pass", "fail", "fail", "fail", "fail"]
    );
}

#[test]
fn what_hangs_on_what_a_session_hears_has_a_server_of_its_own() {
    let case = |alone: &str| {
        let server = "{builtin: conformance}";
        let both = counting(server, &[1, 2]);
        let (first, last) = both.split_once("---\n").unwrap();
        let suite = format!("{first}---\nname: alone\nserver: {server}\n{alone}\n---\n{last}");
        let ended = run(
            &Project::with_suite(&suite),
            &["--reuse-server", "--jobs", "1"],
        );
        assert_eq!(
            each(&ended, "kind"),
            ["pass"; 3],
            "{alone}\n{}",
            ended.stdout
        );
    };
    case("assert_notifications: {tool: counter, expect: {max_count: 9}}");
    case("assert_logging: {set_level: error, tool: counter, expect: {max_messages: 9}}");
    case("assert: {tool: counter, expect: {notifications: {max_count: 9}}}");
    case("assert: {tool: counter, expect: {server_requests: []}}");
    case("setup: [{set_level: error}]\nassert: {tool: counter}");
    case("setup: [{tool: counter}]\nassert_resources: {subscribe: 'test://watched-resource'}");
}

#[test]
fn what_killed_a_shared_server_is_an_error_and_is_not_sent_again() {
    let dies_in_third = "{builtin: conformance, args: [--fault, 'tools/call@3=exit-mid-call:9']}";
    let project = Project::with_suite(&counting(dies_in_third, &[1, 2, 3, 1, 2]));
    let ended = run(&project, &["--reuse-server", "--jobs", "4"]);
    assert_eq!(
        each(&ended, "kind"),
        ["pass", "pass", "error", "pass", "pass"],
        "{}",
        ended.stdout
    );
    assert_eq!(each(&ended, "cause")[2], "crash");
    let detail = each(&ended, "detail")[2].to_string();
    for wanted in ["exit code 9", "used by `a.yaml::number 0` and 1 more"] {
        assert!(detail.contains(wanted), "{detail}");
    }

    let always = "{builtin: conformance, args: [--fault, 'tools/call=exit-mid-call:9']}";
    let project = Project::with_suite(&counting(always, &[1, 1]));
    let ended = run(&project, &["--reuse-server"]);
    assert_eq!(each(&ended, "cause"), ["crash", "crash"]);
}

#[test]
fn whatever_keeps_a_shared_server_from_being_observed_it_is_told_that_it_was_shared() {
    for (fault, cause) in [("not-json", "timeout"), ("wrong-id", "violation")] {
        let server = format!("{{builtin: conformance, args: [--fault, 'tools/call@2={fault}']}}");
        let project = Project::with_suite(&counting(&server, &[1, 2]));
        let ended = run(&project, &["--reuse-server", "--timeout", "2s"]);
        assert_eq!(each(&ended, "cause")[1], cause, "{}", ended.stdout);
        let detail = each(&ended, "detail")[1].to_string();
        let wanted =
            "the server was shared (--reuse-server): before, it was used by `a.yaml::number 0`";
        assert!(detail.contains(wanted), "{detail}");
    }
}

#[cfg(unix)]
#[test]
fn a_shared_server_that_ended_between_assertions_is_replaced_and_its_end_is_told() {
    let project = Project::with_suite(&format!(
        "\
name: before
serial: one
server: {{command: sh, args: [-c, 'echo $$ >pid; exec \"$0\" serve --fault tools/call@1=exit-after-reply:9', {BINARY:?}]}}
assert: {{tool: counter, expect: {{structured: {{$.process: 1}}}}}}
---
name: between
serial: one
server: {{command: sh, args: [-c, 'while [ -e /proc/$(cat pid)/exe ]; do sleep 0.02; done; exec \"$0\" serve', {BINARY:?}]}}
assert: {{tool: counter, expect: {{structured: {{$.process: 1}}}}}}
---
name: after
serial: one
server: {{command: sh, args: [-c, 'echo $$ >pid; exec \"$0\" serve --fault tools/call@1=exit-after-reply:9', {BINARY:?}]}}
assert: {{tool: counter, expect: {{structured: {{$.process: 1}}}}}}
"
    ));
    let ended = run(&project, &["--reuse-server"]);
    assert_eq!(each(&ended, "kind"), ["pass"; 3], "{}", ended.stdout);
    let findings = format!("{:?}", each(&ended, "findings"));
    assert!(findings.contains("exited-early"), "{findings}");
}

#[test]
fn the_start_of_a_server_counts_wherever_its_assertion_stands() {
    let talks = "server: {builtin: conformance}\nassert: {tool: slow, args: {milliseconds: 2000}, expect: {not_error: true}}";
    let mut suite = format!("name: first\n{talks}\n---\nname: second\n{talks}\n");
    for name in ["third", "fourth"] {
        write!(
            suite,
            "---\nname: {name}\ntimeout: 1s\nserver: {{command: sh, args: [-c, 'sleep 1.5; exec {BINARY} serve']}}\n\
             assert: {{tool: echo, args: {{text: a}}, expect: {{contains: a}}}}\n"
        )
        .unwrap();
    }
    let ended = run(&Project::with_suite(&suite), &["--jobs", "2"]);
    assert_eq!(
        each(&ended, "cause")[2..],
        ["timeout", "timeout"],
        "{}",
        ended.stdout
    );
    assert_eq!(each(&ended, "kind")[..2], ["pass", "pass"]);
}

#[test]
fn a_shared_server_that_hangs_is_not_given_to_the_next() {
    let project = Project::with_suite(
        "\
name: hangs
timeout: 1s
server: {builtin: conformance}
assert: {tool: slow, args: {hang: true}, expect: {not_error: true}}
---
name: the next
server: {builtin: conformance}
assert: {tool: counter, expect: {structured: {$.process: 1}}}
",
    );
    let ended = run(&project, &["--reuse-server"]);
    assert_eq!(each(&ended, "kind"), ["error", "pass"], "{}", ended.stdout);
}

#[test]
fn a_shared_server_finds_its_fixture_as_new() {
    let server = "{builtin: conformance, args: [--files, '{{fixture}}']}";
    let project = Project::with_suite(&format!(
        "\
name: writes
server: {server}
assert: {{tool: write_file, args: {{path: new.txt, text: new}}, expect: {{file_contains: {{new.txt: new}}}}}}
---
name: writes over
server: {server}
assert: {{tool: write_file, args: {{path: old.txt, text: changed}}, expect: {{file_not_exists: [new.txt], only_changed: [old.txt]}}}}
---
name: finds it as it was
server: {server}
assert: {{tool: delete_file, args: {{path: gone.txt}}, expect: {{file_contains: {{old.txt: old}}, file_not_exists: [gone.txt]}}}}
"
    ))
    .file("fixture/old.txt", "old")
    .file("fixture/gone.txt", "gone");
    for more in [&["--reuse-server"][..], &[]] {
        let mut arguments = vec!["--fixture", "fixture"];
        arguments.extend(more);
        let ended = run(&project, &arguments);
        assert_eq!(
            each(&ended, "kind"),
            ["pass"; 3],
            "{more:?} {}",
            ended.stdout
        );
    }
    assert_eq!(project.read("fixture/old.txt"), "old");
    assert!(project.path().join("fixture/gone.txt").exists());
}

#[test]
fn a_server_is_shared_as_long_as_its_fixture_is_as_it_was() {
    let counts = |name: &str, nth: u32| {
        format!(
            "name: {name}\nserver: {{builtin: conformance, args: [--files, '{{{{fixture}}}}']}}\n\
             assert: {{tool: counter, expect: {{structured: {{$.process: {nth}}}}}}}\n"
        )
    };
    let writes = counts("writes", 0).replace(
        "tool: counter, expect: {structured: {$.process: 0}}",
        "tool: write_file, args: {path: old.txt, text: new}, expect: {only_changed: [old.txt]}",
    );
    let suite = [
        counts("first", 1),
        counts("as it was", 2),
        writes,
        counts("behind the change", 1),
        counts("as it was again", 2),
    ];
    let project = Project::with_suite(&suite.join("---\n")).file("fixture/old.txt", "old");
    let ended = run(&project, &["--reuse-server", "--fixture", "fixture"]);
    assert_eq!(each(&ended, "kind"), ["pass"; 5], "{}", ended.stdout);
}

#[test]
fn what_a_shared_server_made_at_its_start_is_there_for_every_assertion() {
    let keeps = |expected: &str| {
        format!(
            "name: '{expected}'\nserver: {{builtin: conformance, args: [--journal, '{{{{fixture}}}}/open.jsonl']}}\n\
             assert: {{tool: echo, args: {{text: a}}, expect: {{{expected}}}}}\n"
        )
    };
    let suite = [
        keeps("file_exists: [open.jsonl]"),
        keeps("file_contains: {open.jsonl: echo}"),
        keeps("only_changed: []"),
    ];
    let project = Project::with_suite(&suite.join("---\n")).file("fixture/old.txt", "old");
    for more in [&["--reuse-server"][..], &[]] {
        let ended = run(&project, &[more, &["--fixture", "fixture"]].concat());
        assert_eq!(
            each(&ended, "kind"),
            ["pass", "pass", "fail"],
            "{more:?} {}",
            ended.stdout
        );
    }
}

#[test]
fn a_pass_after_a_failure_is_flaky() {
    let flaky = |state: &str| {
        Project::with_suite(&format!(
            "\
name: fails first
server: {{builtin: conformance, args: [--state, {state}]}}
assert: {{tool: flaky, args: {{mode: first, n: 2, key: a}}, expect: {{not_error: true}}}}
"
        ))
    };
    let ended = run(&flaky("s.json"), &["--retries", "1"]);
    assert_eq!(ended.code, Some(1));
    for more in [&["--retries", "2"][..], &["--retries", "5"]] {
        let ended = run(&flaky("s.json"), more);
        assert_eq!(ended.code, Some(0), "{}", ended.stdout);
        let attempts = &each(&ended, "attempts")[0];
        assert_eq!(attempts.as_array().unwrap().len(), 2);
        assert_eq!(attempts[0]["kind"], "fail");
    }
    let why = "1 assertion is flaky: --fail-flaky makes the run fail";
    let ended = run(&flaky("s.json"), &["--retries", "2", "--fail-flaky"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains(why), "{}", ended.stderr);
    let project = flaky("s.json");
    let options = [
        "run",
        "evals",
        "--retries",
        "2",
        "--fail-flaky",
        "--markdown",
        "m.md",
        "--badge",
        "b.json",
    ];
    let ended = project.run(&options);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    let last = ended.stdout.lines().next_back();
    assert_eq!(last, Some(why), "{}", ended.stdout);
    let page = project.read("m.md");
    let headline = page.lines().next();
    assert_eq!(headline, Some("### ❌ mcp-assert · 1 flaky assertion"));
    let told = page.replace("<code>", "").replace("</code>", "");
    assert!(told.contains(&format!("- {why}\n")), "{page}");
    for (place, word) in [(&ended.stdout, "FLAKY "), (&page, "**flaky**")] {
        let told = [word, "attempt 1: FAIL ", "not_error does not hold"];
        for text in told {
            assert!(place.contains(text), "{text}: {place}");
        }
    }
    assert!(project.read("b.json").contains(r#""color": "red""#));
}

#[test]
fn trials_are_independent_repetitions() {
    let project = Project::with_suite(&counting("{builtin: conformance}", &[1, 2]));
    let ended = run(&project, &["--trials", "3", "--jobs", "4"]);
    let trials: BTreeSet<(String, u64, String)> = ended
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|outcome| {
            (
                outcome["name"].as_str().unwrap().to_owned(),
                outcome["trial"].as_u64().unwrap(),
                outcome["kind"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let wanted = (1..=3).flat_map(|trial| {
        [("number 0", "pass"), ("number 1", "fail")]
            .map(|(name, kind)| (name.to_owned(), trial, kind.to_owned()))
    });
    assert_eq!(trials, wanted.collect());
}

#[test]
fn nothing_is_started_after_the_first_failure_with_fail_fast() {
    let project = Project::with_suite(&counting("{builtin: conformance}", &[1, 7, 1, 1, 1]));
    let ended = run(&project, &["--fail-fast", "--jobs", "1"]);
    assert_eq!(ended.code, Some(1));
    let kinds = each(&ended, "kind");
    assert_eq!(kinds, ["pass", "fail", "skip", "skip", "skip"]);
}

#[test]
fn a_slow_end_is_awaited_with_fail_fast_before_anything_talks() {
    let slow = format!(r#"{{command: sh, args: [-c, '"$0" serve; sleep 1; exit 3', {BINARY:?}]}}"#);
    let case = |expect: &str, more: &[&str], wanted: &[&str]| {
        let first = format!(
            "name: red\nserver: {slow}\nassert: {{tool: counter, expect: {{{expect}}}}}\n---\n"
        );
        let server = "{builtin: conformance, args: [--journal, calls]}";
        let others = counting(server, &[1; 4]);
        let project = Project::with_suite(&(first + &others));
        let ended = run(&project, &[&["--fail-fast"], more].concat());
        assert_eq!(each(&ended, "kind"), wanted, "{expect} {more:?}");
        assert!(!project.path().join("calls").exists(), "{expect} {more:?}");
    };
    let [red, skip] = ["fail", "skip"];
    let wanted = [red, skip, skip, skip, skip];
    case("structured: {$.process: 9}", &["--jobs", "1"], &wanted);
    case("exit: 0", &["--jobs", "1"], &wanted);
    case(
        "structured: {$.process: 9}",
        &["--jobs", "1", "--retries", "1"],
        &wanted,
    );
}

#[test]
fn shards_are_all_of_it_and_nothing_twice() {
    let project = Project::with_suite(&counting("{builtin: conformance}", &[1; 11]));
    let names = |more: &[&str]| each(&run(&project, more), "name");
    let mut union = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let part = names(&["--shard", shard]);
        assert!((3..=4).contains(&part.len()), "{shard}: {part:?}");
        union.extend(part);
    }
    let sorted = |mut names: Vec<Value>| {
        names.sort_by_key(ToString::to_string);
        names
    };
    assert_eq!(sorted(union), sorted(names(&[])));
}

#[test]
fn where_one_is_to_run_at_a_time_the_next_begins_after_the_end_of_the_last() {
    // Whoever finds the lock taken ends at once; it is given back a while after the server ended.
    let server = |number: u32| {
        let script = r#"mkdir lock || exit 9; "$0" serve; sleep 0.1; rmdir lock"#;
        format!("{{command: sh, args: [-c, '{script}', {BINARY:?}, \"{number}\"]}}")
    };
    let case = |serial: &str, more: &[&str]| {
        let mut suite = String::new();
        for number in 0..6 {
            let server = server(number % 2);
            write!(
                suite,
                "---\nname: number {number}\n{serial}server: {server}\n\
                 assert: {{tool: slow, args: {{milliseconds: 20}}, expect: {{not_error: true}}}}\n"
            )
            .unwrap();
        }
        let ended = run(&Project::with_suite(&suite), more);
        assert_eq!(each(&ended, "kind"), ["pass"; 6], "{}", ended.stdout);
    };
    case("serial: lock\n", &["--jobs", "8"]);
    case("", &["--jobs", "1"]);
    case("", &["--jobs", "1", "--retries", "1"]);
}

#[test]
fn the_nearest_deadline_counts_and_all_are_scaled() {
    let case = |written: &str, options: &[&str], least_ms: u64| {
        let project = Project::with_suite(&format!(
            "name: hangs\n{written}\nserver: {{builtin: conformance}}\n\
             assert: {{tool: slow, args: {{hang: true}}, expect: {{not_error: true}}}}\n"
        ));
        let ended = run(&project, options);
        assert_eq!(each(&ended, "cause"), ["timeout"], "{}", ended.stdout);
        let took = each(&ended, "duration_ms")[0].as_u64().unwrap();
        let wanted = least_ms..least_ms + 5_000;
        assert!(wanted.contains(&took), "{written} {options:?}: {took} ms");
    };
    case("timeout: 600ms", &["--timeout", "60s"], 600);
    case("", &["--timeout", "600ms"], 600);
    case("timeout: 60s", &["--timeout-scale", "0.01"], 600);
    case("", &["--timeout", "60s", "--timeout-scale", "0.01"], 600);
    case(
        "timeout: 300ms",
        &["--timeout", "10ms", "--timeout-scale", "2"],
        600,
    );
}

#[test]
fn a_copy_that_takes_all_the_time_is_not_blamed_on_the_server() {
    let mut project = Project::with_suite(
        "name: copies\ntimeout: 1ms\nserver: {command: sh, args: [-c, 'touch started', '{{fixture}}']}\n\
         assert: {tool: echo, expect: {not_error: true}}\n",
    );
    for at in 0..2_000 {
        project = project.file(&format!("fixture/{at}"), "x");
    }
    let ended = run(&project, &["--fixture", "fixture"]);
    let case =
        |key: &str, wanted: &str| assert_eq!(each(&ended, key), [wanted], "{}", ended.stdout);
    case("kind", "error");
    case("cause", "timeout");
    case("phase", "place");
    let detail = &each(&ended, "detail")[0];
    let told = [
        "the timeout of 1 ms was over: ",
        " of the fixture's 2000 entries were copied; nothing was sent",
    ];
    for told in told {
        assert!(detail.as_str().unwrap().contains(told), "{detail}");
    }
    assert!(!project.path().join("started").exists());
}

#[test]
fn what_an_assertion_sets_in_the_environment_holds_on_every_target() {
    let server =
        format!("command: sh, args: [-c, 'echo \"$OWN $GIVEN\" >&2; exec {BINARY} serve']");
    let settings = format!(
        "defaults: {{server: {{env: {{GIVEN: usual}}}}}}\n\
         targets:\n  plain: {{{server}}}\n  other: {{{server}, env: {{OWN: other, GIVEN: given}}}}\n"
    );
    let suite = "name: none\nassert: {tool: echo, args: {text: a}, expect: {stderr: {contains: 'other given'}}}\n---\n\
                 name: own\nserver: {env: {OWN: mine}}\n\
                 assert: {tool: echo, args: {text: a}, expect: {stderr: {contains: 'mine given'}}}\n";
    let project = Project::with_suite(suite).file("evals/mcp-assert.yaml", settings);
    let ended = run(&project, &["--target", "other"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let ended = run(&project, &["--target", "plain", "--filter", "own"]);
    assert_eq!(each(&ended, "stderr"), ["mine \n"], "{}", ended.stdout);
}

/// Answers calls, and asks `there?` when the file `asks` comes to be; says that we are in the file `there`.
const WATCHFUL: &str = r#"hi() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r ask; do
  id=${ask#*\"id\":}; id=${id%%[,\}]*}
  case $ask in
    *'"initialize"'*) hi '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}';;
    *'"tools/list"'*) hi '{"tools":[{"name":"first","inputSchema":{"type":"object"}},{"name":"other","inputSchema":{"type":"object"}}]}';;
    *'"first"'*) hi '{"content":[{"type":"text","text":"hi"}]}'
      until [ -e asks ]; do sleep 0.01; done
      echo '{"jsonrpc":"2.0","id":"there?","method":"ping"}';;
    *'"there?"'*) touch there;;
    *'"other"'*) touch asks
      until [ -e there ]; do sleep 0.01; done
      hi '{"content":[{"type":"text","text":"hi"}]}';;
  esac
done"#;

#[test]
fn a_shared_server_is_answered_while_it_waits_for_its_next_assertion() {
    let server = format!("{{command: sh, args: [-c, {}]", Value::from(WATCHFUL));
    let project = Project::with_suite(&format!(
        "name: asks\nserver: {server}}}\nassert: {{tool: first}}\n---\n\
         name: waits for the answer\nserver: {server}, env: {{OTHER: '1'}}}}\nassert: {{tool: other}}\n"
    ));
    let ended = run(&project, &["--reuse-server", "--timeout", "20s"]);
    assert_eq!(each(&ended, "kind"), ["pass", "pass"], "{}", ended.stdout);
}
