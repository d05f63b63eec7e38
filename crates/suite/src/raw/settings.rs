//! The settings file `mcp-assert.yaml`.

use serde_json::Number;

use super::{
    docker::RawDocker,
    server::RawServer,
    shape::shape,
    union::Short,
    value::{Anything, Members, OneOrMany, Table, Text, Texts},
};

shape! {
    /// `mcp-assert.yaml` at the root of a suite. Of several suites in one run the first one's sets `targets`, `jobs`,
    /// `report` and `baseline` for all; a warning names other values.
    RawSettings, "the settings file" {
        /// Defaults for the keys of every assertion; `server` is merged key by key.
        defaults = "defaults": Anything;
        /// Servers by name; `--target` runs every assertion on each of those it names, with the `env` of its own `server`.
        targets = "targets": Table<Box<RawServer>>;
        /// Defaults for `docker` of every server; a text is an image.
        docker = "docker": Short<Text, RawDocker>;
        /// The folder copied fresh for every assertion, relative to the settings file. Of several
        /// suites in one run the first settings file decides; a warning names other fixtures.
        fixture = "fixture": Text;
        /// How many assertions run at once.
        jobs = "jobs": u64;
        /// Reports to write, each `FORMAT=PATH`, relative to the caller's directory as on the command line. `ci` takes
        /// options instead.
        report = "report": Texts;
        /// The baseline to compare with, relative to the settings file. `ci` takes `--baseline` instead.
        baseline = "baseline": Text;
        /// The percentage that must pass. It has no effect: `run` requires all to pass, `ci` takes `--threshold`.
        threshold = "threshold": Number;
        /// `true`: the verdicts of the Go tool of the same name.
        compat = "compat": bool;
        /// Arguments by the names of tools, with which `audit`, `generate`, `init` and `lint --call-tools` call these; what a
        /// tool's schema requires besides is made of the schema. They are taken from the nearest settings, whichever server
        /// is asked.
        samples = "samples": Table<Members>;
        /// Patterns of the files that the server's tools are written in, relative to the settings file: `src/**/*.py`. A
        /// finding of `lint` stands where the quoted name of what it is about occurs in them exactly once.
        sources = "sources": Texts;
        /// Which rules `lint` runs, and which findings are as they should be.
        lint = "lint": Box<RawLint>;
    }
}

shape! {
    /// What `mcp-assert lint` takes from the nearest settings file, upwards from the caller's directory.
    RawLint, "`lint`" {
        /// Severities by code: `off`, `info`, `warning` or `error`.
        rules = "rules": Table<Text>;
        /// Findings that are as they should be. They are shown with their reason and do not count; an entry that matches
        /// nothing is a finding itself, W199.
        allow = "allow": OneOrMany<RawAllowed>;
    }
}

shape! {
    /// Findings of a rule that are as they should be.
    RawAllowed, "an entry of `allow`" {
        /// The code of the rule.
        code = "code": Text;
        /// A glob on the name of the tool, the prompt or the resource; without it all of them.
        name = "name": Text;
        /// The place as a JSON Pointer; without it all of them.
        pointer = "pointer": Text;
        /// Why it is as it should be; an entry requires one.
        reason = "reason": Text;
    }
}
