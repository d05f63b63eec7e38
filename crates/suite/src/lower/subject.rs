//! The subjects: what is done, and what is expected of it.

use std::time::Duration;

use super::{Lowering, step::Part};
use crate::{
    model::expectation::{AnswerWanted, Family, Wanted},
    problems,
    raw::{
        Field,
        expect::RawExpect,
        step::RawStep,
        subject::{RawInitialize, RawList, RawPrompts, RawRaw, RawTool, RawTools},
        union::MapOrNothing,
        value::{Deferred, Members, Text},
    },
    yaml::{At, Kind, Node},
};
use mcp::script::{
    subject::{
        ListCall, PromptsCall, RawExchange, RawFrame, RawHandshake, StepOrder, Subject, ToolCall,
    },
    template::Template,
};

/// The default of `within` of `raw` and `http`.
pub(super) const FRAMES: Duration = Duration::from_secs(1);

/// A subject with what is expected of it.
pub(super) type LoweredSubject = (Subject, Vec<Wanted>);

/// The same, when a required key may be missing.
pub(super) type OptionalSubject = Option<LoweredSubject>;

impl Lowering<'_> {
    /// The expectations of a key `expect`; without any the answer must be no error.
    pub(super) fn answer(
        &mut self,
        field: Option<Field<Deferred<RawExpect>>>,
        at: At,
    ) -> Vec<Wanted> {
        let expect = field.map(|field| field.value.0);
        let wanted = self.expect(Family::Answer, expect, RawExpect::KEYS);
        self.or_not_error(wanted, at)
    }

    /// An answer without expectations must be no error; under the Go tool's rules it may be anything.
    pub(super) fn or_not_error(&self, mut wanted: Vec<Wanted>, at: At) -> Vec<Wanted> {
        if wanted.iter().all(Wanted::asks_nothing) && !self.is_compat() {
            wanted.push(self.wanted("not_error", at, AnswerWanted::NotError(true)));
        }
        wanted
    }

    /// `tool` and `args` of a subject that requires them.
    pub(super) fn subject_call(
        &mut self,
        tool: Option<Field<Text>>,
        args: Option<Field<Members>>,
        owner: &str,
        at: At,
    ) -> Option<ToolCall> {
        let Some(tool) = self.required_text(tool, "tool", owner, at) else {
            self.members(args);
            return None;
        };
        Some(self.tool_call(tool, args))
    }

    /// `assert`
    pub(super) fn tool_subject(&mut self, field: Field<Box<RawTool>>) -> OptionalSubject {
        let (raw, at) = (field.value, field.key);
        // Progress is always asked for.
        let _ = &raw.capture_progress;
        let wanted = self.answer(raw.expect, at);
        let call = self.subject_call(raw.tool, raw.args, "`assert`", at)?;
        Some((Subject::Tool(call), wanted))
    }

    /// `assert_tools`
    pub(super) fn tools_subject(&mut self, field: Field<Box<RawTools>>) -> LoweredSubject {
        let cursor = self.cursor(field.value.cursor);
        let wanted = self.answer(field.value.expect, field.key);
        (Subject::Tools(ListCall { cursor }), wanted)
    }

    /// `assert_initialize`
    pub(super) fn initialize_subject(
        &mut self,
        field: Field<Box<RawInitialize>>,
    ) -> LoweredSubject {
        let wanted = self.answer(field.value.expect, field.key);
        (Subject::Initialize, wanted)
    }

    /// A field, unless it is empty, which counts as absent.
    pub(super) fn unless_empty<T>(
        &mut self,
        key: &str,
        field: Option<Field<T>>,
        is_empty: fn(&T) -> bool,
    ) -> Option<Field<T>> {
        let field = field?;
        if is_empty(&field.value) {
            self.problem(field.key, problems::empty_value(key));
            return None;
        }
        Some(field)
    }

    /// A list request.
    pub(super) fn list(&mut self, field: Field<MapOrNothing<RawList>>) -> ListCall {
        let cursor = field.value.0.and_then(|list| list.cursor);
        let cursor = self.cursor(cursor);
        ListCall { cursor }
    }

    /// The cursor of a list request; an empty one counts as absent, as in the Go tool.
    fn cursor(&mut self, field: Option<Field<Text>>) -> Option<Template> {
        let field = self.unless_empty("cursor", field, |cursor| cursor.text.is_empty())?;
        Some(self.template(field.value))
    }

    /// `assert_prompts`
    pub(super) fn prompts_subject(&mut self, field: Field<Box<RawPrompts>>) -> OptionalSubject {
        let (raw, at) = (field.value, field.key);
        let owner = "`assert_prompts`";
        let keys = ["list", "get"];
        let mut list = raw.list;
        let wanted = self.answer(raw.expect, at);
        if raw.get.is_some() {
            list = self.unless_empty("list", list, |list| list.0.is_none());
        }
        if list.is_some() && raw.get.is_some() {
            self.native_problem(at, problems::conflicting_keys(&keys, owner));
        }
        let call = match (list, raw.get) {
            (Some(list), _) => PromptsCall::List(self.list(list)),
            (None, Some(get)) => {
                let (name, arguments) = self.prompt_call(get, "`get`")?;
                PromptsCall::Get { name, arguments }
            }
            (None, None) => {
                self.missing_one_of(&keys, owner, at);
                return None;
            }
        };
        Some((Subject::Prompts(call), wanted))
    }

    /// `steps`
    pub(super) fn steps_subject(
        &mut self,
        field: Field<Vec<RawStep>>,
        parallel: Option<Field<bool>>,
    ) -> OptionalSubject {
        let is_flagged = |step: &&RawStep| step.parallel.as_ref().is_some_and(|flag| flag.value);
        let flagged = field.value.iter().filter(is_flagged).count();
        if field.value.is_empty() {
            self.problem(field.key, problems::at_least_one("steps"));
            return None;
        }
        if flagged > 0 && flagged < field.value.len() {
            self.problem(field.key, problems::partly_parallel());
        }
        let order = if flagged > 0 || parallel.is_some_and(|flag| flag.value) {
            StepOrder::Parallel
        } else {
            StepOrder::OneByOne
        };
        let (steps, of_steps) = self.steps(Part::Subject, order, field.value);
        self.of_steps = of_steps;
        Some((Subject::Steps { steps, order }, Vec::new()))
    }

    /// `raw`
    pub(super) fn raw_subject(&mut self, field: Field<Box<RawRaw>>) -> OptionalSubject {
        let (raw, at) = (field.value, field.key);
        let send = self.required(raw.send, "send", "`raw`", at);
        let within = self.duration(raw.within).unwrap_or(FRAMES);
        let wanted = self.answer(raw.expect, at);
        let frames = send?.value.0.into_iter();
        let exchange = RawExchange {
            send: frames.map(|frame| self.raw_frame(frame.0)).collect(),
            handshake: match raw.handshake.map(|handshake| handshake.value) {
                None | Some(true) => RawHandshake::Made,
                Some(false) => RawHandshake::Omitted,
            },
            within,
        };
        Some((Subject::Raw(exchange), wanted))
    }

    /// One frame.
    pub(super) fn raw_frame(&mut self, node: Node) -> RawFrame {
        let at = node.at;
        if let Kind::Text(text, _) = node.kind {
            return RawFrame::Text(self.template(Text { text, at }));
        }
        RawFrame::Json(self.value_template(node))
    }
}
