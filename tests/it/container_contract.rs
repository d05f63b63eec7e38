//! The action's image started exactly as the runner starts it, on a real engine: the working folder, the mounts, the
//! variables, the entry point. Without a network, because nothing here needs one.

use std::{
    fs,
    os::unix::fs::{MetadataExt, chown},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    engine::{Tag, docker, docker_says, engine},
    wiring::root_files,
    workflow_log::runner::{Step, pairs, read},
};

/// Who owns the workspace on a runner of GitHub's.
const RUNNER: (u32, u32) = (1001, 127);

const SUITE: &str = "\
name: passes
server: {builtin: conformance}
assert: {tool: echo, args: {message: x}, expect: {contains: x}}
---
name: fails
server: {builtin: conformance, args: [--stderr, \"::error::x ##[group]y\"]}
assert: {tool: echo, args: {message: \"##[error]hostile\\n::set-env name=A::b\"}, expect: {contains: y}}
---
name: off
skip: true
server: {builtin: conformance}
assert: {tool: echo}
";

const STUCK: &str = "\
server: {builtin: conformance, args: [--fault, init-hang]}
assert: {tool: echo}
";

/// A machine of the runner's, with its folders.
struct Machine {
    folder: tempfile::TempDir,
    image: Tag,
}

/// What became of a step.
struct Ended {
    code: i32,
    log: String,
    step: Step,
    outputs: Vec<(String, String)>,
    summary: String,
}

impl Machine {
    fn new(suite: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let context = folder.path().join("image");
        root_files(&context);
        fs::write(
            context.join("Dockerfile"),
            "FROM scratch\nCOPY dist/rootfs/ /\n",
        )
        .unwrap();
        let image = Tag::new("contract");
        docker_says(&context, &["build", "--quiet", "--tag", &image.0, "."]);
        let machine = Self { folder, image };
        for made in ["workspace/evals", "temp", "home", "workflow", "commands"] {
            fs::create_dir_all(machine.path(made)).unwrap();
        }
        fs::write(machine.path("workspace/evals/a.yaml"), suite).unwrap();
        for file in ["output", "summary", "state"] {
            fs::write(machine.path("commands").join(file), "").unwrap();
        }
        for owned in ["workspace", "workspace/evals", "temp", "commands"] {
            chown(machine.path(owned), Some(RUNNER.0), Some(RUNNER.1)).unwrap();
        }
        machine
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// The command of the runner.
    fn start(&self, name: &str, inputs: &[(&str, &str)]) -> Command {
        let mut command = Command::new("docker");
        command.args([
            "run",
            "--name",
            name,
            "--workdir",
            "/github/workspace",
            "--rm",
        ]);
        let variables = [
            ("GITHUB_ACTIONS", "true"),
            ("CI", "true"),
            ("GITHUB_WORKSPACE", "/github/workspace"),
            ("RUNNER_TEMP", "/github/runner_temp"),
            ("HOME", "/github/home"),
            ("GITHUB_OUTPUT", "/github/file_commands/output"),
            ("GITHUB_STEP_SUMMARY", "/github/file_commands/summary"),
            ("GITHUB_STATE", "/github/file_commands/state"),
            ("GITHUB_REPOSITORY", "owner/name"),
            ("GITHUB_RUN_ID", "7"),
            ("GITHUB_RUN_ATTEMPT", "1"),
            ("GITHUB_JOB", "mcp"),
        ];
        for (name, value) in variables {
            command.args(["-e", name]).env(name, value);
        }
        for (name, value) in inputs {
            let name = format!("INPUT_{}", name.to_uppercase());
            command.arg("-e").arg(&name).env(&name, value);
        }
        command.args(["--entrypoint", "/usr/local/bin/mcp-assert-action"]);
        command.args(["-v", "/var/run/docker.sock:/var/run/docker.sock"]);
        for (ours, theirs) in [
            ("temp", "/github/runner_temp"),
            ("home", "/github/home"),
            ("workflow", "/github/workflow"),
            ("commands", "/github/file_commands"),
            ("workspace", "/github/workspace"),
        ] {
            command
                .arg("-v")
                .arg(format!("{}:{theirs}", self.path(ours).display()));
        }
        command
            .args(["--network", "none", &self.image.0])
            .stdin(Stdio::null());
        command
    }

    fn ended(&self, output: &std::process::Output) -> Ended {
        let text = |name: &str| fs::read_to_string(self.path("commands").join(name)).unwrap();
        let log = String::from_utf8(output.stdout.clone()).unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            step: read(log.as_bytes()),
            log: log + &String::from_utf8_lossy(&output.stderr),
            outputs: pairs(&text("output")).unwrap(),
            summary: text("summary"),
        }
    }

    fn run(&self, inputs: &[(&str, &str)]) -> Ended {
        let name = format!(
            "mcp-assert-contract-{}",
            self.image.0.rsplit(':').next().unwrap()
        );
        let inputs = [&[("isolation", "process")], inputs].concat();
        self.ended(&self.start(&name, &inputs).output().unwrap())
    }
}

impl Ended {
    fn output(&self, name: &str) -> &str {
        let found = self.outputs.iter().rev().find(|(known, _)| known == name);
        found.map_or_else(
            || panic!("no output {name}: {}", self.log),
            |it| it.1.as_str(),
        )
    }
}

/// Whether this can be tried: a real engine, and files that can be given away.
fn can_run() -> bool {
    engine() && rustix::process::geteuid().is_root()
}

#[test]
fn the_image_tells_everything_and_leaves_nothing_of_roots() {
    if !can_run() {
        return;
    }
    let machine = Machine::new(SUITE);
    let ended = machine.run(&[
        ("junit", "out/report.xml"),
        ("report-json", "run.json"),
        ("verbose", "true"),
    ]);
    assert_eq!(ended.code, 1, "{}", ended.log);
    let counts = ["passed", "failed", "skipped", "percent", "verdict", "junit"];
    assert_eq!(
        counts.map(|name| ended.output(name)),
        ["1", "1", "1", "50.00", "fail", "out/report.xml"]
    );
    assert!(
        ended
            .summary
            .starts_with("### mcp-assert: 1 passed, 1 failed, 1 skipped")
    );
    let errors = ended.step.annotations("error");
    assert_eq!(errors.len(), 1, "{}", ended.log);
    assert_eq!(errors[0].properties["file"], "evals/a.yaml");
    let obeyed: Vec<&str> = ended
        .step
        .obeyed
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(obeyed, ["stop-commands", "error"], "{}", ended.log);
    assert!(ended.step.failed.is_empty() && !ended.step.is_stopped);
    for left in [
        "workspace/out",
        "workspace/out/report.xml",
        "workspace/run.json",
    ] {
        let found = fs::metadata(machine.path(left)).unwrap();
        assert_eq!((found.uid(), found.gid()), RUNNER, "{left}");
    }
    owned_by_the_runner(&machine.path("workspace"));
}

/// Nothing of root's lies below a folder but what was there before.
fn owned_by_the_runner(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.path().ends_with("a.yaml") {
            continue;
        }
        let found = entry.metadata().unwrap();
        assert_eq!(found.uid(), RUNNER.0, "{}", entry.path().display());
        if found.is_dir() {
            owned_by_the_runner(&entry.path());
        }
    }
}

#[test]
fn the_image_ends_with_the_code_of_its_verdict() {
    if !can_run() {
        return;
    }
    let machine = Machine::new(SUITE);
    let case = |inputs: &[(&str, &str)], code: i32, verdict: &str| {
        let ended = machine.run(inputs);
        assert_eq!(ended.code, code, "{verdict}: {}", ended.log);
        if !verdict.is_empty() {
            assert_eq!(ended.output("verdict"), verdict, "{}", ended.log);
        }
    };
    case(&[("filter", "*passes")], 0, "pass");
    case(&[("threshold", "50")], 0, "pass");
    case(&[], 1, "fail");
    case(&[("suits", "x")], 2, "");
    case(&[("suite", "missing")], 2, "invalid");
    case(&[("junit", "evals")], 3, "error");
    case(&[("filter", "nothing")], 4, "empty");
}

#[test]
fn an_interrupted_image_is_gone_within_five_seconds() {
    if !can_run() {
        return;
    }
    let machine = Machine::new(STUCK);
    let name = format!("mcp-assert-interrupted-{}", std::process::id());
    let inputs = [
        ("isolation", "process"),
        ("verbose", "false"),
        ("junit", "report.xml"),
    ];
    let running = machine
        .start(&name, &inputs)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    // The server runs once there is a second process.
    while docker_text(&["top", &name]).lines().count() < 3 {
        assert!(
            started.elapsed() < Duration::from_mins(1),
            "it never started"
        );
        std::thread::yield_now();
    }
    let begun = Instant::now();
    docker_says(Path::new("/"), &["kill", "--signal", "INT", &name]);
    let output = running.wait_with_output().unwrap();
    let took = begun.elapsed();
    let ended = machine.ended(&output);
    assert_eq!(ended.code, 130, "{}", ended.log);
    println!("from SIGINT to nothing left: {took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(ended.output("verdict"), "interrupted");
    assert!(machine.path("workspace/report.xml").exists());
}

fn docker_text(arguments: &[&str]) -> String {
    String::from_utf8_lossy(&docker(Path::new("/"), arguments).stdout).into_owned()
}
