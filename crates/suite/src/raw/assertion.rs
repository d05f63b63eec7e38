//! The top level of a document.

use super::{
    client::RawClient,
    expect::{RawRule, RawTraceCall},
    server::RawServer,
    shape::shape,
    step::RawStep,
    subject::{
        RawCompletion, RawElicitation, RawHttp, RawInitialize, RawLogging, RawNotifications,
        RawPrompts, RawRaw, RawResources, RawSampling, RawTool, RawTools,
    },
    union::FlagOr,
    value::{Anything, Deferred, Text, Texts},
};

/// The keys of which a document has exactly one.
pub(crate) const SUBJECTS: &[&str] = &[
    "assert",
    "assert_tools",
    "assert_initialize",
    "assert_resources",
    "assert_prompts",
    "assert_completion",
    "assert_sampling",
    "assert_elicitation",
    "assert_logging",
    "assert_notifications",
    "trajectory",
    "steps",
    "raw",
    "http",
];

shape! {
    /// One document of a suite is one assertion: a server, calls to prepare it, one subject, and what is
    /// expected of the subject's answer. Keys that begin with `x-` are the author's own, for values with anchors.
    RawAssertion, "an assertion" {
        /// How reports call the assertion. Default: the file's name.
        name = "name": Text;
        /// Free text for readers.
        description = "description": Anything;
        /// Labels that `--tag` and `--not-tag` select by.
        tags = "tags": Texts;
        /// The server under test and how it is reached. Keys that are missing come from `defaults` of
        /// `mcp-assert.yaml`.
        server = "server": Box<RawServer>;
        /// The protocol revision and the client's behaviour for this assertion.
        client = "client": Box<RawClient>;
        /// Calls made before the subject, one after another on the same session. One that is answered with
        /// an error ends the assertion as an error that names the step.
        setup = "setup": Vec<RawStep>;
        /// Calls one tool.
        assert = "assert": Box<RawTool>;
        /// Lists the tools, all pages.
        assert_tools = "assert_tools": Box<RawTools>;
        /// Makes the handshake and looks at its answer.
        assert_initialize = "assert_initialize": Box<RawInitialize>;
        /// Lists, reads, or subscribes to resources.
        assert_resources = "assert_resources": Box<RawResources>;
        /// Lists prompts or gets one.
        assert_prompts = "assert_prompts": Box<RawPrompts>;
        /// Asks for completions of an argument.
        assert_completion = "assert_completion": Box<RawCompletion>;
        /// Calls a tool that asks the client for a sample. A server that never asks fails.
        assert_sampling = "assert_sampling": Box<RawSampling>;
        /// Calls a tool that asks the user something. A server that never asks fails.
        assert_elicitation = "assert_elicitation": Box<RawElicitation>;
        /// Sets the log level, calls a tool, and looks at the log messages.
        assert_logging = "assert_logging": Box<RawLogging>;
        /// Calls a tool and looks at the notifications.
        assert_notifications = "assert_notifications": Box<RawNotifications>;
        /// Rules over a list of tool calls, taken from `trace` or `audit_log`. No server is started.
        trajectory = "trajectory": Vec<Deferred<RawRule>>;
        /// The tool calls that `trajectory` is about.
        trace = "trace": Vec<RawTraceCall>;
        /// A file of JSON lines, one tool call each, that `trajectory` is about; wins over `trace`.
        audit_log = "audit_log": Text;
        /// Several calls on one session, each with its own `expect` and `capture`.
        steps = "steps": Vec<RawStep>;
        /// `true`: all `steps` are sent before any answer is awaited; a `wait` runs beside them.
        parallel = "parallel": bool;
        /// Sends frames as they are written, malformed ones too, and looks at the frames received.
        raw = "raw": Box<RawRaw>;
        /// Sends one HTTP request and looks at the response.
        http = "http": Box<RawHttp>;
        /// The time for the copy of the fixture, server start, handshake, setup and subject together, such as `15s` or
        /// `1m30s`. Wins over `--timeout`.
        timeout = "timeout": Text;
        /// `true` or a reason: the assertion is not run.
        skip = "skip": FlagOr<Text>;
        /// Environment variables without which the assertion is not run; an empty one counts as missing.
        skip_unless_env = "skip_unless_env": Texts;
        /// A name: assertions with the same one run one at a time.
        serial = "serial": Text;
        /// So many further attempts after a failure; passing late is reported as flaky.
        retries = "retries": u64;
    }
}
