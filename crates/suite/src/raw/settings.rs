//! The settings file `mcp-assert.yaml`.

use serde_json::Number;

use super::{
    docker::RawDocker,
    server::RawServer,
    shape::shape,
    union::Short,
    value::{Anything, Table, Text, Texts},
};

shape! {
    /// `mcp-assert.yaml` at the root of a suite. Of several suites in one run the first one's says `targets`, `jobs`,
    /// `report` and `baseline` for all; a warning tells where another says otherwise.
    RawSettings, "the settings file" {
        /// Keys of assertions that hold for every assertion without them; `server` is joined key by key.
        defaults = "defaults": Anything;
        /// Servers by name; `--target` runs every assertion on each of those it names, with the `env` of its own `server`.
        targets = "targets": Table<Box<RawServer>>;
        /// What holds for every container whose own `docker` does not say it; a text is an image.
        docker = "docker": Short<Text, RawDocker>;
        /// The folder copied fresh for every assertion, relative to the settings file. Of several
        /// suites in one run the first settings file decides; a warning tells of a fixture that does not hold.
        fixture = "fixture": Text;
        /// How many assertions run at once.
        jobs = "jobs": u64;
        /// Reports to write, each `FORMAT=PATH`, relative to the caller's directory as on the command line. `ci` takes
        /// options instead.
        report = "report": Texts;
        /// The baseline to compare with, relative to the settings file. `ci` takes `--baseline` instead.
        baseline = "baseline": Text;
        /// The percentage that must pass. It is not applied: `run` wants all to pass, `ci` takes `--threshold`.
        threshold = "threshold": Number;
        /// `true`: the verdicts of the Go tool of the same name.
        compat = "compat": bool;
    }
}
