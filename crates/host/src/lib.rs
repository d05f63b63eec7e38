//! A fresh place for each job: the fixture's copy and the server process. What is said to the server
//! lives in `transport` and `session`.

pub mod container;
mod digest;
pub mod files;
pub mod fixture;
mod folder;
mod inside;
mod owner;
pub mod pace;
pub mod process;
pub mod regular;
mod removal;
pub mod running;
pub mod sweep;
mod tail;
mod temporary;
