//! What a session cannot see by itself: what a step left behind, and what is wanted of what the server may still say
//! after an answer. `run` looks, and knows.

use std::{pin::Pin, time::Duration};

use crate::{
    observation::{Observation, StepPart, disruption::Disruption, files::FilesSeen},
    script::template::Bindings,
};

/// Who looks, and knows, for a session.
pub(crate) trait Lookout: Sync {
    /// The files after this step of its part, before anything else is done; `None` when nobody asked.
    fn after_step<'a>(
        &'a self,
        part: StepPart,
        index: usize,
        bindings: &'a Bindings,
    ) -> Looking<'a>;

    /// What is waited for after an answer; `None` where nothing that comes later is looked at.
    fn awaited(&self, whose: Whose, bindings: &Bindings) -> Option<Awaited>;

    /// What it means that the server ends while it is listened to and owes nothing.
    fn on_end(&self) -> OnEnd;
}

/// A look that is being taken.
pub(crate) type Looking<'a> =
    Pin<Box<dyn Future<Output = Result<Option<FilesSeen>, Disruption>> + Send + 'a>>;

/// Whose answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// That of a step.
    Step(StepPart, usize),
    /// That of the subject.
    Subject,
}

/// What is waited for after an answer, and how long.
pub(crate) struct Awaited {
    /// So long whatever comes: what must not come may come until then.
    pub(crate) least: Duration,
    /// So long at most.
    pub(crate) most: Duration,
    /// What may come, for people: `notifications`.
    pub(crate) what: &'static str,
    /// Whether enough has come to end the wait, by what was seen since the answer; asked again when more has come.
    pub(crate) enough: Box<Enough>,
}

/// Whether enough has come.
pub(crate) type Enough = dyn Fn(&Observation) -> bool + Send + Sync;

/// What an end of the server means that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnEnd {
    /// What was to be observed after it is not.
    Disrupts,
    /// It is what is observed: the assertion says how the server ends.
    IsObserved,
}
