//! The container a server is started in, as the suite and the settings describe it. What is left open has its
//! default where containers are made.

use std::{path::PathBuf, time::Duration};

/// A container, what is not said left open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Container {
    /// The image, or what it is built from; `None`: the command line's.
    pub image: Option<ImageBase>,
    /// What is done once to the image.
    pub prepare: Option<Prepare>,
    /// Whether a prepared image is started once before it is kept.
    pub warm: Option<bool>,
    /// When the image is pulled.
    pub pull: Option<Pull>,
    /// The image's platform, e.g. `linux/amd64`.
    pub platform: Option<String>,
    /// The network's name or mode.
    pub network: Option<String>,
    /// The limit of memory, in bytes.
    pub memory: Option<u64>,
    /// Billionths of a core that it may use.
    pub nano_cpus: Option<u64>,
    /// How many processes it may have; 0: any number.
    pub pids: Option<u64>,
    /// The user inside.
    pub user: Option<String>,
    /// What is started in front of the command, instead of the image's entry point.
    pub entrypoint: Option<Vec<String>>,
    /// Variables of the `env_file`; those of `server.env` win.
    pub env_file: Vec<(String, String)>,
    /// Whether the root file system is read-only.
    pub read_only: Option<bool>,
    /// Folders in memory.
    pub tmpfs: Option<Vec<Tmpfs>>,
    /// Capabilities it keeps.
    pub cap_add: Vec<String>,
    /// Whether programs in it may gain privileges.
    pub new_privileges: Option<bool>,
    /// Whether an init process runs in it.
    pub init: Option<bool>,
    /// Where the engine logs its output to.
    pub log_driver: Option<String>,
    /// The directory the server starts in.
    pub workdir: Option<String>,
    /// What else is mounted.
    pub mounts: Vec<Mount>,
}

/// Everything that makes an image what it is: equal sources are provided once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ImageSource {
    /// Where it comes from.
    pub base: ImageBase,
    /// Its platform; `None`: the engine's.
    pub platform: Option<String>,
    /// When it is pulled.
    pub pull: Pull,
    /// What is done once to it.
    pub prepare: Option<Prepare>,
}

/// Where an image comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ImageBase {
    /// A name, a digest or an id.
    Named(String),
    /// It is built.
    Built(Build),
    /// This program, and nothing else.
    Own,
}

/// What an image is built from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Build {
    /// The folder that is sent to the engine, or the Dockerfile in it.
    pub context: PathBuf,
    /// The Dockerfile, relative to the folder.
    pub dockerfile: Option<String>,
    /// Values of the Dockerfile's `ARG`s.
    pub args: Vec<(String, String)>,
    /// The stage to stop at.
    pub target: Option<String>,
}

/// What is done once to an image, before the first assertion.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Prepare {
    /// Lines for the image's shell.
    pub run: Vec<String>,
    /// Files and folders of ours, and where they go.
    pub copy: Vec<(PathBuf, String)>,
    /// Names of variables of ours that are there while the lines run, and are not kept.
    pub env: Vec<String>,
    /// The network of the lines.
    pub network: Option<String>,
    /// How long the lines may take.
    pub timeout: Option<Duration>,
}

/// When an image is pulled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Pull {
    /// Before every run.
    Always,
    /// When the engine does not have it.
    #[default]
    Missing,
    /// Never.
    Never,
}

/// A folder in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tmpfs {
    /// Where.
    pub path: String,
    /// Its options as the engine takes them, e.g. `size=64m`.
    pub options: String,
}

/// Something that is mounted into the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// What.
    pub source: MountSource,
    /// Where.
    pub target: String,
    /// Whether the server may write to it.
    pub writable: bool,
}

/// What can be mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MountSource {
    /// A path of the engine's machine.
    Path(PathBuf),
    /// A volume by its name.
    Volume(String),
}

impl Container {
    /// This container, and what it leaves open from another description. Another image's preparation and entry point
    /// are left out.
    pub fn over(self, mut base: Self) -> Self {
        fn or<T>(own: Vec<T>, base: Vec<T>) -> Vec<T> {
            if own.is_empty() { base } else { own }
        }
        if self.image.is_some() && base.image.is_some() {
            (base.prepare, base.entrypoint) = (None, None);
        }
        Self {
            image: self.image.or(base.image),
            prepare: self.prepare.or(base.prepare),
            warm: self.warm.or(base.warm),
            pull: self.pull.or(base.pull),
            platform: self.platform.or(base.platform),
            network: self.network.or(base.network),
            memory: self.memory.or(base.memory),
            nano_cpus: self.nano_cpus.or(base.nano_cpus),
            pids: self.pids.or(base.pids),
            user: self.user.or(base.user),
            entrypoint: self.entrypoint.or(base.entrypoint),
            env_file: or(self.env_file, base.env_file),
            read_only: self.read_only.or(base.read_only),
            tmpfs: self.tmpfs.or(base.tmpfs),
            cap_add: or(self.cap_add, base.cap_add),
            new_privileges: self.new_privileges.or(base.new_privileges),
            init: self.init.or(base.init),
            log_driver: self.log_driver.or(base.log_driver),
            workdir: self.workdir.or(base.workdir),
            mounts: or(self.mounts, base.mounts),
        }
    }

    /// The words in front of a server's command; `None`: the image's entry point. In the image of this program
    /// there are none.
    pub fn front(&self, program: Option<&str>) -> Option<Vec<String>> {
        match (&self.image, program) {
            (Some(ImageBase::Own), Some(_)) => Some(Vec::new()),
            (Some(ImageBase::Own), None) => None,
            (Some(ImageBase::Named(_) | ImageBase::Built(_)) | None, _) => self.entrypoint.clone(),
        }
    }

    /// A server in it by its image, as far as that has a name, and by what is started there: that may be nothing but
    /// what the image says.
    pub fn labelled(&self, program: &str) -> String {
        let image = match &self.image {
            Some(ImageBase::Named(image)) => image,
            Some(ImageBase::Built(_) | ImageBase::Own) | None => "",
        };
        let words = ["container", image, program].into_iter();
        words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The image that is to be provided; `None` when nothing names one.
    pub fn source(&self) -> Option<ImageSource> {
        Some(ImageSource {
            base: self.image.clone()?,
            platform: self.platform.clone(),
            pull: self.pull.unwrap_or_default(),
            prepare: self.prepare.clone(),
        })
    }

    /// Whether its image is started once before it is kept: one that was prepared, unless the suite says otherwise.
    pub fn is_warmed(&self) -> bool {
        self.prepare.is_some() && self.warm.unwrap_or(true)
    }
}

impl ImageBase {
    /// The image of a word: `self` is this program's.
    pub fn from_text(text: &str) -> Self {
        match text {
            "self" => Self::Own,
            name => Self::Named(name.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Container, ImageBase, Prepare};

    fn named(name: &str) -> Container {
        Container {
            image: Some(ImageBase::from_text(name)),
            ..Container::default()
        }
    }

    fn prepare() -> Prepare {
        Prepare {
            run: vec!["npm ci".into()],
            copy: Vec::new(),
            env: Vec::new(),
            network: None,
            timeout: None,
        }
    }

    #[test]
    fn a_container_takes_over_what_it_leaves_open() {
        let base = Container {
            memory: Some(5),
            pids: Some(7),
            prepare: Some(prepare()),
            ..named("base")
        };
        let own = Container {
            pids: Some(9),
            ..Container::default()
        };
        let both = own.over(base.clone());
        assert_eq!((both.memory, both.pids), (Some(5), Some(9)));
        assert_eq!(both.image, Some(ImageBase::Named("base".into())));
        assert!(both.prepare.is_some());
        assert_eq!(both.source().unwrap().base, ImageBase::from_text("base"));
    }

    #[test]
    fn what_another_image_was_prepared_with_is_not_taken_over() {
        let base = Container {
            prepare: Some(prepare()),
            entrypoint: Some(vec!["wrap".into()]),
            ..named("node")
        };
        let other = named("python").over(base.clone());
        assert_eq!((other.prepare, other.entrypoint), (None, None));
        let own = Container {
            image: Some(ImageBase::Own),
            ..base
        };
        assert_eq!(
            (own.front(None), own.front(Some("sh"))),
            (None, Some(Vec::new()))
        );
        let everywhere = Container {
            prepare: Some(prepare()),
            ..Container::default()
        };
        assert!(named("python").over(everywhere.clone()).prepare.is_some());
        assert_eq!(ImageBase::from_text("self"), ImageBase::Own);
    }
}
