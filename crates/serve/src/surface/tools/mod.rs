//! The tools: their list, their entries, the check of arguments, and the way to each.

mod counting;
mod failing;
mod files;
mod gateway;
mod plain;
mod structured;
pub(super) mod telling;
mod waiting;

use std::mem;
use std::sync::{Arc, LazyLock, OnceLock};

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use self::gateway::GatewayTool;
use super::call::{Call, tool_error};
use super::official::{Official, TABLE};

/// One tool of the bench.
#[derive(Debug, Clone, Copy)]
pub enum BenchTool {
    /// Constant text.
    SimpleText,
    /// What came, sent back.
    Echo,
    /// Exactly the result that was asked for.
    Reply,
    /// Right and wrong structured content.
    Structured,
    /// Errors of both layers.
    Error,
    /// Takes its time.
    Slow,
    /// Fails now and then.
    Flaky,
    /// How often it was called.
    Counter,
    /// Any notification.
    Emit,
    /// Three progress notifications.
    Progress,
    /// Three log messages.
    Logging,
    /// Writes a file.
    WriteFile,
    /// Deletes a file.
    DeleteFile,
    /// One that the official suite asks for.
    Official(&'static Official),
    /// One of the profile `gateway`, and of no other.
    Gateway(GatewayTool),
}

impl PartialEq for BenchTool {
    fn eq(&self, other: &Self) -> bool {
        mem::discriminant(self) == mem::discriminant(other) && self.name() == other.name()
    }
}

/// What a tool says of itself.
struct Spec {
    about: &'static str,
    input: Value,
    output: Option<Value>,
    hints: Hints,
}

/// What a tool changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hints {
    /// Nothing, and the same call gives the same answer.
    Pure,
    /// Nothing that lasts.
    ReadOnly,
    /// Something.
    Changes,
}

impl BenchTool {
    /// Those with code of their own.
    const OWN: [Self; 13] = [
        Self::SimpleText,
        Self::Echo,
        Self::Reply,
        Self::Structured,
        Self::Error,
        Self::Slow,
        Self::Flaky,
        Self::Counter,
        Self::Emit,
        Self::Progress,
        Self::Logging,
        Self::WriteFile,
        Self::DeleteFile,
    ];

    /// What is only listed after the list was changed.
    pub(super) fn dynamic() -> Self {
        Self::Official(&TABLE.dynamic_tool)
    }

    /// All tools, in the order of the list.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::OWN
            .into_iter()
            .chain(TABLE.tools.iter().map(Self::Official))
    }

    /// Those of the profile `gateway`.
    pub(super) fn of_gateway() -> impl Iterator<Item = Self> {
        let all = GatewayTool::ALL.into_iter();
        all.map(|name| Self::Gateway(GatewayTool(name)))
    }

    /// As a client calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SimpleText => "test_simple_text",
            Self::Echo => "echo",
            Self::Reply => "reply",
            Self::Structured => "structured",
            Self::Error => "error",
            Self::Slow => "slow",
            Self::Flaky => "flaky",
            Self::Counter => "counter",
            Self::Emit => "emit",
            Self::Progress => "test_tool_with_progress",
            Self::Logging => "test_tool_with_logging",
            Self::WriteFile => "write_file",
            Self::DeleteFile => "delete_file",
            Self::Official(tool) => &tool.name,
            Self::Gateway(tool) => tool.0,
        }
    }

    /// What it does, in one line.
    pub fn about(self) -> &'static str {
        self.spec().about
    }

    /// Whether it is only there with a folder that it may touch.
    pub const fn touches_files(self) -> bool {
        matches!(self, Self::WriteFile | Self::DeleteFile)
    }

    /// The entry of `tools/list`.
    pub(super) fn entry(self) -> Tool {
        let spec = self.spec();
        let mut tool = Tool::new(self.name(), spec.about, Arc::new(object(spec.input)));
        tool.output_schema = spec.output.map(|schema| Arc::new(object(schema)));
        let hints = ToolAnnotations::new();
        tool.with_annotations(match spec.hints {
            Hints::Pure => hints.read_only(true).idempotent(true),
            Hints::ReadOnly => hints.read_only(true),
            Hints::Changes => hints.read_only(false),
        })
    }

    /// The result of a call, as JSON.
    pub(super) async fn run(self, call: &Call<'_>) -> Result<Value, ErrorData> {
        if let Err(problem) = self.check(&call.arguments) {
            return Ok(tool_error(&problem));
        }
        match self {
            Self::SimpleText => Ok(plain::simple_text()),
            Self::Echo => Ok(plain::echo(call)),
            Self::Reply => Ok(plain::reply(call)),
            Self::Structured => Ok(structured::run(call)),
            Self::Error => failing::error(call),
            Self::Slow => waiting::slow(call).await,
            Self::Flaky => Ok(failing::flaky(call)),
            Self::Counter => Ok(counting::counter(call)),
            Self::Emit => telling::emit(call).await,
            Self::Progress => telling::progress(call).await,
            Self::Logging => telling::logging(call).await,
            Self::WriteFile => Ok(files::write(call)),
            Self::DeleteFile => Ok(files::delete(call)),
            Self::Official(tool) => tool.run(call).await,
            Self::Gateway(tool) => tool.run(call).await,
        }
    }

    fn spec(self) -> Spec {
        match self {
            Self::SimpleText => plain::simple_text_spec(),
            Self::Echo => plain::echo_spec(),
            Self::Reply => plain::reply_spec(),
            Self::Structured => structured::spec(),
            Self::Error => failing::error_spec(),
            Self::Slow => waiting::slow_spec(),
            Self::Flaky => failing::flaky_spec(),
            Self::Counter => counting::spec(),
            Self::Emit => telling::emit_spec(),
            Self::Progress => telling::progress_spec(),
            Self::Logging => telling::logging_spec(),
            Self::WriteFile => files::write_spec(),
            Self::DeleteFile => files::delete_spec(),
            Self::Official(tool) => Spec {
                about: &tool.about,
                input: tool.input(),
                output: None,
                hints: tool.hints(),
            },
            Self::Gateway(tool) => tool.spec(),
        }
    }

    /// Arguments that do not fit the schema are a tool error, which a model can read.
    fn check(self, arguments: &JsonObject) -> Result<(), String> {
        // What is only listed after a change is behind all that are always there.
        static COMPILED: LazyLock<Vec<OnceLock<Result<Validator, String>>>> = LazyLock::new(|| {
            let all = BenchTool::all().chain(BenchTool::of_gateway());
            (0..=all.count()).map(|_| OnceLock::new()).collect()
        });
        let mut all = Self::all().chain(Self::of_gateway());
        let place = all.position(|tool| tool == self);
        let validator = COMPILED[place.unwrap_or(COMPILED.len() - 1)]
            .get_or_init(|| {
                jsonschema::validator_for(&self.spec().input).map_err(|error| error.to_string())
            })
            .as_ref()?;
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
            Some(first) => Err(format!("invalid arguments for {}: {first}", self.name())),
        }
    }
}

/// Every schema here is written as an object.
fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            JsonObject::new()
        }
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
            assert_eq!(entry.input_schema["type"], "object", "{}", tool.name());
            assert!(entry.description.is_some_and(|text| text.len() > 10));
            let input = Value::Object((*entry.input_schema).clone());
            jsonschema::validator_for(&input).unwrap();
            if let Some(output) = entry.output_schema {
                assert_eq!(output["type"], "object", "{}", tool.name());
                jsonschema::validator_for(&Value::Object((*output).clone())).unwrap();
            }
            assert!(!names.contains(&tool.name()), "{} twice", tool.name());
            names.push(tool.name());
        }
        assert_eq!(names[0], "test_simple_text");
    }

    #[test]
    fn arguments_are_checked_by_the_schema() {
        let arguments = |json: Value| object(json);
        let wrong = serde_json::json!({"milliseconds": "soon"});
        let problem = BenchTool::Slow.check(&arguments(wrong)).unwrap_err();
        assert!(problem.contains("invalid arguments for slow"), "{problem}");
        assert!(problem.contains("/milliseconds"), "{problem}");
        let extra = serde_json::json!({"extra": 1});
        let problem = BenchTool::Counter.check(&arguments(extra)).unwrap_err();
        assert_eq!(
            problem,
            "invalid arguments for counter: there are none, and \"extra\" is given"
        );
        let right = serde_json::json!({"milliseconds": 3});
        assert!(BenchTool::Slow.check(&arguments(right)).is_ok());
    }
}
