//! `docker`: the container a server is started in.

use serde_json::Number;

use super::{
    shape::shape,
    union::{Short, Shorthand, TextOr},
    value::{OneOrMany, Text, TextTable, Texts},
};

shape! {
    /// The container a server is started in: a fresh one for each attempt at an assertion.
    RawDocker, "`docker`" {
        /// The image; `self` is one made of this program.
        image = "image": Text;
        /// A folder or Dockerfile to build the image from, or a map with more to say.
        build = "build": Short<Text, RawBuild>;
        /// Shell lines run once in the image, the result of which is kept, or a map with more to say.
        prepare = "prepare": Short<Texts, RawPreparation>;
        /// Whether a prepared image is started once before it is kept, so that caches are there. Default: `true`.
        warm = "warm": bool;
        /// `always`, `missing` (the default) or `never`.
        pull = "pull": Text;
        /// The platform of the image, such as `linux/amd64`. Default: the engine's.
        platform = "platform": Text;
        /// The network. Default: `none`.
        network = "network": Text;
        /// The memory limit; there is no swap. Default: `512m`.
        memory = "memory": Text;
        /// How many cores it may use. Default: all.
        cpus = "cpus": Number;
        /// How many processes it may have; 0: any number. Default: 256.
        pids = "pids": u64;
        /// The user inside. Default: the image's, and `nobody` when it names none.
        user = "user": Text;
        /// What is started in front of the server's command instead of the image's `ENTRYPOINT`: a program, or a list of
        /// it and its arguments; `""` or `[]` for nothing. The image's `CMD` is left out then.
        entrypoint = "entrypoint": Texts;
        /// A file of environment variables, a `NAME=value` on each line; relative to the YAML file.
        env_file = "env_file": Text;
        /// Whether the root file system is read-only. Default: `true`.
        read_only = "read_only": bool;
        /// Folders in memory, each `PATH` or `PATH:OPTIONS`. Default: `/tmp`.
        tmpfs = "tmpfs": Texts;
        /// Capabilities it keeps. Default: none.
        cap_add = "cap_add": Texts;
        /// Whether programs in it may gain privileges, as with `sudo`. Default: `false`.
        new_privileges = "new_privileges": bool;
        /// Whether an init process reaps what the server leaves. Default: `true`.
        init = "init": bool;
        /// Where the engine logs the server's output to as well. Default: `none`.
        log_driver = "log_driver": Text;
        /// The directory the server starts in. Default: the image's.
        workdir = "workdir": Text;
        /// Further things to mount, each `SOURCE:TARGET` (read-only), `SOURCE:TARGET:rw`, or a map. A source that
        /// begins with `/` or `.` is a path of the engine's machine, any other one a volume.
        mounts = "mounts": OneOrMany<TextOr<RawMount>>;
    }
}

shape! {
    /// What an image is built from.
    RawBuild, "`build`" {
        /// The folder that is sent to the engine, relative to the YAML file.
        context = "context": Text;
        /// The Dockerfile, relative to the folder. Default: `Dockerfile`.
        dockerfile = "dockerfile": Text;
        /// Values of the Dockerfile's `ARG`s.
        args = "args": TextTable;
        /// The stage to stop at. Default: the last.
        target = "target": Text;
    }
}

shape! {
    /// Something that is mounted.
    RawMount, "a mount" {
        /// A path of the engine's machine, or a volume's name.
        source = "source": Text;
        /// The path inside.
        target = "target": Text;
        /// Whether the server may only read it. Default: `true`.
        read_only = "read_only": bool;
    }
}

shape! {
    /// What is done once to an image before the first assertion; the result is kept for later runs.
    RawPreparation, "`prepare`" {
        /// Lines for the image's shell, the network on.
        run = "run": Texts;
        /// Files and folders to copy in before, each `ours: inside`; ours relative to the YAML file.
        copy = "copy": TextTable;
        /// Names of variables to take from our environment for the lines; they are not kept.
        env = "env": Texts;
        /// The network of the lines. Default: the engine's usual one.
        network = "network": Text;
        /// How long the lines may take. Default: `10m`.
        timeout = "timeout": Text;
    }
}

impl Shorthand for RawDocker {
    const KEY: &'static str = "image";
}

impl Shorthand for RawBuild {
    const KEY: &'static str = "context";
}

impl Shorthand for RawPreparation {
    const KEY: &'static str = "run";
}
