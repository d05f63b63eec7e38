//! What `run` promises: streams, files and exit codes.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use serde_json::Value;

use crate::harness::{Project, Ran};

const GOOD: &str =
    "name: good\nserver: {builtin: minimal}\nassert_tools: {expect: {min_results: 1}}\n";
const RED: &str =
    "name: red\nserver: {builtin: minimal}\nassert_tools: {expect: {min_results: 99}}\n";
const SKIPPED: &str = "name: later\nskip: not yet\nserver: {builtin: minimal}\nassert_tools: {}\n";

/// Three invalid files, with different errors.
const WRONG: &[(&str, &str)] = &[
    (
        "evals/keys.yaml",
        "name: keys\nserver: {builtin: minimal}\nasert: {tool: a}\nassert:\n  tool: a\n  expect:\n    containz: b\n    matches_regex: '('\n",
    ),
    ("evals/syntax.yaml", "name: [\n"),
    (
        "evals/values.yaml",
        "name: values\nserver: {builtin: minimal}\ntimeout: 5\nassert: {tool: a, args: {id: '{{nothing}}'}, expect: {min_results: -1}}\n",
    ),
];

fn with_wrong_files() -> Project {
    WRONG
        .iter()
        .fold(Project::with_suite(GOOD), |project, (path, text)| {
            project.file(path, text)
        })
}

fn run(suite: &str, more: &[&str]) -> Ran {
    let mut arguments = vec!["run", "evals"];
    arguments.extend(more);
    Project::with_suite(suite).run(&arguments)
}

#[test]
fn all_problems_are_told_at_once_and_the_rest_runs() {
    let ran = with_wrong_files().run(&["run", "evals", "--json"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    insta::assert_snapshot!("problems", ran.complaints());
    let outcomes = ran.json();
    let kind = |file: &str| {
        let outcomes = outcomes.as_array().unwrap();
        let of_file = outcomes.iter().find(|outcome| outcome["file"] == file);
        of_file.map(|outcome| outcome["kind"].clone())
    };
    assert_eq!(kind("evals/a.yaml"), Some("pass".into()), "{outcomes:#}");
    for (file, _) in WRONG {
        assert_eq!(kind(file), Some("error".into()), "{outcomes:#}");
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_used_is_an_error_in_every_report() {
    let link = |project: Project, name: &str, target: &str| {
        std::os::unix::fs::symlink(target, project.path().join(name)).unwrap();
        project
    };
    let settings = |bytes: &[u8]| Project::with_suite(GOOD).file("evals/mcp-assert.yaml", bytes);
    let good = || Project::with_suite(GOOD);
    let case = |project: Project, suites: &[&str], file: &str, why: &str| {
        let mut arguments = vec!["run"];
        arguments.extend(suites);
        let reports = [
            "--junit",
            "j.xml",
            "--badge",
            "b.json",
            "--markdown",
            "m.md",
        ];
        let ran = project.run(&[&arguments[..], &reports].concat());
        assert_eq!(ran.code, 2, "{file}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches(why).count(), 1, "{}", ran.stderr);
        assert!(ran.stdout.contains("1 error"), "{}", ran.stdout);
        assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
        let xml = project.read("j.xml");
        let junit = quick_junit::Report::deserialize_from_str(&xml).unwrap();
        assert_eq!((junit.tests, junit.errors), (2, 1), "{xml}");
        assert!(project.read("b.json").contains("1/2"));
        for report in [&xml, &project.read("m.md")] {
            assert!(report.contains(file) && report.contains(why), "{report}");
        }
        let outcomes = project.run(&[&arguments[..], &["--json"]].concat()).json();
        let wrong = outcomes.as_array().unwrap().iter();
        let wrong: Vec<&Value> = wrong.filter(|it| it["kind"] == "error").collect();
        assert_eq!(wrong.len(), 1, "{outcomes:#}");
        assert_eq!(wrong[0]["file"], file, "{outcomes:#}");
    };
    let nowhere = link(good(), "evals/dangling.yaml", "nowhere");
    case(nowhere, &["evals"], "evals/dangling.yaml", "No such file");
    let circle = link(good(), "evals/loop.yaml", "loop.yaml");
    case(circle, &["evals"], "evals/loop.yaml", "symbolic links");
    let name = "evals/mcp-assert.yaml";
    let lost = link(good(), name, "nowhere");
    case(lost, &["evals"], name, "No such file");
    let unknown = b"defaults: {timout: 3s}\n";
    case(settings(unknown), &["evals"], name, "unknown key `timout`");
    case(settings(b"jobs: \xff\n"), &["evals"], name, "is not UTF-8");
    // The same file is beside each.
    let twice = settings(unknown);
    let both = ["evals", "evals/a.yaml"];
    case(twice, &both, name, "unknown key `timout`");
}

#[test]
fn strict_load_runs_nothing() {
    let ran = with_wrong_files().run(&["run", "evals", "--strict-load"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was run"), "{}", ran.stderr);
}

#[test]
fn each_end_has_its_exit_code() {
    fn case(suite: &str, more: &[&str], code: i32, says: &str) {
        let ran = run(suite, more);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, code, "{more:?}: {all}");
        assert!(all.contains(says), "{more:?}: {all}");
    }
    case(GOOD, &[], 0, "1 assertion, 1 passed");
    case(RED, &[], 1, "at least 99 results");
    case("name: [\n", &[], 2, "evals/a.yaml:");
    case(GOOD, &["--report", "junitt=x"], 2, "did you mean `junit`?");
    case(GOOD, &["--baseline", "none.json"], 2, "does not exist");
    case(GOOD, &["--junit", "evals/a.yaml/x.xml"], 3, "x.xml");
    case(GOOD, &["--filter", "nobody"], 4, "left out all 1");
    case(SKIPPED, &[], 0, "nothing was run");
    let keyless = "name: keyless\nskip_unless_env: NOPE_KEY\nserver: {builtin: minimal, env: {K: $NOPE_KEY}}\nassert: {tool: a, args: {key: '{{env.NOPE_KEY}}'}}\n";
    case(keyless, &["--strict-env"], 0, "env var NOPE_KEY not set");
}

#[test]
fn a_fixture_that_is_not_given_is_told_before_any_server_starts() {
    let suite = "name: reads\nserver: {command: sh, args: [-c, 'echo > started']}\nassert: {tool: a, args: {path: '{{fixture}}/a'}}\n";
    let project = Project::with_suite(suite).file("files/a", "");
    let ran = project.run(&["run", "evals"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("evals/a.yaml:3:33"), "{}", ran.stderr);
    assert!(!project.path().join("started").exists());
    for quiet in [&["validate", "evals"][..], &["run", "evals", "--list"]] {
        let ran = project.run(quiet);
        assert_eq!(ran.code, 0, "{quiet:?}: {}", ran.stderr);
    }
    let ran = project.run(&["run", "evals", "--fixture", "files"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(project.path().join("started").exists());
}

#[test]
fn a_fixture_of_the_settings_that_is_not_there_is_told_beside_what_else_is_wrong() {
    let project = Project::with_suite("server: {builtin: conformance}\nasert: {tool: a}\n")
        .file("evals/mcp-assert.yaml", "fixture: nowhere\nzjobs: 3\n");
    for verb in [&["validate"][..], &["run"], &["ci", "--suite"]] {
        let ran = project.run(&[verb, &["evals"]].concat());
        let verb = verb[0];
        assert_eq!(ran.code, 2, "{verb}: {}", ran.stderr);
        for place in ["mcp-assert.yaml:1:10", "mcp-assert.yaml:2:1", "a.yaml:2:1"] {
            assert!(
                ran.stderr.contains(&format!("evals/{place}")),
                "{verb}, {place}: {}",
                ran.stderr
            );
        }
    }
}

#[test]
fn a_report_of_the_settings_that_cannot_be_written_is_told_at_its_place() {
    let project = Project::with_suite(GOOD).file(
        "evals/mcp-assert.yaml",
        "report: [junti=x.xml, junit=y.xml]\n",
    );
    for verb in ["validate", "run"] {
        let ran = project.run(&[verb, "evals"]);
        assert_eq!(ran.code, 2, "{verb}: {}", ran.stderr);
        let place = "evals/mcp-assert.yaml:1:10";
        assert!(ran.stderr.contains(place), "{verb}: {}", ran.stderr);
        assert!(ran.stderr.contains("did you mean `junit`?"), "{verb}");
    }
    assert!(project.path().join("y.xml").exists());
}

#[test]
fn json_is_all_that_stdout_has() {
    let statuses = |suite: &str, more: &[&str]| {
        let more = [&["--json"], more].concat();
        let outcomes = run(suite, &more).json();
        let outcomes = outcomes.as_array().unwrap().iter();
        let words = outcomes.map(|outcome| outcome["status"].as_str().unwrap().to_owned());
        words.collect::<Vec<_>>()
    };
    let all = format!("{GOOD}---\n{RED}---\n{SKIPPED}");
    assert_eq!(statuses(&all, &[]), ["PASS", "FAIL", "SKIP"]);
    assert_eq!(statuses(&all, &["--filter", "red"]), ["FAIL"]);
    assert_eq!(statuses(&all, &["--filter", "nobody"]), [""; 0]);
}

#[test]
fn a_dry_run_names_the_container() {
    let contained = "name: in\nserver: {command: s, docker: {image: 'registry.invalid/s:2'}}\nassert: {tool: a, expect: {not_error: true}}\n\
                     ---\nname: own\nserver: {builtin: minimal, docker: {image: self}}\nassert: {tool: a, expect: {not_error: true}}\n";
    let dry = run(contained, &["--dry-run"]);
    let image = "in a container of the image `registry.invalid/s:2`: s\n";
    for wanted in [image, "in a container of this program alone: "] {
        assert!(dry.stdout.contains(wanted), "{}{}", dry.stdout, dry.stderr);
    }
    let dry = run(contained, &["--dry-run", "--json"]).json();
    let of = |row: usize| dry[row]["starts"]["container"].clone();
    let wanted =
        serde_json::json!({"image": "registry.invalid/s:2", "build": null, "prepared": false});
    assert_eq!(of(0), wanted);
    assert_eq!(of(1)["image"], Value::Null);
}

#[test]
fn what_would_run_is_listed_and_not_run() {
    let all = format!("{RED}---\n{SKIPPED}");
    let listed = run(&all, &["--list"]);
    let rows = run(&all, &["--list", "--json"]).json();
    let ids: Vec<&str> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    assert_eq!(listed.stdout.lines().collect::<Vec<_>>(), ids);
    assert_eq!(listed.code, 0);
    assert_eq!(rows[0]["file"], "evals/a.yaml");
    assert_eq!(
        (&rows[0]["line"], &rows[0]["subject"]),
        (&1.into(), &"assert_tools".into())
    );
    assert_eq!(
        (&rows[0]["skip"], &rows[1]["skip"]),
        (&Value::Null, &"not yet".into())
    );
    let dry = run(&all, &["--dry-run"]);
    assert_eq!(dry.code, 0, "{}", dry.stderr);
    assert!(
        dry.stdout.contains("serve --profile minimal"),
        "{}",
        dry.stdout
    );
    assert!(dry.stdout.contains("skipped: not yet"), "{}", dry.stdout);

    let dry = run(&all, &["--dry-run", "--json", "--trials", "2"]);
    assert_eq!(dry.code, 0, "{}", dry.stderr);
    let started = dry.json();
    let started = started.as_array().unwrap();
    let seen: Vec<(&Value, &Value)> = started
        .iter()
        .map(|row| (&row["id"], &row["trial"]))
        .collect();
    let (one, two) = (Value::from(1), Value::from(2));
    let wanted = [
        (&rows[0]["id"], &one),
        (&rows[0]["id"], &two),
        (&rows[1]["id"], &one),
        (&rows[1]["id"], &two),
    ];
    assert_eq!(seen, wanted);
    let server = started[0]["starts"]["server"].as_str().unwrap();
    assert!(server.contains("serve --profile minimal"), "{server}");
    assert_eq!(started[0]["starts"]["timeout_ms"], 30_000);
    assert_eq!(
        (&started[2]["starts"], &started[2]["skip"]),
        (&Value::Null, &"not yet".into())
    );
    assert_eq!(started[0]["starts"]["container"], Value::Null);
    let broken = run("name: a\nsever: {}\n", &["--dry-run", "--json"]);
    assert_eq!(broken.code, 2, "{}", broken.stderr);
    assert!(broken.json()[0]["invalid"].is_string(), "{}", broken.stdout);
}

#[test]
fn a_baseline_tells_regressions_and_may_be_renewed_in_place() {
    let project = Project::with_suite(&GOOD.replace("good", "one"));
    let renew = [
        "run",
        "evals",
        "--baseline",
        "base.json",
        "--save-baseline",
        "base.json",
    ];
    assert_eq!(project.run(&renew).code, 0);
    let first = project.read("base.json");
    assert!(serde_json::from_str::<Value>(&first).is_ok(), "{first}");
    let project = project.file("evals/a.yaml", RED.replace("red", "one"));
    let ran = project.run(&["run", "evals", "--baseline", "base.json"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(
        ran.stdout.to_lowercase().contains("regress"),
        "{}",
        ran.stdout
    );
    assert_eq!(project.read("base.json"), first);
    assert_eq!(project.run(&renew).code, 1);
    assert_ne!(project.read("base.json"), first);
}

#[test]
fn every_report_is_written_and_can_be_read() {
    let project = Project::with_suite(&format!("{GOOD}---\n{RED}---\n{SKIPPED}"));
    let ran = project.run(&[
        "run",
        "evals",
        "--junit",
        "r.xml",
        "--markdown",
        "r.md",
        "--badge",
        "badge.json",
        "--report-json",
        "results.json",
        "--report",
        "json=deep/er/run.json",
        "--report",
        "junit=s.xml",
    ]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let xml = project.read("r.xml");
    let junit = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!((junit.tests, junit.failures), (3, 1));
    assert!(project.read("s.xml").contains("<testsuites"));
    assert!(project.read("r.md").contains("red"));
    for path in ["badge.json", "results.json", "deep/er/run.json"] {
        let text = project.read(path);
        assert!(
            serde_json::from_str::<Value>(&text).is_ok(),
            "{path}: {text}"
        );
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let suites: Vec<String> = (0..20)
        .map(|n| GOOD.replace("good", &format!("n{n}")))
        .collect();
    let project = Project::with_suite(&suites.join("---\n"));
    let mut command = project.command(&["run", "evals", "--jobs", "1"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(64, child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    assert!(line.starts_with("PASS"), "{line}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
