//! Why nothing can be observed any more, said for people: the request that was due, the end of the process, the
//! last thing heard, the likely cause.

use std::time::Duration;

use super::{Session, exchange::Halt, late::Overdue};
use crate::{
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        finding::{Finding, FindingCode},
    },
    transport::Unsent,
};

impl Session {
    /// The disruption that a wait for `what` ended in. Tells the server when the time is over.
    pub(super) async fn disrupt(&mut self, halt: Halt, what: &str) -> Box<Disruption> {
        let phase = self.seen.reached;
        Box::new(match halt {
            Halt::Broken(broken) => Disruption {
                frame: broken.frame,
                ..Disruption::new(
                    broken.kind,
                    phase,
                    format!("no usable answer to {what}: {}", broken.message),
                )
            },
            Halt::Closed => self.ended(&self.before_answer(what)).await,
            Halt::Deaf(reason) => match self.exchange.exit().await {
                Some(_) => self.ended(&self.before_answer(what)).await,
                None => Disruption::new(
                    DisruptionKind::Transport,
                    phase,
                    format!("{what} could not be sent: {reason}"),
                ),
            },
            Halt::Deadline => self.timeout(what).await,
        })
    }

    /// When a server ended that owed an answer.
    fn before_answer(&self, what: &str) -> String {
        match self.exchange.dialogue.cut_short {
            Some(length) => format!(
                "in the middle of its answer to {what}, after {} of a line",
                text::count(length, "byte")
            ),
            None => format!("before it answered {what}"),
        }
    }

    /// The disruption that the server ended, and when: "before it answered `ping`".
    pub(super) async fn ended(&mut self, when: &str) -> Disruption {
        let phase = self.seen.reached;
        let disruption = match self.exchange.exit().await {
            Some(status) => Disruption::new(
                DisruptionKind::Crash,
                phase,
                format!("the server ended with {status} {when}"),
            ),
            None => Disruption::new(
                DisruptionKind::Transport,
                phase,
                format!("the server closed its output {when}"),
            ),
        };
        self.with_context(disruption)
    }

    /// What was waited for when the time was over, and since when. Which time that was, its owner says.
    async fn timeout(&mut self, what: &str) -> Disruption {
        self.exchange.note_unfinished();
        let now = self.exchange.connection.clock().at_us();
        let ago = |at_us: u64| text::time(Duration::from_micros(now.saturating_sub(at_us)));
        let sent = self.exchange.dialogue.requests.open().first();
        // What is not a request has no time of its own.
        let sent = sent.map(|open| ago(open.sent_us));
        let sent = match sent {
            None => String::new(),
            Some(ago) => format!(", sent {ago} before"),
        };
        let unsent = self.exchange.connection.unsent();
        let heard = match self.exchange.dialogue.record.last_heard() {
            _ if unsent == Unsent::Replies => {
                "the server goes on asking and reads none of the replies".to_owned()
            }
            Some((_, at_us)) => format!("the last frame came {} before", ago(at_us)),
            None if self.exchange.dialogue.was_heard => {
                "nothing was heard since the assertion began".to_owned()
            }
            None => "nothing was heard at all".to_owned(),
        };
        let message = if unsent != Unsent::Asks {
            format!("no answer to {what}{sent}; {heard}")
        } else if self.was_spoken_to() {
            format!("the server had not read all of {what}{sent}; {heard}")
        } else {
            format!("{what} could not be sent in time")
        };
        if unsent == Unsent::Asks && self.exchange.connection.sent_bytes() == 0 {
            self.seen.reached = Phase::Start;
        }
        let disruption = Disruption::new(DisruptionKind::Timeout, self.seen.reached, message);
        let disruption = self.with_context(disruption);
        let dialogue = &mut self.exchange.dialogue;
        let open = dialogue.requests.open().iter();
        let ids = open.map(|open| open.id.clone()).collect();
        dialogue.overdue = Some(Overdue::new(ids, now, dialogue.was_heard));
        self.exchange.cancel("the deadline has passed").await;
        disruption
    }

    /// Adds the last frame heard, and what is the likely cause: what was said of a request that waits, else a finding.
    fn with_context(&self, mut disruption: Disruption) -> Disruption {
        let dialogue = &self.exchange.dialogue;
        let record = &dialogue.record;
        disruption.frame = record.last_heard().map(|(frame, _)| frame);
        let mut open = dialogue.requests.open().iter();
        let kind = disruption.kind;
        let finding = || likely_cause(&record.findings, kind).map(|finding| &finding.message);
        let begun = dialogue.begun.as_ref();
        let spoiled = open.find_map(|open| open.spoiled.as_ref());
        let cause = spoiled.or(begun).or_else(finding);
        if let Some(cause) = cause.filter(|_| dialogue.cut_short.is_none()) {
            disruption.help = Some(format!("the likely cause: {cause}"));
        }
        disruption
    }
}

/// The finding that explains best why no answer came: about a frame that should have been it, the most telling
/// first; else, if the server lives, what hides an answer, or what the server may wait for itself. A line of text on stdout
/// keeps no answer back, and no server ends because of what it said besides.
fn likely_cause(findings: &[Finding], kind: DisruptionKind) -> Option<&Finding> {
    let telling = [
        FindingCode::LspFraming,
        FindingCode::NoFinalNewline,
        FindingCode::NotJson,
        FindingCode::UnknownId,
        FindingCode::NullId,
        FindingCode::DuplicateAnswer,
    ];
    let of_code = |code: FindingCode| findings.iter().rev().find(move |one| one.code == code);
    let telling = telling.into_iter().find_map(of_code);
    if kind == DisruptionKind::Crash {
        return telling;
    }
    let keeping = [
        FindingCode::NotificationFlood,
        FindingCode::UnknownRequest,
        FindingCode::CapabilityNotDeclared,
        FindingCode::RequestBeforeInitialized,
        FindingCode::ReusedId,
        FindingCode::SessionChanged,
        FindingCode::WrongContentType,
        FindingCode::StreamWithoutAnswer,
        FindingCode::NotificationStatus,
    ];
    telling.or_else(|| keeping.into_iter().find_map(of_code))
}
