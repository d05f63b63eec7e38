//! Checks that each written file has its own path and overwrites nothing that the run reads.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::Refusal;
use crate::{
    cli::options::SinkArgs,
    deliver::{command_file, file::identity},
};
use report::Format;
use suite::discover::Files;
use text::environment::Environment;

/// The files that a run reads and writes.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The base of relative paths, and the runner's files.
    pub(crate) environment: Arc<Environment>,
    /// Written files, each with the option that names it.
    pub(crate) written: Vec<(String, PathBuf)>,
    /// Read files: the option, the path, and the option that may overwrite it.
    pub(crate) read: Vec<(&'static str, PathBuf, Option<&'static str>)>,
    /// A folder whose files are all read.
    pub(crate) blobs: Option<PathBuf>,
    /// The suites as they were named.
    pub(crate) suites: Vec<PathBuf>,
    /// The files of the suites, once they are known.
    pub(crate) files: Files,
}

impl Places {
    /// Lists written files and the baseline; `renewal` is the option that may overwrite the baseline, and its path.
    pub(crate) fn new<'a>(
        environment: &Arc<Environment>,
        written: impl IntoIterator<Item = (&'a str, &'a Path)>,
        baseline: Option<&Path>,
        renewal: (&'static str, Option<&'a Path>),
    ) -> Self {
        let (option, renewed) = renewal;
        let renewed = renewed.map(|path| (option, path));
        let written = written.into_iter().chain(renewed);
        let baseline = baseline.map(|path| ("--baseline", path.to_owned(), Some(option)));
        Self {
            environment: Arc::clone(environment),
            written: written
                .map(|(by, path)| (by.to_owned(), path.to_owned()))
                .collect(),
            read: baseline.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Refuses to overwrite a file that is needed.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let mut known: Vec<(PathBuf, &str)> = Vec::new();
        for (by, path) in &self.written {
            let Some(file) = self.identity(path) else {
                continue;
            };
            let over = match known.iter().find(|(other, _)| *other == file) {
                Some((_, first)) => Some(format!("which `{first}` writes too")),
                None => self.kept(by, &file),
            };
            if let Some(over) = over {
                let path = path.display();
                let message = format!("`{by}` would write over `{path}`, {over}");
                return Err(Refusal::invalid(message).with_help("give each its own path"));
            }
            known.push((file, by));
        }
        Ok(())
    }

    /// Why a file must not be overwritten, if it must not.
    fn kept(&self, writes: &str, file: &Path) -> Option<String> {
        let is = |path: &Path| self.identity(path).as_deref() == Some(file);
        let read = self
            .read
            .iter()
            .find(|(_, path, renews)| *renews != Some(writes) && is(path));
        if let Some((by, _, _)) = read {
            return Some(format!("which `{by}` reads"));
        }
        let blobs = self.blobs.as_deref();
        let blobs = blobs.and_then(|it| fs::canonicalize(self.environment.directory.join(it)).ok());
        if file.is_file() && blobs.is_some_and(|blobs| file.starts_with(blobs)) {
            return Some("which `--blobs` reads".to_owned());
        }
        if self.files.holds(file) || self.suites.iter().any(|path| is(path)) {
            return Some("a file of the suite".to_owned());
        }
        let name = command_file::named(file, &self.environment)?;
        Some(format!("the runner's own file `{name}`"))
    }

    fn identity(&self, path: &Path) -> Option<PathBuf> {
        identity(&self.environment.directory.join(path))
    }
}

/// The report files that the options name, each with its option.
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

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, sync::Arc};

    use super::Places;
    use text::environment::Environment;

    fn refused(base: &Path, written: [(&str, &str); 2]) -> Option<String> {
        let environment = Arc::new(Environment {
            directory: base.to_owned(),
            ..Environment::default()
        });
        let written = written.map(|(by, path)| (by, Path::new(path)));
        let mut places = Places::new(&environment, written, None, ("--save-baseline", None));
        places.suites = vec!["evals/a.yaml".into()];
        places.check().err().map(|it| it.message)
    }

    #[test]
    fn one_file_is_found_by_every_name_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        fs::create_dir(base.join("there")).unwrap();
        fs::write(base.join("there/kept.xml"), "").unwrap();
        let absolute = base.join("new/a.xml").display().to_string();
        let case = |one: &str, other: &str, wanted: bool| {
            let found = refused(base, [("--junit", one), ("--badge", other)]);
            assert_eq!(found.is_some(), wanted, "{one} {other}: {found:?}");
        };
        case("a.xml", "a.xml", true);
        case("a.xml", "./a.xml", true);
        case("a.xml", "there/../a.xml", true);
        case("a.xml", "new/../a.xml", true);
        case("new/a.xml", &absolute, true);
        case("there/kept.xml", "there/./kept.xml", true);
        case("a.xml", "b.xml", false);
        case("a.xml", "there/a.xml", false);
        case("/dev/null", "/dev/null", false);
        case("there", "there", false);
        std::os::unix::fs::symlink("there", base.join("link")).unwrap();
        std::os::unix::fs::symlink("there/kept.xml", base.join("kept")).unwrap();
        case("link/a.xml", "there/a.xml", true);
        case("kept", "there/kept.xml", true);
    }

    #[test]
    fn what_is_to_stay_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let found = refused(
            folder.path(),
            [("--junit", "a.xml"), ("--badge", "evals/a.yaml")],
        );
        assert_eq!(
            found.unwrap(),
            "`--badge` would write over `evals/a.yaml`, a file of the suite"
        );
        let found = refused(folder.path(), [("--junit", "a.xml"), ("--badge", "a.xml")]);
        assert_eq!(
            found.unwrap(),
            "`--badge` would write over `a.xml`, which `--junit` writes too"
        );
    }
}
