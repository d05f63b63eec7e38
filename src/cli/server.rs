//! Options of commands that ask a server questions.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueHint};

use super::options;

/// The time for the start of a server, for its lists, and for each call.
const TIMEOUT: &str = "15s";

/// Which server, and where it runs.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ServerArgs {
    /// The server: a command line (quotes work) or a url
    #[arg(long, value_name = "COMMAND")]
    pub(crate) server: Option<String>,
    /// The command of the server, word by word
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "server")]
    pub(crate) command: Vec<String>,
    /// The image of a container to start the command in
    #[arg(id = "image", long = "docker", value_name = "IMAGE")]
    pub(crate) docker: Option<String>,
    /// A target of the nearest `mcp-assert.yaml` upwards; default: its only one, if no server is given
    #[arg(long, value_name = "NAME", conflicts_with_all = ["server", "command", "image"])]
    pub(crate) target: Option<String>,
    /// How it is asked.
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// How servers are asked, whichever they are.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct HowArgs {
    /// A header of every request to a url, `Name: value`; may be given several times
    #[arg(long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// The container engine's address; else `DOCKER_HOST`, Docker's context, the usual sockets
    #[arg(long, value_name = "URL")]
    pub(crate) docker_host: Option<String>,
    /// A folder of which each server gets a copy, as `{{fixture}}`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) fixture: Option<PathBuf>,
    /// The protocol revision
    #[arg(long, value_name = "REVISION")]
    pub(crate) protocol: Option<String>,
    /// Deadline for the start, for the lists and for each call, e.g. 500ms, 1m30s
    #[arg(long, value_name = "DURATION", default_value = TIMEOUT, value_parser = options::duration)]
    pub(crate) timeout: Duration,
}

/// A server, or what one offered before.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct CatalogArgs {
    /// A saved catalog, or a result of `tools/list`, instead of a server: nothing is started
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["server", "command", "target"])]
    pub(crate) catalog: Option<PathBuf>,
    /// Write what the server offers to this file, without its command, url, headers and times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) save_catalog: Option<PathBuf>,
    /// Which server.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

impl ServerArgs {
    /// The command line or url as one text; `None` if none is given.
    pub(crate) fn typed(&self) -> Option<String> {
        let words = || shell_words::join(&self.command);
        let command = (!self.command.is_empty()).then(words);
        self.server.clone().or(command)
    }

    /// The option that names the server, as it is typed again; `None` for the only target.
    pub(crate) fn named(&self) -> Option<[String; 2]> {
        let target = || Some(["--target".to_owned(), self.target.clone()?]);
        let server = self.typed().map(|it| ["--server".to_owned(), it]);
        server.or_else(target)
    }
}
