//! Expectations against observations, one file for each family of expectations. Pure: no I/O, no clock,
//! no environment. Knows nothing of sessions or reports.
