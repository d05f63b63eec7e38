//! Errors of GitHub requests, distinguished as far as callers need.

/// GitHub's messages if another writer changed or created the branch.
const OVERTAKEN: [&str; 3] = ["fast forward", "fast-forward", "already exists"];

/// The error of a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// There is no token.
    #[error("no token; set the input `token` or GITHUB_TOKEN")]
    NoToken,
    /// The process was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// GitHub refused the request.
    #[error("GitHub answered with {status}{}", after(message))]
    Refused {
        /// The status.
        status: u16,
        /// GitHub's message.
        message: String,
    },
    /// The token may not make this query.
    #[error("GitHub did not answer a query{}", after(.0))]
    Forbidden(String),
    /// A rate limit, and waiting would take too long.
    #[error("GitHub's rate limit is reached")]
    Limited,
    /// The request may have taken effect.
    #[error("{0}; it may have taken effect")]
    Unclear(String),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// An undocumented answer.
    pub(super) fn odd(what: &str) -> Self {
        Self::Other(format!("invalid answer: {what}"))
    }

    /// Missing data in the event's payload.
    pub(super) fn untold(what: &str) -> Self {
        Self::Other(format!("the event's payload lacks `{what}`"))
    }

    /// Whether the resource does not exist or is hidden from the token.
    pub(super) fn is_missing(&self) -> bool {
        self.is_status(404)
    }

    /// Whether another writer was faster, according to GitHub's message.
    pub(super) fn is_conflict(&self) -> bool {
        let Self::Refused { status, message } = self else {
            return false;
        };
        *status == 422 && OVERTAKEN.iter().any(|words| message.contains(words))
    }

    /// Whether GitHub refused with this status.
    pub(super) fn is_status(&self, wanted: u16) -> bool {
        matches!(self, Self::Refused { status, .. } if *status == wanted)
    }

    /// Whether it may have taken effect.
    pub(super) fn is_unclear(&self) -> bool {
        matches!(self, Self::Unclear(_))
    }

    /// Whether the token lacks a permission.
    pub(crate) fn is_forbidden(&self) -> bool {
        let statuses = [401, 403, 404];
        matches!(self, Self::Forbidden(_)) || statuses.iter().any(|it| self.is_status(*it))
    }

    /// Whether GitHub denied a write: no permission, or a rate limit.
    pub(crate) fn is_denial(&self) -> bool {
        self.is_forbidden() || matches!(self, Self::Limited)
    }
}

/// The message with a colon, if there is one.
fn after(message: &str) -> String {
    match message {
        "" => String::new(),
        said => format!(": {said}"),
    }
}
