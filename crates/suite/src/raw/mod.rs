//! The shape of suites, one struct for each map: which keys there are, what they take, what they mean. Each
//! key is defined once; its reader, its entry in the reference and in the JSON Schema come from that. What the
//! values mean is settled by `suite::lower`.

pub mod asked;
pub mod assertion;
pub mod client;
pub mod docker;
pub mod expect;
pub mod read;
pub mod server;
pub mod settings;
pub mod shape;
pub mod step;
pub mod subject;
pub mod union;
pub mod value;

pub use self::{
    read::{Field, Readable, Reading},
    shape::{KeyDoc, ShapeDoc},
};
