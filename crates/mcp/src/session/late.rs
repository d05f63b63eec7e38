//! Answers that come when the deadline is over: how late they were, and what may have kept them. What is waited for, and
//! how long, is decided elsewhere.

use std::time::Duration;

use serde_json::Value;

use super::record::brief;
use crate::protocol::message::{Id, Response};

/// How soon after the end of its input a server writes what stood in a buffer: it ends, and has nothing else to do.
const AT_ONCE_US: u64 = 250_000;

/// What was not answered at the deadline.
#[derive(Debug)]
pub(super) struct Overdue {
    /// The requests.
    ids: Vec<Id>,
    /// The deadline, in microseconds of the job.
    at_us: u64,
    /// Whether anything had been heard in the session.
    voice: Voice,
    /// When the first answer came, and the error that it was.
    answered: Option<(u64, Option<(String, Waited)>)>,
}

/// How the wait for an answer came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// The server was told that its request is cancelled.
    UntilCancelled,
    /// The server could not be told.
    UntilGivenUp,
}

/// Whether a server was ever heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// It said something: what it writes arrives.
    Heard,
    /// Nothing came of it.
    Unheard,
}

impl Overdue {
    pub(super) fn new(ids: Vec<Id>, at_us: u64, voice: Voice) -> Self {
        Self {
            ids,
            at_us,
            voice,
            answered: None,
        }
    }

    /// An answer came that is not waited for any more: a result, or an error of the tool or of the protocol.
    pub(super) fn answered(&mut self, response: &Response, at_us: u64, waited: Waited) {
        let of_tool = |result: &&Value| result.get("isError") == Some(&Value::Bool(true));
        let result = response.result.as_ref().filter(of_tool);
        let error = response.error.as_ref().or(result);
        if response.id.as_ref().is_some_and(|id| self.ids.contains(id)) {
            self.answered
                .get_or_insert_with(|| (at_us, error.map(|error| (brief(error), waited))));
        }
    }

    /// What to know of an answer that came late. That it stood in a buffer is only possible where nothing came before,
    /// and likely where it came with the end of the input, which may have been closed at `closed_us`.
    pub(super) fn help(&self, closed_us: Option<u64>) -> Option<String> {
        let (answered, error) = self.answered.as_ref()?;
        let late = text::time(Duration::from_micros(answered.saturating_sub(self.at_us)));
        let with_the_end = closed_us
            .and_then(|closed| answered.checked_sub(closed))
            .is_some_and(|after| after <= AT_ONCE_US);
        if let Some((error, waited)) = error {
            // Many servers answer the cancellation so: it is not what was waited for.
            return Some(match waited {
                Waited::UntilCancelled => {
                    format!("an error came {late} after the request was cancelled: {error}")
                }
                Waited::UntilGivenUp => {
                    format!("an error came {late} after the deadline: {error}")
                }
            });
        }
        Some(match self.voice {
            Voice::Unheard if with_the_end => format!(
                "the answer came {late} after the deadline, as soon as stdin was closed: the server is slow, or the \
                 answer stood in a buffer, and it has to flush stdout after every message (Python: `python -u` or \
                 `PYTHONUNBUFFERED=1`)"
            ),
            Voice::Heard | Voice::Unheard => format!("the answer came {late} after the deadline"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Id, Overdue, Response, Voice, Waited};

    fn response(id: &str) -> Response {
        Response {
            id: Some(Id::Number(id.into())),
            odd_id: None,
            result: None,
            error: None,
        }
    }

    #[test]
    fn a_buffer_is_spoken_of_only_where_it_fits() {
        let case = |voice: Voice, id: &str, closed_us: Option<u64>, wanted: Option<bool>| {
            let mut overdue = Overdue::new(vec![Id::Number("1".into())], 1_000_000, voice);
            overdue.answered(&response(id), 1_500_000, Waited::UntilCancelled);
            let help = overdue.help(closed_us);
            let told = help.as_deref().map(|help| {
                assert!(help.starts_with("the answer came 500 ms after the deadline"));
                help.contains("buffer")
            });
            assert_eq!(told, wanted, "{help:?}");
        };
        case(Voice::Unheard, "1", Some(1_450_000), Some(true));
        case(Voice::Unheard, "1", Some(1_100_000), Some(false));
        case(Voice::Unheard, "1", Some(1_600_000), Some(false));
        case(Voice::Unheard, "1", None, Some(false));
        case(Voice::Heard, "1", Some(1_450_000), Some(false));
        case(Voice::Unheard, "2", Some(1_450_000), None);
    }

    #[test]
    fn an_error_is_not_the_answer_that_was_waited_for() {
        let case = |response: Response, waited: Waited, wanted: &str| {
            let mut overdue = Overdue::new(vec![Id::Number("1".into())], 1_000_000, Voice::Heard);
            overdue.answered(&response, 1_004_000, waited);
            assert_eq!(overdue.help(None).as_deref(), Some(wanted));
        };
        let error = json!({"code": 0, "message": "Request cancelled"});
        let refused = || Response {
            error: Some(error.clone()),
            ..response("1")
        };
        case(
            refused(),
            Waited::UntilCancelled,
            r#"an error came 4 ms after the request was cancelled: {"code":0,"message":"Request cancelled"}"#,
        );
        case(
            refused(),
            Waited::UntilGivenUp,
            r#"an error came 4 ms after the deadline: {"code":0,"message":"Request cancelled"}"#,
        );
        let failed = Response {
            result: Some(json!({"content": [], "isError": true})),
            ..response("1")
        };
        case(
            failed,
            Waited::UntilCancelled,
            r#"an error came 4 ms after the request was cancelled: {"content":[],"isError":true}"#,
        );
    }
}
