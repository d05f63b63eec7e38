//! The comment on a pull request: what the change did to the suite and to the servers' surfaces. `deliver` knows where it
//! goes and whose it is.

use crate::{
    RunReport,
    compare::Class,
    markdown::page::{self, Place},
    surface::Surface,
    verdict::Verdict,
};
use text::redact::Secrets;

/// Bytes of a comment; GitHub takes 65,536 characters.
pub const COMMENT_BYTES: usize = 65_000;

/// What a page says besides the run.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The address of the files at the head commit.
    pub files: Option<String>,
    /// The address of the repository with the commits.
    pub repository: Option<String>,
    /// The address of the run.
    pub run: Option<String>,
    /// The head commit.
    pub head: Option<String>,
    /// Values that foreign text must not show. Our own words, and the links that are made of them, may hold one by
    /// chance: a secret that reads `pass` or is the number of the run tears no holes into them.
    pub secrets: Secrets,
}

impl RunReport {
    /// Whether the run differs from its baseline in something that a change can be asked about.
    pub fn has_news(&self) -> bool {
        let mut changes = self.comparison.iter().flat_map(|it| &it.changes);
        changes.any(|it| it.class != Class::StillFailing && it.class != Class::Unchanged)
            || self.surfaces().any(Surface::has_changes)
    }

    /// Whether the run is not as it should be.
    pub fn is_bad(&self) -> bool {
        let verdict = self.judgement.as_ref().map(|it| it.verdict);
        self.tally().is_red() || verdict.is_none_or(|verdict| verdict != Verdict::Pass)
    }
}

/// The comment, without its marker, in at most so many bytes.
pub fn within(report: &RunReport, around: &Surroundings, budget: usize) -> String {
    page::within(report, around, Place::Comment, budget)
}

/// The verdict that the first line of a comment tells.
pub fn verdict_of(headline: &str) -> Option<Verdict> {
    page::verdict_of(headline)
}

#[cfg(test)]
mod tests;
