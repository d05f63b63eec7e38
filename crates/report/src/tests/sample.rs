//! One run with every status, every part of an outcome, and text that breaks careless formats.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{
    Format, RunReport, Timing, Tool,
    recorder::{Keep, Recorder},
};
use check::outcome::{
    CallShown, EarlierAttempt, Failure, Outcome, Status, event::Event, verdict::Mismatch,
};
use mcp::{
    observation::{
        Timings,
        disruption::{Disruption, DisruptionKind, Phase},
        finding::{Finding, FindingCode},
        process::{Ending, Exit, ExitStatus, StderrTail},
    },
    protocol::frame::{Direction, Frame},
};
use suite::model::Case;
use text::{
    redact::Secrets,
    source::{Origin, SourceFile, Span},
};

/// Text that breaks terminals, XML, Markdown, workflow logs and readers' eyes.
pub const UGLY: &str = "\u{1b}[2J\u{1b}[31mred ]]> | `tick` ``` <b>&amp;</b> </details> <!-- @org/team #1 \
    ##[error]x\n::error::boom\n::add-mask::x\rlone\u{0}nul\u{202e}bidi\u{feff}\u{ffff}\u{fffe}\u{7f}\u{85}end";

/// A value that must never be seen.
pub const SECRET: &str = "s3cr3t-\"token\"";

const SUITE: &str = "name: greets
server:
  command: greeter
assert:
  tool: greet
  args: {name: Ann}
  expect:
    contains: [\"Hello, Ann\"]
    equals: |
      Hello, Ann!
      How are you?
      Bye.
    json_path:
      $.user.name: Ann
";

fn file(path: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile::new(path.to_owned(), SUITE.to_owned()))
}

fn origin(path: &str, part: &str) -> Origin {
    let start = SUITE.find(part).unwrap_or_default();
    Origin {
        file: file(path),
        span: Span {
            start,
            end: start + part.len(),
        },
    }
}

/// A passed outcome; tests change what they need.
pub fn outcome(path: &str, name: &str) -> Outcome {
    Outcome {
        case: Arc::new(Case {
            id: text::name(&format!("{path}::{name}")),
            name: name.to_owned(),
            origin: origin(path, SUITE),
            subject: "assert",
            tags: vec!["smoke".to_owned()],
        }),
        target: None,
        trial: 1,
        status: Status::Pass,
        container: None,
        skip_reason: None,
        failures: Vec::new(),
        disruption: None,
        reached: Phase::Subject,
        earlier: Vec::new(),
        duration: Duration::from_micros(12_345),
        timings: Timings {
            start: Duration::from_micros(1_200),
            handshake: Duration::from_micros(3_400),
            subject: Duration::from_micros(560),
            total: Duration::from_micros(12_345),
            ..Timings::default()
        },
        findings: Vec::new(),
        notes: Vec::new(),
        call: None,
        server: Some("greeter 1.2.3".to_owned()),
        revision: Some("2025-06-18".to_owned()),
        exit: None,
        stderr: StderrTail::default(),
        wire: Vec::new(),
        answer: None,
        shared_server: None,
        server_of: None,
    }
}

/// An outcome whose attempt an interrupt cut off.
pub fn interrupted(path: &str, name: &str) -> Outcome {
    Outcome {
        status: Status::Error,
        disruption: Some(Disruption::new(
            DisruptionKind::Interrupted,
            Phase::Subject,
            "interrupted",
        )),
        ..outcome(path, name)
    }
}

/// A mismatch at a part of the sample's suite.
pub fn failure(path: &str, part: &str, mismatch: Mismatch) -> Failure {
    Failure::new(&origin(path, part), mismatch)
}

/// A failed outcome whose every text is this.
pub fn failure_with(path: &str, name: &str, text: &str) -> Outcome {
    Outcome {
        status: Status::Fail,
        failures: vec![failure(
            path,
            "contains: [\"Hello, Ann\"]",
            Mismatch {
                key: "contains",
                wanted: text.to_owned(),
                seen: text.to_owned(),
                path: Some(text.to_owned()),
                expected: Some(text.to_owned()),
                actual: Some(format!("{text}\n{text}")),
                hint: Some(text.to_owned()),
                part: Vec::new(),
            },
        )],
        notes: vec![text.to_owned()],
        stderr: stderr(text),
        server: Some(text.to_owned()),
        ..outcome(path, name)
    }
}

fn stderr(text: &str) -> StderrTail {
    StderrTail {
        bytes: text.as_bytes().to_vec(),
        total_bytes: text.len() as u64,
        ..StderrTail::default()
    }
}

fn failed() -> Outcome {
    let path = "evals/greet.yaml";
    let wanted = "Hello, Ann!\nHow are you?\nBye.\n";
    Outcome {
        status: Status::Fail,
        failures: vec![
            failure(
                path,
                "contains: [\"Hello, Ann\"]",
                Mismatch {
                    key: "contains",
                    wanted: "the text to contain `Hello, Ann`".to_owned(),
                    seen: "it does not".to_owned(),
                    actual: Some("Hello, Bob!\nHow are you?\n".to_owned()),
                    hint: Some("the text holds `Hello, Bob`".to_owned()),
                    ..Mismatch::default()
                },
            ),
            failure(
                path,
                "equals: |\n      Hello, Ann!\n      How are you?\n      Bye.\n",
                Mismatch {
                    key: "equals",
                    wanted: "the text to be equal".to_owned(),
                    seen: "it differs from line 1 on".to_owned(),
                    expected: Some(wanted.to_owned()),
                    actual: Some("Hello, Bob!\nHow are you?\n".to_owned()),
                    ..Mismatch::default()
                },
            ),
            failure(
                path,
                "$.user.name: Ann",
                Mismatch {
                    key: "json_path",
                    wanted: "\"Ann\"".to_owned(),
                    seen: "another string is there".to_owned(),
                    path: Some("$.user.name".to_owned()),
                    expected: Some("\"Ann\"".to_owned()),
                    actual: Some("\"Anna\"".to_owned()),
                    ..Mismatch::default()
                },
            ),
        ],
        call: Some(CallShown {
            label: "tool `greet`".to_owned(),
            arguments: json!({"name": "Ann", "token": SECRET}),
            answer: Some("Hello, Bob!\nHow are you?\n".to_owned()),
        }),
        findings: vec![Finding {
            code: FindingCode::StdoutNoise,
            message: "a line that is no message: `debug`".to_owned(),
            frame: Some("debug".to_owned()),
            times: 3,
        }],
        notes: vec!["`TOKEN` in `env` is not set".to_owned()],
        stderr: stderr(&format!("warming up\nusing {SECRET}\n")),
        wire: frames(),
        ..outcome(path, "greets")
    }
}

fn frames() -> Vec<Frame> {
    let frame =
        |direction, at_us, value: Value| Frame::new(direction, at_us, value.to_string().as_bytes());
    vec![
        frame(
            Direction::Sent,
            1_300,
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"}),
        ),
        frame(
            Direction::Received,
            4_600,
            json!({"jsonrpc": "2.0", "id": 1, "result": {"note": UGLY}}),
        ),
        Frame::new(Direction::Received, 4_700, &b"x".repeat(10_000)),
    ]
}

fn crashed() -> Outcome {
    let lines: Vec<String> = (1..=30).map(|line| format!("trace {line}")).collect();
    Outcome {
        status: Status::Error,
        reached: Phase::Handshake,
        disruption: Some(
            Disruption::new(
                DisruptionKind::Crash,
                Phase::Handshake,
                "the server ended before it answered `initialize`",
            )
            .with_frame("{\"jsonrpc\":\"2.0\"")
            .with_help("start it by hand: `greeter`"),
        ),
        exit: Some(Exit {
            status: ExitStatus::Code(3),
            ending: Ending::ByItself,
            orphans: 1,
        }),
        stderr: stderr(&format!(
            "{}\nmissing API key FOO_TOKEN\n",
            lines.join("\n")
        )),
        wire: frames(),
        revision: None,
        ..outcome("evals/crash.yaml", "survives its start")
    }
}

fn ugly() -> Outcome {
    let path = "evals/ugly.yaml";
    Outcome {
        status: Status::Fail,
        failures: vec![failure(
            path,
            "contains: [\"Hello, Ann\"]",
            Mismatch {
                key: "contains",
                wanted: format!("the text to contain `{UGLY}`"),
                seen: format!("it is `{UGLY}`"),
                path: Some(UGLY.to_owned()),
                expected: Some(format!("{UGLY}\n{}", "a".repeat(10_000))),
                actual: Some(format!("{UGLY}\n{}", "b".repeat(10_000))),
                hint: Some(UGLY.to_owned()),
                part: Vec::new(),
            },
        )],
        call: Some(CallShown {
            label: format!("tool `{UGLY}`"),
            arguments: json!({"text": UGLY}),
            answer: None,
        }),
        notes: vec![UGLY.to_owned()],
        stderr: stderr(&format!("{UGLY}\n{SECRET}\n{}\n", "long ".repeat(2_000))),
        server: Some(UGLY.to_owned()),
        wire: frames(),
        ..outcome(path, UGLY)
    }
}

fn flaky() -> Outcome {
    Outcome {
        earlier: vec![EarlierAttempt {
            container: None,
            status: Status::Error,
            detail: "no answer to `initialize` within 30s".to_owned(),
            failures: Vec::new(),
            duration: Duration::from_secs(30),
            stderr: stderr("still loading\n"),
        }],
        ..outcome("evals/greet.yaml", "greets late")
    }
}

fn skipped() -> Outcome {
    Outcome {
        status: Status::Skip,
        skip_reason: Some("env var `GREETER_URL` is not set".to_owned()),
        duration: Duration::ZERO,
        timings: Timings::default(),
        server: None,
        revision: None,
        ..outcome("evals/greet.yaml", "greets over http")
    }
}

/// The outcomes of the sample, in plan order.
pub fn outcomes() -> Vec<Outcome> {
    vec![
        failed(),
        flaky(),
        skipped(),
        Outcome {
            findings: vec![Finding {
                code: FindingCode::Vacuous,
                message: "`contains: [\"\"]` holds for every text".to_owned(),
                frame: None,
                times: 1,
            }],
            ..outcome("evals/greet.yaml", "proves nothing")
        },
        crashed(),
        ugly(),
        Outcome {
            duration: Duration::from_millis(2_100),
            ..outcome("evals/slow.yaml", "takes its time")
        },
    ]
}

/// A report of these outcomes.
pub fn report(outcomes: Vec<Outcome>, trials: u32) -> RunReport {
    let mut secrets = Secrets::default();
    secrets.add(SECRET);
    let known = RunReport {
        tool: Tool {
            version: "9.9.9".to_owned(),
            sha256: None,
        },
        timing: Timing {
            started_unix_ms: 1_700_000_000_000,
            ..Timing::default()
        },
        trials,
        ..RunReport::default()
    };
    let mut recorder = Recorder::new(known, secrets, Keep::Red);
    recorder.apply(&Event::RunStarted {
        total: outcomes.len(),
        jobs: 4,
    });
    for (job, outcome) in outcomes.into_iter().enumerate() {
        recorder.apply(&Event::JobFinished {
            job,
            outcome: Box::new(outcome),
        });
    }
    recorder.apply(&Event::RunFinished);
    recorder.finish(Duration::from_millis(1_234))
}

/// The sample.
pub fn sample() -> RunReport {
    report(outcomes(), 1)
}

impl Format {
    /// The run in this format.
    pub fn render(self, report: &RunReport) -> String {
        self.text(report).expect("every report can be expressed")
    }
}
