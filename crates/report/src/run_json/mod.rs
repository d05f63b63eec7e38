//! The whole run as one file, `run.json`: what a shard hands on and a later report is made of. Sorted keys, one
//! assertion a line, a digest over all before its end; read strictly, because it may come from strangers.

mod read;

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

pub use self::read::{Unreadable, parse};

use crate::{End, FileFormat, RunReport, cleaner::cut, record::Record};
use text::{CUT, count, digest::sha256, workflow::neutral};

/// What stands in `format`.
const FORMAT: &str = "mcp-assert/run";

/// The version of the format.
const VERSION: u64 = 1;

/// The longest file, in bytes.
pub const LONGEST_FILE: usize = 64 * 1024 * 1024;

/// The beginning of the last member; unique, because texts contain no raw line ends.
const END_MARK: &str = "\n\"end\":";

/// The last member.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndFacts {
    /// The digest of all before it.
    sha256: String,
    /// How the run ended.
    state: End,
}

/// Reads the last member; its digest is checked on the text.
pub(crate) fn state_of<'de, D: Deserializer<'de>>(end: D) -> Result<End, D::Error> {
    EndFacts::deserialize(end).map(|end| end.state)
}

/// The part of a run that is planned before it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFacts {
    /// The digest of the plan: of the file that a divided run shares, else of the jobs that were to run. Absent in what an
    /// older version wrote of a run that was not divided.
    pub digest: Option<String>,
    /// The digest of the suites that were divided; absent when a shard ended before it read them, and in what an older
    /// version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suites: Option<String>,
    /// The shard, from 1; 0 when the run is whole.
    pub shard: u32,
    /// How many shards there are.
    pub of: u32,
    /// The ids that were to run, when the run is a shard.
    pub ids: Vec<String>,
    /// How long they were expected to take, one after another, in microseconds; 0 when nothing was expected.
    pub planned_us: u64,
}

/// One shard of a merged run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardFacts {
    /// Its number, from 1.
    pub shard: u32,
    /// The attempt that counts, from 1; 0 when there is none.
    pub attempt: u64,
    /// How long it was expected to take, in microseconds.
    pub planned_us: u64,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
}

/// Bytes kept of each text when the file would be too long: each step is tried until it fits.
const SHORTER_TEXTS: [usize; 4] = [8 * 1024, 1024, 128, LEAST_TEXT];

/// The last of them: the note about the cut needs as much.
const LEAST_TEXT: usize = 48;

/// The run as `run.json`, with a final line end.
pub fn render(report: &RunReport) -> String {
    let mut text = "{\n\"assertions\":[".to_owned();
    for (index, record) in report.records.iter().enumerate() {
        text += if index == 0 { "\n" } else { ",\n" };
        text += &sorted(record);
    }
    text += "\n]";
    let format = FileFormat {
        name: FORMAT.to_owned(),
        version: VERSION,
    };
    // Does not contain the records.
    let mut rest = serde_json::to_value(report).unwrap_or(Value::Null);
    rest["format"] = json!(format);
    rest.sort_all_objects();
    for (name, value) in rest.as_object().into_iter().flatten() {
        text.extend([",\n\"", name, "\":", &neutral::json(value.to_string())]);
    }
    text.push(',');
    let end = ending(text.as_bytes(), report.end);
    text + &end
}

/// The last member, behind this text, and what closes the file.
fn ending(before: &[u8], state: End) -> String {
    let sha256 = sha256(before);
    format!("{END_MARK}{}\n}}\n", sorted(&EndFacts { sha256, state }))
}

/// Shortens the records until the file fits, so that every report of a stored run equals the one made from its file.
pub fn fit(report: &mut RunReport) {
    fit_within(report, LONGEST_FILE);
}

fn fit_within(report: &mut RunReport, longest: usize) {
    if render(report).len() <= longest {
        return;
    }
    let whole = std::mem::take(&mut report.records);
    for most in SHORTER_TEXTS {
        report.records = whole.iter().map(|it| shorter(it, most)).collect();
        if render(report).len() <= longest {
            return;
        }
    }
}

/// A record with texts of at most `most` bytes and, for low limits, fewer frames and expectations.
fn shorter(record: &Record, most: usize) -> Record {
    let number = if most > 1024 {
        usize::MAX
    } else if most > LEAST_TEXT {
        5
    } else {
        1
    };
    let mut record = record.clone();
    let mut left_out = 0;
    if let Some(evidence) = &mut record.evidence {
        evidence.stderr_whole &= evidence.stderr.len() <= most;
        let frames = evidence.wire.len().saturating_sub(number);
        evidence.wire.drain(..frames);
        evidence.wire_left_out = evidence.wire_left_out.saturating_add(frames);
        evidence.notes.truncate(number);
        left_out = evidence.mismatches.len().saturating_sub(number);
        evidence.mismatches.truncate(number);
    }
    for attempt in &mut record.attempts {
        attempt.mismatches.truncate(number);
    }
    with_shorter_texts(&mut record.evidence, most);
    with_shorter_texts(&mut record.attempts, most);
    with_shorter_texts(&mut record.findings, most);
    with_shorter_texts(&mut record.reason, most);
    with_shorter_texts(&mut record.server, most);
    if let (1.., Some(evidence)) = (left_out, &mut record.evidence) {
        let what = count(left_out, "more expectation");
        let note = format!("{what} did not hold and had to be left out of run.json");
        evidence.notes.push(note);
    }
    record
}

/// Cuts each text of a part of a record.
fn with_shorter_texts<T: Serialize + DeserializeOwned>(part: &mut T, most: usize) {
    let shorter = serde_json::to_value(&*part).and_then(|mut value| {
        cut_texts(&mut value, most, "");
        serde_json::from_value(value)
    });
    // Our own types can be read back.
    if let Ok(shorter) = shorter {
        *part = shorter;
    }
}

/// Cuts each text of a value that is called `name`; of stderr the end is kept.
fn cut_texts(value: &mut Value, most: usize, name: &str) {
    match value {
        Value::String(text) if name == "stderr" && text.len() > most => {
            let start = text.len() - most.saturating_sub(CUT.len());
            *text = format!("{CUT}{}", &text[text.ceil_char_boundary(start)..]);
        }
        Value::String(text) => cut(text, most),
        Value::Array(items) => items.iter_mut().for_each(|it| cut_texts(it, most, name)),
        Value::Object(members) => {
            for (name, it) in members {
                cut_texts(it, most, name);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Compact JSON with sorted keys, in which a workflow's log finds no command. Our own types always have such a form; a
/// reader refuses `null`.
fn sorted(value: &impl Serialize) -> String {
    let mut value = serde_json::to_value(value).unwrap_or(Value::Null);
    value.sort_all_objects();
    neutral::json(value.to_string())
}

#[cfg(test)]
mod tests;
