//! Tools that a model or a client mistakes for each other.

use std::collections::HashMap;

use super::{entries::duplicate_tools, is_among, stem, words};
use crate::inspect::lint::{
    rule::{Findings, rules},
    view::View,
};
use report::inspection::Kind;

rules! {
    "W105" "similar-tools" Warning "medium" [go] Server(similar):
        "two tools have nearly the same description" =>
        "say in both descriptions what tells the tools apart, or make one tool of them";
    "E113" "duplicate-tool-name" Error "very-high" [go] Server(duplicate_tools):
        "two tools have the same name" =>
        "rename one: clients keep only one of them, or refuse the list";
    "W143" "confusable-names" Warning "high" [] Server(confusable):
        "the names of two tools differ only by case or separators" =>
        "rename one, so that a model does not call the other";
}

/// Verbs that mean the opposite of each other.
const OPPOSITES: &str = "create delete|add remove|get set|read write|enable disable|start stop|open close|lock unlock|\
    import export|upload download|show hide|push pull|encode decode|encrypt decrypt|install uninstall|\
    send receive|subscribe unsubscribe|increase decrease";

/// Words that every description has.
const FILLERS: &str = "a an the in of to for with and or on by from your this that is it";

/// How alike two sets of words may be: the Dice coefficient of the Go tool, in hundredths.
const ALIKE: usize = 80;

/// The most tools that are compared with each other.
const MOST_COMPARED: usize = 3_000;

fn similar(view: &View<'_>, found: &mut Findings<'_>) {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut sets: Vec<(usize, Words)> = Vec::new();
    let tools = view.tools.iter().enumerate();
    let tools = tools.filter(|(_, tool)| !tool.description.is_empty());
    for (at, tool) in tools.take(MOST_COMPARED) {
        let mut set: Vec<u32> = Vec::new();
        let said = words(tool.description).into_iter();
        for word in said.filter(|it| !is_among(it, FILLERS)) {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            set.push(*numbers.entry(stem(&word).to_owned()).or_insert(next));
        }
        set.sort_unstable();
        set.dedup();
        // One word in common is no likeness.
        if set.len() > 1 {
            sets.push((at, Words::new(set)));
        }
    }
    let number = |word: &str| numbers.get(word).copied();
    let pairs = OPPOSITES.split('|').filter_map(|it| it.split_once(' '));
    let opposites: Vec<[Option<u32>; 2]> = pairs.map(|(a, b)| [number(a), number(b)]).collect();
    let has =
        |set: &[u32], word: Option<u32>| word.is_some_and(|it| set.binary_search(&it).is_ok());
    let differ = |one: &[u32], other: &[u32]| {
        opposites.iter().any(|pair| {
            let left = pair.map(|word| has(one, word));
            let right = pair.map(|word| has(other, word));
            left[0] != left[1] && right == [left[1], left[0]]
        })
    };
    for (index, (at, set)) in sets.iter().enumerate() {
        let earlier = sets[..index].iter();
        let mut alike =
            earlier.filter(|(_, other)| are_alike(set, other) && !differ(&set.all, &other.all));
        if let Some((other, _)) = alike.next() {
            let other = view.tools[*other].name;
            let message = format!("the description is nearly that of `{other}`");
            let found = found.about(Kind::Tool, view.tools[*at].name);
            found.say("/description", message);
        }
    }
}

/// The words of a description, by their numbers.
struct Words {
    /// In order.
    all: Vec<u32>,
    /// A bit for each, which others may have too.
    bits: u64,
}

impl Words {
    fn new(all: Vec<u32>) -> Self {
        let bits = all.iter().fold(0, |bits, it| bits | 1 << (it % 64));
        Self { all, bits }
    }
}

/// Whether two sets share enough.
fn are_alike(one: &Words, other: &Words) -> bool {
    let all = one.all.len() + other.all.len();
    // The words of one set alone are at least its bits alone: most pairs differ enough in these.
    let alone = (one.bits ^ other.bits).count_ones() as usize;
    if 100 * all.saturating_sub(alone) < ALIKE * all {
        return false;
    }
    let (mut left, mut right, mut shared) = (&one.all[..], &other.all[..], 0);
    while let ([a, rest @ ..], [b, more @ ..]) = (left, right) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => left = rest,
            std::cmp::Ordering::Greater => right = more,
            std::cmp::Ordering::Equal => (left, right, shared) = (rest, more, shared + 1),
        }
    }
    200 * shared >= ALIKE * all
}

fn confusable(view: &View<'_>, found: &mut Findings<'_>) {
    let mut first: HashMap<String, &str> = HashMap::new();
    for tool in &view.tools {
        let mut plain = tool.name.to_owned();
        plain.retain(char::is_alphanumeric);
        let other = *first.entry(plain.to_lowercase()).or_insert(tool.name);
        if other != tool.name {
            let message = format!("the name differs from `{other}` only by case or separators");
            found.about(Kind::Tool, tool.name).say("/name", message);
        }
    }
}
