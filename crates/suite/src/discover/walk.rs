//! Finding the YAML files of a folder, each once, whatever links do.

use std::{
    collections::{HashMap, HashSet},
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use super::{
    SETTINGS,
    aside::{Aside, is_fixture, is_of_tools},
    contents::{Contents, FileRead},
};
use crate::Dialect;

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
    /// Whether the last part of the path is a link.
    is_link: bool,
}

impl FoundFile {
    /// The file's name.
    pub(super) fn name(&self) -> &str {
        self.relative.rsplit('/').next().unwrap_or(&self.relative)
    }

    /// The folder it lies in.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
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
pub struct Files {
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
    pub fn read(&self) -> &[FileRead] {
        &self.read
    }

    /// Whether a file, by its canonical path, is one of them.
    pub fn holds(&self, file: &Path) -> bool {
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
    /// Fixtures that were passed over because of their name.
    pub(super) passed_over: Vec<Aside>,
    /// Files that a link leads to once more: the path of the link, and the one the file is read by.
    pub(super) again: Vec<(String, String)>,
    seen: HashSet<PathBuf>,
    /// Links to folders that are still to be looked into.
    links: Vec<Below>,
}

/// A folder below another, itself or by a link.
#[derive(Debug)]
struct Below {
    path: PathBuf,
    relative: String,
    canonical: PathBuf,
    depth: usize,
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
        is_link: false,
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
            again: Vec::new(),
            seen: HashSet::new(),
            links: Vec::new(),
        }
    }

    /// Finds all files below a folder. Links are followed when all that lies there itself is known, so that nobody's id
    /// changes because a link to it was made; then they come by their paths.
    pub(super) fn folder(&mut self, path: &Path) {
        let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        self.seen.insert(canonical.clone());
        self.look(&Folder {
            path,
            relative: "",
            canonical: &canonical,
            depth: 0,
        });
        while let Some(first) = self.first_link() {
            self.enter(&first);
        }
        self.unreadable.sort();
        let by_path = |one: &Aside, other: &Aside| one.relative.cmp(&other.relative);
        self.passed_over.sort_by(by_path);
    }

    /// The link that comes first.
    fn first_link(&mut self) -> Option<Below> {
        let links = self.links.iter().enumerate();
        let (first, _) = links.min_by(|(_, one), (_, other)| one.relative.cmp(&other.relative))?;
        Some(self.links.swap_remove(first))
    }

    /// Looks into a folder below, if no other way led there.
    fn enter(&mut self, below: &Below) {
        if self.seen.insert(below.canonical.clone()) {
            self.look(&Folder {
                path: &below.path,
                relative: &below.relative,
                canonical: &below.canonical,
                depth: below.depth,
            });
        }
    }

    /// Looks into one folder, entry by entry as they are named.
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
        let mut named = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => named.push((entry.file_name(), entry)),
                Err(error) => self
                    .unreadable
                    .push((folder.relative.to_owned(), error.to_string())),
            }
        }
        named.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (_, entry) in named {
            self.entry(folder, &entry);
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
            if let Some(below) = self.subfolder(folder, (path, &name), relative, canonical) {
                self.enter(&below);
            }
        } else if is_yaml(&path) {
            let canonical = folder.canonical.join(entry.file_name());
            self.files.push(FoundFile {
                relative,
                path,
                identity: identity(&canonical),
                is_link: false,
            });
        }
    }

    /// Follows a link, to a folder later. One that leads nowhere matters only when it is named like a suite: then it is a file that
    /// cannot be read.
    fn link(&mut self, folder: &Folder<'_>, path: &Path, name: &str, relative: String) {
        let canonical = fs::canonicalize(path).unwrap_or_else(|_| folder.canonical.join(name));
        if canonical.is_dir() {
            let way = (path.to_path_buf(), name);
            let linked = self.subfolder(folder, way, relative, canonical);
            self.links.extend(linked);
        } else if is_yaml(path) {
            self.files.push(FoundFile {
                relative,
                path: path.to_path_buf(),
                identity: identity(&canonical),
                is_link: true,
            });
        }
    }

    /// A folder below, unless its name or its depth speak against looking into it.
    fn subfolder(
        &mut self,
        parent: &Folder<'_>,
        (path, name): (PathBuf, &str),
        relative: String,
        canonical: PathBuf,
    ) -> Option<Below> {
        let depth = parent.depth + 1;
        let enter = match self.dialect {
            Dialect::Compat => depth <= 1,
            Dialect::Native if is_fixture(name) => {
                self.passed_over.push(Aside { relative, path });
                return None;
            }
            Dialect::Native => depth <= DEEPEST && !is_of_tools(name),
        };
        enter.then_some(Below {
            path,
            relative,
            canonical,
            depth,
        })
    }

    /// The files in the order of their paths, each once: by its own path, else by that of the first link to it.
    pub(super) fn take_files(&mut self) -> Vec<FoundFile> {
        let mut files = std::mem::take(&mut self.files);
        files.sort_by(|one, other| {
            (one.is_link, &one.relative).cmp(&(other.is_link, &other.relative))
        });
        let mut seen = HashSet::new();
        let mut again = Vec::new();
        files.retain(|file| {
            let is_new = seen.insert(file.identity);
            // Settings hold for each folder that they lie in.
            if !is_new && !SETTINGS.contains(&file.name()) {
                again.push((file.identity, file.relative.clone()));
            }
            is_new
        });
        self.note_again(again, &files);
        files.sort_by(|one, other| one.relative.cmp(&other.relative));
        files
    }

    /// Notes links by the identity of the file that they lead to, of which there are rarely any.
    fn note_again(&mut self, links: Vec<(u64, String)>, files: &[FoundFile]) {
        if links.is_empty() {
            return;
        }
        let firsts = files.iter().map(|file| (file.identity, &file.relative));
        let firsts: HashMap<_, _> = firsts.collect();
        for (identity, link) in links {
            if let Some(first) = firsts.get(&identity) {
                self.again.push((link, (*first).clone()));
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use super::Walk;
    use crate::Dialect;

    #[test]
    fn what_lies_in_a_suite_itself_has_its_own_path_whatever_links_lead_there() {
        // Each link is made before and after what it leads to: folders are read in the order of their making on some
        // file systems, and in the opposite one on others.
        let links = ["a/0", "a/sub/z", "latest", "z", "0.yaml", "fixtures"];
        let case = |first: &[&str], last: &[&str]| {
            let suite = tempfile::tempdir().unwrap();
            let other = tempfile::tempdir().unwrap();
            fs::create_dir(other.path().join("sub")).unwrap();
            fs::write(other.path().join("sub/o.yaml"), "").unwrap();
            fs::create_dir_all(suite.path().join("a/sub")).unwrap();
            let link = |name: &&str| {
                let to = match *name {
                    "0.yaml" => Path::new("m/deep/x.yaml").to_path_buf(),
                    "a/0" | "z" => other.path().to_path_buf(),
                    "a/sub/z" => other.path().join("sub"),
                    _ => suite.path().join("m"),
                };
                symlink(to, suite.path().join(name)).unwrap();
            };
            first.iter().for_each(link);
            fs::create_dir_all(suite.path().join("m/deep")).unwrap();
            fs::create_dir_all(suite.path().join("m/fixture")).unwrap();
            fs::write(suite.path().join("m/deep/x.yaml"), "").unwrap();
            last.iter().for_each(link);
            let mut walk = Walk::new(Dialect::Native);
            walk.folder(suite.path());
            let files = walk.take_files();
            let found: Vec<&str> = files.iter().map(|file| file.relative.as_str()).collect();
            assert_eq!(found, ["a/0/sub/o.yaml", "m/deep/x.yaml"]);
            let aside = walk.passed_over.iter();
            let aside: Vec<&str> = aside.map(|it| it.relative.as_str()).collect();
            assert_eq!(aside, ["fixtures", "m/fixture"]);
        };
        case(&links, &[]);
        case(&[], &links);
    }
}
