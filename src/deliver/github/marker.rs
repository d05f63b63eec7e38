//! The first line of our comments: key, run and revision.

use std::fmt;

use super::{legs, names::is_revision};
use text::digest::sha256;

/// The beginning of the line.
const BEGINNING: &str = "<!-- mcp-assert v1 ";

/// The author run of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    /// The comment's key: one for each suite of each job.
    pub(super) key: String,
    /// The run.
    pub(super) run: u64,
    /// Its attempt.
    pub(super) attempt: u64,
    /// The tested revision.
    pub(super) sha: String,
}

impl Marker {
    /// Computes the key.
    pub(super) fn key(parts: [&str; 4]) -> String {
        // Lengths make the concatenation unambiguous.
        let parts = parts.map(|part| format!("{}:{part}", part.len()));
        let mut hash = sha256(parts.concat().as_bytes());
        hash.truncate(16);
        hash
    }

    /// Parses the marker of a comment.
    pub(super) fn of(comment: &str) -> Option<Self> {
        let line = comment.lines().next()?.trim_end();
        let inner = line.strip_prefix(BEGINNING)?.strip_suffix(" -->")?;
        let mut parts = inner.split(' ');
        let mut part = |name: &str| parts.next()?.strip_prefix(name)?.strip_prefix('=');
        let marker = Self {
            key: part("key")?.to_owned(),
            run: part("run")?.parse().ok()?,
            attempt: part("attempt")?.parse().ok()?,
            sha: part("sha")?.to_owned(),
        };
        (parts.next().is_none() && is_revision(&marker.sha)).then_some(marker)
    }

    /// The order of runs.
    pub(super) fn age(&self) -> (u64, u64) {
        (self.run, self.attempt)
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{BEGINNING}key={} run={} attempt={} sha={} -->",
            self.key, self.run, self.attempt, self.sha
        )
    }
}

/// The text of a comment without the parts that differ between equal runs.
pub(super) fn substance(comment: &str) -> String {
    let Some(marker) = Marker::of(comment) else {
        return comment.to_owned();
    };
    let comment = legs::without_note(comment);
    let rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
    let link = format!("/actions/runs/{}/attempts/{}", marker.run, marker.attempt);
    let rest = rest.replace("\r\n", "\n").replace(&link, "");
    format!("{} {}\n{}", marker.key, marker.sha, rest.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{Marker, substance};

    fn marker() -> Marker {
        Marker {
            key: Marker::key(["o/r", "ci.yml", "job", "evals"]),
            run: 7,
            attempt: 2,
            sha: "a".repeat(40),
        }
    }

    #[test]
    fn a_marker_is_read_back_and_others_are_not() {
        let text = format!("{}\nhello", marker());
        assert_eq!(Marker::of(&text), Some(marker()));
        let case = |text: &str| assert_eq!(Marker::of(text), None, "{text}");
        case("");
        case("hello");
        case(&format!(" {}", marker()));
        case(&format!("hello\n{}", marker()));
        case(&marker().to_string().replace("run=7", "run=x"));
        case(&marker().to_string().replace(" -->", " more=1 -->"));
        assert_ne!(
            Marker::key(["a", "bc", "d", "e"]),
            Marker::key(["ab", "c", "d", "e"])
        );
    }

    #[test]
    fn two_runs_that_say_the_same_have_the_same_substance() {
        let later = Marker {
            run: 8,
            attempt: 1,
            ..marker()
        };
        let page = |marker: &Marker| {
            let (run, attempt) = marker.age();
            format!("{marker}\nall well\n[run](https://x/actions/runs/{run}/attempts/{attempt})\n")
        };
        assert_eq!(substance(&page(&marker())), substance(&page(&later)));
        let other = page(&later).replace("well", "lost");
        assert_ne!(substance(&page(&marker())), substance(&other));
    }
}
