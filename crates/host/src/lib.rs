//! Where servers run: a fresh place for each job, the server in it as a process or in a container, and its end.
//!
//! Behind `suite`, which describes targets and containers, and `mcp`, whose connections it hands out; before the run, which
//! drives it. What is said to a server is not known here.
//!
//! - [`place::Place`] is the folder of a job, with its own copy of the [`fixture`]; it looks at files before and after.
//! - [`host::Host::start`] starts a server in a place and returns a [`Server`](host::Server): its connection, and its
//!   [`Peer`](host::Peer): a process, a container, or a server behind a url.
//! - [`process`]: process groups, the closing ladder (end of input, SIGTERM, SIGKILL) and orphans.
//! - [`container`]: [`Containers`](container::Containers) speaks to the engine's API with `bollard`: images, builds,
//!   networks, archives in and out, and what the engine says when it refuses.
//! - [`checkout::Checkout`]: the files of another revision.
//! - [`sweep`]: what killed runs left, removed.
//!
//! Each process, container and folder has one owner with an awaited end. `Drop` is only a net.

pub mod checkout;
pub mod contained;
pub mod container;
mod container_files;
pub mod files;
pub mod fixture;
mod folder;
pub mod host;
mod inside;
pub mod launch;
mod owner;
pub mod pace;
pub mod place;
pub mod process;
pub mod regular;
pub mod remote;
mod removal;
pub mod sweep;
mod tail;
mod temporary;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. What a holder left that panicked is taken as it is.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
