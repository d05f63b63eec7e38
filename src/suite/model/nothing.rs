//! Expectations that ask for nothing: they say as little of an answer as one that is not there.

use super::expectation::{
    Expectation, LoggingWanted, NotificationsWanted, ProgressWanted, StderrWanted, Wanted,
    WantedState,
};

impl Wanted {
    /// Whether nothing is asked for, as far as it is known.
    pub(crate) fn asks_nothing(&self) -> bool {
        match &self.state {
            WantedState::Ready(expectation) => expectation.asks_nothing(),
            WantedState::Templated(_) => false,
        }
    }
}

impl Expectation {
    /// Whether nothing is asked for, whatever the server does. An empty list of what may come asks for something.
    pub(crate) fn asks_nothing(&self) -> bool {
        match self {
            Self::Contains(texts)
            | Self::ContainsAny(texts)
            | Self::NotContains(texts)
            | Self::InOrder(texts) => texts.is_empty(),
            Self::MatchesRegex(patterns) => patterns.is_empty(),
            Self::OutputSchema(wanted) => !wanted,
            Self::FileContains(files) | Self::FileNotContains(files) | Self::FileEquals(files) => {
                files.is_empty()
            }
            Self::FileExists(paths) | Self::FileNotExists(paths) | Self::FileUnchanged(paths) => {
                paths.is_empty()
            }
            Self::MinProgress(least) => *least == 0,
            Self::Progress(wanted) => of_progress(wanted),
            Self::Notifications(wanted) => wanted.asks_nothing(),
            Self::Logging(wanted) => of_logging(wanted),
            Self::Stderr(wanted) => of_stderr(wanted),
            Self::Not(inner) => inner.is_empty(),
            Self::NotError(_)
            | Self::IsError(_)
            | Self::Error(_)
            | Self::NotEmpty(_)
            | Self::Equals(_)
            | Self::JsonPath(_)
            | Self::Structured(_)
            | Self::JsonSchema(_)
            | Self::Content(_)
            | Self::MinResults(_)
            | Self::MaxResults(_)
            | Self::NetDelta { .. }
            | Self::OnlyChanged(_)
            | Self::MaxDuration(_)
            | Self::MaxBytes(_)
            | Self::ResourceUpdated(_)
            | Self::ServerRequests(_)
            | Self::Exit(_)
            | Self::Findings(_)
            | Self::Snapshot(_)
            | Self::Trajectory(_) => false,
        }
    }
}

fn of_progress(wanted: &ProgressWanted) -> bool {
    let ProgressWanted {
        min,
        monotonic,
        last_equals_total,
    } = wanted;
    min.unwrap_or(0) == 0 && monotonic.is_none() && last_equals_total.is_none()
}

impl NotificationsWanted {
    /// Whether nothing is asked for.
    pub(crate) fn asks_nothing(&self) -> bool {
        self.wants_none()
            && self.max_count.is_none()
            && self.not_methods.is_empty()
            && self.not_contains_data.is_empty()
    }

    /// Whether nothing has to come.
    pub(crate) fn wants_none(&self) -> bool {
        let Self {
            since: _,
            min_count,
            max_count: _,
            methods,
            not_methods: _,
            in_order,
            contains_data,
            not_contains_data: _,
            provoked: _,
        } = self;
        let wanted = [methods, in_order, contains_data];
        min_count.unwrap_or(0) == 0 && wanted.iter().all(|list| list.is_empty())
    }
}

fn of_logging(wanted: &LoggingWanted) -> bool {
    wanted.wants_none() && wanted.max_messages.is_none() && wanted.not_below.is_none()
}

impl LoggingWanted {
    /// Whether nothing has to come.
    pub(crate) fn wants_none(&self) -> bool {
        let Self {
            min_messages,
            max_messages: _,
            contains_level,
            contains_data,
            not_below: _,
        } = self;
        min_messages.unwrap_or(0) == 0 && contains_level.is_empty() && contains_data.is_empty()
    }
}

impl StderrWanted {
    /// Whether nothing has to come.
    pub(crate) fn wants_none(&self) -> bool {
        let Self {
            contains,
            not_contains: _,
            matches,
        } = self;
        contains.is_empty() && matches.is_empty()
    }
}

fn of_stderr(wanted: &StderrWanted) -> bool {
    wanted.wants_none() && wanted.not_contains.is_empty()
}
