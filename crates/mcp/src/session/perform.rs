//! One assertion on a session: handshake, setup, subject, each in its phase.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Observed, Script, Session, Whose, call::Call, steps::Sequence};
use crate::{
    observation::{
        StepPart,
        answer::{Answer, Body, Interest, Unserved},
        disruption::{Disruption, DisruptionKind, Phase},
    },
    protocol::method::Method,
    script::{
        subject::{
            CompletionCall, ListCall, PromptsCall, RawHandshake, ResourcesAction, ResourcesCall,
            StepOrder, Subject, ToolCall,
        },
        template::{Bindings, Template, UnknownName, ValueTemplate},
    },
};

/// A level of log messages that was set.
#[derive(Debug)]
pub(super) struct LevelSet {
    /// What the server said to it; nothing where it is part of the requests from then on.
    answer: Option<Answer>,
    /// How many notifications had come before.
    notifications: usize,
}

impl Session {
    /// Everything an assertion does. What was seen on the way is kept in `seen`, whatever this returns.
    pub(super) async fn play(&mut self, script: Script<'_, '_>) -> Observed<()> {
        let bare = if let Subject::Raw(exchange) = script.subject {
            exchange.handshake == RawHandshake::Omitted
        } else if matches!(script.subject, Subject::Initialize) && self.facts.is_none() {
            let answer = self.shake_hands().await?;
            self.handshake = Some(answer);
            self.facts.is_none()
        } else {
            matches!(script.subject, Subject::Http(_)) && script.setup.is_empty()
        };
        if !bare {
            self.need_hands().await?;
            self.set_up(script).await?;
        }
        self.seen.reached = Phase::Subject;
        let (began, aside) = (Instant::now(), self.seen.timings.aside);
        let played = self.observe(script).await;
        let timings = &mut self.seen.timings;
        timings.subject = (began.elapsed() + aside).saturating_sub(timings.aside);
        played
    }

    async fn set_up(&mut self, script: Script<'_, '_>) -> Observed<()> {
        if script.setup.is_empty() {
            return Ok(());
        }
        self.seen.reached = Phase::Setup;
        let began = Instant::now();
        // The steps of the setup are of this level too, unless one of them captures it.
        if let Subject::Logging { level, call, .. } = script.subject
            && let Some(Ok(level)) = level.as_ref().map(|it| it.render(&self.bindings))
        {
            self.level = Some(Box::pin(self.set_level(level, call.as_deref())).await?);
        }
        let sequence = Sequence {
            part: StepPart::Setup,
            steps: script.setup,
            hooks: script.hooks,
        };
        let done = Box::pin(self.one_by_one(sequence)).await;
        let timings = &mut self.seen.timings;
        timings.setup = began.elapsed().saturating_sub(timings.aside);
        done
    }

    /// The subject, what the server says after its answer, and what is done when nobody listens any more.
    async fn observe(&mut self, script: Script<'_, '_>) -> Observed<()> {
        self.subject(script).await?;
        self.listen(script.hooks, &[Whose::Subject]).await?;
        if let Subject::Resources(call) = script.subject
            && let Some(uri) = &call.unsubscribe
        {
            let uri = self.text_with(uri, &self.bindings.of_subscribing())?;
            Box::pin(self.end_subscription(&uri)).await?;
        }
        Ok(())
    }

    async fn subject(&mut self, script: Script<'_, '_>) -> Observed<()> {
        // Nearly all assertions call a tool: the room for everything else is made where it is used.
        let answer = match script.subject {
            Subject::Tool(call) | Subject::Sampling(call) | Subject::Elicitation(call) => {
                self.tool(call).await?
            }
            Subject::Tools(call) => Box::pin(self.listing(Method::ToolsList, call)).await?,
            Subject::Initialize => {
                // The handshake was made already; its answer is what is looked at.
                self.seen.answer.clone_from(&self.handshake);
                return Ok(());
            }
            Subject::Resources(call) => return Box::pin(self.resources(call)).await,
            Subject::Prompts(call) => Box::pin(self.prompts(call)).await?,
            Subject::Completion(call) => Box::pin(self.completion(call)).await?,
            Subject::Logging { level, call, .. } => {
                let asked = (level.as_ref(), call.as_deref());
                Box::pin(self.logging(asked)).await?
            }
            Subject::Notifications { call, .. } => {
                Box::pin(self.hear_of_changes()).await?;
                self.tool(call).await?
            }
            Subject::Steps { steps, order } => {
                let sequence = Sequence {
                    part: StepPart::Subject,
                    steps,
                    hooks: script.hooks,
                };
                return match order {
                    StepOrder::OneByOne => Box::pin(self.one_by_one(sequence)).await,
                    StepOrder::Parallel => Box::pin(self.all_at_once(sequence)).await,
                };
            }
            Subject::Raw(exchange) => {
                return Box::pin(self.raw(exchange, script.hooks.on_end)).await;
            }
            Subject::Http(call) => return Box::pin(self.http(call)).await,
            Subject::Trajectory(_) => {
                let message = format!("`{}` is nothing that a session does", script.subject.key());
                return Err(self.cannot(DisruptionKind::Unsupported, message).into());
            }
        };
        self.seen.answer = Some(answer);
        Ok(())
    }

    async fn tool(&mut self, call: &ToolCall) -> Observed<Answer> {
        let call = self.tool_call(call)?;
        self.learn_mirrored().await;
        self.call(call).await
    }

    /// The request of a tool call, with its values.
    pub(super) fn tool_call(&self, call: &ToolCall) -> Observed<Call> {
        let name = self.text(&call.tool)?;
        let arguments = self.value(&call.args)?;
        Ok(Call {
            method: Method::ToolsCall,
            params: json!({"name": name, "arguments": arguments}),
            tool: Some(name),
            page: None,
        })
    }

    async fn listing(&mut self, method: Method, call: &ListCall) -> Observed<Answer> {
        let is_stateless = self.exchange.dialogue.revision.is_stateless();
        let cursor = match &call.cursor {
            Some(cursor) => Some(self.text_with(cursor, &self.bindings.of_reading())?),
            None => None,
        };
        let cursor = cursor.filter(|cursor| !cursor.is_empty() || is_stateless);
        self.list(method, cursor).await
    }

    async fn resources(&mut self, call: &ResourcesCall) -> Observed<()> {
        let mut answer = None;
        if let Some(uri) = &call.subscribe {
            let uri = self.text_with(uri, &self.bindings.of_subscribing())?;
            let request = self.subscription(&uri);
            let named = format!("`{}`", request.method.name());
            let mut subscribed = self.call(request).await?;
            subscribed.interest = Some(Interest::Updates(uri));
            if call.action.is_some() {
                self.accepted(&named, &subscribed)?;
            }
            answer = Some(subscribed);
        }
        if let Some(action) = &call.action {
            let mut acted = match action {
                ResourcesAction::List(list) => self.listing(Method::ResourcesList, list).await?,
                ResourcesAction::Templates(list) => {
                    self.listing(Method::ResourceTemplatesList, list).await?
                }
                ResourcesAction::Read(uri) => {
                    let uri = self.text_with(uri, &self.bindings.of_reading())?;
                    let request = Call::new(Method::ResourcesRead, json!({ "uri": uri }));
                    self.call(request).await?
                }
            };
            // Updates may come between the subscription and what is done next.
            if let Some(subscribed) = answer {
                acted.notifications.start = subscribed.notifications.start;
                acted.interest = subscribed.interest;
            }
            answer = Some(acted);
        }
        self.seen.answer = answer;
        Ok(())
    }

    async fn prompts(&mut self, call: &PromptsCall) -> Observed<Answer> {
        match call {
            PromptsCall::List(list) => self.listing(Method::PromptsList, list).await,
            PromptsCall::Get { name, arguments } => {
                let call = self.prompt_call(name, arguments)?;
                self.call(call).await
            }
        }
    }

    /// The request for a prompt, with its values.
    pub(super) fn prompt_call(&self, name: &Template, arguments: &ValueTemplate) -> Observed<Call> {
        let name = self.text(name)?;
        let arguments = self.value(arguments)?;
        let mut params = json!({ "name": name });
        if !arguments.is_null()
            && let Value::Object(members) = &mut params
        {
            members.insert("arguments".into(), arguments);
        }
        Ok(Call::new(Method::PromptsGet, params))
    }

    async fn completion(&mut self, call: &CompletionCall) -> Observed<Answer> {
        let mut params = json!({
            "ref": self.value(&call.reference)?,
            "argument": self.value(&call.argument)?,
        });
        if let (Some(context), Value::Object(members)) = (&call.context, &mut params) {
            let arguments = self.value(context)?;
            members.insert("context".into(), json!({ "arguments": arguments }));
        }
        self.call(Call::new(Method::CompletionComplete, params))
            .await
    }

    async fn set_level(&mut self, level: String, call: Option<&ToolCall>) -> Observed<LevelSet> {
        let dialogue = &mut self.exchange.dialogue;
        if dialogue.revision.is_stateless() {
            dialogue.log_levels.want(level);
            return Ok(LevelSet {
                answer: None,
                notifications: dialogue.record.notifications.len(),
            });
        }
        let request = Call::new(Method::LoggingSetLevel, json!({ "level": level }));
        let mut set = self.call(request).await?;
        set.interest = Some(Interest::Logs);
        if call.is_some() {
            self.accepted("`logging/setLevel`", &set)?;
        }
        Ok(LevelSet {
            notifications: set.notifications.start,
            answer: Some(set),
        })
    }

    async fn logging(
        &mut self,
        (level, call): (Option<&Template>, Option<&ToolCall>),
    ) -> Observed<Answer> {
        let set = match (self.level.take(), level) {
            (Some(mut set), _) => {
                set.answer = set.answer.map(|answer| self.until_now(answer));
                Some(set)
            }
            (None, Some(level)) => {
                let level = self.text(level)?;
                Some(self.set_level(level, call).await?)
            }
            (None, None) => None,
        };
        match (set, call) {
            (set, Some(call)) => {
                let mut called = self.tool(call).await?;
                if let Some(set) = set {
                    called.notifications.start = set.notifications;
                    called.interest = Some(Interest::Logs);
                }
                Ok(called)
            }
            (
                Some(LevelSet {
                    answer: Some(answer),
                    ..
                }),
                None,
            ) => Ok(answer),
            (Some(LevelSet { answer: None, .. }), None) => {
                let message = format!(
                    "`assert_logging` names no tool: in {} a level is part of the request that it is for",
                    self.exchange.dialogue.revision
                );
                Err(self.cannot(DisruptionKind::Unsupported, message).into())
            }
            (None, None) => {
                let message = "`assert_logging` names neither a level nor a tool".to_owned();
                Err(self.cannot(DisruptionKind::Invalid, message).into())
            }
        }
    }

    /// An answer to which belongs what came until now, as if it had come now.
    fn until_now(&mut self, mut answer: Answer) -> Answer {
        answer.at_us = self.exchange.connection.clock().at_us();
        let (told, asked) = self.exchange.dialogue.record.arrived();
        answer.on_time = told;
        answer.notifications.end = told;
        answer.server_requests.end = asked;
        answer
    }

    /// An answer that something else depends on is required to be a result.
    pub(super) fn accepted(&self, what: &str, answer: &Answer) -> Observed<()> {
        let Body::ProtocolError(error) = &answer.body else {
            return Ok(());
        };
        let message = format!("{what} was refused with {error}");
        let mut disruption = self.cannot(DisruptionKind::ProtocolError, message);
        disruption.help = match answer.unserved {
            Some(Unserved::Undeclared(capability)) => {
                let method = Method::that_begins(self.exchange.dialogue.revision).name();
                Some(format!(
                    "the server declares no capability `{capability}` in its answer to `{method}`"
                ))
            }
            Some(Unserved::Optional(_)) | None => None,
        };
        Err(disruption.into())
    }

    /// A disruption in the present phase.
    pub(super) fn cannot(&self, kind: DisruptionKind, message: String) -> Disruption {
        Disruption::new(kind, self.seen.reached, message)
    }

    /// A text with its values.
    pub(super) fn text(&self, template: &Template) -> Observed<String> {
        self.text_with(template, &self.bindings)
    }

    fn text_with(&self, template: &Template, bindings: &Bindings) -> Observed<String> {
        template
            .render(bindings)
            .map_err(|unknown| self.nameless(&unknown).into())
    }

    /// A JSON value with its values.
    pub(super) fn value(&self, template: &ValueTemplate) -> Observed<Value> {
        template
            .render(&self.bindings)
            .map_err(|unknown| self.nameless(&unknown).into())
    }

    fn nameless(&self, unknown: &UnknownName) -> Disruption {
        match &unknown.uncaptured {
            Some(uncaptured) => self
                .cannot(DisruptionKind::Step, unknown.to_string())
                .with_frame(uncaptured.frame.clone()),
            None => self.cannot(DisruptionKind::Invalid, unknown.to_string()),
        }
    }
}
