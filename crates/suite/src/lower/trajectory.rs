//! `trajectory`: rules over a list of tool calls, and the list when it is written in the suite.

use serde_json::{Map, Value};

use super::{Lowering, expectation::has_markers, subject::OptionalSubject};
use crate::{
    model::expectation::{Among, Expectation, Family, TrajectoryRule, Wanted},
    problems,
    raw::{
        Field, Readable,
        assertion::RawAssertion,
        expect::{RawRule, RawTraceCall},
        read::value,
        value::{Text, Texts},
    },
    yaml::{At, Key, Kind, Node},
};
use mcp::{
    observation::{TraceCall, TraceOutcome},
    script::subject::{Subject, TraceSource},
};

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
    /// `trajectory` with its list of calls.
    pub(super) fn trajectory_subject(&mut self, raw: &mut RawAssertion, at: At) -> OptionalSubject {
        let rules = raw.trajectory.take()?.value;
        let inline = raw.trace.take().map(|trace| self.trace(trace));
        let log = value(raw.audit_log.take()).filter(|log| !log.text.is_empty());
        let log = log.map(|log| self.template(log));
        let source = match (log, inline) {
            (Some(log), _) => TraceSource::AuditLog(log),
            (None, Some(calls)) => TraceSource::Inline(calls),
            (None, None) => {
                let problem = problems::missing_one_of(&["trace", "audit_log"], "`trajectory`");
                self.native_problem(at, problem);
                TraceSource::Inline(Vec::new())
            }
        };
        if rules.is_empty() {
            self.problem(at, problems::at_least_one("trajectory"));
        }
        let mut wanted: Vec<Wanted> = Vec::with_capacity(rules.len());
        for rule in rules {
            let node = rule.0;
            let at = node.at;
            if has_markers(&node) {
                let text = "trajectory".to_owned();
                wanted.push(self.later(Family::Trajectory, "trajectory", &Key { text, at }, node));
            } else {
                wanted.extend(self.rule(node, at));
            }
        }
        Some((Subject::Trajectory(source), wanted))
    }

    /// One rule. `at` is the place of problems with missing keys.
    pub(super) fn rule(&mut self, mut node: Node, at: At) -> Option<Wanted> {
        let word = node.get("type").and_then(Node::written).unwrap_or_default();
        let owner = format!("the rule `{word}`");
        let kind = KINDS.iter().find(|(kind, _)| *kind == word);
        if let (Some((_, own)), Kind::Map(entries)) = (kind, &mut node.kind) {
            entries.retain(|entry| {
                let key = entry.key.text.as_str();
                let is_known = own.contains(&key) || entry.value.is_null();
                let is_foreign = RawRule::KEYS.contains(&key) && !is_known;
                if is_foreign {
                    self.reading.unknown_key(&entry.key, &owner, own);
                }
                !is_foreign
            });
        }
        let mut raw = RawRule::read(node, &mut self.reading)?;
        let kind = self.required(raw.kind.take(), "type", "a rule of `trajectory`", at)?;
        let rule = match kind.value.text.as_str() {
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
            "within_ms" => {
                let limit = self.required(raw.within_ms, "within_ms", &owner, at);
                TrajectoryRule::WithinMs {
                    limit_ms: limit?.value,
                    from: raw.from.map(|from| from.value.text),
                    to: raw.to.map(|to| to.value.text),
                }
            }
            word => {
                let words = KINDS.map(|(word, _)| word);
                let problem = problems::unknown_word(word, "`trajectory` rule", &words);
                self.problem(kind.at, problem);
                return None;
            }
        };
        let wanted = Expectation::Trajectory(Box::new(rule));
        Some(self.wanted("trajectory", at, wanted))
    }

    /// The tools of a rule.
    fn tools(&mut self, field: Option<Field<Texts>>, owner: &str, at: At) -> Option<Vec<String>> {
        let Some(field) = field else {
            self.required_by_us("tools", owner, at)?;
            return Some(Vec::new());
        };
        if field.value.0.is_empty() && !self.is_compat() {
            self.problem(field.key, problems::at_least_one("tools"));
            return None;
        }
        self.strings("tools", field)
    }

    /// The tool of a rule.
    fn tool(&mut self, field: Option<Field<Text>>, owner: &str, at: At) -> Option<String> {
        let tool = self.required_text(field, "tool", owner, at)?;
        Some(tool.text)
    }

    /// `args_contain`
    fn args_rule(&mut self, raw: RawRule, owner: &str, at: At) -> Option<TrajectoryRule> {
        let tool = self.tool(raw.tool, owner, at);
        let args = raw.args.map(|args| args.value.0.into_value());
        let args = args.or_else(|| {
            self.required_by_us("args", owner, at)?;
            Some(Value::Object(Map::new()))
        });
        let args = args?;
        let among = if self.is_compat() {
            Among::First
        } else {
            Among::Any
        };
        let tool = tool?;
        Some(TrajectoryRule::ArgsContain { tool, args, among })
    }

    /// `count`
    fn count_rule(&mut self, raw: RawRule, owner: &str, at: At) -> Option<TrajectoryRule> {
        let tool = self.tool(raw.tool, owner, at);
        let bounds = [("min", &raw.min), ("max", &raw.max)];
        let bound = bounds.iter().find(|(_, field)| field.is_some());
        if let (Some(exact), Some((bound, _))) = (&raw.count, bound) {
            let problem = problems::conflicting_keys(&["count", bound], owner);
            self.problem(exact.key, problem);
        }
        if let (Some(min), Some(max)) = (&raw.min, &raw.max)
            && min.value > max.value
            && !self.is_compat()
        {
            self.problem(min.at, problems::no_number_between(min.value, max.value));
            return None;
        }
        let exact = value(raw.count);
        let (min, max) = (value(raw.min).or(exact), value(raw.max).or(exact));
        if min.is_none() && max.is_none() {
            self.missing_one_of(&["count", "min", "max"], owner, at);
            return None;
        }
        let tool = tool?;
        Some(TrajectoryRule::Count { tool, min, max })
    }

    /// The word of an outcome.
    fn outcome(&mut self, text: &Text) -> Option<TraceOutcome> {
        match text.text.as_str() {
            "ok" => Some(TraceOutcome::Ok),
            "error" => Some(TraceOutcome::Error),
            word => {
                let problem = problems::unknown_word(word, "outcome", &["ok", "error"]);
                self.problem(text.at, problem);
                None
            }
        }
    }

    /// The calls of `trace`.
    fn trace(&mut self, field: Field<Vec<RawTraceCall>>) -> Vec<TraceCall> {
        let at = field.key;
        let calls = field.value.into_iter().filter_map(|raw| {
            // A recorded call may contain `{{…}}`, and stays as it is.
            let before = self.reading.problems.count();
            if let Some(tool) = &raw.tool {
                self.check_markers(&tool.value.text, tool.value.at);
            }
            if let Some(args) = &raw.args {
                self.check_leaves(&args.value.0);
            }
            self.reading.problems.warn_from(before);
            let tool = self.tool(raw.tool, "a call of `trace`", at);
            let outcome = value(raw.outcome).and_then(|outcome| self.outcome(&outcome));
            Some(TraceCall {
                tool: tool?,
                args: raw
                    .args
                    .map_or(Value::Null, |args| args.value.0.into_value()),
                outcome,
                at_ms: value(raw.at_ms),
                unknowable: Vec::new(),
            })
        });
        calls.collect()
    }
}
