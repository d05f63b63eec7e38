//! Environments that a suite cannot create: paths and variables that are not UTF-8, pipes, and a replaced binary.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::harness::{BINARY, OBEDIENT, Project, copy_binary, until};

/// A suite that creates an unexpected file in the fixture and changes another.
const DIRTY: &str = r#"
name: changes nothing
server: {command: python3, args: [server.py, "{{fixture}}"]}
assert:
  tool: do
  args: {what: "os.makedirs(argv[1], exist_ok=True); [open(argv[1] + n, 'w').write('evil') for n in ('/evil.txt', '/a.txt')]"}
  expect: {file_not_exists: evil.txt, file_unchanged: a.txt}
"#;

/// A name that is not UTF-8.
fn odd(beginning: &str) -> OsString {
    let mut bytes = beginning.as_bytes().to_vec();
    bytes.extend(b"\xff\xfe");
    OsString::from_vec(bytes)
}

/// A command with an argument that may not be UTF-8.
fn command(project: &Project, arguments: &[&str], last: &OsStr) -> Command {
    let mut command = project.command(arguments);
    command.arg(last);
    command
}

#[test]
fn the_server_is_told_of_the_copy_that_is_judged() {
    let project = Project::with_suite(DIRTY).file("server.py", OBEDIENT);
    for name in [OsString::from("fx"), odd("fx")] {
        fs::create_dir(project.path().join(&name)).unwrap();
        fs::write(project.path().join(&name).join("a.txt"), "hello").unwrap();
        let ran = project.finish(command(&project, &["run", "evals", "--fixture"], &name));
        assert_eq!(ran.code, 1, "{name:?}\n{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("evil.txt"), "{}", ran.stdout);
        let kept = fs::read_to_string(project.path().join(&name).join("a.txt"));
        assert_eq!(kept.unwrap(), "hello");
    }
}

#[test]
fn the_embedded_server_is_told_of_it_too() {
    let suite = "name: reads\nserver: {builtin: conformance, args: [--files, '{{fixture}}']}\n\
                 assert: {tool: write_file, args: {path: b.txt, text: hello}, expect: {file_equals: {b.txt: hello}}}\n";
    let project = Project::with_suite(suite);
    let name = odd("fx");
    fs::create_dir(project.path().join(&name)).unwrap();
    fs::write(project.path().join(&name).join("a.txt"), "hello").unwrap();
    let ran = project.finish(command(&project, &["run", "evals", "--fixture"], &name));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_folder_for_copies_that_no_suite_could_name_is_refused_before_the_run() {
    let project = Project::with_suite(DIRTY)
        .file("server.py", OBEDIENT)
        .file("fx/a.txt", "hello");
    let temporary = project.path().join(odd("tmp"));
    fs::create_dir(&temporary).unwrap();
    let mut command = project.command(&["run", "evals", "--fixture", "fx"]);
    command.env("TMPDIR", &temporary);
    let ran = project.finish(command);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("its path is not UTF-8"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("set TMPDIR"), "{}", ran.stderr);
}

#[test]
fn a_server_starts_beside_its_suite_whatever_the_folder_is_called() {
    let suite = "name: starts\nserver: {command: python3, args: [../server.py], cwd: sub}\n\
                 assert: {tool: do, args: {what: \"text = os.path.basename(os.getcwd())\"}, expect: {equals: sub}}\n";
    let project = Project::new();
    let folder = project.path().join(odd("work"));
    fs::create_dir_all(folder.join("sub")).unwrap();
    fs::write(folder.join("a.yaml"), suite).unwrap();
    fs::write(folder.join("server.py"), OBEDIENT).unwrap();
    let mut inside = project.command(&["run", "."]);
    inside.current_dir(&folder);
    for command in [inside, command(&project, &["run"], folder.as_os_str())] {
        let ran = project.finish(command);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn variables_are_inherited_byte_for_byte() {
    let suite = |inherit: &str, wanted: &str| {
        format!(
            "name: inherits\nserver: {{command: python3, args: [server.py], inherit_env: {inherit}}}\n\
             assert: {{tool: do, args: {{what: \"text = repr([os.environb.get(n) for n in (b'ODD', b'PLAIN')])\"}}, \
             expect: {{equals: \"{wanted}\"}}}}\n"
        )
    };
    let project = Project::new().file("server.py", OBEDIENT);
    let all = r"[b'x\\xff\\xfe', b'y']";
    for (at, (inherit, wanted)) in [
        ("true", all),
        ("[PATH, ODD, PLAIN]", all),
        ("[PATH, ODD, ODD]", r"[b'x\\xff\\xfe', None]"),
        ("[PATH]", "[None, None]"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = project.path().join("evals").join(format!("{at}.yaml"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            path,
            suite(inherit, wanted).replace("server.py]", "../server.py], cwd: ."),
        )
        .unwrap();
    }
    let mut command = project.command(&["run", "evals"]);
    command.env("ODD", odd("x")).env("PLAIN", "y");
    let ran = project.finish(command);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("4 passed"), "{}", ran.stdout);
}

/// A copy of the program in a folder of its own.
fn copy(project: &Project, folder: &OsStr) -> PathBuf {
    let folder = project.path().join(folder);
    fs::create_dir_all(&folder).unwrap();
    let copy = folder.join("m");
    copy_binary(&copy);
    copy
}

#[test]
fn the_embedded_server_is_the_program_that_runs() {
    // The first server replaces the executable of the running program.
    let first = "name: first\nserver: {command: python3, args: [server.py]}\n\
                 assert: {tool: do, args: {what: \"WHAT\"}}\n";
    let second = "---\nname: second\nserver: {builtin: conformance}\n\
                  assert: {tool: echo, args: {text: hello}, expect: {contains: hello}}\n";
    let replace =
        "os.remove('bin/m'); open('bin/m', 'w').write('#!/bin/sh'); os.chmod('bin/m', 0o755)";
    for what in ["os.remove('bin/m')", replace] {
        let suite = format!("{}{second}", first.replace("WHAT", what));
        let project = Project::with_suite(&suite).file("server.py", OBEDIENT);
        let program = copy(&project, OsStr::new("bin"));
        let mut command = Command::new(&program);
        command
            .args(["run", "evals", "--jobs", "1"])
            .current_dir(project.path());
        let ran = project.finish(command);
        assert_eq!(ran.code, 0, "{what}\n{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("2 passed"), "{}", ran.stdout);
    }
}

#[test]
fn the_embedded_server_starts_from_a_folder_that_is_no_text() {
    let suite = "name: a\nserver: {builtin: conformance}\n\
                 assert: {tool: echo, args: {text: hello}, expect: {contains: hello}}\n";
    let project = Project::with_suite(suite);
    let program = copy(&project, &odd("bin"));
    assert!(program.as_os_str().as_bytes().contains(&0xff));
    let mut command = Command::new(&program);
    command.args(["run", "evals"]).current_dir(project.path());
    let ran = project.finish(command);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// A suite that passes.
const GREEN: &str = "name: a\nserver: {builtin: conformance}\n\
                     assert: {tool: echo, args: {text: hello}, expect: {contains: hello}}\n";

/// Makes a pipe with a name.
fn make_fifo(project: &Project, name: &str) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, project.path().join(name), mode).unwrap();
}

#[test]
fn a_pipe_that_nobody_reads_is_told_and_not_waited_for() {
    let project = Project::with_suite(GREEN);
    make_fifo(&project, "pipe");
    let ran = project.run(&["run", "evals", "--junit", "pipe"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let told = "cannot write `pipe`: the pipe has no reader";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn pipes_and_devices_that_are_read_get_their_report() {
    let project = Project::with_suite(GREEN);
    make_fifo(&project, "pipe");
    let script = |line: &str| {
        let mut command = Command::new("bash");
        command
            .args(["-c", line, BINARY])
            .current_dir(project.path())
            .stdin(Stdio::null());
        project.finish(command)
    };
    for line in [
        "cat pipe > read & \"$0\" run evals --junit pipe; code=$?; wait; exit $code",
        "{ \"$0\" run evals --junit >(cat > read); code=$?; } ; wait $!; exit $code",
        "\"$0\" run evals --junit /dev/stdout > read",
        "\"$0\" run evals --junit /dev/null; code=$?; echo '<testsuites' > read; exit $code",
    ] {
        let ran = script(line);
        assert_eq!(ran.code, 0, "{line}\n{}{}", ran.stdout, ran.stderr);
        assert!(project.read("read").contains("<testsuites"), "{line}");
        fs::remove_file(project.path().join("read")).unwrap();
    }
}

#[test]
fn a_link_stays_a_link_also_where_its_target_is_not_there_yet() {
    let project = Project::with_suite(GREEN);
    fs::create_dir(project.path().join("to")).unwrap();
    let link = project.path().join("to/link.xml");
    std::os::unix::fs::symlink("../real.xml", &link).unwrap();
    let ran = project.run(&["run", "evals", "--junit", "to/link.xml"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(project.read("real.xml").contains("<testsuites"));
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("link.xml", &link).unwrap();
    let ran = project.run(&["run", "evals", "--junit", "to/link.xml"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn what_cannot_be_written_to_stdout_is_told() {
    let project = Project::with_suite(GREEN);
    for words in [
        &["--version"][..],
        &["version"],
        &["schema"],
        &["completions", "bash"],
        &["validate", "evals"],
        &["run", "--help"],
        &["serve", "--list"],
        &["ci", "--suite", "evals", "--isolation", "process"],
        &[],
    ] {
        let mut command = project.command(words);
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        command.stdout(full);
        let ran = project.finish(command);
        assert_eq!(ran.code, 3, "{words:?}\n{}", ran.stderr);
        assert!(ran.stderr.contains("stdout"), "{words:?}\n{}", ran.stderr);
    }
}

#[test]
fn holes_of_a_fixture_take_no_time_and_stay() {
    let suite = "name: a\ntimeout: 20s\nserver: {command: python3, args: [server.py, '{{fixture}}']}\n\
                 assert: {tool: do, args: {what: \"s = os.stat(argv[1] + '/sparse'); f = open(argv[1] + '/sparse', 'rb'); \
                 f.seek(30 << 30); text = repr([s.st_size >> 30, s.st_blocks < 2048, f.read(5)])\"}, \
                 expect: {equals: \"[40, True, b'hello']\"}}\n";
    let project = Project::with_suite(suite)
        .file("server.py", OBEDIENT)
        .file("fx/a.txt", "hello");
    let sparse = fs::File::create(project.path().join("fx/sparse")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&sparse, b"hello", 30 << 30).unwrap();
    sparse.set_len(40 << 30).unwrap();
    let ran = project.run(&["run", "evals", "--fixture", "fx"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn reap_tells_what_it_removed_and_needs_no_engine_for_it() {
    let project = Project::with_suite(GREEN);
    // The folder of a run that has ended: no process has this number.
    let owner = |name: &str| {
        let own = fs::read_dir(project.path()).unwrap().flatten();
        let own = own.map(|entry| entry.file_name().into_string().unwrap());
        own.filter(|it| it.starts_with(name)).collect::<Vec<_>>()
    };
    let wait = "name: a\nserver: {command: sh, args: [-c, 'echo $$ > pid; mkfifo go; read x < go', '{{fixture}}'], \
                cwd: ..}\nassert: {tool: x}\n";
    let project_wait = project.path().join("waits");
    fs::create_dir(&project_wait).unwrap();
    fs::write(project_wait.join("a.yaml"), wait).unwrap();
    fs::create_dir(project.path().join("fx")).unwrap();
    let mut run = project.command(&["run", "waits", "--fixture", "fx"]);
    run.env("TMPDIR", project.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    until("it never started", || project.path().join("go").exists());
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(owner("mcp-assert-").len(), 1);
    let mut reap = project.command(&["reap", "--docker-host", "unix:///nonexistent.sock"]);
    reap.env("TMPDIR", project.path());
    let ran = project.finish(reap);
    assert_eq!(ran.code, 3, "an engine that was named: {}", ran.stderr);
    assert!(
        ran.stderr.contains("removed 1 temporary folder"),
        "{}",
        ran.stderr
    );
    // Any run that starts meanwhile ends what was abandoned: whose message says so is not known.
    let server = fs::read_to_string(project.path().join("pid")).unwrap();
    let line = fs::read(format!("/proc/{}/cmdline", server.trim())).unwrap_or_default();
    assert!(line.is_empty(), "{}", String::from_utf8_lossy(&line));
    assert!(!ran.stderr.contains("--isolation"), "{}", ran.stderr);
    assert!(owner("mcp-assert-").is_empty());
}

#[test]
fn servers_ignore_the_signals_that_we_were_started_ignoring_and_no_others() {
    let suite = r#"
name: looks
server: {command: sh, args: [-c, "grep SigIgn /proc/self/status >ignored; exec python3 server.py"]}
assert: {tool: do, args: {what: "pass"}, expect: {not_error: true}}
"#;
    let project = Project::with_suite(suite).file("server.py", OBEDIENT);
    for deaf in ["", "trap '' QUIT USR1; "] {
        // The test runner may ignore signals that the program handles.
        let from_a_shell = |words: &str| {
            let mut shell = Command::new("env");
            let script = format!("{deaf}exec {words}");
            shell.args(["--default-signal", "sh", "-c", &script]);
            shell.current_dir(project.path());
            project.finish(shell)
        };
        let ours = from_a_shell("grep SigIgn /proc/self/status").stdout;
        let ran = from_a_shell(&format!("'{BINARY}' run evals"));
        assert_eq!(ran.code, 0, "{deaf}\n{}{}", ran.stdout, ran.stderr);
        assert_eq!(project.read("ignored"), ours, "{deaf}");
    }
}

#[test]
fn how_a_server_ended_is_known_where_the_caller_does_not_want_to_know_of_its_children() {
    let suite = r#"
name: clean
server: {command: python3, args: [server.py]}
assert: {tool: do, args: {what: "pass"}, expect: {exit: {clean: true}}}
---
name: crash
server: {command: python3, args: [server.py]}
assert: {tool: do, args: {what: "os._exit(3)"}}
"#;
    let project = Project::with_suite(suite).file("server.py", OBEDIENT);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("trap '' CHLD; exec '{BINARY}' run evals")]);
    shell.current_dir(project.path());
    let ran = project.finish(shell);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("PASS  clean"), "{}", ran.stdout);
    assert!(ran.stdout.contains("exit code 3"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("SIGKILL"), "{}", ran.stdout);
}
