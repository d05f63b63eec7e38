//! From paths to a loaded suite: finds the files, reads them, hands each document to `suite::lower`. The only
//! part of `suite` that touches the file system.

mod aside;
mod contents;
mod folder;
mod known;
mod root;
mod text;
mod walk;
mod wrong;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use self::contents::{Contents, FileRead};
pub use self::walk::Files;
use self::{
    aside::is_assertion,
    folder::{Folder, Lowered, Meaning},
    known::Known,
    root::{Root, WrongSettings, other_fixtures, passed_over},
    text::read_text,
    walk::FoundFile,
    wrong::{Told, at_first_problem, file_of, is_error, reasons},
};
use crate::{
    Dialect,
    lower::{Compiled, FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables},
    model::{Case, Entry, Suite},
    problems,
    settings::Settings,
};
use ::text::{
    diagnostic::Diagnostic,
    environment::Environment,
    name,
    source::{Origin, SourceFile, Span},
};

/// Names of the settings file.
const SETTINGS: [&str; 2] = ["mcp-assert.yaml", "mcp-assert.yml"];

/// How a suite is loaded.
#[derive(Debug, Clone, Copy)]
pub struct LoadOptions<'a> {
    /// Whose rules apply; `None` where the settings file says.
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
    /// Whether what the suites are made of is told.
    pub contents: Contents,
    /// The caller's environment.
    pub environment: &'a Arc<Environment>,
}

/// A suite and its settings.
#[derive(Debug)]
pub struct Loaded {
    /// The assertions and what is wrong.
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
    let settings_files: Vec<u64> = roots.iter().flat_map(Root::settings_files).collect();
    let mut settings = roots.iter().map(|root| &root.settings);
    let chosen = settings.find(|settings| settings.file.is_some());
    let chosen = chosen.cloned().unwrap_or_default();
    // One fixture holds for all suites of a run.
    let fixtures = match options.fixture_from {
        FixtureFrom::Settings => other_fixtures(&chosen, &roots),
        FixtureFrom::Elsewhere | FixtureFrom::Given => Vec::new(),
    };
    let passed_over = passed_over(&chosen, &roots);
    let options = LoadOptions {
        fixture_from: match chosen.fixture {
            Some(_) => FixtureFrom::Given,
            None => options.fixture_from,
        },
        ..*options
    };
    let mut loading = Loading {
        options: &options,
        suite: Suite::default(),
        compiled: &compiled,
        seen_files: HashSet::new(),
        seen_settings: HashSet::new(),
        read: contents::Read::default(),
        told: Told::default(),
        known: Known::default(),
    };
    loading.suite.problems.extend(fixtures);
    loading.suite.problems.extend(passed_over);
    for root in roots {
        loading.add(root);
    }
    loading.suite.variables = compiled.variables();
    Ok(Loaded {
        suite: loading.suite,
        settings: chosen,
        files: Files::new(
            loading.seen_files,
            settings_files,
            loading.read.into_files(),
        ),
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

/// What is known while suites are loaded.
struct Loading<'a> {
    options: &'a LoadOptions<'a>,
    suite: Suite,
    compiled: &'a Compiled,
    seen_files: HashSet<u64>,
    /// Settings files that something is wrong with: several suites may have the same.
    seen_settings: HashSet<u64>,
    /// What the suites are made of.
    read: contents::Read,
    /// What was said of settings files.
    told: Told,
    known: Known,
}

impl Loading<'_> {
    /// Adds all files of one suite.
    fn add(&mut self, root: Root<'_>) {
        let Root {
            path,
            base,
            is_folder,
            settings,
            read,
            wrong,
        } = root;
        self.read.add(read);
        if let Some(wrong) = wrong {
            self.wrong_settings(wrong);
        }
        let of_settings = || Dialect::of_compat(settings.compat);
        let dialect = self.options.dialect.unwrap_or_else(of_settings);
        let mut files = if is_folder {
            self.files_below(path, &base, &settings, dialect)
        } else {
            vec![walk::single(&base)]
        };
        files.retain(|file| self.seen_files.insert(file.identity));
        let folder = |path: &Path| Folder {
            path: path.to_path_buf(),
            settings: Arc::clone(&settings),
            dialect,
            options: self.options,
            compiled: self.compiled,
        };
        for file in &files {
            let shown = if is_folder {
                shown_below(path, &file.relative, self.options.environment)
            } else {
                shown(path, self.options.environment)
            };
            self.file(file, shown, &folder(file.folder()));
        }
    }

    /// The files of a folder, in their order.
    fn files_below(
        &mut self,
        path: &Path,
        base: &Path,
        settings: &Settings,
        dialect: Dialect,
    ) -> Vec<FoundFile> {
        let mut walk = walk::Walk::new(dialect);
        walk.folder(base);
        let files = walk.take_files();
        for (folder, reason) in walk.unreadable {
            if !self
                .seen_files
                .insert(walk::single(&base.join(&folder)).identity)
            {
                continue;
            }
            let shown = shown_below(path, &folder, self.options.environment);
            let problem = problems::unreadable(&shown, &reason);
            let file = Arc::new(SourceFile::new(shown, String::new()));
            self.unusable_file(&folder, &file, vec![problem]);
        }
        for (link, first) in walk.again {
            let [link, first] =
                [link, first].map(|it| name(&shown_below(path, &it, self.options.environment)));
            let note = format!("`{link}` is passed over: it is the file `{first}` once more");
            self.suite.notes.push(note);
        }
        for folder in walk.passed_over {
            // The settings say what it is.
            if settings.fixture.as_deref() == Some(folder.path.as_path()) {
                continue;
            }
            let shown = shown_below(path, &folder.relative, self.options.environment);
            let note = format!(
                "`{}` is passed over: its name says that it holds no assertions",
                name(&shown)
            );
            self.suite.notes.push(note);
        }
        files
    }

    /// Adds all documents of one file.
    fn file(&mut self, found: &FoundFile, shown: String, folder: &Folder<'_>) {
        let text = match read_text(&found.path, &shown) {
            Ok(text) => text,
            Err(problem) => {
                let file = file_of(&problem, shown);
                self.read.add(found.read("", self.options.contents));
                self.unusable_file(&found.relative, &file, vec![*problem]);
                return;
            }
        };
        let file = Arc::new(SourceFile::new(shown, text));
        let settings = &folder.settings;
        if SETTINGS.contains(&found.name()) && !is_assertion(&file.text) {
            let read = settings.file.as_ref();
            if read.is_none_or(|read| read.path != file.path) {
                let why = if found.relative == SETTINGS[1] && read.is_some() {
                    format!("the settings are those of `{}`", SETTINGS[0])
                } else {
                    "settings are read at the root of a suite only".to_owned()
                };
                let note = format!("`{}` is passed over: {why}", name(&file.path));
                self.suite.notes.push(note);
            }
            return;
        }
        let documents = folder.documents(&file, found.name());
        if documents.is_empty() {
            let note = format!("`{}` is empty", name(&file.path));
            self.suite.notes.push(note);
        }
        let known = self.suite.entries.len();
        for document in documents {
            self.document(found, document, settings);
        }
        if self.suite.entries.len() > known {
            self.read.add(found.read(&file.text, self.options.contents));
        }
    }

    /// Adds one document.
    fn document(&mut self, found: &FoundFile, document: Lowered, settings: &Settings) {
        let Lowered {
            case,
            named,
            meaning,
            problems,
        } = document;
        match meaning {
            Meaning::Nothing => {
                let place = case.origin.location();
                let note = format!("`{place}` is passed over: it holds no assertion");
                self.suite.notes.push(note);
            }
            Meaning::Assertion(parts) => {
                let assertion = parts.of(self.identify(found, case, named));
                self.suite
                    .entries
                    .push(Entry::Assertion(Arc::new(assertion)));
            }
            Meaning::Unusable => {
                let reasons = reasons(&problems);
                let case = at_first_problem(self.identify(found, case, named), &problems);
                self.suite.entries.push(Entry::Invalid { case, reasons });
            }
        }
        let told = &mut self.told;
        let news = problems.into_iter();
        let news = news.filter(|it| told.is_news_of(it, settings));
        self.suite.problems.extend(news);
    }

    /// Gives a case its id, and tells a name that was used before.
    fn identify(&mut self, file: &FoundFile, case: Case, named: Origin) -> Arc<Case> {
        let id = format!("{}::{}", file.relative, case.name);
        let case = self.known.identify(&id, case);
        if case.name == file.name() {
            // Not a name that somebody chose: the file's.
            return case;
        }
        if let Some(first) = self.known.namesake(&case) {
            let first = first.origin.location();
            let problem = problems::duplicate_name(named, &case.name, &first);
            self.suite.problems.push(problem);
        }
        case
    }

    /// Tells what is wrong with a settings file, once; the file becomes an outcome as a suite's would, since nobody
    /// can say what the assertions would have been with it.
    fn wrong_settings(&mut self, wrong: WrongSettings) {
        let WrongSettings {
            identity,
            file,
            problems,
        } = wrong;
        if !self.seen_settings.insert(identity) {
            return;
        }
        for problem in &problems {
            self.told.is_news(problem, Some(&file));
        }
        if problems.iter().any(is_error) {
            self.seen_files.insert(identity);
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
        let id = format!("{relative}::{name}");
        let case = self.known.identify(&id, case);
        let case = at_first_problem(case, &problems);
        let reasons = reasons(&problems);
        self.suite.entries.push(Entry::Invalid { case, reasons });
        self.suite.problems.extend(problems);
    }
}
