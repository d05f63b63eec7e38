//! Content blocks, and the results that hold them.

use super::{
    Record,
    Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28},
    Shape, kind,
    lifecycle::{CACHE_SCOPE, META, RESULT_META, RESULT_TYPE, TTL},
    lists::ICONS,
    named, optional, required,
};

pub(super) const ROLE: Shape = Shape::Words(&["assistant", "user"]);

pub(super) static ANNOTATIONS: Record = named("Annotations").of(&[
    optional("audience", Shape::List(&ROLE)),
    optional("lastModified", Shape::Text).since(V2025_06_18),
    optional("priority", Shape::Ratio),
]);

pub(super) static TEXT: Record = named("TextContent").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    optional("annotations", Shape::Record(&ANNOTATIONS)),
    required("text", Shape::Text),
    required("type", Shape::Const("text")),
]);

pub(super) static IMAGE: Record = named("ImageContent").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    optional("annotations", Shape::Record(&ANNOTATIONS)),
    required("data", Shape::Text),
    required("mimeType", Shape::Text),
    required("type", Shape::Const("image")),
]);

pub(super) static AUDIO: Record = named("AudioContent").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    optional("annotations", Shape::Record(&ANNOTATIONS)),
    required("data", Shape::Text),
    required("mimeType", Shape::Text),
    required("type", Shape::Const("audio")),
]);

static RESOURCE_LINK: Record = named("ResourceLink").of(&[
    optional("_meta", Shape::Object),
    optional("annotations", Shape::Record(&ANNOTATIONS)),
    optional("description", Shape::Text),
    optional("icons", ICONS).since(V2025_11_25),
    optional("mimeType", Shape::Text),
    required("name", Shape::Text),
    optional("size", Shape::Integer),
    optional("title", Shape::Text),
    required("type", Shape::Const("resource_link")),
    required("uri", Shape::Text),
]);

static EMBEDDED: Record = named("EmbeddedResource").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    optional("annotations", Shape::Record(&ANNOTATIONS)),
    required("resource", RESOURCE_CONTENTS),
    required("type", Shape::Const("resource")),
]);

static TEXT_RESOURCE: Record = named("TextResourceContents").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    optional("mimeType", Shape::Text),
    required("text", Shape::Text),
    required("uri", Shape::Text),
]);

static BLOB_RESOURCE: Record = named("BlobResourceContents").of(&[
    optional("_meta", Shape::Object).since(V2025_06_18),
    required("blob", Shape::Text),
    optional("mimeType", Shape::Text),
    required("uri", Shape::Text),
]);

const RESOURCE_CONTENTS: Shape =
    Shape::Either(&[("text", &TEXT_RESOURCE), ("blob", &BLOB_RESOURCE)]);

/// What a tool result and a prompt may hold.
pub(super) const BLOCK: Shape = Shape::Kinds(&[
    kind("text", &TEXT, V2024_11_05),
    kind("image", &IMAGE, V2024_11_05),
    kind("resource", &EMBEDDED, V2024_11_05),
    kind("audio", &AUDIO, V2025_03_26),
    kind("resource_link", &RESOURCE_LINK, V2025_06_18),
]);

pub(super) static CALL_TOOL_RESULT: Record = named("CallToolResult").of(&[
    META,
    RESULT_META,
    RESULT_TYPE,
    required("content", Shape::List(&BLOCK)),
    optional("isError", Shape::Flag),
    optional("structuredContent", Shape::Object)
        .since(V2025_06_18)
        .until(V2026_07_28),
    optional("structuredContent", Shape::Any).since(V2026_07_28),
]);

pub(super) static READ_RESOURCE_RESULT: Record = named("ReadResourceResult").of(&[
    META,
    RESULT_META,
    RESULT_TYPE,
    CACHE_SCOPE,
    TTL,
    required("contents", Shape::List(&RESOURCE_CONTENTS)),
]);

pub(super) static GET_PROMPT_RESULT: Record = named("GetPromptResult").of(&[
    META,
    RESULT_META,
    RESULT_TYPE,
    optional("description", Shape::Text),
    required("messages", Shape::List(&Shape::Record(&PROMPT_MESSAGE))),
]);

static PROMPT_MESSAGE: Record =
    named("PromptMessage").of(&[required("content", BLOCK), required("role", ROLE)]);
