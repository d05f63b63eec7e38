//! Which run wrote what is on the data branch, so that an older one that ends later changes nothing of it. Runs are
//! numbered as they begin, and one that is started again keeps its number. A badge cannot say it itself, because
//! shields.io refuses what it does not know: a file beside the badges does.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::json;

use report::verdict::Verdict;

/// The run that wrote each badge, by the suite as a file name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Writers {
    runs: BTreeMap<String, Writer>,
}

/// A run that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Writer {
    /// Its number.
    pub(super) run: u64,
    /// How often it was started.
    pub(super) attempt: Option<u64>,
    /// What it came to.
    pub(super) verdict: Option<Verdict>,
}

/// Something that stays as another run, or another part of this one, left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overtaken {
    what: &'static str,
    by: By,
}

/// What left it so.
#[derive(Debug, Clone, PartialEq, Eq)]
enum By {
    LaterRun(u64),
    WorseLeg,
}

impl Overtaken {
    /// Whether a run is overtaken by the one that wrote `what` is there.
    pub(super) fn of(what: &'static str, writer: Option<u64>, run: Option<u64>) -> Option<Self> {
        let (writer, run) = writer.zip(run)?;
        let by = By::LaterRun(writer);
        (writer > run).then_some(Self { what, by })
    }

    /// Whether a badge stays: a later run's, or that of a leg of this run that ended worse, which no green one hides.
    pub(super) fn of_badge(writer: Option<&Writer>, own: Option<&Writer>) -> Option<Self> {
        let (writer, own) = writer.zip(own)?;
        let what = "badge";
        if let Some(overtaken) = Self::of(what, Some(writer.run), Some(own.run)) {
            return Some(overtaken);
        }
        let (theirs, ours) = writer.verdict.zip(own.verdict)?;
        let by = By::WorseLeg;
        // Worse ones are less.
        (writer.is_beside(own) && theirs < ours).then_some(Self { what, by })
    }
}

impl fmt::Display for Overtaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} on it stays as ", self.what)?;
        match self.by {
            By::LaterRun(run) => write!(f, "run {run} left it, which began later"),
            By::WorseLeg => write!(
                f,
                "another job or step of this run left it, which ended worse"
            ),
        }
    }
}

impl Writer {
    /// Whether both are parts of one run, as the legs of a matrix are.
    fn is_beside(&self, other: &Self) -> bool {
        self.run == other.run && self.attempt.is_some() && self.attempt == other.attempt
    }
}

impl Writers {
    /// Reads the list; one that cannot be read knows nothing.
    pub(super) fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The list.
    pub(super) fn render(&self) -> String {
        format!("{:#}\n", json!(self))
    }

    /// The run that wrote a suite's badge, where that is known.
    pub(super) fn of(&self, name: &str) -> Option<&Writer> {
        self.runs.get(name)
    }

    /// Notes which run writes a suite's badge now.
    pub(super) fn note(&mut self, name: String, run: Option<Writer>) {
        match run {
            Some(run) => self.runs.insert(name, run),
            None => self.runs.remove(&name),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{By, Overtaken, Writer, Writers};
    use report::verdict::Verdict;

    const fn writer(run: u64, attempt: u64, verdict: Verdict) -> Writer {
        Writer {
            run,
            attempt: Some(attempt),
            verdict: Some(verdict),
        }
    }

    #[test]
    fn only_a_later_run_that_is_known_overtakes() {
        let case = |writer, run, by: Option<u64>| {
            let found = Overtaken::of("baseline", writer, run);
            assert_eq!(
                found.map(|it| it.by),
                by.map(By::LaterRun),
                "{writer:?} {run:?}"
            );
        };
        case(Some(31), Some(30), Some(31));
        case(Some(30), Some(30), None);
        case(Some(30), Some(31), None);
        case(None, Some(30), None);
        case(Some(31), None, None);
    }

    #[test]
    fn a_badge_stays_that_a_worse_leg_of_the_same_attempt_left() {
        let case = |theirs: Writer, ours: Writer, by: Option<By>| {
            let found = Overtaken::of_badge(Some(&theirs), Some(&ours));
            assert_eq!(found.map(|it| it.by), by, "{theirs:?} {ours:?}");
        };
        let (pass, fail) = (Verdict::Pass, Verdict::Fail);
        case(writer(5, 1, fail), writer(5, 1, pass), Some(By::WorseLeg));
        case(
            writer(5, 1, Verdict::Error),
            writer(5, 1, fail),
            Some(By::WorseLeg),
        );
        case(writer(5, 1, pass), writer(5, 1, fail), None);
        case(writer(5, 1, fail), writer(5, 1, fail), None);
        case(writer(5, 1, fail), writer(5, 2, pass), None);
        case(writer(5, 1, fail), writer(6, 1, pass), None);
        case(
            writer(6, 1, pass),
            writer(5, 1, fail),
            Some(By::LaterRun(6)),
        );
        let unknown = Writer {
            attempt: None,
            ..writer(5, 1, fail)
        };
        case(unknown, writer(5, 1, pass), None);
    }

    #[test]
    fn the_list_is_read_back() {
        let mut writers = Writers::parse("no list");
        writers.note("one".to_owned(), Some(writer(31, 2, Verdict::Fail)));
        writers.note("two".to_owned(), Some(writer(32, 1, Verdict::Pass)));
        writers.note("two".to_owned(), None);
        assert_eq!(Writers::parse(&writers.render()), writers);
        let found = writers.of("one").map(|it| (it.run, it.verdict));
        assert_eq!(found, Some((31, Some(Verdict::Fail))));
        assert_eq!(writers.of("two"), None);
    }
}
