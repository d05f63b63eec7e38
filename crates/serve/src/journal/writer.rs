//! Lines with a number and a time, one after the other, each on its way before the next begins.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::scrub::Scrubber;
use crate::Clock;

/// The subject of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RecordKind {
    /// The program that runs here.
    Header,
    /// A tool is called.
    Call,
    /// A call is over.
    Done,
    /// Another request, or its end.
    Rpc,
    /// A notification, of either side.
    Notify,
    /// A request of the server, or its answer.
    Reverse,
    /// Somebody was sent away.
    Auth,
    /// A rule fired.
    Fault,
    /// Bytes of one message.
    Frame,
    /// Nothing comes after this.
    End,
}

/// Writes records; clones write to the same file. Who writes waits until the line is out: nothing is dropped and nothing is
/// kept.
#[derive(Clone)]
pub(super) struct Writer {
    page: Arc<Mutex<Page>>,
    clock: Clock,
}

/// The state that all clones of a writer share.
struct Page {
    to: Box<dyn Write + Send>,
    scrubber: Scrubber,
    seq: u64,
    counts: BTreeMap<RecordKind, u64>,
}

impl Writer {
    pub(super) fn new(to: Box<dyn Write + Send>, clock: Clock, scrubber: Scrubber) -> Self {
        let page = Page {
            to,
            scrubber,
            seq: 0,
            counts: BTreeMap::new(),
        };
        Self {
            page: Arc::new(Mutex::new(page)),
            clock,
        }
    }

    /// Writes one record and gives its number.
    pub(super) fn write(&self, kind: RecordKind, members: Value) -> io::Result<u64> {
        self.page().write(kind, members, &self.clock)
    }

    /// How many records of each kind were written.
    pub(super) fn counts(&self) -> Value {
        json!(self.page().counts)
    }

    /// The clock that stamps the records.
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    fn page(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Page {
    fn write(&mut self, kind: RecordKind, members: Value, clock: &Clock) -> io::Result<u64> {
        self.seq += 1;
        *self.counts.entry(kind).or_default() += 1;
        let mut record = Map::new();
        record.insert("seq".to_owned(), json!(self.seq));
        record.insert("ts".to_owned(), json!(clock.stamp()));
        let since = clock.elapsed().as_micros();
        record.insert(
            "dt_us".to_owned(),
            json!(u64::try_from(since).unwrap_or(u64::MAX)),
        );
        record.insert("kind".to_owned(), json!(kind));
        if let Value::Object(members) = members {
            record.extend(members.into_iter().filter(|(_, member)| !member.is_null()));
        }
        self.scrubber.clean(&mut record);
        let mut line = Value::Object(record).to_string();
        line.push('\n');
        self.to.write_all(line.as_bytes())?;
        self.to.flush()?;
        Ok(self.seq)
    }
}
