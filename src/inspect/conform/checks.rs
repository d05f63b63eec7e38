//! The checks: what the specification asks, where it says so, when that applies, and how it is seen.

use serde_json::{Value, json};

use super::Facts;
use mcp::{
    protocol::revision::Revision,
    script::{
        subject::{
            RawFrame,
            RawHandshake::{self, Made, Omitted},
        },
        template::{Template, ValueTemplate},
    },
};
use report::inspection::Severity::{self, Error as Must, Warning as Should};

/// How a check is made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asks {
    /// By what the sessions note by themselves: none of these codes.
    Findings(&'static str),
    /// By the answer to a request: its method, its parameters as JSON, and the judge.
    Request(&'static str, &'static str, Judge),
    /// By the answers to frames that are sent as they are written, in the order in which they came. Without a handshake they
    /// have a connection of their own.
    Frames(RawHandshake, fn(&Facts) -> Vec<Value>, Judge),
    /// By the head of the response to a POST with these headers, or to a GET, which has no body.
    Http(Headers, Option<fn(&Facts) -> RawFrame>),
    /// By whether the other requests were answered.
    Answers,
    /// By how the server ends when its stdin is closed.
    End,
}

/// Says what is wrong with the answers to frames.
pub(crate) type Judge = fn(&[Value]) -> Result<(), String>;

/// Names and values of headers.
pub(super) type Headers = &'static [(&'static str, &'static str)];

/// One demand of the specification.
#[derive(Debug)]
pub(crate) struct Check {
    /// The stable code.
    pub(crate) code: &'static str,
    /// The demand in words.
    pub(crate) title: &'static str,
    /// The page of the specification, below its revision.
    pub(crate) section: &'static str,
    /// `Error` for a MUST, `Warning` for a SHOULD.
    pub(crate) severity: Severity,
    /// Whether it applies; otherwise why not.
    pub(crate) applies: Applies,
    /// How it is made.
    pub(crate) asks: Asks,
}

/// Whether a check applies; otherwise why not.
type Applies = fn(&Facts) -> Result<(), &'static str>;

impl Check {
    /// The page in a revision: those without a handshake have other ones for the transports and for what a session was.
    pub(crate) fn page(&self, revision: Revision) -> &'static str {
        let mut moved = MOVED.iter().filter(|_| revision.is_stateless());
        let new = moved.find(|(old, _)| self.section.starts_with(old));
        new.map_or(self.section, |(_, new)| new)
    }
}

/// Beginnings of pages that stateless revisions have elsewhere.
const MOVED: [(&str, &str); 5] = [
    ("basic/lifecycle#shutdown", "basic/transports/stdio"),
    ("basic/transports#stdio", "basic/transports/stdio"),
    ("basic/transports", "basic/transports/streamable-http"),
    ("basic/lifecycle", "basic/versioning"),
    ("basic/utilities/progress", "basic/patterns/progress"),
];

const ALWAYS: Applies = |_| Ok(());

/// Only for servers that we started over stdio.
const OVER_STDIO: Applies = |it| needs(!it.is_http, "it is not spoken to over stdio");

const OVER_HTTP: Applies = |it| needs(it.is_http, "it is not spoken to over HTTP");

const WITH_HANDSHAKE: Applies = |it| needs(!it.is_stateless(), "the revision has no handshake");

const STATELESS: Applies = |it| needs(it.is_stateless(), "the revision has a handshake");

const WITH_TOOLS: Applies = |it| needs(it.has("tools"), "it declares no tools");

const WITH_PROMPTS: Applies = |it| needs(it.has("prompts"), "it declares no prompts");

const WITHOUT_PROMPTS: Applies = |it| needs(!it.has("prompts"), "it declares prompts");

const WITH_RESOURCES: Applies = |it| needs(it.has("resources"), "it declares no resources");

const WITHOUT_RESOURCES: Applies = |it| needs(!it.has("resources"), "it declares resources");

fn needs(holds: bool, otherwise: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// A revision that does not exist.
const UNKNOWN_REVISION: &str = "1999-01-01";

/// A request, with an id that no other one of its session has; in a stateless revision with the metadata that every
/// request has.
pub(super) fn request(facts: &Facts, id: &Value, method: &str, params: &str) -> Value {
    // The parameters are written below, and are JSON.
    let mut params: Value = serde_json::from_str(params).unwrap_or_default();
    if facts.is_stateless() {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": facts.offer.revision(),
            "io.modelcontextprotocol/clientInfo": {"name": "mcp-assert", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The first request of a handshake.
fn initialize(revision: &str) -> Value {
    let client = json!({"name": "mcp-assert", "version": "1"});
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// A request without the metadata of stateless revisions.
fn bare_list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
}

/// A request of a revision that does not exist.
fn list_of_unknown_revision(facts: &Facts) -> Vec<Value> {
    let mut frame = request(facts, &json!(1), "tools/list", "{}");
    frame["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = UNKNOWN_REVISION.into();
    vec![frame]
}

/// Requests with the ids of both types.
fn pings(facts: &Facts) -> Vec<Value> {
    let method = if facts.is_stateless() {
        "server/discover"
    } else {
        "ping"
    };
    ids().map(|id| request(facts, &id, method, "{}")).to_vec()
}

/// The ids of `ids-echoed`, of both types.
fn ids() -> [Value; 2] {
    [json!("seven"), json!(8_000)]
}

/// The only answer.
fn only(replies: &[Value]) -> Result<&Value, String> {
    replies
        .first()
        .ok_or_else(|| "there was no answer".to_owned())
}

/// A member of the only answer.
fn member<'a>(replies: &'a [Value], name: &str, otherwise: &str) -> Result<&'a Value, String> {
    let reply = only(replies)?;
    reply
        .get(name)
        .ok_or_else(|| format!("{otherwise}: {reply}"))
}

/// Any error.
fn any_error(replies: &[Value]) -> Result<&Value, String> {
    member(replies, "error", "it was answered with a result")
}

/// An error with one of these codes.
fn error(replies: &[Value], codes: &[i64]) -> Result<(), String> {
    let error = any_error(replies)?;
    let code = error.get("code").and_then(Value::as_i64);
    if code.is_some_and(|code| codes.contains(&code)) {
        return Ok(());
    }
    let wanted: Vec<String> = codes.iter().map(i64::to_string).collect();
    Err(format!(
        "expected error {}, got {error}",
        wanted.join(" or ")
    ))
}

fn refused(replies: &[Value]) -> Result<(), String> {
    any_error(replies).map(drop)
}

/// `metadata-required`: a server of both eras may take such a request for one of an older revision, whose results have
/// no `resultType`.
fn refused_or_older(replies: &[Value]) -> Result<(), String> {
    let older = only(replies)?.get("result");
    let is_older = older.is_some_and(|result| result.get("resultType").is_none());
    if is_older { Ok(()) } else { refused(replies) }
}

fn a_result(replies: &[Value]) -> Result<(), String> {
    member(replies, "result", "it was refused").map(drop)
}

/// `ids-echoed`: the ids that were sent.
fn echoed(replies: &[Value]) -> Result<(), String> {
    let is_lost = |id: &Value| replies.iter().all(|reply| reply.get("id") != Some(id));
    let lost = ids().into_iter().find(is_lost);
    lost.map_or(Ok(()), |id| Err(format!("no answer has the id {id}")))
}

/// `version-negotiation`: a revision that both know, or an error.
fn negotiated(replies: &[Value]) -> Result<(), String> {
    let reply = only(replies)?;
    let Some(result) = reply.get("result") else {
        return Ok(());
    };
    match result.get("protocolVersion").and_then(Value::as_str) {
        Some(UNKNOWN_REVISION) => Err(format!(
            "it agrees to the revision {UNKNOWN_REVISION}, which does not exist"
        )),
        Some(_) => Ok(()),
        None => Err(format!("its answer names no protocolVersion: {reply}")),
    }
}

fn silent(replies: &[Value]) -> Result<(), String> {
    let reply = replies.first();
    reply.map_or(Ok(()), |reply| Err(format!("it was answered: {reply}")))
}

/// `unsupported-version`: the error, with what is supported.
fn unsupported(replies: &[Value]) -> Result<(), String> {
    error(replies, &[-32022])?;
    let supported = replies[0]
        .pointer("/error/data/supported")
        .and_then(Value::as_array);
    needs(supported.is_some_and(|it| !it.is_empty()), "")
        .map_err(|_| "the error does not say what is supported (`data.supported`)".to_owned())
}

const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");

fn json_body(frame: Value) -> RawFrame {
    RawFrame::Json(ValueTemplate::new(frame))
}

/// Makes the table: code, MUST or SHOULD, the servers that it applies to, the page of the specification, the demand, and how
/// it is checked.
macro_rules! checks {
    ($($code:literal $severity:ident $applies:ident $section:literal: $title:literal => $asks:ident $(($($parts:tt)*))?;)+) => {
        /// All checks, in the order of reports.
        pub(crate) const CHECKS: &[Check] = &[$(Check {
            code: $code,
            title: $title,
            section: $section,
            severity: $severity,
            applies: $applies,
            asks: Asks::$asks $(($($parts)*))?,
        }),+];
    };
}

checks! {
    "version-negotiation" Must WITH_HANDSHAKE "basic/lifecycle#version-negotiation":
        "a revision that the server does not know is answered with one that it knows, or refused" =>
        Frames(Omitted, |_| vec![initialize(UNKNOWN_REVISION)], negotiated);
    "ping" Must WITH_HANDSHAKE "basic/utilities/ping":
        "`ping` is answered with a result" =>
        Request("ping", "{}", a_result);
    "unknown-method" Must ALWAYS "basic#requests":
        "an unknown method is refused with -32601" =>
        Request("mcp-assert/unknown", "{}", |replies| error(replies, &[-32601]));
    "answers" Must ALWAYS "basic#responses":
        "every request is answered, and none ends the server" =>
        Answers;
    "ids-echoed" Must ALWAYS "basic#responses":
        "answers have the ids of their requests, of the same type" =>
        Frames(Made, pings, echoed);
    "notifications-unanswered" Must WITH_HANDSHAKE "basic#notifications":
        "a notification is not answered" =>
        Frames(Made, |_| vec![json!({"jsonrpc": "2.0", "method": "notifications/mcp-assert"})], silent);
    "unknown-tool" Should WITH_TOOLS "server/tools#error-handling":
        "a call of an unknown tool is a protocol error" =>
        Request("tools/call", r#"{"name": "mcp-assert-unknown", "arguments": {}}"#, refused);
    "bad-params" Should WITH_TOOLS "server/tools#error-handling":
        "a call without the name of a tool is refused with -32602" =>
        Request("tools/call", r#"{"arguments": {}}"#, |replies| error(replies, &[-32602, -32600]));
    "bad-cursor" Should WITH_TOOLS "server/utilities/pagination#error-handling":
        "a cursor that the server did not give is refused" =>
        Request("tools/list", r#"{"cursor": "mcp-assert-unknown"}"#, refused);
    "unknown-prompt" Must WITH_PROMPTS "server/prompts#error-handling":
        "an unknown prompt is refused" =>
        Request("prompts/get", r#"{"name": "mcp-assert-unknown"}"#, refused);
    "unknown-resource" Must WITH_RESOURCES "server/resources#error-handling":
        "an unknown resource is refused" =>
        Request("resources/read", r#"{"uri": "mcp-assert://unknown"}"#, refused);
    "undeclared-prompts" Should WITHOUT_PROMPTS "basic/lifecycle#capability-negotiation":
        "what is not declared is not served: `prompts/list` is refused" =>
        Request("prompts/list", "{}", refused);
    "undeclared-resources" Should WITHOUT_RESOURCES "basic/lifecycle#capability-negotiation":
        "what is not declared is not served: `resources/list` is refused" =>
        Request("resources/list", "{}", refused);
    // Some servers hold every later request of a connection for the revision of its first.
    "unsupported-version" Must STATELESS "basic/versioning":
        "a revision that the server does not speak is refused with -32022 and what it speaks" =>
        Frames(Omitted, list_of_unknown_revision, unsupported);
    "metadata-required" Must STATELESS "basic#meta":
        "a request without its metadata is refused, or served as one of an older revision" =>
        Frames(Omitted, |_| vec![bare_list()], refused_or_older);
    "discover" Must STATELESS "server/discover":
        "`server/discover` is answered with a result" =>
        Frames(Omitted, |facts| vec![request(facts, &json!(1), "server/discover", "{}")], a_result);
    "stdout-purity" Must OVER_STDIO "basic/transports#stdio":
        "stdout carries messages, one a line in UTF-8, and nothing else" =>
        Findings("stdout-noise byte-order-mark lsp-framing not-utf8 no-final-newline not-json");
    "json-rpc" Must ALWAYS "basic#messages":
        "messages are JSON-RPC 2.0: ids, results, errors" =>
        Findings("not-a-message batch jsonrpc-missing jsonrpc-version unknown-id null-id id-type reused-id duplicate-answer \
            answer-to-notification result-and-error neither-result-nor-error error-code error-message");
    "message-shapes" Must ALWAYS "schema":
        "results, requests and notifications have the shapes of the revision" =>
        Findings("schema unknown-content-type bad-base64 bad-tool-schema log-level-unknown unknown-revision");
    "tool-names" Should ALWAYS "server/tools#tool-names":
        "names are listed once, and those of tools are made of characters that every client takes" =>
        Findings("duplicate-name bad-name");
    "structured-content" Must WITH_TOOLS "server/tools#output-schema":
        "structured content is there where it is declared, and fits its schema" =>
        Findings("output-schema-mismatch structured-content-missing");
    "capabilities" Must ALWAYS "basic/lifecycle#capability-negotiation":
        "what is used is declared, and what is declared is served" =>
        Findings("capability-not-declared capability-not-served unknown-request request-before-initialized not-acknowledged \
            unasked-notification");
    "pagination" Must ALWAYS "server/utilities/pagination":
        "the pages of a list come to an end" =>
        Findings("cursor-loop too-many-pages");
    "progress" Must ALWAYS "basic/utilities/progress":
        "progress grows, is of the request that asked for it, and comes before its answer" =>
        Findings("foreign-progress-token progress-not-growing progress-after-answer");
    "http-messages" Must OVER_HTTP "basic/transports#streamable-http":
        "status codes, content types, sessions and streams are those of the transport" =>
        Findings("session-changed bad-session-id wrong-content-type notification-status body-on-202 stream-without-answer \
            bad-header-parameter");
    "http-origin" Must OVER_HTTP "basic/transports#security-warning":
        "a request with a foreign Origin is refused" =>
        Http(&[ACCEPT, ("Origin", "http://evil.example")],
            Some(|facts| json_body(initialize(facts.offer.revision().unwrap_or_default()))));
    // Some servers answer 400 or 404 to a request without a session before they look at its revision.
    "http-version" Must OVER_HTTP "basic/transports#protocol-version-header":
        "a request with an invalid MCP-Protocol-Version is refused with 400" =>
        Http(&[ACCEPT, ("MCP-Protocol-Version", UNKNOWN_REVISION)], Some(|_| json_body(bare_list())));
    "http-body" Must OVER_HTTP "basic/transports#sending-messages-to-the-server":
        "a body that is not JSON is refused with an error of HTTP" =>
        Http(&[ACCEPT, ("Content-Type", "application/json")],
            Some(|_| RawFrame::Text(Template::new("{\"jsonrpc\":"))));
    "http-get" Must OVER_HTTP "basic/transports#listening-for-messages-from-the-server":
        "GET opens a stream of events, or is refused" =>
        Http(&[("Accept", "text/event-stream")], None);
    "end-of-input" Should OVER_STDIO "basic/lifecycle#shutdown":
        "the server ends when its stdin is closed" =>
        End;
}
