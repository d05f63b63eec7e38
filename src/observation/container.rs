//! The container a server ran in: which one, of which image, and what the engine took to make, start and remove it.

use std::time::Duration;

/// A container of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContainerSeen {
    /// The engine's id.
    pub(crate) id: String,
    /// The image as the suite names it.
    pub(crate) image: String,
    /// The image's id.
    pub(crate) image_id: String,
    /// The image's name and digest at its registry, when it came from one.
    pub(crate) digest: Option<String>,
    /// What the engine took to create it.
    pub(crate) create: Duration,
    /// To take the fixture.
    pub(crate) fill: Duration,
    /// To attach and start it.
    pub(crate) start: Duration,
    /// To remove it.
    pub(crate) remove: Duration,
    /// Whether the kernel ended a process in it for its memory, the server or another.
    pub(crate) out_of_memory: bool,
}

impl ContainerSeen {
    /// The same for an attempt whose server was there before it.
    pub(crate) fn found_there(self) -> Self {
        Self {
            create: Duration::ZERO,
            fill: Duration::ZERO,
            start: Duration::ZERO,
            ..self
        }
    }
}
