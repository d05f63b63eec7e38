//! The files that a job writes: each is its own, and none is one that the job is made of.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    cli::ci::Store,
    commands::running::Refusal,
    deliver::{
        clash::{self, Named},
        command_file,
        facts::Wishes,
        stream::stream,
    },
    report::Format,
    suite::discover::Files,
    words::environment::Environment,
};

/// What a job reads and writes.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Where paths begin, and which files are the runner's.
    pub(super) environment: Arc<Environment>,
    /// What it writes.
    pub(super) written: Vec<Named>,
    /// What it reads besides its suites, and what alone may write there too.
    pub(super) read: Vec<(Named, Option<&'static str>)>,
    /// The folder whose files it reads, all of them.
    pub(super) blobs: Option<PathBuf>,
    /// The suites as they were named.
    pub(super) suites: Vec<PathBuf>,
    /// The files of the suites, once they are known.
    pub(super) files: Files,
}

impl Places {
    /// What is written for these wishes, and the baseline.
    pub(super) fn of(
        environment: &Arc<Environment>,
        wishes: &Wishes,
        (baseline, updated): (&Store, &Store),
    ) -> Self {
        let files = wishes.files.iter();
        let mut places = Self {
            environment: Arc::clone(environment),
            written: files
                .map(|(format, path)| Named::new(option(*format), path))
                .collect(),
            ..Self::default()
        };
        if let Store::Path(path) = updated {
            places.written.push(Named::new(UPDATE, path));
        }
        places.reads_baseline(baseline);
        places
    }

    /// Notes the file that a run is compared with.
    pub(super) fn reads_baseline(&mut self, baseline: &Store) {
        if let Store::Path(path) = baseline {
            self.read
                .push((Named::new("--baseline", path), Some(UPDATE)));
        }
    }

    /// Notes the plan that is read.
    pub(super) fn reads_plan(&mut self, plan: &Path) {
        self.read.push((Named::new("--plan", plan), None));
    }

    /// Notes the folder of the shards' results.
    pub(super) fn reads_blobs(&mut self, folder: &Path) {
        self.blobs = Some(folder.to_owned());
    }

    /// Notes the run that is told again. It may be stored where it is.
    pub(super) fn reads_run(&mut self, run: &Path) {
        let again = option(Format::RunJson);
        self.read.push((Named::new(BLOBS, run), Some(again)));
    }

    /// Refuses a file that would be lost, and `-`: standard output is the log of the job.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let streams = |named: &&Named| stream(&named.path).is_some();
        if let Some(named) = self.written.iter().find(streams) {
            return Err(Refusal::invalid(format!(
                "`{} {}` is no file, and stdout is the log of `ci`",
                named.by,
                named.path.display()
            ))
            .with_help("name a file; `run` writes a report to stdout"));
        }
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

/// The option that names the next baseline.
const UPDATE: &str = "--update-baseline";

/// The option that names the file of a report.
fn option(format: Format) -> &'static str {
    match format {
        Format::Json => "--report",
        Format::RunJson => "--report-json",
        Format::Junit => "--junit",
        Format::Markdown => "--markdown",
        Format::Badge => "--badge",
        Format::Sarif => "--sarif",
    }
}
