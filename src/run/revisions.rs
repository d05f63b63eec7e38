//! Assertions on several revisions: which ones a server speaks, and what it answers differently on them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{attempt, catalogs::asking, job::Shared};
use check::outcome::{
    Outcome,
    event::{Event, News},
};
use mcp::{
    observation::{
        Observation,
        answer::Body,
        finding::{FindingCode, note},
    },
    protocol::revision::Revision,
    script::subject::Subject,
};
use suite::plan::{
    Plan,
    job::{Job, OnRevision, Planned, RunJob, Work},
    servers::Servers,
};
use text::around_both;

/// How much of an answer is shown, in characters.
const SHOWN: usize = 200;

/// Members of a result that only carry the protocol of its revision.
const OF_THE_PROTOCOL: [&str; 4] = ["_meta", "resultType", "ttlMs", "cacheScope"];

/// Whether a server speaks a revision, or why not.
type Spoken = Result<(), String>;

/// Leaves out the jobs whose servers do not speak their revisions. Each server is asked in a session of its own for each
/// revision, because some keep to the revision of their first request. One that speaks none keeps the jobs of the newest
/// handshake, which say what is wrong.
pub(super) async fn leave_out_unspoken(shared: &mut Shared, emit: &mut impl FnMut(Event)) {
    let mut asked: BTreeMap<Question, &Planned> = BTreeMap::new();
    let servers = &shared.plan.servers;
    for job in &shared.plan.jobs {
        if let Some((question, planned)) = if_spoken(job, servers) {
            asked.entry(question).or_insert(planned);
        }
    }
    if asked.is_empty() {
        return;
    }
    let what = "asking servers which revisions they speak".to_owned();
    emit(Event::Preparing {
        what,
        news: News::Begun,
    });
    let asking = asked
        .iter()
        .map(|((_, revision), planned)| speaks(planned, *revision, shared));
    let answers: Vec<Spoken> = stream::iter(asking)
        .buffered(shared.options.jobs.max(1))
        .collect()
        .await;
    let spoken: BTreeMap<_, _> = asked.into_keys().zip(answers).collect();
    if shared.options.interrupt.is_cancelled() {
        return;
    }
    for what in told(&spoken) {
        emit(Event::Preparing {
            what,
            news: News::Begun,
        });
    }
    let Plan { jobs, servers, .. } = &mut shared.plan;
    jobs.retain(|job| {
        let Some(((server, revision), _)) = if_spoken(job, servers) else {
            return true;
        };
        let speaks = |revision| matches!(spoken.get(&(server, revision)), Some(Ok(())));
        let speaks_none = || !Revision::ALL.into_iter().any(speaks);
        speaks(revision) || revision == Revision::NEWEST_HANDSHAKE && speaks_none()
    });
}

/// Whether a server, by its place among those whose lists are kept, speaks a revision.
type Question = (usize, Revision);

/// What a job hangs on that runs only where its revision is spoken.
fn if_spoken<'a>(job: &'a Job, servers: &Servers) -> Option<(Question, &'a Planned)> {
    let Work::Run(planned) = &job.work else {
        return None;
    };
    match planned.terms.revision {
        Some(OnRevision::IfSpoken(revision)) => {
            let server = servers.listed.get(planned.terms.listed?)?;
            Some(((server.place, revision), planned))
        }
        Some(OnRevision::Named(_)) | None => None,
    }
}

/// Asks in a session of its own.
async fn speaks(planned: &Planned, revision: Revision, shared: &Shared) -> Spoken {
    let planned = asking(planned);
    let deadline = Instant::now() + planned.terms.timeout;
    let (mut live, bindings) = match attempt::open(&planned, shared).await {
        Ok(opened) => opened,
        Err(disruption) => return Err(disruption.message),
    };
    let spoken = tokio::select! {
        agreed = live.session.greet(&bindings, deadline) => match agreed {
            Ok(agreed) if agreed == revision => Ok(()),
            Ok(other) => Err(format!("it answers with {other}")),
            Err(why) => Err(why),
        },
        () = shared.options.interrupt.cancelled() => Err("interrupted".to_owned()),
    };
    live.abandon(shared).await;
    spoken
}

/// For each server that speaks any, in a line: which revisions, and which not.
fn told(spoken: &BTreeMap<Question, Spoken>) -> Vec<String> {
    let mut servers: BTreeMap<usize, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for ((server, revision), answer) in spoken {
        let (yes, no) = servers.entry(*server).or_default();
        match answer {
            Ok(()) => yes.push(revision.to_string()),
            Err(why) => no.push(format!("{revision}: {why}")),
        }
    }
    let speaking = servers.into_values().filter(|(yes, _)| !yes.is_empty());
    let told = speaking.map(|(yes, no)| {
        let no: Vec<String> = no.into_iter().map(|it| format!("; not {it}")).collect();
        format!("the server speaks {}{}", yes.join(", "), no.concat())
    });
    told.collect()
}

/// What was answered, as it is compared with what is answered on other revisions; `None` where there is no answer,
/// or a difference means nothing: what begins a session, and frames written for one revision.
pub(super) fn answered(job: &RunJob, seen: &Observation) -> Option<String> {
    job.planned.terms.revision?;
    match &job.body.subject {
        Subject::Initialize | Subject::Raw(_) | Subject::Http(_) | Subject::Trajectory(_) => {
            return None;
        }
        Subject::Tool(_)
        | Subject::Tools(_)
        | Subject::Resources(_)
        | Subject::Prompts(_)
        | Subject::Completion(_)
        | Subject::Sampling(_)
        | Subject::Elicitation(_)
        | Subject::Logging { .. }
        | Subject::Notifications { .. }
        | Subject::Steps { .. } => {}
    }
    Some(match &seen.answer.as_ref()?.body {
        Body::Result(reply) => {
            let mut result = reply.raw.clone();
            if let Value::Object(members) = &mut result {
                members.retain(|name, _| !OF_THE_PROTOCOL.contains(&name.as_str()));
            }
            // In which order members stand means nothing.
            result.sort_all_objects();
            result.to_string()
        }
        Body::ProtocolError(error) => json!({ "error": error.raw }).to_string(),
    })
}

/// The runs of one assertion on several revisions that are not over.
#[derive(Debug, Default)]
pub(super) struct Repeated(HashMap<Repetition, Answers>);

/// The assertion by its place in memory, the trial, and the server's place.
type Repetition = (usize, u32, usize);

/// How many answers are still to come, and those that came.
#[derive(Debug, Default)]
struct Answers {
    open: usize,
    came: Vec<(Revision, String)>,
}

impl Repeated {
    /// All of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let mut repeated = Self::default();
        let repetition = |job| repetition(job, &plan.servers);
        for (repetition, _) in plan.jobs.iter().filter_map(repetition) {
            repeated.0.entry(repetition).or_default().open += 1;
        }
        repeated
    }

    /// Takes an outcome; adds a finding to the last one of an assertion whose answers differ.
    pub(super) fn compare(&mut self, job: &Job, servers: &Servers, outcome: &mut Outcome) {
        let Some((repetition, revision)) = repetition(job, servers) else {
            return;
        };
        let Some(answers) = self.0.get_mut(&repetition) else {
            return;
        };
        answers.open = answers.open.saturating_sub(1);
        let answer = outcome.answer.take();
        answers.came.extend(answer.map(|answer| (revision, answer)));
        if answers.open > 0 {
            return;
        }
        let answers = self.0.remove(&repetition).unwrap_or_default();
        if let Some(message) = difference(&answers.came) {
            note(
                &mut outcome.findings,
                FindingCode::RevisionsDiffer,
                message,
                None,
            );
        }
    }
}

fn repetition(job: &Job, servers: &Servers) -> Option<(Repetition, Revision)> {
    let Work::Run(planned) = &job.work else {
        return None;
    };
    let revision = planned.terms.revision?.revision();
    let server = servers.listed.get(planned.terms.listed?)?;
    let case = Arc::as_ptr(&job.case).addr();
    Some(((case, job.trial, server.place), revision))
}

/// Two answers that differ, with the revisions of each; `None` where all are equal.
fn difference(answers: &[(Revision, String)]) -> Option<String> {
    let (_, one) = answers.first()?;
    let (_, other) = answers.iter().find(|(_, answer)| answer != one)?;
    let on = |wanted: &String| {
        let same = answers.iter().filter(|(_, answer)| answer == wanted);
        let names: Vec<&str> = same.map(|(revision, _)| revision.name()).collect();
        names.join(", ")
    };
    let (shown, shown_other) = around_both(one, other, SHOWN);
    Some(format!(
        "on {} the answer is {shown}, on {} it is {shown_other}",
        on(one),
        on(other)
    ))
}

#[cfg(test)]
mod tests {
    use super::{Revision, difference};

    #[test]
    fn a_difference_names_both_answers_and_all_their_revisions() {
        let case = |answers: &[(Revision, &str)]| {
            let answers = answers
                .iter()
                .map(|(on, answer)| (*on, (*answer).to_owned()));
            difference(&answers.collect::<Vec<_>>())
        };
        let (old, new) = (Revision::V2025_11_25, Revision::V2026_07_28);
        assert_eq!(case(&[]), None);
        assert_eq!(case(&[(old, "a"), (new, "a")]), None);
        let differs = case(&[(Revision::V2025_06_18, "a"), (old, "a"), (new, "b")]);
        let wanted = "on 2025-06-18, 2025-11-25 the answer is a, on 2026-07-28 it is b";
        assert_eq!(differs.as_deref(), Some(wanted));
    }
}
