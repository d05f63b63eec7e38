//! The tool calls in a log: our own server's journal, or JSON lines of others under the names they use. Pure;
//! the caller reads the file.

mod record;

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use self::record::{LogEntry, PassedOver, names_a_tool, told};
use crate::{
    json::json_text,
    observation::{TraceCall, TraceOutcome},
    protocol::members,
};

/// A call with what it is sorted by.
#[derive(Debug)]
struct Logged {
    call: TraceCall,
    seq: Option<u64>,
    time_us: Option<i64>,
}

/// What a log tells.
#[derive(Debug)]
pub struct Log {
    /// The calls in the order they were made.
    pub calls: Vec<TraceCall>,
    /// Texts in lines that were not read as calls, with the number of the first such line.
    pub passed_over: BTreeMap<String, usize>,
}

/// Reads a log; the error says why it cannot be used. Lines without a tool are not calls.
pub fn parse(text: &str) -> Result<Log, String> {
    let (mut records, mut lines) = (Vec::new(), Vec::new());
    let mut passed_over = PassedOver::default();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let Ok(Value::Object(record)) = json_text::value(line) else {
            return Err(format!("line {} is not a JSON object", index + 1));
        };
        let twice = members::named_twice(line.as_bytes());
        if let Some(key) = twice
            && (names_a_tool(&record) || number(&record, "of").is_some())
        {
            return Err(format!(
                "line {} tells of a call and has two members `{key}`: readers differ in which one they take",
                index + 1
            ));
        }
        records.push(record);
        lines.push(index + 1);
    }
    let mut calls = Vec::new();
    let (mut rest, mut lines) = (records.as_slice(), lines.as_slice());
    while let Some(length) = first_log(rest) {
        let (one, others) = rest.split_at(length);
        let (numbers, of_others) = lines.split_at(length);
        calls.extend(calls_of(one, numbers, &mut passed_over)?);
        (rest, lines) = (others, of_others);
    }
    Ok(Log {
        calls,
        passed_over: passed_over.0,
    })
}

/// How many records the first log of these has: a journal ends with its `end`, and its header ends any other log.
fn first_log(records: &[Map<String, Value>]) -> Option<usize> {
    let (first, after) = records.split_first()?;
    let journal = is_header(first);
    for (index, record) in after.iter().enumerate() {
        if is_header(record) {
            return Some(index + 1);
        }
        if journal && is_end(record) {
            return Some(index + 2);
        }
    }
    Some(records.len())
}

fn calls_of(
    records: &[Map<String, Value>],
    lines: &[usize],
    passed_over: &mut PassedOver,
) -> Result<Vec<TraceCall>, String> {
    let journal = records.first().is_some_and(is_header);
    if journal {
        check_journal(records)?;
    } else if let Some(first) = records.iter().find_map(headless) {
        return Err(format!(
            "the journal is cut: its beginning is missing, it starts with record {first}"
        ));
    }
    let done = outcomes(records);
    let mut calls = Vec::new();
    for (record, line) in records.iter().zip(lines.iter().copied()) {
        if is_other(record, journal) {
            continue;
        }
        match told(record) {
            LogEntry::Call { tool, args } => calls.push(logged(record, tool, args, &done)),
            LogEntry::Nothing => passed_over.note(record.values(), line),
            LogEntry::Unreadable(reason) => {
                return Err(format!(
                    "line {line} tells of a call and not of which tool: {reason}"
                ));
            }
        }
    }
    sort(&mut calls)?;
    Ok(since_the_first(calls))
}

fn is_header(record: &Map<String, Value>) -> bool {
    text(record, "kind") == Some("header") && number(record, "seq").is_some()
}

fn is_end(record: &Map<String, Value>) -> bool {
    text(record, "kind") == Some("end") && number(record, "seq").is_some()
}

/// The number of a record that only a journal has, where there is no header before it.
fn headless(record: &Map<String, Value>) -> Option<u64> {
    let kinds = ["call", "done", "fault", "end"];
    let ours = text(record, "kind").is_some_and(|kind| kinds.contains(&kind));
    let stamped = record.contains_key("ts") && record.contains_key("dt_us");
    number(record, "seq").filter(|_| ours && stamped)
}

/// Numbers of a journal have no gaps, and its last record counts all others.
fn check_journal(records: &[Map<String, Value>]) -> Result<(), String> {
    let mut last = 0;
    for (index, record) in records.iter().enumerate() {
        let Some(seq) = number(record, "seq") else {
            continue;
        };
        if index > 0 && seq != last + 1 {
            return Err(format!(
                "records are missing: after number {last} comes {seq}"
            ));
        }
        last = seq;
    }
    let Some(end) = records.last().filter(|record| is_end(record)) else {
        return Err(format!(
            "the journal is cut: its `end` is missing after record {last}; a server that is killed, or still runs, leaves none"
        ));
    };
    let counts = end.get("counts").and_then(Value::as_object);
    for (kind, told) in counts.into_iter().flatten() {
        let of_kind = |record: &&Map<String, Value>| text(record, "kind") == Some(kind);
        let held = records.iter().filter(of_kind).count() as u64;
        let told = told.as_u64().unwrap_or_default();
        if told != held {
            return Err(format!(
                "the journal holds {held} records of kind `{kind}` and says there were {told}"
            ));
        }
    }
    Ok(())
}

/// The outcomes of calls whose end has its own record, by the number of the call.
fn outcomes(records: &[Map<String, Value>]) -> HashMap<u64, TraceOutcome> {
    let ends = records.iter().filter_map(|record| {
        let of = number(record, "of")?;
        Some((of, outcome(record)?))
    });
    ends.collect()
}

/// Whether a record is known to be no call of the one who is looked at: what else a journal holds, and, in rows of an
/// audit table (`tool_name`), what was called or replayed by hand in its portal, and callers that were refused.
fn is_other(record: &Map<String, Value>, journal: bool) -> bool {
    if journal {
        return text(record, "kind") != Some("call");
    }
    let source = text(record, "source");
    let by_hand = matches!(source, Some("portal-tryit" | "portal-replay"));
    let refused = text(record, "error_category") == Some("auth");
    record.contains_key("tool_name") && (by_hand || refused)
}

fn logged(
    record: &Map<String, Value>,
    tool: String,
    args: Value,
    done: &HashMap<u64, TraceOutcome>,
) -> Logged {
    let seq = number(record, "seq");
    let mut unknowable = pointers(record);
    hidden(&args, &mut String::new(), &mut unknowable);
    unknowable.sort();
    unknowable.dedup();
    let ended = seq.and_then(|seq| done.get(&seq).copied());
    Logged {
        call: TraceCall {
            tool,
            args,
            outcome: ended.or_else(|| outcome(record)),
            at_ms: None,
            unknowable,
        },
        seq,
        time_us: time(record),
    }
}

/// How a call ended, as far as the record tells; a record that says both tells of an error.
fn outcome(record: &Map<String, Value>) -> Option<TraceOutcome> {
    let flag = |key: &str| record.get(key).and_then(Value::as_bool);
    let negated = |key: &str| flag(key).map(|error| !error);
    let word = match text(record, "outcome") {
        Some("ok") => Some(true),
        Some("error") => Some(false),
        Some(_) | None => None,
    };
    // Of an error that is nothing, or an empty text, many logs write the key all the same, also before the end.
    let error = match record.get("error") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.is_empty() => None,
        Some(Value::Bool(error)) => Some(!error),
        Some(Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) => {
            Some(false)
        }
    };
    let says = [
        word,
        error,
        negated("is_error"),
        negated("isError"),
        flag("ok"),
        flag("success"),
    ];
    if says.contains(&Some(false)) {
        return Some(TraceOutcome::Error);
    }
    says.contains(&Some(true)).then_some(TraceOutcome::Ok)
}

/// The places in the arguments that the log says are not as they were.
fn pointers(record: &Map<String, Value>) -> Vec<String> {
    let redacted = record.get("redacted").and_then(Value::as_array);
    let redacted = redacted.into_iter().flatten().filter_map(Value::as_str);
    let truncated = record.get("truncated").and_then(Value::as_object);
    let truncated = truncated
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str);
    let mut found: Vec<String> = redacted
        .chain(truncated)
        .filter_map(|pointer| {
            let inside = pointer.strip_prefix("/args")?;
            (inside.is_empty() || inside.starts_with('/')).then(|| inside.to_owned())
        })
        .collect();
    let dropped = ["request_truncated", "args_truncated"];
    if dropped
        .iter()
        .any(|key| record.get(*key) == Some(&Value::Bool(true)))
    {
        found.push(String::new());
    }
    found
}

/// Values that say of themselves that they were hidden.
fn hidden(value: &Value, pointer: &mut String, found: &mut Vec<String>) {
    let mut step = |key: &str, value: &Value| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        hidden(value, pointer, found);
        pointer.truncate(length);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| step(key, value)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                step(&index.to_string(), item);
            }
        }
        Value::String(text) if text.eq_ignore_ascii_case("[redacted]") => {
            found.push(pointer.clone());
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// When a call was made, in microseconds of some clock.
fn time(record: &Map<String, Value>) -> Option<i64> {
    if let Some(micros) = record.get("dt_us").and_then(Value::as_i64) {
        return Some(micros);
    }
    if let Some(millis) = record.get("at_ms").and_then(Value::as_i64) {
        return millis.checked_mul(1_000);
    }
    let stamp = ["timestamp", "ts", "time"]
        .iter()
        .find_map(|key| record.get(*key))?;
    match stamp {
        Value::String(text) => chrono::DateTime::parse_from_rfc3339(text)
            .ok()
            .map(|time| time.timestamp_micros()),
        // Seconds or milliseconds since 1970: what is larger than the year 5138 in seconds is the latter.
        Value::Number(_) => stamp.as_f64().map(|number| {
            let seconds = if number > 1e11 { number / 1e3 } else { number };
            micros(seconds)
        }),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a conversion of floats saturates, and the order of such times is meaningless anyway"
)]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6) as i64
}

/// Puts the calls in the order of their numbers, else of their times, else leaves them as they are.
fn sort(calls: &mut [Logged]) -> Result<(), String> {
    let numbered = calls.iter().filter(|call| call.seq.is_some()).count();
    if numbered == calls.len() {
        calls.sort_by_key(|call| call.seq);
        return Ok(());
    }
    if numbered > 0 {
        let some: Vec<u64> = calls.iter().filter_map(|call| call.seq).collect();
        return in_order(&some, "seq");
    }
    let timed = calls.iter().filter(|call| call.time_us.is_some()).count();
    if timed == calls.len() {
        calls.sort_by_key(|call| call.time_us);
        return Ok(());
    }
    let some: Vec<i64> = calls.iter().filter_map(|call| call.time_us).collect();
    in_order(&some, "timestamp")
}

fn in_order<T: PartialOrd>(some: &[T], key: &'static str) -> Result<(), String> {
    if some.windows(2).all(|pair| pair[0] <= pair[1]) {
        return Ok(());
    }
    Err(format!(
        "the calls cannot be put in order: only some of them have `{key}`"
    ))
}

fn since_the_first(calls: Vec<Logged>) -> Vec<TraceCall> {
    let first = calls.first().and_then(|call| call.time_us);
    calls
        .into_iter()
        .map(|logged| {
            let since = logged.time_us.zip(first).map(|(time, first)| time - first);
            TraceCall {
                at_ms: since.and_then(|micros| u64::try_from(micros / 1_000).ok()),
                ..logged.call
            }
        })
        .collect()
}

fn text<'a>(record: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    record.get(key).and_then(Value::as_str)
}

fn number(record: &Map<String, Value>, key: &str) -> Option<u64> {
    record.get(key).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests;
