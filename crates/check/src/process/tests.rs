use crate::sample::{hold, report, says};
use mcp::{
    observation::{
        Observation,
        process::{Ending, Exit, ExitStatus, StderrEnd, StderrTail},
    },
    script::pattern::Pattern,
};
use suite::model::expectation::{
    ExitWanted, Expectation, ProcessWanted, StderrWanted, TrafficWanted,
};

fn contains(text: &str) -> Expectation {
    Expectation::Process(ProcessWanted::Stderr(Box::new(StderrWanted {
        contains: vec![text.to_owned()],
        ..StderrWanted::default()
    })))
}

fn not_contains(text: &str) -> Expectation {
    Expectation::Process(ProcessWanted::Stderr(Box::new(StderrWanted {
        not_contains: vec![text.to_owned()],
        ..StderrWanted::default()
    })))
}

fn matches(pattern: &str) -> Expectation {
    Expectation::Process(ProcessWanted::Stderr(Box::new(StderrWanted {
        matches: vec![Pattern::plain(pattern)],
        ..StderrWanted::default()
    })))
}

fn wrote(text: &str, total_bytes: u64) -> Observation {
    Observation {
        stderr: StderrTail {
            bytes: text.as_bytes().to_vec(),
            total_bytes,
            end: StderrEnd::Heard,
        },
        ..says("done")
    }
}

/// Written to stderr before the connection to the container broke off.
fn began(text: &str) -> Observation {
    let mut seen = wrote(text, text.len() as u64);
    seen.stderr.end = StderrEnd::CutOff;
    seen
}

fn not(key: &'static str, inner: Expectation) -> Expectation {
    Expectation::Not(vec![(key, inner)])
}

#[test]
fn what_the_engine_did_not_tell_is_known_of_no_server() {
    let unknown = || ended(ExitStatus::Unknown, Ending::Killed, 0);
    let removed = || ended(ExitStatus::Removed, Ending::ByItself, 0);
    let (code, clean) = (
        || Expectation::Process(ProcessWanted::Exit(ExitWanted::Code(3))),
        |flag| Expectation::Process(ProcessWanted::Exit(ExitWanted::Clean(flag))),
    );
    insta::assert_snapshot!(report(&[
        (code(), unknown()),
        (not("exit", code()), unknown()),
        (clean(true), unknown()),
        (clean(false), unknown()),
        (not("exit", clean(true)), removed()),
        (Expectation::Traffic(TrafficWanted::Findings(Vec::new())), unknown()),
        (contains("late"), began("early")),
        (matches("late"), began("early")),
        (not_contains("late"), began("early")),
        (not("stderr", contains("late")), began("early")),
        (not_contains("early"), began("early")),
    ]), @"
    unknowable: how the server ended is not known: the container engine did not tell
    unknowable: how the server ended is not known: the container engine did not tell
    unknowable: how the server ended is not known: the container engine did not tell
    unknowable: how the server ended is not known: the container engine did not tell
    unknowable: how the server would have ended is not known: its container was removed by somebody else
    unknowable: how the server ended is not known: the container engine did not tell
    unknowable: stderr is not complete: the connection to the container engine broke off
    unknowable: stderr is not complete: the connection to the container engine broke off
    unknowable: stderr is not complete: the connection to the container engine broke off
    unknowable: stderr is not complete: the connection to the container engine broke off
    stderr: expected stderr not to contain `early`, it is there
    ");
    hold(&[(contains("early"), began("early"))]);
}

fn ended(status: ExitStatus, ending: Ending, orphans: usize) -> Observation {
    Observation {
        exit: Some(Exit {
            status,
            ending,
            orphans,
        }),
        ..says("done")
    }
}

#[test]
fn processes_as_wanted_hold() {
    hold(&[
        (contains("listening"), wrote("listening", 9)),
        (contains("listening"), wrote("listening", 900)),
        (not_contains("panic"), wrote("fine", 4)),
        (matches("^f.*e$"), wrote("fine", 4)),
        (
            Expectation::Process(ProcessWanted::Exit(ExitWanted::Code(3))),
            ended(ExitStatus::Code(3), Ending::StdinClosed, 0),
        ),
        (
            Expectation::Process(ProcessWanted::Exit(ExitWanted::Code(137))),
            ended(ExitStatus::LikeSignal(9), Ending::ByItself, 0),
        ),
        (
            Expectation::Process(ProcessWanted::Exit(ExitWanted::Code(143))),
            ended(ExitStatus::LikeSignal(15), Ending::Terminated, 0),
        ),
        (
            Expectation::Process(ProcessWanted::Exit(ExitWanted::Code(137))),
            ended(ExitStatus::OutOfMemory, Ending::ByItself, 0),
        ),
        (
            Expectation::Process(ProcessWanted::Exit(ExitWanted::Clean(true))),
            ended(ExitStatus::Code(0), Ending::StdinClosed, 0),
        ),
        (
            Expectation::Process(ProcessWanted::Exit(ExitWanted::Clean(false))),
            ended(ExitStatus::Code(0), Ending::StdinClosed, 1),
        ),
        (
            Expectation::Process(ProcessWanted::Exit(ExitWanted::Clean(false))),
            ended(ExitStatus::Code(0), Ending::ByItself, 0),
        ),
    ]);
}

#[test]
fn other_processes_are_explained() {
    insta::assert_snapshot!(report(&vec![
        (contains("listening"), wrote("Listening", 9)),
        (contains("listening"), wrote("", 0)),
        (contains("listening"), wrote("the end", 70_000)),
        (not_contains("panic"), wrote("a panic at", 10)),
        (not_contains("panic"), wrote("the end", 70_000)),
        (matches("^ok$"), wrote("OK", 2)),
        (Expectation::Process(ProcessWanted::Exit(ExitWanted::Code(0))), ended(ExitStatus::Signal(15), Ending::Terminated, 0)),
        (Expectation::Process(ProcessWanted::Exit(ExitWanted::Code(3))), ended(ExitStatus::LikeSignal(9), Ending::ByItself, 0)),
        (Expectation::Process(ProcessWanted::Exit(ExitWanted::Code(137))), ended(ExitStatus::Signal(9), Ending::ByItself, 0)),
        (Expectation::Process(ProcessWanted::Exit(ExitWanted::Code(143))), ended(ExitStatus::OutOfMemory, Ending::ByItself, 0)),
        (Expectation::Process(ProcessWanted::Exit(ExitWanted::Clean(true))), ended(ExitStatus::Code(0), Ending::StdinClosed, 2)),
        (Expectation::Process(ProcessWanted::Exit(ExitWanted::Clean(false))), ended(ExitStatus::Code(0), Ending::StdinClosed, 0)),
        (Expectation::Process(ProcessWanted::Exit(ExitWanted::Clean(true))), ended(ExitStatus::Code(0), Ending::ByItself, 0)),
        (Expectation::Process(ProcessWanted::Exit(ExitWanted::Clean(true))), says("x")),
    ]), @r"
    stderr: expected stderr to contain `listening`, it is not there
      hint: the text has it in another case or with other white space: `Listening`
    stderr: expected stderr to contain `listening`, the server wrote nothing there
    unknowable: the server wrote 70000 bytes to stderr, of which the last 7 are kept
    stderr: expected stderr not to contain `panic`, it is there
    unknowable: the server wrote 70000 bytes to stderr, of which the last 7 are kept
    stderr: expected stderr to match `^ok$`, it is not there
      hint: it would match in another case: with `(?i)` it finds `OK`
    exit: expected the server to end with exit code 0, it ended with SIGTERM, sent by us
      hint: a stdio server should end when its stdin is closed
    exit: expected the server to end with exit code 3, it ended with SIGKILL (exit code 137), by itself
    exit: expected the server to end with exit code 137, it ended with SIGKILL, sent by another process, or by the system
    exit: expected the server to end with exit code 143, it ended with SIGKILL: out of memory, by itself
    exit: expected the server to end cleanly (code 0 on the end of stdin, nothing left behind), it ended with exit code 0, after its stdin was closed; it left 2 processes behind
    exit: expected the server not to end cleanly, it ended with exit code 0, after its stdin was closed
    exit: expected the server to end cleanly (code 0 on the end of stdin, nothing left behind), it ended with exit code 0, by itself
    unknowable: how the server ended is not known
    ");
}
