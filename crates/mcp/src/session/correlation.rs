//! Which answer belongs to which request. Ids are matched with their JSON type; what fits no request is told
//! apart: answered before, cancelled before, or never asked.

use std::{collections::HashMap, time::Duration};

use serde_json::{Number, Value};

use crate::{
    json::number,
    protocol::{
        message::{Id, Response},
        method::Method,
    },
};

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) struct Open {
    /// Its id as sent.
    pub(super) id: Id,
    /// Its method.
    pub(super) method: String,
    /// When it was sent, in microseconds of the job.
    pub(super) sent_us: u64,
    /// What the server said of it that will bring no answer, for people.
    pub(super) spoiled: Option<String>,
    /// How many requests of the session were opened before it.
    number: u64,
    cancel: Option<Cancel>,
}

/// A cancellation that leaves its request open.
#[derive(Debug)]
struct Cancel {
    /// How many requests had been opened by then.
    opened: u64,
    /// Whether the server answered one that was sent later: it reads in order.
    is_read: bool,
}

impl Open {
    /// Whether the server had certainly read that this is cancelled.
    pub(super) fn is_known_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.is_read)
    }

    /// A request was answered that was opened after so many.
    fn outrun_by(&mut self, number: u64) {
        if let Some(cancel) = &mut self.cancel {
            cancel.is_read |= number >= cancel.opened;
        }
    }
}

/// An answer that found its request.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// The answer.
    pub(super) response: Response,
    /// When it was received, in microseconds of the job.
    pub(super) at_us: u64,
    /// When its request was sent.
    pub(super) sent_us: u64,
    /// The length of its frame.
    pub(super) bytes: usize,
    /// The beginning of its frame, for findings.
    pub(super) frame: String,
    /// How many notifications had been recorded by then.
    pub(super) notifications: usize,
    /// How many server requests had been recorded by then.
    pub(super) server_requests: usize,
}

impl Settled {
    /// From the request to its answer.
    pub(super) fn took(&self) -> Duration {
        Duration::from_micros(self.at_us.saturating_sub(self.sent_us))
    }
}

/// The request that an answer's id belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is this open request's.
    Open(usize),
    /// It is this open request's but for its JSON type or the way the number is written.
    Retyped(usize),
    /// Its request is not waited for any more.
    Past(Past),
    /// Nobody asked.
    Unknown,
}

/// Why a request is not waited for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Past {
    /// It was answered.
    Answered,
    /// It opened a stream of notifications, and was not answered.
    Streamed,
    /// It was cancelled.
    Cancelled,
    /// The server could not be told.
    GivenUp,
}

/// The requests of a session.
#[derive(Debug, Default)]
pub(super) struct Correlation {
    open: Vec<Open>,
    past: HashMap<Id, Past>,
    settled: HashMap<Id, Settled>,
    last_number: u64,
    /// How many requests were opened.
    opened: u64,
}

impl Correlation {
    /// The next integer id, from 1.
    pub(super) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// A request was sent.
    pub(super) fn opened(&mut self, id: Id, method: &str, sent_us: u64) {
        self.past.remove(&id);
        self.settled.remove(&id);
        self.open.push(Open {
            id,
            method: method.to_owned(),
            sent_us,
            spoiled: None,
            number: self.opened,
            cancel: None,
        });
        self.opened += 1;
    }

    /// An open request is cancelled, and its answer is waited for all the same.
    pub(super) fn cancel(&mut self, id: &Id) {
        let opened = self.opened;
        if let Some(open) = self.open.iter_mut().find(|open| open.id == *id) {
            open.cancel.get_or_insert(Cancel {
                opened,
                is_read: false,
            });
        }
    }

    /// The requests that wait.
    pub(super) fn open(&self) -> &[Open] {
        &self.open
    }

    /// The server said something of an open request that is not an answer to it. The first of it counts.
    pub(super) fn spoil(&mut self, id: &Id, what: impl FnOnce(&Open) -> String) {
        if let Fit::Open(at) | Fit::Retyped(at) = self.fit(id)
            && let Some(open) = self.open.get_mut(at)
            && open.spoiled.is_none()
        {
            open.spoiled = Some(what(open));
        }
    }

    /// Whether this request waits.
    pub(super) fn is_open(&self, id: &Id) -> bool {
        self.open.iter().any(|open| open.id == *id)
    }

    /// What an id says.
    pub(super) fn fit(&self, id: &Id) -> Fit {
        if let Some(at) = self.open.iter().position(|open| open.id == *id) {
            return Fit::Open(at);
        }
        if let Some(at) = self.open.iter().position(|open| alike(&open.id, id)) {
            return Fit::Retyped(at);
        }
        let past = self.past.get(id).or_else(|| {
            let alike = |(known, _): &(&Id, &Past)| alike(known, id);
            self.past.iter().find(alike).map(|(_, past)| past)
        });
        past.map_or(Fit::Unknown, |past| Fit::Past(*past))
    }

    /// Closes the open request at this place with what came for it.
    pub(super) fn close(&mut self, at: usize, past: Past, make: impl FnOnce(&Open) -> Settled) {
        let open = self.open.remove(at);
        for other in &mut self.open {
            other.outrun_by(open.number);
        }
        let settled = make(&open);
        self.past.insert(open.id.clone(), past);
        self.settled.insert(open.id, settled);
    }

    /// Hands out the answer of a request.
    pub(super) fn take(&mut self, id: &Id) -> Option<Settled> {
        self.settled.remove(id)
    }

    /// An open request is not waited for any more; what answers it is known.
    pub(super) fn give_up(&mut self, id: &Id) {
        self.open.retain(|open| open.id != *id);
        self.past.insert(id.clone(), Past::GivenUp);
    }

    /// Gives up every open request. Those to be cancelled are handed out in the order they were sent; the handshake
    /// cannot be (specification, "Cancellation").
    pub(super) fn cancel_all(&mut self) -> Vec<Open> {
        let open = std::mem::take(&mut self.open);
        let (handshake, cancelled): (Vec<Open>, Vec<Open>) = open
            .into_iter()
            .partition(|request| request.method == Method::Initialize.name());
        let given_up = handshake.iter().map(|request| (request, Past::GivenUp));
        let past = cancelled.iter().map(|request| (request, Past::Cancelled));
        for (request, past) in given_up.chain(past) {
            self.past.insert(request.id.clone(), past);
        }
        cancelled
    }
}

/// Whether two ids differ in nothing but JSON type or the way a number is written (`3`, `"3"`, `3.0`, `3e0`).
fn alike(one: &Id, other: &Id) -> bool {
    let value = |id: &Id| match id {
        Id::Number(text) | Id::Text(text) => serde_json::from_str::<Number>(text).ok(),
    };
    let texts = matches!((one, other), (Id::Text(_), Id::Text(_)));
    let equal = |(one, other): (Number, Number)| number::compare(&one, &other).is_eq();
    one.same_but_for_type(other) || !texts && value(one).zip(value(other)).is_some_and(equal)
}

/// An id as a JSON value.
pub(super) fn id_value(id: &Id) -> Value {
    match id {
        // What a number was parsed from is parsed again: every digit stays.
        Id::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| text.clone().into()),
        Id::Text(text) => text.clone().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Correlation, Fit, Id, Past, Response, Settled, id_value};

    fn number(text: &str) -> Id {
        Id::Number(text.into())
    }

    fn settle(requests: &mut Correlation, at: usize) {
        requests.close(at, Past::Answered, |open| Settled {
            response: Response {
                id: Some(open.id.clone()),
                ..Response::default()
            },
            sent_us: open.sent_us,
            ..Settled::default()
        });
    }

    #[test]
    fn ids_say_what_became_of_their_request() {
        let mut requests = Correlation::default();
        for id in ["1", "2", "3"] {
            requests.opened(number(id), "ping", 0);
        }
        let Fit::Open(first) = requests.fit(&number("1")) else {
            panic!("1 is open")
        };
        settle(&mut requests, first);
        assert_eq!(requests.fit(&number("1")), Fit::Past(Past::Answered));
        assert_eq!(
            requests.fit(&Id::Text("1".into())),
            Fit::Past(Past::Answered)
        );
        assert_eq!(requests.fit(&Id::Text("2".into())), Fit::Retyped(0));
        assert_eq!(requests.fit(&number("3.0")), Fit::Retyped(1));
        for written in ["3e0", "3e+0", "30e-1", "0.3E1"] {
            assert_eq!(requests.fit(&number(written)), Fit::Retyped(1), "{written}");
        }
        assert_eq!(requests.fit(&number("1.0e0")), Fit::Past(Past::Answered));
        assert_eq!(requests.fit(&number("4")), Fit::Unknown);
        assert_eq!(
            requests.fit(&number("3.00000000000000000001")),
            Fit::Unknown
        );
        assert!(requests.take(&number("1")).is_some());
        assert_eq!(requests.cancel_all().len(), 2);
        assert_eq!(requests.fit(&number("2")), Fit::Past(Past::Cancelled));
        requests.opened(number("9"), "initialize", 0);
        assert_eq!(requests.cancel_all().len(), 0, "nobody may say it");
        assert_eq!(requests.fit(&number("9")), Fit::Past(Past::GivenUp));
        requests.opened(number("2"), "ping", 0);
        assert_eq!(requests.fit(&number("2")), Fit::Open(0));
    }

    #[test]
    fn ids_beyond_any_integer_are_compared_digit_by_digit() {
        let mut requests = Correlation::default();
        requests.opened(number("12345678901234567890123456789000"), "ping", 0);
        let fit = |text: &str| requests.fit(&number(text));
        assert_eq!(fit("12345678901234567890123456789e3"), Fit::Retyped(0));
        assert_eq!(fit("12345678901234567890123456789001"), Fit::Unknown);
        assert_eq!(fit("1e999999999"), Fit::Unknown);
        requests.opened(Id::Text("5.0".into()), "ping", 0);
        assert_eq!(requests.fit(&Id::Text("5".into())), Fit::Unknown);
    }

    #[test]
    fn ids_keep_their_digits() {
        let digits = "1234567890123456789012345678901234567890";
        assert_eq!(id_value(&number(digits)).to_string(), digits);
    }
}
