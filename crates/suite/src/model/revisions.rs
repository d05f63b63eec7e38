//! The revisions that assertions run on: what `protocol` says, in suites and on the command line.

use mcp::{protocol::revision::Revision, script::client::RevisionWanted};

/// The revisions that assertions are repeated on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revisions {
    /// These revisions, in this order.
    These(Vec<Revision>),
    /// All revisions that the server speaks.
    Spoken,
}

impl Revisions {
    /// All revisions that it may run on.
    pub fn possible(&self) -> &[Revision] {
        match self {
            Self::These(revisions) => revisions,
            Self::Spoken => &Revision::ALL,
        }
    }
}

/// What `protocol` asks for, in suites and on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// One session for each assertion.
    Revision(RevisionWanted),
    /// Each assertion again on each of several.
    Repeated(Revisions),
}

/// An unknown word of `protocol`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRevision {
    /// Its place among the words.
    pub index: usize,
    /// The words that could stand there.
    pub known: Vec<&'static str>,
}

/// Reads `protocol`: `auto` and `all` stand alone; several revisions ask for repetitions, each once.
pub fn asked<'a>(words: impl ExactSizeIterator<Item = &'a str>) -> Result<Asked, UnknownRevision> {
    let alone = words.len() == 1;
    let mut revisions = Vec::new();
    for (index, word) in words.enumerate() {
        let revision = match word.to_ascii_lowercase().as_str() {
            "auto" if alone => return Ok(Asked::Revision(RevisionWanted::Auto)),
            "all" if alone => return Ok(Asked::Repeated(Revisions::Spoken)),
            "stateless" => Some(Revision::NEWEST_STATELESS),
            _ => Revision::from_name(word),
        };
        let Some(revision) = revision else {
            let mut known = vec!["stateless"];
            if alone {
                known.extend(["auto", "all"]);
            }
            known.extend(Revision::ALL.map(Revision::name));
            return Err(UnknownRevision { index, known });
        };
        if !revisions.contains(&revision) {
            revisions.push(revision);
        }
    }
    Ok(match revisions[..] {
        [] => Asked::Revision(RevisionWanted::Auto),
        [only] => Asked::Revision(RevisionWanted::Exactly(only)),
        _ => Asked::Repeated(Revisions::These(revisions)),
    })
}

#[cfg(test)]
mod tests {
    use mcp::{protocol::revision::Revision, script::client::RevisionWanted};

    use super::{Asked, Revisions, asked};

    #[test]
    fn one_word_asks_for_a_revision_and_several_for_repetitions() {
        let case = |words: &[&str]| asked(words.iter().copied()).map_err(|it| it.index);
        let exactly = |revision| Ok(Asked::Revision(RevisionWanted::Exactly(revision)));
        let repeated = |revisions| Ok(Asked::Repeated(revisions));
        let both = vec![Revision::V2026_07_28, Revision::V2024_11_05];
        assert_eq!(case(&[]), Ok(Asked::Revision(RevisionWanted::Auto)));
        assert_eq!(case(&["Auto"]), Ok(Asked::Revision(RevisionWanted::Auto)));
        assert_eq!(case(&["2025-06-18"]), exactly(Revision::V2025_06_18));
        assert_eq!(
            case(&["stateless", "2026-07-28"]),
            exactly(Revision::V2026_07_28)
        );
        assert_eq!(case(&["all"]), repeated(Revisions::Spoken));
        assert_eq!(
            case(&["stateless", "2024-11-05"]),
            repeated(Revisions::These(both))
        );
        assert_eq!(case(&["2025-06-18", "auto"]), Err(1));
        assert_eq!(case(&["2025-06-19"]), Err(0));
    }
}
