//! Content blocks, and the results that hold them.

use super::{
    Kind, Record,
    Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25},
    Shape,
    lists::ICONS,
    optional, required,
};

pub(super) const ROLE: Shape = Shape::Words(&["assistant", "user"]);

pub(super) static ANNOTATIONS: Record = Record {
    name: "Annotations",
    members: &[
        optional("audience", Shape::List(&ROLE)),
        optional("lastModified", Shape::Text).since(V2025_06_18),
        optional("priority", Shape::Ratio),
    ],
};

pub(super) static TEXT: Record = Record {
    name: "TextContent",
    members: &[
        optional("_meta", Shape::Object).since(V2025_06_18),
        optional("annotations", Shape::Record(&ANNOTATIONS)),
        required("text", Shape::Text),
        required("type", Shape::Const("text")),
    ],
};

pub(super) static IMAGE: Record = Record {
    name: "ImageContent",
    members: &[
        optional("_meta", Shape::Object).since(V2025_06_18),
        optional("annotations", Shape::Record(&ANNOTATIONS)),
        required("data", Shape::Text),
        required("mimeType", Shape::Text),
        required("type", Shape::Const("image")),
    ],
};

pub(super) static AUDIO: Record = Record {
    name: "AudioContent",
    members: &[
        optional("_meta", Shape::Object).since(V2025_06_18),
        optional("annotations", Shape::Record(&ANNOTATIONS)),
        required("data", Shape::Text),
        required("mimeType", Shape::Text),
        required("type", Shape::Const("audio")),
    ],
};

static RESOURCE_LINK: Record = Record {
    name: "ResourceLink",
    members: &[
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
    ],
};

static EMBEDDED: Record = Record {
    name: "EmbeddedResource",
    members: &[
        optional("_meta", Shape::Object).since(V2025_06_18),
        optional("annotations", Shape::Record(&ANNOTATIONS)),
        required("resource", RESOURCE_CONTENTS),
        required("type", Shape::Const("resource")),
    ],
};

static TEXT_RESOURCE: Record = Record {
    name: "TextResourceContents",
    members: &[
        optional("_meta", Shape::Object).since(V2025_06_18),
        optional("mimeType", Shape::Text),
        required("text", Shape::Text),
        required("uri", Shape::Text),
    ],
};

static BLOB_RESOURCE: Record = Record {
    name: "BlobResourceContents",
    members: &[
        optional("_meta", Shape::Object).since(V2025_06_18),
        required("blob", Shape::Text),
        optional("mimeType", Shape::Text),
        required("uri", Shape::Text),
    ],
};

const RESOURCE_CONTENTS: Shape =
    Shape::Either(&[("text", &TEXT_RESOURCE), ("blob", &BLOB_RESOURCE)]);

/// What a tool result and a prompt may hold.
pub(super) const BLOCK: Shape = Shape::Kinds(&[
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
        tag: "resource",
        record: &EMBEDDED,
        since: V2024_11_05,
    },
    Kind {
        tag: "audio",
        record: &AUDIO,
        since: V2025_03_26,
    },
    Kind {
        tag: "resource_link",
        record: &RESOURCE_LINK,
        since: V2025_06_18,
    },
]);

pub(super) static CALL_TOOL_RESULT: Record = Record {
    name: "CallToolResult",
    members: &[
        optional("_meta", Shape::Object),
        required("content", Shape::List(&BLOCK)),
        optional("isError", Shape::Flag),
        optional("structuredContent", Shape::Object).since(V2025_06_18),
    ],
};

pub(super) static READ_RESOURCE_RESULT: Record = Record {
    name: "ReadResourceResult",
    members: &[
        optional("_meta", Shape::Object),
        required("contents", Shape::List(&RESOURCE_CONTENTS)),
    ],
};

pub(super) static GET_PROMPT_RESULT: Record = Record {
    name: "GetPromptResult",
    members: &[
        optional("_meta", Shape::Object),
        optional("description", Shape::Text),
        required("messages", Shape::List(&Shape::Record(&PROMPT_MESSAGE))),
    ],
};

static PROMPT_MESSAGE: Record = Record {
    name: "PromptMessage",
    members: &[required("content", BLOCK), required("role", ROLE)],
};
