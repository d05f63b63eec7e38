//! Names of repositories, suites and revisions in URLs and on the data branch.

use text::digest::sha256;

/// The digits of a hash in file names.
const DIGITS: usize = 8;

/// A valid `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    name: String,
}

impl Repository {
    /// Validates a repository name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let fine = |part: &str| {
            let plain = |sign: u8| sign.is_ascii_alphanumeric() || b"._-".contains(&sign);
            !part.is_empty() && part.bytes().all(plain) && part != "." && part != ".."
        };
        let (owner, rest) = name.split_once('/')?;
        (fine(owner) && fine(rest)).then(|| Self {
            name: name.to_owned(),
        })
    }

    /// `owner/name`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A URL path below the repository.
    pub(super) fn path(&self, below: &str) -> String {
        format!("/repos/{}{below}", self.name)
    }
}

/// The file name of a suite. Changed names get a hash, so that they stay distinct.
pub(crate) fn file_name(suite: &str) -> String {
    let plain: String = suite
        .chars()
        .map(|sign| match sign {
            'a'..='z' | '0'..='9' | '.' | '_' | '-' => sign,
            _ => '-',
        })
        .take(80)
        .collect();
    if plain == suite && !plain.starts_with('.') && !plain.is_empty() {
        return plain;
    }
    let hash = sha256(suite.as_bytes());
    format!("{}-{}", plain.trim_matches(['.', '-']), &hash[..DIGITS])
}

/// Whether a text is a commit hash.
pub(crate) fn is_revision(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::{Repository, file_name};

    #[test]
    fn suites_become_files_that_never_meet() {
        assert_eq!(file_name("evals"), "evals");
        assert_eq!(file_name("evals-2.a_b"), "evals-2.a_b");
        let case = |suite: &str, start: &str| {
            let name = file_name(suite);
            let hash = name.strip_prefix(start).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(hash.len(), 8, "{name}");
        };
        case("a/b", "a-b-");
        case("Evals", "vals-");
        case("../../x", "x-");
        case("a\nb", "a-b-");
        assert_ne!(file_name("a/b"), file_name("a b"));
    }

    #[test]
    fn only_repositories_are_repositories() {
        let case = |name: &str, wanted: bool| {
            assert_eq!(Repository::from_name(name).is_some(), wanted, "{name}");
        };
        case("o/r", true);
        case("o-1/r.x_y", true);
        case("o", false);
        case("o/r/x", false);
        case("o/..", false);
        case("o/r?x", false);
    }
}
