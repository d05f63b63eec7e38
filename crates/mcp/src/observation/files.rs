//! The files that expectations look at, before and after the subject.

use std::collections::BTreeMap;

/// The longest file whose content is kept for an expectation, in bytes.
pub const LONGEST_BYTES: u64 = 64 * 1024 * 1024;

/// The state of a path at one moment. Links are never followed out of the fixture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// Nothing is there.
    Absent,
    /// A regular file with this content.
    Content(Vec<u8>),
    /// A regular file known only by the SHA-256 of its content and its length: longer than
    /// [`LONGEST_BYTES`] and to be compared, or one that there was no room for.
    Digest {
        /// SHA-256 of the content.
        sha256: [u8; 32],
        /// Length in bytes.
        length: u64,
    },
    /// A regular file longer than [`LONGEST_BYTES`], which was not read: nobody compares it.
    TooLong {
        /// Length in bytes.
        length: u64,
    },
    /// A directory.
    Directory,
    /// Something is there that is not a regular file, or one that cannot be read; with the reason.
    Unreadable(String),
    /// Nobody can tell whether anything is there, or it must not be looked at; with the reason.
    Unknown(String),
}

/// A path before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSeen {
    /// Before the server started.
    pub before: FileState,
    /// After the subject, or after the step it is about.
    pub after: FileState,
    /// Where it leads in the fixture, as that was before.
    pub inside: Option<Way>,
}

/// Where a path leads in the fixture, its links followed. Paths are relative to the fixture, with `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    /// The links and folders on the way, and its end.
    pub over: Vec<String>,
    /// The place at its end; `.` is the fixture itself.
    pub place: String,
}

/// How a path inside the fixture differs from the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It was not there before.
    Added,
    /// It is gone.
    Removed,
    /// It is there, and other than it was.
    Modified(Alteration),
}

/// The difference of a path; of several differences the first in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alteration {
    /// Its kind.
    Kind {
        /// What it was.
        before: PathKind,
        /// What it is.
        after: PathKind,
    },
    /// A file's content, or a link's target.
    Content,
    /// Its permission bits.
    Mode {
        /// What they were.
        before: u32,
        /// What they are.
        after: u32,
    },
}

/// The file at a path, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link.
    Link,
    /// A FIFO, socket or device.
    Special,
}

impl PathKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a link",
            Self::Special => "no regular file",
        }
    }
}

/// Something in the fixture that nobody could look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// A file, or a directory with all that is in it.
    pub kind: PathKind,
    /// Why not.
    pub reason: String,
}

/// The files of one attempt.
#[derive(Debug, Clone, Default)]
pub struct FilesSeen {
    /// By the path as the expectation wrote it, after substitution.
    pub paths: BTreeMap<String, FileSeen>,
    /// Every difference between the fixture's copy and the original, by path relative to the fixture with `/`;
    /// `None` when no expectation asked, or there is no fixture.
    pub changed: Option<BTreeMap<String, Change>>,
    /// What could not be compared, by path relative to the fixture.
    pub unseen: BTreeMap<String, Unseen>,
    /// The path of the fixture as the server sees it.
    pub root: Option<String>,
}
