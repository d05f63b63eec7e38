//! One assertion on a session: handshake, setup, subject, each in its phase.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Observed, Script, Session, call::Call, list::Pages, steps::Sequence, wait::Tally};
use crate::{
    observation::{
        StepPart,
        answer::{Answer, Body},
        disruption::{Disruption, DisruptionKind, Phase},
    },
    protocol::method::Method,
    suite::{
        model::subject::{
            CompletionCall, ListCall, Patience, PromptsCall, RawExchange, RawHandshake,
            ResourcesAction, ResourcesCall, StepOrder, Subject, ToolCall,
        },
        template::{Bindings, Template, UnknownName, ValueTemplate},
    },
};

impl Session {
    /// Everything an assertion does. What was seen on the way is kept in `seen`, whatever this returns.
    pub(super) async fn play(
        &mut self,
        script: Script<'_>,
        bindings: &mut Bindings,
        deadline: Instant,
    ) -> Observed<()> {
        let bare = match script.subject {
            Subject::Raw(exchange) => exchange.handshake == RawHandshake::Omitted,
            Subject::Initialize if self.facts.is_none() => {
                let answer = self.shake_hands(deadline).await?;
                self.handshake = Some(answer);
                self.facts.is_none()
            }
            Subject::Initialize
            | Subject::Tool(_)
            | Subject::Tools(_)
            | Subject::Resources(_)
            | Subject::Prompts(_)
            | Subject::Completion(_)
            | Subject::Sampling(_)
            | Subject::Elicitation(_)
            | Subject::Logging { .. }
            | Subject::Notifications { .. }
            | Subject::Trajectory(_)
            | Subject::Steps { .. }
            | Subject::Http(_) => false,
        };
        if !bare {
            self.need_hands(deadline).await?;
            self.set_up(script, bindings, deadline).await?;
        }
        self.begin_phase(Phase::Subject);
        let (began, aside) = (Instant::now(), self.seen.timings.aside);
        let played = self.subject(script, bindings, deadline).await;
        let timings = &mut self.seen.timings;
        timings.subject = (began.elapsed() + aside).saturating_sub(timings.aside);
        played
    }

    async fn set_up(
        &mut self,
        script: Script<'_>,
        bindings: &mut Bindings,
        deadline: Instant,
    ) -> Observed<()> {
        if script.setup.is_empty() {
            return Ok(());
        }
        self.begin_phase(Phase::Setup);
        let began = Instant::now();
        let sequence = Sequence {
            part: StepPart::Setup,
            steps: script.setup,
            lookout: script.lookout,
        };
        let done = self.one_by_one(sequence, bindings, deadline).await;
        let timings = &mut self.seen.timings;
        timings.setup = began.elapsed().saturating_sub(timings.aside);
        done
    }

    async fn subject(
        &mut self,
        script: Script<'_>,
        bindings: &mut Bindings,
        deadline: Instant,
    ) -> Observed<()> {
        let answer = match script.subject {
            Subject::Tool(call) | Subject::Sampling(call) | Subject::Elicitation(call) => {
                self.tool(call, bindings, deadline).await?
            }
            Subject::Tools(call) => {
                let listed = self
                    .listing(Method::ToolsList, call, bindings, deadline)
                    .await?;
                self.list_again(&listed, deadline).await;
                listed
            }
            Subject::Initialize => {
                // The handshake was made already; its answer is what is looked at.
                self.seen.answer.clone_from(&self.handshake);
                return Ok(());
            }
            Subject::Resources(call) => return self.resources(call, bindings, deadline).await,
            Subject::Prompts(call) => self.prompts(call, bindings, deadline).await?,
            Subject::Completion(call) => self.completion(call, bindings, deadline).await?,
            Subject::Logging {
                level,
                call,
                patience,
            } => {
                let level = level.as_ref();
                return self
                    .logging((level, call.as_deref(), patience), bindings, deadline)
                    .await;
            }
            Subject::Notifications { call, patience } => {
                let answer = self.tool(call, bindings, deadline).await?;
                return self.then_wait(answer, patience, deadline).await;
            }
            Subject::Steps { steps, order } => {
                let sequence = Sequence {
                    part: StepPart::Subject,
                    steps,
                    lookout: script.lookout,
                };
                return match order {
                    StepOrder::OneByOne => self.one_by_one(sequence, bindings, deadline).await,
                    StepOrder::Parallel => self.all_at_once(steps, bindings, deadline).await,
                };
            }
            Subject::Raw(exchange) => return self.raw(exchange, bindings, deadline).await,
            Subject::Trajectory(_) | Subject::Http(_) => {
                let message = format!("`{}` is nothing that a session does", script.subject.key());
                return Err(self.cannot(DisruptionKind::Unsupported, message).into());
            }
        };
        self.seen.answer = Some(answer);
        Ok(())
    }

    async fn tool(
        &mut self,
        call: &ToolCall,
        bindings: &Bindings,
        deadline: Instant,
    ) -> Observed<Answer> {
        let call = self.tool_call(call, bindings)?;
        self.call(call, deadline).await
    }

    /// The request of a tool call, with its values.
    pub(super) fn tool_call(&self, call: &ToolCall, bindings: &Bindings) -> Observed<Call> {
        let name = self.text(&call.tool, bindings)?;
        let arguments = self.value(&call.args, bindings)?;
        Ok(Call {
            method: Method::ToolsCall,
            params: json!({"name": name, "arguments": arguments}),
            tool: Some(name),
        })
    }

    async fn listing(
        &mut self,
        method: Method,
        call: &ListCall,
        bindings: &Bindings,
        deadline: Instant,
    ) -> Observed<Answer> {
        let pages = match &call.cursor {
            Some(cursor) => Pages::At(self.text(cursor, bindings)?),
            None => Pages::All,
        };
        self.list(method, pages, deadline).await
    }

    async fn resources(
        &mut self,
        call: &ResourcesCall,
        bindings: &Bindings,
        deadline: Instant,
    ) -> Observed<()> {
        let mut answer = None;
        if let Some(uri) = &call.subscribe {
            let uri = self.text(uri, bindings)?;
            let request = Call::new(Method::ResourcesSubscribe, json!({ "uri": uri }));
            let subscribed = self.call(request, deadline).await?;
            if call.action.is_some() {
                self.accepted("`resources/subscribe`", &subscribed)?;
            }
            answer = Some(subscribed);
        }
        if let Some(action) = &call.action {
            let from = answer.as_ref().map(|answer| answer.notifications.start);
            let mut acted = match action {
                ResourcesAction::List(list) => {
                    self.listing(Method::ResourcesList, list, bindings, deadline)
                        .await?
                }
                ResourcesAction::Templates(list) => {
                    self.listing(Method::ResourceTemplatesList, list, bindings, deadline)
                        .await?
                }
                ResourcesAction::Read(uri) => {
                    let uri = self.text(uri, bindings)?;
                    let request = Call::new(Method::ResourcesRead, json!({ "uri": uri }));
                    self.call(request, deadline).await?
                }
            };
            // Updates may come between the subscription and what is done next.
            acted.notifications.start = from.unwrap_or(acted.notifications.start);
            answer = Some(acted);
        }
        if let Some(patience) = &call.patience
            && let Some(seen) = answer.take()
        {
            self.then_wait(seen, patience, deadline).await?;
            answer = self.seen.answer.take();
        }
        if let Some(uri) = &call.unsubscribe {
            let uri = self.text(uri, bindings)?;
            let request = Call::new(Method::ResourcesUnsubscribe, json!({ "uri": uri }));
            let unsubscribed = self.call(request, deadline).await?;
            match answer {
                Some(_) => self.accepted("`resources/unsubscribe`", &unsubscribed)?,
                None => answer = Some(unsubscribed),
            }
        }
        self.seen.answer = answer;
        Ok(())
    }

    async fn prompts(
        &mut self,
        call: &PromptsCall,
        bindings: &Bindings,
        deadline: Instant,
    ) -> Observed<Answer> {
        match call {
            PromptsCall::List(list) => {
                self.listing(Method::PromptsList, list, bindings, deadline)
                    .await
            }
            PromptsCall::Get { name, arguments } => {
                let call = self.prompt_call(name, arguments, bindings)?;
                self.call(call, deadline).await
            }
        }
    }

    /// The request for a prompt, with its values.
    pub(super) fn prompt_call(
        &self,
        name: &Template,
        arguments: &ValueTemplate,
        bindings: &Bindings,
    ) -> Observed<Call> {
        let name = self.text(name, bindings)?;
        let arguments = self.value(arguments, bindings)?;
        let mut params = json!({ "name": name });
        if !arguments.is_null()
            && let Value::Object(members) = &mut params
        {
            members.insert("arguments".into(), arguments);
        }
        Ok(Call::new(Method::PromptsGet, params))
    }

    async fn completion(
        &mut self,
        call: &CompletionCall,
        bindings: &Bindings,
        deadline: Instant,
    ) -> Observed<Answer> {
        let mut params = json!({
            "ref": self.value(&call.reference, bindings)?,
            "argument": self.value(&call.argument, bindings)?,
        });
        if let (Some(context), Value::Object(members)) = (&call.context, &mut params) {
            let arguments = self.value(context, bindings)?;
            members.insert("context".into(), json!({ "arguments": arguments }));
        }
        self.call(Call::new(Method::CompletionComplete, params), deadline)
            .await
    }

    async fn logging(
        &mut self,
        (level, call, patience): (Option<&Template>, Option<&ToolCall>, &Patience),
        bindings: &Bindings,
        deadline: Instant,
    ) -> Observed<()> {
        let mut answer = None;
        if let Some(level) = level {
            let level = self.text(level, bindings)?;
            let request = Call::new(Method::LoggingSetLevel, json!({ "level": level }));
            let set = self.call(request, deadline).await?;
            if call.is_some() {
                self.accepted("`logging/setLevel`", &set)?;
            }
            answer = Some(set);
        }
        if let Some(call) = call {
            let from = answer.as_ref().map(|set| set.notifications.start);
            let mut called = self.tool(call, bindings, deadline).await?;
            called.notifications.start = from.unwrap_or(called.notifications.start);
            answer = Some(called);
        }
        if let Some(answer) = answer {
            return self.then_wait(answer, patience, deadline).await;
        }
        let message = "`assert_logging` names neither a level nor a tool".to_owned();
        Err(self.cannot(DisruptionKind::Invalid, message).into())
    }

    /// Waits for notifications after an answer, and counts them to it.
    async fn then_wait(
        &mut self,
        mut answer: Answer,
        patience: &Patience,
        deadline: Instant,
    ) -> Observed<()> {
        // Those of the setup count too.
        let mut tally = Tally::new(patience.enough.as_deref());
        let until = Instant::now() + patience.within;
        let waited = self
            .exchange
            .until(until.min(deadline), |dialogue| {
                tally.is_enough(&dialogue.record.notifications)
            })
            .await;
        answer.notifications.end = self.exchange.dialogue.record.notifications.len();
        answer.server_requests.end = self.exchange.dialogue.record.server_requests.len();
        self.seen.answer = Some(answer);
        let cut_short = waited.is_err() && deadline < until && !self.exchange.is_closed();
        if cut_short {
            let message = format!(
                "the deadline came before notifications had been waited for {} ms",
                patience.within.as_millis()
            );
            return Err(self.cannot(DisruptionKind::Timeout, message).into());
        }
        Ok(())
    }

    /// An answer that something else depends on must be a result.
    fn accepted(&self, what: &str, answer: &Answer) -> Observed<()> {
        match &answer.body {
            Body::Result(_) => Ok(()),
            Body::ProtocolError(error) => {
                let message = format!("{what} was refused with {error}");
                Err(self.cannot(DisruptionKind::ProtocolError, message).into())
            }
        }
    }

    /// A disruption in the present phase.
    pub(super) fn cannot(&self, kind: DisruptionKind, message: String) -> Disruption {
        Disruption::new(kind, self.seen.reached, message)
    }

    /// A text with its values.
    pub(super) fn text(&self, template: &Template, bindings: &Bindings) -> Observed<String> {
        template
            .render(bindings)
            .map_err(|unknown| self.nameless(&unknown).into())
    }

    /// A JSON value with its values.
    pub(super) fn value(&self, template: &ValueTemplate, bindings: &Bindings) -> Observed<Value> {
        template
            .render(bindings)
            .map_err(|unknown| self.nameless(&unknown).into())
    }

    fn nameless(&self, unknown: &UnknownName) -> Disruption {
        self.cannot(DisruptionKind::Invalid, unknown.to_string())
    }

    /// Sends frames as they are written, and takes what comes.
    async fn raw(
        &mut self,
        exchange: &RawExchange,
        bindings: &Bindings,
        deadline: Instant,
    ) -> Observed<()> {
        let mut frames = Vec::with_capacity(exchange.send.len());
        for frame in &exchange.send {
            frames.push(self.raw_frame(frame, bindings)?);
        }
        self.raw_exchange(&frames, exchange.within, deadline).await
    }
}
