//! The shape of suites, one struct for each map: which keys there are, what they take, what they mean. Each
//! key is defined once; its reader, its entry in the reference and in the JSON Schema come from that. What the
//! values mean is settled by `suite::lower`.

pub(crate) mod asked;
pub(crate) mod assertion;
pub(crate) mod client;
pub(crate) mod docker;
pub(crate) mod expect;
pub(crate) mod read;
pub(crate) mod server;
pub(crate) mod settings;
pub(crate) mod shape;
pub(crate) mod step;
pub(crate) mod subject;
pub(crate) mod union;
pub(crate) mod value;

pub(crate) use self::{
    read::{Field, Readable, Reading},
    shape::{KeyDoc, ShapeDoc},
};
