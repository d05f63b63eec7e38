//! The files that a run writes: each is its own, and none is one that the run is made of.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::Refusal;
use crate::{
    cli::options::SinkArgs,
    deliver::{
        clash::{self, Named},
        command_file,
    },
};
use report::Format;
use suite::discover::Files;
use text::environment::Environment;

/// What a run reads and writes.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Where paths begin, and which files are the runner's.
    pub(crate) environment: Arc<Environment>,
    /// What it writes.
    pub(crate) written: Vec<Named>,
    /// What it reads besides its suites, and what alone may write there too.
    pub(crate) read: Vec<(Named, Option<&'static str>)>,
    /// The folder whose files it reads, all of them.
    pub(crate) blobs: Option<PathBuf>,
    /// The suites as they were named.
    pub(crate) suites: Vec<PathBuf>,
    /// The files of the suites, once they are known.
    pub(crate) files: Files,
}

impl Places {
    /// The files that a run writes, each with what asks for it, and the baseline that it is compared with: `renewal` is the
    /// option that may write there again, and where it writes.
    pub(crate) fn new<'a>(
        environment: &Arc<Environment>,
        written: impl IntoIterator<Item = (&'a str, &'a Path)>,
        baseline: Option<&'a Path>,
        renewal: (&'static str, Option<&'a Path>),
    ) -> Self {
        let (option, renewed) = renewal;
        let renewed = renewed.map(|path| (option, path));
        let written = written.into_iter().chain(renewed);
        let baseline = baseline.map(|path| Named::new("--baseline", path));
        Self {
            environment: Arc::clone(environment),
            written: written.map(|(by, path)| Named::new(by, path)).collect(),
            read: baseline
                .map(|named| (named, Some(option)))
                .into_iter()
                .collect(),
            ..Self::default()
        }
    }

    /// Notes the plan that is read.
    pub(crate) fn reads_plan(&mut self, plan: &Path) {
        self.read.push((Named::new("--plan", plan), None));
    }

    /// Notes the folder of the shards' results.
    pub(crate) fn reads_blobs(&mut self, folder: &Path) {
        self.blobs = Some(folder.to_owned());
    }

    /// Notes the run that is told again. It may be stored where it is.
    pub(crate) fn reads_run(&mut self, run: &Path) {
        let again = option(Format::RunJson);
        self.read.push((Named::new(BLOBS, run), Some(again)));
    }

    /// Refuses a file that would be lost.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let base = &self.environment.directory;
        let blobs = self.blobs.as_deref();
        let blobs = blobs.and_then(|folder| fs::canonicalize(base.join(folder)).ok());
        let is_blob =
            |file: &Path| file.is_file() && blobs.as_ref().is_some_and(|it| file.starts_with(it));
        let stays = |writes: &Named, file: &Path| {
            let is = |path: &Path| clash::file(&base.join(path)).as_deref() == Some(file);
            let read = self.read.iter().find(|(named, may_write)| {
                *may_write != Some(writes.by.as_str()) && is(&named.path)
            });
            let by = match read {
                Some((named, _)) => Some(named.by.as_str()),
                None => is_blob(file).then_some(BLOBS),
            };
            if let Some(by) = by {
                return Some(format!("which `{by}` reads"));
            }
            let of_suite = self.files.holds(file) || self.suites.iter().any(|path| is(path));
            let own = || command_file::stays(file, &self.environment);
            of_suite
                .then(|| "a file of the suite".to_owned())
                .or_else(own)
        };
        match clash::clash(base, &self.written, stays) {
            None => Ok(()),
            Some(clash) => {
                Err(Refusal::invalid(clash.to_string()).with_help("give each its own path"))
            }
        }
    }
}

/// The option that names what is merged.
const BLOBS: &str = "--blobs";

/// The report files that the options name.
pub(crate) fn files(sinks: &SinkArgs) -> impl Iterator<Item = (Format, &Path)> {
    let files = [
        (Format::Junit, &sinks.junit),
        (Format::Markdown, &sinks.markdown),
        (Format::Badge, &sinks.badge),
        (Format::Sarif, &sinks.sarif),
        (Format::RunJson, &sinks.report_json),
    ];
    files
        .into_iter()
        .filter_map(|(format, path)| Some((format, path.as_deref()?)))
}

/// The option that names the file of a report.
pub(crate) fn option(format: Format) -> &'static str {
    match format {
        Format::Json => "--report",
        Format::RunJson => "--report-json",
        Format::Junit => "--junit",
        Format::Markdown => "--markdown",
        Format::Badge => "--badge",
        Format::Sarif => "--sarif",
    }
}
