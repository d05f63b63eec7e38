//! The server's side of a failure: who it was, how it ended, what it wrote to stderr, which frames went over
//! the wire, and where the time went.

use crate::{
    failure::{Detail, Frames, Page, Times, Tone},
    record::{AttemptRecord, Evidence, FrameRecord, Phases, Record, Sender},
};
use mcp::observation::disruption::Phase;
use text::{count, head};

/// Phases shorter than this, in microseconds, are not worth a word.
const LEAST_SHOWN_US: u64 = 100;

/// Characters shown of a line of stderr.
const LONGEST_STDERR_LINE: usize = 300;

/// Frames shown when not all were asked for.
const LAST_FRAMES: usize = 6;

/// Frames shown of the beginning, and of the end, where the server never served.
const FRAMES_OF_A_START: usize = 4;

/// Characters shown of one of them.
const LAST_FRAME_LENGTH: usize = 300;

/// Characters shown of a frame when all were asked for.
const TRACED_FRAME_LENGTH: usize = 4_000;

/// Adds who the server was, how it ended, its stderr, and the phases.
pub(super) fn show(page: &mut Page, record: &Record, evidence: &Evidence, detail: &Detail) {
    if let Some(server) = &record.server {
        let revision = record
            .revision
            .as_ref()
            .map(|revision| format!(", revision {revision}"))
            .unwrap_or_default();
        page.field(Tone::Faint, "server", &format!("{server}{revision}"));
    }
    if let Some(exit) = &evidence.exit {
        page.field(Tone::Plain, "ended", exit);
    }
    let spent = spent(record.phases);
    match detail.times {
        Times::Shown if !spent.is_empty() => page.field(
            Tone::Faint,
            "phases",
            &format!("{spent}; reached {}", evidence.phase),
        ),
        Times::Shown | Times::Hidden => page.field(Tone::Faint, "reached", &evidence.phase),
    }
    let started = record.phases.start > 0;
    if !evidence.stderr.trim_end().is_empty() {
        show_stderr(page, evidence, detail.stderr_lines);
    } else if evidence.disruption.is_some() && started {
        page.field(Tone::Faint, "stderr", "nothing was written");
    }
}

/// The time of each phase that took long enough to be told.
fn spent(phases: Phases) -> String {
    let Phases {
        place,
        start,
        handshake,
        setup,
        subject,
    } = phases;
    let shown: Vec<String> = [
        ("place", place),
        ("start", start),
        ("handshake", handshake),
        ("setup", setup),
        ("subject", subject),
    ]
    .into_iter()
    .filter(|(_, micros)| *micros >= LEAST_SHOWN_US)
    .map(|(name, micros)| format!("{name} {}", milliseconds(micros)))
    .collect();
    shown.join(", ")
}

/// `1.2 ms`.
fn milliseconds(micros: u64) -> String {
    format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100)
}

/// The stderr of the last attempt. Where all of it is known its first lines are shown too: what ended a server often stands
/// above a usage or a trace.
fn show_stderr(page: &mut Page, evidence: &Evidence, most: usize) {
    let total = format!("{} bytes", evidence.stderr_bytes);
    let first = if evidence.stderr_whole { most / 4 } else { 0 };
    let total = (!evidence.stderr_whole).then_some(total);
    push_stderr(page, &evidence.stderr, (first, most), total);
}

/// The stderr of an attempt before the last.
pub(super) fn show_stderr_of(page: &mut Page, attempt: &AttemptRecord, most: usize) {
    if !attempt.stderr.trim_end().is_empty() {
        push_stderr(page, &attempt.stderr, (0, most), None);
    }
}

/// At most so many lines: the first ones, and the last.
fn push_stderr(
    page: &mut Page,
    stderr: &str,
    (first, most): (usize, usize),
    total: Option<String>,
) {
    let lines: Vec<&str> = stderr.trim_end().lines().collect();
    let left_out = lines.len().saturating_sub(most);
    let shown = lines.len() - left_out;
    let title = match total {
        Some(total) => format!("  stderr    {} of {total}", count(shown, "line")),
        None if left_out > 0 => format!("  stderr    {shown} of {}", count(lines.len(), "line")),
        None => "  stderr".to_owned(),
    };
    page.push(Tone::Plain, title);
    let first = if left_out > 0 { first } else { 0 };
    let push = |page: &mut Page, lines: &[&str]| {
        for line in lines {
            let line = head(line, LONGEST_STDERR_LINE);
            page.push(Tone::Plain, format!("    | {line}"));
        }
    };
    push(page, &lines[..first]);
    if first > 0 {
        page.push(Tone::Plain, format!("    … {}", count(left_out, "line")));
    }
    push(page, &lines[first + left_out..]);
}

/// Adds the exchange.
pub(super) fn show_frames(page: &mut Page, evidence: &Evidence, detail: &Detail) {
    if evidence.wire.is_empty() {
        return;
    }
    let total = evidence.wire.len().saturating_add(evidence.wire_left_out);
    let (first, last, length) = match detail.frames {
        Frames::All => (evidence.wire.as_slice(), &[][..], TRACED_FRAME_LENGTH),
        Frames::Last | Frames::None => {
            let (first, last) = ends(evidence);
            (first, last, LAST_FRAME_LENGTH)
        }
    };
    let shown = first.len() + last.len();
    let title = if shown == total {
        "  frames    -> sent, <- received".to_owned()
    } else {
        format!("  frames    {shown} of {total}; -> sent, <- received")
    };
    page.push(Tone::Plain, title);
    for frame in first {
        page.push(Tone::Faint, drawn(frame, length, detail.times));
    }
    if !first.is_empty() && total > shown {
        let left_out = count(total - shown, "frame");
        page.push(Tone::Faint, format!("    … {left_out}"));
    }
    for frame in last {
        page.push(Tone::Faint, drawn(frame, length, detail.times));
    }
}

/// The last frames; and the first ones of a server that never served, because what it wrote there may say why.
fn ends(evidence: &Evidence) -> (&[FrameRecord], &[FrameRecord]) {
    let wire = &evidence.wire[..];
    let early = [Phase::Start, Phase::Handshake].map(Phase::word);
    let disruption = evidence.disruption.as_ref();
    let never_served = disruption.is_some_and(|it| early.contains(&it.phase.as_str()));
    if !never_served {
        return (&[], &wire[wire.len().saturating_sub(LAST_FRAMES)..]);
    }
    let (first, rest) = wire.split_at(wire.len().min(FRAMES_OF_A_START));
    (first, &rest[rest.len().saturating_sub(FRAMES_OF_A_START)..])
}

/// One frame on one line.
fn drawn(frame: &FrameRecord, length: usize, times: Times) -> String {
    let arrow = match frame.sender {
        Sender::Client => "->",
        Sender::Server => "<-",
    };
    let text = head(&frame.text.replace('\n', " ⏎ "), length);
    match times {
        Times::Shown => format!("    {:>10} {arrow} {text}", milliseconds(frame.at_us)),
        Times::Hidden => format!("    {arrow} {text}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{
        failure::{Detail, text},
        sample::{outcome, report},
    };
    use check::outcome::{Outcome, Status};
    use mcp::{
        observation::{
            disruption::{Disruption, DisruptionKind, Phase},
            process::StderrTail,
        },
        protocol::frame::{Direction, Frame},
    };

    fn crashed(phase: Phase) -> Outcome {
        let said = (1..=20).map(|line| {
            let text = format!("usage {line}");
            Frame::new(Direction::Received, 1_000 + line, text.as_bytes())
        });
        let asked = json!({"method": "initialize"}).to_string();
        let asked = Frame::new(Direction::Sent, 1_000, asked.as_bytes());
        let mut stderr = "error: no database\n".to_owned();
        stderr.extend((1..=55).map(|line| format!("  --option-{line}\n")));
        Outcome {
            status: Status::Error,
            reached: phase,
            disruption: Some(Disruption::new(DisruptionKind::Crash, phase, "it ended")),
            wire: [asked].into_iter().chain(said).collect(),
            stderr: StderrTail {
                total_bytes: stderr.len() as u64,
                bytes: stderr.into_bytes(),
                ..StderrTail::default()
            },
            ..outcome("a.yaml", "a")
        }
    }

    fn shown(outcome: Outcome) -> String {
        let report = report(vec![outcome], 1);
        let text = text(&report.records[0], &Detail::usual(1));
        let (_, shown) = text.split_once("  stderr").unwrap();
        shown.to_owned()
    }

    #[test]
    fn the_first_and_the_last_lines_are_shown_of_much() {
        insta::assert_snapshot!(shown(crashed(Phase::Handshake)), @r#"
          20 of 56 lines
          | error: no database
          |   --option-1
          |   --option-2
          |   --option-3
          |   --option-4
          … 36 lines
          |   --option-41
          |   --option-42
          |   --option-43
          |   --option-44
          |   --option-45
          |   --option-46
          |   --option-47
          |   --option-48
          |   --option-49
          |   --option-50
          |   --option-51
          |   --option-52
          |   --option-53
          |   --option-54
          |   --option-55
        frames    8 of 21; -> sent, <- received
              1.0 ms -> {"method":"initialize"}
              1.0 ms <- usage 1
              1.0 ms <- usage 2
              1.0 ms <- usage 3
          … 13 frames
              1.0 ms <- usage 17
              1.0 ms <- usage 18
              1.0 ms <- usage 19
              1.0 ms <- usage 20
        "#);
    }
}
