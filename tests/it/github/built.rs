//! `ci --baseline build`: the base is checked out, built and run beside the head, with no stored baseline.

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{
    Step,
    twin::{Fault, Pull, TOKEN, Twin, hash},
};
use crate::{
    harness::{Project, Ran},
    running::Running,
};

/// A server with the tools of a table, by name and answer.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, name = asked["method"], asked.get("params", {}).get("name")
    result = {}
    if method == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "x", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": TOOLS.get(name, "no such tool")}], "isError": name not in TOOLS}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

/// The server with these tools.
fn server(tools: &str) -> String {
    format!("TOOLS = {tools}\n{SERVER}")
}

const BEFORE: &str = r#"{"greet": "hello", "count": "3"}"#;
const AFTER: &str = r#"{"greet": "bye"}"#;

/// One assertion.
fn assertion(name: &str, tool: &str, wanted: &str) -> String {
    format!(
        "name: {name}\nserver: {{command: python3, args: [server.py], cwd: ../src}}\n\
         assert: {{tool: {tool}, expect: {{contains: ['{wanted}']}}}}\n"
    )
}

/// Runs git in a folder.
pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
    let output = command
        .args(identity)
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {words:?}: {said}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository with a base on `main`, a pull request on `topic`, and GitHub's merge of it.
pub(crate) struct Origin {
    project: Project,
    pub(crate) base: String,
    pub(crate) head: String,
    pub(crate) merge: String,
}

impl Origin {
    /// Of files before and after the pull request.
    pub(crate) fn new(before: &[(&str, &str)], after: &[(&str, &str)]) -> Self {
        let mut project = Project::new();
        let folder = project.path().to_owned();
        git(
            &folder,
            &["init", "--quiet", "--initial-branch", "main", "."],
        );
        let mut commit = |files: &[(&str, &str)], message: &str| {
            for (path, text) in files {
                project = std::mem::replace(&mut project, Project::new()).file(path, text);
            }
            git(&folder, &["add", "--all"]);
            git(&folder, &["commit", "--quiet", "--message", message]);
            git(&folder, &["rev-parse", "HEAD"])
        };
        commit(&[("README", "older")], "older");
        let base = commit(before, "base");
        git(&folder, &["checkout", "--quiet", "-b", "topic"]);
        let head = commit(after, "head");
        git(&folder, &["checkout", "--quiet", "--detach", "main"]);
        git(
            &folder,
            &["merge", "--quiet", "--no-ff", "--message", "merge", "topic"],
        );
        let merge = git(&folder, &["rev-parse", "HEAD"]);
        git(&folder, &["update-ref", "refs/pull/7/merge", &merge]);
        git(&folder, &["checkout", "--quiet", "main"]);
        Self {
            project,
            base,
            head,
            merge,
        }
    }

    /// A checkout of a ref, as `actions/checkout` makes it.
    pub(crate) fn checkout(&self, reference: &str, depth: &[&str]) -> Project {
        let project = Project::new();
        let folder = project.path();
        let url = format!("file://{}", self.project.path().display());
        git(folder, &["init", "--quiet", "."]);
        git(folder, &["remote", "add", "origin", &url]);
        let fetch = ["fetch", "--quiet", "--no-tags"];
        let refspecs = [
            &format!("+{reference}:refs/remotes/checked"),
            "+refs/heads/*:refs/remotes/origin/*",
        ];
        let refspecs = if depth.is_empty() {
            &refspecs[..]
        } else {
            &refspecs[..1]
        };
        let refspecs: Vec<&str> = refspecs.iter().map(AsRef::as_ref).collect();
        git(
            folder,
            &[&fetch[..], depth, &["origin"], &refspecs].concat(),
        );
        git(
            folder,
            &["checkout", "--quiet", "--detach", "refs/remotes/checked"],
        );
        project
    }
}

/// A pull request that makes `greet` wrong, removes `count`, and adds an assertion.
fn regression() -> Origin {
    let known = [
        assertion("greets", "greet", "hello"),
        assertion("counts", "count", "3"),
    ]
    .join("---\n");
    let all = [known.clone(), assertion("is polite", "greet", "bye")].join("---\n");
    Origin::new(
        &[("src/server.py", &server(BEFORE)), ("evals/a.yaml", &known)],
        &[("src/server.py", &server(AFTER)), ("evals/a.yaml", &all)],
    )
}

/// Runs `ci --baseline build` on a pull request.
fn compared(step: &Step<'_>, project: &Project, more: &[&str]) -> Ran {
    let words = [
        &[
            "--baseline",
            "build",
            "--threshold",
            "0",
            "--markdown",
            "summary.md",
        ],
        more,
    ]
    .concat();
    let mut command = step.command(project, &words);
    command.env("GITHUB_STEP_SUMMARY", project.path().join("step-summary"));
    std::fs::write(project.path().join("step-summary"), "").unwrap();
    step.finish(project, command)
}

#[track_caller]
pub(crate) fn expect(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "`{wanted}` is not in\n{text}");
    }
}

#[test]
fn a_pull_request_is_compared_with_its_base_where_no_baseline_was_ever_stored() {
    let origin = regression();
    let case = |from: &str, reference: &str, depth: &[&str], is_read_only: bool| {
        let twin = Twin::start();
        let head = hash("head");
        twin.world().pulls.push(Pull::open(7, head, from));
        twin.world().read_only = is_read_only;
        let project = origin.checkout(reference, depth);
        let is_merge = reference.ends_with("/merge");
        let tested = if is_merge {
            &origin.merge
        } else {
            &origin.head
        };
        let step = Step::proposed(&twin, 7, from).at(tested);
        let step = step.on(reference);
        let ran = compared(&step, &project, &["--fail-on-regression"]);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        let against = format!(
            "compared with {}, the merge base with `main`, built here",
            &origin.base[..10]
        );
        expect(&ran.stdout, &[&against, "Regressions detected (2)"]);
        assert_eq!(step.output(&project, "regressions"), "2");
        assert_eq!(step.output(&project, "breaking"), "1");
        let summary = project.read("step-summary");
        let wanted = ["built here", "greets", "count"];
        expect(&summary, &wanted);
        let outcome = step.output(&project, "comment");
        if is_read_only {
            assert_eq!(outcome, "denied", "{}", ran.stdout);
        } else {
            assert_eq!(outcome, "created", "{}", ran.stdout);
            expect(&twin.world().comments[0].body, &wanted);
        }
        // An assertion that the base does not pass is no regression.
        assert_eq!(step.output(&project, "fixed"), "1");
        assert_eq!(
            git(
                project.path(),
                &["status", "--porcelain", "--", "src", "evals"]
            ),
            ""
        );
    };
    case(super::twin::REPOSITORY, "refs/pull/7/merge", &[], false);
    case("someone/fork", "refs/pull/7/merge", &["--depth=1"], true);
    case(
        super::twin::REPOSITORY,
        "refs/heads/topic",
        &["--depth=1"],
        true,
    );
}

#[test]
fn the_first_pull_request_with_a_suite_is_compared_too() {
    let origin = Origin::new(
        &[("src/server.py", &server(BEFORE))],
        &[
            ("src/server.py", &server(AFTER)),
            (
                "evals/deep/a.yaml",
                &assertion("greets", "greet", "hello").replace("../src", "../../src"),
            ),
        ],
    );
    let project = origin.checkout("refs/pull/7/merge", &["--depth=1"]);
    let twin = Twin::start();
    let step = Step::pull_request(&twin, 7).at(&origin.merge);
    let ran = compared(&step, &project, &["--comment", "off"]);
    expect(&ran.stdout, &["built here", "Regressions detected (1)"]);
    assert_eq!(step.output(&project, "breaking"), "1");
}

#[test]
fn without_git_the_base_comes_from_the_api_and_its_address_gets_no_token() {
    let origin = regression();
    let project = origin.checkout("refs/pull/7/merge", &["--depth=1"]);
    let prefix = "--prefix=octo-repo-1/";
    let archive = Command::new("git")
        .args(["archive", "--format=tar.gz", prefix, &origin.base])
        .current_dir(origin.project.path())
        .output()
        .unwrap()
        .stdout;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!(
        "http://{}/archive?token=once",
        listener.local_addr().unwrap()
    );
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 4096];
        let read = stream.read(&mut asked).unwrap();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
            archive.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&archive).unwrap();
        String::from_utf8_lossy(&asked[..read]).into_owned()
    });
    let twin = Twin::start();
    let parents = vec![origin.base.clone(), origin.head.clone()];
    let history = vec![(origin.merge.clone(), parents)];
    twin.world().histories.insert(origin.merge.clone(), history);
    let moved = Fault::Status(302, vec![("location", address)]);
    twin.world().fault("GET", "/tarball/", 1, moved);
    let step = Step::pull_request(&twin, 7).at(&origin.merge);
    // Programs, without git.
    let programs = Project::new();
    let python = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .unwrap();
    let python = String::from_utf8(python.stdout).unwrap();
    std::os::unix::fs::symlink(python.trim(), programs.path().join("python3")).unwrap();
    let mut command = step.command(&project, &["--baseline", "build", "--comment", "off"]);
    command.env("PATH", programs.path());
    let ran = step.finish(&project, command);
    expect(&ran.stdout, &["built here", "Regressions detected (2)"]);
    let asked = serving.join().unwrap();
    assert!(
        asked.starts_with("GET /archive?token=once") && !asked.contains(TOKEN),
        "{asked}"
    );
}

#[test]
fn a_base_that_cannot_run_is_a_notice_and_leaves_the_verdict() {
    let suite = assertion("greets", "greet", "hello");
    let green = server(BEFORE);
    let head = [("src/server.py", green.as_str()), ("evals/a.yaml", &suite)];
    let case = |before: &[(&str, &str)], more: &[&str], wanted: &str| {
        let origin = Origin::new(before, &head);
        let project = origin.checkout("refs/pull/7/merge", &[]);
        let twin = Twin::start();
        let step = Step::pull_request(&twin, 7).at(&origin.merge);
        let gates = [
            "--comment",
            "off",
            "--fail-on-regression",
            "--fail-on-breaking",
        ];
        let ran = compared(&step, &project, &[&gates[..], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.stdout);
        expect(
            &ran.stdout,
            &["::notice", "compared with nothing: ", wanted],
        );
    };
    case(&[("x", "")], &[], "no server could be started in ");
    case(&[("src/x", "")], &[], "the merge base with `main`: ");
    case(
        &[("src/server.py", "import nothing_like_it")],
        &[],
        "it wrote: ModuleNotFoundError: No module named 'nothing_like_it'; `baseline-prepare` builds",
    );
    let fails = ["--baseline-prepare", "echo broken >&2; exit 3"];
    case(
        &head[..1],
        &fails,
        "its build ended with exit status: 3: broken",
    );
}

#[test]
fn nightly_what_the_base_needs_is_built_there_and_what_it_lacks_is_new() {
    let started = "#!/bin/sh\nexec python3 built.py\n";
    let build = "cp src/server.py src/built.py";
    let suite = |name: &str| {
        let command = "server: {command: sh, args: [start.sh], cwd: ../src";
        assertion("greets", "greet", name).replace(
            "server: {command: python3, args: [server.py], cwd: ../src",
            command,
        )
    };
    let with = "---\nname: another server\nserver: {command: python3, args: [new.py], cwd: ../src}\nassert: {tool: greet, expect: {contains: [bye]}}\n";
    let origin = Origin::new(
        &[
            ("src/server.py", &server(BEFORE)),
            ("src/start.sh", started),
            ("evals/a.yaml", &suite("hello")),
        ],
        &[
            ("src/server.py", &server(AFTER)),
            ("src/new.py", &server(AFTER)),
            ("evals/a.yaml", &(suite("bye") + with)),
        ],
    );
    let project = origin.checkout("refs/pull/7/merge", &[]);
    let made = Command::new("sh")
        .args(["-c", build])
        .current_dir(project.path())
        .status();
    assert!(made.unwrap().success());
    let twin = Twin::start();
    let step = Step::pull_request(&twin, 7).at(&origin.merge);
    let ran = compared(
        &step,
        &project,
        &[
            "--baseline-prepare",
            build,
            "--report-json",
            "run.json",
            "--comment",
            "off",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let run: serde_json::Value = serde_json::from_str(&project.read("run.json")).unwrap();
    let changes = run["comparison"]["changes"].as_array().unwrap();
    let class = |name: &str| {
        let found = changes.iter().find(|it| it["name"] == name);
        found.map(|it| it["class"].clone())
    };
    assert_eq!(class("greets"), Some(json!("fixed")), "{changes:?}");
    assert_eq!(class("another server"), Some(json!("new")), "{changes:?}");
}

#[test]
fn nightly_the_fixture_is_that_of_each_side() {
    let suite = "name: the word\nserver: {command: python3, args: [../src/server.py, '{{fixture}}/word'], cwd: .}\n\
                 assert: {tool: greet, expect: {contains: [hello]}}\n";
    let reading = format!(
        "import sys\n{}",
        server("{'greet': open(sys.argv[1]).read()}")
    );
    let files = |word: &'static str| {
        [
            ("src/server.py", reading.as_str()),
            ("evals/a.yaml", suite),
            ("files/word", word),
        ]
    };
    let origin = Origin::new(&files("hello"), &files("bye"));
    for (settings, more) in [
        ("{}", &["--fixture", "files"][..]),
        ("fixture: ../files", &[]),
    ] {
        let project = origin.checkout("refs/heads/topic", &[]);
        let project = project.file("evals/mcp-assert.yaml", settings);
        let words = ["ci", "--isolation", "process", "--baseline", "build"];
        let ran = project.run(&[&words[..], more].concat());
        expect(&ran.stdout, &["Regressions detected (1)"]);
    }
}

#[test]
fn nightly_a_push_is_compared_with_its_first_parent_and_a_laptop_with_the_default_branch() {
    let origin = regression();
    let twin = Twin::start();
    let project = origin.checkout("refs/heads/topic", &["--depth=2"]);
    let step = Step::push(&twin, &origin.head);
    let ran = compared(&step, &project, &[]);
    let short = &origin.base[..10];
    expect(
        &ran.stdout,
        &[
            &format!("compared with {short}, the commit before, built here"),
            "Regressions detected (2)",
        ],
    );
    let project = origin.checkout("refs/heads/topic", &[]);
    let ran = project.run(&["ci", "--isolation", "process", "--baseline", "build"]);
    let wanted = format!("compared with {short}, the merge base with `origin/main`, built here");
    expect(&ran.stderr, &[&wanted]);
    // Outside of a repository.
    let project = Project::with_suite(&super::suite(1));
    let ran = project.run(&["ci", "--isolation", "process", "--baseline", "build"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    expect(&ran.stderr, &["compared with nothing: `git rev-parse`"]);
}

#[test]
fn a_depth_that_hides_the_merge_base_is_named() {
    let origin = regression();
    let project = origin.checkout("refs/heads/topic", &["--depth=1"]);
    git(
        project.path(),
        &["remote", "set-url", "origin", "file:///nowhere"],
    );
    let twin = Twin::start();
    let step = Step::pull_request(&twin, 7)
        .at(&origin.head)
        .on("refs/heads/topic")
        .token(None);
    let ran = compared(&step, &project, &["--threshold", "0"]);
    expect(
        &ran.stdout,
        &[
            "compared with nothing: the merge base with `main` is not in the checkout",
            "`fetch-depth: 0`",
        ],
    );
}

#[test]
fn nothing_of_the_repository_runs_when_the_base_is_checked_out() {
    let suite = assertion("greets", "greet", "hello");
    let attributes = "* filter=evil text=auto export-ignore\n";
    let before = [
        ("src/server.py", &*server(BEFORE)),
        ("evals/a.yaml", &suite),
        (".gitattributes", attributes),
    ];
    let origin = Origin::new(&before, &[("README", "x")]);
    let project = origin.checkout("refs/pull/7/merge", &[]);
    let folder = project.path();
    let evil = "touch ran-it; cat";
    for (key, value) in [
        ("filter.evil.smudge", evil),
        ("filter.evil.clean", evil),
        ("core.fsmonitor", evil),
        ("core.hooksPath", "hooks"),
    ] {
        git(folder, &["config", key, value]);
    }
    let twin = Twin::start();
    let step = Step::pull_request(&twin, 7).at(&origin.merge);
    let ran = compared(&step, &project, &["--comment", "off"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    expect(&ran.stdout, &["built here"]);
    assert!(!folder.join("ran-it").exists());
}

#[test]
fn nightly_assertions_of_one_lane_never_meet_those_of_the_base() {
    let lock = Project::new();
    let place = lock.path().display();
    let script = format!(
        "import os, atexit\nos.mkdir('{place}/lock')\natexit.register(os.rmdir, '{place}/lock')\n\
         open('{place}/log', 'a').write('b' if 'mcp-assert-' in os.getcwd() else 'h')\n{}",
        server(BEFORE)
    );
    let one = |number: usize| {
        format!(
            "serial: db\n{}",
            assertion(&format!("{number}"), "greet", "hello")
        )
    };
    let suite = (0..6).map(one).collect::<Vec<_>>().join("---\n");
    let origin = Origin::new(
        &[("src/server.py", &script), ("evals/a.yaml", &suite)],
        &[("README", "x")],
    );
    let project = origin.checkout("refs/heads/topic", &[]);
    for jobs in ["1", "8"] {
        let words = [
            "ci",
            "--isolation",
            "process",
            "--baseline",
            "build",
            "--jobs",
            jobs,
            "--report-json",
            "run.json",
        ];
        let ran = project.run(&words);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let run: serde_json::Value = serde_json::from_str(&project.read("run.json")).unwrap();
        // Nothing was fixed: the base met nobody either.
        assert_eq!(run["comparison"]["changes"], json!([]), "{}", ran.stdout);
        // They run by turns, not one plan after the other.
        let order = lock.read("log");
        let half = &order[..order.len() / 2];
        assert!(half.contains('h') && half.contains('b'), "{order}");
        std::fs::remove_file(lock.path().join("log")).unwrap();
    }
}

#[test]
fn an_interrupt_leaves_no_checkout() {
    let slow =
        format!("import time\nopen('started', 'w').write('x\\n')\ntime.sleep(600)\n{SERVER}");
    let origin = Origin::new(
        &[
            ("src/server.py", &slow),
            ("evals/a.yaml", &assertion("greets", "greet", "hello")),
        ],
        &[("README", "x")],
    );
    let case = |more: &[&str], until: &str| {
        let project = origin.checkout("refs/heads/topic", &[]);
        let words = [
            &["ci", "--isolation", "process", "--baseline", "build"],
            more,
        ]
        .concat();
        let mut running = Running::start(&project, &words);
        running.until_file(&project.path().join(until));
        let begun = Instant::now();
        running.signal("-INT");
        let ended = running.end();
        assert_eq!(ended.code, Some(130), "{}{}", ended.stdout, ended.stderr);
        assert!(begun.elapsed() < Duration::from_secs(20));
        ended.left_nothing();
    };
    case(&[], "src/started");
    let mark = Project::new();
    let lines = format!(
        "echo x >{0}; sleep 600",
        mark.path().join("building").display()
    );
    case(
        &["--baseline-prepare", &lines],
        mark.path().join("building").to_str().unwrap(),
    );
}

#[test]
fn only_a_whole_run_builds_its_base() {
    let project = Project::with_suite(&super::suite(1));
    let ran = project.run(&["ci", "--isolation", "process", "--baseline-prepare", "x"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    expect(&ran.stderr, &["has no use without `--baseline build`"]);
    for words in [&["ci", "plan"][..], &["ci", "merge"]] {
        let ran = project.run(&[words, &["--baseline", "build"]].concat());
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, 2, "{said}");
        expect(&said, &["`--baseline build` needs `ci` without shards"]);
    }
}
