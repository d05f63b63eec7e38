//! `trajectory`: rules over a list of tool calls, and the list when it is written in the suite.

use serde_json::{Map, Value};

use super::Lowering;
use crate::{
    Dialect,
    model::expectation::{Among, Expectation, TrajectoryRule, Wanted},
    problems,
    raw::{
        Field,
        expect::{RawRule, RawTraceCall},
        value::{Text, Texts},
    },
    yaml::{At, Key},
};
use mcp::observation::{TraceCall, TraceOutcome};

/// The words of `type`, each with the keys of such a rule.
pub(crate) const KINDS: [(&str, &[&str]); 9] = [
    ("order", &["type", "tools"]),
    ("presence", &["type", "tools"]),
    ("absence", &["type", "tools"]),
    ("args_contain", &["type", "tool", "args"]),
    ("count", &["type", "tool", "count", "min", "max"]),
    ("never_after", &["type", "tool", "after"]),
    ("adjacent", &["type", "tools"]),
    ("outcome", &["type", "tool", "outcome"]),
    ("within_ms", &["type", "within_ms", "from", "to"]),
];

impl Lowering<'_> {
    /// One rule. `at`: the place to blame for what is missing.
    pub(super) fn rule(&mut self, raw: RawRule, at: At) -> Option<Wanted> {
        let kind = self.required(raw.kind, "type", "a rule of `trajectory`", at)?;
        let word = kind.value.text;
        let owner = format!("the rule `{word}`");
        let raw = RawRule { kind: None, ..raw };
        if let Some((_, own)) = KINDS.iter().find(|(kind, _)| *kind == word) {
            self.check_rule_keys(&raw, &owner, own);
        }
        let rule = match word.as_str() {
            "order" => TrajectoryRule::Order(self.tools(raw.tools, &owner, at)?),
            "presence" => TrajectoryRule::Presence(self.tools(raw.tools, &owner, at)?),
            "absence" => TrajectoryRule::Absence(self.tools(raw.tools, &owner, at)?),
            "adjacent" => TrajectoryRule::Adjacent(self.tools(raw.tools, &owner, at)?),
            "args_contain" => self.args_rule(raw, &owner, at)?,
            "count" => self.count_rule(raw, &owner, at)?,
            "never_after" => {
                let tool = self.tool(raw.tool, &owner, at);
                let after = self.required(raw.after, "after", &owner, at);
                TrajectoryRule::NeverAfter {
                    tool: tool?,
                    after: after?.value.text,
                }
            }
            "outcome" => {
                let tool = self.tool(raw.tool, &owner, at);
                let outcome = self.required(raw.outcome, "outcome", &owner, at);
                TrajectoryRule::Outcome {
                    outcome: self.outcome(&outcome?.value)?,
                    tool: tool?,
                }
            }
            "within_ms" => TrajectoryRule::WithinMs {
                limit_ms: self
                    .required(raw.within_ms, "within_ms", &owner, at)?
                    .value
                    .0,
                from: raw.from.map(|from| from.value.text),
                to: raw.to.map(|to| to.value.text),
            },
            _ => {
                let words = KINDS.map(|(word, _)| word);
                self.problem(kind.at, |origin| {
                    problems::unknown_word(origin, &word, "rule of `trajectory`", &words)
                });
                return None;
            }
        };
        Some(self.wanted("trajectory", at, Expectation::Trajectory(Box::new(rule))))
    }

    /// Tells keys of other rules.
    fn check_rule_keys(&mut self, raw: &RawRule, owner: &str, own: &[&str]) {
        let RawRule {
            kind: _,
            tools,
            tool,
            args,
            count,
            min,
            max,
            after,
            outcome,
            within_ms,
            from,
            to,
        } = raw;
        let counts = [("count", count), ("min", min), ("max", max)];
        let counts = counts.map(|(key, field)| (key, field.as_ref().map(|field| field.key)));
        let texts = [
            ("tool", tool),
            ("after", after),
            ("outcome", outcome),
            ("from", from),
            ("to", to),
        ];
        let texts = texts.map(|(key, field)| (key, field.as_ref().map(|field| field.key)));
        let others = [
            ("tools", tools.as_ref().map(|field| field.key)),
            ("args", args.as_ref().map(|field| field.key)),
            ("within_ms", within_ms.as_ref().map(|field| field.key)),
        ];
        for (key, at) in counts.into_iter().chain(texts).chain(others) {
            if let Some(at) = at.filter(|_| !own.contains(&key)) {
                let text = key.to_owned();
                self.reading.unknown_key(&Key { text, at }, owner, own);
            }
        }
    }

    /// The tools of a rule.
    fn tools(&mut self, field: Option<Field<Texts>>, owner: &str, at: At) -> Option<Vec<String>> {
        let Some(field) = field else {
            self.required_by_us("tools", owner, at)?;
            return Some(Vec::new());
        };
        if field.value.0.is_empty() && self.dialect() == Dialect::Native {
            self.problem(field.key, |origin| problems::at_least_one(origin, "tools"));
            return None;
        }
        self.strings("tools", field)
    }

    /// The tool of a rule.
    fn tool(&mut self, field: Option<Field<Text>>, owner: &str, at: At) -> Option<String> {
        self.required_text(field, "tool", owner, at)
            .map(|tool| tool.text)
    }

    /// `args_contain`
    fn args_rule(&mut self, raw: RawRule, owner: &str, at: At) -> Option<TrajectoryRule> {
        let tool = self.tool(raw.tool, owner, at);
        let args = match raw.args {
            Some(args) => Some(args.value.0.into_value()),
            None => self
                .required_by_us("args", owner, at)
                .map(|()| Value::Object(Map::new())),
        };
        Some(TrajectoryRule::ArgsContain {
            tool: tool?,
            args: args?,
            among: match self.dialect() {
                Dialect::Native => Among::Any,
                Dialect::Compat => Among::First,
            },
        })
    }

    /// `count`
    fn count_rule(&mut self, raw: RawRule, owner: &str, at: At) -> Option<TrajectoryRule> {
        let tool = self.tool(raw.tool, owner, at);
        let bounds = [("min", &raw.min), ("max", &raw.max)];
        let bound = bounds.iter().find(|(_, field)| field.is_some());
        if let (Some(exact), Some((bound, _))) = (&raw.count, bound) {
            self.problem(exact.key, |origin| {
                problems::conflicting_keys(origin, &["count", bound], owner)
            });
        }
        if let (Some(min), Some(max)) = (&raw.min, &raw.max)
            && min.value.0 > max.value.0
            && self.dialect() == Dialect::Native
        {
            let (least, most) = (min.value.0, max.value.0);
            self.problem(min.at, |origin| {
                problems::no_number_between(origin, least, most)
            });
            return None;
        }
        let exact = raw.count.map(|count| count.value.0);
        let min = raw.min.map(|min| min.value.0).or(exact);
        let max = raw.max.map(|max| max.value.0).or(exact);
        if min.is_none() && max.is_none() {
            self.missing_one_of(&["count", "min", "max"], owner, at);
            return None;
        }
        Some(TrajectoryRule::Count {
            tool: tool?,
            min,
            max,
        })
    }

    /// The word of an outcome.
    fn outcome(&mut self, text: &Text) -> Option<TraceOutcome> {
        match text.text.as_str() {
            "ok" => Some(TraceOutcome::Ok),
            "error" => Some(TraceOutcome::Error),
            _ => {
                self.problem(text.at, |origin| {
                    problems::unknown_word(origin, &text.text, "outcome", &["ok", "error"])
                });
                None
            }
        }
    }

    /// The calls of `trace`.
    pub(super) fn trace(&mut self, field: Field<Vec<RawTraceCall>>) -> Vec<TraceCall> {
        let at = field.key;
        let mut calls = Vec::with_capacity(field.value.len());
        for RawTraceCall {
            tool,
            args,
            outcome,
            at_ms,
        } in field.value
        {
            // What was recorded may hold such marks of its own, and stays as it is.
            let before = self.reading.problems.count();
            if let Some(tool) = &tool {
                self.check_markers(&tool.value.text, tool.value.at);
            }
            if let Some(args) = &args {
                self.check_leaves(&args.value.0);
            }
            self.reading.problems.warn_from(before);
            let tool = self.tool(tool, "a call of `trace`", at);
            let outcome = outcome.and_then(|outcome| self.outcome(&outcome.value));
            let Some(tool) = tool else { continue };
            calls.push(TraceCall {
                tool,
                args: args.map_or(Value::Null, |args| args.value.0.into_value()),
                outcome,
                at_ms: at_ms.map(|at_ms| at_ms.value.0),
                unknowable: Vec::new(),
            });
        }
        calls
    }
}
