//! What a call brought back, in the form expectations look at.

use std::time::Duration;

use serde_json::Value;

use super::finding::FindingCode;
use crate::protocol::message::{Id, RpcError};

/// The answer to one call, with what belongs to it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Result or protocol error.
    pub body: Body,
    /// From the request's last byte sent to the answer's last byte received.
    pub took: Duration,
    /// Length of the answering frame (all pages together), in bytes.
    pub bytes: usize,
    /// When it had come, in microseconds of the job.
    pub at_us: u64,
    /// How many notifications had come before it, of all that were seen: progress that comes later is late.
    pub on_time: usize,
    /// The progress token that was sent with it.
    pub progress_token: Option<Value>,
    /// The notifications that arrived from the request to the end of the answer and of any waiting after it:
    /// a range of [`super::Observation::notifications`].
    pub notifications: std::ops::Range<usize>,
    /// Likewise the server's requests.
    pub server_requests: std::ops::Range<usize>,
    /// The tool that was called, for looking up what the catalog says of it.
    pub tool: Option<String>,
    /// The arguments of a tool or a prompt, or the parameters of a completion, as they were sent; null when none.
    pub arguments: Value,
    /// What explains that the request was refused, as far as the server's capabilities do.
    pub unserved: Option<Unserved>,
    /// What the server was asked to tell before: `notifications` begins with that request.
    pub interest: Option<Interest>,
}

/// Why a server may refuse a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unserved {
    /// It did not declare the capability that the request needs.
    Undeclared(&'static str),
    /// No capability promises the method, and it does not have it.
    Optional(&'static str),
}

/// What a server was asked to tell by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interest {
    /// Log messages from a level on.
    Logs,
    /// Updates of the resource of this URI.
    Updates(String),
}

/// A result, or a JSON-RPC error. The two are never mixed.
#[derive(Debug, Clone)]
pub enum Body {
    /// The `result` member, seen through its method.
    Result(Reply),
    /// The `error` member.
    ProtocolError(RpcError),
}

/// A result as expectations see it.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// The result as it came; of several pages the merged list.
    pub raw: Value,
    /// The text under test: for a tool the `text` parts joined by newline; for lists, completions and
    /// handshakes the result as compact JSON; for resources and prompts the Go tool's rendering.
    pub text: String,
    /// How that text was made.
    pub rendering: Rendering,
    /// Content blocks of a tool result, as they came; empty for other methods.
    pub content: Vec<Value>,
    /// `structuredContent` of a tool result.
    pub structured: Option<Value>,
    /// `isError` of a tool result.
    pub is_error: bool,
    /// Each page of a list as it came.
    pub pages: Vec<Value>,
    /// The part of a list that was not fetched; `None` if the list is whole.
    pub unfetched: Option<Unfetched>,
    /// What was answered to the frames of `raw`; `None` for every other subject.
    pub frames: Option<Box<FrameAnswers>>,
    /// What stood before the body that was answered to `http`; `None` for every other subject.
    pub http: Option<Box<HttpHead>>,
}

/// The head of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpHead {
    /// Its status.
    pub status: u16,
    /// Its headers, the names in small letters, in their order.
    pub headers: Vec<(String, String)>,
}

/// That a list is not known to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfetched {
    /// Whether the list is without end by the server's doing, or longer than what is fetched.
    pub code: FindingCode,
    /// The member of the result that is the list.
    pub member: &'static str,
    /// Why no further page was fetched, for people: "`tools/list` goes on after 1000 pages".
    pub reason: String,
}

impl Reply {
    /// The structured content, where there is some. `null` is none: some servers send it for that.
    pub fn structured(&self) -> Option<&Value> {
        self.structured.as_ref().filter(|value| !value.is_null())
    }
}

/// How the text under test was made of a result: which of its strings stand in it as they are.
#[derive(Debug, Clone, Default)]
pub enum Rendering {
    /// The text blocks of a tool result.
    #[default]
    Blocks,
    /// The texts of resources, and a line for each that is binary.
    Contents {
        /// The URI that was asked for.
        asked: Option<String>,
    },
    /// The description and the messages of a prompt; what is not a text block is written as JSON.
    Messages,
    /// The whole as JSON: lists, completions, handshakes; each frame of `raw`.
    Json,
}

/// The answers to frames that were sent as they were written.
#[derive(Debug, Clone, Default)]
pub struct FrameAnswers {
    /// The answers, in the order in which they came; those that fit no request too.
    pub answers: Vec<Answered>,
    /// The ids of requests that nothing answered.
    pub unanswered: Vec<Id>,
    /// Why no answer can come to the first of them, where that is known.
    pub lack: Option<String>,
}

/// One answer to such a frame.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The id that it names.
    pub id: Option<Id>,
    /// What it is.
    pub kind: FrameAnswer,
}

/// The kinds of such answers.
#[derive(Debug, Clone)]
pub enum FrameAnswer {
    /// A result that is not a tool error.
    Success,
    /// A result with `isError: true`.
    ToolError,
    /// A JSON-RPC error.
    ProtocolError(RpcError),
    /// Nobody can say which of these it is, for this reason.
    Unclear(&'static str),
}

impl Answer {
    /// The result, unless it was a protocol error.
    pub fn reply(&self) -> Option<&Reply> {
        match &self.body {
            Body::Result(reply) => Some(reply),
            Body::ProtocolError(_) => None,
        }
    }
}
