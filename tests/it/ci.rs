//! `mcp-assert ci`: verdicts and exit codes, precedence of causes, and written files.

use std::io::Write;

use crate::{
    harness::{BINARY, Project, Ran, until},
    running::{Ended, Running},
};

/// A suite of assertions on `echo`, by name and expected text; `skip` is skipped.
pub(crate) fn suite(assertions: &[(&str, &str)]) -> String {
    let documents: Vec<String> = assertions
        .iter()
        .map(|(name, wanted)| {
            let skip = if *wanted == "skip" { "skip: true\n" } else { "" };
            format!(
                "name: {name}\n{skip}server: {{builtin: conformance}}\nassert:\n  tool: echo\n  args: {{message: hello}}\n  \
                 expect:\n    contains: [{wanted}]\n"
            )
        })
        .collect();
    documents.join("---\n")
}

/// Runs `ci` with processes.
fn ci(project: &Project, arguments: &[&str]) -> Ran {
    let mut all = vec!["ci", "--isolation", "process"];
    all.extend(arguments);
    project.run(&all)
}

/// The line with the verdict.
#[track_caller]
fn expect(ran: &Ran, code: i32, verdict: &str) {
    let line = format!("verdict: {verdict}\n");
    assert!(
        ran.code == code && ran.stdout.contains(&line),
        "expected {code} and {verdict}, got {}\n{}\n{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn each_verdict_has_its_exit_code() {
    let green = suite(&[("a", "hello")]);
    let mixed = suite(&[("a", "hello"), ("b", "bye")]);
    let case = |yaml: &str, arguments: &[&str], code, verdict| {
        expect(&ci(&Project::with_suite(yaml), arguments), code, verdict);
    };
    case(&green, &[], 0, "pass");
    case(&mixed, &[], 1, "fail");
    case(&mixed, &["--threshold", "50"], 0, "pass");
    case(&mixed, &["--threshold", "50.01"], 1, "fail");
    case(&green, &["--suite", "nowhere"], 2, "invalid");
    case("name: a\nsever: {}\n", &[], 2, "invalid");
    case(&green, &["--junit", "evals/a.yaml/report.xml"], 3, "error");
    case(&green, &["--filter", "zzz"], 4, "empty");
    case(&suite(&[("a", "skip")]), &[], 4, "empty");
    case(&suite(&[("a", "skip")]), &["--allow-empty"], 0, "pass");
    case(&green, &["--filter", "zzz", "--allow-empty"], 0, "pass");
    let unstarted = "name: a\nserver: {command: no-such-program-here}\nassert:\n  tool: x\n  expect:\n    is_error: false\n";
    case(unstarted, &[], 3, "error");
    case(&format!("{unstarted}---\n{green}"), &[], 1, "fail");
}

#[test]
fn of_two_causes_the_earlier_row_wins() {
    let mixed = suite(&[("a", "hello"), ("b", "bye")]);
    let broken = format!("{mixed}---\nname: c\nsever: {{}}\n");
    let case = |yaml: &str, arguments: &[&str], code, verdict| {
        expect(&ci(&Project::with_suite(yaml), arguments), code, verdict);
    };
    let unwritable = ["--junit", "evals/a.yaml/report.xml"];
    case(&broken, &unwritable, 2, "invalid");
    case(&mixed, &unwritable, 3, "error");
    case(&broken, &[], 2, "invalid");
    case(
        &mixed,
        &["--filter", "zzz", unwritable[0], unwritable[1]],
        3,
        "error",
    );
}

#[test]
fn a_baseline_file_is_compared_with_before_it_is_written() {
    let project = Project::with_suite(&suite(&[("a", "hello"), ("b", "hello")]));
    // Two paths of one file.
    let both = ["--baseline", "./b.json", "--save-baseline", "b.json"];
    expect(&ci(&project, &both), 0, "pass");
    let project = project.file("evals/a.yaml", suite(&[("a", "hello"), ("b", "bye")]));
    let lenient = ["--baseline", "b.json", "--threshold", "0"];
    let ran = ci(&project, &lenient);
    expect(&ran, 0, "pass");
    assert!(
        ran.stdout.contains("Regressions detected"),
        "{}",
        ran.stdout
    );
    let mut strict = lenient.to_vec();
    strict.push("--fail-on-regression");
    expect(&ci(&project, &strict), 1, "fail");
    expect(&ci(&project, &["--baseline", "none.json"]), 2, "invalid");
}

#[test]
fn a_pipe_that_nobody_writes_into_is_no_baseline_and_no_payload() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let fifo = project.path().join("fifo");
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mkfifoat(rustix::fs::CWD, fifo, mode).unwrap();
    let ran = ci(&project, &["--baseline", "fifo"]);
    expect(&ran, 2, "invalid");
    let said = "cannot read `fifo`: it is not a regular file";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    let ran = project.run(&["run", "evals", "--baseline", "fifo"]);
    assert!(ran.code == 2 && ran.stderr.contains(said), "{}", ran.stderr);
    let mut command = project.command(&["ci", "--isolation", "process"]);
    command.env("GITHUB_EVENT_PATH", "fifo");
    let ran = project.finish(command);
    expect(&ran, 0, "pass");
    let said = "payload `fifo` is not used: it is not a regular file";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
}

#[test]
fn a_signal_ends_waiting_for_a_baseline_from_a_pipe() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let words = "ci --isolation process --baseline /dev/stdin";
    let mut command = project.command(&words.split(' ').collect::<Vec<_>>());
    let (reader, mut writer) = std::io::pipe().unwrap();
    command.stdin(reader.try_clone().unwrap());
    let running = Running::of(&project, command);
    writer.write_all(b"{").unwrap();
    until("it is never read", || {
        rustix::io::ioctl_fionread(&reader).unwrap() == 0
    });
    running.signal("-TERM");
    let ended = running.end();
    drop(writer);
    assert_eq!(ended.code, Some(130), "{}\n{}", ended.stdout, ended.stderr);
}

#[test]
fn a_baseline_may_come_through_a_pipe() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    expect(&ci(&project, &["--save-baseline", "b.json"]), 0, "pass");
    for verb in [&["run", "evals"][..], &["ci", "--isolation", "process"]] {
        let mut command = project.command(&[verb, &["--baseline", "/dev/stdin"]].concat());
        let (reader, mut writer) = std::io::pipe().unwrap();
        command.stdin(reader);
        let text = project.read("b.json");
        let writing = std::thread::spawn(move || writer.write_all(text.as_bytes()).unwrap());
        let ran = project.finish(command);
        writing.join().unwrap();
        assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_baseline_is_not_written_by_a_run_that_is_not_whole() {
    let project = Project::with_suite("name: a\nsever: {}\n");
    expect(&ci(&project, &["--save-baseline", "b.json"]), 2, "invalid");
    assert!(!project.path().join("b.json").exists());
}

#[test]
fn a_run_of_nothing_leaves_the_baseline_as_it_is() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let save = ["--save-baseline", "b.json"];
    expect(&ci(&project, &save), 0, "pass");
    let known = project.read("b.json");
    let nothing = [&save[..], &["--tags", "nightly", "--allow-empty"]].concat();
    expect(&ci(&project, &nothing), 0, "pass");
    assert_eq!(project.read("b.json"), known);
    let compared = [&nothing[..], &["--baseline", "b.json"]].concat();
    expect(&ci(&project, &compared), 0, "pass");
    assert_eq!(project.read("b.json"), known);
    let new = ["--tags", "nightly", "--allow-empty", save[0], "new.json"];
    expect(&ci(&project, &new), 0, "pass");
    assert!(!project.path().join("new.json").exists());
}

/// One assertion fails, one never ends, one does not start.
fn endless() -> Project {
    let waiting = "name: stuck\nserver: {command: sh, args: [-c, 'echo x >>started; exec sleep 600']}\n\
                   assert: {tool: any, expect: {not_error: true}}\n";
    let around = suite(&[("first", "bye"), ("last", "hello")]);
    let (first, last) = around.split_once("---\n").unwrap();
    Project::with_suite(&format!("{first}---\n{waiting}---\n{last}"))
}

/// Interrupts a run of one job at a time in its second assertion.
fn interrupted(project: &Project, arguments: &[&str]) -> Ended {
    let mut all = vec!["ci", "--isolation", "process", "--jobs", "1"];
    all.extend(arguments);
    let mut running = Running::start(project, &all);
    running.until_file(&project.path().join("started"));
    running.signal("-INT");
    let ended = running.end();
    ended.left_nothing();
    assert_eq!(ended.code, Some(130), "{}{}", ended.stdout, ended.stderr);
    ended
}

#[test]
fn an_interrupt_comes_before_failures_and_broken_files() {
    let project = endless();
    let green = ["--save-baseline", "b.json", "--baseline", "b.json"];
    let ended = interrupted(&project, &[&green[..], &["--junit", "started/x"]].concat());
    assert!(
        ended.stdout.contains("verdict: interrupted\n"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("  error: cannot"), "{}", ended.stdout);
    assert!(!project.path().join("b.json").exists());
}

#[test]
fn an_interrupted_shard_leaves_a_result_that_no_merge_takes_for_whole() {
    let project = endless();
    let ran = project.run(&["ci", "plan", "--shards", "1"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    interrupted(&project, &["--shard", "1/1"]);
    let blob = project.read("mcp-assert-blob.json");
    assert!(blob.contains("\"state\":\"interrupted\""), "{blob}");
    std::fs::create_dir(project.path().join("mcp-assert-blobs")).unwrap();
    let project = project.file("mcp-assert-blobs/1.json", blob);
    let merged = project.run(&["ci", "merge", "--badge", "badge.json"]);
    expect(&merged, 3, "incomplete");
    assert!(
        merged.stdout.contains("shard 1 was interrupted"),
        "{}",
        merged.stdout
    );
    let badge: serde_json::Value = serde_json::from_str(&project.read("badge.json")).unwrap();
    assert_eq!(badge["message"], "error");
    assert_eq!(badge["color"], "red");
}

#[test]
#[cfg(target_os = "linux")]
fn a_log_that_cannot_be_written_is_an_error_and_the_files_tell_the_run() {
    let project = Project::with_suite(&suite(&[("a", "hello"), ("b", "bye")]));
    let full = || std::fs::File::create("/dev/full").unwrap();
    let mut command = project.command(&["ci", "--isolation", "process", "--baseline", "off"]);
    command
        .args(["--junit", "x.xml", "--report-json", "run.json"])
        .env("GITHUB_OUTPUT", project.path().join("output"))
        .stdout(full());
    let ran = project.finish(command);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(!ran.stderr.contains("interrupted"), "{}", ran.stderr);
    let junit = project.read("x.xml");
    assert!(junit.contains("tests=\"2\""), "{junit}");
    let run: serde_json::Value = serde_json::from_str(&project.read("run.json")).unwrap();
    assert_eq!(run["judgement"]["verdict"], "error", "{run}");
    assert_eq!(run["end"]["state"], "finished", "{run}");
    let output = project.read("output");
    assert!(output.contains("\nerror\n"), "{output}");
    let mut command = project.command(&["run", "evals", "--junit", "y.xml"]);
    command.stdout(full());
    let ran = project.finish(command);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("cannot write to stdout"),
        "{}",
        ran.stderr
    );
    assert!(project.read("y.xml").contains("tests=\"2\""));
}

#[test]
fn a_strangers_files_do_not_run_with_a_workflows_rights() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let trusted = "1111111111111111111111111111111111111111";
    let case = |head: Option<&str>, allowed: &[&str], code, verdict| {
        let git = project.path().join(".git");
        std::fs::create_dir_all(&git).unwrap();
        match head {
            Some(head) => std::fs::write(git.join("HEAD"), head).unwrap(),
            None => std::fs::remove_dir_all(&git).unwrap(),
        }
        for event in ["pull_request_target", "workflow_run"] {
            let mut command = project.command(&["ci", "--isolation", "process"]);
            command
                .args(allowed)
                .env("GITHUB_EVENT_NAME", event)
                .env("GITHUB_SHA", trusted);
            expect(&project.finish(command), code, verdict);
        }
    };
    case(Some(trusted), &[], 0, "pass");
    case(Some(&trusted.replace('1', "2")), &[], 2, "invalid");
    case(Some("ref: refs/heads/x"), &[], 2, "invalid");
    case(None, &[], 2, "invalid");
    case(None, &["--dangerously-run-untrusted-head"], 0, "pass");
}

#[test]
fn a_strangers_checkout_in_a_folder_of_the_workspace_does_not_run_either() {
    let trusted = "1111111111111111111111111111111111111111";
    let stranger = trusted.replace('1', "2");
    let project = Project::with_suite(&suite(&[("a", "hello")]))
        .file(".git/HEAD", trusted)
        .file("mine/.git/HEAD", trusted)
        .file("mine/evals/a.yaml", suite(&[("a", "hello")]))
        .file("pr/.git/HEAD", &stranger)
        .file("pr/evals/a.yaml", suite(&[("a", "hello")]))
        .file("odd/.git/HEAD", "ref: nothing")
        .file("odd/a.yaml", suite(&[("a", "hello")]))
        .file("more/own.yaml", suite(&[("a", "hello")]))
        .file("set/mcp-assert.yaml", "fixture: ../pr/evals\n")
        .file(
            "set/a.yaml",
            suite(&[("a", "hello")]) + "---\nname: f\nserver: {command: 'true', args: ['{{fixture}}']}\nassert: {tool: x}\n",
        );
    let link = project.path().join("more/theirs");
    std::os::unix::fs::symlink("../pr/evals", link).unwrap();
    let case = |arguments: &[&str], code| {
        for event in ["pull_request_target", "workflow_run"] {
            let mut command = project.command(&["ci", "--isolation", "process"]);
            command
                .args(arguments)
                .env("GITHUB_EVENT_NAME", event)
                .env("GITHUB_SHA", trusted);
            let ran = project.finish(command);
            assert_eq!(
                ran.code, code,
                "{arguments:?}: {}{}",
                ran.stdout, ran.stderr
            );
            if code == 2 {
                assert!(!ran.stdout.contains("PASS"), "{}", ran.stdout);
                assert!(
                    ran.stderr
                        .contains("has to be at the workflow's own revision"),
                    "{}",
                    ran.stderr
                );
            }
        }
    };
    case(&["--suite", "mine/evals"], 0);
    case(&["--suite", "pr/evals"], 2);
    case(&["--suite", "pr"], 2);
    case(&["--suite", "odd"], 2);
    // Whatever path leads there.
    case(&["--suite", "evals", "--suite", "pr/evals/a.yaml"], 2);
    case(&["--suite", "more"], 2);
    case(&["--suite", "more/theirs"], 2);
    case(&["--suite", "."], 2);
    case(&["--suite", "set"], 2);
    case(&["--suite", "evals", "--fixture", "pr/evals"], 2);
    let allowed = ["--suite", "pr/evals", "--dangerously-run-untrusted-head"];
    case(&allowed, 0);
    let mut command = project.command(&["ci", "plan", "--suite", "pr/evals"]);
    command
        .env("GITHUB_EVENT_NAME", "pull_request_target")
        .env("GITHUB_SHA", trusted);
    assert_eq!(project.finish(command).code, 2);
}

#[test]
fn what_the_settings_say_to_run_is_told_not_to_hold_here() {
    let project = Project::with_suite(&suite(&[("a", "hello"), ("b", "bye")])).file(
        "evals/mcp-assert.yaml",
        "threshold: 50\nbaseline: known.json\nreport: [junit=report.xml]\n",
    );
    let ran = ci(&project, &["--baseline", "off"]);
    expect(&ran, 1, "fail");
    for wanted in [
        "`threshold: 50` of the settings is not applied: `ci` takes --threshold",
        "known.json` of the settings is not applied: `ci` takes --baseline",
        "`report` of the settings is not applied: `ci` takes --junit",
    ] {
        assert!(ran.stderr.contains(wanted), "{wanted}: {}", ran.stderr);
    }
    assert!(!project.path().join("report.xml").exists());
}

#[test]
fn a_threshold_of_the_settings_is_a_percentage() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    for (threshold, code) in [("0", 0), ("99.5", 0), ("100", 0), ("101", 2), ("-1", 2)] {
        let settings = project.path().join("evals/mcp-assert.yaml");
        std::fs::write(settings, format!("threshold: {threshold}\n")).unwrap();
        let ran = project.run(&["validate", "evals"]);
        assert_eq!(ran.code, code, "{threshold}: {}{}", ran.stdout, ran.stderr);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let told = said.contains("expected a percentage from 0 to 100")
            && said.contains("mcp-assert.yaml:1:12");
        assert_eq!(told, code == 2, "{said}");
    }
}

#[test]
fn a_payload_that_is_not_there_is_noted_once() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let mut command = project.command(&["ci", "--isolation", "process"]);
    command.env("GITHUB_EVENT_PATH", "/nowhere/event.json");
    let ran = project.finish(command);
    expect(&ran, 0, "pass");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(said.matches("/nowhere/event.json").count(), 1, "{said}");
}

#[test]
fn servers_are_shared_and_the_go_tools_verdicts_given_when_that_is_asked_for() {
    let server = format!("{{command: sh, args: [-c, 'echo >> starts; exec {BINARY} serve']}}");
    let call = |name: &str, tool: &str| {
        format!("name: {name}\nserver: {server}\nassert: {{tool: {tool}, expect: {{}}}}\n")
    };
    let suite = format!("{}---\n{}", call("a", "error"), call("b", "list_roots"));
    let run = |more: &[&str]| {
        let project = Project::with_suite(&suite).file("evals/b.yaml", call("c", "error"));
        let plan = ["ci", "plan", "--compat", "--shards", "1"];
        assert_eq!(project.run(&plan).code, 0);
        let ci = ["ci", "--isolation", "process", "--jobs", "1"];
        let ran = project.run(&[&ci[..], more].concat());
        (ran.code, project.read("starts").lines().count())
    };
    let alone = run(&[]);
    assert_eq!(alone.0, 1);
    assert_eq!(run(&["--compat"]), (0, alone.1));
    assert_eq!(run(&["--compat", "--shard", "1/1"]).0, 0);
    assert!(run(&["--compat", "--reuse-server"]).1 < alone.1);
}

#[test]
fn junit_and_sarif_are_red_where_the_verdict_is_and_no_outcome_shows_why() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let told = |arguments: &[&str], code: i32| {
        let files = ["--junit", "j.xml", "--sarif", "s.json"];
        let ran = project.run(&[arguments, &files[..]].concat());
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        let sarif: serde_json::Value = serde_json::from_str(&project.read("s.json")).unwrap();
        let invocation = sarif["runs"][0]["invocations"][0].clone();
        let successful = invocation["executionSuccessful"].as_bool().unwrap();
        let said = invocation["toolExecutionNotifications"][0]["message"]["text"].clone();
        (project.read("j.xml"), successful, said.to_string())
    };
    let red = |arguments: &[&str], code, counts: &str, why: &str| {
        let (junit, successful, said) = told(arguments, code);
        assert!(junit.contains(counts) && junit.contains(why), "{junit}");
        assert!(!junit.contains("1970"), "{junit}");
        assert!(!successful && said.contains(why), "{said}");
    };
    let ci = ["ci", "--isolation", "process"];
    let error = "failures=\"0\" errors=\"1\"";
    let no_engine = ["ci", "--docker", "x", "--docker-host", "unix:///no.sock"];
    red(&no_engine, 3, error, "unix:///no.sock");
    let no_plan = ["ci", "merge", "--plan", "nope.json", "--blobs", "none"];
    red(&no_plan, 2, error, "nope.json");
    let no_suite = [&ci[..], &["--suite", "nope"]].concat();
    red(&no_suite, 2, error, "nope");
    let no_baseline = [&ci[..], &["--baseline", "nope.json"]].concat();
    red(&no_baseline, 2, error, "nope.json");
    let nothing = [&ci[..], &["--filter", "nope"]].concat();
    red(&nothing, 4, error, "nothing was executed");
    assert!(told(&[&nothing[..], &["--allow-empty"]].concat(), 0).1);
    let save = [&ci[..], &["--update-baseline", "b.json"]].concat();
    let (junit, successful, _) = told(&save, 0);
    assert!(junit.contains("tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"0\"") && successful);
    let other = "name: a\nserver: {builtin: PROFILE}\nassert_initialize: {}\n";
    let smaller = [
        "--suite",
        "other.yaml",
        "--baseline",
        "b.json",
        "--fail-on-breaking",
    ];
    let write = |path: &str, text: &str| std::fs::write(project.path().join(path), text).unwrap();
    write("other.yaml", &other.replace("PROFILE", "conformance"));
    told(&[&save[..], &["--suite", "other.yaml"]].concat(), 0);
    write("other.yaml", &other.replace("PROFILE", "minimal"));
    let breaking = "breaking changes of the server";
    let gate = "failures=\"1\" errors=\"0\"";
    red(&[&ci[..], &smaller].concat(), 1, gate, breaking);
    // Outcomes are reported once.
    write("evals/a.yaml", &suite(&[("a", "bye")]));
    let (junit, successful, _) = told(&ci, 1);
    assert!(junit.contains("tests=\"1\" skipped=\"0\" failures=\"1\" errors=\"0\"") && successful);
    write("evals/a.yaml", "name: [");
    let (junit, successful, _) = told(&ci, 2);
    assert!(junit.contains("tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"1\"") && successful);
}

#[test]
fn a_run_without_an_image_for_any_server_could_not_run_and_says_once_why() {
    let project = Project::with_suite(
        "server: {command: python3, args: [a.py]}\nname: a\nassert: {tool: x}\n---\n\
         server: {command: python3, args: [a.py]}\nname: b\nassert: {tool: x}\n",
    );
    let ran = project.run(&["ci", "--isolation", "container", "--threshold", "0"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    let (_, causes) = ran.stdout.split_once("verdict: error").unwrap();
    let why = "no server could be started: nothing names the image of its container";
    assert_eq!(causes.matches(why).count(), 1, "{causes}");
    assert!(causes.contains("`image: IMAGE`"), "{causes}");
}

#[test]
fn what_is_a_failure_besides_is_one_in_ci_too() {
    let conformance = |args: &str, assert: &str| {
        format!("name: a\nserver: {{builtin: conformance, args: {args}}}\nassert: {assert}\n")
    };
    let case = |suite: &str, more: &[&str], option: &str, code, verdict| {
        let project = Project::with_suite(suite);
        let more = [&["--report-json", "run.json"], more].concat();
        expect(&ci(&project, &more), 0, "pass");
        let project = Project::with_suite(suite);
        expect(
            &ci(&project, &[&more[..], &[option]].concat()),
            code,
            verdict,
        );
        project
    };
    let flaky = "{tool: flaky, args: {mode: first, n: 2, key: a}, expect: {not_error: true}}";
    let flaky = conformance("[--state, s.json]", flaky);
    case(&flaky, &["--retries", "2"], "--fail-flaky", 1, "fail");
    let stored = case(&flaky, &["--retries", "2"], "--baseline=off", 0, "pass");
    let merge = ["ci", "merge", "--blobs", "run.json", "--fail-flaky"];
    expect(&stored.run(&merge), 1, "fail");
    let hello = "{tool: echo, args: {message: hi}, expect: {contains: [hi]}}";
    let loud = conformance("[--fault, stdout-banner]", hello);
    case(&loud, &[], "--strict-protocol", 1, "fail");
    let weak = "{tool: slow, args: {milliseconds: two days}, expect: {is_error: true}}";
    case(&conformance("[]", weak), &[], "--strict-vacuity", 1, "fail");
    let unset = conformance("[], env: {A: $NOPE_KEY}", hello);
    case(&unset, &[], "--strict-env", 2, "invalid");
}
