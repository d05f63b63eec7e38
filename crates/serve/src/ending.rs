//! How a fault ends the process for real.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};

use super::tap::Ending;

/// How often a signal to ourselves is sent before we give up on it.
const SHOTS: u32 = 10;

/// Ends the process, or gives the code that it exits with.
pub fn perform(ending: Ending) -> u8 {
    match ending {
        Ending::Exit(code) => code,
        Ending::Abort => abort(),
        Ending::Segv => segfault(),
    }
}

fn abort() -> ! {
    leave_no_core();
    std::process::abort()
}

/// The runtime has a handler for this signal that takes itself away the first time.
fn segfault() -> ! {
    leave_no_core();
    for _ in 0..SHOTS {
        // A signal to ourselves is always allowed.
        let _ = kill_process(getpid(), Signal::SEGV);
        std::thread::sleep(Duration::from_millis(1));
    }
    std::process::abort()
}

/// A core file would be a change to the folder under test.
fn leave_no_core() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // The worst that comes of a refusal is the file.
    let _ = setrlimit(Resource::Core, none);
}
