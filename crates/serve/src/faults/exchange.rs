//! Faults of HTTP: which of them fire on an exchange. How they are made is the business of `http`.

use serde_json::Value;

use super::argument::ArgumentValue;
use super::armed::{Armed, fire};
use super::effects::Effect;
use super::event::Firing;
use super::place::When;
use super::rule::Rule;
use crate::State;

/// How an answer is distorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distortion {
    /// Another status and no body.
    Status,
    /// A page instead of the answer.
    Page,
    /// The answer as plain text.
    PlainText,
    /// Nothing as JSON.
    Empty,
    /// A body where none is due.
    Body,
    /// The stream without the answer.
    NoFinal,
    /// The stream until half of the answer.
    Cut,
    /// CR LF line ends.
    Crlf,
    /// The message on several lines.
    Multiline,
    /// Comments and nothing else.
    Comments,
    /// Headers and nothing else.
    Silence,
    /// The answer, slowly.
    Drip,
    /// Fewer bytes than promised.
    TooLittle,
    /// No last chunk.
    NoEnd,
    /// The answer compressed, whatever the client takes.
    Gzip,
    /// The connection is reset.
    Reset,
    /// No session is named.
    NoSession,
    /// The id of another session.
    OtherSession,
    /// An id that no session may have.
    BadSession,
}

/// How a request is refused before it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A redirect on this server.
    Redirect,
    /// A redirect to another one.
    RedirectAway,
    /// No stream of the session.
    NoGet,
    /// No end of the session.
    NoDelete,
    /// The session is unknown from a request on.
    Expired,
    /// Too many requests.
    TooMany,
    /// The revision's header is refused.
    NoRevision,
    /// 401 and nothing that says how to come in.
    NoChallenge,
    /// 401 and nothing of use.
    BadChallenge,
    /// 401 for a token that was good before.
    Expires,
    /// 401 for every token.
    NeverAgain,
    /// 403 for the want of a scope.
    Scope,
}

/// How an exchange is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// Its request is refused.
    Refused(Refusal),
    /// Its answer is distorted.
    Distorted(Distortion),
}

impl Exchange {
    /// What an effect does to an exchange; nothing where it is none of HTTP.
    pub(super) fn of(effect: Effect) -> Option<Self> {
        match effect {
            Effect::Refuse(refusal) => Some(Self::Refused(refusal)),
            Effect::Distort(distortion) => Some(Self::Distorted(distortion)),
            Effect::Bend(_)
            | Effect::Omit(_)
            | Effect::Set(_)
            | Effect::Fail(_)
            | Effect::Block(_)
            | Effect::Instead(_)
            | Effect::Dress(_)
            | Effect::Write(_)
            | Effect::Send(_)
            | Effect::Start(_)
            | Effect::Hold(_)
            | Effect::Deaf(_) => None,
        }
    }
}

/// A fault that fires.
#[derive(Debug, Clone)]
pub(crate) struct Shot {
    pub(crate) exchange: Exchange,
    pub(crate) given: ArgumentValue,
    /// Which occurrence of its place it is.
    pub(crate) n: u64,
    pub(crate) firing: Firing,
}

/// The known facts of the message of an exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) method: Option<&'a str>,
    pub(crate) target: Option<&'a str>,
    /// The id; nothing for a notification.
    pub(crate) id: Option<&'a Value>,
}

/// The rules of a server over HTTP, with their counters.
#[derive(Debug, Default)]
pub(crate) struct Exchanges(Vec<Armed>);

impl Exchanges {
    pub(crate) fn new(rules: Vec<Rule>, seed: u64, state: &State) -> Self {
        Self(Armed::all(rules, seed, state))
    }

    /// The faults that fire on a message, in the order of their rules. Counts that are lost are told as text.
    pub(crate) fn fire(&mut self, about: About<'_>) -> (Vec<Shot>, Vec<String>) {
        let at = |when, _: Exchange| match when {
            When::AnyRequest => about.id.is_some(),
            When::Message(method) => about.method == Some(method),
            When::Start | When::Stop => false,
        };
        self.count(at, about)
    }

    /// The faults that fire on a request without a message.
    pub(crate) fn fire_on(&mut self, wanted: Refusal) -> (Vec<Shot>, Vec<String>) {
        let about = About {
            method: None,
            target: None,
            id: None,
        };
        self.count(
            |when, exchange| when == When::Start && exchange == Exchange::Refused(wanted),
            about,
        )
    }

    fn count(
        &mut self,
        at: impl Fn(When, Exchange) -> bool,
        about: About<'_>,
    ) -> (Vec<Shot>, Vec<String>) {
        let is_there = |armed: &Armed| {
            // A server over HTTP is given no others.
            let exchange = Exchange::of(armed.rule.fault.row().effect);
            exchange.is_some_and(|exchange| at(armed.rule.when, exchange))
        };
        let armed = self.0.iter_mut().enumerate();
        let (fired, lost) = fire(armed.filter(|(_, one)| is_there(one)), about.target, None);
        let shot = |(index, n): (usize, u64)| {
            let rule = &self.0[index].rule;
            Some(Shot {
                exchange: Exchange::of(rule.fault.row().effect)?,
                given: rule.given.clone(),
                n,
                firing: Firing {
                    rule: rule.text.clone(),
                    fault: rule.fault,
                    n,
                    id: about.id.cloned(),
                },
            })
        };
        (fired.into_iter().filter_map(shot).collect(), lost)
    }
}
