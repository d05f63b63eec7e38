//! What can become of a request to GitHub, told apart as far as somebody acts on it.

/// What GitHub says of a branch that somebody else changed, or made, in between.
const OVERTAKEN: [&str; 3] = ["fast forward", "fast-forward", "already exists"];

/// Pull requests that are named.
const MOST_NAMED: usize = 10;

/// Pull requests by their numbers.
fn listed(numbers: &[u64]) -> String {
    let named = numbers.iter().take(MOST_NAMED);
    let named: Vec<String> = named.map(|number| format!("#{number}")).collect();
    let more = if numbers.len() > MOST_NAMED {
        ", …"
    } else {
        ""
    };
    named.join(", ") + more
}

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// There is no token to ask with.
    #[error("there is no token; give the step `token`, or the variable GITHUB_TOKEN")]
    NoToken,
    /// There is no repository to ask about.
    #[error("there is no repository; GITHUB_REPOSITORY names it")]
    NoRepository,
    /// The repository cannot be one.
    #[error("GITHUB_REPOSITORY is `{0}`, and not `owner/name`")]
    BadRepository(String),
    /// The event does not say what is to be asked about.
    #[error("the event's payload does not tell `{0}`")]
    Untold(&'static str),
    /// Several pull requests fit, and nothing tells which of them is meant.
    #[error(
        "the open pull requests {} propose the same revision, and the event does not tell which of them was tested",
        listed(.0)
    )]
    Ambiguous(Vec<u64>),
    /// The client could not be made.
    #[error("no connection can be made: {0}")]
    Setup(String),
    /// The process was told to end.
    #[error("interrupted")]
    Interrupted,
    /// GitHub said no.
    #[error("GitHub answered with {status}{}", after(message))]
    Refused {
        /// The status.
        status: u16,
        /// Its words.
        message: String,
    },
    /// GitHub has no answer to a query.
    #[error("GitHub did not answer a query{}", after(.0))]
    Unanswered(String),
    /// We have no right to the answer of a query.
    #[error("GitHub did not answer a query{}", after(.0))]
    Forbidden(String),
    /// It is at another place, where the token does not go.
    #[error("GitHub points to {0}, and the token goes nowhere but to the place that was asked")]
    Elsewhere(String),
    /// Each place it is at points to another one.
    #[error("GitHub pointed elsewhere more than {0} times in a row")]
    Moving(u32),
    /// Too much was asked, and waiting would take too long.
    #[error("GitHub's rate limit is reached")]
    Limited,
    /// Whether it took effect is open.
    #[error("{0}, and whether it took effect is open")]
    Unclear(String),
    /// There was no answer to go by.
    #[error("{0}")]
    Unreachable(String),
    /// The answer is none that GitHub describes.
    #[error("an answer that cannot be read: {0}")]
    Odd(String),
    /// There is more than is looked through.
    #[error("there are 1,000 comments or more, too many to find ours among")]
    TooMany,
    /// Somebody else was faster each time.
    #[error("others changed it at the same time, {0} times in a row")]
    Contended(u32),
    /// It is in the way of others each time, or GitHub of its own; nobody but GitHub can say which.
    #[error("it could not be changed, {tries} times in a row: {said}")]
    InConflict {
        /// How often it was tried.
        tries: u32,
        /// What GitHub said last.
        said: Box<Self>,
    },
}

impl Failure {
    /// Whether what was asked for is not there, or not for us to see.
    pub(super) fn is_missing(&self) -> bool {
        self.is_status(404)
    }

    /// Whether the state it was asked in has changed, by GitHub's own words where the status may mean a rule as well.
    pub(super) fn is_conflict(&self) -> bool {
        let Self::Refused { status, message } = self else {
            return false;
        };
        *status == 422 && OVERTAKEN.iter().any(|words| message.contains(words))
    }

    /// Whether GitHub refused it with this status.
    pub(super) fn is_status(&self, wanted: u16) -> bool {
        matches!(self, Self::Refused { status, .. } if *status == wanted)
    }

    /// Whether it may have taken effect.
    pub(super) fn is_unclear(&self) -> bool {
        matches!(self, Self::Unclear(_))
    }

    /// Whether we have no right to it.
    pub(crate) fn is_forbidden(&self) -> bool {
        let statuses = [401, 403, 404];
        matches!(self, Self::Forbidden(_)) || statuses.iter().any(|it| self.is_status(*it))
    }

    /// Whether GitHub would not have a write of ours: no right to it, or too much was asked.
    pub(crate) fn is_denial(&self) -> bool {
        self.is_forbidden() || matches!(self, Self::Limited)
    }
}

/// What was said, behind what became of it.
fn after(message: &str) -> String {
    match message {
        "" => String::new(),
        said => format!(": {said}"),
    }
}
