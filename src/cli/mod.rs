//! What was typed: the clap types, one file per command, and nothing else.
