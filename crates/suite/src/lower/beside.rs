//! Keys beside a subject that nothing looks at.

use super::Lowering;
use crate::{
    problems,
    raw::assertion::RawAssertion,
    yaml::{At, Kind, Node, Source},
};

/// Why a trajectory needs neither server nor setup.
const NO_SERVER: &str = "a `trajectory` starts no server";

impl Lowering<'_> {
    /// Tells what does nothing for this subject. What stands in the settings is for the assertions that can use it.
    pub(super) fn check_beside(&mut self, raw: &RawAssertion, chosen: Option<(&'static str, At)>) {
        self.check_setup(raw, chosen);
        if !matches!(chosen, Some(("trajectory", _))) {
            return;
        }
        let keys = [
            ("server", raw.server.as_ref().map(|field| field.key)),
            ("client", raw.client.as_ref().map(|field| field.key)),
        ];
        for (key, at) in keys {
            if let Some(at) = at.filter(|at| at.source == Source::Suite) {
                self.problem(at, |origin| problems::no_effect(origin, key, NO_SERVER));
            }
        }
    }

    /// Tells a `server` without a value, before that of the settings takes its place.
    pub(super) fn check_empty_server(&mut self, root: &Node) {
        let Kind::Map(entries) = &root.kind else {
            return;
        };
        for entry in entries {
            let is_broken = self.reading.problems.is_broken(entry.value.at);
            if entry.key.text == "server" && entry.value.is_null() && !is_broken {
                self.problem(entry.key.at, |origin| {
                    problems::empty_value(origin, "server")
                });
            }
        }
    }

    /// Tells a setup that is not run; one of the settings is for the assertions that can run it.
    fn check_setup(&mut self, raw: &RawAssertion, chosen: Option<(&'static str, At)>) {
        let Some(setup) = &raw.setup else { return };
        let handshake = raw
            .raw
            .as_ref()
            .and_then(|raw| raw.value.handshake.as_ref());
        let reason = match chosen {
            Some(("trajectory", _)) => NO_SERVER,
            Some(("raw", _)) if handshake.is_some_and(|made| !made.value) => {
                "without the handshake nothing is called before"
            }
            Some(_) | None => return,
        };
        if !setup.value.is_empty() && setup.key.source == Source::Suite {
            self.not_looked_at("setup", setup.key, reason);
        }
    }
}
