//! The executable: hands over to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_assert::main()
}
