//! What the server offers: tools, resources, prompts, completion, logging.

use rmcp::ServerHandler;

use super::ServeOptions;
use super::wire::Wire;

/// The handler that rmcp calls; clones share everything.
#[derive(Clone)]
pub(super) struct Bench {
    options: std::sync::Arc<ServeOptions>,
    wire: Wire,
}

impl Bench {
    pub(super) fn new(options: ServeOptions, wire: Wire) -> Self {
        Self {
            options: std::sync::Arc::new(options),
            wire,
        }
    }
}

impl ServerHandler for Bench {}
