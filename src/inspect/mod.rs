//! Questions to a server without a suite: what it lists, and what a call answers.
//!
//! [`server`] starts or reaches the server and ends it; [`catalog`] is what it offers; [`list`] and [`call`] say it to
//! people; [`lint`] judges what is listed. Nothing here knows YAML but what writes an assertion.

pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod catalog;
pub(crate) mod conform;
pub(crate) mod coverage;
pub(crate) mod effect;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod lock;
pub(crate) mod parameters;
pub(crate) mod probe;
pub(crate) mod sample;
pub(crate) mod server;
pub(crate) mod stub;
pub(crate) mod written;
