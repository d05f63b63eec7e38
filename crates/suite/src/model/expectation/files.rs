//! Expectations about files.

/// An expectation about files.
#[derive(Debug, Clone)]
pub enum FilesWanted {
    /// `file_contains`: each file holds each of these texts.
    Contain(Vec<FileTexts>),
    /// `file_not_contains`: each file exists and holds none of these texts.
    NotContain(Vec<FileTexts>),
    /// `file_equals`: each file is exactly this text.
    Equal(Vec<FileTexts>),
    /// `file_exists`: each path is there.
    Exist(Vec<String>),
    /// `file_not_exists`: each path is not there.
    NotExist(Vec<String>),
    /// `file_unchanged`: each path is as it was before.
    Unchanged(Vec<String>),
    /// `only_changed`: nothing but these paths (globs) changed in the fixture.
    OnlyChanged(Vec<PathPattern>),
}

/// How the paths of an expectation are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilesLook {
    /// At what is there; of a file too long to be kept, its length.
    Content,
    /// At what changed since the server started; of a file too long to be kept, its digest.
    Changed,
}

impl FilesWanted {
    /// The paths that are named, and how they are looked at.
    pub fn reads(&self) -> (FilesLook, Vec<&str>) {
        match self {
            Self::Contain(files) | Self::NotContain(files) | Self::Equal(files) => {
                let paths = files.iter().map(|file| file.path.as_str());
                (FilesLook::Content, paths.collect())
            }
            Self::Exist(paths) | Self::NotExist(paths) => (FilesLook::Content, named(paths)),
            Self::Unchanged(paths) => (FilesLook::Changed, named(paths)),
            Self::OnlyChanged(_) => (FilesLook::Changed, Vec::new()),
        }
    }
}

fn named(paths: &[String]) -> Vec<&str> {
    paths.iter().map(String::as_str).collect()
}

/// A file and texts about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTexts {
    /// The path, as [`mcp::observation::files::FilesSeen::paths`] has it.
    pub path: String,
    /// The texts.
    pub texts: Vec<String>,
}

/// A glob over paths relative to the fixture.
#[derive(Debug, Clone)]
pub struct PathPattern {
    /// As written.
    pub written: String,
    /// Compiled.
    pub glob: globset::GlobMatcher,
}
