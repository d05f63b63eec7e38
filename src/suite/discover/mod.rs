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
    sync::{Arc, Mutex, PoisonError},
};

pub(crate) use self::contents::{Contents, FileRead};
pub(crate) use self::walk::Files;
use self::{
    aside::is_assertion,
    folder::{Folder, Sources},
    known::Known,
    root::{Root, WrongSettings, other_fixtures, passed_over},
    text::read_text,
    walk::FoundFile,
    wrong::{Told, at_first_problem, file_of, is_error, reasons},
};
use crate::{
    suite::{
        Dialect,
        lower::{
            Compiled, FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables,
            assertion::{self, Found},
        },
        model::{Case, Entry, Lower, MOST_WHOLE, Suite},
        problems::{self, Problems},
        raw::Reading,
        settings::Settings,
        written::name_of,
        yaml::{self, Document, Kind, Node, Source},
    },
    words::{
        diagnostic::Diagnostic,
        environment::Environment,
        source::{Origin, SourceFile, Span},
        text::name,
    },
};

/// Names of the settings file.
const SETTINGS: [&str; 2] = ["mcp-assert.yaml", "mcp-assert.yml"];

/// How a suite is loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadOptions<'a> {
    /// Whose rules apply; `None` where the settings file says.
    pub(crate) dialect: Option<Dialect>,
    /// What an unset environment variable means.
    pub(crate) unset_variables: UnsetVariables,
    /// Whether the command line may give the server.
    pub(crate) server_from: ServerFrom,
    /// Whether the command line may give the image.
    pub(crate) image_from: ImageFrom,
    /// Where servers are started that name no container.
    pub(crate) started_in: StartedIn,
    /// Whether the command line may give the fixture.
    pub(crate) fixture_from: FixtureFrom,
    /// Whether what the suites are made of is told.
    pub(crate) contents: Contents,
    /// The caller's environment.
    pub(crate) environment: &'a Arc<Environment>,
}

/// A suite and its settings.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The assertions and what is wrong.
    pub(crate) suite: Suite,
    /// What the settings file says; of several suites, the first one that has one.
    pub(crate) settings: Arc<Settings>,
    /// The files that all of it was read from.
    pub(crate) files: Files,
}

/// A path that was asked for cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[error("{}", problem.message)]
pub(crate) struct LoadError {
    /// What is wrong with it.
    pub(crate) problem: Diagnostic,
}

/// Loads the suites at these paths: folders or YAML files.
pub(crate) fn load(paths: &[PathBuf], options: &LoadOptions<'_>) -> Result<Loaded, LoadError> {
    let compiled = Arc::default();
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
        compiled,
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
    let compiled = loading.compiled.lock();
    let compiled = compiled.unwrap_or_else(PoisonError::into_inner);
    loading.suite.variables.clone_from(compiled.variables());
    drop(compiled);
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

/// So many assertions are kept as they were lowered; what is beyond is lowered again when it is to run, which takes
/// time and saves memory.
const KEPT_BODIES: usize = 1_000;

/// A file and what its documents are lowered with.
struct Located<'a> {
    file: &'a FoundFile,
    folder: &'a Folder,
    again: &'a Arc<Lower>,
}

/// What is known while suites are loaded.
struct Loading<'a> {
    options: &'a LoadOptions<'a>,
    suite: Suite,
    compiled: Arc<Mutex<Compiled>>,
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
        let files = if is_folder {
            self.files_below(path, &base, &settings, dialect)
        } else {
            vec![walk::single(&base)]
        };
        let mut folders: Option<(Arc<Folder>, Arc<Lower>)> = None;
        for file in files {
            if !self.seen_files.insert(file.identity) {
                continue;
            }
            let shown = if is_folder {
                self.shown_below(path, &file.relative)
            } else {
                shown(path, self.options.environment)
            };
            let parent = file.path.parent().unwrap_or(Path::new(""));
            // Files come folder by folder.
            let (folder, again) = match folders.take() {
                Some(known) if known.0.path == parent => folders.insert(known),
                Some(_) | None => {
                    folders.insert(self.folder(parent, (Arc::clone(&settings), dialect)))
                }
            };
            self.file(
                &Located {
                    file: &file,
                    folder,
                    again,
                },
                shown,
            );
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
            let shown = self.shown_below(path, &folder);
            let problem = problems::unreadable(&shown, &reason);
            let file = Arc::new(SourceFile::new(shown, String::new()));
            self.unusable_file(&folder, &file, vec![problem]);
        }
        for (link, first) in walk.again {
            let [link, first] = [link, first].map(|it| name(&self.shown_below(path, &it)));
            let note = format!("`{link}` is passed over: it is the file `{first}` once more");
            self.suite.notes.push(note);
        }
        for folder in walk.passed_over {
            // The settings say what it is.
            if settings.fixture.as_deref() == Some(folder.path.as_path()) {
                continue;
            }
            let Some(reason) = folder.told() else {
                continue;
            };
            let shown = self.shown_below(path, &folder.relative);
            let note = format!("`{}` is passed over: {reason}", name(&shown));
            self.suite.notes.push(note);
        }
        files
    }

    /// A path below the one that was given.
    fn shown_below(&self, path: &Path, relative: &str) -> String {
        match (shown(path, self.options.environment).as_str(), relative) {
            (".", relative) => relative.to_owned(),
            (parent, ".") => parent.trim_end_matches('/').to_owned(),
            (parent, relative) => format!("{}/{relative}", parent.trim_end_matches('/')),
        }
    }

    /// Adds all documents of one file.
    fn file(&mut self, found: &Located<'_>, shown: String) {
        let settings = &found.folder.settings;
        let is_settings = SETTINGS.contains(&found.file.name());
        let text = match read_text(&found.file.path, &shown) {
            Ok(text) => text,
            Err(problem) => {
                let file = file_of(&problem, shown);
                self.read.add(found.file.read("", self.options.contents));
                self.unusable_file(&found.file.relative, &file, vec![*problem]);
                return;
            }
        };
        let file = Arc::new(SourceFile::new(shown, text));
        let known = self.suite.entries.len();
        if is_settings && !is_assertion(&file.text) {
            if settings
                .file
                .as_ref()
                .is_none_or(|known| known.path != file.path)
            {
                let why = if found.file.relative == SETTINGS[1] && settings.file.is_some() {
                    format!("the settings are those of `{}`", SETTINGS[0])
                } else {
                    "settings are read at the root of a suite only".to_owned()
                };
                let note = format!("`{}` is passed over: {why}", name(&file.path));
                self.suite.notes.push(note);
            }
            return;
        }
        let problems = Problems::new(Arc::clone(&file), settings.file.clone());
        let dialect = found.folder.dialect;
        let mut documents =
            yaml::parse(&file.text, Source::Suite, problems.empty(), dialect).peekable();
        if documents.peek().is_none() {
            self.suite
                .notes
                .push(format!("`{}` is empty", name(&file.path)));
        }
        let mut first = true;
        while let Some(document) = documents.next() {
            let alone = std::mem::take(&mut first) && documents.peek().is_none();
            let reading = Reading::new(problems.empty(), dialect);
            let many = self.suite.entries.len() >= KEPT_BODIES;
            let again = (alone && many).then_some(found.again);
            self.document(found, document, reading, again);
        }
        if self.suite.entries.len() > known {
            self.read
                .add(found.file.read(&file.text, self.options.contents));
        }
    }

    /// Adds one document.
    fn document(
        &mut self,
        found: &Located<'_>,
        document: Document,
        mut reading: Reading,
        again: Option<&Arc<Lower>>,
    ) {
        let Document {
            root,
            name,
            at,
            problems: broken,
        } = document;
        let is_broken = root.is_none() || broken.iter().any(is_error);
        let defaults = found.folder.settings.defaults.as_ref();
        let tags = root.as_ref().map(|root| tags_of(root, defaults));
        let name = name
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| found.file.name().to_owned());
        let subject = root
            .as_ref()
            .and_then(|root| assertion::subjects_of(root).first().copied())
            .map_or("", |(subject, _)| subject);
        let origin = reading.problems.origin(at);
        let case = Case {
            id: String::new(),
            name,
            origin,
            subject,
            tags: tags.unwrap_or_default(),
        };
        reading.problems.add_all(broken);
        let (lowered, mut reading, sources) = match root {
            Some(root) => found.folder.lower(root, reading),
            None => (Found::Unusable, reading, Sources::OwnText),
        };
        let settings = &found.folder.settings;
        let list = wrong::beside(settings, reading.problems.take());
        let unusable = is_broken || list.iter().any(is_error);
        match lowered {
            Found::Nothing if !unusable => {
                let place = case.origin.location();
                self.suite
                    .notes
                    .push(format!("`{place}` is passed over: it holds no assertion"));
            }
            Found::Assertion(parts) if !unusable => {
                let case = self.identify(found.file, case);
                let again = match sources {
                    Sources::OwnText if self.suite.entries.len() >= MOST_WHOLE => again.cloned(),
                    Sources::OwnText | Sources::OtherFiles => None,
                };
                let assertion = parts.into_assertion(case, again);
                self.suite
                    .entries
                    .push(Entry::Assertion(Arc::new(assertion)));
            }
            Found::Nothing | Found::Assertion(_) | Found::Unusable => {
                let reasons = reasons(&list);
                let case = at_first_problem(self.identify(found.file, case), &list);
                self.suite.entries.push(Entry::Invalid { case, reasons });
            }
        }
        let told = &mut self.told;
        let news = list.into_iter().filter(|it| told.is_news_of(it, settings));
        self.suite.problems.extend(news);
    }

    /// A folder, and how a document of it that is alone in its file is lowered again.
    fn folder(&self, path: &Path, rules: (Arc<Settings>, Dialect)) -> (Arc<Folder>, Arc<Lower>) {
        let compiled = Arc::clone(&self.compiled);
        let folder = Folder::new(path.to_path_buf(), rules, self.options, compiled);
        let folder = Arc::new(folder);
        let again = Arc::clone(&folder);
        (folder, Arc::new(move |case: &Case| again.body(case)))
    }

    /// Gives a case its id, and tells a name that was used before.
    fn identify(&mut self, file: &FoundFile, case: Case) -> Arc<Case> {
        let id = format!("{}::{}", file.relative, case.name);
        let case = self.known.identify(&id, case);
        if case.name == file.name() {
            // Not a name that somebody chose: the file's.
            return case;
        }
        if let Some(first) = self.known.namesake(&case) {
            let first = first.origin.location();
            let problem = problems::duplicate_name(name_of(&case.origin), &case.name, &first);
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

/// The tags of a document: its own, else the settings'. They are read as far as they can be, since a document that
/// cannot be used is selected by them too.
fn tags_of(root: &Node, defaults: Option<&Node>) -> Vec<String> {
    let text = |node: &Node| match &node.kind {
        Kind::Text(text, _) | Kind::Flag(_, text) | Kind::Number(_, text) => Some(text.clone()),
        Kind::Null | Kind::List(_) | Kind::Map(_) => None,
    };
    let inherited = || defaults.and_then(|defaults| defaults.get("tags"));
    match root.get("tags").or_else(inherited) {
        None => Vec::new(),
        Some(node) => match &node.kind {
            Kind::List(items) => items.iter().filter_map(text).collect(),
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::Map(_) => {
                text(node).into_iter().collect()
            }
        },
    }
}
