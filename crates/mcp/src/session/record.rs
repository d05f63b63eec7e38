//! What one assertion saw of the traffic, bounded in number and bytes: notifications, the server's requests,
//! findings, and the last thing heard.

use serde_json::Value;

use crate::{
    observation::{
        NotificationSeen, ServerRequestSeen,
        finding::{self, Finding, FindingCode},
    },
    protocol::shape::{Flaw, FlawKind},
};

/// Notifications that are kept; the rest is counted.
pub(super) const KEPT_NOTIFICATIONS: usize = 10_000;

/// Server requests that are kept; the rest is answered and counted.
const KEPT_REQUESTS: usize = 1_000;

/// Announcements of changed lists in one assertion that are a storm: a client that obeys each would list again
/// and again.
const STORM: u64 = 100;

/// Bytes of notifications and server requests that are kept.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// Different messages of one code that are listed.
const KEPT_OF_A_CODE: usize = 20;

/// Characters of a frame that a finding shows.
const SHOWN_CHARACTERS: usize = 400;

/// Bytes that hold these characters, whatever they are.
const LOOKED_AT_BYTES: usize = 4 * SHOWN_CHARACTERS;

/// The record of one assertion.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Notifications in their order.
    pub(super) notifications: Vec<NotificationSeen>,
    /// The server's requests in their order.
    pub(super) server_requests: Vec<ServerRequestSeen>,
    /// Deviations.
    pub(super) findings: Vec<Finding>,
    /// When each notification came, in microseconds of the job.
    told_at: Vec<u64>,
    /// Likewise the requests.
    asked_at: Vec<u64>,
    kept_bytes: usize,
    /// How often a list was said to have changed.
    list_changes: u64,
    last: Vec<u8>,
    last_at_us: u64,
    heard: bool,
}

impl Record {
    /// Remembers a line as the last one heard.
    pub(super) fn hear(&mut self, bytes: &[u8], at_us: u64) {
        self.last.clear();
        self.last
            .extend_from_slice(&bytes[..bytes.len().min(LOOKED_AT_BYTES + 1)]);
        self.last_at_us = at_us;
        self.heard = true;
    }

    /// The last line heard, cut, and when; `None` when the server said nothing.
    pub(super) fn last_heard(&self) -> Option<(String, u64)> {
        self.heard.then(|| (shown(&self.last), self.last_at_us))
    }

    /// Adds a finding that shows a frame.
    pub(super) fn note(&mut self, code: FindingCode, message: impl Into<String>, frame: &[u8]) {
        self.add(code, message.into(), Some(frame));
    }

    /// Adds a finding that no frame belongs to.
    pub(super) fn note_bare(&mut self, code: FindingCode, message: impl Into<String>) {
        self.add(code, message.into(), None);
    }

    fn add(&mut self, code: FindingCode, message: String, frame: Option<&[u8]>) {
        let of_code = |finding: &&mut Finding| finding.code == code;
        let listed: Vec<&mut Finding> = self.findings.iter_mut().filter(of_code).collect();
        let is_full = listed.len() >= KEPT_OF_A_CODE;
        let known = listed.iter().position(|finding| finding.message == message);
        let known = known.or(is_full.then(|| listed.len() - 1));
        match known.and_then(|at| listed.into_iter().nth(at)) {
            Some(known) => known.times += 1,
            None => finding::note(&mut self.findings, code, message, frame.map(shown)),
        }
    }

    /// Adds what is not of its shape.
    pub(super) fn note_flaw(&mut self, what: &str, flaw: &Flaw, frame: &[u8]) {
        let code = match flaw.kind {
            FlawKind::Schema => FindingCode::Schema,
            FlawKind::UnknownKind => FindingCode::UnknownContentType,
        };
        self.note(code, format!("{what}: {}", flaw.message), frame);
    }

    /// When the last line was heard, in microseconds of the job; 0 before the first.
    pub(super) fn heard_at_us(&self) -> u64 {
        self.last_at_us
    }

    /// How many notifications and requests of the server are kept.
    pub(super) fn arrived(&self) -> (usize, usize) {
        (self.notifications.len(), self.server_requests.len())
    }

    /// How many of them had come at that time.
    pub(super) fn arrived_by(&self, at_us: u64) -> (usize, usize) {
        let by = |times: &[u64]| times.partition_point(|time| *time <= at_us);
        (by(&self.told_at), by(&self.asked_at))
    }

    /// Keeps a notification, or counts it.
    pub(super) fn notification(&mut self, seen: NotificationSeen, bytes: usize, at_us: u64) {
        if seen.method.ends_with("/list_changed") {
            self.list_changes += 1;
            if self.list_changes > STORM {
                let message = format!("lists were said to have changed more than {STORM} times");
                self.add(FindingCode::NotificationFlood, message, None);
            }
        }
        if self.notifications.len() < KEPT_NOTIFICATIONS && self.fits(bytes) {
            self.notifications.push(seen);
            self.told_at.push(at_us);
        } else {
            self.flooded(self.notifications.len(), "notifications");
        }
    }

    /// Whether further notifications are only counted.
    pub(super) fn is_flooded(&self) -> bool {
        self.notifications.len() >= KEPT_NOTIFICATIONS
    }

    /// Keeps a request of the server, or counts it.
    pub(super) fn server_request(&mut self, seen: ServerRequestSeen, bytes: usize, at_us: u64) {
        if self.server_requests.len() < KEPT_REQUESTS && self.fits(bytes) {
            self.server_requests.push(seen);
            self.asked_at.push(at_us);
        } else {
            self.flooded(self.server_requests.len(), "requests");
        }
    }

    fn flooded(&mut self, kept: usize, what: &str) {
        let message =
            format!("the server sent more than {kept} {what}, and only the first {kept} were kept");
        self.add(FindingCode::NotificationFlood, message, None);
    }

    fn fits(&mut self, bytes: usize) -> bool {
        self.kept_bytes = self.kept_bytes.saturating_add(bytes);
        self.kept_bytes <= KEPT_BYTES
    }
}

/// A frame as findings show it: its beginning, as text.
pub(super) fn shown(frame: &[u8]) -> String {
    let beginning = &frame[..frame.len().min(LOOKED_AT_BYTES)];
    let mut beginning_text = String::from_utf8_lossy(beginning);
    if beginning.len() < frame.len() {
        beginning_text.to_mut().push_str(text::CUT);
    }
    text::head(&beginning_text, SHOWN_CHARACTERS)
}

/// A value as findings show it.
pub(super) fn brief(value: &Value) -> String {
    text::head(&value.to_string(), 80)
}

/// The name of a method, likewise.
pub(super) fn brief_name(method: &str) -> String {
    text::head(method, 60)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{FindingCode, KEPT_NOTIFICATIONS, KEPT_OF_A_CODE, Record};
    use crate::observation::NotificationSeen;

    #[test]
    fn floods_are_counted_and_not_kept() {
        let mut record = Record::default();
        for _ in 0..25_000 {
            let seen = NotificationSeen {
                method: "notifications/x".into(),
                params: Value::Null,
                provoked: false,
            };
            record.notification(seen, 60, 0);
        }
        assert_eq!(record.notifications.len(), KEPT_NOTIFICATIONS);
        assert_eq!(record.findings.len(), 1);
        assert_eq!(record.findings[0].code, FindingCode::NotificationFlood);
        assert_eq!(
            record.findings[0].message,
            "the server sent more than 10000 notifications, and only the first 10000 were kept"
        );
        assert_eq!(record.findings[0].times, 15_000);
    }

    #[test]
    fn a_storm_of_changed_lists_is_one_finding() {
        let storm = |count: u64| {
            let mut record = Record::default();
            for _ in 0..count {
                let seen = NotificationSeen {
                    method: "notifications/tools/list_changed".into(),
                    params: Value::Null,
                    provoked: false,
                };
                record.notification(seen, 60, 0);
            }
            record
                .findings
                .iter()
                .map(|finding| finding.times)
                .sum::<u64>()
        };
        assert_eq!(storm(100), 0);
        assert_eq!(storm(1_000), 900);
    }

    #[test]
    fn one_code_cannot_fill_the_list() {
        let mut record = Record::default();
        for number in 0..1_000 {
            record.note(FindingCode::UnknownId, format!("id {number}"), b"{}");
        }
        record.note_bare(FindingCode::Batch, "an array");
        assert_eq!(record.findings.len(), KEPT_OF_A_CODE + 1);
        let times: u64 = record.findings.iter().map(|finding| finding.times).sum();
        assert_eq!(times, 1_001);
    }
}
