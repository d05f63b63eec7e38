//! The subjects of assertions.

use super::{
    asked::RawAsked,
    client::RawElicitations,
    expect::{RawExpect, RawHttpExpect, RawLoggingExpect, RawNotificationsExpect},
    shape::shape,
    step::RawPromptCall,
    union::MapOrNothing,
    value::{Anything, Deferred, Members, OneOrMany, Text, TextTable},
};

shape! {
    /// Calls one tool and looks at the result.
    RawTool, "`assert`" {
        /// The tool.
        tool = "tool": Text;
        /// Its arguments. A whole number is sent as an integer however it is written, `1.0` as `1` and `1e3` as `1000`, up to 21 digits.
        args = "args": Members;
        /// Expectations about the answer. Without any: that it is no error.
        expect = "expect": Deferred<RawExpect>;
        /// Progress is always asked for; the key is accepted for older suites.
        capture_progress = "capture_progress": bool;
    }
}

shape! {
    /// Lists the tools; the text under test is the result as JSON.
    RawTools, "`assert_tools`" {
        /// Fetches the single page at this cursor. An empty one is none.
        cursor = "cursor": Text;
        /// Expectations about the list.
        expect = "expect": Deferred<RawExpect>;
    }
}

shape! {
    /// Makes the handshake; the text under test is its result as JSON. Without a handshake (2026-07-28) it is that of
    /// `server/discover`.
    RawInitialize, "`assert_initialize`" {
        /// Expectations about the result.
        expect = "expect": Deferred<RawExpect>;
    }
}

shape! {
    /// Works with resources. One of `list`, `templates` and `read` makes the answer under test; without one
    /// it is the answer to `subscribe`.
    RawResources, "`assert_resources`" {
        /// Lists the resources.
        list = "list": MapOrNothing<RawList>;
        /// Lists the resource templates.
        templates = "templates": MapOrNothing<RawList>;
        /// Reads the resource of this URI; the text under test is the text of its contents, with a line
        /// `<blob mimeType="…" len=…>` for each that is binary.
        read = "read": Text;
        /// Subscribes to the resource of this URI first.
        subscribe = "subscribe": Text;
        /// Ends the subscription of this URI at the end. Only its refusal is an error: what comes after it is not waited
        /// for.
        unsubscribe = "unsubscribe": Text;
        /// Whether `notifications/resources/updated` must come (`true`) or must not (`false`): of the resource that
        /// `subscribe` names or one below it, from then on; without `subscribe` of whichever resource, those that came
        /// in the setup included.
        expect_notification = "expect_notification": bool;
        /// How long that, and what `notifications` and `server_requests` speak of, is waited for after the answer.
        /// Default: 100 ms where something must not come, else 1 s at most.
        within = "within": Text;
        /// Expectations about the answer.
        expect = "expect": Deferred<RawExpect>;
    }
}

shape! {
    /// A list request; all pages are fetched and joined.
    RawList, "`list`" {
        /// Fetches the single page at this cursor. An empty one is none.
        cursor = "cursor": Text;
    }
}

shape! {
    /// Works with prompts.
    RawPrompts, "`assert_prompts`" {
        /// Lists the prompts.
        list = "list": MapOrNothing<RawList>;
        /// Gets this prompt; the text under test is its description and its messages.
        get = "get": RawPromptCall;
        /// Expectations about the answer.
        expect = "expect": Deferred<RawExpect>;
    }
}

shape! {
    /// Asks for completions; the text under test is the result as JSON.
    RawCompletion, "`assert_completion`" {
        /// What the argument belongs to.
        reference = "ref": RawReference;
        /// The argument and the text typed so far.
        argument = "argument": RawArgument;
        /// What is known of the other arguments.
        context = "context": RawContext;
        /// Expectations about the answer.
        expect = "expect": Deferred<RawExpect>;
    }
}

shape! {
    /// A prompt or a resource template.
    RawReference, "`ref`" {
        /// `ref/prompt` or `ref/resource`.
        kind = "type": Text;
        /// The prompt's name. For a resource it is taken as its URI.
        name = "name": Text;
        /// The resource's URI or template.
        uri = "uri": Text;
    }
}

shape! {
    /// The argument to complete.
    RawArgument, "`argument`" {
        /// Its name.
        name = "name": Text;
        /// The text typed so far.
        value = "value": Text;
    }
}

shape! {
    /// What is known beside the argument.
    RawContext, "`context`" {
        /// The values of other arguments.
        arguments = "arguments": Members;
    }
}

shape! {
    /// Calls a tool that asks the client for a sample, and looks at the tool's result and at the request.
    RawSampling, "`assert_sampling`" {
        /// The tool.
        tool = "tool": Text;
        /// Its arguments.
        args = "args": Members;
        /// The text the client answers with, unless `client_capabilities` has `sampling`.
        mock_text = "mock_text": Text;
        /// The model the client names. Default: `mock`.
        mock_model = "mock_model": Text;
        /// Expectations about the tool's result.
        expect = "expect": Deferred<RawExpect>;
        /// What the server must have asked; `method` may be left out.
        expect_request = "expect_request": Deferred<RawAsked>;
    }
}

shape! {
    /// Calls a tool that asks the user something, and looks at the tool's result and at the request.
    RawElicitation, "`assert_elicitation`" {
        /// The tool.
        tool = "tool": Text;
        /// Its arguments.
        args = "args": Members;
        /// How the user answers, unless `client_capabilities` has `elicitation`.
        answer = "answer": RawElicitations;
        /// Expectations about the tool's result.
        expect = "expect": Deferred<RawExpect>;
        /// What the server must have asked; `method` may be left out.
        expect_request = "expect_request": Deferred<RawAsked>;
    }
}

shape! {
    /// Sets the log level, runs the setup, calls a tool, and looks at the log messages since. Without `set_level` those
    /// that came before count too, but for `not_below`.
    RawLogging, "`assert_logging`" {
        /// The level to set, before the setup; after it where a step captures the level.
        set_level = "set_level": Text;
        /// The tool to call.
        tool = "tool": Text;
        /// Its arguments.
        args = "args": Members;
        /// How long messages are waited for after the answer. Default: 100 ms where something must not
        /// come, else 1 s at most.
        within = "within": Text;
        /// Expectations about the messages.
        expect = "expect": Deferred<RawLoggingExpect>;
    }
}

shape! {
    /// Calls a tool and looks at the notifications, those that came before included.
    RawNotifications, "`assert_notifications`" {
        /// The tool to call.
        tool = "tool": Text;
        /// Its arguments.
        args = "args": Members;
        /// How long notifications are waited for after the answer. Default: 100 ms where something must
        /// not come, else 1 s at most.
        within = "within": Text;
        /// Expectations about the notifications.
        expect = "expect": Deferred<RawNotificationsExpect>;
    }
}

shape! {
    /// Sends frames as they are written; the text under test is what was received, a frame a line. What
    /// `not_error`, `is_error` and `error` want holds for every answer, whatever its id is; one that has neither a
    /// result nor an error, or both, is none of them. A server that ends before it answered is an error; of one that was
    /// sent no request, `exit` may say how it ends.
    RawRaw, "`raw`" {
        /// The frames in order: a map or list is sent as JSON, a text as it is, and numbers as they are written. Each
        /// line of a text is a frame.
        send = "send": OneOrMany<Anything>;
        /// Whether the handshake is made before. Default: `true`.
        handshake = "handshake": bool;
        /// How long frames are waited for. Default: 1 s; ends early when every request is answered.
        within = "within": Text;
        /// Expectations about the frames received. Default: that every request is answered and nothing is an error.
        expect = "expect": Deferred<RawExpect>;
    }
}

shape! {
    /// Sends one HTTP request to the server behind the url, on a connection without a handshake, and looks at the
    /// response: how a server answers without a token, from a foreign origin, or at an unknown path. Steps of `setup`
    /// run in a session beside it.
    RawHttp, "`http`" {
        /// What is sent.
        request = "request": Box<RawHttpRequest>;
        /// Expectations about the response. Without `status`: that it is one of 200 to 299.
        expect = "expect": RawHttpExpect;
    }
}

shape! {
    /// An HTTP request. Only the given headers are sent, and those that every request needs. A redirect is not followed.
    RawHttpRequest, "`request`" {
        /// The method. Default: `GET`, with a body `POST`.
        method = "method": Text;
        /// The target, relative to the server's url like a link: `/other`, `?a=b`. Default: the url.
        path = "path": Text;
        /// Its headers.
        headers = "headers": TextTable;
        /// `true`: the `headers` and the `auth` of `server` are sent too. Default: `false`.
        credentials = "credentials": bool;
        /// Its body: a map or a list is sent as JSON with the type of that, a text as it is.
        body = "body": Anything;
        /// How long a response that is a stream of events is read. Default: 1 s; ends early when it does.
        within = "within": Text;
    }
}
