//! `mcp-assert schema`.

use std::io::{ErrorKind, Write};

use crate::{
    cli::schema::SchemaArgs,
    suite::{reference, schema::json_schema},
    words::exit::ExitCode,
};

/// Prints the JSON Schema of the suite format on stdout, or its reference.
pub(super) fn schema(args: &SchemaArgs) -> ExitCode {
    let text = if args.markdown {
        reference()
    } else {
        format!("{:#}\n", json_schema())
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::Passed,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::Passed,
        Err(_) => ExitCode::CouldNotRun,
    }
}
