//! The handshake, and the empty result.

use super::{
    Record,
    Revision::{V2025_03_26, V2025_06_18, V2025_11_25},
    Shape,
    lists::ICONS,
    named, optional, required, unnamed,
};

pub(super) static RESULT: Record = named("Result").of(&[optional("_meta", Shape::Object)]);

pub(super) static INITIALIZE_RESULT: Record = named("InitializeResult").of(&[
    optional("_meta", Shape::Object),
    required("capabilities", Shape::Record(&SERVER_CAPABILITIES)),
    optional("instructions", Shape::Text),
    required("protocolVersion", Shape::Text),
    required("serverInfo", Shape::Record(&IMPLEMENTATION)),
]);

static IMPLEMENTATION: Record = named("Implementation").of(&[
    optional("description", Shape::Text).since(V2025_11_25),
    optional("icons", ICONS).since(V2025_11_25),
    required("name", Shape::Text),
    optional("title", Shape::Text).since(V2025_06_18),
    required("version", Shape::Text),
    optional("websiteUrl", Shape::Text).since(V2025_11_25),
]);

static SERVER_CAPABILITIES: Record = named("ServerCapabilities").of(&[
    optional("completions", Shape::Object).since(V2025_03_26),
    optional("experimental", Shape::Map(&Shape::Object)),
    optional("logging", Shape::Object),
    optional("prompts", Shape::Record(&LISTED)),
    optional("resources", Shape::Record(&SUBSCRIBED)),
    optional("tasks", Shape::Record(&TASKS)).since(V2025_11_25),
    optional("tools", Shape::Record(&LISTED)),
]);

static LISTED: Record = unnamed(&[optional("listChanged", Shape::Flag)]);

static SUBSCRIBED: Record = unnamed(&[
    optional("listChanged", Shape::Flag),
    optional("subscribe", Shape::Flag),
]);

static TASKS: Record = unnamed(&[
    optional("cancel", Shape::Object),
    optional("list", Shape::Object),
    optional("requests", Shape::Record(&TASK_REQUESTS)),
]);

static TASK_REQUESTS: Record = unnamed(&[optional("tools", Shape::Record(&TASK_TOOLS))]);

static TASK_TOOLS: Record = unnamed(&[optional("call", Shape::Object)]);
