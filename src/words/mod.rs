//! What every room may use: text, redaction, source positions, diagnostics, exit codes, environment.
