//! Runs whose terminal goes away or whose output cannot be written: nothing is left behind, and other output is
//! written.

use std::{
    fs::File,
    io::{ErrorKind, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process::{Child, Command},
};

use nix::{
    fcntl::OFlag,
    pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt},
};
use rustix::fs::{OFlags, fcntl_setfl};
use serde_json::Value;

use crate::{
    harness::{BINARY, Project, until},
    running::{Running, processes_of},
};

/// Runs a command in a new session on the terminal, with the default action of SIGHUP, which the test runner may
/// ignore.
const SESSION: [&str; 4] = ["env", "--default-signal=HUP", "setsid", "--ctty"];

/// A server that answers once `go` is opened.
fn suite() -> String {
    let waits = "mkfifo go; echo $$ >>started; read go <go; exec \"$0\" serve";
    format!(
        "name: waits\nserver: {{command: sh, args: [-c, {waits:?}, {BINARY:?}]}}\n\
         assert: {{tool: test_simple_text}}\n\
         ---\nname: next\nserver: {{builtin: conformance}}\n\
         assert: {{tool: test_simple_text, expect: {{equals: something else}}}}\n"
    )
}

/// A run on a terminal.
struct OnTerminal {
    child: Child,
    screen: PtyMaster,
}

impl OnTerminal {
    /// Starts the binary behind the words in `before`, and waits for its first server.
    fn start(project: &Project, before: &[&str]) -> Self {
        // Other child processes must not inherit it.
        let screen = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let terminal = File::options()
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits())
            .open(ptsname_r(&screen).unwrap())
            .unwrap();
        fcntl_setfl(&screen, OFlags::NONBLOCK).unwrap();
        let arguments =
            "run evals --fixture fixture --jobs 1 --junit junit.xml --report-json run.json";
        let plain = project.command(&[]);
        let words = before.iter().copied().chain([BINARY]);
        let words: Vec<&str> = words.chain(arguments.split(' ')).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env_clear();
        for (name, value) in plain.get_envs() {
            command.env(name, value.unwrap());
        }
        let temporary = project.path().join("tmp");
        std::fs::create_dir_all(&temporary).unwrap();
        command
            .env("TMPDIR", temporary)
            .env("TERM", "xterm")
            .current_dir(project.path());
        command
            .stdin(terminal.try_clone().unwrap())
            .stdout(terminal.try_clone().unwrap())
            .stderr(terminal);
        let child = command.spawn().unwrap();
        let mut running = Self { child, screen };
        running.until(|| {
            let started = std::fs::read_to_string(project.path().join("started"));
            started.is_ok_and(|text| text.ends_with('\n'))
        });
        running
    }

    /// Reads the terminal until the condition holds.
    fn until(&mut self, is_so: impl Fn() -> bool) {
        until("it never came", || {
            self.look();
            assert!(self.child.try_wait().unwrap().is_none(), "it ended early");
            is_so()
        });
    }

    fn look(&mut self) {
        match self.screen.read(&mut [0; 4096]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Closes the terminal and returns the process.
    fn close(self) -> Child {
        self.child
    }
}

/// Waits for the end, asserts that nothing is left, and returns the exit code.
fn end(project: &Project, mut child: Child) -> Option<i32> {
    let mut status = None;
    until("it never ended", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    let code = status.unwrap().code();
    assert_eq!(processes_of(child.id()), [""; 0]);
    let left = std::fs::read_dir(project.path().join("tmp")).unwrap();
    assert_eq!(left.count(), 0);
    code
}

fn run_json(project: &Project) -> Value {
    serde_json::from_str(&project.read("run.json")).unwrap()
}

fn project() -> Project {
    Project::with_suite(&suite()).file("fixture/note.txt", "a note")
}

/// Lets the waiting server continue while the result is kept.
fn go(folder: &Path) -> File {
    // Opening for writing only would block until there is a reader.
    let mut pipe = File::options()
        .read(true)
        .write(true)
        .open(folder.join("go"))
        .unwrap();
    pipe.write_all(b"go\n").unwrap();
    pipe
}

#[test]
fn a_terminal_that_hangs_up_ends_the_run_and_the_reports_are_written() {
    let project = project();
    let child = OnTerminal::start(&project, &SESSION).close();
    assert_eq!(end(&project, child), Some(130));
    let run = run_json(&project);
    assert_eq!(run["end"]["state"], "interrupted");
    assert_eq!(run["assertions"][0]["status"], "error");
    assert!(project.read("junit.xml").contains("interrupted"));
}

#[test]
fn nightly_a_terminal_that_goes_away_without_a_word_does_not_end_the_run() {
    let project = project();
    let child = OnTerminal::start(&project, &[]).close();
    let _going = go(project.path());
    assert_eq!(end(&project, child), Some(1));
    let run = run_json(&project);
    assert_eq!(run["end"]["state"], "finished");
    assert_eq!(run["assertions"][0]["status"], "pass");
    assert_eq!(run["assertions"][1]["status"], "fail");
    assert!(project.read("junit.xml").contains("name=\"next\""));
}

/// A run with a first result larger than a pipe, not read before its last server starts.
fn unread() -> (Project, Running) {
    let builtin = "server: {builtin: conformance}\nassert: {tool: test_simple_text}\n---\n";
    let starts = "echo here >>started; exec \"$0\" serve";
    let long = "x".repeat(200_000);
    let project = Project::with_suite(&format!(
        "name: {long}\n{builtin}name: second\n{builtin}\
         name: last\nserver: {{command: sh, args: [-c, {starts:?}, {BINARY:?}]}}\nassert: {{tool: test_simple_text}}\n"
    ));
    let mut running = Running::start(&project, &["run", "evals", "--jobs", "1"]);
    running.until_file(&project.path().join("started"));
    (project, running)
}

#[test]
fn a_reader_that_stands_still_keeps_no_assertion_from_going_on_and_reads_all_in_its_order() {
    let (_project, running) = unread();
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    for (line, name) in lines
        .iter()
        .zip(["PASS  xxx", "PASS  second ", "PASS  last "])
    {
        assert!(line.starts_with(name), "{}", line.len());
    }
    assert!(lines.last().unwrap().starts_with("3 assertions, 3 passed"));
    ended.left_nothing();
}

#[test]
fn an_output_that_cannot_be_written_keeps_no_report_from_being_written() {
    let full = |arguments: &[&str]| {
        let project = Project::with_suite(
            "name: a\nserver: {builtin: conformance}\nassert: {tool: test_simple_text}\n\
             ---\nname: b\nserver: {builtin: conformance}\nassert: {tool: test_simple_text}\n",
        );
        let mut command = project.command(&["run", "evals", "--report-json", "run.json"]);
        command.args(["--junit", "junit.xml", "--save-baseline", "baseline.json"]);
        let full = File::options().write(true).open("/dev/full").unwrap();
        command.args(arguments).stdout(full);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert_eq!(said.matches("cannot write").count(), 1, "{said}");
        assert!(said.contains("stdout"), "{arguments:?}: {said}");
        let run = run_json(&project);
        assert_eq!(run["end"]["state"], "finished", "{arguments:?}");
        for at in 0..2 {
            assert_eq!(run["assertions"][at]["status"], "pass", "{arguments:?}");
        }
        assert!(project.read("junit.xml").contains("name=\"b\""));
        assert!(project.read("baseline.json").contains("PASS"));
    };
    full(&["--jobs", "1"]);
    full(&["--trace"]);
    full(&["--json"]);
    full(&["--report", "markdown=-"]);
}

#[test]
fn a_report_larger_than_files_may_be_is_named_and_leaves_nothing_beside_it() {
    let tries = "head -c 9999 /dev/zero >big; echo $? >status; exec \"$0\" serve";
    let project = Project::with_suite(&format!(
        "name: a\nserver: {{command: sh, args: [-c, {tries:?}, {BINARY:?}]}}\n\
         assert: {{tool: test_simple_text}}\n"
    ));
    let mut command = Command::new("env");
    let plain = project.command(&[]);
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap());
    }
    let limited = "ulimit -f 1; exec \"$0\" run evals --report-json run.json";
    command.args(["--default-signal=XFSZ", "sh", "-c", limited, BINARY]);
    command.current_dir(project.path());
    let ran = project.finish(command);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("`run.json`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("File too large"), "{}", ran.stderr);
    let left = std::fs::read_dir(project.path()).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["big", "evals", "status"]);
    // 128 plus SIGXFSZ, which still kills a server.
    assert_eq!(project.read("status"), "153\n");
}

#[test]
fn a_baseline_is_saved_into_a_pipe_that_nobody_reads_from_before() {
    let project = Project::with_suite(
        "name: a\nserver: {builtin: conformance}\nassert: {tool: echo, args: {message: a}, expect: {contains: a}}\n",
    );
    let pipe = project.path().join("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for verb in [
        &["run", "evals", "--save-baseline", "pipe"][..],
        &[
            "ci",
            "--suite",
            "evals",
            "--isolation",
            "process",
            "--update-baseline",
            "pipe",
        ],
    ] {
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        let ran = project.run(verb);
        assert_eq!(ran.code, 0, "{verb:?}: {}{}", ran.stdout, ran.stderr);
        assert!(reader.join().unwrap().contains("catalogs"), "{verb:?}");
    }
}
