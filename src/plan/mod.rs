//! Suites and options to jobs: filters, skips, trials, targets, shards. Decides what runs; runs nothing.
