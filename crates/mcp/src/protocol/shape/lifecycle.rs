//! The handshake, and the empty result.

use super::{
    Record,
    Revision::{V2025_03_26, V2025_06_18, V2025_11_25},
    Shape,
    lists::ICONS,
    optional, required,
};

pub(super) static RESULT: Record = Record {
    name: "Result",
    members: &[optional("_meta", Shape::Object)],
};

pub(super) static INITIALIZE_RESULT: Record = Record {
    name: "InitializeResult",
    members: &[
        optional("_meta", Shape::Object),
        required("capabilities", Shape::Record(&SERVER_CAPABILITIES)),
        optional("instructions", Shape::Text),
        required("protocolVersion", Shape::Text),
        required("serverInfo", Shape::Record(&IMPLEMENTATION)),
    ],
};

static IMPLEMENTATION: Record = Record {
    name: "Implementation",
    members: &[
        optional("description", Shape::Text).since(V2025_11_25),
        optional("icons", ICONS).since(V2025_11_25),
        required("name", Shape::Text),
        optional("title", Shape::Text).since(V2025_06_18),
        required("version", Shape::Text),
        optional("websiteUrl", Shape::Text).since(V2025_11_25),
    ],
};

static SERVER_CAPABILITIES: Record = Record {
    name: "ServerCapabilities",
    members: &[
        optional("completions", Shape::Object).since(V2025_03_26),
        optional("experimental", Shape::Map(&Shape::Object)),
        optional("logging", Shape::Object),
        optional("prompts", Shape::Record(&LISTED)),
        optional("resources", Shape::Record(&SUBSCRIBED)),
        optional("tasks", Shape::Record(&TASKS)).since(V2025_11_25),
        optional("tools", Shape::Record(&LISTED)),
    ],
};

static LISTED: Record = Record {
    name: "",
    members: &[optional("listChanged", Shape::Flag)],
};

static SUBSCRIBED: Record = Record {
    name: "",
    members: &[
        optional("listChanged", Shape::Flag),
        optional("subscribe", Shape::Flag),
    ],
};

static TASKS: Record = Record {
    name: "",
    members: &[
        optional("cancel", Shape::Object),
        optional("list", Shape::Object),
        optional("requests", Shape::Record(&TASK_REQUESTS)),
    ],
};

static TASK_REQUESTS: Record = Record {
    name: "",
    members: &[optional("tools", Shape::Record(&TASK_TOOLS))],
};

static TASK_TOOLS: Record = Record {
    name: "",
    members: &[optional("call", Shape::Object)],
};
