//! The closed list of faults: one row each with id, group, argument, place and the class that a good
//! tester reports. `serve --list`, the docs and the test matrix are made from it.

use std::time::Duration;

use super::argument::Takes;
use super::place::Site;

/// What a good tester reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
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
    pub(crate) const fn name(self) -> &'static str {
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

/// Whether a finding stands beside a class that does not say so itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// No finding is due.
    Nothing,
    /// A finding names the deviation.
    Finding,
}

/// What a fault belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
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
}

impl Group {
    /// Its heading.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "stdio bytes",
            Self::Process => "process",
            Self::JsonRpc => "JSON-RPC",
            Self::Lifecycle => "lifecycle",
            Self::Lists => "lists",
            Self::Results => "results",
            Self::Notifications => "notifications",
        }
    }

    /// Which ways of carrying frames its faults can be made on.
    pub(crate) const fn carriers(self) -> &'static [Carrier] {
        match self {
            Self::Process => &[Carrier::Stdio],
            Self::Bytes
            | Self::JsonRpc
            | Self::Lifecycle
            | Self::Lists
            | Self::Results
            | Self::Notifications => &[Carrier::Stdio, Carrier::Duplex],
        }
    }
}

/// How frames reach the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// stdin and stdout of a process of its own.
    Stdio,
    /// A pipe inside somebody else's process.
    Duplex,
}

impl Carrier {
    /// As a message names it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Duplex => "an in-process pipe",
        }
    }
}

/// Which phase the class is reported in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Starting the server and shaking hands.
    Handshake,
    /// The subject itself.
    Subject,
}

/// All that is known of a fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Its name in a rule.
    pub(crate) id: &'static str,
    /// What it belongs to.
    pub(crate) group: Group,
    /// What may follow the id.
    pub(crate) takes: Takes,
    /// Where it may sit.
    pub(crate) site: Site,
    /// Where it sits when a rule is only an id; the part of a rule before `=`.
    pub(crate) default_place: &'static str,
    /// What a good tester reports when it sits there with the default argument.
    pub(crate) class: Class,
    /// Whether a finding stands beside the class.
    pub(crate) beside: Beside,
    /// In which phase the class is reported.
    pub(crate) phase: Phase,
    /// What is done, in one line.
    pub(crate) does: &'static str,
}

impl Row {
    const fn new(group: Group, class: Class, does: &'static str) -> Self {
        let (site, default_place) = match group {
            Group::Bytes | Group::Process | Group::JsonRpc => (Site::Answer, "tools/call"),
            Group::Lifecycle => (Site::Handshake, "initialize"),
            Group::Lists => (Site::ToolList, "tools/list"),
            Group::Results | Group::Notifications => (Site::ToolCall, "tools/call"),
        };
        Self {
            id: "",
            group,
            takes: Takes::Nothing,
            site,
            default_place,
            class,
            beside: Beside::Nothing,
            phase: Phase::Subject,
            does,
        }
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
        self.beside = Beside::Finding;
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
    ($($fault:ident $id:literal: $group:ident $class:ident $does:literal $(. $more:ident ( $($arg:expr),* ))*;)+) => {
        /// A deviation that the server can be asked for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Fault { $(#[doc = $does] $fault,)+ }

        impl Fault {
            /// Every fault, in the order of the catalogue.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$fault),+];

            /// All that is known of it.
            pub(crate) const fn row(self) -> Row {
                match self {
                    $(Self::$fault => Row::new(Group::$group, Class::$class, $does).named($id)$(.$more($($arg),*))*,)+
                }
            }
        }
    };
}

catalogue! {
    StdoutBanner "stdout-banner": Bytes PassFinding "three text lines before the first frame"
        .at(Site::StreamOrAnswer, "start");
    StdoutNoiseBetween "stdout-noise-between": Bytes PassFinding "a text line, then after DURATION the answer"
        .takes(Takes::Time(Duration::from_secs(1)));
    StdoutNoiseMidline "stdout-noise-midline": Bytes Violation "text inside the answer's line";
    StdoutAnsi "stdout-ansi": Bytes PassFinding "a line of escape sequences before the answer";
    StdoutBom "stdout-bom": Bytes PassFinding "a byte-order mark before the first frame"
        .at(Site::StreamOrAnswer, "start");
    StdoutCrlf "stdout-crlf": Bytes Pass "CR LF line ends"
        .at(Site::StreamOrAnswer, "start");
    StdoutBlankLines "stdout-blank-lines": Bytes PassFinding "empty lines between frames"
        .at(Site::StreamOrAnswer, "start");
    PrettyJson "pretty-json": Bytes Violation "the answer over several lines";
    LspFraming "lsp-framing": Bytes Timeout "`Content-Length` framing"
        .at(Site::StreamOrAnswer, "start").with_finding().in_handshake();
    NoTrailingNewline "no-trailing-newline": Bytes PassFinding
        "the answer without newline, then exit 0; with `open` stdout stays open"
        .takes(Takes::Word("open"));
    InvalidUtf8 "invalid-utf8": Bytes PassFinding "a byte FF inside the answer's text";
    NulByte "nul-byte": Bytes PassFinding "a line with one NUL before the answer";
    HugeLine "huge-line": Bytes Pass "an answer of SIZE"
        .takes(Takes::Size(8 << 20));
    StderrFlood "stderr-flood": Bytes Pass "SIZE on stderr before the answer"
        .takes(Takes::Size(50 << 20));
    SplitWrites "split-writes": Bytes Pass "one byte a write"
        .at(Site::StreamOrAnswer, "tools/call");

    ExitBeforeInit "exit-before-init": Process Crash "exit at start"
        .takes(Takes::ExitCode(1)).at(Site::Start, "start").in_handshake();
    ExitMidCall "exit-mid-call": Process Crash "exit instead of the answer"
        .takes(Takes::ExitCode(1));
    ExitAfterReply "exit-after-reply": Process PassFinding "the answer, then exit"
        .takes(Takes::ExitCode(1));
    Abort "abort": Process Crash "SIGABRT instead of the answer";
    Segv "segv": Process Crash "SIGSEGV instead of the answer";
    SlowStart "slow-start": Process Pass "reads nothing for DURATION"
        .takes(Takes::Time(Duration::from_millis(300))).at(Site::Start, "start").in_handshake();
    IgnoreStdinEof "ignore-stdin-eof": Process PassFinding "lives on after EOF"
        .at(Site::Stop, "stop");
    IgnoreSigterm "ignore-sigterm": Process PassFinding "lives on after EOF and SIGTERM"
        .at(Site::Stop, "stop");
    OrphanGrandchild "orphan-grandchild": Process PassFinding "a child keeps stdout open after exit"
        .at(Site::Start, "start");
    CloseStdout "close-stdout": Process TransportError "stdout closed instead of the answer, the process lives";
    OomCap "oom-cap": Process Crash "takes SIZE of memory, then aborts"
        .takes(Takes::Size(256 << 20));

    TruncatedJson "truncated-json": JsonRpc Violation "half the answer and a newline";
    NotJson "not-json": JsonRpc Timeout "a text line instead of the answer"
        .with_finding();
    JsonNull "json-null": JsonRpc Timeout "`null` instead of the answer"
        .with_finding();
    BatchReply "batch-reply": JsonRpc PassFinding "the answer inside an array";
    MissingJsonrpc "missing-jsonrpc": JsonRpc PassFinding "an answer without `jsonrpc`";
    Jsonrpc10 "jsonrpc-1.0": JsonRpc PassFinding "an answer with `jsonrpc` 1.0";
    WrongId "wrong-id": JsonRpc Violation "another id instead of the right one";
    NullId "null-id": JsonRpc Violation "a null id instead of the right one";
    IdTypeFlip "id-type-flip": JsonRpc PassFinding "`3` answered as `\"3\"`, and the other way round";
    UnknownId "unknown-id": JsonRpc PassFinding "a stray answer, then the right one";
    DuplicateReply "duplicate-reply": JsonRpc PassFinding "the answer twice";
    ResultAndError "result-and-error": JsonRpc Violation "both members in one answer";
    Neither "neither": JsonRpc Violation "neither `result` nor `error`";
    ErrorNoCode "error-no-code": JsonRpc ProtocolError "an error without code"
        .with_finding();
    ErrorStringCode "error-string-code": JsonRpc ProtocolError "an error whose code is text"
        .with_finding();
    OutOfOrder "out-of-order": JsonRpc Pass "answers of concurrent calls reversed";
    ReplyAfterCancel "reply-after-cancel": JsonRpc Timeout "the answer only after the cancel"
        .with_finding();
    ReplyToNotification "reply-to-notification": JsonRpc PassFinding "an answer to a notification"
        .at(Site::Notification, "notifications/initialized");
    IdCollision "id-collision": JsonRpc Pass "a request with the id of the client's open request";
    Delay "delay": JsonRpc Pass "the answer DURATION later"
        .takes(Takes::Time(Duration::from_millis(300)));
    Drop "drop": JsonRpc Timeout "no answer";

    InitWrongVersion "init-wrong-version": Lifecycle Violation "an unknown protocol revision"
        .takes(Takes::Text("1999-01-01")).in_handshake();
    InitNoCapabilities "init-no-capabilities": Lifecycle Violation "a result without `capabilities`"
        .in_handshake();
    InitError "init-error": Lifecycle ProtocolError "a JSON-RPC error"
        .takes(Takes::RpcCode(-32603)).in_handshake();
    InitHang "init-hang": Lifecycle Timeout "no answer"
        .in_handshake();
    InitTwice "init-twice": Lifecycle PassFinding "the answer twice"
        .in_handshake();
    RequestBeforeInitialized "request-before-initialized": Lifecycle PassFinding
        "`roots/list` before the handshake is done"
        .in_handshake();
    CapLieMissing "cap-lie-missing": Lifecycle ProtocolError "prompts advertised, unknown on use"
        .with_finding();
    CapLieExtra "cap-lie-extra": Lifecycle PassFinding "prompts served, not advertised";
    UnsolicitedSampling "unsolicited-sampling": Lifecycle PassFinding
        "a sampling request without the client's capability"
        .at(Site::AnyMessage, "notifications/initialized");
    UnsolicitedElicitation "unsolicited-elicitation": Lifecycle PassFinding
        "an elicitation request without the client's capability"
        .at(Site::AnyMessage, "notifications/initialized");
    UnsolicitedRoots "unsolicited-roots": Lifecycle PassFinding
        "a roots request without the client's capability"
        .at(Site::AnyMessage, "notifications/initialized");

    DupToolNames "dup-tool-names": Lists PassFinding "the first tool twice";
    BadToolName "bad-tool-name": Lists PassFinding "names with a space and of 129 characters";
    NoInputSchema "no-input-schema": Lists PassFinding "the first tool without `inputSchema`";
    SchemaNotObject "schema-not-object": Lists PassFinding "an input schema of type string";
    SchemaInvalid "schema-invalid": Lists PassFinding "an input schema whose `type` is a number";
    SchemaRemoteRef "schema-remote-ref": Lists PassFinding "an input schema with a `$ref` to `http://`";
    SchemaCycle "schema-cycle": Lists PassFinding "an input schema with a `$ref` to itself";
    SchemaDeep "schema-deep": Lists PassFinding "an input schema of N levels"
        .takes(count(2_000, 1_000_000));
    CursorLoop "cursor-loop": Lists PassFinding "the same page with cursors A, B, A and so on";
    CursorRepeat "cursor-repeat": Lists PassFinding "the same page and cursor for ever";
    CursorEmpty "cursor-empty": Lists PassFinding "an empty `nextCursor` on the last page";
    ToolVanishes "tool-vanishes": Lists ProtocolError "listed, but unknown when called"
        .at(Site::ToolCall, "tools/call");
    RugPull "rug-pull": Lists PassFinding "description and schema differ from the second list on"
        .at(Site::ToolList, "tools/list@2..");
    UnstableOrder "unstable-order": Lists PassFinding "the order differs from the second list on"
        .at(Site::ToolList, "tools/list@2..");
    TenThousandTools "10k-tools": Lists Pass "10,000 tools";

    ContentMissing "content-missing": Results Violation "a result without `content`";
    ContentNull "content-null": Results Violation "`content` is null";
    ContentUnknownType "content-unknown-type": Results PassFinding "a block of type `hologram` beside the text";
    BadBase64 "bad-base64": Results PassFinding "image data that is not base64";
    MimeLie "mime-lie": Results PassFinding "a JPEG called PNG";
    StructuredMismatch "structured-mismatch": Results PassFinding
        "structured content against the output schema";
    StructuredMissing "structured-missing": Results PassFinding "an output schema and no structured content";
    IsErrorNoText "is-error-no-text": Results ToolError "`isError` with empty content"
        .with_finding();
    NanNumber "nan-number": Results Violation "`NaN` in the JSON";
    BigInt "big-int": Results Pass "integers of 64 bits and of 40 digits";
    DeepJson "deep-json": Results TransportError "N levels of arrays"
        .takes(count(10_000, 10_000_000));
    LoneSurrogate "lone-surrogate": Results PassFinding "half a surrogate pair in the text";
    TerminalEscape "terminal-escape": Results Pass "escape sequences and workflow commands in the text";
    PromptInjection "prompt-injection": Results Pass
        "instructions, HTML and Markdown in description and text";

    ProgressBackwards "progress-backwards": Notifications PassFinding "progress that falls";
    ProgressForeignToken "progress-foreign-token": Notifications PassFinding
        "progress for a token that is not the client's";
    ProgressAfterReply "progress-after-reply": Notifications PassFinding "progress after the answer";
    ProgressFlood "progress-flood": Notifications PassFinding "N progress notifications"
        .takes(count(100_000, 100_000_000));
    ListChangedStorm "list-changed-storm": Notifications PassFinding "N `list_changed` notifications"
        .takes(count(1_000, 100_000_000));
    LogBadLevel "log-bad-level": Notifications PassFinding "a log message of level `loud`";
    LogBelowLevel "log-below-level": Notifications PassFinding "a log message under the level set";
}

impl Fault {
    /// The fault of this id.
    pub(crate) fn named(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.row().id == id)
    }

    /// Whether it is counted by lists rather than by pages: a page with a cursor continues a list.
    pub(crate) const fn counts_lists(self) -> bool {
        matches!(self, Self::RugPull | Self::UnstableOrder)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::serve::faults::rule::Rule;

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
            let rule = Rule::parse(row.id, Carrier::Stdio).unwrap();
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
            let rule = Rule::parse(&text, Carrier::Stdio).unwrap();
            assert_eq!(rule.given, row.takes.default_value(), "{text}");
        }
    }
}
