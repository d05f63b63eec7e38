//! What the answer to one probe says of a tool.

use std::{sync::LazyLock, time::Duration};

use regex::Regex;
use serde_json::Value;

use mcp::observation::{
    Observation,
    answer::{Body, FrameAnswer, FrameAnswers, Reply},
    disruption::DisruptionKind,
};
use text::{credential::SecretKeys, environment::Environment, head};

/// The shortest value of a variable that is looked for in answers, in bytes: shorter ones stand there by chance.
pub(super) const SHORTEST_SECRET: usize = 8;

/// JSON-RPC's code for arguments that the server refuses.
const INVALID_PARAMS: i64 = -32602;

/// The most characters of an answer that stand in a report.
const LONGEST_DETAIL: usize = 200;

/// How a probe went, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// The server ended.
    Crash,
    /// The server could not be started any more.
    Unreachable,
    /// No answer in time.
    Timeout,
    /// An answer that no client can use.
    Violation,
    /// An answer with a stack trace, or with a secret of ours.
    Exposed,
    /// Another JSON-RPC error.
    ProtocolError,
    /// A result that says that the tool failed.
    ToolError,
    /// The arguments were refused with -32602.
    Rejected,
    /// A usable result.
    Healthy,
    /// Not called.
    Skipped,
}

impl Class {
    /// The word in reports.
    pub(crate) fn word(self) -> &'static str {
        self.words().0
    }

    /// Whether the server behaved. A refusal and a tool error are right answers to arguments that nobody chose.
    pub(crate) fn is_healthy(self) -> bool {
        matches!(self, Self::Healthy | Self::ToolError | Self::Rejected)
    }

    /// Whether the next probe needs a fresh server.
    pub(crate) fn spoils_the_server(self) -> bool {
        self <= Self::Violation
    }

    /// The word in reports, and the status and the code of the Go tool's report; a tool that was skipped has no code.
    pub(crate) fn words(self) -> (&'static str, &'static str, Option<&'static str>) {
        match self {
            Self::Crash => ("crash", "crash", Some("E201")),
            Self::Unreachable => ("unreachable", "crash", Some("E203")),
            Self::Timeout => ("timeout", "timeout", Some("E202")),
            Self::Violation => ("violation", "crash", Some("E201")),
            Self::Exposed => ("exposed", "crash", Some("E201")),
            Self::ProtocolError => ("protocol_error", "crash", Some("E201")),
            Self::ToolError => ("tool_error", "healthy", Some("E000")),
            Self::Rejected => ("rejected", "healthy", Some("E000")),
            Self::Healthy => ("healthy", "healthy", Some("E000")),
            Self::Skipped => ("skipped", "skipped", None),
        }
    }
}

/// What a probe showed.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// How it went.
    pub(crate) class: Class,
    /// The code of a JSON-RPC error.
    pub(crate) rpc_code: Option<i64>,
    /// In a line what was answered, or what went wrong.
    pub(crate) detail: String,
    /// Whether a result had any content.
    pub(crate) has_content: bool,
    /// How long the answer took.
    pub(crate) took: Duration,
}

impl Seen {
    /// Of a probe that was not answered, or not made.
    pub(crate) fn nothing(class: Class, detail: &str) -> Self {
        Self {
            class,
            rpc_code: None,
            detail: detail.to_owned(),
            has_content: false,
            took: Duration::ZERO,
        }
    }
}

/// Judges what came of a probe.
pub(crate) fn judge(observation: &Observation, environment: &Environment) -> Seen {
    let Some(answer) = &observation.answer else {
        let disruption = observation.disruption.as_ref();
        let class = disruption.map_or(Class::Violation, |it| of_disruption(it.kind));
        return Seen {
            took: observation.timings.total,
            ..Seen::nothing(class, disruption.map_or("", |it| &it.message))
        };
    };
    let ((class, rpc_code), raw, shown) = match &answer.body {
        Body::Result(reply) => {
            let class = match &reply.frames {
                Some(frames) => of_frames(frames),
                None if reply.is_error => (Class::ToolError, None),
                None => (Class::Healthy, None),
            };
            (class, &reply.raw, &reply.text)
        }
        Body::ProtocolError(error) => (of_code(error.code), &error.raw, &error.message),
    };
    let has_content = |it: &Reply| !it.content.is_empty() || it.structured().is_some();
    let exposed = exposed(&raw.to_string(), environment);
    Seen {
        class: exposed.as_ref().map_or(class, |_| Class::Exposed),
        rpc_code,
        detail: exposed.unwrap_or_else(|| head(shown.trim(), LONGEST_DETAIL)),
        has_content: answer.reply().is_some_and(has_content),
        took: answer.took,
    }
}

/// How one frame that was sent as it was written was answered.
fn of_frames(frames: &FrameAnswers) -> (Class, Option<i64>) {
    match frames.answers.first().map(|answer| &answer.kind) {
        Some(FrameAnswer::Success) => (Class::Healthy, None),
        Some(FrameAnswer::ToolError) => (Class::ToolError, None),
        Some(FrameAnswer::ProtocolError(error)) => of_code(error.code),
        Some(FrameAnswer::Unclear(_)) => (Class::Violation, None),
        None => (Class::Timeout, None),
    }
}

fn of_code(code: Option<i64>) -> (Class, Option<i64>) {
    let is_refusal = code == Some(INVALID_PARAMS);
    let class = if is_refusal {
        Class::Rejected
    } else {
        Class::ProtocolError
    };
    (class, code)
}

fn of_disruption(kind: DisruptionKind) -> Class {
    match kind {
        DisruptionKind::Timeout | DisruptionKind::Interrupted => Class::Timeout,
        DisruptionKind::Crash => Class::Crash,
        DisruptionKind::Start | DisruptionKind::Place | DisruptionKind::Unsupported => {
            Class::Unreachable
        }
        DisruptionKind::Violation
        | DisruptionKind::Transport
        | DisruptionKind::Invalid
        | DisruptionKind::ProtocolError
        | DisruptionKind::Step => Class::Violation,
    }
}

/// Why an answer tells what it should not: two frames of a stack trace, or the value of a variable of ours whose name
/// says that it is a secret.
fn exposed(text: &str, environment: &Environment) -> Option<String> {
    // In JSON line ends are written as `\n`.
    let lines = || text.split("\\n").flat_map(str::lines);
    for frame in FRAMES.iter() {
        let mut found = lines().filter(|line| frame.is_match(line));
        if let (Some(first), Some(_)) = (found.next(), found.next()) {
            let first = head(first.trim(), LONGEST_DETAIL);
            return Some(format!("a stack trace: {first}"));
        }
    }
    let keys = SecretKeys::default();
    let held = environment.inherited().find_map(|(name, value)| {
        let (name, value) = (name.to_str()?, value.to_str()?);
        // These hold folders.
        let is_folder = matches!(name, "PWD" | "OLDPWD");
        let is_secret =
            !is_folder && value.len() >= SHORTEST_SECRET && keys.holds(&name.to_lowercase());
        let quoted = Value::from(value).to_string();
        (is_secret && text.contains(quoted.trim_matches('"'))).then_some(name)
    });
    held.map(|name| format!("the value of the variable `{name}`"))
}

/// Lines of stack traces, by language.
static FRAMES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r#"File \\*"[^"]+\\*", line \d+"#,
        r"^\s*at .+ \(?(?:file|node|/|[A-Za-z]:\\).*:\d+:\d+\)?",
        r"^(?:\s|\\t)*at [\w.$<>]+\([\w$]+\.(?:java|kt|scala):\d+\)",
        r"^\s*(?:\\t)?/?\S+\.go:\d+ \+0x",
        r"^\s*at \S+\.rs:\d+(?::\d+)?",
        r"^\s*at .+ in .+:line \d+",
        r"^#\d+ .+\.php\(\d+\)",
        r"\S+\.rb:\d+:in [`']",
    ]
    .into_iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FRAMES, exposed};
    use text::environment::Environment;

    #[test]
    fn two_frames_are_a_trace_and_words_about_one_are_not() {
        assert_eq!(FRAMES.len(), 8);
        let environment = Environment::default();
        let found = |text: &str| {
            let answer = json!({"content": [{"type": "text", "text": text}]}).to_string();
            exposed(&answer, &environment).is_some()
        };
        for trace in [
            "Traceback:\n  File \"/a/b.py\", line 3, in f\n  File \"/a/c.py\", line 9, in g",
            "Error: x\n    at f (/a/b.js:1:2)\n    at g (node:internal/x:3:4)",
            "x\n\tat a.b.C(C.java:1)\n\tat a.b.D(D.java:2)",
            "goroutine 1 [running]:\nmain.f()\n\t/a/b.go:1 +0x1d\nmain.g()\n\t/a/c.go:2 +0x2e",
        ] {
            assert!(found(trace), "{trace}");
        }
        for harmless in [
            "stack trace",
            "see File \"a.py\", line 3",
            "at noon (in the park) at one",
            "    at f (/a/b.js:1:2)",
        ] {
            assert!(!found(harmless), "{harmless}");
        }
    }
}
