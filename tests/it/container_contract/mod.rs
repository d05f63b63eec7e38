//! The action's image started exactly as the runner starts it, on a real engine: the working folder, the mounts, the
//! variables, the entry point. Without a network, because nothing here needs one.

mod ends;

use std::{
    collections::BTreeSet,
    fs,
    os::unix::{
        fs::{MetadataExt, chown},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant, SystemTime},
};

use crate::{
    containers::labelled,
    engine::{Tag, docker_says, engine},
    wiring::root_files,
    workflow_log::runner::{Step, pairs, read},
};

/// Who owns the workspace on a runner of GitHub's.
const RUNNER: (u32, u32) = (1001, 127);

/// Where the action looks for the engine.
const SOCKET: &str = "/var/run/docker.sock";

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

/// A machine of the runner's, with its folders.
struct Machine {
    folder: tempfile::TempDir,
    /// What the runner mounts as the engine's socket; nothing with hooks that mount none.
    socket: Option<PathBuf>,
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
        let image = Tag::new("contract");
        build(&folder.path().join("image"), &image);
        let machine = Self {
            folder,
            socket: Some(SOCKET.into()),
            image,
        };
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

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command by which the runner starts a role of the action.
    fn role(&self, role: &str, name: &str, variables: &[(String, String)]) -> Command {
        let mut command = Command::new("docker");
        command.args([
            "run",
            "--name",
            name,
            "--workdir",
            "/github/workspace",
            "--rm",
        ]);
        let surroundings = [
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
        let surroundings = surroundings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        for (name, value) in surroundings.iter().chain(variables) {
            command.args(["-e", name]).env(name, value);
        }
        command.args(["--entrypoint", &entry_point(role)]);
        if let Some(socket) = &self.socket {
            let mounted = format!("{}:{SOCKET}", socket.display());
            command.arg("-v").arg(mounted);
        }
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

    /// The command that runs the assertions.
    fn start(&self, name: &str, inputs: &[(&str, &str)]) -> Command {
        let inputs = inputs.iter().map(|(name, value)| {
            (
                format!("INPUT_{}", name.to_uppercase()),
                (*value).to_owned(),
            )
        });
        self.role("entrypoint", name, &inputs.collect::<Vec<_>>())
    }

    /// What the run keeps for the end of the job.
    fn state(&self) -> Vec<(String, String)> {
        pairs(&fs::read_to_string(self.path("commands/state")).unwrap()).unwrap()
    }

    /// What the runner starts at the end of the job, with what the run kept.
    fn post(&self) -> Output {
        let state = self.state().into_iter();
        let state: Vec<_> = state
            .map(|(name, value)| (format!("STATE_{name}"), value))
            .collect();
        self.role("post-entrypoint", &self.name("post"), &state)
            .output()
            .unwrap()
    }

    /// A name for a container of this machine.
    fn name(&self, purpose: &str) -> String {
        let number = self.image.0.rsplit(':').next().unwrap();
        format!("mcp-assert-contract-{purpose}-{number}")
    }

    fn ended(&self, output: &Output) -> Ended {
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
        let named = inputs.iter().any(|(name, _)| *name == "isolation");
        let usual: &[_] = if named {
            &[]
        } else {
            &[("isolation", "process")]
        };
        let inputs = [usual, inputs].concat();
        self.ended(&self.start(&self.name("run"), &inputs).output().unwrap())
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
    tells_everything(&machine, "process");
    assert_eq!(machine.state(), [], "without containers nothing is kept");
}

#[test]
fn with_each_assertion_in_its_own_container_the_image_tells_the_same() {
    if !can_run() {
        return;
    }
    let machine = Machine::new(SUITE);
    tells_everything(&machine, "container");
    let run = fs::read_to_string(machine.path("workspace/run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let assertions = run["assertions"].as_array().unwrap().iter();
    let ids: BTreeSet<&str> = assertions
        .filter_map(|it| it["container"]["id"].as_str())
        .collect();
    assert_eq!(ids.len(), 2, "{run}");
    let label = run["engine"]["label"].as_str().unwrap();
    assert!(label.starts_with("7-1-mcp-"), "{label}");
    assert_eq!(machine.state(), [("run".to_owned(), label.to_owned())]);
    assert_eq!(labelled(&format!("io.mcp-assert.run={label}")), "");
}

/// Everything that is told of a run, and whose it is.
fn tells_everything(machine: &Machine, isolation: &str) {
    let ended = machine.run(&[
        ("isolation", isolation),
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
            .starts_with("### ❌ mcp-assert · 1 failure\n\n1 of 2 passed, 1 skipped")
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
    assert!(ended.log.contains("# #[error]hostile"), "{}", ended.log);
    assert!(
        ended.log.contains("::error::x # #[group]y"),
        "{}",
        ended.log
    );
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
fn nightly_without_an_engine_behind_the_socket_the_image_says_why_and_what_to_do() {
    if !can_run() {
        return;
    }
    let mut machine = Machine::new(SUITE);
    let folder = machine.path("folder");
    fs::create_dir(&folder).unwrap();
    let silent = machine.path("silent");
    let _listener = UnixListener::bind(&silent).unwrap();
    let nobody = ["Kubernetes", "rootless Docker or Podman"];
    let cases = [
        (None, "does not exist", &nobody[..]),
        (Some(folder), "is a folder, not a socket", &nobody[..]),
        (
            Some(silent),
            "did not answer within 5 s",
            &["the engine hangs"],
        ),
    ];
    for (socket, what, why) in cases {
        machine.socket = socket;
        let begun = Instant::now();
        let ended = machine.run(&[("isolation", "container")]);
        let took = begun.elapsed();
        assert_eq!(ended.code, 3, "{}", ended.log);
        assert!(took < Duration::from_secs(10), "{took:?}: {}", ended.log);
        assert_eq!(ended.output("verdict"), "error");
        let said = ended.log.replace('\n', " ");
        assert!(
            said.contains(&format!("(Docker's socket): {what}")),
            "{said}"
        );
        let ways = ["the input `docker-host`", "mcp-assert/action/setup@v1"];
        for wanted in why.iter().chain(&ways) {
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
        // Signs are written as numbers there.
        let words = what.split(',').next().unwrap();
        assert!(ended.summary.contains(words), "{}", ended.summary);
        let version = format!(
            "<code>{}",
            env!("CARGO_PKG_VERSION").split('.').next().unwrap()
        );
        assert!(ended.summary.contains(&version), "{}", ended.summary);
        assert!(!ended.summary.contains("1970"), "{}", ended.summary);
        let after = machine.post();
        let said = String::from_utf8_lossy(&after.stdout).into_owned();
        assert!(
            after.status.success() && said.contains("nothing was removed"),
            "{said}"
        );
    }
}

/// Builds the image as a release does: the files of the release where they are those of these sources, else the ones
/// that are tested here and all that they are linked with.
fn build(context: &Path, image: &Tag) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let release = root.join("dist/rootfs/usr/local/bin/mcp-assert");
    let made = fs::metadata(release).and_then(|it| it.modified());
    let is_current = made.is_ok_and(|made| {
        let sources = ["src", "Cargo.toml", "Cargo.lock", "scripts/rootfs"];
        sources.iter().all(|it| newest(&root.join(it)) <= made)
    });
    if is_current {
        fs::create_dir_all(context.join("dist")).unwrap();
        let copied = Command::new("cp")
            .arg("--archive")
            .args([root.join("dist/rootfs"), context.join("dist")])
            .status();
        assert!(copied.unwrap().success());
    } else {
        let otherwise =
            "dist/rootfs is not there or older than the sources: scripts/rootfs makes it";
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{otherwise}");
        root_files(context);
    }
    fs::copy(root.join("Dockerfile"), context.join("Dockerfile")).unwrap();
    let scratch = ["--target", "prebuilt", "--build-arg", "BASE=scratch"];
    let words = [
        // Layers that another build made vanish with the image of that one.
        &["build", "--quiet", "--no-cache"],
        &scratch[..],
        &["--tag", &image.0, "."],
    ];
    docker_says(context, &words.concat());
}

/// When the newest file at or below a path was written.
fn newest(path: &Path) -> SystemTime {
    let own = fs::metadata(path).unwrap();
    if !own.is_dir() {
        return own.modified().unwrap();
    }
    let entries = fs::read_dir(path).unwrap();
    entries
        .map(|entry| newest(&entry.unwrap().path()))
        .max()
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// What `action.yml` names as the program of a role.
fn entry_point(role: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml");
    let action = fs::read_to_string(path).unwrap();
    let key = format!("  {role}: ");
    let line = action.lines().find_map(|line| line.strip_prefix(&key));
    line.unwrap().to_owned()
}
