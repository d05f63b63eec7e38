//! The closed list of faults: one row each with id, group, argument, place and the class that a good
//! tester reports. `serve --list`, the docs and the test matrix are made from it.

use std::time::Duration;

use serde::Serialize;

use super::argument::Takes;
use super::effects::{
    self, Deaf, Effect, Hold, bytes, envelope, lifecycle, lists, notifications, results,
};
use super::exchange::{Distortion, Exchange, Refusal};
use super::orphan;
use super::place::Site;
use crate::tap::{Emit, Ending};

/// The result that a good tester reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Legal, if rare.
    Pass,
    /// The answer is usable; the deviation is a finding.
    PassFinding,
    /// A result with `isError`.
    ToolError,
    /// A JSON-RPC error.
    ProtocolError,
    /// A frame broke the protocol so that no answer is usable.
    Violation,
    /// The stream failed while the server lives.
    TransportError,
    /// The process ended.
    Crash,
    /// The deadline passed.
    Timeout,
}

impl Class {
    /// The class in one or two words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::PassFinding => "pass+finding",
            Self::ToolError => "tool error",
            Self::ProtocolError => "protocol error",
            Self::Violation => "violation",
            Self::TransportError => "transport error",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
        }
    }
}

/// The group of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Bytes on stdout and stderr.
    Bytes,
    /// The process.
    Process,
    /// JSON-RPC envelopes.
    JsonRpc,
    /// The handshake and what was agreed in it.
    Lifecycle,
    /// Answers of `tools/list`.
    Lists,
    /// Answers of `tools/call`.
    Results,
    /// Notifications during a call.
    Notifications,
    /// Exchanges of HTTP.
    Http,
    /// Who may come.
    Auth,
    /// Rules of the revision 2026-07-28.
    Stateless,
}

impl Group {
    /// Its heading.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "stdio bytes",
            Self::Process => "process",
            Self::JsonRpc => "JSON-RPC",
            Self::Lifecycle => "lifecycle",
            Self::Lists => "lists",
            Self::Results => "results",
            Self::Notifications => "notifications",
            Self::Http => "HTTP",
            Self::Auth => "auth",
            Self::Stateless => "2026-07-28",
        }
    }

    /// Which ways of carrying frames its faults can be made on.
    const fn carriers(self) -> &'static [Carrier] {
        match self {
            Self::Process => &[Carrier::Stdio],
            Self::Http => &[Carrier::Http],
            Self::Auth => &[Carrier::Http, Carrier::Sse],
            // HTTP+SSE is older.
            Self::Stateless => &[Carrier::Stdio, Carrier::Duplex, Carrier::Http],
            Self::Bytes => &[Carrier::Stdio, Carrier::Duplex],
            Self::JsonRpc | Self::Lifecycle | Self::Lists | Self::Results | Self::Notifications => {
                &[Carrier::Stdio, Carrier::Duplex, Carrier::Http, Carrier::Sse]
            }
        }
    }
}

/// How frames reach the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// stdin and stdout of a process of its own.
    Stdio,
    /// A pipe inside somebody else's process.
    Duplex,
    /// Requests and answers of HTTP.
    Http,
    /// One stream of events over HTTP, and requests that are answered on it.
    Sse,
}

impl Carrier {
    /// As a message names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Duplex => "an in-process pipe",
            Self::Http => "HTTP",
            Self::Sse => "HTTP+SSE",
        }
    }
}

/// Which phase the class is reported in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Starting the server and shaking hands.
    Handshake,
    /// The subject itself.
    Subject,
}

/// All that is known of a fault.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name in a rule.
    pub id: &'static str,
    /// Its group.
    pub group: Group,
    /// The argument that may follow the id.
    pub takes: Takes,
    /// Where it may sit.
    pub site: Site,
    /// Where it sits when a rule is only an id; the part of a rule before `=`.
    pub default_place: &'static str,
    /// The result that a good tester reports at that place with the default argument.
    pub class: Class,
    /// The same over HTTP, where a message has bounds that noise has not.
    pub over_http: Option<Class>,
    /// Which ways of carrying frames it can be made on.
    pub carriers: &'static [Carrier],
    /// Whether a finding is due beside a class that does not say so itself.
    pub has_finding: bool,
    /// In which phase the class is reported.
    pub phase: Phase,
    /// How it is done.
    pub(super) effect: Effect,
    /// Its effect, in one line.
    pub does: &'static str,
}

impl Row {
    const fn new(group: Group, class: Class, effect: Effect, does: &'static str) -> Self {
        let (site, default_place) = match group {
            Group::Bytes | Group::Process | Group::JsonRpc | Group::Http => {
                (Site::Answer, "tools/call")
            }
            Group::Lifecycle => (Site::Handshake, "initialize"),
            Group::Lists => (Site::ToolList, "tools/list"),
            Group::Auth => (Site::Answer, "tools/call"),
            Group::Results | Group::Notifications | Group::Stateless => {
                (Site::ToolCall, "tools/call")
            }
        };
        Self {
            id: "",
            group,
            takes: Takes::Nothing,
            site,
            default_place,
            class,
            over_http: None,
            carriers: group.carriers(),
            has_finding: false,
            phase: Phase::Subject,
            effect,
            does,
        }
    }

    /// The class that a good tester reports, and the finding beside it if one is due.
    pub fn reported(&self) -> String {
        let finding = if self.has_finding { " + finding" } else { "" };
        format!("{}{finding}", self.class.name())
    }

    /// The same over a transport of HTTP.
    pub fn reported_over_http(&self) -> String {
        match self.over_http {
            Some(class) => class.name().to_owned(),
            None => self.reported(),
        }
    }

    const fn over_http(mut self, class: Class) -> Self {
        self.over_http = Some(class);
        self
    }

    const fn over_sse_too(mut self) -> Self {
        self.carriers = &[Carrier::Http, Carrier::Sse];
        self
    }

    const fn named(mut self, id: &'static str) -> Self {
        self.id = id;
        self
    }

    const fn takes(mut self, takes: Takes) -> Self {
        self.takes = takes;
        self
    }

    const fn at(mut self, site: Site, default_place: &'static str) -> Self {
        self.site = site;
        self.default_place = default_place;
        self
    }

    const fn with_finding(mut self) -> Self {
        self.has_finding = true;
        self
    }

    const fn in_handshake(mut self) -> Self {
        self.phase = Phase::Handshake;
        self
    }
}

const fn count(default: u64, limit: u64) -> Takes {
    Takes::Count { default, limit }
}

/// Makes the enum, the list of all and the rows from one table, so that none can lack a row.
macro_rules! catalogue {
    ($($fault:ident $id:literal: $group:ident $class:ident $effect:ident($how:expr) $does:literal $(. $more:ident ( $($arg:expr),* ))*;)+) => {
        /// A deviation that the server can be asked for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Fault { $(#[doc = $does] $fault,)+ }

        impl Fault {
            /// Every fault, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$fault),+];

            /// All that is known of it.
            pub const fn row(self) -> Row {
                match self {
                    $(Self::$fault => Row::new(Group::$group, Class::$class, Effect::$effect($how), $does).named($id)$(.$more($($arg),*))*,)+
                }
            }
        }
    };
}

catalogue! {
    StdoutBanner "stdout-banner": Bytes PassFinding Write(bytes::BANNER) "three text lines before the first frame"
        .at(Site::StreamOrAnswer, "start");
    StdoutNoiseBetween "stdout-noise-between": Bytes PassFinding Bend(bytes::noise_between) "a text line, then after DURATION the answer"
        .takes(Takes::Time(Duration::from_secs(1)));
    StdoutNoiseMidline "stdout-noise-midline": Bytes Violation Bend(bytes::noise_midline) "text inside the answer's line";
    StdoutAnsi "stdout-ansi": Bytes PassFinding Write(bytes::ANSI) "a line of escape sequences before the answer";
    StdoutBom "stdout-bom": Bytes PassFinding Dress(|style| style.mark = true) "a byte-order mark before the first frame"
        .at(Site::StreamOrAnswer, "start");
    StdoutCrlf "stdout-crlf": Bytes Pass Dress(|style| style.end = "\r\n") "CR LF line ends"
        .at(Site::StreamOrAnswer, "start");
    StdoutBlankLines "stdout-blank-lines": Bytes PassFinding Dress(|style| style.blank_lines = true) "empty lines between frames"
        .at(Site::StreamOrAnswer, "start");
    PrettyJson "pretty-json": Bytes Violation Bend(|reply, _| reply.is_pretty = true) "the answer over several lines";
    LspFraming "lsp-framing": Bytes Timeout Dress(|style| style.content_length = true) "`Content-Length` framing"
        .at(Site::StreamOrAnswer, "start").with_finding().in_handshake();
    NoTrailingNewline "no-trailing-newline": Bytes PassFinding Bend(bytes::no_newline)
        "the answer without newline, then exit 0; with `open` stdout stays open"
        .takes(Takes::Word("open"));
    InvalidUtf8 "invalid-utf8": Bytes PassFinding Bend(bytes::invalid_utf8) "a byte FF inside the answer's text";
    NulByte "nul-byte": Bytes PassFinding Write(b"\0\n") "a line with one NUL before the answer";
    HugeLine "huge-line": Bytes Pass Bend(bytes::huge_line) "an answer of SIZE"
        .takes(Takes::Size(8 << 20));
    StderrFlood "stderr-flood": Bytes Pass Bend(bytes::stderr_flood) "SIZE on stderr before the answer"
        .takes(Takes::Size(50 << 20));
    SplitWrites "split-writes": Bytes Pass Dress(|style| style.bytewise = true) "one byte a write"
        .at(Site::StreamOrAnswer, "tools/call");

    ExitBeforeInit "exit-before-init": Process Crash Start(|given| vec![given.exit()]) "exit at start"
        .takes(Takes::ExitCode(1)).at(Site::Start, "start").in_handshake();
    ExitMidCall "exit-mid-call": Process Crash Bend(|reply, moment| reply.instead([moment.given.exit()])) "exit instead of the answer"
        .takes(Takes::ExitCode(1));
    ExitAfterReply "exit-after-reply": Process PassFinding Bend(|reply, moment| reply.after(moment.given.exit())) "the answer, then exit"
        .takes(Takes::ExitCode(1));
    Abort "abort": Process Crash Bend(|reply, _| reply.instead([Emit::End(Ending::Abort)])) "SIGABRT instead of the answer";
    Segv "segv": Process Crash Bend(|reply, _| reply.instead([Emit::End(Ending::Segv)])) "SIGSEGV instead of the answer";
    SlowStart "slow-start": Process Pass Start(|given| vec![Emit::Delay(given.time())]) "reads nothing for DURATION"
        .takes(Takes::Time(Duration::from_millis(300))).at(Site::Start, "start").in_handshake();
    IgnoreStdinEof "ignore-stdin-eof": Process PassFinding Deaf(Deaf::ToEof) "lives on after EOF"
        .at(Site::Stop, "stop");
    IgnoreSigterm "ignore-sigterm": Process PassFinding Deaf(Deaf::ToEofAndSigterm) "lives on after EOF and SIGTERM"
        .at(Site::Stop, "stop");
    OrphanGrandchild "orphan-grandchild": Process PassFinding Start(|_| vec![Emit::Spawn(orphan::ARGUMENTS.to_vec())]) "a child keeps stdout open after exit"
        .at(Site::Start, "start");
    CloseStdout "close-stdout": Process TransportError Bend(|reply, _| reply.instead([Emit::CloseStdout])) "stdout closed instead of the answer, the process lives";
    OomCap "oom-cap": Process Crash Bend(effects::out_of_memory) "takes SIZE of memory, then aborts"
        .takes(Takes::Size(256 << 20));

    TruncatedJson "truncated-json": JsonRpc Violation Bend(envelope::truncated) "half the answer and a newline";
    NotJson "not-json": JsonRpc Timeout Instead(b"the answer is on its way\n") "a text line instead of the answer"
        .with_finding().over_http(Class::Violation);
    JsonNull "json-null": JsonRpc Timeout Instead(b"null\n") "`null` instead of the answer"
        .with_finding();
    BatchReply "batch-reply": JsonRpc PassFinding Bend(envelope::batch) "the answer inside an array";
    MissingJsonrpc "missing-jsonrpc": JsonRpc PassFinding Omit(&["/jsonrpc"]) "an answer without `jsonrpc`";
    Jsonrpc10 "jsonrpc-1.0": JsonRpc PassFinding Set(("/jsonrpc", r#""1.0""#)) "an answer with `jsonrpc` 1.0";
    WrongId "wrong-id": JsonRpc Violation Bend(envelope::wrong_id) "another id instead of the right one";
    NullId "null-id": JsonRpc Violation Set(("/id", "null")) "a null id instead of the right one";
    IdTypeFlip "id-type-flip": JsonRpc PassFinding Bend(envelope::flip_id) "`3` answered as `\"3\"`, and the other way round";
    UnknownId "unknown-id": JsonRpc PassFinding Bend(envelope::stray_answer) "a stray answer, then the right one";
    DuplicateReply "duplicate-reply": JsonRpc PassFinding Bend(|reply, _| reply.copies += 1) "the answer twice";
    ResultAndError "result-and-error": JsonRpc Violation Bend(envelope::both_members) "both members in one answer";
    Neither "neither": JsonRpc Violation Omit(&["/result", "/error"]) "neither `result` nor `error`";
    ErrorNoCode "error-no-code": JsonRpc ProtocolError Fail(r#"{"message": "an error without a code"}"#) "an error without code"
        .with_finding();
    ErrorStringCode "error-string-code": JsonRpc ProtocolError Fail(r#"{"code": "-32603", "message": "an error whose code is text"}"#) "an error whose code is text"
        .with_finding();
    OutOfOrder "out-of-order": JsonRpc Pass Hold(Hold::UntilLaterOnes) "answers of concurrent calls reversed";
    ReplyAfterCancel "reply-after-cancel": JsonRpc Timeout Hold(Hold::UntilCancelled) "the answer only after the cancel"
        .with_finding();
    ReplyToNotification "reply-to-notification": JsonRpc PassFinding Send(envelope::answer_nobody) "an answer to a notification"
        .at(Site::Notification, "notifications/initialized");
    IdCollision "id-collision": JsonRpc Pass Send(envelope::colliding_request) "a request with the id of the client's open request";
    Delay "delay": JsonRpc Pass Bend(|reply, moment| reply.before(Emit::Delay(moment.given.time()))) "the answer DURATION later, unless the call is cancelled before"
        .takes(Takes::Time(Duration::from_millis(300)));
    Drop "drop": JsonRpc Timeout Bend(|reply, _| reply.instead([])) "no answer";

    InitWrongVersion "init-wrong-version": Lifecycle Violation Bend(lifecycle::wrong_version) "an unknown protocol revision"
        .takes(Takes::Text("1999-01-01")).in_handshake();
    InitNoCapabilities "init-no-capabilities": Lifecycle Violation Omit(&["/result/capabilities"]) "a result without `capabilities`"
        .in_handshake();
    InitError "init-error": Lifecycle ProtocolError Bend(lifecycle::refuse) "a JSON-RPC error"
        .takes(Takes::RpcCode(-32603)).in_handshake();
    InitHang "init-hang": Lifecycle Timeout Bend(|reply, _| reply.instead([])) "no answer"
        .in_handshake();
    InitTwice "init-twice": Lifecycle PassFinding Bend(|reply, _| reply.copies += 1) "the answer twice"
        .in_handshake();
    RequestBeforeInitialized "request-before-initialized": Lifecycle PassFinding Bend(lifecycle::early_request)
        "`roots/list` before the handshake is done"
        .in_handshake();
    CapLieMissing "cap-lie-missing": Lifecycle ProtocolError Bend(lifecycle::promise_prompts) "prompts advertised, unknown on use"
        .with_finding();
    CapLieExtra "cap-lie-extra": Lifecycle PassFinding Bend(lifecycle::hide_prompts) "prompts served, not advertised";
    UnsolicitedSampling "unsolicited-sampling": Lifecycle PassFinding Send(lifecycle::unsolicited_sampling)
        "a sampling request without the client's capability"
        .at(Site::AnyMessage, "notifications/initialized");
    UnsolicitedElicitation "unsolicited-elicitation": Lifecycle PassFinding Send(lifecycle::unsolicited_elicitation)
        "an elicitation request without the client's capability"
        .at(Site::AnyMessage, "notifications/initialized");
    UnsolicitedRoots "unsolicited-roots": Lifecycle PassFinding Send(lifecycle::unsolicited_roots)
        "a roots request without the client's capability"
        .at(Site::AnyMessage, "notifications/initialized");

    DupToolNames "dup-tool-names": Lists PassFinding Bend(lists::same_name_twice) "the first tool twice";
    BadToolName "bad-tool-name": Lists PassFinding Bend(lists::bad_names) "names with a space and of 129 characters";
    NoInputSchema "no-input-schema": Lists PassFinding Omit(&["/result/tools/0/inputSchema"]) "the first tool without `inputSchema`";
    SchemaNotObject "schema-not-object": Lists PassFinding Set(("/result/tools/0/inputSchema", r#"{"type": "string"}"#)) "an input schema of type string";
    SchemaInvalid "schema-invalid": Lists PassFinding Set(("/result/tools/0/inputSchema", r#"{"type": 12}"#)) "an input schema whose `type` is a number";
    SchemaRemoteRef "schema-remote-ref": Lists PassFinding Set(lists::REMOTE_SCHEMA) "an input schema with a `$ref` to `http://`";
    SchemaCycle "schema-cycle": Lists PassFinding Set(lists::CYCLIC_SCHEMA) "an input schema with a `$ref` to itself";
    SchemaDeep "schema-deep": Lists PassFinding Bend(lists::deep_schema) "an input schema of N levels"
        .takes(count(2_000, 1_000_000));
    CursorLoop "cursor-loop": Lists PassFinding Bend(lists::cursor_loop) "the same page with cursors A, B, A and so on";
    CursorRepeat "cursor-repeat": Lists PassFinding Set(("/result/nextCursor", r#""cursor-same""#)) "the same page and cursor for ever";
    CursorEmpty "cursor-empty": Lists PassFinding Bend(lists::cursor_empty) "an empty `nextCursor` on the last page";
    ToolVanishes "tool-vanishes": Lists ProtocolError Fail(r#"{"code": -32602, "message": "unknown tool"}"#) "listed, but unknown when called"
        .at(Site::ToolCall, "tools/call");
    RugPull "rug-pull": Lists PassFinding Bend(lists::rug_pull) "description and schema differ from the second list on"
        .at(Site::ToolList, "tools/list@2..");
    UnstableOrder "unstable-order": Lists PassFinding Bend(lists::reverse) "the order differs from the second list on"
        .at(Site::ToolList, "tools/list@2..");
    TenThousandTools "10k-tools": Lists Pass Bend(lists::many_tools) "10,000 tools";

    ContentMissing "content-missing": Results Violation Omit(&["/result/content"]) "a result without `content`";
    ContentNull "content-null": Results Violation Set(("/result/content", "null")) "`content` is null";
    ContentUnknownType "content-unknown-type": Results PassFinding Block(r#"{"type": "hologram", "beam": "blue"}"#) "a block of type `hologram` beside the text";
    BadBase64 "bad-base64": Results PassFinding Block(r#"{"type": "image", "data": "%%% not base64 %%%", "mimeType": "image/png"}"#) "image data that is not base64";
    MimeLie "mime-lie": Results PassFinding Block(r#"{"type": "image", "data": "/9j/4AAQSkZJRgABAQAAAQABAAD/2Q==", "mimeType": "image/png"}"#) "a JPEG called PNG";
    StructuredMismatch "structured-mismatch": Results PassFinding Bend(results::structured_mismatch)
        "structured content against the output schema";
    StructuredMissing "structured-missing": Results PassFinding Omit(&["/result/structuredContent"]) "an output schema and no structured content";
    IsErrorNoText "is-error-no-text": Results ToolError Bend(results::error_without_text) "`isError` with empty content"
        .with_finding();
    NanNumber "nan-number": Results Violation Bend(results::not_a_number) "`NaN` in the JSON";
    BigInt "big-int": Results Pass Bend(results::big_integers) "integers of 64 bits and of 40 digits";
    DeepJson "deep-json": Results TransportError Bend(results::deep_value) "N levels of arrays"
        .takes(count(10_000, 10_000_000));
    LoneSurrogate "lone-surrogate": Results PassFinding Bend(results::lone_surrogate) "half a surrogate pair in the text";
    TerminalEscape "terminal-escape": Results Pass Bend(results::terminal_escapes) "escape sequences and workflow commands in the text";
    PromptInjection "prompt-injection": Results Pass Bend(results::injection)
        "instructions, HTML and Markdown in description and text";

    ProgressBackwards "progress-backwards": Notifications PassFinding Bend(notifications::backwards) "progress that falls";
    ProgressForeignToken "progress-foreign-token": Notifications PassFinding Bend(notifications::foreign_token)
        "progress for a token that is not the client's";
    ProgressAfterReply "progress-after-reply": Notifications PassFinding Bend(notifications::after_reply) "progress after the answer";
    ProgressFlood "progress-flood": Notifications PassFinding Bend(notifications::progress_flood) "N progress notifications"
        .takes(count(100_000, 100_000_000));
    ListChangedStorm "list-changed-storm": Notifications PassFinding Bend(notifications::list_changed_storm) "N `list_changed` notifications"
        .takes(count(1_000, 100_000_000));
    LogBadLevel "log-bad-level": Notifications PassFinding Bend(|reply, _| reply.say_before(notifications::log("loud"))) "a log message of level `loud`";
    LogBelowLevel "log-below-level": Notifications PassFinding Bend(|reply, _| reply.say_before(notifications::log("debug"))) "a log message under the level set";

    Status "status": Http TransportError Distort(Distortion::Status) "a status and no body"
        .takes(Takes::Status(503)).over_sse_too();
    HtmlPage "html-200": Http TransportError Distort(Distortion::Page) "an HTML page with status 200";
    WrongContentType "wrong-content-type": Http TransportError Distort(Distortion::PlainText) "the answer as `text/plain`";
    EmptyBody "empty-200": Http TransportError Distort(Distortion::Empty) "JSON without a byte, with status 200";
    BodyOn202 "body-on-202": Http PassFinding Distort(Distortion::Body) "a body on the 202 of a notification"
        .at(Site::Notification, "notifications/initialized");
    SseNoFinal "sse-no-final": Http TransportError Distort(Distortion::NoFinal) "a stream that ends without the answer";
    SseCutMidEvent "sse-cut-mid-event": Http TransportError Distort(Distortion::Cut) "a stream that ends inside of the answer";
    SseCrlf "sse-crlf": Http Pass Distort(Distortion::Crlf) "CR LF line ends in the stream";
    SseMultilineData "sse-multiline-data": Http Pass Distort(Distortion::Multiline) "the answer over several `data:` lines";
    SseCommentOnly "sse-comment-only": Http Timeout Distort(Distortion::Comments) "a stream of comments alone";
    SseNeverFlush "sse-never-flush": Http Timeout Distort(Distortion::Silence) "the head of a stream, then nothing";
    Drip "drip": Http Pass Distort(Distortion::Drip) "the answer at N bytes a second"
        .takes(count(2_000, 1_000_000_000));
    ContentLengthLie "content-length-lie": Http TransportError Distort(Distortion::TooLittle) "ten bytes more promised than sent";
    ChunkNeverEnds "chunk-never-ends": Http Timeout Distort(Distortion::NoEnd) "all of the JSON, but no last chunk";
    Gzip "gzip": Http Violation Distort(Distortion::Gzip) "the answer compressed, although the client does not ask for it";
    Reset "reset": Http TransportError Distort(Distortion::Reset) "the connection reset instead of the answer"
        .over_sse_too();
    Redirect "redirect": Http PassFinding Refuse(Refusal::Redirect) "a redirect to the same server"
        .takes(Takes::Status(307)).over_sse_too();
    RedirectCrossOrigin "redirect-cross-origin": Http TransportError Refuse(Refusal::RedirectAway) "a redirect to another server"
        .takes(Takes::Status(307)).over_sse_too();
    NoSessionHeader "no-session-header": Http Pass Distort(Distortion::NoSession) "a handshake that names no session"
        .at(Site::Handshake, "initialize");
    Get405 "get-405": Http Pass Refuse(Refusal::NoGet) "405 for the stream of the session"
        .at(Site::Start, "start");
    Delete405 "delete-405": Http Pass Refuse(Refusal::NoDelete) "405 for the end of the session"
        .at(Site::Start, "start");
    SessionChanges "session-changes": Http PassFinding Distort(Distortion::OtherSession) "the id of another session on the answer";
    SessionBadAscii "session-bad-ascii": Http PassFinding Distort(Distortion::BadSession) "a session id with a byte that it may not have";
    SessionExpires "session-expires": Http TransportError Refuse(Refusal::Expired) "404 from the Nth request of a session on"
        .takes(count(2, 1_000_000)).at(Site::Answer, "*");
    TooManyRequests "429": Http TransportError Refuse(Refusal::TooMany) "429 with N seconds in `Retry-After`"
        .takes(count(1, 86_400)).over_sse_too();
    VersionHeaderReject "version-header-reject": Http TransportError Refuse(Refusal::NoRevision) "400 where `MCP-Protocol-Version` is sent"
        .at(Site::Answer, "*");

    NoChallenge "401-no-challenge": Auth TransportError Refuse(Refusal::NoChallenge) "401 without `WWW-Authenticate`";
    BadChallenge "401-bad-challenge": Auth TransportError Refuse(Refusal::BadChallenge) "401 with a `WWW-Authenticate` that cannot be read";
    TokenExpires "token-expires": Auth TransportError Refuse(Refusal::Expires) "401 from the Nth request on, until another token is shown"
        .takes(count(2, 1_000_000)).at(Site::Answer, "*");
    UnauthorizedAfter "401-after": Auth TransportError Refuse(Refusal::NeverAgain) "401 from the Nth request on, whatever is shown"
        .takes(count(2, 1_000_000)).at(Site::Answer, "*");
    InsufficientScope "insufficient-scope": Auth TransportError Refuse(Refusal::Scope) "403 with a challenge that names the scope `mcp:more`";

    NoResultType "no-result-type": Stateless PassFinding Omit(&["/result/resultType"]) "a result without `resultType`";
    NoCacheHints "no-cache-hints": Stateless PassFinding Omit(&["/result/ttlMs", "/result/cacheScope"]) "a list without `ttlMs` and `cacheScope`"
        .at(Site::ToolList, "tools/list");
    ListenNoAck "listen-no-ack": Stateless PassFinding Bend(|reply, _| reply.instead([])) "a stream of notifications without its acknowledgement"
        .at(Site::Listen, "subscriptions/listen");
    ListenLeaksFilter "listen-leaks-filter": Stateless PassFinding Bend(notifications::leak) "a notification of a kind that the stream was not asked for"
        .at(Site::Listen, "subscriptions/listen");
}

impl Fault {
    /// The fault of this id.
    pub fn named(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.row().id == id)
    }

    /// Whether it is made of an exchange of HTTP rather than of a frame.
    pub(crate) fn is_of_exchanges(self) -> bool {
        Exchange::of(self.row().effect).is_some()
    }

    /// Whether it is counted by lists rather than by pages: a page with a cursor continues a list.
    pub const fn counts_lists(self) -> bool {
        matches!(self, Self::RugPull | Self::UnstableOrder)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::faults::rule::Rule;

    #[test]
    fn ids_are_unique_and_every_bare_id_is_a_rule() {
        let mut seen = BTreeSet::new();
        for fault in Fault::ALL {
            let row = fault.row();
            assert!(seen.insert(row.id), "{} twice", row.id);
            assert!(
                !row.does.is_empty() && !row.does.ends_with('.'),
                "{}",
                row.id
            );
            let rule = Rule::parse(row.id, row.carriers[0]).unwrap();
            assert_eq!(rule.fault, *fault);
            assert_eq!(rule.given, row.takes.default_value(), "{}", row.id);
            assert!(row.site.allows(rule.when), "{}", row.id);
        }
    }

    #[test]
    fn every_shown_default_is_a_value_that_the_fault_takes() {
        for fault in Fault::ALL {
            let row = fault.row();
            let shown = row.takes.shown();
            let Some((_, default)) = shown.split_once('(') else {
                continue;
            };
            let text = format!("{}:{}", row.id, default.trim_end_matches(')'));
            let rule = Rule::parse(&text, row.carriers[0]).unwrap();
            assert_eq!(rule.given, row.takes.default_value(), "{text}");
        }
    }
}
