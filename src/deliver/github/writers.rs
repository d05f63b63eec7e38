//! Which run wrote what is on the data branch, so that an older one that ends later changes nothing of it. Runs are
//! numbered as they begin, and one that is started again keeps its number. A badge cannot say it itself, because
//! shields.io refuses what it does not know: a file beside the badges does. What has no number, an older version wrote.

use std::{collections::BTreeMap, fmt};

use serde_json::json;

/// The run that wrote each badge, by the suite as a file name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Writers {
    runs: BTreeMap<String, u64>,
}

/// Something that stays as a later run left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overtaken {
    what: &'static str,
    by: u64,
}

impl Overtaken {
    /// Whether a run is overtaken by the one that wrote `what` is there.
    pub(super) fn of(what: &'static str, writer: Option<u64>, run: Option<u64>) -> Option<Self> {
        let (by, run) = writer.zip(run)?;
        (by > run).then_some(Self { what, by })
    }
}

impl fmt::Display for Overtaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the {} on it stays as run {} left it, which began later",
            self.what, self.by
        )
    }
}

impl Writers {
    /// Reads the list; one that cannot be read knows nothing.
    pub(super) fn parse(text: &str) -> Self {
        Self {
            runs: serde_json::from_str(text).unwrap_or_default(),
        }
    }

    /// The list.
    pub(super) fn render(&self) -> String {
        format!("{:#}\n", json!(self.runs))
    }

    /// The run that wrote a suite's badge, where that is known.
    pub(super) fn of(&self, name: &str) -> Option<u64> {
        self.runs.get(name).copied()
    }

    /// Notes which run writes a suite's badge now.
    pub(super) fn note(&mut self, name: String, run: Option<u64>) {
        match run {
            Some(run) => self.runs.insert(name, run),
            None => self.runs.remove(&name),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Overtaken, Writers};

    #[test]
    fn only_a_later_run_that_is_known_overtakes() {
        let case = |writer, run, by: Option<u64>| {
            let found = Overtaken::of("badge", writer, run);
            assert_eq!(found.map(|it| it.by), by, "{writer:?} {run:?}");
        };
        case(Some(31), Some(30), Some(31));
        case(Some(30), Some(30), None);
        case(Some(30), Some(31), None);
        case(None, Some(30), None);
        case(Some(31), None, None);
    }

    #[test]
    fn the_list_is_read_back() {
        let mut writers = Writers::parse("no list");
        writers.note("one".to_owned(), Some(31));
        writers.note("two".to_owned(), Some(32));
        writers.note("two".to_owned(), None);
        assert_eq!(Writers::parse(&writers.render()), writers);
        assert_eq!((writers.of("one"), writers.of("two")), (Some(31), None));
    }
}
