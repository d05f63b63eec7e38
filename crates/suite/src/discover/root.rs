//! A path that was asked for, and the settings file of its folder.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    FileRead, LoadError, LoadOptions, SETTINGS, file_of, shown,
    text::{read_beside, read_text},
    walk::{FoundFile, is_yaml},
};
use crate::{
    Dialect,
    lower::{Compiled, FixtureFrom, ServerFrom, Surroundings, assertion::subjects_of},
    problems::{self, Problems},
    settings::{self, Settings},
    yaml::{self, Source},
};
use text::{
    diagnostic::Diagnostic,
    source::{Origin, SourceFile},
};

/// A suite as it was asked for.
pub(super) struct Root<'a> {
    /// The path as it was given.
    pub(super) path: &'a Path,
    /// The path from the root of the file system.
    pub(super) base: PathBuf,
    /// Whether it is a folder.
    pub(super) is_folder: bool,
    /// What the suite's settings say.
    pub(super) settings: Arc<Settings>,
    /// The settings file.
    pub(super) file: Option<SettingsFile>,
}

/// A settings file as it was found.
pub(super) struct SettingsFile {
    /// Its path without links.
    pub(super) canonical: PathBuf,
    /// The file, with as much of the text as could be read.
    pub(super) file: Arc<SourceFile>,
    /// The file as it was read, if it could be.
    pub(super) read: Option<FileRead>,
    /// What is wrong with it.
    pub(super) problems: Vec<Diagnostic>,
}

impl<'a> Root<'a> {
    /// Looks at the path and reads the settings.
    pub(super) fn open(
        path: &'a Path,
        options: &LoadOptions<'_>,
        compiled: &Compiled,
    ) -> Result<Self, LoadError> {
        let base = options.environment.directory.join(path);
        let shown = shown(path, options.environment);
        let refused = |problem| LoadError { problem };
        let metadata = fs::metadata(&base)
            .map_err(|error| refused(problems::unreadable(&shown, &error.to_string())))?;
        let is_folder = metadata.is_dir();
        if !is_folder && !is_yaml(&base) {
            return Err(refused(problems::not_yaml(&shown)));
        }
        let mut root = Self {
            path,
            base,
            is_folder,
            settings: Arc::default(),
            file: None,
        };
        if let Some((settings, file)) = settings_of(root.folder(), options, compiled) {
            (root.settings, root.file) = (Arc::new(settings), Some(file));
        }
        Ok(root)
    }

    fn folder(&self) -> &Path {
        if self.is_folder {
            &self.base
        } else {
            self.base.parent().unwrap_or(Path::new(""))
        }
    }

    /// The canonical paths of the files where its settings may stand.
    pub(super) fn settings_files(&self) -> impl Iterator<Item = PathBuf> {
        let paths = SETTINGS.iter().map(|name| self.folder().join(name));
        let files = paths.filter(|path| path.is_file());
        files.map(|path| FoundFile::single(&path).canonical)
    }
}

/// The settings of a folder, if there is a file.
fn settings_of(
    folder: &Path,
    options: &LoadOptions<'_>,
    compiled: &Compiled,
) -> Option<(Settings, SettingsFile)> {
    let mut paths = SETTINGS.iter().map(|name| folder.join(name));
    let path = paths.find(|path| path.is_file())?;
    let found = FoundFile::single(&path);
    let shown = shown(&path, options.environment);
    let (text, problem) = match read_text(&path, &shown) {
        Ok(text) => (text, None),
        Err(problem) => (String::new(), Some(*problem)),
    };
    if is_assertion(&text) {
        return None;
    }
    let read = problem.is_none().then(|| found.read(&text));
    let file = match &problem {
        Some(problem) => file_of(problem, shown),
        None => Arc::new(SourceFile::new(shown, text)),
    };
    let around = Surroundings {
        environment: options.environment,
        unset: options.unset_variables,
        server_from: ServerFrom::Suite,
        image_from: options.image_from,
        started_in: options.started_in,
        // Which targets run is decided later.
        fixture_from: FixtureFrom::Elsewhere,
        docker: None,
        directory: &options.servers_of(folder),
        read_file: &|path| read_beside(folder, path),
        defaults: None,
    };
    let (mut settings, mut problems) = settings::read(&file, &around, compiled);
    if let Some(problem) = problem {
        settings = Settings {
            is_unread: true,
            ..Settings::default()
        };
        problems = vec![problem];
    }
    let file = SettingsFile {
        canonical: found.canonical,
        file,
        read,
        problems,
    };
    Some((settings, file))
}

/// The nearest folder upwards from the caller's directory that has settings, what they say, and what is wrong with them.
pub fn nearest_settings(options: &LoadOptions<'_>) -> Option<(PathBuf, Settings, Vec<Diagnostic>)> {
    let compiled = Compiled::default();
    let mut folders = options.environment.directory.ancestors();
    folders.find_map(|folder| {
        let (settings, file) = settings_of(folder, options, &compiled)?;
        Some((folder.to_owned(), settings, file.problems))
    })
}

/// Whether a file with the settings' name is an assertion after all.
pub(super) fn is_assertion(text: &str) -> bool {
    let file = Arc::new(SourceFile::new(String::new(), String::new()));
    let problems = Problems::new(file, None);
    yaml::parse(text, Source::Suite, problems, Dialect::Native)
        .filter_map(|document| document.root)
        .any(|root| !subjects_of(&root).is_empty())
}

/// Reports what further settings files say of the whole run: the first one speaks for that.
pub(super) fn without_effect(
    chosen: &Settings,
    roots: &[Root<'_>],
    fixture_from: FixtureFrom,
) -> Vec<Diagnostic> {
    let first = chosen.file.as_ref().map_or("", |file| &*file.path);
    let reason = format!(
        "it is about the whole run, and `{first}`, which comes first, speaks for that; run the suites one by one, or \
         say it on the command line"
    );
    let mut seen = HashSet::from([first]);
    let files = roots.iter().filter_map(|root| {
        let file = root.settings.file.as_ref()?;
        seen.insert(&file.path).then_some(&root.settings)
    });
    let mut problems = Vec::new();
    for settings in files {
        for (key, at) in &settings.of_run {
            let other = chosen.of_run.iter().find(|(other, _)| other == key);
            let is_same = match *key {
                "fixture" => {
                    fixture_from != FixtureFrom::Settings || settings.fixture == chosen.fixture
                }
                _ => other.is_some_and(|(_, other)| written(other) == written(at)),
            };
            if !is_same {
                problems.push(Diagnostic {
                    origin: Some(at.clone()),
                    ..problems::no_effect(key, &reason)
                });
            }
        }
    }
    problems
}

/// The text at a place.
fn written(at: &Origin) -> Option<&str> {
    at.file.text.get(at.span.start..at.span.end)
}
