//! Real processes: how they start, what they leave, how they end.

use std::{
    fs::Permissions,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::process::Pid;
use tokio::time::timeout;

use super::{CommandLine, Lookup, MARKER, Patience, Process, ProcessSpec, StartFailure, table};
use crate::owner;
use mcp::{
    observation::process::{Ending, Exit, ExitStatus},
    transport::{Connection, Inbound, Outgoing, Purpose, Unsent, clock::JobClock},
};
use suite::model::server::Inherit;
use text::environment::Environment;

/// Longer than anything here takes, shorter than anybody waits.
const LONG: Duration = Duration::from_secs(20);

/// For servers that do not listen.
const SHORT: Patience = Patience {
    closed: Duration::from_millis(50),
    at_work: Duration::ZERO,
    spinning: LONG,
    terminated: Duration::from_millis(50),
};

/// For servers that listen to SIGTERM alone, however long they are not given a processor.
const UNTIL_TERMINATED: Patience = Patience {
    terminated: LONG,
    ..SHORT
};

fn program(program: &str, args: &[&str]) -> ProcessSpec {
    ProcessSpec {
        line: CommandLine {
            program: program.to_owned(),
            args: args.iter().copied().map(str::to_owned).collect(),
            directory: Some(std::env::temp_dir()),
            inherit: Inherit::Nothing,
            ..CommandLine::default()
        },
        environment: Arc::new(path(std::env::var("PATH").unwrap())),
        lookup: Lookup::ServerFirst,
    }
}

/// An environment of which nothing but this PATH is known.
fn path(path: String) -> Environment {
    Environment {
        variables: [("PATH".to_owned(), path)].into(),
        ..Environment::default()
    }
}

async fn start(spec: &ProcessSpec) -> (Process, Connection) {
    Process::start(spec.clone(), JobClock::start())
        .await
        .unwrap()
}

async fn refusal(spec: &ProcessSpec) -> StartFailure {
    match Process::start(spec.clone(), JobClock::start()).await {
        Err(failure) => failure,
        Ok(_) => panic!("{} started", spec.line.program),
    }
}

async fn shell(script: &str) -> (Process, Connection) {
    start(&program("sh", &["-c", script])).await
}

async fn line(link: &mut Connection) -> String {
    loop {
        match timeout(LONG, link.next()).await.unwrap() {
            Inbound::Message { bytes, .. } => return String::from_utf8(bytes).unwrap(),
            Inbound::Sent(Ok(())) => {}
            other @ (Inbound::TooLong { .. }
            | Inbound::Noted(..)
            | Inbound::Unanswered { .. }
            | Inbound::Sent(Err(_))
            | Inbound::Closed) => {
                panic!("{other:?}")
            }
        }
    }
}

async fn send(link: &mut Connection, text: &str) {
    let message = Outgoing {
        bytes: text.as_bytes(),
        purpose: Purpose::Asks,
    };
    link.send(message).await.unwrap();
}

async fn close(process: &mut Process, link: &mut Connection, patience: Patience) -> Exit {
    process.ask();
    link.close(tokio::time::Instant::now()).await;
    let both = async { tokio::join!(link.drain(), process.end(patience)).1 };
    timeout(LONG, both).await.unwrap()
}

fn number(text: &str) -> Pid {
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

/// Whether a process is over, now or within a moment: somebody else may have to reap it.
fn is_over(pid: Pid) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < LONG {
        if table::status(pid).is_none_or(|status| status.ended) {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

#[tokio::test]
async fn code_and_signal_are_known_at_once_and_count_as_the_servers_own_end() {
    for (script, status) in [
        ("exit 7", ExitStatus::Code(7)),
        ("kill -SEGV $$", ExitStatus::Signal(11)),
    ] {
        let (mut process, mut link) = shell(script).await;
        let seen = timeout(LONG, process.exited()).await.unwrap();
        assert_eq!(seen, status);
        assert_eq!(process.status(), Some(status));
        assert_eq!(link.next().await, Inbound::Closed);
        let wanted = Exit {
            status,
            ending: Ending::ByItself,
            orphans: 0,
        };
        assert_eq!(close(&mut process, &mut link, SHORT).await, wanted);
        assert_eq!(process.end(SHORT).await, wanted, "asking again is harmless");
    }
}

#[tokio::test]
async fn what_a_server_writes_before_it_dies_is_heard() {
    let (mut process, mut link) = shell("echo first; echo oops >&2; printf last; exit 1").await;
    assert_eq!(process.exited().await, ExitStatus::Code(1));
    assert_eq!(line(&mut link).await, "first");
    assert_eq!(line(&mut link).await, "last");
    assert_eq!(link.next().await, Inbound::Closed);
    assert_eq!(process.stderr().text(), "oops\n");
    close(&mut process, &mut link, SHORT).await;
}

#[tokio::test]
async fn servers_are_ended_as_gently_as_they_allow() {
    let case = async |script: &str, patience, ending, status| {
        let (mut process, mut link) = shell(script).await;
        assert_eq!(line(&mut link).await, "ready");
        let exit = close(&mut process, &mut link, patience).await;
        assert_eq!((exit.ending, exit.status), (ending, status), "{script}");
        assert!(is_over(process.pid()), "{script}");
    };
    let gentle = Patience {
        closed: LONG,
        ..SHORT
    };
    let (mut process, mut link) = shell("echo ready; cat >/dev/null; echo bye").await;
    assert_eq!(line(&mut link).await, "ready");
    let exit = close(&mut process, &mut link, gentle).await;
    assert!(exit.is_clean(), "{exit:?}");
    assert_eq!(exit.ending, Ending::StdinClosed);
    assert_eq!(link.log().last_text().as_deref(), Some("bye"));
    case(
        "echo ready; exec sleep 300",
        UNTIL_TERMINATED,
        Ending::Terminated,
        ExitStatus::Signal(15),
    )
    .await;
    case(
        "trap '' TERM; echo ready; while :; do sleep 300; done",
        SHORT,
        Ending::Killed,
        ExitStatus::Signal(9),
    )
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_is_at_work_to_end_is_not_hurried_and_not_waited_for_without_end() {
    let case = async |work: &str, at_work, wanted| {
        let script = format!("echo ready; cat >/dev/null; {work}");
        let (mut process, mut link) = shell(&script).await;
        assert_eq!(line(&mut link).await, "ready");
        let patience = Patience {
            // Time to notice that stdin was closed, where all processors are busy.
            closed: Duration::from_millis(750),
            at_work,
            ..UNTIL_TERMINATED
        };
        let exit = close(&mut process, &mut link, patience).await;
        assert_eq!(exit.ending, wanted, "{script}");
    };
    let counting = "i=0; while [ $i -lt 1200000 ]; do i=$((i + 1)); done";
    case(counting, LONG, Ending::StdinClosed).await;
    let child = format!("sh -c '{counting}'; true");
    case(&child, LONG, Ending::StdinClosed).await;
    let short = Duration::from_millis(500);
    case("while :; do :; done", short, Ending::Terminated).await;
    case("sleep 300; true", LONG, Ending::Terminated).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_takes_a_processor_for_nothing_is_not_waited_for() {
    let case = async |after: &str, wanted: Ending| {
        let script = format!("import sys\nprint('ready', flush=True)\nsys.stdin.read()\n{after}");
        let (mut process, mut link) = start(&program("python3", &["-c", &script])).await;
        assert_eq!(line(&mut link).await, "ready");
        let patience = Patience {
            closed: LONG,
            at_work: LONG,
            spinning: Duration::from_millis(500),
            ..UNTIL_TERMINATED
        };
        let exit = close(&mut process, &mut link, patience).await;
        assert_eq!(exit.ending, wanted, "{after}");
        assert_eq!(
            process.parting().spun,
            wanted == Ending::Terminated,
            "{after}"
        );
    };
    case("while True: sys.stdin.readline()", Ending::Terminated).await;
    case("while True: pass", Ending::Terminated).await;
    let writes = "import os, time\nend = time.process_time() + 2\nfile = open(os.devnull, 'wb', 0)\n\
                  while time.process_time() < end: file.write(b'x')\n";
    case(writes, Ending::StdinClosed).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_works_on_when_its_first_thread_has_ended() {
    let script = "import ctypes, os, sys, threading, time\n\
                  def work():\n    \
                      while time.process_time() < end: pass\n    \
                      os._exit(0)\n\
                  print('ready', flush=True)\n\
                  sys.stdin.read()\n\
                  end = time.process_time() + 1.5\n\
                  threading.Thread(target=work).start()\n\
                  ctypes.CDLL(None).pthread_exit(None)\n";
    let (mut process, mut link) = start(&program("python3", &["-c", script])).await;
    assert_eq!(line(&mut link).await, "ready");
    let patience = Patience {
        closed: Duration::from_millis(750),
        at_work: LONG,
        ..UNTIL_TERMINATED
    };
    let exit = close(&mut process, &mut link, patience).await;
    assert_eq!(exit.ending, Ending::StdinClosed);
    assert!(exit.is_clean(), "{exit:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_outlives_a_server_may_finish_its_work_but_not_without_end() {
    let case = async |helper: &str, at_work, orphans| {
        let script = format!("echo ready; cat >/dev/null; sh -c '{helper}' >/dev/null 2>&1 &");
        let (mut process, mut link) = shell(&script).await;
        assert_eq!(line(&mut link).await, "ready");
        let patience = Patience {
            closed: LONG,
            at_work,
            ..SHORT
        };
        let exit = close(&mut process, &mut link, patience).await;
        assert_eq!(
            (exit.ending, exit.orphans),
            (Ending::StdinClosed, orphans),
            "{helper}"
        );
    };
    let counting = "i=0; while [ $i -lt 1200000 ]; do i=$((i + 1)); done";
    case(counting, LONG, 0).await;
    case(
        &format!("setsid -w sh -c \"{}\"; true", counting.replace('$', "\\$")),
        LONG,
        0,
    )
    .await;
    case("while :; do :; done", Duration::from_millis(300), 1).await;
}

#[tokio::test]
async fn the_server_gets_its_arguments_directory_and_only_its_environment() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let mut spec = program("env", &[]);
    spec.line.directory = Some(directory.clone());
    spec.line.env = vec![("GREETING".to_owned(), "hello there".to_owned())];
    let (mut process, mut link) = start(&spec).await;
    let mut seen = Vec::new();
    while let Inbound::Message { bytes, .. } = link.next().await {
        seen.push(String::from_utf8(bytes).unwrap());
    }
    close(&mut process, &mut link, SHORT).await;
    seen.sort();
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert_eq!(seen[0], "GREETING=hello there");
    assert!(seen[1].starts_with(&format!("{MARKER}=")), "{seen:?}");
    assert!(seen[2].starts_with(&format!("{}=", owner::VARIABLE)));

    let mut spec = program(
        "sh",
        &["-c", "printf '%s\\n' \"$0\" \"$1\"; pwd", "a b", "c\"d"],
    );
    spec.line.directory = Some(directory.clone());
    let (mut process, mut link) = start(&spec).await;
    assert_eq!(line(&mut link).await, "a b");
    assert_eq!(line(&mut link).await, "c\"d");
    assert_eq!(Path::new(&line(&mut link).await), directory);
    close(&mut process, &mut link, SHORT).await;
}

#[tokio::test]
async fn stderr_never_blocks_a_server_and_its_end_is_kept() {
    for size in [70_000_u64, 50_000_000] {
        let script = format!(
            "head -c {size} /dev/zero | tr '\\0' x >&2; printf END >&2; echo done; cat >/dev/null"
        );
        let (mut process, mut link) = shell(&script).await;
        assert_eq!(line(&mut link).await, "done");
        let tail = process.stderr();
        assert_eq!(tail.total_bytes, size + 3);
        assert_eq!(tail.bytes.len(), 64 * 1024);
        assert!(tail.text().ends_with("xxEND"));
        let patience = Patience {
            closed: LONG,
            ..SHORT
        };
        assert!(close(&mut process, &mut link, patience).await.is_clean());
    }
}

#[tokio::test]
async fn lines_arrive_whole_however_they_are_written() {
    let script =
        "printf '{\"a\"'; sleep 0.02; printf ':1}\\n{\"b\":'; sleep 0.02; printf '2}\\r\\n'";
    let (mut process, mut link) = shell(script).await;
    assert_eq!(line(&mut link).await, "{\"a\":1}");
    assert_eq!(line(&mut link).await, "{\"b\":2}");
    assert_eq!(link.next().await, Inbound::Closed);
    close(&mut process, &mut link, SHORT).await;
}

#[tokio::test]
async fn long_frames_pass_and_a_server_that_does_not_read_blocks_nobody() {
    let (mut process, mut link) = start(&program("cat", &[])).await;
    let long = "x".repeat(3_000_000);
    send(&mut link, &long).await;
    assert_eq!(line(&mut link).await.len(), long.len());
    assert!(
        close(&mut process, &mut link, Patience::default())
            .await
            .is_clean()
    );

    let (mut process, mut link) = start(&program("sleep", &["300"])).await;
    send(&mut link, &long).await;
    assert_eq!(link.unsent(), Unsent::Asks, "nobody reads");
    let exit = close(&mut process, &mut link, UNTIL_TERMINATED).await;
    assert_eq!(exit.ending, Ending::Terminated);
}

#[tokio::test]
async fn a_stream_held_open_by_a_left_over_process_ends_soon_and_so_does_that_process() {
    let (mut process, mut link) = shell("sleep 300 & echo $!; exit 3").await;
    let left = number(&line(&mut link).await);
    let closed = timeout(LONG, link.next()).await.unwrap();
    assert_eq!(closed, Inbound::Closed);
    let exit = close(&mut process, &mut link, SHORT).await;
    assert_eq!(exit.status, ExitStatus::Code(3));
    assert_eq!(exit.orphans, 1);
    assert!(is_over(left));
}

#[tokio::test]
async fn a_server_that_left_its_group_is_told_to_end_all_the_same() {
    let leaves = "setpgrp(0, getpgrp(getppid())); $SIG{TERM} = sub { exit 5 }; $| = 1; \
                  print \"$$\\n\"; sleep 1 while 1";
    let (mut process, mut link) = start(&program("perl", &["-e", leaves])).await;
    number(&line(&mut link).await);
    let exit = close(&mut process, &mut link, UNTIL_TERMINATED).await;
    assert_eq!(exit.status, ExitStatus::Code(5));
    assert_eq!(exit.ending, Ending::Terminated);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_that_left_its_group_and_session_is_ended_too() {
    let daemon = "trap '' TERM; echo $$; exec sleep 300 </dev/null >/dev/null 2>&1";
    let script = format!(
        "(setsid sh -c \"{}\" &); cat >/dev/null",
        daemon.replace('$', "\\$")
    );
    let (mut process, mut link) = shell(&script).await;
    let left = number(&line(&mut link).await);
    let patience = Patience {
        closed: LONG,
        ..SHORT
    };
    let exit = close(&mut process, &mut link, patience).await;
    assert_eq!((exit.status, exit.orphans), (ExitStatus::Code(0), 1));
    assert!(is_over(left), "it ignores SIGTERM, not SIGKILL");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_daemon_of_another_job_is_left_alone() {
    let script = "(setsid sh -c 'echo $$; exec sleep 300 </dev/null >/dev/null 2>&1' &); \
                  cat >/dev/null";
    let (mut first, mut first_link) = shell(script).await;
    let daemon = number(&line(&mut first_link).await);
    let (mut second, mut second_link) = shell("cat >/dev/null").await;
    let exit = close(&mut second, &mut second_link, Patience::default()).await;
    assert!(exit.is_clean(), "{exit:?}");
    assert!(table::status(daemon).is_some_and(|status| !status.ended));
    let exit = close(&mut first, &mut first_link, Patience::default()).await;
    assert_eq!(exit.orphans, 1);
    assert!(is_over(daemon));
}

#[tokio::test]
async fn dropping_a_process_kills_its_group() {
    let (process, mut link) = shell("sleep 300 & echo $!; wait").await;
    let child = number(&line(&mut link).await);
    let pid = process.pid();
    drop(process);
    assert!(is_over(pid));
    assert!(is_over(child));
}

/// Starts each program from a folder of doubtful ones and compares what is said, the folder as `DIR`.
async fn refusals(cases: &[(&str, &str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, mode) in [
        ("plain", "echo hi\n", 0o644),
        ("script", "#!/bin/sh\n", 0o644),
        ("format", "no program\n", 0o755),
        ("lost", "#!/no/such/thing -x\n", 0o755),
        ("dos", "#!/bin/sh\r\nexit\r\n", 0o755),
        ("local", "#!/bin/sh\n", 0o755),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    for (name, message, help) in cases {
        let mut spec = program(name, &[]);
        spec.line.directory = Some(folder.path().to_owned());
        let failure = refusal(&spec).await;
        let shown = |text: &str| text.replace(&folder.path().display().to_string(), "DIR");
        assert_eq!(shown(&failure.to_string()), *message);
        assert_eq!(shown(failure.help().unwrap_or_default()), *help);
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_with_the_likely_mistake() {
    refusals(&[
        (
            "./server",
            "program `./server` was not found in `DIR`",
            "a relative path starts at `DIR`; check that the server was built, and `cwd`",
        ),
        (
            "/no/such/server",
            "program `/no/such/server` was not found",
            "check that it is installed, or was built, at this very path",
        ),
        (
            "local",
            "program `local` was not found on the PATH",
            "a file of that name is in the server's directory: write `./local`",
        ),
        (
            "sh -c exit",
            "program `sh -c exit` was not found on the PATH",
            "`command` is one program; write `command: sh` and the rest under `args`",
        ),
        (
            "cd x && ./server",
            "program `cd x && ./server` was not found in `DIR`",
            "no shell is involved; write `command: sh` and `args: [-c, …]`",
        ),
        (
            "",
            "program `` was not found on the PATH",
            "`command` is empty; name the server's program",
        ),
        (
            "slepp",
            "program `slepp` was not found on the PATH",
            "install it, or write its whole path",
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_path_of_windows_is_said_with_what_to_write() {
    refusals(&[
        (
            r"C:\Program Files\nodejs\node.exe",
            r"program `C:\Program Files\nodejs\node.exe` was not found on the PATH",
            "it is a path of Windows; write `command: node` and its arguments under `args`",
        ),
        (
            "D:/tools/Uvx.EXE server",
            "program `D:/tools/Uvx.EXE server` was not found in `DIR`",
            "it is a path of Windows; write `command: uvx` and its arguments under `args`",
        ),
        (
            "npx.cmd",
            "program `npx.cmd` was not found on the PATH",
            "it is the name of a program of Windows; write `command: npx` and its arguments under `args`",
        ),
        (
            "C:\u{2029}rogram Files\nodejs",
            "program `C:\u{2029}rogram Files\nodejs` was not found on the PATH",
            "inside \"…\" a backslash begins an escape of YAML, such as `\\n`; it looks like a path of Windows: write the \
             program's name, such as `command: node`",
        ),
        (
            "cmd",
            "program `cmd` was not found on the PATH",
            "`cmd` is the shell of Windows; write the program that it is to run as `command`",
        ),
    ])
    .await;
}

#[tokio::test]
async fn the_shell_of_windows_is_said_with_what_it_is_to_run() {
    for (shell, args) in [
        ("cmd", &["/c", "npx", "-y", "x"][..]),
        ("cmd.exe", &["/d", "/s", "/c", "npx", "-y", "x"]),
        (
            "powershell.exe",
            &["-NoProfile", "-Command", "npx", "-y", "x"],
        ),
    ] {
        let refused = refusal(&program(shell, args)).await;
        let help = refused.help().unwrap();
        assert!(
            help.ends_with(" is the shell of Windows; write `command: npx` and `args: [-y, x]`"),
            "{help}"
        );
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_run_is_said_with_the_reason() {
    refusals(&[
        (
            "./plain",
            "`DIR/./plain` cannot be executed: it is not marked as executable",
            "`chmod +x DIR/./plain`",
        ),
        (
            "./script",
            "`DIR/./script` cannot be executed: it is not marked as executable",
            "`chmod +x DIR/./script`, or start it with `command: /bin/sh` and `DIR/./script` as \
             first of `args`",
        ),
        (
            "./",
            "`DIR/./` cannot be executed: it is a directory",
            "name the program inside it",
        ),
        (
            "./format",
            "`DIR/./format` cannot be run here: neither a program for this system nor a script with \
             a `#!` line",
            "a script needs a first line such as `#!/bin/sh`, a program must be built for this machine",
        ),
        (
            "./lost",
            "`DIR/./lost` cannot be run here: its interpreter `/no/such/thing` does not exist",
            "install `/no/such/thing`, or change the script's first line",
        ),
        (
            "./dos",
            "`DIR/./dos` cannot be run here: its `#!` line ends with a carriage return",
            "save the script with Unix line ends",
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_missing_directory_is_no_missing_program() {
    let mut spec = program("sh", &[]);
    spec.line.directory = Some(PathBuf::from("/no/such/directory"));
    assert_eq!(
        refusal(&spec).await.to_string(),
        "the server's directory `/no/such/directory` does not exist"
    );
}

#[tokio::test]
async fn a_program_is_found_on_the_servers_path_and_then_on_the_callers() {
    let [theirs, ours] = ["theirs", "ours"].map(|says| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("one-of-two");
        std::fs::write(&file, format!("#!/bin/sh\necho {says}\n")).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        folder
    });
    let own = |folder: &Path| ("PATH".to_owned(), folder.display().to_string());
    let nowhere = own(Path::new("/nowhere"));
    let case = async |env: &[(String, String)], lookup: Lookup, says: &str| {
        let mut spec = program("one-of-two", &[]);
        spec.environment = Arc::new(path(ours.path().display().to_string()));
        spec.line.env = env.to_vec();
        spec.lookup = lookup;
        let (mut process, mut link) = start(&spec).await;
        assert_eq!(line(&mut link).await, says, "{env:?} {lookup:?}");
        close(&mut process, &mut link, SHORT).await;
    };
    let theirs = own(theirs.path());
    case(&[], Lookup::ServerFirst, "ours").await;
    case(std::slice::from_ref(&nowhere), Lookup::ServerFirst, "ours").await;
    case(std::slice::from_ref(&theirs), Lookup::CallerOnly, "ours").await;
    // The last one of a name counts.
    case(&[nowhere, theirs], Lookup::ServerFirst, "theirs").await;
}

#[tokio::test]
async fn a_start_in_our_own_directory_is_like_one_elsewhere() {
    let script = "pwd; echo \"$HOME|$GIVEN|$TWICE|$MCP_ASSERT_JOB\"; kill -PIPE $$; echo alive";
    let environment = Arc::new(Environment {
        variables: [("HOME", "/home/a"), ("GIVEN", "theirs"), ("=C:", "odd")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..Environment::default()
    });
    let here = std::env::current_dir().unwrap();
    let elsewhere = std::env::temp_dir().canonicalize().unwrap();
    for directory in [here, elsewhere] {
        let mut spec = program("sh", &["-c", script]);
        spec.environment = Arc::clone(&environment);
        spec.line.directory = Some(directory.clone());
        spec.line.inherit = Inherit::All;
        spec.line.env = [("GIVEN", "own"), ("TWICE", "first"), ("TWICE", "last")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let (mut process, mut link) = start(&spec).await;
        assert_eq!(line(&mut link).await, directory.to_str().unwrap());
        let told = line(&mut link).await;
        assert!(told.starts_with("/home/a|own|last|"), "{told}");
        assert!(told.len() > "/home/a|own|last|".len(), "{told}");
        // A signal that we ignore ourselves ends it.
        let exit = process.end(Patience::default()).await;
        assert_eq!(exit.status, ExitStatus::Signal(13));
        let table = table::status(process.pid());
        assert!(table.is_none(), "it is reaped: {table:?}");
    }
}

#[tokio::test]
async fn what_no_system_call_takes_is_refused_with_its_reason() {
    for directory in [std::env::current_dir().unwrap(), std::env::temp_dir()] {
        let mut spec = program("sh", &["-c", "true"]);
        spec.line.directory = Some(directory);
        spec.line.env = vec![("ODD".to_owned(), "a\0b".to_owned())];
        let refusal = refusal(&spec).await.to_string();
        assert!(refusal.contains("nul byte"), "{refusal}");
    }
}
