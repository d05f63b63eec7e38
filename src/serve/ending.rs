//! How a fault ends the process for real.

use rustix::process::{Signal, getpid, kill_process};

use super::tap::Ending;

/// Ends the process, or gives the code that it exits with.
pub(crate) fn perform(ending: Ending) -> u8 {
    match ending {
        Ending::Exit(code) => code,
        Ending::Abort => std::process::abort(),
        Ending::Segv => {
            // The default action ends the process; the code is for a caller that blocked it.
            let _ = kill_process(getpid(), Signal::SEGV);
            139
        }
        Ending::OutOfMemory(size) => {
            let mut taken: Vec<u8> = Vec::new();
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            if taken.try_reserve_exact(size).is_ok() {
                // Only memory that is written to is taken.
                taken.resize(size, 1);
            }
            std::hint::black_box(&taken);
            std::process::abort()
        }
    }
}
