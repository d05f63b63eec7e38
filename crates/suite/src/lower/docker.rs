//! `docker`: the container a server is started in, merged over the settings' one.

use std::path::PathBuf;

use super::{ImageFrom, Lowering};
use crate::{
    model::container::{Build, Container, ImageBase, Mount, MountSource, Prepare, Pull, Tmpfs},
    problems,
    raw::{
        Field,
        docker::{RawBuild, RawDocker, RawMount, RawPreparation, RawPrepare},
        union::TextOr,
        value::{OneOrMany, Placed, Text, Texts},
    },
    yaml::At,
};

/// The words of `pull`.
const PULLS: [(&str, Pull); 3] = [
    ("always", Pull::Always),
    ("missing", Pull::Missing),
    ("never", Pull::Never),
];

/// The units of `memory`, in bytes.
const UNITS: [(&str, u64); 5] = [
    ("t", 1 << 40),
    ("g", 1 << 30),
    ("m", 1 << 20),
    ("k", 1 << 10),
    ("", 1),
];

/// Less memory than this no engine takes.
const LEAST_MEMORY: u64 = 6 * 1024 * 1024;

/// Where the image is named, or said to be built.
fn image_at(field: &Field<TextOr<RawDocker>>) -> At {
    match &field.value {
        TextOr::Text(_) => field.key,
        TextOr::Map(docker) => {
            let build = docker.build.as_ref().map(|build| build.key);
            let image = docker.image.as_ref().map(|image| image.key);
            image.or(build).unwrap_or(field.key)
        }
    }
}

/// Whether an image is named, or said to be built.
pub(super) fn names_image(field: &Field<TextOr<RawDocker>>) -> bool {
    match &field.value {
        TextOr::Text(_) => true,
        TextOr::Map(docker) => docker.image.is_some() || docker.build.is_some(),
    }
}

impl Lowering<'_> {
    /// The container of a server: its own words over those of the settings.
    pub(super) fn server_container(
        &mut self,
        field: Field<TextOr<RawDocker>>,
        builtin: Option<&Field<Text>>,
    ) -> Container {
        let says_build = match &field.value {
            TextOr::Text(_) => false,
            TextOr::Map(docker) => docker.build.is_some(),
        };
        let image_at = image_at(&field);
        let mut own = self.docker(field.value);
        if builtin.is_some() && own.entrypoint.is_some() {
            self.no_entrypoint(field.key);
        }
        if let Some(builtin) = builtin
            && matches!(own.image, Some(ImageBase::Named(_) | ImageBase::Built(_)))
        {
            if builtin.key.source == image_at.source {
                self.problem(image_at, problems::image_of_builtin);
            }
            // What the settings say of all servers is not meant for this one.
            (own.image, own.prepare) = (None, None);
        }
        let mut container = match self.around.docker {
            Some(base) if builtin.is_some() => own.over(&Container {
                image: None,
                prepare: None,
                ..base.clone()
            }),
            Some(base) => own.over(base),
            None => own,
        };
        if container.image.is_none() && builtin.is_some() {
            container.image = Some(ImageBase::Own);
        }
        // One that says it wrongly was told so.
        if container.image.is_none() && !says_build && self.around.image_from == ImageFrom::Suite {
            self.missing_one_of(&["image", "build"], "`docker`", field.key);
        }
        container
    }

    /// A container as it is written.
    pub fn docker(&mut self, raw: TextOr<RawDocker>) -> Container {
        match raw {
            TextOr::Text(image) => Container {
                image: self.image(&image),
                ..Container::default()
            },
            TextOr::Map(docker) => self.docker_map(docker),
        }
    }

    /// The map form of `docker`.
    fn docker_map(&mut self, raw: RawDocker) -> Container {
        let RawDocker {
            image,
            build,
            prepare,
            warm,
            pull,
            platform,
            network,
            memory,
            cpus,
            pids,
            user,
            entrypoint,
            env_file,
            read_only,
            tmpfs,
            cap_add,
            new_privileges,
            init,
            log_driver,
            workdir,
            mounts,
        } = raw;
        let image = self.image_base(image, build);
        self.check_front(image.as_ref(), entrypoint.as_ref());
        Container {
            image,
            prepare: prepare.and_then(|prepare| self.prepare(prepare)),
            warm: warm.map(|warm| warm.value),
            pull: pull.and_then(|pull| self.pull(&pull.value)),
            platform: self.filled("platform", platform),
            network: self.filled("network", network),
            memory: memory.and_then(|memory| self.memory(&memory.value)),
            nano_cpus: cpus.and_then(|cpus| self.cpus(&cpus.value.to_string(), cpus.at)),
            pids: pids.map(|pids| pids.value.0),
            user: self.filled("user", user),
            entrypoint: entrypoint.map(|words| front(words.value.strings())),
            env_file: env_file
                .map(|file| self.env_file(&file.value))
                .unwrap_or_default(),
            read_only: read_only.map(|flag| flag.value),
            tmpfs: tmpfs.map(|tmpfs| {
                let paths = tmpfs.value.0.into_iter();
                paths.filter_map(|path| self.tmpfs(&path)).collect()
            }),
            cap_add: cap_add
                .map(|names| names.value.strings())
                .unwrap_or_default(),
            new_privileges: new_privileges.map(|flag| flag.value),
            init: init.map(|flag| flag.value),
            log_driver: self.filled("log_driver", log_driver),
            workdir: workdir.and_then(|path| self.inside(&path.value)),
            mounts: mounts
                .map(|mounts| self.mounts(mounts.value))
                .unwrap_or_default(),
        }
    }

    /// An entry point for the image of this program would do nothing.
    fn check_front(&mut self, image: Option<&ImageBase>, entrypoint: Option<&Field<Texts>>) {
        if let (Some(ImageBase::Own), Some(entrypoint)) = (image, entrypoint) {
            self.no_entrypoint(entrypoint.key);
        }
    }

    /// Tells that the image of this program is not wrapped.
    fn no_entrypoint(&mut self, at: At) {
        self.problem(at, |origin| {
            let reason = "nothing stands in front of the programs of this program's image";
            problems::no_effect(origin, "entrypoint", reason)
        });
    }

    /// A text; an empty one does nothing, since the engine would take it for a default that is less safe than ours.
    fn filled(&mut self, key: &str, field: Option<Field<Text>>) -> Option<String> {
        let field = self.unless_empty(key, field, Text::is_blank)?;
        Some(field.value.text)
    }

    /// The image, or what it is built from.
    fn image_base(
        &mut self,
        image: Option<Field<Text>>,
        build: Option<Field<TextOr<RawBuild>>>,
    ) -> Option<ImageBase> {
        match (image, build) {
            (Some(_), Some(build)) => {
                self.problem(build.key, |origin| {
                    problems::conflicting_keys(origin, &["image", "build"], "`docker`")
                });
                None
            }
            (Some(image), None) => self.image(&image.value),
            (None, Some(build)) => self.build(build),
            (None, None) => None,
        }
    }

    /// The image of a name.
    fn image(&mut self, image: &Text) -> Option<ImageBase> {
        let image = self.text_at_load(image.clone());
        if image.is_blank() {
            self.problem(image.at, |origin| problems::empty_value(origin, "image"));
            return None;
        }
        Some(ImageBase::from_text(image.text.trim()))
    }

    /// What an image is built from.
    fn build(&mut self, field: Field<TextOr<RawBuild>>) -> Option<ImageBase> {
        let build = match field.value {
            TextOr::Text(path) => Build {
                context: self.beside(path),
                dockerfile: None,
                args: Vec::new(),
                target: None,
            },
            TextOr::Map(RawBuild {
                context,
                dockerfile,
                args,
                target,
            }) => {
                let context = self.required(context, "context", "`build`", field.key)?;
                let args = args.map(|args| args.value.0).unwrap_or_default();
                let mut filled = |text| self.text_at_load(text).text;
                let args = args.into_iter();
                Build {
                    dockerfile: dockerfile.map(|file| filled(file.value)),
                    args: args.map(|(key, text)| (key.text, filled(text))).collect(),
                    target: target.map(|target| filled(target.value)),
                    context: self.beside(context.value),
                }
            }
        };
        Some(ImageBase::Built(build))
    }

    /// What is done once to an image.
    fn prepare(&mut self, field: Field<RawPrepare>) -> Option<Prepare> {
        let RawPrepare(RawPreparation {
            run,
            copy,
            env,
            network,
            timeout,
        }) = field.value;
        let run = run.map(|run| run.value.strings()).unwrap_or_default();
        let copy = copy.map(|copy| copy.value.0).unwrap_or_default();
        if run.is_empty() && copy.is_empty() {
            self.problem(field.key, |origin| {
                problems::at_least_one(origin, "prepare")
            });
            return None;
        }
        let copy = copy
            .into_iter()
            .filter_map(|(from, to)| {
                let to = self.inside(&to)?;
                Some((self.path_beside(&from.text), to))
            })
            .collect();
        Some(Prepare {
            run,
            copy,
            env: env
                .map(|env| self.prepare_env(env.value))
                .unwrap_or_default(),
            network: self.filled("network", network),
            timeout: self.duration(timeout),
        })
    }

    /// When an image is pulled.
    fn pull(&mut self, word: &Text) -> Option<Pull> {
        let found = PULLS.iter().find(|(name, _)| *name == word.text);
        if found.is_none() {
            let known = PULLS.map(|(name, _)| name);
            self.problem(word.at, |origin| {
                problems::unknown_word(origin, &word.text, "way to pull", &known)
            });
        }
        found.map(|(_, pull)| *pull)
    }

    /// A size such as `512m`, in bytes.
    fn memory(&mut self, size: &Text) -> Option<u64> {
        let parsed = bytes(&size.text).filter(|bytes| *bytes >= LEAST_MEMORY);
        if parsed.is_none() {
            self.problem(size.at, |origin| {
                problems::bad_number(
                    origin,
                    &size.text,
                    "a size from 6 MiB on, such as `512m` or `1.5g`",
                )
            });
        }
        parsed
    }

    /// Cores, in billionths.
    fn cpus(&mut self, written: &str, at: At) -> Option<u64> {
        let nano = scaled(written, 1_000_000_000).filter(|nano| *nano >= 1_000_000);
        if nano.is_none() {
            self.problem(at, |origin| {
                problems::bad_number(origin, written, "a number of cores above 0, such as `1.5`")
            });
        }
        nano
    }

    /// `PATH` or `PATH:OPTIONS`.
    fn tmpfs(&mut self, text: &Text) -> Option<Tmpfs> {
        let (path, options) = text.text.split_once(':').unwrap_or((&text.text, ""));
        let path = Text {
            text: path.to_owned(),
            at: text.at,
        };
        Some(Tmpfs {
            path: self.inside(&path)?,
            options: options.to_owned(),
        })
    }

    /// What else is mounted.
    fn mounts(&mut self, mounts: OneOrMany<Placed<TextOr<RawMount>>>) -> Vec<Mount> {
        let mounts = mounts.0.into_iter();
        mounts
            .filter_map(|Placed { value, at }| match value {
                TextOr::Text(text) => self.mount_text(&text),
                TextOr::Map(mount) => self.mount_map(mount, at),
            })
            .collect()
    }

    /// `SOURCE:TARGET`, `SOURCE:TARGET:ro` or `SOURCE:TARGET:rw`.
    fn mount_text(&mut self, text: &Text) -> Option<Mount> {
        let text = &self.text_at_load(text.clone());
        let parts: Vec<&str> = text.text.split(':').collect();
        let (source, target, mode) = match parts[..] {
            [source, target] => (source, target, "ro"),
            [source, target, mode] => (source, target, mode),
            _ => {
                self.problem(text.at, |origin| {
                    let expected = "`SOURCE:TARGET`, `SOURCE:TARGET:ro` or `SOURCE:TARGET:rw`";
                    problems::wrong_type(origin, &format!("`{}`", text.text), expected)
                });
                return None;
            }
        };
        if !["ro", "rw"].contains(&mode) {
            self.problem(text.at, |origin| {
                problems::unknown_word(origin, mode, "mode of a mount", &["ro", "rw"])
            });
            return None;
        }
        let target = Text {
            text: target.to_owned(),
            at: text.at,
        };
        Some(Mount {
            source: self.mount_source(source),
            target: self.inside(&target)?,
            writable: mode == "rw",
        })
    }

    fn mount_map(&mut self, raw: RawMount, at: At) -> Option<Mount> {
        let RawMount {
            source,
            target,
            read_only,
        } = raw;
        let source = self.required(source, "source", "a mount", at);
        let target = self.required(target, "target", "a mount", at);
        let (source, target) = (source?, target?);
        Some(Mount {
            source: {
                let source = self.text_at_load(source.value);
                self.mount_source(&source.text)
            },
            target: self.inside(&target.value)?,
            writable: read_only.is_some_and(|flag| !flag.value),
        })
    }

    /// A path is told from a volume's name by its beginning.
    fn mount_source(&self, source: &str) -> MountSource {
        if source.starts_with(['/', '.']) {
            MountSource::Path(self.path_beside(source))
        } else {
            MountSource::Volume(source.to_owned())
        }
    }

    /// A path inside the container, which is absolute.
    fn inside(&mut self, path: &Text) -> Option<String> {
        if path.text.starts_with('/') {
            return Some(path.text.clone());
        }
        self.problem(path.at, |origin| {
            let found = format!("`{}`", path.text);
            problems::wrong_type(origin, &found, "an absolute path inside the container")
        });
        None
    }

    fn beside(&mut self, path: Text) -> PathBuf {
        let path = self.text_at_load(path);
        self.path_beside(&path.text)
    }

    /// A path of ours, relative to the YAML file.
    fn path_beside(&self, path: &str) -> PathBuf {
        self.around
            .environment
            .directory
            .join(self.around.directory)
            .join(path)
    }
}

/// What stands in front of a command; an empty text is nothing.
fn front(words: Vec<String>) -> Vec<String> {
    if words.iter().all(String::is_empty) {
        return Vec::new();
    }
    words
}

/// A size with a unit, in bytes.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text[number.len()..]
        .trim_end_matches('b')
        .trim_end_matches('i');
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    scaled(number.trim_end(), *factor)
}

/// A decimal number times a factor, digits below one left out.
fn scaled(text: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !(fraction.is_empty() || digits(fraction)) {
        return None;
    }
    let sum = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    let fraction = &fraction[..fraction.len().min(9)];
    let part: u128 = format!("0{fraction}").parse().ok()?;
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let part = part * u128::from(factor) / scale;
    sum.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::{bytes, scaled};

    #[test]
    fn sizes_have_units_and_fractions() {
        let case = |text: &str, wanted: Option<u64>| assert_eq!(bytes(text), wanted, "{text}");
        case("512m", Some(512 << 20));
        case("512M", Some(512 << 20));
        case("512MiB", Some(512 << 20));
        case("512 mb", Some(512 << 20));
        case("1.5g", Some(3 << 29));
        case("1073741824", Some(1 << 30));
        case("4k", Some(4096));
        case("2b", Some(2));
        for text in ["", "m", "-1m", "1..5m", "1,5g", "5 apples", "99999999999t"] {
            case(text, None);
        }
        assert_eq!(scaled("0.25", 1_000_000_000), Some(250_000_000));
        assert_eq!(scaled("2", 1_000_000_000), Some(2_000_000_000));
    }
}
