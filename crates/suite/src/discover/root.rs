//! A path that was asked for, and the settings file of its folder. What is below it is found by `walk`.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    FileRead, LoadError, LoadOptions, SETTINGS,
    aside::is_assertion,
    file_of, shown,
    text::{read_beside, read_text},
    walk,
};
use crate::{
    lower::{Compiled, FixtureFrom, ServerFrom, Surroundings},
    problems,
    settings::{self, Settings},
};
use text::{diagnostic::Diagnostic, source::SourceFile};

/// A suite as it was asked for.
pub(super) struct Root<'a> {
    /// The path as it was given.
    pub(super) path: &'a Path,
    /// The path from the root of the file system.
    pub(super) base: PathBuf,
    /// Whether it is a folder.
    pub(super) is_folder: bool,
    /// What the settings file says.
    pub(super) settings: Arc<Settings>,
    /// The settings file as it was read, by its identity.
    pub(super) read: Option<(u64, FileRead)>,
    /// What is wrong with the settings file, if anything is.
    pub(super) wrong: Option<WrongSettings>,
}

/// A settings file that something is wrong with.
pub(super) struct WrongSettings {
    /// A number for the file itself.
    pub(super) identity: u64,
    /// The file, with the text as far as it could be read.
    pub(super) file: Arc<SourceFile>,
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
        let metadata = fs::metadata(&base).map_err(|error| LoadError {
            problem: problems::unreadable(&shown(path, options.environment), &error.to_string()),
        })?;
        let folder = if metadata.is_dir() {
            base.clone()
        } else {
            base.parent().unwrap_or(Path::new("")).to_path_buf()
        };
        if !metadata.is_dir() && !walk::is_yaml(&base) {
            return Err(LoadError {
                problem: problems::not_yaml(&shown(path, options.environment)),
            });
        }
        let SettingsRead {
            settings,
            read,
            wrong,
        } = settings_of(&folder, options, compiled);
        Ok(Self {
            path,
            base,
            is_folder: metadata.is_dir(),
            settings: Arc::new(settings),
            read,
            wrong,
        })
    }

    /// The identities of the files where its settings may stand.
    pub(super) fn settings_files(&self) -> Vec<u64> {
        let folder = if self.is_folder {
            &self.base
        } else {
            self.base.parent().unwrap_or(Path::new(""))
        };
        SETTINGS
            .iter()
            .map(|name| folder.join(name))
            .filter(|path| path.is_file())
            .map(|path| walk::single(&path).identity)
            .collect()
    }
}

/// What came of looking for a settings file; of none, nothing.
#[derive(Default)]
struct SettingsRead {
    settings: Settings,
    read: Option<(u64, FileRead)>,
    wrong: Option<WrongSettings>,
}

/// The settings of a folder.
fn settings_of(folder: &Path, options: &LoadOptions<'_>, compiled: &Compiled) -> SettingsRead {
    let Some(path) = SETTINGS
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
    else {
        return SettingsRead::default();
    };
    let found = walk::single(&path);
    let wrong = |file: &Arc<SourceFile>, problems: Vec<Diagnostic>| WrongSettings {
        identity: found.identity,
        file: Arc::clone(file),
        problems,
    };
    let shown = shown(&path, options.environment);
    let text = match read_text(&path, &shown) {
        Ok(text) => text,
        Err(problem) => {
            let file = file_of(&problem, shown);
            return SettingsRead {
                settings: Settings {
                    is_unread: true,
                    ..Settings::default()
                },
                wrong: Some(wrong(&file, vec![*problem])),
                ..SettingsRead::default()
            };
        }
    };
    if is_assertion(&text) {
        return SettingsRead::default();
    }
    let read = found.read(&text, options.contents);
    let file = Arc::new(SourceFile::new(shown, text));
    let around = Surroundings {
        environment: options.environment,
        unset: options.unset_variables,
        server_from: ServerFrom::Suite,
        image_from: options.image_from,
        started_in: options.started_in,
        // Which targets run is decided later.
        fixture_from: FixtureFrom::Elsewhere,
        docker: None,
        directory: folder,
        read_file: &|path| read_beside(folder, path),
        defaults: None,
    };
    let (settings, problems) = settings::read(&file, &around, compiled);
    let is_wrong = !problems.is_empty();
    SettingsRead {
        settings,
        read,
        wrong: is_wrong.then(|| wrong(&file, problems)),
    }
}

/// The fixtures that hold for no suite, because the first settings are those of the run.
pub(super) fn other_fixtures(chosen: &Settings, roots: &[Root<'_>]) -> Vec<Diagnostic> {
    let mut told = HashSet::new();
    let first = chosen.file.as_ref().map_or("", |file| &*file.path);
    let reason = format!(
        "one fixture holds for all suites of a run, and `{first}` comes first; run the suites one by one, or give \
         `--fixture`"
    );
    let others = roots.iter().map(|root| &root.settings);
    others
        .filter(|settings| settings.fixture.is_some() && settings.fixture != chosen.fixture)
        .filter(|settings| told.insert(settings.fixture.clone()))
        .filter_map(|settings| settings.fixture_at.clone())
        .map(|origin| problems::no_effect(origin, "fixture", &reason))
        .collect()
}

/// What further settings files say of the whole run, which holds for no suite: the first one's holds for all.
pub(super) fn passed_over(chosen: &Settings, roots: &[Root<'_>]) -> Vec<Diagnostic> {
    let first = chosen.file.as_ref().map_or("", |file| &*file.path);
    let reason = format!(
        "it is about the whole run, and `{first}`, which comes first, speaks for that; run the suites one by one, or \
         say it on the command line"
    );
    let mut told = HashSet::from([first]);
    let files = roots.iter().filter_map(|root| {
        let file = root.settings.file.as_ref()?;
        told.insert(&file.path).then_some(&root.settings)
    });
    files
        .flat_map(|settings| settings.of_run.iter().map(move |place| (settings, place)))
        .filter(|(settings, (key, _))| !key.is_same(chosen, settings))
        .map(|(_, (key, at))| problems::no_effect(at.clone(), key.key(), &reason))
        .collect()
}
