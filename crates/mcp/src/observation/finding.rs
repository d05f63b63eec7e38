//! Deviations from the protocol, each with a stable code. A finding never changes a verdict by itself.

use std::fmt;

/// How bad a deviation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingSeverity {
    /// Worth knowing.
    Note,
    /// Some clients will stumble.
    Warning,
    /// The specification forbids it.
    Error,
}

/// A deviation, where it was seen, and what was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind.
    pub code: FindingCode,
    /// What exactly, in one line.
    pub message: String,
    /// The frame, as text, cut.
    pub frame: Option<String>,
    /// How often it was seen in this attempt, at least 1; repeats are counted, not listed.
    pub times: u64,
}

macro_rules! finding_codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal, $severity:ident;)+) => {
        /// Every kind of deviation. The doc comment is the entry in the reference.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FindingCode {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl FindingCode {
            /// All codes, in the order of the reference.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable code.
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)+ }
            }

            /// How bad it is.
            pub fn severity(self) -> FindingSeverity {
                match self { $(Self::$variant => FindingSeverity::$severity,)+ }
            }

            /// The reference entry.
            pub fn doc(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc, "\n"),+),)+ }
            }
        }
    };
}

finding_codes! {
    /// A line on stdout that is not a JSON-RPC message. stdout belongs to the protocol; logs go to stderr.
    StdoutNoise = "stdout-noise", Error;
    /// An empty line on stdout.
    BlankLine = "blank-line", Note;
    /// A byte-order mark before the first frame.
    ByteOrderMark = "byte-order-mark", Error;
    /// `Content-Length` headers as the Language Server Protocol has them; MCP frames are lines.
    LspFraming = "lsp-framing", Error;
    /// A frame holds bytes that are not UTF-8; they were read as U+FFFD.
    NotUtf8 = "not-utf8", Error;
    /// The stream ended in the middle of a line, which may be that of an answer. An unfinished line that is a frame was read as one, unless it came after
    /// stdin was closed.
    NoFinalNewline = "no-final-newline", Error;
    /// A line longer than 64 MiB, or of more than 1,000,000 JSON values.
    LineTooLong = "line-too-long", Error;
    /// A line that was meant as a JSON-RPC message, and is not JSON.
    NotJson = "not-json", Error;
    /// An object with two members of one name; the last one was read, and others may read the first, or refuse it.
    DuplicateMember = "duplicate-member", Warning;
    /// JSON nested deeper than can be read.
    TooDeep = "too-deep", Error;
    /// Valid JSON that is not a JSON-RPC message.
    NotAMessage = "not-a-message", Error;
    /// Messages in an array, in a revision without batches.
    Batch = "batch", Error;
    /// The member `jsonrpc` is missing.
    JsonrpcMissing = "jsonrpc-missing", Error;
    /// The member `jsonrpc` is not `"2.0"`.
    JsonrpcVersion = "jsonrpc-version", Error;
    /// An answer to a request nobody made.
    UnknownId = "unknown-id", Error;
    /// An answer whose id is null, missing, or neither a number nor text; a request or notification with such an id.
    /// Such an answer ends the wait for the only request that is open 1 s later. An error or an empty result without an
    /// id may as well be what a server says to a notification of ours; as long as there is one that it can be for, the
    /// wait goes on.
    NullId = "null-id", Error;
    /// An answer whose id is not written as the request's was: of another JSON type, or the same number with a fraction
    /// or an exponent (`2.0` or `2e0` to a request `2`). Clients in JavaScript and the official Rust types read such a
    /// number as the integer that it is; others, as the official Python types of 2025, take it for no id at all. Also a
    /// request of the server whose id is a fraction.
    IdType = "id-type", Error;
    /// A request of the server with an id that an earlier one had in this session.
    ReusedId = "reused-id", Error;
    /// A second answer to a request that was already answered.
    DuplicateAnswer = "duplicate-answer", Error;
    /// An answer to a request that was cancelled. Where `raw` frames cancel it, only behind the answer to a request sent
    /// after that: until then the server may not have read it, and answers may cross with it.
    AnswerAfterCancel = "answer-after-cancel", Warning;
    /// An answer with both `result` and `error`.
    ResultAndError = "result-and-error", Error;
    /// An answer with neither `result` nor `error`.
    NeitherResultNorError = "neither-result-nor-error", Error;
    /// An error whose code is missing or not an integer.
    ErrorCode = "error-code", Error;
    /// An error whose message is missing or no text.
    ErrorMessage = "error-message", Error;
    /// A result or message that violates the schema of the agreed revision. Of the fields of an elicitation's form only
    /// what they are is looked at: texts, numbers, flags, and since 2025-11-25 choices of several texts.
    Schema = "schema", Error;
    /// A content block of a type that the revision does not have.
    UnknownContentType = "unknown-content-type", Error;
    /// Image or audio data that is not base64.
    BadBase64 = "bad-base64", Error;
    /// Image data of another format than its `mimeType` says.
    MimeMismatch = "mime-mismatch", Warning;
    /// A tool error without any text that says what went wrong.
    ErrorWithoutText = "error-without-text", Warning;
    /// Text with a lone surrogate escape; it was read as U+FFFD.
    LoneSurrogate = "lone-surrogate", Warning;
    /// `structuredContent` that does not satisfy the tool's `outputSchema`.
    OutputSchemaMismatch = "output-schema-mismatch", Error;
    /// A tool with an `outputSchema` that answered without `structuredContent`.
    StructuredContentMissing = "structured-content-missing", Error;
    /// Clients of an official SDK refuse this result, and would lose the answer: those of the Rust SDK where its types do
    /// not fit, those of the TypeScript SDK where an error's `structuredContent` violates the tool's `outputSchema`.
    TypedClientRejects = "typed-client-rejects", Warning;
    /// The server used a client capability that was not declared.
    CapabilityNotDeclared = "capability-not-declared", Error;
    /// A request of the server that the agreed revision does not have, or no revision. Other clients of that revision
    /// refuse it; here it is answered as the suite says, and refused where the suite cannot say. In 2026-07-28 that is
    /// every request: what a server needs it says in a result, and none is answered.
    UnknownRequest = "unknown-request", Error;
    /// The server declared a capability and refuses its method, or refuses `ping`, which needs none.
    CapabilityNotServed = "capability-not-served", Error;
    /// The server serves a feature, or sends notifications of one, whose capability it did not declare.
    CapabilityUndeclared = "capability-undeclared", Warning;
    /// A request of the server before `notifications/initialized`.
    RequestBeforeInitialized = "request-before-initialized", Error;
    /// A notification before the answer to `initialize`, other than a log message: the session has not begun, and many
    /// clients drop it or give up.
    EarlyNotification = "early-notification", Warning;
    /// An answer to a notification: one without an id that came while no request waited, or before the one that did was
    /// answered. An answer without an id to a request that nothing else answers is `null-id`.
    AnswerToNotification = "answer-to-notification", Error;
    /// A progress notification with a token that no request of ours carries.
    ForeignProgressToken = "foreign-progress-token", Error;
    /// A progress value that did not grow.
    ProgressNotGrowing = "progress-not-growing", Error;
    /// Progress after the answer.
    ProgressAfterAnswer = "progress-after-answer", Error;
    /// More notifications than can be kept; the rest was counted and dropped.
    NotificationFlood = "notification-flood", Warning;
    /// A log message of a level that does not exist.
    LogLevelUnknown = "log-level-unknown", Error;
    /// A log message below the level that was set, or in 2026-07-28 one that no request asked for.
    LogBelowLevel = "log-below-level", Warning;
    /// A `subscriptions/listen` whose stream told something before it was acknowledged; it was taken for opened.
    NotAcknowledged = "not-acknowledged", Error;
    /// In 2026-07-28, a notification of a changed list or resource that was not asked for: of a kind that its stream does not
    /// have, or without the id of a `subscriptions/listen`.
    UnaskedNotification = "unasked-notification", Error;
    /// A list whose cursor came back together with the same page: no end of it is known, and an expectation that hangs on
    /// what else may be in it cannot be told, which is an error.
    CursorLoop = "cursor-loop", Error;
    /// A list of more than 1,000 pages, or more than 64 MiB; the rest was not fetched. An expectation that hangs on the
    /// rest cannot be told, which is an error; what the beginning proves stands.
    TooManyPages = "too-many-pages", Error;
    /// An empty string as `nextCursor`, before 2026-07-28; since then it is a cursor like any other.
    EmptyCursor = "empty-cursor", Warning;
    /// A tool, prompt or resource listed twice.
    DuplicateName = "duplicate-name", Error;
    /// A tool name that the specification advises against: 1 to 128 of `A-Z a-z 0-9 _ - .`.
    BadName = "bad-name", Warning;
    /// An `inputSchema` or `outputSchema` that is missing, is not an object schema or is not a valid JSON Schema;
    /// a `$ref` to nothing and an invalid pattern count, too.
    BadToolSchema = "bad-tool-schema", Error;
    /// A schema that refers to another host; it was not fetched.
    RemoteReference = "remote-reference", Warning;
    /// A list that changed between two fetches in one session without a `list_changed` notification.
    ListChangedSilently = "list-changed-silently", Warning;
    /// A server that lived on after its stdin was closed. It is sent SIGTERM after 5 s at rest, after 10 s at work, after 2 s in
    /// which it takes a processor and writes nothing, and after 0.5 s in which it reads the end of its stdin again and again.
    /// Where one server of a target was sent SIGTERM, the next ones have 0.5 s, and 0.1 s to spin.
    IgnoresStdinEnd = "ignores-stdin-end", Warning;
    /// A server that took 2 to 5 s to end after its stdin was closed. That is no deviation: `findings: none` and
    /// `--strict-protocol` pass it over.
    SlowEnd = "slow-end", Note;
    /// A server that lived on after SIGTERM.
    IgnoresTermination = "ignores-termination", Warning;
    /// Processes that outlived the server.
    Orphans = "orphans", Warning;
    /// The server ended by itself while the session was open.
    ExitedEarly = "exited-early", Warning;
    /// The server answered `initialize` with a revision that does not exist.
    UnknownRevision = "unknown-revision", Error;
    /// The server answered `initialize` with another revision than the one that `protocol` asks for, or `server/discover`
    /// without naming the revision that it was asked in.
    OtherRevision = "other-revision", Warning;
    /// The certificate of the server was not checked: the suite says `tls: {insecure: true}`.
    CertificateUnchecked = "certificate-unchecked", Warning;
    /// An assertion that runs on several revisions gets other answers on some, apart from what only carries the protocol.
    RevisionsDiffer = "revisions-differ", Warning;
    /// A response over HTTP names another session than the one that was begun.
    SessionChanged = "session-changed", Error;
    /// The id of a session over HTTP is empty, or holds a sign that is not visible ASCII (0x21 to 0x7E).
    BadSessionId = "bad-session-id", Error;
    /// The server did not know the session any more at the first request after the handshake; a new one was begun, once. At
    /// a later request the session is expired, which is an error: nothing is repeated that may have had an effect.
    SessionForgotten = "session-forgotten", Warning;
    /// What answers a request over HTTP is neither `application/json` nor `text/event-stream`. With a status of success it
    /// is not an answer.
    WrongContentType = "wrong-content-type", Error;
    /// A notification or a reply that was taken over HTTP with another status than 202.
    NotificationStatus = "notification-status", Error;
    /// The 202 to a notification or a reply has a body.
    BodyOn202 = "body-on-202", Error;
    /// A message was answered with a redirect, which was followed within the server's origin. Other clients send it there
    /// as a GET, or nowhere.
    Redirected = "redirected", Warning;
    /// A stream of events that ended before it brought the answer, and could not be resumed.
    StreamWithoutAnswer = "stream-without-answer", Error;
    /// A tool whose input schema marks arguments for headers in a way that no client can follow: clients over HTTP leave
    /// out such a tool (2026-07-28, `x-mcp-header`).
    BadHeaderParameter = "bad-header-parameter", Error;
    /// A green assertion that proves nothing.
    Vacuous = "vacuous", Warning;
}

impl FindingCode {
    /// Whether it is against the protocol; other findings are about the suite, or merely worth knowing.
    pub fn is_deviation(self) -> bool {
        !matches!(self, Self::Vacuous | Self::SlowEnd)
    }
}

impl fmt::Display for FindingCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

/// Adds a finding, or counts it if one of that code with the same message is there already.
pub fn note(
    findings: &mut Vec<Finding>,
    code: FindingCode,
    message: impl Into<String>,
    frame: Option<String>,
) {
    let message = message.into();
    if let Some(known) = findings
        .iter_mut()
        .find(|finding| finding.code == code && finding.message == message)
    {
        known.times += 1;
        return;
    }
    findings.push(Finding {
        code,
        message,
        frame,
        times: 1,
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FindingCode, note};

    #[test]
    fn codes_are_unique_and_documented() {
        let codes: BTreeSet<&str> = FindingCode::ALL.iter().map(|code| code.code()).collect();
        assert_eq!(codes.len(), FindingCode::ALL.len());
        assert!(
            FindingCode::ALL
                .iter()
                .all(|code| code.doc().trim().ends_with('.'))
        );
    }

    #[test]
    fn repeats_are_counted() {
        let mut findings = Vec::new();
        note(&mut findings, FindingCode::StdoutNoise, "a line", None);
        note(&mut findings, FindingCode::StdoutNoise, "a line", None);
        assert_eq!((findings.len(), findings[0].times), (1, 2));
    }
}
