//! The files that expectations look at, before and after the subject.

use std::collections::BTreeMap;

/// The longest file whose content is kept for an expectation, in bytes.
pub(crate) const LONGEST_BYTES: u64 = 64 * 1024 * 1024;

/// What one path was at one moment. Links are never followed out of the fixture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileState {
    /// Nothing is there.
    Absent,
    /// A regular file with this content.
    Content(Vec<u8>),
    /// A regular file known only by the SHA-256 of its content and its length: longer than
    /// [`LONGEST_BYTES`], or asked for only to compare.
    Digest {
        /// SHA-256 of the content.
        sha256: [u8; 32],
        /// Length in bytes.
        length: u64,
    },
    /// A directory.
    Directory,
    /// Something else, or a path that must not be read; with the reason.
    Unreadable(String),
    /// Nobody can tell whether anything is there; with the reason.
    Unknown(String),
}

/// A path before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileSeen {
    /// Before the server started.
    pub(crate) before: FileState,
    /// After the subject, or after the step it is about.
    pub(crate) after: FileState,
}

/// How a path inside the fixture differs from the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// It was not there before.
    Added,
    /// It is gone.
    Removed,
    /// Content, kind or mode differ.
    Modified,
}

/// The files of one attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct FilesSeen {
    /// By the path as the expectation wrote it, after substitution.
    pub(crate) paths: BTreeMap<String, FileSeen>,
    /// Every difference between the fixture's copy and the original, by path relative to the fixture with `/`;
    /// `None` when no expectation asked, or there is no fixture.
    pub(crate) changed: Option<BTreeMap<String, Change>>,
}
