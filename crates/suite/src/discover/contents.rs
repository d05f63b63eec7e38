//! What a suite is made of: the files that its assertions and settings stand in, each with the digest of its text. By
//! it another run of the same suite is known, in another checkout too. Which files there are is `walk`'s.

use std::collections::HashSet;

use text::digest::sha256;

/// Whether anybody asks what a suite is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Somebody does: the run is a part of another, or is divided into parts.
    Told,
    /// Nobody does.
    Unasked,
}

/// A file that assertions or settings were read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// Its path from the suite, with `/`.
    pub path: String,
    /// The SHA-256 of its text.
    pub sha256: String,
}

impl FileRead {
    /// A file with this text. How its lines end is the checkout's choice and says nothing.
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            sha256: sha256(text.replace("\r\n", "\n").as_bytes()),
        }
    }
}

/// The files that were read, in this order, each once.
#[derive(Debug, Default)]
pub(super) struct Read {
    known: HashSet<u64>,
    files: Vec<FileRead>,
}

impl Read {
    /// Adds a file by its identity, unless it is there.
    pub(super) fn add(&mut self, file: Option<(u64, FileRead)>) {
        if let Some((identity, file)) = file
            && self.known.insert(identity)
        {
            self.files.push(file);
        }
    }

    /// All of them.
    pub(super) fn into_files(self) -> Vec<FileRead> {
        self.files
    }
}

#[cfg(test)]
mod tests {
    use super::{FileRead, Read};

    #[test]
    fn files_stand_in_the_order_of_their_reading_each_once() {
        let mut read = Read::default();
        for (identity, path) in [(2, "b"), (1, "a"), (2, "c")] {
            read.add(Some((identity, FileRead::new(path, ""))));
        }
        read.add(None);
        let files = read.into_files();
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["b", "a"]);
    }

    #[test]
    fn a_text_is_the_same_in_the_checkouts_of_all_systems() {
        let digest = |text: &str| FileRead::new("a.yaml", text).sha256;
        assert_eq!(digest("a: 1\r\nb: 2\r\n"), digest("a: 1\nb: 2\n"));
        assert_ne!(digest("a: 1\nb: 2\n"), digest("a: 1\nb: 3\n"));
        assert_ne!(digest("a: 1\r"), digest("a: 1\n"));
    }
}
