//! A fresh place for each job: the fixture's copy and the server process. What is said to the server
//! lives in `transport` and `session`.

pub(crate) mod container;
mod digest;
pub(crate) mod files;
pub(crate) mod fixture;
mod folder;
mod inside;
mod owner;
pub(crate) mod pace;
pub(crate) mod process;
pub(crate) mod regular;
mod removal;
pub(crate) mod running;
pub(crate) mod sweep;
mod tail;
mod temporary;
