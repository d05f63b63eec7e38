//! Answers: which request they belong to, and whether they have one body.

use serde_json::Value;

use super::{Break, Dialogue, ReceivedFrame, Transcript};
use crate::{
    observation::{
        disruption::DisruptionKind,
        finding::{Finding, FindingCode},
    },
    protocol::{
        frame::FrameMeta,
        message::{Id, Response, is_integer},
        method::Method,
    },
    session::{
        correlation::{Fit, Open, Past, Settled, id_value},
        late::Overdue,
        record::{Record, brief, brief_name, shown},
    },
};

const NAMELESS: &str = "an answer without an id";
const CANCELLED: &str = "an answer to a request that was cancelled";
const TO_NOTIFICATION: &str = "an answer to a notification";

/// The member of an answer in a frame that is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct HalfAnswer {
    /// `result` or `error`.
    member: &'static str,
    /// Whether it says nothing.
    is_null: bool,
}

impl HalfAnswer {
    /// That of a frame; one that says something comes first.
    pub(super) fn of(frame: &Value) -> Option<Self> {
        let halves = ["result", "error"].into_iter().filter_map(|member| {
            let is_null = frame.get(member)?.is_null();
            Some(Self { member, is_null })
        });
        halves.min_by_key(|half| half.is_null)
    }
}

/// An answer without an id, of which nobody knows whose it is.
#[derive(Debug)]
pub(in crate::session) struct NamelessAnswer {
    /// The requests that waited when it came, and still do.
    waiting: Vec<Id>,
    /// The message of the finding.
    noted: String,
    /// What it says of an answer to a notification.
    to_notification: String,
}

impl NamelessAnswer {
    /// It was for a notification.
    fn acquit(self, record: &mut Record) {
        let is_noted = |finding: &&mut Finding| {
            finding.code == FindingCode::NullId && finding.message == self.noted
        };
        if let Some(finding) = record.findings.iter_mut().find(is_noted) {
            finding.code = FindingCode::AnswerToNotification;
            finding.message = self.to_notification;
        }
    }
}

impl Dialogue {
    pub(super) fn response(&mut self, response: Response, heard: ReceivedFrame<'_>) {
        let fit = match &response.id {
            Some(id) => self.requests.fit(id),
            None => Fit::Unknown,
        };
        match fit {
            Fit::Open(at) => self.settle(at, response, heard),
            Fit::Retyped(at) => {
                let message = self.retyped(at, response.id.as_ref());
                self.note(FindingCode::IdType, message, heard);
                self.settle(at, response, heard);
            }
            // The stream that it asked for has ended.
            Fit::Past(Past::Streamed) => {}
            Fit::Past(Past::Answered) => {
                let message = "a second answer to a request; the first one counts";
                self.note(FindingCode::DuplicateAnswer, message, heard);
                self.once_more(response, heard);
            }
            Fit::Past(Past::Cancelled) => {
                self.answered_late(&response, heard);
                let is_of = |overdue: &Overdue| overdue.is_of(response.id.as_ref());
                // By stdin it may have been what the server waited for.
                let crosses = matches!(heard.meta, FrameMeta::Line(_))
                    && self.overdue.as_ref().is_some_and(is_of);
                if !crosses {
                    self.note(FindingCode::AnswerAfterCancel, CANCELLED, heard);
                }
            }
            // It does not know that it is late.
            Fit::Past(Past::GivenUp) => self.answered_late(&response, heard),
            Fit::Unknown => self.stray(&response, heard),
        }
    }

    /// How the id of an answer deviates from that of the open request at this place.
    fn retyped(&self, at: usize, answered: Option<&Id>) -> String {
        let asked = self.requests.open().get(at).map(|open| &open.id);
        let (Some(asked), Some(answered)) = (asked, answered) else {
            return "the answer's id is not written as the request's was".to_owned();
        };
        let written = |id: &Id| text::head(&id_value(id).to_string(), 60);
        let (asked_so, answered_so) = (written(asked), written(answered));
        let numbers = matches!((asked, answered), (Id::Number(_), Id::Number(_)));
        let reason = if numbers {
            "the same number, written in another way"
        } else {
            "of another JSON type"
        };
        format!(
            "the answer's id is `{answered_so}` and the request's was `{asked_so}`: {reason}, and some typed clients \
             do not know it again"
        )
    }

    /// An answer that was waited for, until the deadline or until it was cancelled.
    fn answered_late(&mut self, response: &Response, heard: ReceivedFrame<'_>) {
        if let Some(overdue) = &mut self.overdue {
            overdue.answered(response, heard.meta, heard.at_us);
        }
    }

    /// A second answer, which is looked at where frames are what is observed.
    fn once_more(&mut self, mut response: Response, heard: ReceivedFrame<'_>) {
        let is_observed = |transcript: &Transcript| {
            let id = response.id.as_ref();
            id.is_some_and(|id| transcript.has_asked(id))
        };
        if self.transcript.as_ref().is_some_and(is_observed) {
            self.one_body(&mut response, heard);
            if let Some(transcript) = &mut self.transcript {
                transcript.answers.push(response);
            }
        }
    }

    /// A request of the server with the body of an answer: whoever reads it takes it for a request. With the id of one
    /// of ours it is what was to be its answer, unless the body is null, as some libraries write what is absent.
    pub(super) fn half_answer(
        &mut self,
        id: &Id,
        method: &str,
        body: HalfAnswer,
        heard: ReceivedFrame<'_>,
    ) {
        let (Fit::Open(at) | Fit::Retyped(at)) = self.requests.fit(id) else {
            return;
        };
        let Some(open) = self.requests.open().get(at) else {
            return;
        };
        let told = format!(
            "a frame with the id of `{}` and a `{}` has `method` too, `{}`, which makes it a request of the server and \
             no answer",
            open.method,
            body.member,
            brief_name(method)
        );
        if body.is_null && open.method != method {
            self.requests.spoil(id, |_| told);
        } else {
            self.break_off(DisruptionKind::Violation, told, heard.bytes);
        }
    }

    /// An answer that fits no open request.
    fn stray(&mut self, response: &Response, heard: ReceivedFrame<'_>) {
        if self.may_answer_notification(response) {
            self.notified -= 1;
            if let Some(transcript) = &mut self.transcript {
                transcript.stray(response);
            }
            return self.doubt(response, heard);
        }
        if response.id.is_none() && self.notified == 0 {
            // As many have come as there were notifications: this one is for a request.
            self.acquit_all();
        }
        let (code, message) = self.stray_finding(response);
        if let Some(transcript) = &mut self.transcript {
            let is_due = transcript.expects_nameless() && response.error.is_some();
            if response.id.is_some() || !is_due {
                self.record.note(code, message, heard.bytes);
            }
            transcript.stray(response);
            return;
        }
        self.note(code, message.clone(), heard);
        if let ([_], None) = (self.requests.open(), &self.suspect) {
            self.suspect = Some(Break {
                kind: DisruptionKind::Violation,
                message,
                frame: Some(shown(heard.bytes)),
            });
        }
    }

    /// Whether this may be what a server says to a notification of ours that it should have said nothing to. It carries
    /// no id, since there was none. What is the result that a request waits for is taken for that request's.
    fn may_answer_notification(&self, response: &Response) -> bool {
        let nameless = response.id.is_none() && response.odd_id.is_none();
        let is_answered = |open: &Open| {
            let method = Method::from_name(&open.method);
            let answer = method.zip(response.result.as_ref());
            answer.is_some_and(|(method, result)| method.is_answered_by(result))
        };
        // What cannot be read is answered without an id, too.
        let is_due = self
            .transcript
            .as_ref()
            .is_some_and(Transcript::expects_nameless);
        self.notified > 0 && nameless && !is_due && !self.requests.open().iter().any(is_answered)
    }

    /// An answer without an id is one to a notification, or to a request whose id the server left out. Nobody can tell
    /// while a request waits, and who takes the one for the other fails a tool that is merely slow: so it ends no wait,
    /// and what it was shows when the request is answered.
    fn doubt(&mut self, response: &Response, heard: ReceivedFrame<'_>) {
        let named = |what: &str| match &response.error {
            Some(error) => format!("{what}: {}", brief(error)),
            None => what.to_owned(),
        };
        let to_notification = named(TO_NOTIFICATION);
        let whose = match self.requests.open() {
            [] => {
                let code = FindingCode::AnswerToNotification;
                return self.note(code, to_notification, heard);
            }
            [only] => format!("`{}`", brief_name(&only.method)),
            [_, ..] => "a request that waits".to_owned(),
        };
        let noted = format!(
            "{}; it is meant for {whose}, or for a notification, which is not answered",
            named(NAMELESS)
        );
        self.note(FindingCode::NullId, noted.as_str(), heard);
        let open = self.requests.open().iter();
        self.doubts.push(NamelessAnswer {
            waiting: open.map(|open| open.id.clone()).collect(),
            noted,
            to_notification,
        });
    }

    /// A request is answered: what came without an id while it waited was not for it.
    fn answered(&mut self, at: usize, heard: ReceivedFrame<'_>) {
        let Some(open) = self.requests.open().get(at) else {
            return;
        };
        if open.is_known_cancelled() {
            self.record
                .note(FindingCode::AnswerAfterCancel, CANCELLED, heard.bytes);
        }
        self.progress.answered(&open.id);
        for doubt in &mut self.doubts {
            doubt.waiting.retain(|id| *id != open.id);
        }
        let is_clear = |doubt: &mut NamelessAnswer| doubt.waiting.is_empty();
        for doubt in self.doubts.extract_if(.., is_clear) {
            doubt.acquit(&mut self.record);
        }
    }

    /// All doubtful answers without an id were for notifications.
    fn acquit_all(&mut self) {
        for doubt in self.doubts.drain(..) {
            doubt.acquit(&mut self.record);
        }
    }

    fn stray_finding(&self, response: &Response) -> (FindingCode, String) {
        let alone = self.requests.open().is_empty();
        match (&response.id, response.odd_id, &response.error) {
            (Some(id), _, _) => (
                FindingCode::UnknownId,
                format!("an answer to id {id}, which was never asked"),
            ),
            (None, Some(odd), _) => (
                FindingCode::NullId,
                format!("an answer whose id is {odd}, neither number nor text"),
            ),
            (None, None, Some(error)) => {
                (FindingCode::NullId, format!("{NAMELESS}: {}", brief(error)))
            }
            (None, None, None) if alone => (
                FindingCode::AnswerToNotification,
                TO_NOTIFICATION.to_owned(),
            ),
            (None, None, None) => (FindingCode::NullId, NAMELESS.to_owned()),
        }
    }

    fn settle(&mut self, at: usize, mut response: Response, heard: ReceivedFrame<'_>) {
        self.one_body(&mut response, heard);
        if let Some(transcript) = &mut self.transcript {
            transcript.answers.push(response.clone());
        }
        self.answered(at, heard);
        self.level_answered(at, &response);
        self.close(at, Past::Answered, response, heard);
        self.suspect = None;
    }

    /// What is told on a stream from now on stands for the answer to the request at this place.
    pub(super) fn acknowledge(&mut self, at: usize, honoured: Value, heard: ReceivedFrame<'_>) {
        let response = Response {
            id: None,
            odd_id: None,
            result: Some(honoured),
            error: None,
        };
        self.close(at, Past::Streamed, response, heard);
    }

    fn close(&mut self, at: usize, past: Past, response: Response, heard: ReceivedFrame<'_>) {
        let (told, server_requests) = self.record.arrived();
        self.requests.close(at, past, |open| Settled {
            response,
            at_us: heard.at_us,
            sent_us: open.sent_us,
            bytes: heard.bytes.len(),
            frame: shown(heard.bytes),
            // The first notification of a stream is recorded after this.
            notifications: told + usize::from(past == Past::Streamed),
            server_requests,
        });
    }

    fn level_answered(&mut self, at: usize, response: &Response) {
        let sets_level = |open: &Open| open.method == Method::LoggingSetLevel.name();
        let open = self.requests.open();
        if open.get(at).is_some_and(sets_level) {
            let others = open.iter().filter(|open| sets_level(open)).count() - 1;
            let succeeded = response.error.is_none();
            self.log_levels.answered(succeeded, others);
        }
    }

    /// An answer has a result or an error. A member that is null beside one that is not counts as absent.
    fn one_body(&mut self, response: &mut Response, heard: ReceivedFrame<'_>) {
        let (code, message) = match (&response.result, &response.error) {
            (Some(result), Some(error)) => {
                let nulls = (result.is_null(), error.is_null());
                match nulls {
                    (false, true) => response.error = None,
                    (true, false) => response.result = None,
                    (true, true) | (false, false) => {}
                }
                let message = "the answer has both `result` and `error`";
                (FindingCode::ResultAndError, message)
            }
            (None, None) => {
                let message = "the answer has neither `result` nor `error`";
                (FindingCode::NeitherResultNorError, message)
            }
            (Some(_), None) => return,
            (None, Some(error)) => return self.error_object(error, heard),
        };
        self.note(code, message, heard);
        if response.result.is_some() == response.error.is_some() {
            self.break_off(DisruptionKind::Violation, message.into(), heard.bytes);
        }
    }

    fn error_object(&mut self, error: &Value, heard: ReceivedFrame<'_>) {
        if !error.get("code").is_some_and(is_integer) {
            let message = "the error's `code` is missing or no integer";
            self.note(FindingCode::ErrorCode, message, heard);
        }
        if !error.get("message").is_some_and(Value::is_string) {
            let message = "the error's `message` is missing or no text";
            self.note(FindingCode::ErrorMessage, message, heard);
        }
    }
}
