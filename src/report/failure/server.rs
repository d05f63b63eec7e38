//! The server's side of a failure: who it was, how it ended, what it wrote to stderr, which frames went over
//! the wire, and where the time went.

use crate::{
    report::{
        failure::{Detail, Frames, Page, Times, Tone, stderr::Shown},
        record::{AttemptRecord, Evidence, FrameRecord, Phases, Record, Sender},
    },
    words::text::{CUT, count, head},
};

/// Phases shorter than this, in microseconds, are not worth a word.
const LEAST_SHOWN_US: u64 = 100;

/// Characters shown of a line of stderr.
const LONGEST_STDERR_LINE: usize = 300;

/// Frames shown when not all were asked for.
const LAST_FRAMES: usize = 6;

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
    let shown = Shown::of(&lines, most);
    let which = shown.named(&count_of(shown.count(), evidence));
    let title = match (evidence.stderr_whole, shown.count() == lines.len()) {
        (true, true) => "  stderr".to_owned(),
        (true, false) => format!("  stderr    {which} of {} lines", lines.len()),
        (false, _) => format!("  stderr    {which} of {} bytes", evidence.stderr_bytes),
    };
    page.push(Tone::Plain, title);
    push_stderr(page, &shown);
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
    let (shown, length) = match detail.frames {
        Frames::All => (&evidence.wire[..], TRACED_FRAME_LENGTH),
        Frames::Last | Frames::None => (
            &evidence.wire[evidence.wire.len().saturating_sub(LAST_FRAMES)..],
            LAST_FRAME_LENGTH,
        ),
    };
    let title = if shown.len() == total {
        "  frames    -> sent, <- received".to_owned()
    } else {
        format!(
            "  frames    {} of {total}; -> sent, <- received",
            shown.len()
        )
    };
    page.push(Tone::Plain, title);
    for frame in shown {
        page.push(Tone::Faint, drawn(frame, length, detail.times));
    }
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
