//! What servers list: tools, resources, templates, prompts, and proposals of a completion.

use super::{
    Record,
    Revision::{V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28},
    Shape,
    content::ANNOTATIONS,
    lifecycle::{CACHE_SCOPE, META, RESULT_META, RESULT_TYPE, TTL},
    named, optional, required, unnamed,
};

pub(super) const ICONS: Shape = Shape::List(&Shape::Record(&ICON));

static ICON: Record = named("Icon").of(&[
    optional("mimeType", Shape::Text),
    optional("sizes", Shape::List(&Shape::Text)),
    required("src", Shape::Text),
    optional("theme", Shape::Words(&["dark", "light"])),
]);

pub(super) static LIST_TOOLS_RESULT: Record = named("ListToolsResult").of(&[
    META,
    RESULT_META,
    RESULT_TYPE,
    CACHE_SCOPE,
    TTL,
    optional("nextCursor", Shape::Text),
    required("tools", Shape::List(&Shape::Record(&TOOL))),
]);

pub(super) static TOOL: Record = named("Tool").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    optional("annotations", Shape::Record(&TOOL_ANNOTATIONS)).since(V2025_03_26),
    optional("description", Shape::Text),
    optional("execution", Shape::Record(&TOOL_EXECUTION))
        .since(V2025_11_25)
        .until(V2026_07_28),
    optional("icons", ICONS).since(V2025_11_25),
    required("inputSchema", Shape::Record(&TOOL_SCHEMA)),
    required("name", Shape::Text),
    optional("outputSchema", Shape::Record(&TOOL_SCHEMA))
        .since(V2025_06_18)
        .until(V2026_07_28),
    optional("outputSchema", Shape::Record(&OUTPUT_SCHEMA)).since(V2026_07_28),
    optional("title", Shape::Text).since(V2025_06_18),
]);

static TOOL_SCHEMA: Record = unnamed(&[
    optional("$schema", Shape::Text).since(V2025_11_25),
    optional("properties", Shape::Map(&Shape::Object)).until(V2026_07_28),
    optional("required", Shape::List(&Shape::Text)).until(V2026_07_28),
    required("type", Shape::Const("object")),
]);

/// Since 2026-07-28 a tool's structured content is any JSON value.
static OUTPUT_SCHEMA: Record = unnamed(&[optional("$schema", Shape::Text)]);

static TOOL_ANNOTATIONS: Record = named("ToolAnnotations").of(&[
    optional("destructiveHint", Shape::Flag),
    optional("idempotentHint", Shape::Flag),
    optional("openWorldHint", Shape::Flag),
    optional("readOnlyHint", Shape::Flag),
    optional("title", Shape::Text),
]);

static TOOL_EXECUTION: Record = named("ToolExecution").of(&[optional(
    "taskSupport",
    Shape::Words(&["forbidden", "optional", "required"]),
)]);

pub(super) static LIST_RESOURCES_RESULT: Record = named("ListResourcesResult").of(&[
    META,
    RESULT_META,
    RESULT_TYPE,
    CACHE_SCOPE,
    TTL,
    optional("nextCursor", Shape::Text),
    required("resources", Shape::List(&Shape::Record(&RESOURCE))),
]);

static RESOURCE: Record = named("Resource").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    optional("annotations", Shape::Record(&ANNOTATIONS)),
    optional("description", Shape::Text),
    optional("icons", ICONS).since(V2025_11_25),
    optional("mimeType", Shape::Text),
    required("name", Shape::Text),
    optional("size", Shape::Integer),
    optional("title", Shape::Text).since(V2025_06_18),
    required("uri", Shape::Text),
]);

pub(super) static LIST_RESOURCE_TEMPLATES_RESULT: Record =
    named("ListResourceTemplatesResult").of(&[
        META,
        RESULT_META,
        RESULT_TYPE,
        CACHE_SCOPE,
        TTL,
        optional("nextCursor", Shape::Text),
        required(
            "resourceTemplates",
            Shape::List(&Shape::Record(&RESOURCE_TEMPLATE)),
        ),
    ]);

static RESOURCE_TEMPLATE: Record = named("ResourceTemplate").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    optional("annotations", Shape::Record(&ANNOTATIONS)),
    optional("description", Shape::Text),
    optional("icons", ICONS).since(V2025_11_25),
    optional("mimeType", Shape::Text),
    required("name", Shape::Text),
    optional("title", Shape::Text).since(V2025_06_18),
    required("uriTemplate", Shape::Text),
]);

pub(super) static LIST_PROMPTS_RESULT: Record = named("ListPromptsResult").of(&[
    META,
    RESULT_META,
    RESULT_TYPE,
    CACHE_SCOPE,
    TTL,
    optional("nextCursor", Shape::Text),
    required("prompts", Shape::List(&Shape::Record(&PROMPT))),
]);

static PROMPT: Record = named("Prompt").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    optional("arguments", Shape::List(&Shape::Record(&PROMPT_ARGUMENT))),
    optional("description", Shape::Text),
    optional("icons", ICONS).since(V2025_11_25),
    required("name", Shape::Text),
    optional("title", Shape::Text).since(V2025_06_18),
]);

static PROMPT_ARGUMENT: Record = named("PromptArgument").of(&[
    optional("description", Shape::Text),
    required("name", Shape::Text),
    optional("required", Shape::Flag),
    optional("title", Shape::Text).since(V2025_06_18),
]);

pub(super) static COMPLETE_RESULT: Record = named("CompleteResult").of(&[
    META,
    RESULT_META,
    RESULT_TYPE,
    required("completion", Shape::Record(&COMPLETION)),
]);

/// As many values as a completion proposes at a time: what the schema says in words alone.
const MOST_VALUES: usize = 100;

static COMPLETION: Record = unnamed(&[
    optional("hasMore", Shape::Flag),
    optional("total", Shape::Integer),
    required("values", Shape::AtMost(MOST_VALUES, &Shape::Text)),
]);
