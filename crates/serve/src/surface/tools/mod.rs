//! The tools: what they say of themselves, which is in the tables, the check of arguments, and the way to each.

mod counting;
mod failing;
mod files;
mod gateway;
mod plain;
mod structured;
mod telling;
mod waiting;

use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Call, structured_result, text_result, tool_error};
use super::changes::List;
use super::official::{TABLE, fill};
use super::rounds::{Inquired, Inquiry};
use super::tasks::Job;
use crate::http::TakenUp;

/// One tool.
#[derive(Debug, Default, Deserialize)]
pub struct BenchTool {
    /// As a client calls it.
    pub name: String,
    /// What it does, in one line.
    pub about: String,
    /// Arguments that are texts, each with what it is for; or else
    #[serde(default)]
    texts: JsonObject,
    /// the schema of all.
    schema: Option<Value>,
    output: Option<Value>,
    /// Where nothing is written, what it does tells.
    hints: Option<Hints>,
    does: Does,
    #[serde(skip)]
    compiled: OnceLock<Result<Validator, String>>,
}

/// What a tool changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Hints {
    /// Nothing, and the same call gives the same answer.
    Pure,
    /// Nothing that lasts.
    ReadOnly,
    /// Something.
    Changes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Does {
    /// Gives this result.
    Gives(Value),
    /// Gives back its arguments.
    #[default]
    Shows,
    /// Asks, and tells what was answered.
    Asks(Inquiry),
    Changes(List),
    Counter,
    DeleteFile,
    Echo,
    Emit,
    Error,
    FixedResponse,
    Flaky,
    Headers,
    Logs,
    LongOutput,
    Lorem,
    Progress,
    Reconnects,
    Reply,
    SizedResponse,
    Slow,
    Steps,
    Structured,
    Whoami,
    Works(Job),
    WriteFile,
}

impl BenchTool {
    /// All tools but those of the profile `gateway`, in the order of the list.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        TABLE.tools.iter()
    }

    /// Whether it is only there with a folder that it may touch.
    pub fn touches_files(&self) -> bool {
        matches!(self.does, Does::WriteFile | Does::DeleteFile)
    }

    /// Whether its result is sent exactly as it is.
    pub(super) fn is_verbatim(&self) -> bool {
        matches!(self.does, Does::Reply)
    }

    /// The entry of `tools/list`.
    pub(super) fn entry(&self) -> Tool {
        let mut tool = Tool::new(
            self.name.clone(),
            self.about.clone(),
            Arc::new(object(self.input())),
        );
        let output = self.output.clone();
        tool.output_schema = output.map(|schema| Arc::new(object(schema)));
        let hints = ToolAnnotations::new();
        let of_kind = if matches!(self.does, Does::Gives(_) | Does::Shows) {
            Hints::Pure
        } else if matches!(self.does, Does::Changes(_)) {
            Hints::Changes
        } else {
            Hints::ReadOnly
        };
        tool.with_annotations(match self.hints.unwrap_or(of_kind) {
            Hints::Pure => hints.read_only(true).idempotent(true),
            Hints::ReadOnly => hints.read_only(true),
            Hints::Changes => hints.read_only(false),
        })
    }

    /// The result of a call, as JSON.
    pub(super) async fn run(&'static self, call: &Call<'_>) -> Result<Value, ErrorData> {
        if let Err(problem) = self.check(&call.arguments) {
            return Ok(tool_error(&problem));
        }
        Ok(match &self.does {
            Does::Gives(result) => fill(result, &call.arguments),
            Does::Shows => structured_result(&json!(call.arguments)),
            Does::Asks(inquiry) => match inquiry.hear(call).await? {
                Inquired::Answers(answers) => inquiry.told(&answers),
                Inquired::Needs(result) | Inquired::Refused(result) => result,
            },
            Does::Changes(list) => {
                call.bench.shared.changes.change(*list).await;
                text_result("the list is another one now")
            }
            Does::Counter => counting::counter(call),
            Does::DeleteFile => files::delete(call),
            Does::Echo => plain::echo(call),
            Does::Emit => telling::emit(call).await?,
            Does::Error => failing::error(call)?,
            Does::FixedResponse => gateway::fixed(call.text("key").unwrap_or_default()),
            Does::Flaky => failing::flaky(call),
            Does::Headers => gateway::headers(call),
            Does::Logs => telling::logging(call).await?,
            Does::LongOutput => gateway::long(call),
            Does::Lorem => gateway::lorem(call),
            Does::Progress => telling::progress(call).await?,
            Does::Reconnects => {
                TakenUp::wait(call.context).await;
                text_result("the answer comes on another stream")
            }
            Does::Reply => plain::reply(call),
            Does::SizedResponse => gateway::sized(call.whole("size").unwrap_or(0)),
            Does::Slow => waiting::slow(call).await?,
            Does::Steps => gateway::steps(call).await?,
            Does::Structured => structured::run(call),
            Does::Whoami => gateway::whoami(call),
            Does::Works(job) => job.work(call).await?,
            Does::WriteFile => files::write(call),
        })
    }

    /// The schema of the arguments.
    pub(super) fn input(&self) -> Value {
        if let Some(schema) = &self.schema {
            return schema.clone();
        }
        let mut schema = json!({"type": "object", "additionalProperties": false});
        if !self.texts.is_empty() {
            let texts = self.texts.iter().map(|(name, about)| {
                let schema = json!({"type": "string", "description": about});
                (name.clone(), schema)
            });
            schema["properties"] = texts.collect();
            schema["required"] = self.texts.keys().cloned().collect();
        }
        schema
    }

    /// Arguments that do not fit the schema are a tool error, which a model can read.
    fn check(&self, arguments: &JsonObject) -> Result<(), String> {
        let compile = || jsonschema::validator_for(&self.input()).map_err(|it| it.to_string());
        let validator = self.compiled.get_or_init(compile).as_ref()?;
        let given = Value::Object(arguments.clone());
        let mut problems = validator.iter_errors(&given).map(|error| {
            let at = error.instance_path().to_string();
            if matches!(error.kind(), ValidationErrorKind::FalseSchema)
                && let Some(name) = arguments.keys().next()
            {
                // A schema without properties: it is known by the argument's value alone.
                format!("there are none, and \"{name}\" is given")
            } else if at.is_empty() {
                error.to_string()
            } else {
                format!("{error} at {at}")
            }
        });
        match problems.next() {
            None => Ok(()),
            Some(first) => Err(format!("invalid arguments for {}: {first}", self.name)),
        }
    }
}

/// Every schema here is written as an object.
fn object(schema: Value) -> JsonObject {
    if let Value::Object(members) = schema {
        members
    } else {
        JsonObject::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_proper_entry() {
        let mut names = Vec::new();
        for tool in BenchTool::all() {
            let entry = tool.entry();
            assert_eq!(entry.input_schema["type"], "object", "{}", tool.name);
            assert!(entry.description.is_some_and(|text| text.len() > 10));
            let input = Value::Object((*entry.input_schema).clone());
            jsonschema::validator_for(&input).unwrap();
            if let Some(output) = entry.output_schema {
                assert_eq!(output["type"], "object", "{}", tool.name);
                jsonschema::validator_for(&Value::Object((*output).clone())).unwrap();
            }
            assert!(!names.contains(&&tool.name), "{} twice", tool.name);
            names.push(&tool.name);
        }
        assert_eq!(names[0], "test_simple_text");
    }

    fn named(name: &str) -> &'static BenchTool {
        BenchTool::all().find(|tool| tool.name == name).unwrap()
    }

    #[test]
    fn arguments_are_checked_by_the_schema() {
        let arguments = |json: Value| object(json);
        let wrong = serde_json::json!({"milliseconds": "soon"});
        let problem = named("slow").check(&arguments(wrong)).unwrap_err();
        assert!(problem.contains("invalid arguments for slow"), "{problem}");
        assert!(problem.contains("/milliseconds"), "{problem}");
        let extra = serde_json::json!({"extra": 1});
        let problem = named("counter").check(&arguments(extra)).unwrap_err();
        assert_eq!(
            problem,
            "invalid arguments for counter: there are none, and \"extra\" is given"
        );
        let right = serde_json::json!({"milliseconds": 3});
        assert!(named("slow").check(&arguments(right)).is_ok());
    }
}
