//! The checks: what the specification asks, where it says so, when that applies, and how it is seen.

use serde_json::{Value, json};

use super::{Facts, http::Request};
use mcp::{protocol::revision::Revision, script::subject::RawHandshake};
use report::inspection::Severity;

/// How a check is made.
#[derive(Clone, Copy)]
pub(crate) enum Asks {
    /// By what the sessions note by themselves: none of these codes.
    Findings(&'static str),
    /// By the answer to a request: its method, its parameters as JSON, and the judge.
    Request(&'static str, &'static str, Judge),
    /// By the answers to frames that are sent as they are written.
    Frames {
        /// The frames.
        frames: fn(&Facts) -> Vec<Value>,
        /// Whether a handshake comes before them; otherwise they have a connection of their own.
        handshake: RawHandshake,
        /// Judges the answers, in the order in which they came.
        judge: Judge,
    },
    /// By a request of HTTP.
    Http(Request),
    /// By whether the other requests were answered.
    Answers,
    /// By how the server ends when its stdin is closed.
    End,
}

/// Says what is wrong with the answers to frames.
pub(crate) type Judge = fn(&[Value]) -> Result<(), String>;

/// One demand of the specification.
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
    pub(crate) applies: fn(&Facts) -> Result<(), &'static str>,
    /// How it is made.
    pub(crate) asks: Asks,
}

impl Check {
    /// A MUST for every server.
    const fn must(
        code: &'static str,
        title: &'static str,
        section: &'static str,
        asks: Asks,
    ) -> Self {
        Self {
            code,
            title,
            section,
            severity: Severity::Error,
            applies: |_| Ok(()),
            asks,
        }
    }

    /// A SHOULD for every server.
    const fn should(
        code: &'static str,
        title: &'static str,
        section: &'static str,
        asks: Asks,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::must(code, title, section, asks)
        }
    }

    /// The same for the servers that it applies to.
    const fn to(self, applies: fn(&Facts) -> Result<(), &'static str>) -> Self {
        Self { applies, ..self }
    }

    /// The page in a revision: those without a handshake have other ones for the transports and for what a session was.
    pub(crate) fn page(&self, revision: Revision) -> &'static str {
        let section = self.section;
        if !revision.is_stateless() {
            section
        } else if section.starts_with("basic/lifecycle#shutdown") || section.ends_with("#stdio") {
            "basic/transports/stdio"
        } else if section.starts_with("basic/transports") {
            "basic/transports/streamable-http"
        } else if section.starts_with("basic/lifecycle") {
            "basic/versioning"
        } else if section == "basic/utilities/progress" {
            "basic/patterns/progress"
        } else {
            section
        }
    }
}

impl std::fmt::Debug for Check {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.code)
    }
}

/// Only for servers that we started over stdio.
const OVER_STDIO: fn(&Facts) -> Result<(), &'static str> =
    |facts| needs(!facts.is_http, "it is not spoken to over stdio");

const OVER_HTTP: fn(&Facts) -> Result<(), &'static str> =
    |facts| needs(facts.is_http, "it is not spoken to over HTTP");

const WITH_HANDSHAKE: fn(&Facts) -> Result<(), &'static str> =
    |facts| needs(!facts.is_stateless(), "the revision has no handshake");

const STATELESS: fn(&Facts) -> Result<(), &'static str> =
    |facts| needs(facts.is_stateless(), "the revision has a handshake");

const WITH_TOOLS: fn(&Facts) -> Result<(), &'static str> =
    |facts| needs(facts.has("tools"), "it declares no tools");

fn needs(holds: bool, otherwise: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(otherwise) }
}

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

/// The only answer.
fn only(replies: &[Value]) -> Result<&Value, String> {
    replies
        .first()
        .ok_or_else(|| "there was no answer".to_owned())
}

/// An error with one of these codes.
fn error(replies: &[Value], codes: &[i64]) -> Result<(), String> {
    let reply = only(replies)?;
    let Some(error) = reply.get("error") else {
        return Err(format!("it was answered with a result: {reply}"));
    };
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

/// Any error.
fn refused(replies: &[Value]) -> Result<(), String> {
    let reply = only(replies)?;
    needs(reply.get("error").is_some(), "")
        .map_err(|_| format!("it was answered with a result: {reply}"))
}

/// `metadata-required`: a server of both eras may take such a request for one of an older revision, whose results have
/// no `resultType`.
fn refused_or_older(replies: &[Value]) -> Result<(), String> {
    let older = only(replies)?.get("result");
    let is_older = older.is_some_and(|result| result.get("resultType").is_none());
    if is_older { Ok(()) } else { refused(replies) }
}

fn a_result(replies: &[Value]) -> Result<(), String> {
    let reply = only(replies)?;
    needs(reply.get("result").is_some(), "").map_err(|_| format!("it was refused: {reply}"))
}

/// The ids of `ids-echoed`, of both types.
const IDS: [fn() -> Value; 2] = [|| json!("seven"), || json!(8_000)];

/// `ids-echoed`: the ids that were sent.
fn echoed(replies: &[Value]) -> Result<(), String> {
    for id in IDS.map(|id| id()) {
        if !replies.iter().any(|reply| reply.get("id") == Some(&id)) {
            return Err(format!("no answer has the id {id}"));
        }
    }
    Ok(())
}

/// `version-negotiation`: a revision that both know, or an error.
fn negotiated(replies: &[Value]) -> Result<(), String> {
    let reply = only(replies)?;
    let Some(result) = reply.get("result") else {
        return Ok(());
    };
    let version = result.get("protocolVersion").and_then(Value::as_str);
    match version {
        Some("1999-01-01") => {
            Err("it agrees to the revision 1999-01-01, which does not exist".to_owned())
        }
        Some(_) => Ok(()),
        None => Err(format!("its answer names no protocolVersion: {reply}")),
    }
}

fn silent(replies: &[Value]) -> Result<(), String> {
    match replies.first() {
        None => Ok(()),
        Some(reply) => Err(format!("it was answered: {reply}")),
    }
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

/// All checks, in the order of reports.
pub(crate) const CHECKS: &[Check] = &[
    Check::must(
        "version-negotiation",
        "a revision that the server does not know is answered with one that it knows, or refused",
        "basic/lifecycle#version-negotiation",
        Asks::Frames {
            frames: |_| {
                let client = json!({"name": "mcp-assert", "version": "1"});
                let params = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": client});
                vec![json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})]
            },
            handshake: RawHandshake::Omitted,
            judge: negotiated,
        },
    )
    .to(WITH_HANDSHAKE),
    Check::must(
        "ping",
        "`ping` is answered with a result",
        "basic/utilities/ping",
        Asks::Request("ping", "{}", a_result),
    )
    .to(WITH_HANDSHAKE),
    Check::must(
        "unknown-method",
        "an unknown method is refused with -32601",
        "basic#requests",
        Asks::Request("mcp-assert/unknown", "{}", |replies| error(replies, &[-32601])),
    ),
    Check::must(
        "answers",
        "every request is answered, and none ends the server",
        "basic#responses",
        Asks::Answers,
    ),
    Check::must(
        "ids-echoed",
        "answers have the ids of their requests, of the same type",
        "basic#responses",
        Asks::Frames {
            frames: |facts| {
                let method = if facts.is_stateless() {
                    "server/discover"
                } else {
                    "ping"
                };
                IDS.map(|id| request(facts, &id(), method, "{}")).to_vec()
            },
            handshake: RawHandshake::Made,
            judge: echoed,
        },
    ),
    Check::must(
        "notifications-unanswered",
        "a notification is not answered",
        "basic#notifications",
        Asks::Frames {
            frames: |_| vec![json!({"jsonrpc": "2.0", "method": "notifications/mcp-assert"})],
            handshake: RawHandshake::Made,
            judge: silent,
        },
    )
    .to(WITH_HANDSHAKE),
    Check::should(
        "unknown-tool",
        "a call of an unknown tool is a protocol error",
        "server/tools#error-handling",
        Asks::Request("tools/call", r#"{"name": "mcp-assert-unknown", "arguments": {}}"#, refused),
    )
    .to(WITH_TOOLS),
    Check::should(
        "bad-params",
        "a call without the name of a tool is refused with -32602",
        "server/tools#error-handling",
        Asks::Request("tools/call", r#"{"arguments": {}}"#, |replies| error(replies, &[-32602, -32600])),
    )
    .to(WITH_TOOLS),
    Check::should(
        "bad-cursor",
        "a cursor that the server did not give is refused",
        "server/utilities/pagination#error-handling",
        Asks::Request("tools/list", r#"{"cursor": "mcp-assert-unknown"}"#, refused),
    )
    .to(WITH_TOOLS),
    Check::must(
        "unknown-prompt",
        "an unknown prompt is refused",
        "server/prompts#error-handling",
        Asks::Request("prompts/get", r#"{"name": "mcp-assert-unknown"}"#, refused),
    )
    .to(|facts| needs(facts.has("prompts"), "it declares no prompts")),
    Check::must(
        "unknown-resource",
        "an unknown resource is refused",
        "server/resources#error-handling",
        Asks::Request("resources/read", r#"{"uri": "mcp-assert://unknown"}"#, refused),
    )
    .to(|facts| needs(facts.has("resources"), "it declares no resources")),
    Check::should(
        "undeclared-prompts",
        "what is not declared is not served: `prompts/list` is refused",
        "basic/lifecycle#capability-negotiation",
        Asks::Request("prompts/list", "{}", refused),
    )
    .to(|facts| needs(!facts.has("prompts"), "it declares prompts")),
    Check::should(
        "undeclared-resources",
        "what is not declared is not served: `resources/list` is refused",
        "basic/lifecycle#capability-negotiation",
        Asks::Request("resources/list", "{}", refused),
    )
    .to(|facts| needs(!facts.has("resources"), "it declares resources")),
    Check::must(
        "unsupported-version",
        "a revision that the server does not speak is refused with -32022 and what it speaks",
        "basic/versioning",
        Asks::Frames {
            frames: |facts| {
                let mut frame = request(facts, &json!(1), "tools/list", "{}");
                frame["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] =
                    json!("1999-01-01");
                vec![frame]
            },
            // Some servers hold every later request of a connection for the revision of its first.
            handshake: RawHandshake::Omitted,
            judge: unsupported,
        },
    )
    .to(STATELESS),
    Check::must(
        "metadata-required",
        "a request without its metadata is refused, or served as one of an older revision",
        "basic#meta",
        Asks::Frames {
            frames: |_| {
                vec![json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})]
            },
            handshake: RawHandshake::Omitted,
            judge: refused_or_older,
        },
    )
    .to(STATELESS),
    Check::must(
        "discover",
        "`server/discover` is answered with a result",
        "server/discover",
        Asks::Frames {
            frames: |facts| vec![request(facts, &json!(1), "server/discover", "{}")],
            handshake: RawHandshake::Omitted,
            judge: a_result,
        },
    )
    .to(STATELESS),
    Check::must(
        "stdout-purity",
        "stdout carries messages, one a line in UTF-8, and nothing else",
        "basic/transports#stdio",
        Asks::Findings("stdout-noise byte-order-mark lsp-framing not-utf8 no-final-newline not-json"),
    )
    .to(OVER_STDIO),
    Check::must(
        "json-rpc",
        "messages are JSON-RPC 2.0: ids, results, errors",
        "basic#messages",
        Asks::Findings(
            "not-a-message batch jsonrpc-missing jsonrpc-version unknown-id null-id id-type reused-id duplicate-answer \
             answer-to-notification result-and-error neither-result-nor-error error-code error-message",
        ),
    ),
    Check::must(
        "message-shapes",
        "results, requests and notifications have the shapes of the revision",
        "schema",
        Asks::Findings(
            "schema unknown-content-type bad-base64 bad-tool-schema log-level-unknown unknown-revision",
        ),
    ),
    Check::should(
        "tool-names",
        "names are listed once, and those of tools are made of characters that every client takes",
        "server/tools#tool-names",
        Asks::Findings("duplicate-name bad-name"),
    ),
    Check::must(
        "structured-content",
        "structured content is there where it is declared, and fits its schema",
        "server/tools#output-schema",
        Asks::Findings("output-schema-mismatch structured-content-missing"),
    )
    .to(WITH_TOOLS),
    Check::must(
        "capabilities",
        "what is used is declared, and what is declared is served",
        "basic/lifecycle#capability-negotiation",
        Asks::Findings(
            "capability-not-declared capability-not-served unknown-request request-before-initialized not-acknowledged \
             unasked-notification",
        ),
    ),
    Check::must(
        "pagination",
        "the pages of a list come to an end",
        "server/utilities/pagination",
        Asks::Findings("cursor-loop too-many-pages"),
    ),
    Check::must(
        "progress",
        "progress grows, is of the request that asked for it, and comes before its answer",
        "basic/utilities/progress",
        Asks::Findings("foreign-progress-token progress-not-growing progress-after-answer"),
    ),
    Check::must(
        "http-messages",
        "status codes, content types, sessions and streams are those of the transport",
        "basic/transports#streamable-http",
        Asks::Findings(
            "session-changed bad-session-id wrong-content-type notification-status body-on-202 stream-without-answer \
             bad-header-parameter",
        ),
    )
    .to(OVER_HTTP),
    Check::must(
        "http-origin",
        "a request with a foreign Origin is refused",
        "basic/transports#security-warning",
        Asks::Http(Request::ForeignOrigin),
    )
    .to(OVER_HTTP),
    Check::must(
        "http-version",
        "a request with an invalid MCP-Protocol-Version is refused with 400",
        "basic/transports#protocol-version-header",
        Asks::Http(Request::BadVersion),
    )
    .to(OVER_HTTP),
    Check::must(
        "http-body",
        "a body that is not JSON is refused with an error of HTTP",
        "basic/transports#sending-messages-to-the-server",
        Asks::Http(Request::NotJson),
    )
    .to(OVER_HTTP),
    Check::must(
        "http-get",
        "GET opens a stream of events, or is refused",
        "basic/transports#listening-for-messages-from-the-server",
        Asks::Http(Request::Get),
    )
    .to(OVER_HTTP),
    Check::should(
        "end-of-input",
        "the server ends when its stdin is closed",
        "basic/lifecycle#shutdown",
        Asks::End,
    )
    .to(OVER_STDIO),
];
