//! What a session is given before it performs a script, because it cannot know it: how to look at what a step left
//! behind, and what to wait for after an answer.

use std::{pin::Pin, time::Duration};

use crate::{
    observation::{Observation, StepPart, disruption::Disruption, files::FilesSeen},
    script::template::Bindings,
};

/// The parts of a script besides its calls.
pub struct Hooks<'a> {
    /// Looks at the files after this step of its part, before anything else is done; `None` when no file is wanted.
    pub after_step: Box<dyn Fn(StepPart, usize) -> Option<Look<'a>> + Send + Sync + 'a>,
    /// What is waited for after an answer; `None` where nothing that comes later is looked at.
    pub awaited: Box<Awaits<'a>>,
    /// What it means that the server ends while it is listened to and owes nothing.
    pub on_end: OnEnd,
}

/// What is waited for after an answer, by the values that are known by then.
pub(super) type Awaits<'a> = dyn Fn(Whose, &Bindings) -> Option<Awaited> + Send + Sync + 'a;

/// A look at the files, with the values that are known by then.
pub type Look<'a> = Box<dyn FnOnce(Bindings) -> Looking<'a> + Send + 'a>;

/// A look that is being taken.
pub(super) type Looking<'a> =
    Pin<Box<dyn Future<Output = Result<Option<FilesSeen>, Disruption>> + Send + 'a>>;

/// Whose answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// That of a step.
    Step(StepPart, usize),
    /// That of the subject.
    Subject,
}

/// The messages to wait for after an answer, and how long.
pub struct Awaited {
    /// So long whatever comes: what must not come may come until then.
    pub least: Duration,
    /// So long at most.
    pub most: Duration,
    /// The kind of messages, for people: `notifications`.
    pub what: &'static str,
    /// Whether enough has come to end the wait, by what was seen since the answer; asked again when more has come.
    pub enough: Box<Enough>,
}

/// Whether enough has come.
pub(super) type Enough = dyn Fn(&Observation) -> bool + Send + Sync;

/// What an end of the server means that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnEnd {
    /// What was to be observed after it is not.
    Disrupts,
    /// It is what is observed: the assertion says how the server ends.
    IsObserved,
}
