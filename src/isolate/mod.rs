//! A fresh place for each job: the fixture's copy and the server process. What is said to the server
//! lives in `transport` and `session`.

mod owner;
pub(crate) mod process;
