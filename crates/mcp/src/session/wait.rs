//! Listening when nothing is due: after an answer, to what the server may still tell or ask; in a step that waits.

use std::{mem, time::Duration};

use tokio::time::{Instant, sleep_until};

use super::{Awaited, Hooks, Observed, OnEnd, Session, Whose, exchange::Halt, steps::in_step};
use crate::observation::{Observation, answer::Answer, disruption::DisruptionKind};

/// One time of listening after an answer.
struct PendingWait {
    whose: Whose,
    awaited: Awaited,
    /// The answer with what came until now, and nothing else.
    seen: Observation,
}

/// How many notifications and requests of the server had come.
type Arrived = (usize, usize);

impl Session {
    /// Listens after these answers until enough has come for what is wanted of each, and counts to each what came
    /// meanwhile. The times run side by side, each from its own answer on.
    pub(super) async fn listen(&mut self, hooks: &Hooks<'_>, answers: &[Whose]) -> Observed<()> {
        let mut waits: Vec<PendingWait> = Vec::new();
        for whose in answers.iter().copied() {
            if let Some(awaited) = (hooks.awaited)(whose, &self.bindings)
                && let Some(answer) = self.answer_of(whose).and_then(Option::take)
            {
                waits.push(PendingWait::new(whose, awaited, answer));
            }
        }
        if waits.is_empty() {
            return Ok(());
        }
        // Most answers are not listened after: the room for it is made where one is.
        Box::pin(self.keep_all(waits, hooks.on_end)).await
    }

    /// Listens after answers of which something is wanted.
    async fn keep_all(&mut self, mut waits: Vec<PendingWait>, on_end: OnEnd) -> Observed<()> {
        waits.sort_by_key(PendingWait::over_at_us);
        let mut listened = Ok(());
        let mut arrived = (0, 0);
        for mut wait in waits {
            if listened.is_ok() {
                let kept = self.keep(&mut wait, on_end).await;
                arrived = self.arrived_for(&wait, arrived).await;
                wait.count(arrived);
                listened = kept.map_err(|disruption| match wait.whose {
                    Whose::Step(_, index) => in_step(index)(disruption),
                    Whose::Subject => disruption,
                });
            }
            if let Some(answer) = self.answer_of(wait.whose) {
                *answer = wait.seen.answer;
            }
        }
        listened
    }

    /// Where an answer is kept.
    fn answer_of(&mut self, whose: Whose) -> Option<&mut Option<Answer>> {
        match whose {
            Whose::Step(part, index) => {
                let mut steps = self.seen.steps.iter_mut();
                let step = steps.find(|step| (step.part, step.index) == (part, index))?;
                Some(&mut step.answer)
            }
            Whose::Subject => Some(&mut self.seen.answer),
        }
    }

    /// Listens after one answer.
    async fn keep(&mut self, wait: &mut PendingWait, on_end: OnEnd) -> Observed<()> {
        // In this order no time of listening reaches beyond its end.
        let now = Instant::now();
        let now_us = self.exchange.connection.clock().at_us();
        let passed = Duration::from_micros(now_us.saturating_sub(wait.answered_at_us()));
        let Awaited {
            least, most, what, ..
        } = wait.awaited;
        if passed >= most {
            return Ok(());
        }
        let until = |time: Duration| now + time.saturating_sub(passed);
        let deadline = self.exchange.with_lost(self.deadline);
        let mut time = most;
        let mut waited = self.until_enough(wait, until(most).min(deadline)).await;
        if waited.is_ok() && Instant::now() < until(least) {
            time = least;
            let end = until(least).min(deadline);
            waited = self.exchange.until(end, |_| false).await;
        }
        let when = format!("before {what} had been waited for {} ms", time.as_millis());
        let in_time = until(time) <= deadline;
        self.heard_out(waited, in_time, on_end, &when).await
    }

    /// Takes lines until enough has come. What comes at once is looked at once, so that a flood costs little.
    async fn until_enough(&mut self, wait: &mut PendingWait, until: Instant) -> Result<(), Halt> {
        loop {
            let record = &mut self.exchange.dialogue.record;
            let arrived = record.arrived();
            wait.count(record.arrived_by(wait.over_at_us()));
            mem::swap(&mut wait.seen.notifications, &mut record.notifications);
            mem::swap(&mut wait.seen.server_requests, &mut record.server_requests);
            let enough = (wait.awaited.enough)(&wait.seen);
            mem::swap(&mut wait.seen.notifications, &mut record.notifications);
            mem::swap(&mut wait.seen.server_requests, &mut record.server_requests);
            if enough {
                return Ok(());
            }
            self.exchange
                .until(until, |dialogue| dialogue.record.arrived() != arrived)
                .await?;
            self.exchange.take_arrived().await;
        }
    }

    /// What had come when the time of listening was over. What was sent in time counts although it was read late, because
    /// this machine is busy or we were stopped; where lines were read after that time, what came after it is known.
    async fn arrived_for(&mut self, wait: &PendingWait, earlier: Arrived) -> Arrived {
        let over = wait.over_at_us();
        if self.exchange.dialogue.record.heard_at_us() <= over {
            self.exchange.take_come_by(over).await;
        }
        let (told, asked) = self.exchange.dialogue.record.arrived_by(over);
        (told.max(earlier.0), asked.max(earlier.1))
    }

    /// Listens until a time has passed since then, whatever comes.
    pub(super) async fn pause(
        &mut self,
        (since, time): (Instant, Duration),
        on_end: OnEnd,
    ) -> Observed<()> {
        let until = since + time;
        let deadline = self.exchange.with_lost(self.deadline);
        let waited = self.exchange.until(until.min(deadline), |_| false).await;
        let when = format!("in a wait of {} ms", time.as_millis());
        self.heard_out(waited, until <= deadline, on_end, &when)
            .await?;
        // Where the end of the server is what is observed, the time passes all the same.
        sleep_until(until.min(deadline)).await;
        Ok(())
    }

    /// What the way a time of listening ended means for what was to be observed in it; `when` says for people what may not
    /// have come to its end.
    async fn heard_out(
        &mut self,
        waited: Result<(), Halt>,
        in_time: bool,
        on_end: OnEnd,
        when: &str,
    ) -> Observed<()> {
        match (waited, on_end) {
            (Ok(()) | Err(Halt::Broken(_)), _)
            | (Err(Halt::Closed | Halt::Deaf(_)), OnEnd::IsObserved) => Ok(()),
            (Err(Halt::Deadline), _) if in_time => Ok(()),
            (Err(Halt::Deadline), _) => {
                let message = format!("that was {when}");
                Err(self.cannot(DisruptionKind::Timeout, message).into())
            }
            (Err(Halt::Closed), OnEnd::Disrupts) => Err(self.ended(when).await.into()),
            (Err(Halt::Deaf(reason)), OnEnd::Disrupts) => {
                if self.exchange.exit().await.is_some() {
                    return Err(self.ended(when).await.into());
                }
                let message = format!("the server stopped reading {when}: {reason}");
                Err(self.cannot(DisruptionKind::Transport, message).into())
            }
        }
    }
}

impl PendingWait {
    fn new(whose: Whose, awaited: Awaited, answer: Answer) -> Self {
        Self {
            whose,
            awaited,
            seen: Observation {
                answer: Some(answer),
                ..Observation::default()
            },
        }
    }

    fn answered_at_us(&self) -> u64 {
        let answer = self.seen.answer.as_ref();
        answer.map_or(0, |answer| answer.at_us)
    }

    /// When it is over at the latest, in microseconds of the job.
    fn over_at_us(&self) -> u64 {
        let most = u64::try_from(self.awaited.most.as_micros()).unwrap_or(u64::MAX);
        self.answered_at_us().saturating_add(most)
    }

    /// Counts to the answer what came until now.
    fn count(&mut self, (told, asked): Arrived) {
        if let Some(answer) = &mut self.seen.answer {
            answer.notifications.end = answer.notifications.end.max(told);
            answer.server_requests.end = answer.server_requests.end.max(asked);
        }
    }
}
