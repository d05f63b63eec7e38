//! Where servers run: a fresh place for each job, the server in it as a process or in a container, and its end. What is
//! said to the server lives in `transport` and `session`.

pub mod contained;
pub mod container;
mod container_files;
mod digest;
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
mod removal;
pub mod sweep;
mod tail;
mod temporary;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. What a holder left that panicked is taken as it is.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
