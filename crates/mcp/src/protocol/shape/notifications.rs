//! Parameters of the server's notifications.

use super::{
    Member, Need, Record,
    Revision::{V2024_11_05, V2025_03_26, V2025_11_25},
    Shape, named, optional, required,
};

/// By method.
pub(super) static ALL: &[(&str, &Record)] = &[
    ("notifications/progress", &PROGRESS),
    ("notifications/message", &LOGGING_MESSAGE),
    ("notifications/cancelled", &CANCELLED),
    ("notifications/resources/updated", &RESOURCE_UPDATED),
    ("notifications/elicitation/complete", &ELICITATION_COMPLETE),
    ("notifications/tasks/status", &TASK_STATUS),
];

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
    optional("_meta", Shape::Object).since(V2025_11_25),
    optional("message", Shape::Text).since(V2025_03_26),
    required("progress", Shape::Number),
    required("progressToken", Shape::Token),
    optional("total", Shape::Number),
]);

static LOGGING_MESSAGE: Record = named("LoggingMessageNotification").of(&[
    optional("_meta", Shape::Object).since(V2025_11_25),
    required("data", Shape::Any),
    required("level", LEVELS),
    optional("logger", Shape::Text),
]);

static CANCELLED: Record = named("CancelledNotification").of(&[
    optional("_meta", Shape::Object).since(V2025_11_25),
    optional("reason", Shape::Text),
    Member {
        name: "requestId",
        shape: Shape::Token,
        need: Need::RequiredBefore(V2025_11_25),
        since: V2024_11_05,
    },
]);

static RESOURCE_UPDATED: Record = named("ResourceUpdatedNotification").of(&[
    optional("_meta", Shape::Object).since(V2025_11_25),
    required("uri", Shape::Text),
]);

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
