//! `stderr` and `exit`: the server as a process.

use crate::{
    ask::{self, Ask},
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    text::near,
    traits::Traits,
};
use mcp::observation::{
    Observation,
    process::{Ending, StderrEnd, StderrTail},
};
use suite::{
    model::expectation::{ExitWanted, ProcessWanted, StderrWanted},
    written::Part,
};

pub(super) fn check(wanted: &ProcessWanted, seen: &Observation) -> Verdict {
    match wanted {
        ProcessWanted::Stderr(wanted) => stderr(wanted, seen),
        ProcessWanted::Exit(wanted) => exit(*wanted, seen),
    }
}

pub(super) fn ask(wanted: &ProcessWanted) -> Ask {
    match wanted {
        ProcessWanted::Stderr(wanted) => ask_stderr(wanted),
        ProcessWanted::Exit(wanted) => ask_exit(*wanted),
    }
}

pub(super) fn traits(wanted: &ProcessWanted) -> Traits {
    match wanted {
        ProcessWanted::Stderr(wanted) => Traits {
            holds_of_failure: wanted.wants_none(),
            ..Traits::PLAIN
        },
        ProcessWanted::Exit(_) => Traits::PLAIN,
    }
}

/// `stderr`, as a whole.
fn ask_stderr(wanted: &StderrWanted) -> Ask {
    let clauses = |verb: &'static str, all: &[String]| -> Vec<String> {
        all.iter().map(|it| ask_part(verb, it).wanted).collect()
    };
    let patterns: Vec<String> = wanted
        .matches
        .iter()
        .map(|it| it.written().to_owned())
        .collect();
    let clauses = [
        clauses(CONTAIN, &wanted.contains),
        clauses(NOT_CONTAIN, &wanted.not_contains),
        clauses(MATCH, &patterns),
    ];
    Ask::new("stderr", phrase::joined(&clauses.concat(), "and"))
}

const CONTAIN: &str = "to contain";
const NOT_CONTAIN: &str = "not to contain";
const MATCH: &str = "to match";

fn ask_part(verb: &str, what: &str) -> Ask {
    Ask::new("stderr", format!("stderr {verb} {}", phrase::quoted(what)))
}

/// `stderr`: checks the kept end of what the server wrote.
fn stderr(wanted: &StderrWanted, seen: &Observation) -> Verdict {
    let tail = &seen.stderr;
    let text = tail.text();
    let contains = each("contains", &wanted.contains, |words| {
        if text.contains(words.as_str()) {
            return Verdict::Held;
        }
        let near = near::in_text(words, &text);
        absent(&ask_part(CONTAIN, words), &text, tail, near)
    });
    let matches = each("matches", &wanted.matches, |pattern| {
        if pattern.is_match(&text) {
            return Verdict::Held;
        }
        let near = near::of_pattern(pattern, &text);
        absent(&ask_part(MATCH, pattern.written()), &text, tail, near)
    });
    let not_contains = each("not_contains", &wanted.not_contains, |words| {
        match text.find(words.as_str()) {
            Some(at) => Verdict::Missed(vec![Mismatch {
                actual: Some(phrase::cut(&text, at)),
                ..ask_part(NOT_CONTAIN, words).miss("it is there")
            }]),
            None => unheard(tail).unwrap_or(Verdict::Held),
        }
    });
    ask::all(contains.chain(matches).chain(not_contains))
}

/// The verdicts on the items of a list.
fn each<'w, T>(
    key: &'static str,
    items: &'w [T],
    check: impl Fn(&'w T) -> Verdict,
) -> impl Iterator<Item = Verdict> {
    let parts = items.iter().enumerate();
    parts.map(move |(index, item)| {
        let verdict = check(item).within(Part::Item(index));
        verdict.within(Part::Member(key))
    })
}

/// The verdict when something is not in what is known of stderr.
fn absent(ask: &Ask, text: &str, tail: &StderrTail, near: Option<near::Near>) -> Verdict {
    if let Some(unheard) = unheard(tail) {
        return unheard;
    }
    let at = near.as_ref().map_or(0, |near| near.at);
    Verdict::Missed(vec![Mismatch {
        actual: (!text.is_empty()).then(|| phrase::cut(text, at)),
        hint: near.map(|near| near.hint),
        ..ask.miss(if text.is_empty() {
            "the server wrote nothing there"
        } else {
            "it is not there"
        })
    }])
}

/// The verdict on what is not in what is known of stderr, where that is not all of it.
fn unheard(tail: &StderrTail) -> Option<Verdict> {
    let reason = match tail.end {
        StderrEnd::CutOff => {
            "stderr is not complete: the connection to the container engine broke off".to_owned()
        }
        StderrEnd::Heard if tail.is_whole() => return None,
        StderrEnd::Heard => format!(
            "the server wrote {} bytes to stderr, of which the last {} are kept",
            tail.total_bytes,
            tail.bytes.len()
        ),
    };
    Some(Verdict::Unknowable(reason))
}

/// `exit`
fn ask_exit(wanted: ExitWanted) -> Ask {
    Ask::new(
        "exit",
        match wanted {
            ExitWanted::Code(code) => format!("the server to end with exit code {code}"),
            ExitWanted::Clean(true) => {
                "the server to end cleanly (code 0 on the end of stdin, nothing left behind)"
                    .to_owned()
            }
            ExitWanted::Clean(false) => "the server not to end cleanly".to_owned(),
        },
    )
}

/// `exit`: how the server ended after the session was closed.
fn exit(wanted: ExitWanted, seen: &Observation) -> Verdict {
    let Some(exit) = &seen.exit else {
        return Verdict::Unknowable("how the server ended is not known".to_owned());
    };
    if let Some(reason) = exit.status.unknown() {
        return Verdict::Unknowable(reason.to_owned());
    }
    let holds = match wanted {
        ExitWanted::Code(code) => exit.status.may_be_code(code),
        ExitWanted::Clean(flag) => exit.is_clean() == flag,
    };
    if holds {
        return Verdict::Held;
    }
    let hint = match exit.ending {
        Ending::Terminated | Ending::Killed => {
            Some("a stdio server should end when its stdin is closed".to_owned())
        }
        Ending::ByItself | Ending::StdinClosed | Ending::Asked => None,
    };
    Verdict::Missed(vec![Mismatch {
        hint,
        ..ask_exit(wanted).miss(format!("it ended with {exit}"))
    }])
}

#[cfg(test)]
mod tests;
