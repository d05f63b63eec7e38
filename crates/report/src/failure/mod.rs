//! The one text of a red outcome: what was expected where, what came instead, and what the server did besides.
//! The terminal colours its lines by their [`Tone`]; JUnit, JSON and Markdown join them. Bounded, whatever was
//! sent. Every line that shows text of a server begins with something of ours, so that no log viewer takes it
//! for a command.

mod comparison;
mod server;

use crate::{
    cleaner::one_line,
    record::{
        CallRecord, DisruptionRecord, Evidence, FindingRecord, FrameRecord, MismatchRecord, Record,
    },
};
use check::outcome::Status;
use mcp::observation::disruption::Phase;
use text::{LINE_SHOWN, LINES_SHOWN, count, head};

/// Mismatches shown of one outcome.
const MOST_MISMATCHES: usize = 20;

/// Bytes of the whole text, frames of `--trace` aside.
const LONGEST_BYTES: usize = 32 * 1024;

/// What a line is, for colouring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Status, name and place.
    Title,
    /// The message that matters most.
    Message,
    /// Text without weight.
    Plain,
    /// A line of the suite.
    Source,
    /// What points into the suite.
    Caret,
    /// What was wanted.
    Expected,
    /// What came.
    Actual,
    /// What to try.
    Hint,
    /// Circumstances.
    Faint,
}

/// One line of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub tone: Tone,
    /// The line, without its end.
    pub text: String,
}

/// Which frames are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// None, for places that have no room.
    None,
    /// The last ones, where the outcome could not be observed.
    Last,
    /// All, for `--trace`.
    All,
}

/// Whether measured times are shown; without them two runs with the same verdicts give the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// They are.
    Shown,
    /// They are not.
    Hidden,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// Trials of the run, for the name.
    pub trials: u32,
    /// Which frames.
    pub frames: Frames,
    /// Whether times.
    pub times: Times,
    /// Lines of stderr.
    pub stderr_lines: usize,
}

impl Detail {
    /// The default detail.
    pub fn usual(trials: u32) -> Self {
        Self {
            trials,
            frames: Frames::Last,
            times: Times::Shown,
            stderr_lines: 20,
        }
    }
}

/// The text, without a final line end; empty for an outcome that is not red, unless its frames were asked for.
pub fn text(record: &Record, detail: &Detail) -> String {
    let lines = lines(record, detail);
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    texts.join("\n")
}

/// The same text without its title, for a diff that colours what was expected and what came.
pub fn diff(lines: &[Line]) -> String {
    let untitled = lines.iter().filter(|line| line.tone != Tone::Title);
    let marked = untitled.map(|line| {
        let sign = if line.tone == Tone::Expected {
            "-"
        } else if line.tone == Tone::Actual {
            "+"
        } else {
            return line.text.clone();
        };
        // The sign in front takes the place of the one behind the bar.
        let text = line.text.strip_prefix(' ').unwrap_or(&line.text);
        let bar = format!("   | {sign} ");
        let text = text
            .strip_prefix(&bar)
            .map_or(text.to_owned(), |it| format!("   |   {it}"));
        format!("{sign}{text}")
    });
    let marked: Vec<String> = marked.collect();
    marked.join("\n")
}

/// The lines of the text; none for an outcome that is not red, unless its frames were asked for.
pub fn lines(record: &Record, detail: &Detail) -> Vec<Line> {
    let mut page = Page::default();
    let Some(evidence) = &record.evidence else {
        return page.lines;
    };
    let asked_for = detail.frames == Frames::All && !evidence.wire.is_empty();
    let frames = frames_shown(record, evidence, detail);
    if !record.status.is_red() && !asked_for {
        return page.lines;
    }
    page.push(
        if record.status.is_red() {
            Tone::Title
        } else {
            Tone::Message
        },
        format!(
            "{} {} ({}:{})",
            record.status.word(),
            record.display_name(detail.trials),
            record.file,
            record.line
        ),
    );
    if let Some(disruption) = &evidence.disruption {
        let below = match frames {
            Frames::None => &[],
            Frames::Last | Frames::All => &evidence.wire[..],
        };
        show_disruption(&mut page, disruption, below);
    }
    for (index, mismatch) in evidence.mismatches.iter().take(MOST_MISMATCHES).enumerate() {
        if index > 0 || evidence.disruption.is_some() {
            page.push(Tone::Plain, String::new());
        }
        let before = index
            .checked_sub(1)
            .map(|index| &evidence.mismatches[index]);
        show_mismatch(&mut page, &record.file, mismatch, before);
    }
    if let Some(more) = evidence.mismatches.len().checked_sub(MOST_MISMATCHES + 1) {
        page.push(
            Tone::Message,
            format!("  and {} that did not hold", count(more + 1, "expectation")),
        );
    }
    if evidence.mismatches.len() > 1 {
        page.push(Tone::Plain, String::new());
    }
    show_circumstances(&mut page, record, evidence);
    server::show(&mut page, record, evidence, detail);
    page.close();
    if frames != Frames::None {
        server::show_frames(&mut page, evidence, detail);
    }
    page.lines
}

/// What failed before a pass, for a run that this makes red; none for an outcome that is red itself.
pub fn earlier(record: &Record, detail: &Detail) -> Vec<Line> {
    let mut page = Page::default();
    if !record.is_flaky() {
        return page.lines;
    }
    let name = record.display_name(detail.trials);
    let title = format!("FLAKY {name} ({}:{})", record.file, record.line);
    page.push(Tone::Title, title);
    for (index, attempt) in record.attempts.iter().enumerate() {
        let (number, status) = (index + 1, attempt.status.word());
        let label = format!("  attempt {number}: {status} {}", one_line(&attempt.detail));
        page.push(Tone::Message, head(&label, LINE_SHOWN));
        for mismatch in attempt.mismatches.iter().take(MOST_MISMATCHES) {
            show_mismatch(&mut page, &record.file, mismatch, None);
        }
        server::show_stderr_of(&mut page, attempt, detail.stderr_lines);
    }
    page.close();
    page.lines
}

/// Which frames are shown: the last ones only for errors that are not the user's own.
fn frames_shown(record: &Record, evidence: &Evidence, detail: &Detail) -> Frames {
    let is_ours = |kind: &str| ["invalid", "unsupported"].contains(&kind);
    let ours = evidence
        .disruption
        .as_ref()
        .is_some_and(|disruption| is_ours(&disruption.kind));
    match detail.frames {
        Frames::Last if ours || record.status != Status::Error => Frames::None,
        shown @ (Frames::None | Frames::Last | Frames::All) => shown,
    }
}

/// Why the outcome could not be observed.
fn show_disruption(page: &mut Page, disruption: &DisruptionRecord, below: &[FrameRecord]) {
    let step = disruption
        .step
        .map(|step| {
            let part = if disruption.phase == Phase::Setup.word() {
                "setup step"
            } else {
                "step"
            };
            format!(", {part} {}", step + 1)
        })
        .unwrap_or_default();
    let message = disruption.message.trim_end();
    let (first, more) = message.split_once('\n').unwrap_or((message, ""));
    // A suite that is invalid never came to a phase, and `start` says its own.
    let silent = ["invalid", "unsupported", &disruption.phase].contains(&disruption.kind.as_str());
    let phase = if silent {
        String::new()
    } else {
        format!(" during {}", disruption.phase)
    };
    page.push(
        Tone::Message,
        format!(
            "  {}{phase}{step}: {}",
            disruption.kind,
            head(&one_line(first), LINE_SHOWN)
        ),
    );
    page.quote(Tone::Plain, more);
    if let Some(help) = &disruption.help {
        page.field(Tone::Hint, "help", help);
    }
    // Where no answer came the frame is only the last one heard, which stands among those shown below.
    let last_heard = ["crash", "timeout", "transport"].contains(&disruption.kind.as_str());
    match &disruption.frame {
        Some(frame) if last_heard && below.iter().any(|shown| shown.text == *frame) => {}
        Some(frame) if last_heard => page.field(Tone::Plain, "heard", frame),
        Some(frame) => page.field(Tone::Actual, "frame", frame),
        None => {}
    }
}

/// One expectation that did not hold; a value of several lines that the one before shows is not repeated.
fn show_mismatch(
    page: &mut Page,
    file: &str,
    mismatch: &MismatchRecord,
    before: Option<&MismatchRecord>,
) {
    let file = mismatch.file.as_deref().unwrap_or(file);
    let before = before.filter(|it| it.expected.is_none() && it.step == mismatch.step);
    let above = before.and_then(|it| it.actual.as_ref());
    let step = mismatch
        .step
        .as_ref()
        .map(|step| format!(" of {step}"))
        .unwrap_or_default();
    page.push(
        Tone::Message,
        format!(
            "  {}{step} does not hold ({file}:{}:{})",
            mismatch.key, mismatch.line, mismatch.column
        ),
    );
    for line in &mismatch.excerpt {
        let tone = if line.trim_end().ends_with('^') && line.trim_start().starts_with('|') {
            Tone::Caret
        } else {
            Tone::Source
        };
        page.push(tone, format!("    {}", one_line(line)));
    }
    page.field(Tone::Expected, "expected", &mismatch.wanted);
    page.field(Tone::Actual, "but", &mismatch.seen);
    if let Some(path) = &mismatch.path {
        page.field(Tone::Plain, "at", path);
    }
    match (&mismatch.expected, &mismatch.actual) {
        (Some(expected), Some(actual)) => comparison::show(page, expected, actual),
        (Some(expected), None) => page.field(Tone::Expected, "value", expected),
        // A short value stands in the sentence already.
        (None, Some(actual)) if tells(&mismatch.seen, actual) => {}
        (None, Some(actual)) if above == Some(actual) && actual.contains('\n') => {
            page.field(Tone::Actual, "actual", "as above");
        }
        (None, Some(actual)) => page.field(Tone::Actual, "actual", actual),
        (None, None) => {}
    }
    if let Some(hint) = &mismatch.hint {
        page.field(Tone::Hint, "hint", hint);
    }
    if let Some(call) = &mismatch.call {
        show_call(page, call, mismatch.actual.is_some());
    }
}

/// Whether a sentence already quotes a value: in backticks, or at its beginning as the schema library does.
fn tells(sentence: &str, value: &str) -> bool {
    let at_front = || {
        let rest = sentence.strip_prefix(value);
        rest.is_some_and(|rest| rest.starts_with(' '))
            && serde_json::from_str::<serde_json::Value>(value).is_ok()
    };
    sentence.contains(&format!("`{value}`")) || at_front()
}

/// Adds a call with its arguments, and its answer unless a mismatch shows it.
fn show_call(page: &mut Page, call: &CallRecord, is_told: bool) {
    let arguments = call
        .arguments
        .as_ref()
        .map(|arguments| format!(" with {arguments}"))
        .unwrap_or_default();
    page.field(Tone::Plain, "called", &format!("{}{arguments}", call.label));
    if let (false, Some(answer)) = (is_told, &call.answer) {
        page.field(Tone::Plain, "answer", answer);
    }
}

/// Adds the call, findings, notes, earlier attempts and a shared server.
fn show_circumstances(page: &mut Page, record: &Record, evidence: &Evidence) {
    let of_steps = evidence.mismatches.iter().all(|it| it.step.is_some());
    let elsewhere = of_steps && !evidence.mismatches.is_empty() && evidence.disruption.is_none();
    // Beside mismatches of steps alone, the subject's call would be taken for theirs.
    if let Some(call) = evidence.call.as_ref().filter(|_| !elsewhere) {
        let told = |it: &MismatchRecord| it.step.is_none() && it.actual.is_some();
        show_call(page, call, evidence.mismatches.iter().any(told));
    }
    let mut findings: Vec<&FindingRecord> = record.findings.iter().collect();
    findings.sort_by_key(|finding| finding.rank());
    for finding in findings.iter().take(MOST_MISMATCHES) {
        let times = match finding.times {
            0 | 1 => String::new(),
            times => format!(" ({times} times)"),
        };
        page.field(
            Tone::Plain,
            "finding",
            &format!(
                "{} {}: {}{times}",
                finding.severity, finding.code, finding.message
            ),
        );
    }
    if let Some(more) = findings.len().checked_sub(MOST_MISMATCHES + 1) {
        page.field(Tone::Plain, "finding", &format!("and {} more", more + 1));
    }
    for note in &evidence.notes {
        page.field(Tone::Plain, "note", note);
    }
    for (index, attempt) in record.attempts.iter().enumerate() {
        page.field(
            Tone::Faint,
            "attempt",
            &format!(
                "{}: {} {}",
                index + 1,
                attempt.status.word(),
                attempt.detail
            ),
        );
    }
    if let Some(shared) = &evidence.shared_server {
        page.field(
            Tone::Plain,
            "shared",
            &format!("its server had served {shared}"),
        );
    }
}

/// The lines so far, and what did not fit.
#[derive(Debug, Default)]
struct Page {
    lines: Vec<Line>,
    bytes: usize,
    left_out: usize,
}

impl Page {
    /// Adds a line of our making.
    fn push(&mut self, tone: Tone, text: String) {
        if self.bytes > LONGEST_BYTES {
            self.left_out += 1;
            return;
        }
        self.bytes += text.len() + 1;
        self.lines.push(Line { tone, text });
    }

    /// Adds a labelled text; one of several lines stands quoted below its label.
    fn field(&mut self, tone: Tone, label: &str, text: &str) {
        let text = text.trim_end_matches('\n');
        if text.contains('\n') {
            self.push(tone, format!("  {label}"));
            self.quote(tone, text);
        } else {
            let shown = if text.is_empty() { "(empty)" } else { text };
            self.push(
                tone,
                format!("  {label:<9} {}", head(&one_line(shown), LINE_SHOWN)),
            );
        }
    }

    /// Adds a text of several lines, each behind a bar.
    fn quote(&mut self, tone: Tone, text: &str) {
        let total = text.lines().count();
        for line in text.lines().take(LINES_SHOWN) {
            self.push(tone, format!("    | {}", head(line, LINE_SHOWN)));
        }
        if total > LINES_SHOWN {
            let more = count(total - LINES_SHOWN, "more line");
            self.push(Tone::Faint, format!("    … ({more})"));
        }
    }

    /// Ends the bounded part with a note about the lines that did not fit.
    fn close(&mut self) {
        self.bytes = 0;
        if self.left_out > 0 {
            let more = count(std::mem::take(&mut self.left_out), "more line");
            self.push(Tone::Faint, format!("  … ({more})"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tells;

    #[test]
    fn a_value_is_told_only_where_it_stands_as_itself() {
        let case = |sentence, value, wanted| {
            assert_eq!(tells(sentence, value), wanted, "{sentence}: {value}");
        };
        case("\"5\" was expected", "5", false);
        case("15 was expected", "5", false);
        case("5 is not of type \"string\"", "5", true);
        case("55 is not of type \"string\"", "5", false);
        case("found the number `5`", "5", true);
        case("found the string `\"5\"`", "5", false);
        case("the text is `half done`", "half done", true);
        case("the text does not contain it", "text", false);
        case("text is missing", "text", false);
    }
}
