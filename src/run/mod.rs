//! Jobs to outcomes: scheduler, deadlines, retries, cancellation. Emits events; prints nothing.

mod catalogs;
mod ordered;
mod queue;
