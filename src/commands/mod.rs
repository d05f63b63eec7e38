//! One thin file per verb: options in, calls, exit code out.
