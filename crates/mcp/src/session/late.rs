//! Answers that come when the deadline is over: how late they were, and what may have kept them. What is waited for, and
//! how long, is decided elsewhere.

use std::time::Duration;

use serde_json::Value;

use crate::protocol::{
    frame::FrameMeta,
    message::{Id, Response},
};

/// How soon after the end of its input a server writes what stood in a buffer: it ends, and has nothing else to do.
const AT_ONCE_US: u64 = 250_000;

/// How soon after our cancellation a tool answers that was kept by reading the server's input.
const RELEASED_US: u64 = 100_000;

/// What keeps a tool until something stands in the server's stdin, and what to do.
const READS_STDIN: &str = "the tool, or a program that it started, seems to read the server's stdin; start programs with \
                           stdin closed (Python: `stdin=subprocess.DEVNULL`, Node.js: `stdio: ['ignore', …]`). If more \
                           `timeout` helps, it is only slow";

/// What may keep a first answer until stdin is closed, and what to do.
const BUFFERED: &str = ", as soon as stdin was closed: the server is slow, or the answer stood in a buffer, and it has to \
                        flush stdout after every message (Python: `python -u` or `PYTHONUNBUFFERED=1`)";

/// What was not answered at the deadline.
#[derive(Debug)]
pub(super) struct Overdue {
    /// The requests.
    ids: Vec<Id>,
    /// The deadline, in microseconds of the job.
    at_us: u64,
    /// Whether anything had been heard in the session.
    was_heard: bool,
    /// When the first answer came.
    answered_us: Option<u64>,
    /// Whether it came from a server that has a stdin.
    has_stdin: bool,
}

impl Overdue {
    pub(super) fn new(ids: Vec<Id>, at_us: u64, was_heard: bool) -> Self {
        Self {
            ids,
            at_us,
            was_heard,
            answered_us: None,
            has_stdin: false,
        }
    }

    /// Whether this is a request that was cancelled because its time was over: its answer may cross with that.
    pub(super) fn is_of(&self, id: Option<&Id>) -> bool {
        id.is_some_and(|id| self.ids.contains(id))
    }

    /// A result came that is not waited for any more. An error tells nothing: many servers answer a cancellation so.
    pub(super) fn answered(&mut self, response: &Response, meta: FrameMeta, at_us: u64) {
        let result = response.result.as_ref();
        let failed = response.error.is_some()
            || result.is_some_and(|result| result.get("isError") == Some(&Value::Bool(true)));
        if !failed && self.is_of(response.id.as_ref()) {
            self.answered_us.get_or_insert(at_us);
            self.has_stdin = matches!(meta, FrameMeta::Line(_));
        }
    }

    /// What to know of an answer that came late. That it stood in a buffer is only possible where nothing came before,
    /// and likely where it came with the end of the input, which may have been closed at `closed_us`. Where the server was
    /// heard, an answer that comes with our cancellation or with that end was waiting for it.
    pub(super) fn help(&self, closed_us: Option<u64>) -> Option<String> {
        let answered = self.answered_us?;
        let late = text::time(Duration::from_micros(answered.saturating_sub(self.at_us)));
        let after_the_end = closed_us.and_then(|closed| answered.checked_sub(closed));
        let at_once = after_the_end.is_some_and(|after| after <= AT_ONCE_US);
        let was_waiting = self.was_heard && self.has_stdin;
        let after_the_cancel = answered.saturating_sub(self.at_us);
        let more = if was_waiting && at_once {
            format!(", as soon as stdin was closed: {READS_STDIN}")
        } else if was_waiting && after_the_cancel <= RELEASED_US {
            format!(", as soon as `notifications/cancelled` was sent: {READS_STDIN}")
        } else if at_once && !self.was_heard {
            BUFFERED.to_owned()
        } else {
            String::new()
        };
        Some(format!("the answer came {late} after the deadline{more}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FrameMeta, Id, Overdue, Response};
    use crate::protocol::frame::LineEnd;

    const LINE: FrameMeta = FrameMeta::Line(LineEnd::Newline);

    fn response(id: &str) -> Response {
        Response {
            id: Some(Id::Number(id.into())),
            odd_id: None,
            result: None,
            error: None,
        }
    }

    #[test]
    fn a_cause_is_spoken_of_only_where_it_fits() {
        let case = |was_heard: bool, id: &str, closed_us: Option<u64>, wanted: Option<&str>| {
            let mut overdue = Overdue::new(vec![Id::Number("1".into())], 1_000_000, was_heard);
            overdue.answered(&response(id), LINE, 1_500_000);
            let help = overdue.help(closed_us);
            let told = help.as_deref().map(|help| {
                assert!(help.starts_with("the answer came 500 ms after the deadline"));
                let named = ["in a buffer", "read the server's stdin"].iter();
                named
                    .copied()
                    .find(|cause| help.contains(cause))
                    .unwrap_or_default()
            });
            assert_eq!(told, wanted, "{help:?}");
        };
        case(false, "1", Some(1_450_000), Some("in a buffer"));
        case(false, "1", Some(1_100_000), Some(""));
        case(false, "1", Some(1_600_000), Some(""));
        case(false, "1", None, Some(""));
        case(true, "1", Some(1_450_000), Some("read the server's stdin"));
        case(true, "1", Some(1_200_000), Some(""));
        case(true, "1", None, Some(""));
        case(false, "2", Some(1_450_000), None);
    }

    #[test]
    fn an_answer_that_comes_with_our_cancellation_waited_for_it() {
        let mut overdue = Overdue::new(vec![Id::Number("1".into())], 1_000_000, true);
        let mut over_http = Overdue::new(vec![Id::Number("1".into())], 1_000_000, true);
        over_http.answered(&response("1"), FrameMeta::Http { status: 200 }, 1_000_400);
        let help = over_http.help(None).unwrap();
        assert_eq!(help, "the answer came 0 ms after the deadline");
        overdue.answered(&response("1"), LINE, 1_000_400);
        let help = overdue.help(Some(1_100_000)).unwrap();
        let wanted = "the answer came 0 ms after the deadline, as soon as `notifications/cancelled` was sent: the tool";
        assert!(help.starts_with(wanted), "{help}");
    }

    #[test]
    fn an_error_is_not_the_answer_that_was_waited_for() {
        let mut overdue = Overdue::new(vec![Id::Number("1".into())], 1_000_000, true);
        let refused = Response {
            error: Some(json!({"code": 0, "message": "Request cancelled"})),
            ..response("1")
        };
        let failed = Response {
            result: Some(json!({"content": [], "isError": true})),
            ..response("1")
        };
        for response in [refused, failed] {
            overdue.answered(&response, LINE, 1_004_000);
            assert_eq!(overdue.help(None), None);
        }
    }
}
