//! The subjects: what is done, and what must hold for it.

use std::time::Duration;

use super::{Lowering, step::Part};
use crate::{
    Dialect,
    model::expectation::{AnswerWanted, Expectation, Family, Wanted},
    problems,
    raw::{
        Field,
        expect::RawExpect,
        step::RawStep,
        subject::{RawInitialize, RawList, RawPrompts, RawRaw, RawTool, RawTools},
        union::MapOrNothing,
        value::{Anything, Deferred, Members, Placed, Text},
    },
    yaml::{At, Kind, Node},
};
use mcp::script::{
    subject::{
        ListCall, PromptsCall, RawExchange, RawFrame, RawHandshake, StepOrder, Subject, ToolCall,
    },
    template::Template,
};

/// How long the frames that answer those of `raw`, and the events that answer `http`, are waited for, unless the suite
/// says so.
pub(super) const FRAMES: Duration = Duration::from_secs(1);

/// A subject with what must hold for it.
pub(super) type Made = (Subject, Vec<Wanted>);

/// The same, where something that must be there can be missing.
pub(super) type Lowered = Option<Made>;

impl Lowering<'_> {
    /// The expectations of a key `expect`; without any the answer must be no error.
    pub(super) fn answer(
        &mut self,
        field: Option<Field<Deferred<RawExpect>>>,
        at: At,
    ) -> Vec<Wanted> {
        let wanted = match field {
            Some(field) => self.expect(Family::Answer, field.value.node, RawExpect::KEYS),
            None => Vec::new(),
        };
        self.or_not_error(wanted, at)
    }

    /// An answer of which nothing is said, or nothing is asked for, must be no error; under the Go tool's rules it may
    /// be anything.
    pub(super) fn or_not_error(&self, mut wanted: Vec<Wanted>, at: At) -> Vec<Wanted> {
        if wanted.iter().all(Wanted::asks_nothing) && self.dialect() == Dialect::Native {
            wanted.push(self.wanted(
                "not_error",
                at,
                Expectation::Answer(AnswerWanted::NotError(true)),
            ));
        }
        wanted
    }

    /// `tool` and `args` of a subject that needs them.
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
    pub(super) fn tool_subject(&mut self, field: Field<Box<RawTool>>) -> Lowered {
        let at = field.key;
        let RawTool {
            tool,
            args,
            expect,
            capture_progress: _,
        } = *field.value;
        let wanted = self.answer(expect, at);
        let call = self.subject_call(tool, args, "`assert`", at)?;
        Some((Subject::Tool(call), wanted))
    }

    /// `assert_tools`
    pub(super) fn tools_subject(&mut self, field: Field<Box<RawTools>>) -> Made {
        let at = field.key;
        let RawTools { cursor, expect } = *field.value;
        let cursor = self.cursor(cursor);
        (Subject::Tools(ListCall { cursor }), self.answer(expect, at))
    }

    /// `assert_initialize`
    pub(super) fn initialize_subject(&mut self, field: Field<Box<RawInitialize>>) -> Made {
        let RawInitialize { expect } = *field.value;
        (Subject::Initialize, self.answer(expect, field.key))
    }

    /// What stands beside another action: without a value it is as good as absent, as in the Go tool.
    pub(super) fn unless_empty<T>(
        &mut self,
        key: &str,
        field: Option<Field<T>>,
        is_empty: fn(&T) -> bool,
    ) -> Option<Field<T>> {
        let field = field?;
        if is_empty(&field.value) {
            self.problem(field.key, |origin| problems::empty_value(origin, key));
            return None;
        }
        Some(field)
    }

    /// A list request.
    pub(super) fn list(&mut self, field: Field<MapOrNothing<RawList>>) -> ListCall {
        let RawList { cursor } = field.value.map();
        ListCall {
            cursor: self.cursor(cursor),
        }
    }

    /// The cursor of a list request; an empty one is none, as in the Go tool.
    fn cursor(&mut self, field: Option<Field<Text>>) -> Option<Template> {
        let field = self.unless_empty("cursor", field, |cursor| cursor.text.is_empty())?;
        Some(self.template(field.value))
    }

    /// `assert_prompts`
    pub(super) fn prompts_subject(&mut self, field: Field<Box<RawPrompts>>) -> Lowered {
        let at = field.key;
        let owner = "`assert_prompts`";
        let RawPrompts {
            mut list,
            get,
            expect,
        } = *field.value;
        let wanted = self.answer(expect, at);
        if get.is_some() {
            list = self.unless_empty("list", list, MapOrNothing::is_empty);
        }
        if list.is_some() && get.is_some() {
            let keys = ["list", "get"];
            self.native_problem(at, |origin| {
                problems::conflicting_keys(origin, &keys, owner)
            });
        }
        let call = match (list, get) {
            (Some(list), _) => PromptsCall::List(self.list(list)),
            (None, Some(get)) => {
                let (name, arguments) = self.prompt_call(get, "`get`")?;
                PromptsCall::Get { name, arguments }
            }
            (None, None) => {
                self.missing_one_of(&["list", "get"], owner, at);
                return None;
            }
        };
        Some((Subject::Prompts(call), wanted))
    }

    /// `steps`
    pub(super) fn steps_subject(
        &mut self,
        field: Field<Vec<Placed<RawStep>>>,
        parallel: Option<Field<bool>>,
    ) -> Lowered {
        let flagged = field
            .value
            .iter()
            .filter(|step| step.value.parallel.as_ref().is_some_and(|flag| flag.value))
            .count();
        if field.value.is_empty() {
            self.problem(field.key, |origin| problems::at_least_one(origin, "steps"));
            return None;
        }
        if flagged > 0 && flagged < field.value.len() {
            self.problem(field.key, problems::partly_parallel);
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
    pub(super) fn raw_subject(&mut self, field: Field<Box<RawRaw>>) -> Lowered {
        let at = field.key;
        let RawRaw {
            send,
            handshake,
            within,
            expect,
        } = *field.value;
        let send = self.required(send, "send", "`raw`", at);
        let within = self.duration(within).unwrap_or(FRAMES);
        let wanted = self.answer(expect, at);
        let frames = send?.value.0.into_iter();
        let send = frames.map(|Anything(node)| self.raw_frame(node)).collect();
        let handshake = match handshake.map(|handshake| handshake.value) {
            None | Some(true) => RawHandshake::Made,
            Some(false) => RawHandshake::Omitted,
        };
        let exchange = RawExchange {
            send,
            handshake,
            within,
        };
        Some((Subject::Raw(exchange), wanted))
    }

    /// One frame.
    pub(super) fn raw_frame(&mut self, node: Node) -> RawFrame {
        let at = node.at;
        match node.kind {
            Kind::Text(text, _) => RawFrame::Text(self.template(Text { text, at })),
            kind @ (Kind::Null
            | Kind::Flag(..)
            | Kind::Number(..)
            | Kind::List(_)
            | Kind::Map(_)) => RawFrame::Json(self.value_template(Node { kind, at })),
        }
    }
}
