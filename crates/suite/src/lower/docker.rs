//! `docker`: the container a server is started in, merged over that of the settings.

use std::path::PathBuf;

use super::{ImageFrom, Lowering};
use crate::{
    model::container::{Build, Container, ImageBase, Mount, MountSource, Prepare, Pull, Tmpfs},
    problems,
    raw::{
        Field,
        docker::{RawBuild, RawDocker, RawMount, RawPreparation},
        read::value,
        union::{Short, TextOr},
        value::Text,
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
const UNITS: [(&str, f64); 5] = [
    ("t", 1_099_511_627_776.0),
    ("g", 1_073_741_824.0),
    ("m", 1_048_576.0),
    ("k", 1_024.0),
    ("", 1.0),
];

/// The least memory that engines accept.
const LEAST_MEMORY: u64 = 6 * 1024 * 1024;

/// A `docker` with its key.
pub(super) type DockerField = Field<Short<Text, RawDocker>>;

/// Whether an image is named, or built.
pub(super) fn names_image(field: &DockerField) -> bool {
    let docker = &field.value.0;
    docker.image.is_some() || docker.build.is_some()
}

impl Lowering<'_> {
    /// The container of a server: what it says itself over what the settings say.
    pub(super) fn server_container(
        &mut self,
        field: DockerField,
        builtin: Option<&Field<Text>>,
    ) -> Container {
        let at = field.key;
        let raw = &field.value.0;
        let says_build = raw.build.is_some();
        let image = raw.image.as_ref().map(|image| image.key);
        let image_at = image.or(raw.build.as_ref().map(|build| build.key));
        let image_at = image_at.unwrap_or(at);
        let mut own = self.docker(field.value.0);
        let mut base = self.around.docker.cloned().unwrap_or_default();
        if let Some(builtin) = builtin {
            if matches!(own.image, Some(ImageBase::Named(_) | ImageBase::Built(_))) {
                if builtin.key.source == image_at.source {
                    self.problem(image_at, problems::image_of_builtin());
                }
                // An image in the settings is for other servers.
                (own.image, own.prepare) = (None, None);
            }
            (base.image, base.prepare) = (None, None);
            own.image.get_or_insert(ImageBase::Own);
        }
        let container = own.over(base);
        // An invalid `build` was reported.
        if container.image.is_none() && !says_build && self.around.image_from == ImageFrom::Suite {
            self.missing_one_of(&["image", "build"], "`docker`", at);
        }
        container
    }

    /// A container as it is written.
    pub(crate) fn docker(&mut self, raw: RawDocker) -> Container {
        let image = match (raw.image, raw.build) {
            (Some(_), Some(build)) => {
                let problem = problems::conflicting_keys(&["image", "build"], "`docker`");
                self.problem(build.key, problem);
                None
            }
            (Some(image), None) => self.image(image.value),
            (None, Some(build)) => self.build(build),
            (None, None) => None,
        };
        Container {
            image,
            prepare: raw.prepare.and_then(|prepare| self.prepare(prepare)),
            warm: value(raw.warm),
            pull: value(raw.pull).and_then(|pull| self.pull(&pull)),
            platform: self.filled("platform", raw.platform),
            network: self.filled("network", raw.network),
            memory: value(raw.memory).and_then(|memory| self.memory(&memory)),
            nano_cpus: raw
                .cpus
                .and_then(|cpus| self.cpus(&cpus.value.to_string(), cpus.at)),
            pids: value(raw.pids),
            user: self.filled("user", raw.user),
            entrypoint: value(raw.entrypoint).map(|words| front(words.strings())),
            env_file: value(raw.env_file)
                .map(|file| self.env_file(&file))
                .unwrap_or_default(),
            read_only: value(raw.read_only),
            tmpfs: value(raw.tmpfs).map(|tmpfs| {
                let paths = tmpfs.0.iter();
                paths.filter_map(|path| self.tmpfs(path)).collect()
            }),
            cap_add: value(raw.cap_add).unwrap_or_default().strings(),
            new_privileges: value(raw.new_privileges),
            init: value(raw.init),
            log_driver: self.filled("log_driver", raw.log_driver),
            workdir: value(raw.workdir).and_then(|path| self.inside(&path.text, path.at)),
            mounts: value(raw.mounts).map_or_else(Vec::new, |mounts| {
                let mounts = mounts.0.into_iter();
                mounts.filter_map(|mount| self.mount(mount)).collect()
            }),
        }
    }

    /// A text. An empty one counts as absent: the engine's default for it is less safe than ours.
    fn filled(&mut self, key: &str, field: Option<Field<Text>>) -> Option<String> {
        let field = self.unless_empty(key, field, Text::is_blank)?;
        Some(field.value.text)
    }

    /// The image of a name.
    fn image(&mut self, image: Text) -> Option<ImageBase> {
        let image = self.text_at_load(image);
        if image.is_blank() {
            self.problem(image.at, problems::empty_value("image"));
            return None;
        }
        Some(ImageBase::from_text(image.text.trim()))
    }

    /// What an image is built from.
    fn build(&mut self, field: Field<Short<Text, RawBuild>>) -> Option<ImageBase> {
        let raw = field.value.0;
        let context = self.required(raw.context, "context", "`build`", field.key)?;
        let context = self.text_at_load(context.value).text;
        let args = value(raw.args).unwrap_or_default().0.into_iter();
        let mut filled = |text| self.text_at_load(text).text;
        let build = Build {
            dockerfile: value(raw.dockerfile).map(&mut filled),
            args: args.map(|(key, text)| (key.text, filled(text))).collect(),
            target: value(raw.target).map(filled),
            context: self.path_beside(&context),
        };
        Some(ImageBase::Built(build))
    }

    /// What is done once to an image.
    fn prepare(&mut self, field: Field<Short<super::Texts, RawPreparation>>) -> Option<Prepare> {
        let raw = field.value.0;
        let run = value(raw.run).unwrap_or_default().strings();
        let copy = value(raw.copy).unwrap_or_default().0;
        if run.is_empty() && copy.is_empty() {
            self.problem(field.key, problems::at_least_one("prepare"));
            return None;
        }
        let copy = copy.into_iter().filter_map(|(from, to)| {
            let to = self.inside(&to.text, to.at)?;
            Some((self.path_beside(&from.text), to))
        });
        Some(Prepare {
            run,
            copy: copy.collect(),
            env: value(raw.env)
                .map(|env| self.prepare_env(env))
                .unwrap_or_default(),
            network: self.filled("network", raw.network),
            timeout: self.duration(raw.timeout),
        })
    }

    /// When an image is pulled.
    fn pull(&mut self, word: &Text) -> Option<Pull> {
        let found = PULLS.iter().find(|(name, _)| *name == word.text);
        if found.is_none() {
            let known = PULLS.map(|(name, _)| name);
            self.problem(
                word.at,
                problems::unknown_word(&word.text, "pull policy", &known),
            );
        }
        found.map(|(_, pull)| *pull)
    }

    /// A size such as `512m`, in bytes.
    fn memory(&mut self, size: &Text) -> Option<u64> {
        let parsed = bytes(&size.text).filter(|bytes| *bytes >= LEAST_MEMORY);
        if parsed.is_none() {
            let expected = "a size from 6 MiB on, such as `512m` or `1.5g`";
            self.problem(size.at, problems::bad_number(&size.text, expected));
        }
        parsed
    }

    /// Cores, in billionths.
    fn cpus(&mut self, written: &str, at: At) -> Option<u64> {
        let nano = scaled(written, 1e9).filter(|nano| *nano >= 1_000_000);
        if nano.is_none() {
            let expected = "a number of cores above 0, such as `1.5`";
            self.problem(at, problems::bad_number(written, expected));
        }
        nano
    }

    /// `PATH` or `PATH:OPTIONS`.
    fn tmpfs(&mut self, text: &Text) -> Option<Tmpfs> {
        let (path, options) = text.text.split_once(':').unwrap_or((&text.text, ""));
        Some(Tmpfs {
            path: self.inside(path, text.at)?,
            options: options.to_owned(),
        })
    }

    /// One of `mounts`.
    fn mount(&mut self, mount: TextOr<RawMount>) -> Option<Mount> {
        let raw = match mount {
            TextOr::Text(text) => return self.mount_text(text),
            TextOr::Other(raw) => raw,
        };
        let at = raw.at;
        let source = self.required(raw.source, "source", "a mount", at);
        let target = self.required(raw.target, "target", "a mount", at);
        let (source, target) = (source?, target?);
        let source = self.text_at_load(source.value).text;
        Some(Mount {
            source: self.mount_source(&source),
            target: self.inside(&target.value.text, target.at)?,
            writable: raw.read_only.is_some_and(|flag| !flag.value),
        })
    }

    /// `SOURCE:TARGET`, `SOURCE:TARGET:ro` or `SOURCE:TARGET:rw`.
    fn mount_text(&mut self, text: Text) -> Option<Mount> {
        let Text { text, at } = self.text_at_load(text);
        let parts: Vec<&str> = text.split(':').collect();
        let (source, target, mode) = match parts[..] {
            [source, target] => (source, target, "ro"),
            [source, target, mode] => (source, target, mode),
            _ => {
                let expected = "`SOURCE:TARGET`, `SOURCE:TARGET:ro` or `SOURCE:TARGET:rw`";
                self.problem(at, problems::wrong_type(&format!("`{text}`"), expected));
                return None;
            }
        };
        if !["ro", "rw"].contains(&mode) {
            let problem = problems::unknown_word(mode, "mount mode", &["ro", "rw"]);
            self.problem(at, problem);
            return None;
        }
        Some(Mount {
            source: self.mount_source(source),
            target: self.inside(target, at)?,
            writable: mode == "rw",
        })
    }

    /// A path begins with `/` or `.`; any other source is the name of a volume.
    fn mount_source(&self, source: &str) -> MountSource {
        if source.starts_with(['/', '.']) {
            MountSource::Path(self.path_beside(source))
        } else {
            MountSource::Volume(source.to_owned())
        }
    }

    /// A path inside the container, which is absolute.
    fn inside(&mut self, path: &str, at: At) -> Option<String> {
        if path.starts_with('/') {
            return Some(path.to_owned());
        }
        let expected = "an absolute path inside the container";
        self.problem(at, problems::wrong_type(&format!("`{path}`"), expected));
        None
    }

    /// A path of this machine, relative to the YAML file.
    fn path_beside(&self, path: &str) -> PathBuf {
        let caller = &self.around.environment.directory;
        caller.join(self.around.directory).join(path)
    }
}

/// The words in front of a command; empty texts count as none.
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

/// A decimal number times a factor, without a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is positive and below the limit, and its fraction is to be cut"
)]
fn scaled(text: &str, factor: f64) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    let product = number * factor;
    let is_size = text.starts_with(|it: char| it.is_ascii_digit()) && product < 1e18;
    is_size.then_some(product as u64)
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
        assert_eq!(scaled("0.25", 1e9), Some(250_000_000));
        assert_eq!(scaled("2", 1e9), Some(2_000_000_000));
    }
}
