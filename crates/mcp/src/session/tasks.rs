//! A call that is answered with a task: it is asked for until it has the answer, and given what it needs (extension
//! `io.modelcontextprotocol/tasks`).

use std::{collections::HashSet, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Observed, Session,
    call::{Call, Pending},
    correlation::Settled,
    exchange::Halt,
};
use crate::{
    observation::{answer::Answer, disruption::DisruptionKind},
    protocol::{method::Method, result::inputs},
};

/// How long a task is left alone where the server does not say, in milliseconds.
const POLL_MS: u64 = 500;

/// How long the answer to a cancellation is waited for.
const FAREWELL: Duration = Duration::from_millis(500);

impl Session {
    /// Follows a task to its end; gives back the answer of the call. When the time is over the task is cancelled.
    pub(super) async fn follow(
        &mut self,
        pending: &Pending,
        mut created: Settled,
    ) -> Observed<Settled> {
        let task = created.response.result.take().unwrap_or_default();
        let params = json!({ "taskId": task.get("taskId") });
        let followed = self.follow_until(pending, (created, task), &params);
        let followed = followed.await;
        if let Err(disruption) = &followed
            && disruption.kind == DisruptionKind::Timeout
        {
            let ticket = self.exchange.ask(Method::TasksCancel, params).await;
            let soon = Instant::now() + FAREWELL;
            // Whatever becomes of it, the time of the assertion is over.
            let _ = self.exchange.answer(&ticket.id, soon).await;
        }
        followed
    }

    async fn follow_until(
        &mut self,
        pending: &Pending,
        (mut settled, mut task): (Settled, Value),
        params: &Value,
    ) -> Observed<Settled> {
        let mut given = HashSet::new();
        loop {
            let mut member = |name: &str| task.get_mut(name).map(Value::take).unwrap_or_default();
            match member("status").as_str() {
                Some("working") => {}
                Some("input_required") => {
                    let asked = member("inputRequests");
                    let asked = asked.as_object().into_iter().flatten();
                    let mut asked = inputs(asked)
                        .map_err(|reason| self.unusable(&pending.what, &reason, &settled.frame))?;
                    // What was given already may still be on its way.
                    asked.retain(|(key, _)| given.insert(key.clone()));
                    if !asked.is_empty() {
                        let mut params = params.clone();
                        params["inputResponses"] = self.give_all(asked, &settled, &pending.what)?;
                        self.of_task(Method::TasksUpdate, params).await?;
                    }
                }
                Some("completed") => {
                    let mut result = member("result");
                    // Inside of a task a result need not say what it is.
                    if let Value::Object(members) = &mut result {
                        members.entry("resultType").or_insert("complete".into());
                    }
                    settled.response.result = Some(result);
                    return Ok(settled);
                }
                Some("failed") => {
                    settled.response.error = Some(member("error"));
                    return Ok(settled);
                }
                Some("cancelled") => {
                    let message = format!("the server cancelled the task of {}", pending.what);
                    return Err(self.cannot(DisruptionKind::ProtocolError, message).into());
                }
                Some(_) | None => {
                    let reason = "it is a task of no known status";
                    return Err(self.unusable(&pending.what, reason, &settled.frame).into());
                }
            }
            let pause = member("pollIntervalMs").as_u64().unwrap_or(POLL_MS);
            let wake = Instant::now() + Duration::from_millis(pause.clamp(10, 30_000));
            let waited = self
                .exchange
                .until(wake.min(self.deadline), |_| false)
                .await;
            let is_over = |halt: &Halt| !matches!(halt, Halt::Deadline) || wake >= self.deadline;
            if let Some(halt) = waited.err().filter(is_over) {
                let what = format!("the task of {}", pending.what);
                return Err(self.disrupt(halt, &what).await);
            }
            let answer = self.of_task(Method::TasksGet, params.clone()).await?;
            settled.at_us = answer.at_us;
            settled.notifications = answer.on_time;
            settled.server_requests = answer.server_requests.end;
            task = answer
                .reply()
                .map(|reply| reply.raw.clone())
                .unwrap_or_default();
        }
    }

    /// A request about a task, whose answer is a result.
    async fn of_task(&mut self, method: Method, params: Value) -> Observed<Answer> {
        let answer = self.call(Call::new(method, params)).await?;
        self.accepted(&format!("`{}`", method.name()), &answer)?;
        Ok(answer)
    }
}
