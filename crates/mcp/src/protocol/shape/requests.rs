//! Parameters of the server's requests.

use super::{
    Record,
    Revision::{V2024_11_05, V2025_03_26, V2025_11_25, V2026_07_28},
    Shape,
    content::{AUDIO, BLOCK, IMAGE, ROLE, TEXT},
    kind,
    lists::TOOL,
    named, optional, required, unnamed,
};

pub(super) static CREATE_MESSAGE: Record = named("CreateMessageRequest").of(&[
    optional("_meta", Shape::Record(&REQUEST_META))
        .since(V2025_11_25)
        .until(V2026_07_28),
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
    optional("task", Shape::Record(&TASK_METADATA))
        .since(V2025_11_25)
        .until(V2026_07_28),
    optional("temperature", Shape::Number),
    optional("toolChoice", Shape::Record(&TOOL_CHOICE)).since(V2025_11_25),
    optional("tools", Shape::List(&Shape::Record(&TOOL))).since(V2025_11_25),
]);

static REQUEST_META: Record = unnamed(&[optional("progressToken", Shape::Token)]);

static SAMPLING_MESSAGE: Record = named("SamplingMessage").of(&[
    optional("_meta", Shape::Object).since(V2025_11_25),
    required("content", Shape::OneOrMany(&SAMPLED, V2025_11_25)),
    required("role", ROLE),
]);

static SAMPLED: Shape = Shape::Kinds(&[
    kind("text", &TEXT, V2024_11_05),
    kind("image", &IMAGE, V2024_11_05),
    kind("audio", &AUDIO, V2025_03_26),
    kind("tool_use", &TOOL_USE, V2025_11_25),
    kind("tool_result", &TOOL_RESULT, V2025_11_25),
]);

static TOOL_USE: Record = named("ToolUseContent").of(&[
    optional("_meta", Shape::Object),
    required("id", Shape::Text),
    required("input", Shape::Object),
    required("name", Shape::Text),
    required("type", Shape::Const("tool_use")),
]);

static TOOL_RESULT: Record = named("ToolResultContent").of(&[
    optional("_meta", Shape::Object),
    required("content", Shape::List(&BLOCK)),
    optional("isError", Shape::Flag),
    optional("structuredContent", Shape::Object).until(V2026_07_28),
    optional("structuredContent", Shape::Any).since(V2026_07_28),
    required("toolUseId", Shape::Text),
    required("type", Shape::Const("tool_result")),
]);

static TOOL_CHOICE: Record = named("ToolChoice").of(&[optional(
    "mode",
    Shape::Words(&["auto", "none", "required"]),
)]);

static MODEL_PREFERENCES: Record = named("ModelPreferences").of(&[
    optional("costPriority", Shape::Ratio),
    optional("hints", Shape::List(&Shape::Record(&MODEL_HINT))),
    optional("intelligencePriority", Shape::Ratio),
    optional("speedPriority", Shape::Ratio),
]);

static MODEL_HINT: Record = named("ModelHint").of(&[optional("name", Shape::Text)]);

static TASK_METADATA: Record = named("TaskMetadata").of(&[optional("ttl", Shape::Integer)]);

pub(super) static ELICIT_FORM: Record = named("ElicitRequestFormParams").of(&[
    optional("_meta", Shape::Record(&REQUEST_META))
        .since(V2025_11_25)
        .until(V2026_07_28),
    required("message", Shape::Text),
    optional("mode", Shape::Const("form")).since(V2025_11_25),
    required("requestedSchema", Shape::Record(&REQUESTED_SCHEMA)),
    optional("task", Shape::Record(&TASK_METADATA))
        .since(V2025_11_25)
        .until(V2026_07_28),
]);

static REQUESTED_SCHEMA: Record = unnamed(&[
    optional("$schema", Shape::Text).since(V2025_11_25),
    required("properties", Shape::Map(&Shape::Field)),
    optional("required", Shape::List(&Shape::Text)),
    required("type", Shape::Const("object")),
]);

pub(super) static ELICIT_URL: Record = named("ElicitRequestURLParams").of(&[
    optional("_meta", Shape::Record(&REQUEST_META)).until(V2026_07_28),
    required("elicitationId", Shape::Text).until(V2026_07_28),
    required("message", Shape::Text),
    required("mode", Shape::Const("url")),
    optional("task", Shape::Record(&TASK_METADATA)).until(V2026_07_28),
    required("url", Shape::Text),
]);
