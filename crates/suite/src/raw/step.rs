//! A call before the subject, or one of `steps`.

use super::{
    expect::RawExpect,
    shape::shape,
    value::{Deferred, Members, Text, TextTable},
};

shape! {
    /// One call. Exactly one of `tool`, `read`, `prompt`, `ping`, `set_level`, `subscribe` and `wait` says
    /// which.
    RawStep, "a step" {
        /// Calls this tool.
        tool = "tool": Text;
        /// The tool's arguments.
        args = "args": Members;
        /// Reads this resource.
        read = "read": Text;
        /// Gets this prompt.
        prompt = "prompt": RawPromptCall;
        /// `true`: sends a `ping`.
        ping = "ping": bool;
        /// Sets the log level.
        set_level = "set_level": Text;
        /// Subscribes to this resource.
        subscribe = "subscribe": Text;
        /// Waits, such as `200ms`.
        wait = "wait": Text;
        /// Names for values of the answer, each with its path: a JSONPath into the text read as JSON, else
        /// into the structured content; `structured:` and `text:` before the path choose; `$` is the whole
        /// text. Of a text that is not JSON as a whole, the first JSON value that begins and ends with a line is taken,
        /// over one line or several. `{{name}}` then stands for the value; `{{…}}` in a path, of `{{fixture}}` and
        /// what was captured before, is filled in: as a key, an index (`$.items[{{i}}]`), a part of a text in quotes.
        capture = "capture": TextTable;
        /// Expectations about the step's answer.
        expect = "expect": Deferred<RawExpect>;
        /// `true`: an error is an answer like any other.
        allow_error = "allow_error": bool;
        /// `true` on all of `steps`: they are sent before any answer is awaited. Those of `setup` go one after another.
        parallel = "parallel": bool;
    }
}

shape! {
    /// A prompt and its arguments.
    RawPromptCall, "a prompt" {
        /// The prompt.
        name = "name": Text;
        /// Its arguments.
        arguments = "arguments": Members;
    }
}
