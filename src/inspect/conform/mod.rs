//! Whether a server keeps to the specification, as far as that shows on this server without a fixture of its own: each
//! check has its section, and is gated on what the server declares.
//!
//! [`checks`] has the checks as data. A check asks something and judges the answer, or collects the findings that every
//! session notes by itself. What could not be judged counts as such, never as passed; what one dead server kept from
//! being judged is one finding.

mod checks;
mod http;

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use self::checks::Asks;
pub(crate) use self::checks::{CHECKS, Check};
use super::{
    catalog::Offer,
    effect::{Effect, effect},
    parameters,
    sample::{Sources, Which, sample_of},
    server::{Asked, Open, Unanswered},
};
use host::process::Patience;
use mcp::{
    observation::{
        Observation,
        answer::Answer,
        catalog::Listing,
        disruption::{Disruption, DisruptionKind, Phase},
        finding::Finding,
        process::Ending,
    },
    script::{
        client::RevisionWanted,
        subject::{RawExchange, RawFrame, RawHandshake, Subject},
        template::ValueTemplate,
    },
};
use suite::model::server::Target;

/// How long an answer to a frame that may stay unanswered is waited for.
const SILENCE: Duration = Duration::from_millis(300);

/// The id of the first request of a check.
const FIRST_ID: usize = 9_000;

/// The most tools that are called for their structured content.
const MOST_CALLS: usize = 50;

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The server keeps to it.
    Pass,
    /// It does not, for this reason.
    Fail(String),
    /// The server does not have what it is about.
    NotApplicable(&'static str),
    /// Nothing could be observed.
    CouldNotRun,
}

impl Verdict {
    /// The word in JSON.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "fail",
            Self::NotApplicable(_) => "not-applicable",
            Self::CouldNotRun => "could-not-run",
        }
    }
}

/// A check and how it ended.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// The check.
    pub(crate) check: &'static Check,
    /// How it ended.
    pub(crate) verdict: Verdict,
}

/// What the server is like, for the checks.
pub(crate) struct Facts {
    pub(super) offer: Offer,
    pub(super) is_http: bool,
}

impl Facts {
    fn is_stateless(&self) -> bool {
        !self.offer.has_handshake()
    }

    fn has(&self, capability: &str) -> bool {
        self.offer.declares(capability)
    }
}

/// What was found in one era.
#[derive(Debug)]
pub(crate) struct Conformity {
    /// What the server offers.
    pub(crate) offer: Offer,
    /// All checks, in their order.
    pub(crate) outcomes: Vec<Outcome>,
    /// Why the server could not be asked any more.
    pub(crate) gone: Option<String>,
}

/// Makes all checks on one revision. Fails if there is no session at all.
pub(crate) async fn conform(asked: &Asked<'_>) -> Result<Conformity, Unanswered> {
    let mut open = asked.open().await?;
    let offer = open.offer().await;
    if let Some(disruption) = not_spoken(asked.revision, &offer) {
        let stderr = open.end(asked.host).await.stderr;
        return Err(Unanswered { disruption, stderr });
    }
    let facts = Facts {
        is_http: matches!(asked.target, Target::Url { .. }),
        offer,
    };
    let mut session = Session {
        asked,
        open: Some(open),
        noted: BTreeMap::new(),
        fallen: None,
        gone: None,
        ended: None,
    };
    session.note_findings();
    let mut outcomes = Vec::new();
    for check in CHECKS {
        let verdict = match (check.applies)(&facts) {
            Err(why) => Verdict::NotApplicable(why),
            Ok(()) => session.judged(check, &facts).await,
        };
        outcomes.push(Outcome { check, verdict });
    }
    session.call_tools(&facts).await;
    // Here the end is judged: on a busy machine an interpreter works for seconds to end.
    let patience = Patience {
        closed: asked.timeout,
        spinning: asked.timeout,
        ..Patience::default()
    };
    session.end(patience).await;
    for outcome in &mut outcomes {
        if outcome.verdict != Verdict::Pass {
            continue;
        }
        match outcome.check.asks {
            Asks::Findings(codes) => outcome.verdict = session.of_findings(codes),
            Asks::End => outcome.verdict = session.of_end(),
            Asks::Answers => {
                let fallen = session.fallen.take();
                outcome.verdict = fallen.map_or(Verdict::Pass, Verdict::Fail);
            }
            Asks::Request(..) | Asks::Frames(..) | Asks::Http(..) => {}
        }
    }
    Ok(Conformity {
        offer: facts.offer,
        outcomes,
        gone: session.gone,
    })
}

/// Says so if the server does not speak the revision that is to be judged: it chose another one, or does not name it.
fn not_spoken(wanted: RevisionWanted, offer: &Offer) -> Option<Disruption> {
    let RevisionWanted::Exactly(wanted) = wanted else {
        return None;
    };
    let chosen = offer.revision().unwrap_or_default();
    let named = offer.said("supportedVersions").and_then(Value::as_array);
    let is_named = named.is_none_or(|named| named.iter().any(|it| it == wanted.name()));
    let why = if chosen != wanted.name() {
        format!("the server does not speak {wanted}: it chose {chosen}")
    } else if !is_named {
        format!("the server does not speak {wanted}: `supportedVersions` does not name it")
    } else {
        return None;
    };
    let kind = DisruptionKind::Unsupported;
    Some(Disruption::new(kind, Phase::Handshake, why))
}

/// The server while it is checked.
struct Session<'a> {
    asked: &'a Asked<'a>,
    open: Option<Open>,
    /// What the sessions noted by themselves: message and frame, by code.
    noted: BTreeMap<&'static str, String>,
    /// How it ended, or fell silent, the first time: that is one finding, whatever else it was asked.
    fallen: Option<String>,
    /// Why it could not be started any more.
    gone: Option<String>,
    /// How the last one ended.
    ended: Option<Ending>,
}

impl Session<'_> {
    async fn end(&mut self, patience: Patience) {
        if let Some(open) = self.open.take() {
            let ended = Box::pin(open.end_within(patience, self.asked.host)).await;
            self.ended = ended.exit.map(|exit| exit.ending);
        }
    }

    fn note_findings(&mut self) {
        let findings = self.open.as_mut().map(Open::take_findings);
        self.note(findings.unwrap_or_default());
    }

    fn note(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            let frame = finding.frame.map(|frame| format!(": {frame}"));
            let text = format!("{}{}", finding.message, frame.unwrap_or_default());
            self.noted.entry(finding.code.code()).or_insert(text);
        }
    }

    /// A session that works; a fresh one where the last one ended.
    async fn live(&mut self) -> Option<&mut Open> {
        if self.open.as_mut().is_some_and(|open| !open.is_usable()) {
            self.end(Patience::default()).await;
        }
        if self.open.is_none() && self.gone.is_none() && !self.asked.is_interrupted() {
            match self.asked.open().await {
                Ok(open) => self.open = Some(open),
                Err(Unanswered { disruption, .. }) => self.gone = Some(disruption.message),
            }
        }
        self.open.as_mut()
    }

    async fn perform(&mut self, subject: &Subject) -> Option<Observation> {
        let open = self.live().await?;
        let mut seen = open.perform(subject).await;
        let findings = std::mem::take(&mut seen.findings);
        self.note(findings);
        Some(seen)
    }

    async fn judged(&mut self, check: &'static Check, facts: &Facts) -> Verdict {
        let (sent, handshake, judge) = match check.asks {
            // They are read when everything else is over.
            Asks::Findings(_) | Asks::Answers | Asks::End => return Verdict::Pass,
            Asks::Request(method, params, judge) => {
                // No other request of the session has it.
                let id = CHECKS.iter().take_while(|it| it.code != check.code).count();
                let frame = checks::request(facts, &json!(FIRST_ID + id), method, params);
                (vec![frame], RawHandshake::Made, judge)
            }
            Asks::Frames(handshake, frames, judge) => (frames(facts), handshake, judge),
            Asks::Http(headers, body) => {
                let call = http::call(headers, body.map(|body| body(facts)));
                let seen = self.perform(&Subject::Http(Box::new(call))).await;
                let judged = |seen| http::judged(&seen, body.is_none());
                return seen.map_or(Verdict::CouldNotRun, judged);
            }
        };
        let is_silent = sent.iter().all(|it| it.get("id").is_none());
        let frames = sent.into_iter().map(ValueTemplate::new);
        let subject = Subject::Raw(RawExchange {
            send: frames.map(RawFrame::Json).collect(),
            handshake,
            within: if is_silent {
                SILENCE
            } else {
                self.asked.timeout
            },
        });
        let seen = match handshake {
            RawHandshake::Omitted => self.unshaken(&subject).await,
            RawHandshake::Made => self.perform(&subject).await,
        };
        seen.map_or(Verdict::CouldNotRun, |seen| self.of_frames(&seen, judge))
    }

    /// Frames on a connection of their own, on which no handshake was made.
    async fn unshaken(&mut self, subject: &Subject) -> Option<Observation> {
        match self.asked.connected().await {
            Ok(mut open) => {
                let seen = open.perform(subject).await;
                Box::pin(open.end(self.asked.host)).await;
                Some(seen)
            }
            Err(disruption) => {
                self.gone = Some(disruption.message);
                None
            }
        }
    }

    /// Calls the tools that declare to only read, with what their schemas suggest: what they answer is held against the
    /// revision and their own schemas.
    async fn call_tools(&mut self, facts: &Facts) {
        let told = self.asked.effects;
        let reads = |tool: &&Value| effect(tool, told) == Effect::Read;
        let tools = facts.offer.entries(Listing::Tools).iter().filter(reads);
        for tool in tools.take(MOST_CALLS) {
            let made = sample_of(tool, Which::Required, &Sources::default());
            let name = parameters::text(tool, "name").unwrap_or_default();
            if made.refused.is_some() {
                continue;
            }
            if let Some(open) = self.live().await {
                let mut seen = open.call(&name, made.arguments).await;
                let mut findings = std::mem::take(&mut seen.findings);
                if let Some(answer) = &seen.answer {
                    findings.extend(check::findings_of_answer(answer, &facts.offer.catalog));
                }
                self.note(findings);
            }
        }
    }

    fn of_frames(&mut self, seen: &Observation, judge: checks::Judge) -> Verdict {
        let Some(reply) = seen.answer.as_ref().and_then(Answer::reply) else {
            self.note_fall(seen.disruption.as_ref());
            return Verdict::CouldNotRun;
        };
        // Notifications, requests and noise may stand between its answers.
        let frames = reply.raw.as_array().into_iter().flatten();
        let frames = frames.flat_map(|it| {
            it.as_array()
                .map_or(std::slice::from_ref(it), Vec::as_slice)
        });
        let answers = frames.filter(|it| it.is_object() && it.get("method").is_none());
        let mut answers: Vec<Value> = answers.cloned().collect();
        let lack = reply.frames.as_ref().and_then(|it| it.lack.as_deref());
        let status = lack.and_then(|lack| lack.strip_prefix("HTTP ")?.get(..4));
        match (status, lack) {
            // A refusal that no id belongs to.
            (Some("400 " | "404 "), Some(lack)) => {
                answers.push(json!({"error": {"message": lack}}));
            }
            (Some("401 " | "403 " | "429 "), _) if answers.is_empty() => {
                return Verdict::CouldNotRun;
            }
            (_, Some(lack)) if answers.is_empty() => {
                self.fallen.get_or_insert_with(|| lack.to_owned());
                return Verdict::CouldNotRun;
            }
            (_, Some(_) | None) => {}
        }
        judge(&answers).map_or_else(Verdict::Fail, |()| Verdict::Pass)
    }

    /// Notes that there was no answer, as far as that is the server's doing.
    fn note_fall(&mut self, why: Option<&Disruption>) {
        let kinds = [
            DisruptionKind::Crash,
            DisruptionKind::Timeout,
            DisruptionKind::Violation,
            DisruptionKind::Transport,
        ];
        let its = why.filter(|it| it.phase == Phase::Subject && kinds.contains(&it.kind));
        if let (None, Some(disruption)) = (&self.fallen, its) {
            self.fallen = Some(disruption.message.clone());
        }
    }

    fn of_findings(&self, codes: &str) -> Verdict {
        let mut codes = codes.split(' ');
        let first = codes.find_map(|code| Some((code, self.noted.get(code)?)));
        first.map_or(Verdict::Pass, |(code, text)| {
            Verdict::Fail(format!("{code}: {text}"))
        })
    }

    fn of_end(&self) -> Verdict {
        let how = match self.ended {
            Some(Ending::StdinClosed | Ending::Asked | Ending::ByItself) => return Verdict::Pass,
            Some(Ending::Terminated) => "its stdin was closed; SIGTERM ended it",
            Some(Ending::Killed) => "its stdin was closed and after SIGTERM",
            None => return Verdict::CouldNotRun,
        };
        Verdict::Fail(format!("it lived on after {how}"))
    }
}
