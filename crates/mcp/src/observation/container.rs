//! The container a server ran in: which one, of which image, and what the engine took to make, start and remove it.

use std::time::Duration;

/// A container of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerSeen {
    /// The engine's id.
    pub id: String,
    /// The image as the suite names it.
    pub image: String,
    /// The image's id.
    pub image_id: String,
    /// The image's name and digest at its registry, when it came from one.
    pub digest: Option<String>,
    /// The time that the engine needed to create it.
    pub create: Duration,
    /// To take the fixture.
    pub fill: Duration,
    /// To attach and start it.
    pub start: Duration,
    /// To remove it.
    pub remove: Duration,
    /// Whether the kernel ended a process in it for its memory, the server or another.
    pub out_of_memory: bool,
}

impl ContainerSeen {
    /// The same for an attempt whose server was there before it.
    pub fn found_there(self) -> Self {
        Self {
            create: Duration::ZERO,
            fill: Duration::ZERO,
            start: Duration::ZERO,
            ..self
        }
    }
}
