//! The whole run as one file, `run.json`: what a shard hands on and a later report is made of. Sorted keys, one
//! assertion a line, a digest over all before its end; read strictly, because it may come from strangers.

mod read;
mod shrink;

use std::{
    borrow::Cow,
    io::{self, Write},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub(crate) use self::read::{Unreadable, parse};
use self::shrink::Room;

use crate::{
    report::{End, EngineRecord, Machine, RunReport, record::Record},
    words::{
        digest::{hexadecimal, sha256},
        workflow::neutral,
    },
};

/// What stands in `format`.
const FORMAT: &str = "mcp-assert/run";

/// The version of the format.
const VERSION: u64 = 1;

/// The longest file, in bytes.
pub(crate) const LONGEST_FILE: usize = 64 * 1024 * 1024;

/// What begins the last member; texts hold no raw line end, so it stands there only.
const END_MARK: &str = "\n\"end\":";

/// The part of a run that is planned before it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanFacts {
    /// The digest of the plan: of the file that a divided run shares, else of the jobs that were to run. Absent in what an
    /// older version wrote of a run that was not divided.
    pub(crate) digest: Option<String>,
    /// The digest of the suites that were divided; absent when a shard ended before it read them, and in what an older
    /// version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) suites: Option<String>,
    /// The shard, from 1; 0 when the run is whole.
    pub(crate) shard: u32,
    /// How many shards there are.
    pub(crate) of: u32,
    /// The ids that were to run, when the run is a shard.
    pub(crate) ids: Vec<String>,
    /// How long they were expected to take, one after another, in microseconds; 0 when nothing was expected.
    pub(crate) planned_us: u64,
}

/// One shard of a merged run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShardFacts {
    /// Its number, from 1.
    pub(crate) shard: u32,
    /// The attempt that counts, from 1; 0 when there is none.
    pub(crate) attempt: u64,
    /// How long it was expected to take, in microseconds.
    pub(crate) planned_us: u64,
    /// How long it took, in microseconds.
    pub(crate) duration_us: u64,
    /// When it began, in milliseconds since 1970.
    pub(crate) started_unix_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatFacts {
    name: String,
    version: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunFacts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    engine: Option<EngineRecord>,
    jobs: usize,
    left_out: usize,
    /// Absent in a merged run, and in what an older version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<Machine>,
    planned: usize,
    trials: u32,
    /// Absent where there is a comparison or nobody looked for one, and in what an older version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uncompared: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimingFacts {
    duration_us: u64,
    started_unix_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndFacts {
    sha256: String,
    state: End,
}

/// Writes the run as `run.json`, with a final line end. Texts are cut further and further until it fits.
pub(crate) fn write(report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    write_within(report, LONGEST_FILE, out)
}

/// Leaves no more of the records than the file keeps, so that every report of a run that is stored says the same as one
/// that is made of the file.
pub(crate) fn fit(report: &mut RunReport) {
    fit_within(report, LONGEST_FILE);
}

fn fit_within(report: &mut RunReport, longest: usize) {
    let room = fitting(report, &rest(report), longest);
    if room != Room::ALL {
        for record in &mut report.records {
            *record = room.fit(record);
        }
    }
}

fn write_within(report: &RunReport, longest: usize, out: &mut dyn Write) -> io::Result<()> {
    let rest = rest(report);
    let room = fitting(report, &rest, longest);
    let mut digested = Digested {
        out,
        digest: Sha256::new(),
    };
    write_records(report, room, &mut digested)?;
    digested.write_all(rest.as_bytes())?;
    let end = EndFacts {
        sha256: hexadecimal(&digested.digest.finalize()),
        state: report.end,
    };
    out.write_all(ending(&end).as_bytes())
}

/// What is written, and the digest of it.
struct Digested<'a> {
    out: &'a mut dyn Write,
    digest: Sha256,
}

impl Write for Digested<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The most of each record with which the file fits, else the least; `rest` is what follows the records.
fn fitting(report: &RunReport, rest: &str, longest: usize) -> Room {
    let end = EndFacts {
        sha256: sha256(b""),
        state: report.end,
    };
    let around = LEAD.len() + rest.len() + ending(&end).len();
    let mut room = Room::ALL;
    loop {
        let fits = || {
            let mut length = around;
            report.records.iter().all(|record| {
                length += SEPARATOR.len() + length_of(record, room);
                length <= longest
            })
        };
        match room.smaller() {
            Some(smaller) if !fits() => room = smaller,
            Some(_) | None => return room,
        }
    }
}

/// What the file begins with.
const LEAD: &str = "{\n\"assertions\":[";

/// What stands before each record; before the first one, which no comma follows, only the line end.
const SEPARATOR: &str = ",\n";

/// The records with no more of each than there is room for.
fn write_records(report: &RunReport, room: Room, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(LEAD.as_bytes())?;
    for (index, record) in report.records.iter().enumerate() {
        let separator = if index == 0 { "\n" } else { SEPARATOR };
        out.write_all(separator.as_bytes())?;
        out.write_all(sorted(&*fitted(record, room)).as_bytes())?;
    }
    Ok(())
}

/// What follows the records, without the last member.
fn rest(report: &RunReport) -> String {
    let mut text = "\n]".to_owned();
    let format = FormatFacts {
        name: FORMAT.to_owned(),
        version: VERSION,
    };
    let run = RunFacts {
        engine: report.engine.clone(),
        jobs: report.jobs,
        left_out: report.left_out,
        machine: report.machine.clone(),
        planned: report.planned,
        trials: report.trials,
        uncompared: report.uncompared.clone(),
    };
    let timing = TimingFacts {
        duration_us: report.duration_us,
        started_unix_ms: report.started_unix_ms,
    };
    for (name, value) in [
        ("catalogs", sorted(&report.catalogs)),
        ("comparison", sorted(&report.comparison)),
        ("format", sorted(&format)),
        ("judgement", sorted(&report.judgement)),
        ("notes", sorted(&report.notes)),
        ("plan", sorted(&report.plan)),
        ("problems", sorted(&report.problems)),
        ("run", sorted(&run)),
        ("shards", sorted(&report.shards)),
        ("source", sorted(&report.source)),
        ("surface", sorted(&report.surface)),
        ("timing", sorted(&timing)),
        ("tool", sorted(&report.tool)),
    ] {
        text.extend([",\n\"", name, "\":", &value]);
    }
    text.push(',');
    text
}

/// The last member and what closes the file.
fn ending(end: &EndFacts) -> String {
    format!("{END_MARK}{}\n}}\n", sorted(end))
}

/// As much of the record as there is room for.
fn fitted(record: &Record, room: Room) -> Cow<'_, Record> {
    if room == Room::ALL {
        Cow::Borrowed(record)
    } else {
        Cow::Owned(room.fit(record))
    }
}

/// How long its line is, in bytes. Sorting changes nothing of that.
fn length_of(record: &Record, room: Room) -> usize {
    let text = serde_json::to_string(&*fitted(record, room)).unwrap_or_default();
    neutral::json(text).len()
}

/// Compact JSON with sorted keys, of which a workflow's log takes nothing for a command. Our own types always have such a form; a reader refuses `null`.
fn sorted(value: &impl Serialize) -> String {
    let mut value = serde_json::to_value(value).unwrap_or(Value::Null);
    value.sort_all_objects();
    neutral::json(value.to_string())
}

#[cfg(test)]
mod tests;
