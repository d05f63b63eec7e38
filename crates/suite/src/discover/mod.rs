//! From paths to a loaded suite: finds the files, reads them, hands each document to `suite::lower`. The only part of
//! `suite` that reads the file system.

mod folder;
mod known;
mod root;
mod text;
mod walk;

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use self::{
    folder::{Folder, Lowered},
    known::Known,
    root::{Root, SettingsFile, is_assertion, without_effect},
    text::read_text,
    walk::FoundFile,
};
pub use self::{
    root::nearest_settings,
    walk::{FileRead, Files},
};
use crate::{
    Dialect,
    lower::{
        Compiled, FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables, assertion::Found,
    },
    model::{Case, Entry, Suite},
    problems::{self, code::NO_SERVER},
    settings::Settings,
};
use ::text::{
    diagnostic::{Diagnostic, Severity},
    environment::Environment,
    name,
    source::{Origin, SourceFile, Span},
};

/// Names of the settings file.
const SETTINGS: [&str; 2] = ["mcp-assert.yaml", "mcp-assert.yml"];

/// The name of the file of `lock`, which is no suite wherever it lies.
pub const LOCK: &str = "mcp-surface.lock.yaml";

/// Another folder that stands for one of this machine: paths below the one are taken below the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// The folder, without links.
    pub from: PathBuf,
    /// What stands for it.
    pub to: PathBuf,
}

impl Elsewhere {
    /// The path that stands for this one; itself, where it is outside of the folder.
    pub fn of(&self, path: &Path) -> PathBuf {
        let real = fs::canonicalize(path);
        match real.as_deref().unwrap_or(path).strip_prefix(&self.from) {
            Ok(below) => self.to.join(below).components().collect(),
            Err(_) => path.to_owned(),
        }
    }
}

/// How a suite is loaded.
#[derive(Debug, Clone, Copy)]
pub struct LoadOptions<'a> {
    /// Whose rules apply; `None`: the settings file says.
    pub dialect: Option<Dialect>,
    /// What an unset environment variable means.
    pub unset_variables: UnsetVariables,
    /// Whether the command line may give the server.
    pub server_from: ServerFrom,
    /// Whether the command line may give the image.
    pub image_from: ImageFrom,
    /// Where servers are started that name no container.
    pub started_in: StartedIn,
    /// Whether the command line may give the fixture.
    pub fixture_from: FixtureFrom,
    /// Where the paths of servers and fixtures start instead of beside their files.
    pub servers_in: Option<&'a Elsewhere>,
    /// The caller's environment.
    pub environment: &'a Arc<Environment>,
}

impl LoadOptions<'_> {
    /// Where the paths of servers start that a file in this folder names.
    fn servers_of(&self, folder: &Path) -> PathBuf {
        self.servers_in
            .map_or_else(|| folder.to_owned(), |elsewhere| elsewhere.of(folder))
    }
}

/// A suite and its settings.
#[derive(Debug)]
pub struct Loaded {
    /// The assertions and the problems.
    pub suite: Suite,
    /// What the settings file says; of several suites, the first one that has one.
    pub settings: Arc<Settings>,
    /// The files that all of it was read from.
    pub files: Files,
}

/// A path that was asked for cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[error("{}", problem.message)]
pub struct LoadError {
    /// What is wrong with it.
    pub problem: Diagnostic,
}

/// Loads the suites at these paths: folders or YAML files.
pub fn load(paths: &[PathBuf], options: &LoadOptions<'_>) -> Result<Loaded, LoadError> {
    let compiled = Compiled::default();
    let roots: Vec<Root<'_>> = paths
        .iter()
        .map(|path| Root::open(path, options, &compiled))
        .collect::<Result<_, _>>()?;
    let settings_files: Vec<PathBuf> = roots.iter().flat_map(Root::settings_files).collect();
    let mut settings = roots.iter().map(|root| &root.settings);
    let chosen = settings.find(|settings| settings.file.is_some());
    let chosen = chosen.cloned().unwrap_or_default();
    let without_effect = without_effect(&chosen, &roots, options.fixture_from);
    let options = LoadOptions {
        fixture_from: match chosen.fixture {
            Some(_) => FixtureFrom::Given,
            None => options.fixture_from,
        },
        ..*options
    };
    let mut loading = Loading {
        options: &options,
        suite: Suite {
            problems: without_effect,
            ..Suite::default()
        },
        compiled: &compiled,
        seen: HashSet::new(),
        read: Vec::new(),
        reported: HashSet::new(),
        known: Known::default(),
    };
    let mut seen_settings = HashSet::new();
    for root in roots {
        loading.add(root, &mut seen_settings);
    }
    loading
        .suite
        .variables
        .clone_from(&compiled.variables.borrow());
    loading.seen.extend(settings_files);
    Ok(Loaded {
        suite: loading.suite,
        settings: chosen,
        files: Files {
            canonical: loading.seen,
            read: loading.read,
        },
    })
}

/// A path as people know it: relative to the caller where possible.
fn shown(path: &Path, environment: &Environment) -> String {
    let relative = path.strip_prefix(&environment.directory).unwrap_or(path);
    let relative = relative.strip_prefix(".").unwrap_or(relative);
    let text = relative.to_string_lossy().replace('\\', "/");
    if text.is_empty() { ".".into() } else { text }
}

/// A path below the one that was given.
fn shown_below(path: &Path, relative: &str, environment: &Environment) -> String {
    match (shown(path, environment).as_str(), relative) {
        (".", relative) => relative.to_owned(),
        (parent, ".") => parent.trim_end_matches('/').to_owned(),
        (parent, relative) => format!("{}/{relative}", parent.trim_end_matches('/')),
    }
}

/// Whether a problem makes its document unusable.
fn is_error(problem: &Diagnostic) -> bool {
    problem.severity == Severity::Error
}

/// The file that a problem is in, with as much of the text as could be read.
fn file_of(problem: &Diagnostic, shown: String) -> Arc<SourceFile> {
    match &problem.origin {
        Some(origin) => Arc::clone(&origin.file),
        None => Arc::new(SourceFile::new(shown, String::new())),
    }
}

/// The entry of a document or a file that cannot be used. Its case stands where its first error is, if that is in its
/// own file.
fn invalid(mut case: Arc<Case>, problems: &[Diagnostic]) -> Entry {
    let errors = || problems.iter().filter(|problem| is_error(problem));
    let mut origins = errors().filter_map(|problem| problem.origin.as_ref());
    if let Some(origin) = origins.find(|it| Arc::ptr_eq(&it.file, &case.origin.file)) {
        Arc::make_mut(&mut case).origin = origin.clone();
    }
    let reasons = errors().map(|problem| match &problem.origin {
        Some(origin) => format!("{}: {}", origin.location(), problem.message),
        None => problem.message.clone(),
    });
    let reasons = reasons.collect();
    Entry::Invalid { case, reasons }
}

/// The state while suites are loaded.
struct Loading<'a> {
    options: &'a LoadOptions<'a>,
    suite: Suite,
    compiled: &'a Compiled,
    /// The canonical paths of all files.
    seen: HashSet<PathBuf>,
    read: Vec<FileRead>,
    /// The problems of settings files that were reported: their defaults are read again with every document.
    reported: HashSet<(String, Option<Span>, &'static str, String)>,
    known: Known,
}

impl Loading<'_> {
    /// Adds all files of one suite.
    fn add(&mut self, root: Root<'_>, seen_settings: &mut HashSet<PathBuf>) {
        let Root {
            path,
            base,
            is_folder,
            settings,
            file,
        } = root;
        if let Some(file) = file
            && seen_settings.insert(file.canonical.clone())
        {
            self.settings_file(file);
        }
        let of_settings = || Dialect::of_compat(settings.compat);
        let dialect = self.options.dialect.unwrap_or_else(of_settings);
        let mut files = if is_folder {
            self.files_below(path, &base, &settings, dialect)
        } else {
            vec![FoundFile::single(&base)]
        };
        files.retain(|file| self.seen.insert(file.canonical.clone()));
        for file in &files {
            let shown = if is_folder {
                shown_below(path, &file.relative, self.options.environment)
            } else {
                shown(path, self.options.environment)
            };
            let folder = Folder {
                path: file.folder().to_path_buf(),
                servers: self.options.servers_of(file.folder()),
                settings: Arc::clone(&settings),
                dialect,
                options: self.options,
                compiled: self.compiled,
            };
            self.file(file, shown, &folder);
        }
    }

    /// Adds a note for people.
    fn note(&mut self, note: String) {
        self.suite.notes.push(note);
    }

    /// The files of a folder, in their order.
    fn files_below(
        &mut self,
        path: &Path,
        base: &Path,
        settings: &Settings,
        dialect: Dialect,
    ) -> Vec<FoundFile> {
        let walk = walk::walk(base, dialect);
        let environment = self.options.environment;
        let shown = |relative: &str| shown_below(path, relative, environment);
        for (folder, reason) in walk.unreadable {
            let canonical = FoundFile::single(&base.join(&folder)).canonical;
            if self.seen.insert(canonical) {
                let problem = problems::unreadable(&shown(&folder), &reason);
                let file = Arc::new(SourceFile::new(shown(&folder), String::new()));
                self.unusable_file(&folder, &file, vec![problem]);
            }
        }
        for (link, first) in walk.again {
            let [link, first] = [link, first].map(|relative| name(&shown(&relative)));
            self.note(format!(
                "`{link}` is passed over: it is the file `{first}` once more"
            ));
        }
        for (relative, path) in walk.skipped {
            // The settings may say that it is the fixture.
            if settings.fixture.as_ref() != Some(&path) {
                let shown = name(&shown(&relative));
                self.note(format!(
                    "`{shown}` is passed over: its name says that it holds no assertions"
                ));
            }
        }
        walk.files
    }

    /// Adds all documents of one file.
    fn file(&mut self, found: &FoundFile, shown: String, folder: &Folder<'_>) {
        let text = match read_text(&found.path, &shown) {
            Ok(text) => text,
            Err(problem) => {
                let file = file_of(&problem, shown);
                self.read.push(found.read(""));
                self.unusable_file(&found.relative, &file, vec![*problem]);
                return;
            }
        };
        let file = Arc::new(SourceFile::new(shown, text));
        let settings = &folder.settings;
        if SETTINGS.contains(&found.name()) && !is_assertion(&file.text) {
            let read = settings.file.as_ref();
            if read.is_none_or(|read| read.path != file.path) {
                let reason = if found.relative == SETTINGS[1] && read.is_some() {
                    format!("the settings are those of `{}`", SETTINGS[0])
                } else {
                    "settings are read at the root of a suite only".to_owned()
                };
                self.note(format!("`{}` is passed over: {reason}", name(&file.path)));
            }
            return;
        }
        let documents = folder.documents(&file, found.name());
        if documents.is_empty() {
            self.note(format!("`{}` is empty", name(&file.path)));
        }
        let known = self.suite.entries.len();
        for document in documents {
            self.document(found, document, settings);
        }
        if self.suite.entries.len() > known {
            self.read.push(found.read(&file.text));
        }
    }

    /// Adds one document.
    fn document(&mut self, file: &FoundFile, document: Lowered, settings: &Settings) {
        let Lowered {
            case,
            named,
            found,
            problems,
        } = document;
        match found {
            Found::Nothing => {
                let place = case.origin.location();
                self.note(format!("`{place}` is passed over: it holds no assertion"));
            }
            Found::Assertion(mut assertion) => {
                assertion.case = self.identify(file, case, named);
                let entry = Entry::Assertion(Arc::new(*assertion));
                self.suite.entries.push(entry);
            }
            Found::Unusable => {
                let case = self.identify(file, case, named);
                self.suite.entries.push(invalid(case, &problems));
            }
        }
        for problem in problems {
            if self.is_news(&problem, settings) {
                self.suite.problems.push(problem);
            }
        }
    }

    /// Whether a problem of a document is to be reported: one of the settings file is reported once, and a missing
    /// server may stand in settings that cannot be read.
    fn is_news(&mut self, problem: &Diagnostic, settings: &Settings) -> bool {
        let of_settings = |origin: &Origin| {
            let file = settings.file.as_ref();
            file.is_some_and(|file| Arc::ptr_eq(&origin.file, file))
        };
        let is_of_settings = problem.origin.as_ref().is_some_and(of_settings);
        (!is_of_settings || self.reported.insert(identity(problem)))
            && !(settings.is_unread && problem.code == NO_SERVER)
    }

    /// Gives a case its id, and reports a name that was used before.
    fn identify(&mut self, file: &FoundFile, case: Case, named: Origin) -> Arc<Case> {
        let id = format!("{}::{}", file.relative, case.name);
        let case = self.known.identify(&id, case);
        // A case without a name has that of its file.
        if case.name != file.name()
            && let Some(first) = self.known.namesake(&case)
        {
            let first = first.origin.location();
            self.suite.problems.push(Diagnostic {
                origin: Some(named),
                ..problems::duplicate_name(&case.name, &first)
            });
        }
        case
    }

    /// Adds a settings file. An invalid one becomes an outcome as a suite's file would: without it nobody can say what
    /// the assertions would have been.
    fn settings_file(&mut self, settings: SettingsFile) {
        let SettingsFile {
            canonical,
            file,
            read,
            problems,
        } = settings;
        self.read.extend(read);
        self.reported.extend(problems.iter().map(identity));
        if problems.iter().any(is_error) {
            self.seen.insert(canonical);
            let name = file.path.rsplit('/').next().unwrap_or_default().to_owned();
            self.unusable_file(&name, &file, problems);
        } else {
            self.suite.problems.extend(problems);
        }
    }

    /// A file or folder that cannot be used is an assertion that cannot be observed.
    fn unusable_file(&mut self, relative: &str, file: &Arc<SourceFile>, problems: Vec<Diagnostic>) {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let case = Case {
            id: String::new(),
            name: name.to_owned(),
            origin: Origin {
                file: Arc::clone(file),
                span: Span::default(),
            },
            subject: "",
            tags: Vec::new(),
        };
        let case = self.known.identify(&format!("{relative}::{name}"), case);
        self.suite.entries.push(invalid(case, &problems));
        self.suite.problems.extend(problems);
    }
}

/// What tells a problem from others.
fn identity(problem: &Diagnostic) -> (String, Option<Span>, &'static str, String) {
    let origin = problem.origin.as_ref();
    let path = origin.map_or_else(String::new, |origin| origin.file.path.to_string());
    let span = origin.map(|origin| origin.span);
    (path, span, problem.code, problem.message.clone())
}
