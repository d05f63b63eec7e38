//! A rule and its counter: at which occurrences of its place it fires.

use std::io;

use sha2::{Digest, Sha256};

use super::rule::{Occurrence, Rule};
use crate::State;

/// Counts those of the rules that are at a place, and gives the number and the count of each that fires there. What goes
/// wrong is text for stderr.
pub(super) fn fire<'a>(
    armed: impl Iterator<Item = (usize, &'a mut Armed)>,
    target: Option<&str>,
    cursor: Option<&str>,
) -> (Vec<(usize, u64)>, Vec<String>) {
    let (mut fired, mut lost) = (Vec::new(), Vec::new());
    for (index, armed) in armed.filter(|(_, armed)| armed.rule.is_about(target)) {
        match armed.count(cursor) {
            Ok(Some(n)) => fired.push((index, n)),
            Ok(None) => {}
            Err(error) => {
                lost.push(format!(
                    "the count of `{}` is lost: {error}\n",
                    armed.rule.text
                ));
            }
        }
    }
    (fired, lost)
}

/// A rule of a running server. Clones count together.
#[derive(Debug, Clone)]
pub(super) struct Armed {
    pub(super) rule: Rule,
    /// The counter's name in the state; two equal rules have two counters.
    key: String,
    seed: u64,
    state: State,
    /// The last count, and whether it fired: what continues a list has no count of its own.
    last: Option<(u64, bool)>,
}

impl Armed {
    /// Rules in their order; draws come from `seed`, counters are kept in `state`.
    pub(super) fn all(rules: Vec<Rule>, seed: u64, state: &State) -> Vec<Self> {
        let arm = |(index, rule)| Self::new(rule, index, seed, state.clone());
        rules.into_iter().enumerate().map(arm).collect()
    }

    fn new(rule: Rule, index: usize, seed: u64, state: State) -> Self {
        Self {
            key: format!("fault {index} {}", rule.text),
            rule,
            seed,
            state,
            last: None,
        }
    }

    /// Counts one occurrence of the rule's place; its number when the rule fires there.
    fn count(&mut self, cursor: Option<&str>) -> io::Result<Option<u64>> {
        if self.rule.fault.counts_lists()
            && cursor.is_some()
            && let Some((n, fires)) = self.last
        {
            return Ok(fires.then_some(n));
        }
        let n = self.state.bump(&self.key)?;
        let fires = match self.rule.occurrence {
            Occurrence::Always => true,
            Occurrence::At(one) => n == one,
            Occurrence::From(first) => n >= first,
            Occurrence::Span(first, last) => (first..=last).contains(&n),
            Occurrence::Every(step) => n % step == 0,
            Occurrence::Chance(chance) => self.draw(n) < chance,
        };
        self.last = Some((n, fires));
        Ok(fires.then_some(n))
    }

    /// A number from 0 up to but not 1 that seed, rule and count alone decide.
    fn draw(&self, n: u64) -> f64 {
        let text = format!("{}|{}|{n}", self.seed, self.key);
        let digest = Sha256::digest(text.as_bytes());
        let word: u32 = digest
            .iter()
            .take(4)
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
        f64::from(word) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::catalogue::Carrier;

    fn fired(text: &str, seed: u64, times: usize) -> Vec<u64> {
        let rule = Rule::parse(text, Carrier::Stdio).unwrap();
        let mut armed = Armed::new(rule, 0, seed, State::default());
        let count = |_| armed.count(None).unwrap();
        (0..times).filter_map(count).collect()
    }

    #[test]
    fn a_rule_fires_at_its_occurrences() {
        let case = |text: &str, wanted: &[u64]| assert_eq!(fired(text, 0, 10), wanted, "{text}");
        case("*@3=drop", &[3]);
        case("*@8..=drop", &[8, 9, 10]);
        case("*@2..4=drop", &[2, 3, 4]);
        case("*@every:4=drop", &[4, 8]);
        case("*@p:0=drop", &[]);
        case("*@p:1=drop", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        case("*=drop", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn draws_come_from_the_seed_and_hit_their_rate() {
        let one = fired("*@p:0.3=drop", 1, 2000);
        assert_eq!(one, fired("*@p:0.3=drop", 1, 2000));
        assert_ne!(one, fired("*@p:0.3=drop", 2, 2000));
        assert!((500..700).contains(&one.len()), "{}", one.len());
    }

    #[test]
    fn counters_in_a_state_file_go_on_in_the_next_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        let mut found = Vec::new();
        for _ in 0..3 {
            let rule = Rule::parse("tools/call@2=drop", Carrier::Stdio).unwrap();
            let state = State::new(Some(path.clone()));
            let mut armed = Armed::new(rule, 0, 0, state);
            found.push(armed.count(None).unwrap());
        }
        assert_eq!(found, [None, Some(2), None]);
    }
}
