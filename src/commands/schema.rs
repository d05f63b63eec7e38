//! `mcp-assert schema`.

use crate::cli::schema::SchemaArgs;
use suite::{reference, schema::json_schema};
use text::exit::ExitCode;

/// Prints the JSON Schema of the suite format on stdout, or its reference.
pub(super) fn schema(args: &SchemaArgs) -> ExitCode {
    let text = if args.markdown {
        reference()
    } else {
        format!("{:#}\n", json_schema())
    };
    super::print(text.as_bytes())
}
