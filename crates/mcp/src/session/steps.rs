//! Steps: one after another with captures between them, or all at once.

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;
use tokio::time::Instant;

use super::{
    Hooks, Observed, OnEnd, Session, Whose,
    call::{Call, Pending},
    capture::capture,
    record::shown,
};
use crate::{
    observation::{
        StepPart, StepSeen,
        answer::{Answer, Body},
        disruption::{Disruption, DisruptionKind},
    },
    protocol::{message::RpcError, method::Method},
    script::{
        subject::{OnToolError, Step, StepAction},
        template::Uncaptured,
    },
};

/// Steps that wait for each other.
#[derive(Clone, Copy)]
pub(super) struct Sequence<'a, 'h> {
    pub(super) part: StepPart,
    pub(super) steps: &'a [Step],
    pub(super) hooks: &'a Hooks<'h>,
}

/// What a step waits for.
enum Due {
    /// The answer to a request.
    Answer(Call),
    /// Nothing but that a time passes.
    Time(Duration),
    /// Nothing: the requests after it ask for log messages of this level.
    Level(String),
}

impl Session {
    /// Steps one after another; what each left behind is looked at before the next one begins.
    pub(super) async fn one_by_one(&mut self, sequence: Sequence<'_, '_>) -> Observed<()> {
        for (index, step) in sequence.steps.iter().enumerate() {
            let place = self.seen.steps.len();
            let seen = StepSeen::new(sequence.part, index, label(&step.action));
            self.seen.steps.push(seen);
            let hooks = sequence.hooks;
            let done = self.step((step, place), hooks.on_end);
            let done = done.await;
            done.map_err(in_step(index))?;
            self.listen(hooks, &[Whose::Step(sequence.part, index)])
                .await?;
            if let Some(look) = (hooks.after_step)(sequence.part, index) {
                let began = Instant::now();
                let looked = self.exchange.meanwhile(look(self.bindings.clone())).await;
                self.seen.timings.aside += began.elapsed();
                let files = looked.map_err(|mut disruption| {
                    disruption.phase = self.seen.reached;
                    in_step(index)(disruption.into())
                })?;
                self.seen.steps[place].files = files;
            }
        }
        Ok(())
    }

    async fn step(&mut self, (step, place): (&Step, usize), on_end: OnEnd) -> Observed<()> {
        let call = match self.step_call(&step.action)? {
            Due::Answer(call) => {
                if call.method == Method::ToolsCall {
                    self.learn_mirrored().await;
                }
                call
            }
            Due::Time(time) => {
                let spell = (Instant::now(), time);
                return Box::pin(self.pause(spell, on_end)).await;
            }
            Due::Level(level) => {
                self.exchange.dialogue.log_levels.want(level);
                return Ok(());
            }
        };
        let answer = self.call(call).await?;
        self.arrived(step, place, answer)
    }

    /// The answer of a step: kept, judged as far as the steps after it need it, captured from.
    fn arrived(&mut self, step: &Step, place: usize, answer: Answer) -> Observed<()> {
        let mut captured = BTreeMap::new();
        let mut uncaptured = BTreeMap::new();
        let taken = self.proceed(step, &answer).and_then(|()| {
            let reply = match &answer.body {
                Body::Result(reply) => reply,
                Body::ProtocolError(error) => {
                    uncaptured = self.uncaptured(step, place, error);
                    return Ok(());
                }
            };
            for wanted in &step.captures {
                let value = capture(wanted, reply, &self.bindings).map_err(|reason| {
                    let message = format!(
                        "`{}` cannot be captured from `{}`: {reason}",
                        wanted.name, wanted.written
                    );
                    let disruption = self.cannot(DisruptionKind::Step, message);
                    Box::new(disruption.with_frame(shown(reply.raw.to_string().as_bytes())))
                })?;
                captured.insert(wanted.name.clone(), value);
            }
            Ok(())
        });
        self.bindings.captured.extend(captured.clone());
        self.bindings.uncaptured.extend(uncaptured);
        let findings = self.exchange.dialogue.record.findings.len();
        if let Some(seen) = self.seen.steps.get_mut(place) {
            seen.findings = findings;
            seen.answer = Some(answer);
            seen.captured = captured;
        }
        if !step.captures.is_empty() {
            self.exchange.dialogue.client.bind(&self.bindings);
        }
        taken
    }

    /// What a step was to capture of an answer that is an error, and why there is nothing.
    fn uncaptured(
        &self,
        step: &Step,
        place: usize,
        error: &RpcError,
    ) -> BTreeMap<String, Uncaptured> {
        let which = self.seen.steps.get(place).map(StepSeen::name);
        let why = Uncaptured {
            reason: format!(
                "{}, which was answered with the error {error}",
                which.unwrap_or_default()
            ),
            frame: shown(error.raw.to_string().as_bytes()),
        };
        let names = step.captures.iter().map(|wanted| wanted.name.clone());
        names.map(|name| (name, why.clone())).collect()
    }

    /// Whether the steps after this one, and the subject, can go on.
    fn proceed(&self, step: &Step, answer: &Answer) -> Observed<()> {
        let label = label(&step.action);
        match (step.on_tool_error, &answer.body) {
            (OnToolError::Judged | OnToolError::Allowed, _) => Ok(()),
            (OnToolError::Stop, Body::Result(reply)) if reply.is_error => {
                let said = match reply.text.trim() {
                    "" => "it says nothing".to_owned(),
                    text => text::head(text, 400),
                };
                let message = format!("{label} answered with a tool error: {said}");
                Err(self.cannot(DisruptionKind::Step, message).into())
            }
            (OnToolError::Stop | OnToolError::PassOver, _) => self.accepted(&label, answer),
        }
    }

    /// Steps that are all sent before any answer is awaited.
    pub(super) async fn all_at_once(&mut self, sequence: Sequence<'_, '_>) -> Observed<()> {
        let Sequence { part, steps, hooks } = sequence;
        let mut pending: Vec<(usize, Pending)> = Vec::with_capacity(steps.len());
        let mut waits: Vec<(usize, Duration)> = Vec::new();
        let first = self.seen.steps.len();
        self.learn_mirrored().await;
        let began = Instant::now();
        for (index, step) in steps.iter().enumerate() {
            let seen = StepSeen::new(part, index, label(&step.action));
            self.seen.steps.push(seen);
            let call = self.step_call(&step.action);
            let sent = match call.map_err(in_step(index))? {
                Due::Answer(call) => self.start(call).await,
                Due::Time(time) => {
                    waits.push((index, time));
                    continue;
                }
                Due::Level(level) => {
                    self.exchange.dialogue.log_levels.want(level);
                    continue;
                }
            };
            pending.push((index, sent));
        }
        for (index, sent) in pending {
            let answered = match self.finish(sent).await {
                Ok(answer) => self.arrived(&steps[index], first + index, answer),
                Err(disruption) => Err(disruption),
            };
            answered.map_err(in_step(index))?;
        }
        let answers: Vec<Whose> = (0..steps.len())
            .map(|index| Whose::Step(part, index))
            .collect();
        self.listen(hooks, &answers).await?;
        for (index, time) in waits {
            let paused = Box::pin(self.pause((began, time), hooks.on_end)).await;
            paused.map_err(in_step(index))?;
        }
        Ok(())
    }

    /// What a step waits for.
    fn step_call(&self, action: &StepAction) -> Observed<Due> {
        Ok(Due::Answer(match action {
            StepAction::Tool(call) => self.tool_call(call)?,
            StepAction::Read(uri) => {
                let uri = self.text(uri)?;
                Call::new(Method::ResourcesRead, json!({ "uri": uri }))
            }
            StepAction::Prompt { name, arguments } => self.prompt_call(name, arguments)?,
            StepAction::Ping => Call::new(Method::Ping, serde_json::Value::Null),
            StepAction::SetLevel(level) => {
                let level = self.text(level)?;
                if self.exchange.dialogue.revision.is_stateless() {
                    return Ok(Due::Level(level));
                }
                Call::new(Method::LoggingSetLevel, json!({ "level": level }))
            }
            StepAction::Subscribe(uri) => {
                let uri = self.text(uri)?;
                self.subscription(&uri)
            }
            StepAction::Wait(time) => return Ok(Due::Time(*time)),
        }))
    }
}

/// Names the step a disruption happened in.
pub(super) fn in_step(index: usize) -> impl Fn(Box<Disruption>) -> Box<Disruption> {
    move |mut disruption| {
        disruption.step = Some(index);
        disruption
    }
}

/// The action of a step, for people.
fn label(action: &StepAction) -> String {
    match action {
        StepAction::Tool(call) => format!("tool `{}`", call.tool.text),
        StepAction::Read(uri) => format!("read `{}`", uri.text),
        StepAction::Prompt { name, .. } => format!("prompt `{}`", name.text),
        StepAction::Ping => "ping".to_owned(),
        StepAction::SetLevel(level) => format!("set_level `{}`", level.text),
        StepAction::Subscribe(uri) => format!("subscribe `{}`", uri.text),
        StepAction::Wait(time) => format!("wait {} ms", time.as_millis()),
    }
}
