//! Tests of the table as a whole.

mod mutations;
mod schemas;
