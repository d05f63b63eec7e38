//! Finding the YAML files of a folder, each once, whichever links lead to it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use super::{LOCK, SETTINGS};
use crate::Dialect;
use text::digest::sha256;

/// The deepest folder that is read.
const DEEPEST: usize = 64;

/// A file that may hold assertions.
#[derive(Debug)]
pub(super) struct FoundFile {
    /// Its path from the suite, with `/`, as it is shown.
    pub(super) relative: String,
    /// The path it is read by.
    pub(super) path: PathBuf,
    /// Its path without links.
    pub(super) canonical: PathBuf,
    /// Whether the last part of the path is a link.
    is_link: bool,
}

impl FoundFile {
    /// A file that was named itself.
    pub(super) fn single(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default();
        Self {
            relative: name.to_string_lossy().into_owned(),
            path: path.to_path_buf(),
            canonical: canonical(path),
            is_link: false,
        }
    }

    /// The file's name.
    pub(super) fn name(&self) -> &str {
        self.relative.rsplit('/').next().unwrap_or(&self.relative)
    }

    /// The folder it lies in.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The file as it was read. How its lines end depends on the checkout, and does not count.
    pub(super) fn read(&self, text: &str) -> FileRead {
        FileRead {
            path: self.relative.clone(),
            sha256: sha256(text.replace("\r\n", "\n").as_bytes()),
        }
    }
}

/// A file that assertions or settings were read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// Its path from the suite, with `/`.
    pub path: String,
    /// The SHA-256 of its text.
    pub sha256: String,
}

/// The files that suites and settings were read from.
#[derive(Debug, Clone, Default)]
pub struct Files {
    pub(super) canonical: HashSet<PathBuf>,
    pub(super) read: Vec<FileRead>,
}

impl Files {
    /// The files that assertions or settings were read from: suite by suite as they were named, each in the order of its
    /// paths. The numbers of equal ids (`#2`), and whose settings hold for the run, depend on it.
    pub fn read(&self) -> &[FileRead] {
        &self.read
    }

    /// The folders that they lie in.
    pub fn folders(&self) -> BTreeSet<&Path> {
        let folders = self.canonical.iter().filter_map(|path| path.parent());
        folders.collect()
    }

    /// Whether a file, by its canonical path, is one of them.
    pub fn holds(&self, file: &Path) -> bool {
        self.canonical.contains(file)
    }
}

/// What was found below a folder; all paths are relative to it and in order.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// The files: each by its own path, else by that of the first link to it.
    pub(super) files: Vec<FoundFile>,
    /// Folders that cannot be read, with the reason.
    pub(super) unreadable: Vec<(String, String)>,
    /// Fixtures that were skipped because of their name, with the path they are read by.
    pub(super) skipped: Vec<(String, PathBuf)>,
    /// Links to a file that was found already, with its path.
    pub(super) again: Vec<(String, String)>,
}

/// Whether a file's name ends in `.yaml` or `.yml`, in any case.
pub(super) fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
    })
}

/// A path without links.
fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Finds all files below a folder.
pub(super) fn walk(base: &Path, dialect: Dialect) -> Walk {
    let mut walk = Walk::default();
    let mut seen = HashSet::new();
    // Links to folders come last, so that a folder has its own path whichever links lead to it.
    let mut open = BTreeMap::from([((false, String::new()), base.to_path_buf())]);
    while let Some(((_, relative), path)) = open.pop_first() {
        if !seen.insert(canonical(&path)) {
            continue;
        }
        for entry in walk.entries(&path, &relative) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let relative = match relative.as_str() {
                "" => name.clone(),
                folder => format!("{folder}/{name}"),
            };
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if path.is_dir() {
                let depth = relative.matches('/').count() + 1;
                let is_read = match dialect {
                    Dialect::Compat => depth <= 1,
                    Dialect::Native if matches!(name.as_str(), "fixtures" | "fixture") => {
                        walk.skipped.push((relative, path));
                        continue;
                    }
                    Dialect::Native => {
                        depth <= DEEPEST && name != "node_modules" && !name.starts_with('.')
                    }
                };
                if is_read {
                    open.insert((is_link, relative), path);
                }
            } else if is_yaml(&path) && name != LOCK {
                walk.files.push(FoundFile {
                    relative,
                    canonical: canonical(&path),
                    path,
                    is_link,
                });
            }
        }
    }
    walk.sort();
    walk
}

impl Walk {
    /// The entries of a folder.
    fn entries(&mut self, path: &Path, relative: &str) -> Vec<fs::DirEntry> {
        let entries = fs::read_dir(path).and_then(Iterator::collect);
        entries.unwrap_or_else(|error| {
            let shown = if relative.is_empty() { "." } else { relative };
            self.unreadable.push((shown.to_owned(), error.to_string()));
            Vec::new()
        })
    }

    /// Brings everything into order, and keeps each file once.
    fn sort(&mut self) {
        self.unreadable.sort();
        self.skipped.sort();
        self.files.sort_by(|one, other| {
            (one.is_link, &one.relative).cmp(&(other.is_link, &other.relative))
        });
        let mut first: HashMap<PathBuf, String> = HashMap::new();
        self.files.retain(|file| {
            let Some(first) = first.get(&file.canonical) else {
                first.insert(file.canonical.clone(), file.relative.clone());
                return true;
            };
            // Settings hold for each folder that they lie in.
            if !SETTINGS.contains(&file.name()) {
                self.again.push((file.relative.clone(), first.clone()));
            }
            false
        });
        self.files
            .sort_by(|one, other| one.relative.cmp(&other.relative));
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use super::{FoundFile, walk};
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
            let walk = walk(suite.path(), Dialect::Native);
            let found: Vec<&str> = walk
                .files
                .iter()
                .map(|file| file.relative.as_str())
                .collect();
            assert_eq!(found, ["a/0/sub/o.yaml", "m/deep/x.yaml"]);
            let aside = walk.skipped.iter();
            let aside: Vec<&str> = aside.map(|(relative, _)| relative.as_str()).collect();
            assert_eq!(aside, ["fixtures", "m/fixture"]);
        };
        case(&links, &[]);
        case(&[], &links);
    }

    #[test]
    fn a_text_is_the_same_in_the_checkouts_of_all_systems() {
        let digest = |text: &str| FoundFile::single(Path::new("a.yaml")).read(text).sha256;
        assert_eq!(digest("a: 1\r\nb: 2\r\n"), digest("a: 1\nb: 2\n"));
        assert_ne!(digest("a: 1\nb: 2\n"), digest("a: 1\nb: 3\n"));
        assert_ne!(digest("a: 1\r"), digest("a: 1\n"));
    }
}
