//! Finding the YAML files of a folder, each once, whatever links do.

use std::{
    collections::HashSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use super::{
    aside::{Aside, NameSays},
    contents::{Contents, FileRead},
};
use crate::suite::Dialect;

/// The deepest folder that is looked into.
const DEEPEST: usize = 64;

/// A file that may hold assertions.
#[derive(Debug)]
pub(super) struct FoundFile {
    /// Its path from the suite, with `/`, as it is shown.
    pub(super) relative: String,
    /// The path it is read by.
    pub(super) path: PathBuf,
    /// A number for the file itself, the same whatever links lead to it.
    pub(super) identity: u64,
}

impl FoundFile {
    /// The file's name.
    pub(super) fn name(&self) -> &str {
        self.relative.rsplit('/').next().unwrap_or(&self.relative)
    }

    /// The file as it was read, by its identity, where somebody asks.
    pub(super) fn read(&self, text: &str, contents: Contents) -> Option<(u64, FileRead)> {
        match contents {
            Contents::Told => Some((self.identity, FileRead::new(&self.relative, text))),
            Contents::Unasked => None,
        }
    }
}

/// The files that suites and settings were read from, whatever is wrong in them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    identities: HashSet<u64>,
    read: Vec<FileRead>,
}

impl Files {
    /// Those of suites and settings, by their identities, and what of them was read.
    pub(super) fn new(suites: HashSet<u64>, settings: Vec<u64>, read: Vec<FileRead>) -> Self {
        let mut identities = suites;
        identities.extend(settings);
        Self { identities, read }
    }

    /// What the suites are made of, suite by suite as they were named, each in the order of its paths: which of two
    /// assertions of one path and name is `#2`, and whose settings hold for the run, hangs on it. Nothing where nobody
    /// asked.
    pub(crate) fn read(&self) -> &[FileRead] {
        &self.read
    }

    /// Whether a file, by its canonical path, is one of them.
    pub(crate) fn holds(&self, file: &Path) -> bool {
        self.identities.contains(&identity(file))
    }
}

/// What was found so far.
#[derive(Debug)]
pub(super) struct Walk {
    dialect: Dialect,
    /// The files.
    pub(super) files: Vec<FoundFile>,
    /// Folders that cannot be read, relative, with the reason.
    pub(super) unreadable: Vec<(String, String)>,
    /// Folders that were passed over because of their name.
    pub(super) passed_over: Vec<Aside>,
    seen: HashSet<PathBuf>,
}

/// A number for a path; that two of a suite share one is as good as impossible.
fn identity(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// Whether a file's name ends in `.yaml` or `.yml`, in any case.
pub(super) fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
    })
}

/// A file that was named itself.
pub(super) fn single(path: &Path) -> FoundFile {
    let name = path.file_name().unwrap_or_default();
    FoundFile {
        relative: name.to_string_lossy().into_owned(),
        path: path.to_path_buf(),
        identity: identity(&fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())),
    }
}

/// A folder to look into.
struct Folder<'a> {
    path: &'a Path,
    relative: &'a str,
    canonical: &'a Path,
    depth: usize,
}

impl Walk {
    /// Nothing found yet.
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            files: Vec::new(),
            unreadable: Vec::new(),
            passed_over: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Finds all files below a folder.
    pub(super) fn folder(&mut self, path: &Path) {
        let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        self.seen.insert(canonical.clone());
        self.look(&Folder {
            path,
            relative: "",
            canonical: &canonical,
            depth: 0,
        });
    }

    /// Looks into one folder.
    fn look(&mut self, folder: &Folder<'_>) {
        let entries = match fs::read_dir(folder.path) {
            Ok(entries) => entries,
            Err(error) => {
                let shown = if folder.relative.is_empty() {
                    "."
                } else {
                    folder.relative
                };
                self.unreadable.push((shown.to_owned(), error.to_string()));
                return;
            }
        };
        for entry in entries {
            match entry {
                Ok(entry) => self.entry(folder, &entry),
                Err(error) => self
                    .unreadable
                    .push((folder.relative.to_owned(), error.to_string())),
            }
        }
    }

    /// Takes in one entry of a folder.
    fn entry(&mut self, folder: &Folder<'_>, entry: &fs::DirEntry) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let relative = if folder.relative.is_empty() {
            name.clone().into_owned()
        } else {
            format!("{}/{name}", folder.relative)
        };
        let path = entry.path();
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => {
                self.unreadable.push((relative, error.to_string()));
                return;
            }
        };
        if kind.is_symlink() {
            self.link(folder, &path, &name, relative);
        } else if kind.is_dir() {
            let canonical = folder.canonical.join(entry.file_name());
            self.subfolder(folder, &path, &name, (&relative, canonical));
        } else if is_yaml(&path) {
            let canonical = folder.canonical.join(entry.file_name());
            self.files.push(FoundFile {
                relative,
                path,
                identity: identity(&canonical),
            });
        }
    }

    /// Follows a link. One that leads nowhere matters only when it is named like a suite: then it is a file that
    /// cannot be read.
    fn link(&mut self, folder: &Folder<'_>, path: &Path, name: &str, relative: String) {
        let canonical = fs::canonicalize(path).unwrap_or_else(|_| folder.canonical.join(name));
        if canonical.is_dir() {
            self.subfolder(folder, path, name, (&relative, canonical));
        } else if is_yaml(path) {
            self.files.push(FoundFile {
                relative,
                path: path.to_path_buf(),
                identity: identity(&canonical),
            });
        }
    }

    /// Looks into a folder below, unless its name, its depth or a loop of links speak against it.
    fn subfolder(
        &mut self,
        parent: &Folder<'_>,
        path: &Path,
        name: &str,
        (relative, canonical): (&str, PathBuf),
    ) {
        let depth = parent.depth + 1;
        let enter = match (self.dialect, NameSays::of(name)) {
            (Dialect::Compat, _) => depth <= 1,
            (Dialect::Native, None) => depth <= DEEPEST,
            (Dialect::Native, Some(says)) => {
                self.passed_over.push(Aside {
                    relative: relative.to_owned(),
                    path: path.to_path_buf(),
                    name: says,
                });
                false
            }
        };
        if enter && self.seen.insert(canonical.clone()) {
            self.look(&Folder {
                path,
                relative,
                canonical: &canonical,
                depth,
            });
        }
    }
}
