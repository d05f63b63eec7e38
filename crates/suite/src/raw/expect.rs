//! The expectations.

use serde_json::{Number, Value, json};

use super::{
    Field,
    read::{Readable, Reading},
    shape::{ShapeDoc, shape},
    union::{NoneOrTexts, Short, Shorthand, TextOr},
    value::{Anything, Deferred, Members, OneOrMany, Table, Text, TextTable, Texts},
};
use crate::yaml::{Kind, Node};

shape! {
    /// Expectations about an answer. All keys are checked, and all mismatches are reported. The text
    /// under test is made of the `text` parts of the answer, joined by line ends.
    RawExpect, "`expect`" {
        /// `true`: the answer is a result that is not a tool error; `false`: it is a tool error. A protocol
        /// error is neither, see `error`.
        not_error = "not_error": bool;
        /// `true`: the answer is a tool error; `false`: it is a result that is not one.
        is_error = "is_error": bool;
        /// `true`: the answer is a tool error or a JSON-RPC error: servers differ in how they refuse, and in the codes;
        /// `false`: it is neither.
        refused = "refused": bool;
        /// The answer is this JSON-RPC error.
        error = "error": RawError;
        /// `true`: the text is not blank, `null`, `[]` or `{}`, or there is other content; `false`: none.
        not_empty = "not_empty": bool;
        /// The text is this, white space at both ends aside.
        equals = "equals": Text;
        /// The text holds each of these.
        contains = "contains": Texts;
        /// The text holds at least one of these.
        contains_any = "contains_any": Texts;
        /// None of these occurs in any content. Data is decoded; letters that binary data contains by
        /// chance are ignored.
        not_contains = "not_contains": Texts;
        /// The text holds these one after another.
        in_order = "in_order": Texts;
        /// Each of these regular expressions is found in the text.
        matches_regex = "matches_regex": Texts;
        /// Paths into the text read as JSON, each with its value or a map of matchers: `exists`, `type`,
        /// `gt`, `ge`, `lt`, `le`, `matches`, `contains`, `length`, `one_of`, `equals`, `not`. A map with any other
        /// key is compared as it is. Equality is exact, by type and value; filters compare numbers by value too. Of a text that is not JSON as a whole, the first JSON value on lines of its own is
        /// looked at, and a finding tells when more of them stand there. `{exists: false}`, `not` and paths that match
        /// several places fail then: they would pass over the others. What such a path is given must hold at each place that
        /// it matches; a list may also be the list of what it matched, in order. Where it matches nothing, only `[]` and
        /// `{exists: false}` hold, `[]` if what the path chooses from is there.
        json_path = "json_path": Table<Anything>;
        /// The same in `structuredContent`.
        structured = "structured": Table<Anything>;
        /// The text read as JSON, or else the structured content, satisfies this JSON Schema: written here, or
        /// a file relative to the YAML file. A relative `$ref` names a file beside; nothing is fetched. A text with
        /// several JSON values does not satisfy it. Without `$schema` it is one of draft 2020-12, in which `format`
        /// says nothing about validity; of drafts 4, 6 and 7 it is checked: `$schema: http://json-schema.org/draft-07/schema#`.
        json_schema = "json_schema": TextOr<Anything>;
        /// `true`: the structured content satisfies the tool's declared `outputSchema`.
        output_schema = "output_schema": bool;
        /// The content blocks in order, each with the members that must be equal; `min_bytes` bounds its
        /// decoded size. Of a resource its contents, of a prompt what its messages hold.
        content = "content": OneOrMany<Members>;
        /// An array of the answer has at least so many items: the root, one of `locations`, `items`,
        /// `results`, `references`, `symbols`, `resources`, `prompts`, `tools`, `data`, `resourceTemplates`, or the
        /// one at `path`, which leads into the structured content where it leads nowhere in the text. Of several JSON
        /// values in the text the first is looked at.
        min_results = "min_results": Short<u64, RawResults>;
        /// The same array has at most so many items. Fails when the text holds several JSON values, and is what is
        /// looked at.
        max_results = "max_results": Short<u64, RawResults>;
        /// The member `net_delta` of the answer is this number. Fails when the text holds several JSON values.
        net_delta = "net_delta": Number;
        /// Files that hold these texts after the call; those of a step, before the next one begins. Paths are relative to the fixture when there is one,
        /// else to the caller's directory. An absolute path that does not begin with `{{fixture}}` is read where it is.
        file_contains = "file_contains": Table<Texts>;
        /// Files that exist and hold none of these texts.
        file_not_contains = "file_not_contains": Table<Texts>;
        /// Files that are exactly these texts.
        file_equals = "file_equals": TextTable;
        /// Paths that are there.
        file_exists = "file_exists": Texts;
        /// Paths that are not there. A link that leads to nothing is not there either.
        file_not_exists = "file_not_exists": Texts;
        /// Paths that are as they were before the server started; in the fixture their kind and mode too, and the links
        /// that they lead over. What steps of `setup` change counts.
        file_unchanged = "file_unchanged": Texts;
        /// Nothing but these paths (globs) changed in the fixture since the server started: content, kind or mode. A path is relative to the fixture or begins with `{{fixture}}`.
        only_changed = "only_changed": RawGlobs;
        /// At least so many progress notifications came for the call.
        min_progress = "min_progress": u64;
        /// How progress was told.
        progress = "progress": RawProgress;
        /// The answer came within this time, such as `500ms`.
        max_duration = "max_duration": Text;
        /// The answer is at most so many bytes long.
        max_bytes = "max_bytes": u64;
        /// The notifications during the call and after its answer. Expected ones are waited for 1 s at most,
        /// unwanted ones 100 ms.
        notifications = "notifications": RawNotificationsExpect;
        /// What the server asked of the client; `[]`: nothing.
        server_requests = "server_requests": OneOrMany<RawServerRequest>;
        /// What the server wrote to stderr.
        stderr = "stderr": RawStderr;
        /// How the server ended after the session was closed.
        exit = "exit": RawExit;
        /// Deviations from the protocol: `none`, or the codes that may occur. What is wrong with the server's lists counts, for which
        /// they are fetched in a session of their own; of a step, what came up to its answer. With `vacuous` among them the assertion is
        /// meant as it is, also for `--strict-vacuity`.
        findings = "findings": NoneOrTexts;
        /// None of these expectations holds. An answer that has nothing of what one speaks of is no proof of that: what
        /// is looked for in JSON fails here when the text is not JSON or holds several JSON values, when nothing is at
        /// a path (but for `exists`), and when the array or the declared schema is not there.
        not = "not": Box<RawExpect>;
    }
}

shape! {
    /// Expectations about an HTTP response.
    RawHttpExpect, "`expect` of `http`" {
        /// Its status is one of these: `401`, or `4xx` for any of 400 to 499.
        status = "status": Texts;
        /// Headers that are there, each with a text that its value contains, or a regular expression between slashes.
        headers = "headers": TextTable;
        /// Expectations about the body, which is the text under test.
        body = "body": Deferred<RawExpect>;
    }
}

shape! {
    /// A JSON-RPC error; what is not written is not looked at.
    RawError, "`error`" {
        /// Its code.
        code = "code": i64;
        /// A text that its message contains, or a regular expression between slashes, with flags inside: `/(?i)denied/`.
        message = "message": Text;
        /// Members of its data.
        data = "data": Anything;
    }
}

shape! {
    /// A number of results at a place.
    RawResults, "a number of results" {
        /// How many.
        count = "count": u64;
        /// Where the array is, as JSONPath. What a path matches that ends in `[*]`, a filter or a slice is counted
        /// itself. Another one that can match several places leads to arrays, of which each must have so many
        /// items; where it leads to other values, these are counted. A path that leads nowhere fails, unless a
        /// list on the way is empty or a filter lets nothing through: that is a count of 0.
        path = "path": Text;
    }
}

shape! {
    /// How progress was told; what is not written is not looked at.
    RawProgress, "`progress`" {
        /// At least so many notifications.
        min = "min": u64;
        /// Whether each value is greater than the one before.
        monotonic = "monotonic": bool;
        /// Whether the last value is the total.
        last_equals_total = "last_equals_total": bool;
    }
}

shape! {
    /// Expectations about the notifications.
    RawNotificationsExpect, "`notifications`" {
        /// At least so many.
        min_count = "min_count": u64;
        /// At most so many. Progress that came because we ask for it with every call counts only where
        /// `notifications/progress` is named in `methods`, `not_methods` or `in_order`.
        max_count = "max_count": u64;
        /// Each of these methods occurs.
        methods = "methods": Texts;
        /// None of these methods occurs.
        not_methods = "not_methods": Texts;
        /// These methods occur one after another.
        in_order = "in_order": Texts;
        /// Each of these texts occurs in the parameters (compact JSON) of some notification.
        contains_data = "contains_data": Texts;
        /// None of these texts occurs there.
        not_contains_data = "not_contains_data": Texts;
    }
}

shape! {
    /// Expectations about the log messages.
    RawLoggingExpect, "`expect` of `assert_logging`" {
        /// At least so many.
        min_messages = "min_messages": u64;
        /// At most so many.
        max_messages = "max_messages": u64;
        /// A message of each of these levels occurs.
        contains_level = "contains_level": Texts;
        /// Each of these texts occurs in the data of some message.
        contains_data = "contains_data": Texts;
        /// No message is below this level.
        not_below = "not_below": Text;
    }
}

shape! {
    /// Something the server asked of the client.
    RawServerRequest, "`server_requests`" {
        /// The method, such as `sampling/createMessage`.
        method = "method": Text;
        /// How often, with these parameters. Default: at least once.
        count = "count": u64;
        /// Members of its parameters.
        params = "params": Anything;
    }
}

shape! {
    /// What the server wrote to stderr.
    RawStderr, "`stderr`" {
        /// Each of these.
        contains = "contains": Texts;
        /// None of these.
        not_contains = "not_contains": Texts;
        /// Each of these regular expressions is found there.
        matches = "matches": Texts;
    }
}

shape! {
    /// How the server ended.
    RawExitMap, "`exit`" {
        /// With this exit code. In a container 128 and the number of a signal is also what that signal leaves.
        code = "code": i64;
        /// Whether with code 0 on the end of its input, leaving nothing behind.
        clean = "clean": bool;
    }
}

shape! {
    /// One rule over a list of tool calls.
    RawRule, "a rule of `trajectory`" {
        /// `order`, `presence`, `absence`, `args_contain`, `count`, `never_after`, `adjacent`, `outcome` or
        /// `within_ms`.
        kind = "type": Text;
        /// The tools, for `order`, `presence`, `absence` and `adjacent`.
        tools = "tools": Texts;
        /// The tool, for the other rules.
        tool = "tool": Text;
        /// Members of the arguments of some call, for `args_contain`.
        args = "args": Members;
        /// How often exactly, for `count`.
        count = "count": u64;
        /// How often at least, for `count`.
        min = "min": u64;
        /// How often at most, for `count`.
        max = "max": u64;
        /// The tool after which `tool` is not called any more, for `never_after`.
        after = "after": Text;
        /// `ok` or `error`, for `outcome`.
        outcome = "outcome": Text;
        /// The longest time in milliseconds, for `within_ms`.
        within_ms = "within_ms": u64;
        /// The tool whose first call begins the time, for `within_ms`.
        from = "from": Text;
        /// The tool whose last call ends the time, for `within_ms`.
        to = "to": Text;
    }
}

shape! {
    /// One tool call of a trace.
    RawTraceCall, "a call of `trace`" {
        /// The tool.
        tool = "tool": Text;
        /// Its arguments.
        args = "args": Members;
        /// How it ended: `ok` or `error`.
        outcome = "outcome": Text;
        /// Milliseconds since the first call.
        at_ms = "at_ms": u64;
    }
}

/// `exit`: a map, or short a code or the word `clean`.
#[derive(Debug)]
pub(crate) struct RawExit(pub(crate) RawExitMap);

impl Readable for RawExit {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let at = node.at;
        let mut short = RawExitMap::default();
        if let Kind::Number(..) = node.kind {
            let value = i64::read(node, reading)?;
            short.code = Some(Field { value, key: at, at });
            return Some(Self(short));
        }
        if node.written() == Some("clean") {
            let value = true;
            short.clean = Some(Field { value, key: at, at });
            return Some(Self(short));
        }
        let map = reading.one_form::<Self, _>(node, RawExitMap::read);
        map.map(Self)
    }

    fn words() -> String {
        "a map, an exit code or `clean`".into()
    }

    fn schema() -> Value {
        json!({ "anyOf": [RawExitMap::schema(), { "type": "integer" }, { "const": "clean" }] })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        RawExitMap::shapes(into);
    }
}

impl Shorthand for RawResults {
    const KEY: &'static str = "count";
}

/// Path patterns. No value means that nothing may change.
#[derive(Debug)]
pub(crate) struct RawGlobs(pub(crate) Texts);

impl Readable for RawGlobs {
    const TAKES_NOTHING: bool = true;

    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        if node.is_null() {
            return Some(Self(Texts::default()));
        }
        Texts::read(node, reading).map(Self)
    }

    fn words() -> String {
        Texts::words()
    }

    fn schema() -> Value {
        json!({ "anyOf": [Texts::schema(), { "type": "null" }] })
    }
}
