//! The beginning of a session, with a handshake or without one, and what all results have.

use super::{
    Member, Record,
    Revision::{V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28},
    Shape,
    lists::ICONS,
    named, optional, required, unnamed,
};
use crate::protocol::meta;

/// `_meta` of a result, free before 2026-07-28.
pub(super) const META: Member = optional("_meta", Shape::Object).until(V2026_07_28);

/// The same since then: the server may say in each result who it is.
pub(super) const RESULT_META: Member =
    optional("_meta", Shape::Record(&SERVER_META)).since(V2026_07_28);

static SERVER_META: Record =
    unnamed(&[optional(meta::SERVER_INFO, Shape::Record(&IMPLEMENTATION))]);

/// What a result is: complete, or a request for input. Which words there are, `protocol::result` says.
pub(super) const RESULT_TYPE: Member = required("resultType", Shape::Text).since(V2026_07_28);

/// Who else may be given a result that is kept.
pub(super) const CACHE_SCOPE: Member =
    required("cacheScope", Shape::Words(&["private", "public"])).since(V2026_07_28);

/// How long a result may be kept, in milliseconds.
pub(super) const TTL: Member = required("ttlMs", Shape::Natural).since(V2026_07_28);

pub(super) static RESULT: Record = named("Result").of(&[META, RESULT_META, RESULT_TYPE]);

pub(super) static DISCOVER_RESULT: Record = named("DiscoverResult").of(&[
    RESULT_META,
    CACHE_SCOPE,
    required("capabilities", Shape::Record(&SERVER_CAPABILITIES)),
    optional("instructions", Shape::Text),
    RESULT_TYPE,
    required("supportedVersions", Shape::List(&Shape::Text)),
    TTL,
]);

pub(super) static INPUT_REQUIRED_RESULT: Record = named("InputRequiredResult").of(&[
    RESULT_META,
    optional("inputRequests", Shape::Map(&Shape::Object)),
    optional("requestState", Shape::Text),
    RESULT_TYPE,
]);

pub(super) static LISTEN_RESULT: Record = named("SubscriptionsListenResult")
    .of(&[required("_meta", Shape::Record(&LISTEN_META)), RESULT_TYPE]);

static LISTEN_META: Record = unnamed(&[
    optional(meta::SERVER_INFO, Shape::Record(&IMPLEMENTATION)),
    required(meta::SUBSCRIPTION_ID, Shape::Token),
]);

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
    optional("extensions", Shape::Map(&Shape::Object)).since(V2026_07_28),
    optional("logging", Shape::Object),
    optional("prompts", Shape::Record(&LISTED)),
    optional("resources", Shape::Record(&SUBSCRIBED)),
    optional("tasks", Shape::Record(&TASKS))
        .since(V2025_11_25)
        .until(V2026_07_28),
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
