//! Parameters of the server's notifications.

use super::{
    Member, Need, Record,
    Revision::{V2025_03_26, V2025_11_25, V2026_07_28},
    Shape, named, optional, required, unnamed,
};
use crate::protocol::meta;

/// By method.
pub(super) static ALL: &[(&str, &Record)] = &[
    ("notifications/progress", &PROGRESS),
    ("notifications/message", &LOGGING_MESSAGE),
    ("notifications/cancelled", &CANCELLED),
    ("notifications/resources/updated", &RESOURCE_UPDATED),
    ("notifications/elicitation/complete", &ELICITATION_COMPLETE),
    ("notifications/tasks/status", &TASK_STATUS),
    (
        "notifications/subscriptions/acknowledged",
        &SUBSCRIPTIONS_ACKNOWLEDGED,
    ),
];

const OBJECT_META: Member = optional("_meta", Shape::Object)
    .since(V2025_11_25)
    .until(V2026_07_28);

const META: Member = optional("_meta", Shape::Record(&NOTIFICATION_META)).since(V2026_07_28);

static NOTIFICATION_META: Record = unnamed(&[optional(meta::SUBSCRIPTION_ID, Shape::Token)]);

const LEVELS: Shape = Shape::Words(&[
    "alert",
    "critical",
    "debug",
    "emergency",
    "error",
    "info",
    "notice",
    "warning",
]);

static PROGRESS: Record = named("ProgressNotification").of(&[
    OBJECT_META,
    META,
    optional("message", Shape::Text).since(V2025_03_26),
    required("progress", Shape::Number),
    required("progressToken", Shape::Token),
    optional("total", Shape::Number),
]);

static LOGGING_MESSAGE: Record = named("LoggingMessageNotification").of(&[
    OBJECT_META,
    META,
    required("data", Shape::Any),
    required("level", LEVELS),
    optional("logger", Shape::Text),
]);

static CANCELLED: Record = named("CancelledNotification").of(&[
    OBJECT_META,
    META,
    optional("reason", Shape::Text),
    Member {
        need: Need::RequiredBut(V2025_11_25),
        ..required("requestId", Shape::Token)
    },
]);

static RESOURCE_UPDATED: Record =
    named("ResourceUpdatedNotification").of(&[OBJECT_META, META, required("uri", Shape::Text)]);

static ELICITATION_COMPLETE: Record =
    named("ElicitationCompleteNotification").of(&[required("elicitationId", Shape::Text)]);

static TASK_STATUS: Record = named("TaskStatusNotification").of(&[
    optional("_meta", Shape::Object),
    required("createdAt", Shape::Text),
    required("lastUpdatedAt", Shape::Text),
    optional("pollInterval", Shape::Integer),
    required(
        "status",
        Shape::Words(&[
            "cancelled",
            "completed",
            "failed",
            "input_required",
            "working",
        ]),
    ),
    optional("statusMessage", Shape::Text),
    required("taskId", Shape::Text),
    required("ttl", Shape::IntegerOrNull),
]);

static SUBSCRIPTIONS_ACKNOWLEDGED: Record = named("SubscriptionsAcknowledgedNotification").of(&[
    META,
    required("notifications", Shape::Record(&SUBSCRIPTION_FILTER)),
]);

static SUBSCRIPTION_FILTER: Record = unnamed(&[
    optional("promptsListChanged", Shape::Flag),
    optional("resourceSubscriptions", Shape::List(&Shape::Text)),
    optional("resourcesListChanged", Shape::Flag),
    optional("toolsListChanged", Shape::Flag),
]);
