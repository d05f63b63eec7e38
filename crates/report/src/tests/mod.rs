//! One golden file for each format, from one sample with every status and ugly text; and what must hold for
//! any text.

mod engine;
mod golden;
mod properties;
