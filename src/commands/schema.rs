//! `mcp-assert schema`.

use std::io::{ErrorKind, Write};

use crate::{suite::schema::json_schema, words::exit::ExitCode};

/// Prints the JSON Schema of the suite format on stdout.
pub(super) fn schema() -> ExitCode {
    let text = format!("{:#}\n", json_schema());
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::Passed,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::Passed,
        Err(_) => ExitCode::CouldNotRun,
    }
}
