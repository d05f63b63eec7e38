//! The server's side of a failure: who it was, how it ended, what it wrote to stderr, which frames went over
//! the wire, and where the time went.

use crate::{
    failure::{Detail, Frames, Page, Times, Tone, stderr::Shown},
    record::{AttemptRecord, Evidence, FrameRecord, Phases, Record, Sender},
};
use mcp::observation::disruption::{BEFORE_SERVING, DisruptionKind, NEVER_SERVED, Phase};
use text::{CUT, count, head};

/// Phases shorter than this, in microseconds, are not worth a word.
const LEAST_SHOWN_US: u64 = 100;

/// Characters shown of a line of stderr.
const LONGEST_STDERR_LINE: usize = 300;

/// Frames shown when not all were asked for.
const LAST_FRAMES: usize = 6;

/// Frames shown of either end of what a server said that never came to serve: what it wrote instead may say why.
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

/// The lines of stderr that are shown, and how many there were.
fn show_stderr(page: &mut Page, evidence: &Evidence, most: usize) {
    let lines: Vec<&str> = evidence.stderr.trim_end().lines().collect();
    let shown = if never_served(evidence) && evidence.stderr_whole {
        Shown::of_a_start(&lines, most)
    } else {
        Shown::of(&lines, most)
    };
    let which = shown.named(&count_of(shown.count(), evidence));
    let title = match (evidence.stderr_whole, shown.count() == lines.len()) {
        (true, true) => "  stderr".to_owned(),
        (true, false) => format!("  stderr    {which} of {} lines", lines.len()),
        (false, _) => format!("  stderr    {which} of {} bytes", evidence.stderr_bytes),
    };
    page.push(Tone::Plain, title);
    push_stderr(page, &shown);
}

/// Whether the server ended of its own start, or within the handshake.
fn never_served(evidence: &Evidence) -> bool {
    let early = BEFORE_SERVING.map(Phase::word);
    let ended = NEVER_SERVED.map(DisruptionKind::word);
    evidence.disruption.as_ref().is_some_and(|disruption| {
        early.contains(&disruption.phase.as_str()) && ended.contains(&disruption.kind.as_str())
    })
}

fn push_stderr(page: &mut Page, shown: &Shown<'_>) {
    for line in shown.lines() {
        let line = head(&line, LONGEST_STDERR_LINE);
        page.push(Tone::Plain, format!("    | {line}"));
    }
}

/// The end of the stderr of an attempt before the last.
pub(super) fn show_stderr_of(page: &mut Page, attempt: &AttemptRecord, most: usize) {
    let lines: Vec<&str> = attempt.stderr.trim_end().lines().collect();
    if lines.is_empty() {
        return;
    }
    let shown = Shown::of(&lines, most);
    let title = if shown.count() == lines.len() && !attempt.stderr.starts_with(CUT) {
        "  stderr".to_owned()
    } else {
        let which = shown.named(&count(shown.count(), "line"));
        format!("  stderr    {which}")
    };
    page.push(Tone::Plain, title);
    push_stderr(page, &shown);
}

/// How many lines: as a number beside their sum, else in words.
fn count_of(shown: usize, evidence: &Evidence) -> String {
    if evidence.stderr_whole {
        shown.to_string()
    } else {
        count(shown, "line")
    }
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
    if !first.is_empty() && !last.is_empty() {
        let left_out = count(total - shown, "frame");
        page.push(Tone::Faint, format!("    … {left_out}"));
    }
    for frame in last {
        page.push(Tone::Faint, drawn(frame, length, detail.times));
    }
}

/// The frames that are shown where not all are asked for: the first ones, and behind what is left out the last.
fn ends(evidence: &Evidence) -> (&[FrameRecord], &[FrameRecord]) {
    let wire = &evidence.wire[..];
    if !never_served(evidence) {
        return (&[], &wire[wire.len().saturating_sub(LAST_FRAMES)..]);
    }
    if wire.len() <= 2 * FRAMES_OF_A_START {
        return (wire, &[]);
    }
    let last = wire.len() - FRAMES_OF_A_START;
    (&wire[..FRAMES_OF_A_START], &wire[last..])
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
    fn a_server_that_never_served_shows_how_it_began() {
        insta::assert_snapshot!(shown(crashed(Phase::Handshake)), @r#"
          the first and the last, 20 of 56 lines
          | error: no database
          |   --option-1
          |   --option-2
          |   --option-3
          |   --option-4
          |   --option-5
          |   --option-6
          | … 36 lines
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

    #[test]
    fn one_that_served_shows_what_came_last() {
        let text = shown(crashed(Phase::Subject));
        assert!(text.contains("the last 20 of 56 lines"), "{text}");
        assert!(text.contains("frames    6 of 21;"), "{text}");
        assert!(!text.contains("no database"), "{text}");
        assert!(!text.contains("initialize"), "{text}");
    }
}
