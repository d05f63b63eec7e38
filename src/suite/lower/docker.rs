//! `docker`: checked here, kept as it is written.

use serde_json::Value;

use super::Lowering;
use crate::suite::{
    problems,
    raw::{server::RawDocker, union::TextOr},
    yaml::At,
};

impl Lowering<'_> {
    /// A container as it is written, once its keys are checked.
    pub(in crate::suite) fn docker(&mut self, raw: TextOr<RawDocker>, at: At) -> Value {
        match raw {
            TextOr::Text(image) => Value::String(image.text),
            TextOr::Map(docker) => self.docker_map(docker, at),
        }
    }

    /// The map form of `docker`.
    fn docker_map(&mut self, raw: RawDocker, at: At) -> Value {
        let RawDocker {
            image,
            build,
            prepare,
            network,
            memory,
            cpus,
            pids,
            user,
            env_file,
            platform,
            pull,
            read_only,
            workdir,
            mounts,
        } = raw;
        if image.is_none() && build.is_none() {
            self.problem(at, |origin| {
                problems::missing_one_of(origin, &["image", "build"], "`docker`")
            });
        }
        if let Some(pull) = &pull {
            let known = ["always", "missing", "never"];
            if !known.contains(&pull.value.text.as_str()) {
                self.problem(pull.at, |origin| {
                    problems::unknown_word(origin, &pull.value.text, "way to pull", &known)
                });
            }
        }
        let texts = [
            ("image", image),
            ("network", network),
            ("memory", memory),
            ("user", user),
            ("env_file", env_file),
            ("platform", platform),
            ("pull", pull),
            ("workdir", workdir),
        ];
        let others = [
            ("build", build.map(|build| build.value.0.into_value())),
            (
                "prepare",
                prepare.map(|prepare| prepare.value.0.into_value()),
            ),
            ("mounts", mounts.map(|mounts| mounts.value.0.into_value())),
            ("cpus", cpus.map(|cpus| Value::Number(cpus.value))),
            ("pids", pids.map(|pids| Value::from(pids.value.0))),
            ("read_only", read_only.map(|flag| Value::Bool(flag.value))),
        ];
        texts
            .into_iter()
            .map(|(key, text)| (key, text.map(|text| Value::String(text.value.text))))
            .chain(others)
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}
