//! Steps: the calls of `setup` and `steps`, and what they capture.

use super::Lowering;
use crate::{
    Dialect,
    model::{
        StepWanted,
        expectation::{AnswerWanted, Expectation, Family, Wanted},
    },
    problems,
    raw::{
        Field,
        expect::RawExpect,
        step::{RawPromptCall, RawStep},
        value::{Deferred, Members, Placed, Text, TextTable},
    },
    yaml::{At, Node},
};
use mcp::script::{
    quoting,
    subject::{
        Capture, CapturePath, CaptureSource, OnToolError, Step, StepAction, StepOrder, ToolCall,
    },
    template::{Part as Filled, Piece, Template, ValueTemplate, pieces, text_has_markers},
};

/// Which list a step stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// `setup`: an error ends the assertion.
    Setup,
    /// `steps`: an error is an answer to be checked.
    Subject,
}

/// What the suite says of errors of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoken {
    /// `allow_error: true`.
    Allowed,
    /// An expectation is about them.
    Expected,
    /// Nothing.
    Nothing,
}

/// Why steps of the setup are not parallel.
const IN_ORDER: &str = "the steps of `setup` go one after another, those of `steps` can go at once";

/// The expectations that are about errors.
const ABOUT_ERRORS: [&str; 3] = ["not_error", "is_error", "error"];

/// The keys of which a step has exactly one.
pub(crate) const ACTIONS: [&str; 7] = [
    "tool",
    "read",
    "prompt",
    "ping",
    "set_level",
    "subscribe",
    "wait",
];

impl Lowering<'_> {
    /// The steps of a list. Their captures are known from the next one on, or after all when they go at once.
    pub(super) fn steps(
        &mut self,
        part: Part,
        order: StepOrder,
        list: Vec<Placed<RawStep>>,
    ) -> (Vec<Step>, Vec<StepWanted>) {
        self.announce(&list, order);
        if part == Part::Setup {
            self.check_parallel(&list);
        }
        let mut steps = Vec::with_capacity(list.len());
        let mut wanted = Vec::with_capacity(list.len());
        let mut defined: Vec<(String, At)> = Vec::new();
        for Placed { value, at } in list {
            let names: Vec<(String, At)> = value
                .capture
                .as_ref()
                .map(|capture| {
                    let keys = capture.value.0.iter().map(|(key, _)| key);
                    keys.map(|key| (key.text.clone(), key.at)).collect()
                })
                .unwrap_or_default();
            if let Some((step, of_step)) = self.step(part, value, at) {
                steps.push(step);
                wanted.push(of_step);
            }
            match order {
                StepOrder::OneByOne => names.iter().for_each(|(name, at)| self.define(name, *at)),
                StepOrder::Parallel => defined.extend(names),
            }
        }
        for (name, at) in defined {
            self.define(&name, at);
        }
        (steps, wanted)
    }

    /// One step.
    fn step(&mut self, part: Part, mut raw: RawStep, at: At) -> Option<(Step, StepWanted)> {
        let waits = raw.wait.is_some();
        let action = match self.dialect() {
            Dialect::Compat if does_nothing(&raw) => self.nameless_step(&mut raw, at),
            Dialect::Compat | Dialect::Native => self.step_action(&mut raw, at),
        };
        if waits && matches!(action, None | Some(StepAction::Wait(_))) {
            self.check_wait(&raw);
        }
        let RawStep {
            capture,
            expect,
            allow_error,
            ..
        } = raw;
        let captures = match capture {
            Some(capture) => self.captures(capture),
            None => Vec::new(),
        };
        let is_expected = |expect: &Field<Deferred<RawExpect>>| is_about_errors(&expect.value.node);
        let spoken = if allow_error.is_some_and(|allowed| allowed.value) {
            Spoken::Allowed
        } else if expect.as_ref().is_some_and(is_expected) {
            Spoken::Expected
        } else {
            Spoken::Nothing
        };
        let mut wanted = self.step_expect(expect, &captures);
        let action = action?;
        // A step of the subject that says nothing must not fail; a wait cannot, and `allow_error` says something.
        let silent = wanted.iter().all(Wanted::asks_nothing) && spoken != Spoken::Allowed;
        if silent && part == Part::Subject && !matches!(action, StepAction::Wait(_)) {
            wanted.push(self.wanted(
                "not_error",
                at,
                Expectation::Answer(AnswerWanted::NotError(true)),
            ));
        }
        let step = Step {
            action,
            captures,
            on_tool_error: self.on_tool_error(part, spoken),
        };
        let origin = self.reading.problems.origin(at);
        Some((step, StepWanted { wanted, origin }))
    }

    /// A step that names nothing to do, which the Go tool takes for a call of a tool without a name.
    fn nameless_step(&mut self, raw: &mut RawStep, at: At) -> Option<StepAction> {
        let tool = self.required_text(None, "tool", "a step", at)?;
        let call = self.tool_call(tool, raw.args.take());
        Some(StepAction::Tool(call))
    }

    /// The one thing that a step does.
    fn step_action(&mut self, raw: &mut RawStep, at: At) -> Option<StepAction> {
        let RawStep {
            tool,
            args,
            read,
            prompt,
            ping,
            set_level,
            subscribe,
            wait,
            capture: _,
            expect: _,
            allow_error: _,
            parallel: _,
        } = raw;
        let (has_tool, args) = (tool.is_some(), args.take());
        if let Some(args) = args.as_ref().filter(|_| !has_tool) {
            self.problem(args.key, |origin| {
                problems::no_effect(origin, "args", "there is no `tool`")
            });
        }
        let mut found: Vec<(&str, Option<StepAction>)> = Vec::new();
        if let Some(tool) = tool.take() {
            let call = self.tool_call(tool.value, args);
            found.push(("tool", Some(StepAction::Tool(call))));
        }
        if let Some(uri) = read.take() {
            found.push(("read", Some(StepAction::Read(self.template(uri.value)))));
        }
        if let Some(prompt) = prompt.take() {
            found.push(("prompt", self.prompt_step(prompt)));
        }
        if let Some(ping) = ping.take() {
            if !ping.value {
                self.problem(ping.at, |origin| {
                    problems::wrong_type(origin, "`false`", "`true`, or no `ping` at all")
                });
            }
            found.push(("ping", Some(StepAction::Ping)));
        }
        if let Some(level) = set_level.take() {
            let level = self.level(level.value);
            found.push(("set_level", Some(StepAction::SetLevel(level))));
        }
        if let Some(uri) = subscribe.take() {
            let uri = self.template(uri.value);
            found.push(("subscribe", Some(StepAction::Subscribe(uri))));
        }
        if let Some(wait) = wait.take() {
            let wait = self.duration(Some(wait));
            found.push(("wait", wait.map(StepAction::Wait)));
        }
        let keys: Vec<&str> = found.iter().map(|(key, _)| *key).collect();
        match keys[..] {
            [] => self.missing_one_of(&ACTIONS, "a step", at),
            [_] => {}
            _ => self.problem(at, |origin| {
                problems::conflicting_keys(origin, &keys, "a step")
            }),
        }
        found.into_iter().next()?.1
    }

    /// Tells `parallel` on steps of the setup, which go one after another: later ones use what earlier ones did.
    fn check_parallel(&mut self, list: &[Placed<RawStep>]) {
        for step in list {
            if let Some(field) = step.value.parallel.as_ref().filter(|field| field.value) {
                self.problem(field.key, |origin| {
                    problems::no_effect(origin, "parallel", IN_ORDER)
                });
            }
        }
    }

    /// Tells keys about an answer beside a wait, which has none.
    fn check_wait(&mut self, raw: &RawStep) {
        let keys = [
            ("expect", raw.expect.as_ref().map(|field| field.key)),
            ("capture", raw.capture.as_ref().map(|field| field.key)),
            (
                "allow_error",
                raw.allow_error.as_ref().map(|field| field.key),
            ),
        ];
        for (key, at) in keys {
            if let Some(at) = at {
                self.not_looked_at(key, at, "a `wait` has no answer");
            }
        }
    }

    /// What a tool error of a step means.
    fn on_tool_error(&self, part: Part, spoken: Spoken) -> OnToolError {
        match (spoken, part, self.dialect()) {
            (Spoken::Allowed, _, _) => OnToolError::Allowed,
            (Spoken::Expected, _, _) | (Spoken::Nothing, Part::Subject, _) => OnToolError::Judged,
            (Spoken::Nothing, Part::Setup, Dialect::Native) => OnToolError::Stop,
            (Spoken::Nothing, Part::Setup, Dialect::Compat) => OnToolError::PassOver,
        }
    }

    /// What must hold for a step's answer.
    fn step_expect(
        &mut self,
        expect: Option<Field<Deferred<RawExpect>>>,
        captures: &[Capture],
    ) -> Vec<Wanted> {
        let before = self.captured.clone();
        let own = captures.iter().map(|capture| capture.name.clone());
        self.captured.extend(own);
        let wanted = match expect {
            Some(expect) => self.expect(Family::Answer, expect.value.node, RawExpect::KEYS),
            None => Vec::new(),
        };
        self.captured = before;
        wanted
    }

    /// `tool` and `args`.
    pub(super) fn tool_call(&mut self, tool: Text, args: Option<Field<Members>>) -> ToolCall {
        if tool.is_blank() {
            self.native_problem(tool.at, |origin| problems::nameless(origin, "tool"));
        }
        ToolCall {
            tool: self.template(tool),
            args: self.members(args),
        }
    }

    /// Arguments, an empty map when there are none.
    pub(super) fn members(&mut self, field: Option<Field<Members>>) -> ValueTemplate {
        match field {
            Some(field) => self.sent(field.value.0),
            None => Self::no_members(),
        }
    }

    /// A log level that may hold `{{…}}`.
    pub(super) fn level(&mut self, level: Text) -> Template {
        self.check_level(&level);
        self.template(level)
    }

    /// `prompt` as a step.
    fn prompt_step(&mut self, field: Field<RawPromptCall>) -> Option<StepAction> {
        let (name, arguments) = self.prompt_call(field, "`prompt`")?;
        Some(StepAction::Prompt { name, arguments })
    }

    /// A prompt and its arguments, which are texts: numbers and booleans are sent as they were written.
    pub(super) fn prompt_call(
        &mut self,
        field: Field<RawPromptCall>,
        owner: &str,
    ) -> Option<(Template, ValueTemplate)> {
        let RawPromptCall { name, arguments } = field.value;
        let name = self.required_text(name, "name", owner, field.key);
        let arguments = match arguments {
            None => Self::no_members(),
            Some(arguments) => self.sent(arguments.value.0.with_texts()),
        };
        let name = self.template(name?);
        Some((name, arguments))
    }

    /// The captures of a step.
    fn captures(&mut self, field: Field<TextTable>) -> Vec<Capture> {
        field
            .value
            .0
            .into_iter()
            .filter_map(|(key, path)| {
                let written = path.text;
                let (source, rest) = match written.split_once(':') {
                    Some(("structured", rest)) => (CaptureSource::Structured, rest),
                    Some(("text", rest)) => (CaptureSource::Text, rest),
                    Some(_) | None => (CaptureSource::Either, written.as_str()),
                };
                let rest = rest.trim();
                let compiled = match rest {
                    "" | "$" | "$." => None,
                    _ => Some(self.capture_path(rest, path.at)?),
                };
                Some(Capture {
                    name: key.text,
                    source,
                    path: compiled,
                    written,
                })
            })
            .collect()
    }

    /// The path of a capture. One with `{{…}}` is filled in later; that it becomes a path is seen with a number in the
    /// place of each, which may be a key, an index and a part of a text alike.
    fn capture_path(&mut self, text: &str, at: At) -> Option<CapturePath> {
        if !text_has_markers(text) {
            return self.path(text, at).map(CapturePath::Compiled);
        }
        self.check_markers(text, at);
        let parts = pieces(text, self.dialect())
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(plain) => Filled::Written(plain),
                Piece::Escape => Filled::Written("{{".to_owned()),
                Piece::Name { .. } => Filled::Data("0".to_owned()),
            });
        let parts: Vec<Filled> = parts.collect();
        match quoting::path(&parts) {
            Ok(filled) => {
                self.path_of((text, &filled), at)?;
                Some(CapturePath::Template(Template::new(text)))
            }
            Err(reason) => {
                self.problem(at, |origin| problems::bad_path(origin, text, &reason));
                None
            }
        }
    }
}

/// Whether a step names nothing to do.
fn does_nothing(raw: &RawStep) -> bool {
    let RawStep {
        tool,
        read,
        prompt,
        ping,
        set_level,
        subscribe,
        wait,
        args: _,
        capture: _,
        expect: _,
        allow_error: _,
        parallel: _,
    } = raw;
    let texts = [tool, read, set_level, subscribe, wait];
    texts.into_iter().all(Option::is_none) && prompt.is_none() && ping.is_none()
}

/// Whether an expectation of an `expect`, or of a `not` in it, is about errors. One about anything else does not
/// excuse an error: it may hold for the wrong reason.
fn is_about_errors(expect: &Node) -> bool {
    ABOUT_ERRORS.iter().any(|key| expect.get(key).is_some())
        || expect.get("not").is_some_and(is_about_errors)
}
