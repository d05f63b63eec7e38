//! Live progress and the final human report.
