//! Parameters of the server's requests.

use super::{
    Kind, Record,
    Revision::{V2024_11_05, V2025_03_26, V2025_11_25},
    Shape,
    content::{AUDIO, BLOCK, IMAGE, ROLE, TEXT},
    lists::TOOL,
    optional, required,
};

pub(super) static CREATE_MESSAGE: Record = Record {
    name: "CreateMessageRequest",
    members: &[
        optional("_meta", Shape::Record(&REQUEST_META)).since(V2025_11_25),
        optional(
            "includeContext",
            Shape::Words(&["allServers", "none", "thisServer"]),
        ),
        required("maxTokens", Shape::Integer),
        required("messages", Shape::List(&Shape::Record(&SAMPLING_MESSAGE))),
        optional("metadata", Shape::Object),
        optional("modelPreferences", Shape::Record(&MODEL_PREFERENCES)),
        optional("stopSequences", Shape::List(&Shape::Text)),
        optional("systemPrompt", Shape::Text),
        optional("task", Shape::Record(&TASK_METADATA)).since(V2025_11_25),
        optional("temperature", Shape::Number),
        optional("toolChoice", Shape::Record(&TOOL_CHOICE)).since(V2025_11_25),
        optional("tools", Shape::List(&Shape::Record(&TOOL))).since(V2025_11_25),
    ],
};

static REQUEST_META: Record = Record {
    name: "",
    members: &[optional("progressToken", Shape::Token)],
};

static SAMPLING_MESSAGE: Record = Record {
    name: "SamplingMessage",
    members: &[
        optional("_meta", Shape::Object).since(V2025_11_25),
        required("content", Shape::OneOrMany(&SAMPLED, V2025_11_25)),
        required("role", ROLE),
    ],
};

static SAMPLED: Shape = Shape::Kinds(&[
    Kind {
        tag: "text",
        record: &TEXT,
        since: V2024_11_05,
    },
    Kind {
        tag: "image",
        record: &IMAGE,
        since: V2024_11_05,
    },
    Kind {
        tag: "audio",
        record: &AUDIO,
        since: V2025_03_26,
    },
    Kind {
        tag: "tool_use",
        record: &TOOL_USE,
        since: V2025_11_25,
    },
    Kind {
        tag: "tool_result",
        record: &TOOL_RESULT,
        since: V2025_11_25,
    },
]);

static TOOL_USE: Record = Record {
    name: "ToolUseContent",
    members: &[
        optional("_meta", Shape::Object),
        required("id", Shape::Text),
        required("input", Shape::Object),
        required("name", Shape::Text),
        required("type", Shape::Const("tool_use")),
    ],
};

static TOOL_RESULT: Record = Record {
    name: "ToolResultContent",
    members: &[
        optional("_meta", Shape::Object),
        required("content", Shape::List(&BLOCK)),
        optional("isError", Shape::Flag),
        optional("structuredContent", Shape::Object),
        required("toolUseId", Shape::Text),
        required("type", Shape::Const("tool_result")),
    ],
};

static TOOL_CHOICE: Record = Record {
    name: "ToolChoice",
    members: &[optional(
        "mode",
        Shape::Words(&["auto", "none", "required"]),
    )],
};

static MODEL_PREFERENCES: Record = Record {
    name: "ModelPreferences",
    members: &[
        optional("costPriority", Shape::Ratio),
        optional("hints", Shape::List(&Shape::Record(&MODEL_HINT))),
        optional("intelligencePriority", Shape::Ratio),
        optional("speedPriority", Shape::Ratio),
    ],
};

static MODEL_HINT: Record = Record {
    name: "ModelHint",
    members: &[optional("name", Shape::Text)],
};

static TASK_METADATA: Record = Record {
    name: "TaskMetadata",
    members: &[optional("ttl", Shape::Integer)],
};

pub(super) static ELICIT_FORM: Record = Record {
    name: "ElicitRequestFormParams",
    members: &[
        optional("_meta", Shape::Record(&REQUEST_META)).since(V2025_11_25),
        required("message", Shape::Text),
        optional("mode", Shape::Const("form")).since(V2025_11_25),
        required("requestedSchema", Shape::Record(&REQUESTED_SCHEMA)),
        optional("task", Shape::Record(&TASK_METADATA)).since(V2025_11_25),
    ],
};

static REQUESTED_SCHEMA: Record = Record {
    name: "",
    members: &[
        optional("$schema", Shape::Text).since(V2025_11_25),
        required("properties", Shape::Map(&Shape::Field)),
        optional("required", Shape::List(&Shape::Text)),
        required("type", Shape::Const("object")),
    ],
};

pub(super) static ELICIT_URL: Record = Record {
    name: "ElicitRequestURLParams",
    members: &[
        optional("_meta", Shape::Record(&REQUEST_META)),
        required("elicitationId", Shape::Text),
        required("message", Shape::Text),
        required("mode", Shape::Const("url")),
        optional("task", Shape::Record(&TASK_METADATA)),
        required("url", Shape::Text),
    ],
};
