//! What a session cannot see by itself and must be seen between two steps: what a step left behind. `run` looks.

use std::pin::Pin;

use crate::{
    observation::{StepPart, disruption::Disruption, files::FilesSeen},
    suite::template::Bindings,
};

/// Looks at what a step left behind, before anything else is done; `None` when nobody asked.
pub(crate) trait Lookout: Sync {
    /// The files after this step of its part.
    fn after_step<'a>(
        &'a self,
        part: StepPart,
        index: usize,
        bindings: &'a Bindings,
    ) -> Looking<'a>;
}

/// A look that is being taken.
pub(crate) type Looking<'a> =
    Pin<Box<dyn Future<Output = Result<Option<FilesSeen>, Disruption>> + Send + 'a>>;
