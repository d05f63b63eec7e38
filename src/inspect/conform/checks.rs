//! The checks: what the specification asks, where it says so, when that applies, and how it is seen.

use serde_json::{Value, json};

use super::{Facts, http::Request};
use mcp::protocol::revision::Revision;
use report::inspection::Severity;

/// How a check is made.
#[derive(Clone, Copy)]
pub(crate) enum Asks {
    /// By what the sessions note by themselves: none of these codes.
    Findings(&'static [&'static str]),
    /// By the answers to frames that are sent as they are written.
    Frames {
        /// The frames.
        frames: fn(&Facts) -> Vec<Value>,
        /// Whether a handshake comes before them; otherwise they have a connection of their own.
        handshake: bool,
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

const ALWAYS: fn(&Facts) -> Result<(), &'static str> = |_| Ok(());

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
fn request(facts: &Facts, id: &Value, method: &str, params: &Value) -> Value {
    let mut params = params.clone();
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

/// `ids-echoed`: the ids that were sent, of both types.
fn echoed(replies: &[Value]) -> Result<(), String> {
    for id in [json!("seven"), json!(9000)] {
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
    Check {
        code: "version-negotiation",
        title: "a revision that the server does not know is answered with one that it knows, or refused",
        section: "basic/lifecycle#version-negotiation",
        severity: Severity::Error,
        applies: WITH_HANDSHAKE,
        asks: Asks::Frames {
            frames: |_| {
                let client = json!({"name": "mcp-assert", "version": "1"});
                let params = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": client});
                vec![json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})]
            },
            handshake: false,
            judge: negotiated,
        },
    },
    Check {
        code: "ping",
        title: "`ping` is answered with a result",
        section: "basic/utilities/ping",
        severity: Severity::Error,
        applies: WITH_HANDSHAKE,
        asks: Asks::Frames {
            frames: |facts| vec![request(facts, &json!(9001), "ping", &json!({}))],
            handshake: true,
            judge: a_result,
        },
    },
    Check {
        code: "unknown-method",
        title: "an unknown method is refused with -32601",
        section: "basic#requests",
        severity: Severity::Error,
        applies: ALWAYS,
        asks: Asks::Frames {
            frames: |facts| {
                vec![request(
                    facts,
                    &json!(9002),
                    "mcp-assert/unknown",
                    &json!({}),
                )]
            },
            handshake: true,
            judge: |replies| error(replies, &[-32601]),
        },
    },
    Check {
        code: "answers",
        title: "every request is answered, and none ends the server",
        section: "basic#responses",
        severity: Severity::Error,
        applies: ALWAYS,
        asks: Asks::Answers,
    },
    Check {
        code: "ids-echoed",
        title: "answers have the ids of their requests, of the same type",
        section: "basic#responses",
        severity: Severity::Error,
        applies: ALWAYS,
        asks: Asks::Frames {
            frames: |facts| {
                let method = if facts.is_stateless() {
                    "server/discover"
                } else {
                    "ping"
                };
                let one = |id: Value| request(facts, &id, method, &json!({}));
                vec![one(json!("seven")), one(json!(9000))]
            },
            handshake: true,
            judge: echoed,
        },
    },
    Check {
        code: "notifications-unanswered",
        title: "a notification is not answered",
        section: "basic#notifications",
        severity: Severity::Error,
        applies: WITH_HANDSHAKE,
        asks: Asks::Frames {
            frames: |_| vec![json!({"jsonrpc": "2.0", "method": "notifications/mcp-assert"})],
            handshake: true,
            judge: silent,
        },
    },
    Check {
        code: "unknown-tool",
        title: "a call of an unknown tool is a protocol error",
        section: "server/tools#error-handling",
        severity: Severity::Warning,
        applies: WITH_TOOLS,
        asks: Asks::Frames {
            frames: |facts| {
                let params = json!({"name": "mcp-assert-unknown", "arguments": {}});
                vec![request(facts, &json!(9003), "tools/call", &params)]
            },
            handshake: true,
            judge: refused,
        },
    },
    Check {
        code: "bad-params",
        title: "a call without the name of a tool is refused with -32602",
        section: "server/tools#error-handling",
        severity: Severity::Warning,
        applies: WITH_TOOLS,
        asks: Asks::Frames {
            frames: |facts| {
                vec![request(
                    facts,
                    &json!(9004),
                    "tools/call",
                    &json!({"arguments": {}}),
                )]
            },
            handshake: true,
            judge: |replies| error(replies, &[-32602, -32600]),
        },
    },
    Check {
        code: "bad-cursor",
        title: "a cursor that the server did not give is refused",
        section: "server/utilities/pagination#error-handling",
        severity: Severity::Warning,
        applies: WITH_TOOLS,
        asks: Asks::Frames {
            frames: |facts| {
                let params = json!({"cursor": "mcp-assert-unknown"});
                vec![request(facts, &json!(9005), "tools/list", &params)]
            },
            handshake: true,
            judge: refused,
        },
    },
    Check {
        code: "unknown-prompt",
        title: "an unknown prompt is refused",
        section: "server/prompts#error-handling",
        severity: Severity::Error,
        applies: |facts| needs(facts.has("prompts"), "it declares no prompts"),
        asks: Asks::Frames {
            frames: |facts| {
                let params = json!({"name": "mcp-assert-unknown"});
                vec![request(facts, &json!(9006), "prompts/get", &params)]
            },
            handshake: true,
            judge: refused,
        },
    },
    Check {
        code: "unknown-resource",
        title: "an unknown resource is refused",
        section: "server/resources#error-handling",
        severity: Severity::Error,
        applies: |facts| needs(facts.has("resources"), "it declares no resources"),
        asks: Asks::Frames {
            frames: |facts| {
                let params = json!({"uri": "mcp-assert://unknown"});
                vec![request(facts, &json!(9007), "resources/read", &params)]
            },
            handshake: true,
            judge: refused,
        },
    },
    Check {
        code: "undeclared-prompts",
        title: "what is not declared is not served: `prompts/list` is refused",
        section: "basic/lifecycle#capability-negotiation",
        severity: Severity::Warning,
        applies: |facts| needs(!facts.has("prompts"), "it declares prompts"),
        asks: Asks::Frames {
            frames: |facts| vec![request(facts, &json!(9008), "prompts/list", &json!({}))],
            handshake: true,
            judge: refused,
        },
    },
    Check {
        code: "undeclared-resources",
        title: "what is not declared is not served: `resources/list` is refused",
        section: "basic/lifecycle#capability-negotiation",
        severity: Severity::Warning,
        applies: |facts| needs(!facts.has("resources"), "it declares resources"),
        asks: Asks::Frames {
            frames: |facts| vec![request(facts, &json!(9009), "resources/list", &json!({}))],
            handshake: true,
            judge: refused,
        },
    },
    Check {
        code: "unsupported-version",
        title: "a revision that the server does not speak is refused with -32022 and what it speaks",
        section: "basic/versioning",
        severity: Severity::Error,
        applies: STATELESS,
        asks: Asks::Frames {
            frames: |facts| {
                let mut frame = request(facts, &json!(1), "tools/list", &json!({}));
                frame["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] =
                    json!("1999-01-01");
                vec![frame]
            },
            // Some servers hold every later request of a connection for the revision of its first.
            handshake: false,
            judge: unsupported,
        },
    },
    Check {
        code: "metadata-required",
        title: "a request without its metadata is refused, or served as one of an older revision",
        section: "basic#meta",
        severity: Severity::Error,
        applies: STATELESS,
        asks: Asks::Frames {
            frames: |_| {
                vec![json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})]
            },
            handshake: false,
            judge: refused_or_older,
        },
    },
    Check {
        code: "discover",
        title: "`server/discover` is answered with a result",
        section: "server/discover",
        severity: Severity::Error,
        applies: STATELESS,
        asks: Asks::Frames {
            frames: |facts| vec![request(facts, &json!(1), "server/discover", &json!({}))],
            handshake: false,
            judge: a_result,
        },
    },
    Check {
        code: "stdout-purity",
        title: "stdout carries messages, one a line in UTF-8, and nothing else",
        section: "basic/transports#stdio",
        severity: Severity::Error,
        applies: OVER_STDIO,
        asks: Asks::Findings(&[
            "stdout-noise",
            "byte-order-mark",
            "lsp-framing",
            "not-utf8",
            "no-final-newline",
            "not-json",
        ]),
    },
    Check {
        code: "json-rpc",
        title: "messages are JSON-RPC 2.0: ids, results, errors",
        section: "basic#messages",
        severity: Severity::Error,
        applies: ALWAYS,
        asks: Asks::Findings(&[
            "not-a-message",
            "batch",
            "jsonrpc-missing",
            "jsonrpc-version",
            "unknown-id",
            "null-id",
            "id-type",
            "reused-id",
            "duplicate-answer",
            "answer-to-notification",
            "result-and-error",
            "neither-result-nor-error",
            "error-code",
            "error-message",
        ]),
    },
    Check {
        code: "message-shapes",
        title: "results, requests and notifications have the shapes of the revision",
        section: "schema",
        severity: Severity::Error,
        applies: ALWAYS,
        asks: Asks::Findings(&[
            "schema",
            "unknown-content-type",
            "bad-base64",
            "bad-tool-schema",
            "log-level-unknown",
            "unknown-revision",
        ]),
    },
    Check {
        code: "tool-names",
        title: "names are listed once, and those of tools are made of characters that every client takes",
        section: "server/tools#tool-names",
        severity: Severity::Warning,
        applies: ALWAYS,
        asks: Asks::Findings(&["duplicate-name", "bad-name"]),
    },
    Check {
        code: "structured-content",
        title: "structured content is there where it is declared, and fits its schema",
        section: "server/tools#output-schema",
        severity: Severity::Error,
        applies: WITH_TOOLS,
        asks: Asks::Findings(&["output-schema-mismatch", "structured-content-missing"]),
    },
    Check {
        code: "capabilities",
        title: "what is used is declared, and what is declared is served",
        section: "basic/lifecycle#capability-negotiation",
        severity: Severity::Error,
        applies: ALWAYS,
        asks: Asks::Findings(&[
            "capability-not-declared",
            "capability-not-served",
            "unknown-request",
            "request-before-initialized",
            "not-acknowledged",
            "unasked-notification",
        ]),
    },
    Check {
        code: "pagination",
        title: "the pages of a list come to an end",
        section: "server/utilities/pagination",
        severity: Severity::Error,
        applies: ALWAYS,
        asks: Asks::Findings(&["cursor-loop", "too-many-pages"]),
    },
    Check {
        code: "progress",
        title: "progress grows, is of the request that asked for it, and comes before its answer",
        section: "basic/utilities/progress",
        severity: Severity::Error,
        applies: ALWAYS,
        asks: Asks::Findings(&[
            "foreign-progress-token",
            "progress-not-growing",
            "progress-after-answer",
        ]),
    },
    Check {
        code: "http-messages",
        title: "status codes, content types, sessions and streams are those of the transport",
        section: "basic/transports#streamable-http",
        severity: Severity::Error,
        applies: OVER_HTTP,
        asks: Asks::Findings(&[
            "session-changed",
            "bad-session-id",
            "wrong-content-type",
            "notification-status",
            "body-on-202",
            "stream-without-answer",
            "bad-header-parameter",
        ]),
    },
    Check {
        code: "http-origin",
        title: "a request with a foreign Origin is refused",
        section: "basic/transports#security-warning",
        severity: Severity::Error,
        applies: OVER_HTTP,
        asks: Asks::Http(Request::ForeignOrigin),
    },
    Check {
        code: "http-version",
        title: "a request with an invalid MCP-Protocol-Version is refused with 400",
        section: "basic/transports#protocol-version-header",
        severity: Severity::Error,
        applies: OVER_HTTP,
        asks: Asks::Http(Request::BadVersion),
    },
    Check {
        code: "http-body",
        title: "a body that is not JSON is refused with an error of HTTP",
        section: "basic/transports#sending-messages-to-the-server",
        severity: Severity::Error,
        applies: OVER_HTTP,
        asks: Asks::Http(Request::NotJson),
    },
    Check {
        code: "http-get",
        title: "GET opens a stream of events, or is refused",
        section: "basic/transports#listening-for-messages-from-the-server",
        severity: Severity::Error,
        applies: OVER_HTTP,
        asks: Asks::Http(Request::Get),
    },
    Check {
        code: "end-of-input",
        title: "the server ends when its stdin is closed",
        section: "basic/lifecycle#shutdown",
        severity: Severity::Warning,
        applies: |facts| {
            OVER_STDIO(facts).and_then(|()| needs(facts.is_ours, "it was not started for this"))
        },
        asks: Asks::End,
    },
];
