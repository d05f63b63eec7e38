//! Steps: the calls of `setup` and `steps`, and what they capture.

use super::Lowering;
use crate::{
    Dialect,
    model::{
        StepWanted,
        expectation::{AnswerWanted, Family, Wanted},
    },
    problems,
    raw::{
        Field,
        expect::RawExpect,
        read::key,
        step::{RawPromptCall, RawStep},
        value::{Members, Text, TextTable},
    },
    yaml::{At, Key, Node},
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

/// The expectations about errors.
const ABOUT_ERRORS: [&str; 4] = ["not_error", "is_error", "refused", "error"];

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
    /// The steps of a list. Their captures are known from the next one on, or after all when they run in parallel.
    pub(super) fn steps(
        &mut self,
        part: Part,
        order: StepOrder,
        list: Vec<RawStep>,
    ) -> (Vec<Step>, Vec<StepWanted>) {
        self.announce(&list);
        let (mut steps, mut wanted) = (Vec::new(), Vec::new());
        let mut defined: Vec<Key> = Vec::new();
        for raw in list {
            let captures = raw.capture.iter().flat_map(|capture| &capture.value.0);
            defined.extend(captures.map(|(key, _)| key.clone()));
            if let Some((step, of_step)) = self.step(part, raw) {
                steps.push(step);
                wanted.push(of_step);
            }
            if order == StepOrder::OneByOne {
                defined
                    .drain(..)
                    .for_each(|key| self.define(&key.text, key.at));
            }
        }
        for key in defined {
            self.define(&key.text, key.at);
        }
        (steps, wanted)
    }

    /// One step.
    fn step(&mut self, part: Part, mut raw: RawStep) -> Option<(Step, StepWanted)> {
        let at = raw.at;
        if part == Part::Setup && raw.parallel.as_ref().is_some_and(|field| field.value) {
            let reason =
                "the steps of `setup` go one after another, those of `steps` can go at once";
            self.no_effect([("parallel", key(&raw.parallel))], reason);
        }
        let waits = raw.wait.is_some();
        let action = self.step_action(&mut raw);
        if waits && matches!(action, None | Some(StepAction::Wait(_))) {
            self.check_wait(&raw);
        }
        let captures = raw.capture.map_or_else(Vec::new, |it| self.captures(it));
        let expect = raw.expect.map(|expect| expect.value.0);
        let is_allowed = raw.allow_error.is_some_and(|allowed| allowed.value);
        let is_expected = expect.as_ref().is_some_and(is_about_errors);
        let on_tool_error = match (part, self.dialect()) {
            _ if is_allowed => OnToolError::Allowed,
            _ if is_expected => OnToolError::Judged,
            (Part::Subject, _) => OnToolError::Judged,
            (Part::Setup, Dialect::Native) => OnToolError::Stop,
            (Part::Setup, Dialect::Compat) => OnToolError::PassOver,
        };
        let before = self.captured.clone();
        let own = captures.iter().map(|capture| capture.name.clone());
        self.captured.extend(own);
        let mut wanted = self.expect(Family::Answer, expect, RawExpect::KEYS);
        self.captured = before;
        let action = action?;
        // A step of the subject without expectations must not fail. A wait cannot.
        let silent = wanted.iter().all(Wanted::asks_nothing) && !is_allowed;
        if silent && part == Part::Subject && !matches!(action, StepAction::Wait(_)) {
            wanted.push(self.wanted("not_error", at, AnswerWanted::NotError(true)));
        }
        let step = Step {
            action,
            captures,
            on_tool_error,
        };
        let origin = self.reading.problems.origin(at);
        Some((step, StepWanted { wanted, origin }))
    }

    /// The action of a step.
    fn step_action(&mut self, raw: &mut RawStep) -> Option<StepAction> {
        let at = raw.at;
        let args = raw.args.take();
        if raw.tool.is_none() {
            self.no_effect([("args", key(&args))], "there is no `tool`");
        }
        let mut found: Vec<(&str, Option<StepAction>)> = Vec::new();
        if let Some(tool) = raw.tool.take() {
            let call = self.tool_call(tool.value, args);
            found.push(("tool", Some(StepAction::Tool(call))));
        }
        if let Some(uri) = raw.read.take() {
            found.push(("read", Some(StepAction::Read(self.template(uri.value)))));
        }
        if let Some(prompt) = raw.prompt.take() {
            let call = self.prompt_call(prompt, "`prompt`");
            let action = call.map(|(name, arguments)| StepAction::Prompt { name, arguments });
            found.push(("prompt", action));
        }
        if let Some(ping) = raw.ping.take() {
            if !ping.value {
                let problem = problems::wrong_type("`false`", "`true`, or no `ping` at all");
                self.problem(ping.at, problem);
            }
            found.push(("ping", Some(StepAction::Ping)));
        }
        if let Some(level) = raw.set_level.take() {
            let level = self.level(level.value);
            found.push(("set_level", Some(StepAction::SetLevel(level))));
        }
        if let Some(uri) = raw.subscribe.take() {
            let uri = self.template(uri.value);
            found.push(("subscribe", Some(StepAction::Subscribe(uri))));
        }
        if let Some(wait) = raw.wait.take() {
            let wait = self.duration(Some(wait));
            found.push(("wait", wait.map(StepAction::Wait)));
        }
        let keys: Vec<&str> = found.iter().map(|(key, _)| *key).collect();
        match keys[..] {
            // The Go tool calls a tool without a name.
            [] if self.is_compat() => {
                let tool = self.required_text(None, "tool", "a step", at)?;
                return Some(StepAction::Tool(self.tool_call(tool, None)));
            }
            [] => self.missing_one_of(&ACTIONS, "a step", at),
            [_] => {}
            _ => self.problem(at, problems::conflicting_keys(&keys, "a step")),
        }
        found.into_iter().next()?.1
    }

    /// Reports keys about an answer beside a wait, which has none.
    fn check_wait(&mut self, raw: &RawStep) {
        let keys = [
            ("expect", key(&raw.expect)),
            ("capture", key(&raw.capture)),
            ("allow_error", key(&raw.allow_error)),
        ];
        for (key, at) in keys {
            if let Some(at) = at {
                let problem = problems::not_looked_at(key, "a `wait` has no answer");
                self.problem_or_warning(at, problem);
            }
        }
    }

    /// `tool` and `args`.
    pub(super) fn tool_call(&mut self, tool: Text, args: Option<Field<Members>>) -> ToolCall {
        if tool.is_blank() {
            self.native_problem(tool.at, problems::nameless("tool"));
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

    /// A prompt and its arguments, which are texts: numbers and booleans are sent as they were written.
    pub(super) fn prompt_call(
        &mut self,
        field: Field<RawPromptCall>,
        owner: &str,
    ) -> Option<(Template, ValueTemplate)> {
        let raw = field.value;
        let name = self.required_text(raw.name, "name", owner, field.key);
        let arguments = match raw.arguments {
            None => Self::no_members(),
            Some(arguments) => self.sent(arguments.value.0.with_texts()),
        };
        let name = self.template(name?);
        Some((name, arguments))
    }

    /// The captures of a step.
    fn captures(&mut self, field: Field<TextTable>) -> Vec<Capture> {
        let captures = field.value.0.into_iter().filter_map(|(key, path)| {
            let written = path.text;
            let (source, rest) = match written.split_once(':') {
                Some(("structured", rest)) => (CaptureSource::Structured, rest),
                Some(("text", rest)) => (CaptureSource::Text, rest),
                Some(_) | None => (CaptureSource::Either, written.as_str()),
            };
            let compiled = match rest.trim() {
                "" | "$" | "$." => None,
                rest => Some(self.capture_path(rest, path.at)?),
            };
            Some(Capture {
                name: key.text,
                source,
                path: compiled,
                written,
            })
        });
        captures.collect()
    }

    /// The path of a capture. One with `{{…}}` is filled in later; it is checked with a number in the place of each,
    /// which may be a key, an index and a part of a text alike.
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
                self.problem(at, problems::bad_path(text, &reason));
                None
            }
        }
    }
}

/// Whether an expectation of an `expect`, or of a `not` in it, is about errors. One about anything else does not
/// excuse an error: it may hold for the wrong reason.
fn is_about_errors(expect: &Node) -> bool {
    ABOUT_ERRORS.iter().any(|key| expect.get(key).is_some())
        || expect.get("not").is_some_and(is_about_errors)
}
