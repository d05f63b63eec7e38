//! How much work it is to follow a path in a document, before it is followed: the library counts no steps, and a path
//! of a few signs can lead to more places than fit into memory, or take longer than anybody waits. What is reckoned is
//! the most that it can be; which places there are is `query`'s.

use std::{borrow::Cow, collections::HashMap};

use serde_json::Value;

/// The most steps that are made for one path: some seconds.
const MOST_STEPS: f64 = 500e6;

/// The most steps of places that are remembered at once, some 25 bytes each: a place ten steps deep counts as ten.
const MOST_REMEMBERED: f64 = 8e6;

/// Steps that it takes to compile the pattern of `match` or `search`, which is done for each node that is filtered.
const PATTERN: f64 = 2_000.0;

/// Whether to follow the path is too much.
pub(super) fn is_too_much(written: &str, document: &Value) -> bool {
    // Each node is come by once, whatever else is in the path.
    if !written.contains('?') && written.matches("..").count() < 2 && !written.contains(',') {
        return false;
    }
    let behind = match written.strip_prefix('$') {
        Some(behind) => Cow::Borrowed(behind),
        // A name alone is a member of the root.
        None => Cow::Owned(format!(".{written}")),
    };
    let mut reckoning = Reckoning {
        rest: &behind,
        shape: Shape::of(document),
        steps: 0.0,
        remembered: 0.0,
    };
    reckoning.query(Start::Root, 1.0);
    reckoning.steps > MOST_STEPS || reckoning.remembered > MOST_REMEMBERED
}

/// What of a document decides how much work a path is.
struct Shape<'a> {
    /// All values in it.
    nodes: f64,
    /// How deep the deepest is.
    deepest: f64,
    /// How deep they are on average; that many values are above each, and as many below.
    depth: f64,
    /// How often each member name occurs.
    names: HashMap<&'a str, f64>,
}

impl<'a> Shape<'a> {
    fn of(document: &'a Value) -> Self {
        let (mut nodes, mut deepest, mut depths) = (0.0, 0.0_f64, 0.0);
        let mut names = HashMap::new();
        let mut open = vec![(document, 0.0)];
        while let Some((value, depth)) = open.pop() {
            nodes += 1.0;
            depths += depth;
            deepest = deepest.max(depth);
            match value {
                Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1.0))),
                Value::Object(members) => {
                    for (name, value) in members {
                        *names.entry(name.as_str()).or_default() += 1.0;
                        open.push((value, depth + 1.0));
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        Self {
            nodes,
            deepest,
            depth: depths / nodes,
            names,
        }
    }

    /// How often a node can be come by at most when one goes down to any depth so many times: once for each choice of
    /// the nodes above it where one stopped.
    fn ways(&self, descents: u32) -> f64 {
        (1..descents).fold(1.0, |ways, stop| {
            let stop = f64::from(stop);
            ways * (self.deepest + stop) / stop
        })
    }
}

/// Where a query begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// At the root: `$`.
    Root,
    /// At the node that is filtered: `@`.
    Node,
}

/// A query that is being reckoned, up to one of its segments.
struct Reached {
    start: Start,
    /// How often the query is made.
    times: f64,
    /// How many nodes it leads to so far, the same one as often as it is come by.
    found: f64,
    /// Times that it went down to any depth.
    descents: u32,
    /// How often a node can be come by because several selectors chose it.
    chosen: f64,
}

/// What one selector chooses among the children of a node.
enum Selector<'a> {
    /// Those of this name: one at most.
    Name(&'a str),
    /// One at most.
    One,
    /// Any.
    Many,
}

/// The reading of a path, which is known to be sound, and what was reckoned so far.
struct Reckoning<'a, 'd> {
    rest: &'a str,
    shape: Shape<'d>,
    steps: f64,
    remembered: f64,
}

impl<'a> Reckoning<'a, '_> {
    /// Reads the segments of a query, behind its `$` or `@`, that is made so many times.
    fn query(&mut self, start: Start, times: f64) {
        let mut reached = Reached {
            start,
            times,
            found: 1.0,
            descents: 0,
            chosen: 1.0,
        };
        self.steps += times;
        loop {
            let behind = self.rest.trim_start();
            if !behind.starts_with(['.', '[']) {
                return;
            }
            self.rest = behind;
            let descends = self.rest.starts_with("..");
            if descends {
                reached.descents += 1;
                reached.found = self.reachable(&reached, reached.found * self.reach(start));
                self.steps += times * reached.found;
                self.skip(2);
            } else if self.rest.starts_with('.') {
                self.skip(1);
            }
            self.segment(&mut reached);
            self.steps += times * reached.found;
            if start == Start::Root && times <= 1.0 {
                let remembered = reached.found * (self.shape.depth + 1.0);
                self.remembered = self.remembered.max(remembered);
            }
        }
    }

    /// How many nodes are below the start of a query, itself included.
    fn reach(&self, start: Start) -> f64 {
        match start {
            Start::Root => self.shape.nodes,
            // On average over all nodes, for each of which the query is made.
            Start::Node => self.shape.depth + 1.0,
        }
    }

    /// No more than what can be come by there at all.
    fn reachable(&self, reached: &Reached, found: f64) -> f64 {
        let most = self.reach(reached.start) * self.shape.ways(reached.descents) * reached.chosen;
        found.min(most)
    }

    /// Reads the selectors of one segment, and what they lead to.
    fn segment(&mut self, reached: &mut Reached) {
        if !self.rest.starts_with('[') {
            let selector = match self.name() {
                "" => {
                    // `*`
                    self.skip(1);
                    Selector::Many
                }
                name => Selector::Name(name),
            };
            reached.found = self.chosen(&selector, reached);
            return;
        }
        self.skip(1);
        let (mut found, mut selectors) = (0.0, 0.0);
        loop {
            let selector = self.selector(reached);
            found += self.chosen(&selector, reached);
            selectors += 1.0;
            self.rest = self.rest.trim_start();
            let goes_on = self.rest.starts_with(',');
            self.skip(1);
            if !goes_on {
                break;
            }
        }
        reached.chosen *= selectors;
        reached.found = found;
    }

    /// How many nodes a selector leads to from those that were reached.
    fn chosen(&self, selector: &Selector<'_>, reached: &Reached) -> f64 {
        match selector {
            Selector::Name(name) => {
                let named = self.shape.names.get(name).copied().unwrap_or_default();
                let ways = self.shape.ways(reached.descents) * reached.chosen;
                reached.found.min(named * ways)
            }
            Selector::One => reached.found,
            Selector::Many => self.reachable(reached, reached.found * self.reach(reached.start)),
        }
    }

    /// Reads one selector in brackets, up to the comma or the bracket behind it.
    fn selector(&mut self, reached: &Reached) -> Selector<'a> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            Some('?') => {
                let filtered = self.chosen(&Selector::Many, reached) * reached.times;
                self.filter(filtered);
                Selector::Many
            }
            Some(quote @ ('\'' | '"')) => {
                let length = super::quoted(self.rest, quote);
                let name = self.rest.get(1..length.saturating_sub(1));
                self.skip(length);
                match name {
                    Some(name) if !name.contains('\\') => Selector::Name(name),
                    // Which one it is, is not read here.
                    Some(_) | None => Selector::One,
                }
            }
            Some(_) | None => {
                let length = self.rest.find([',', ']']).unwrap_or(self.rest.len());
                let written = &self.rest[..length];
                self.skip(length);
                if written.contains([':', '*']) {
                    Selector::Many
                } else {
                    Selector::One
                }
            }
        }
    }

    /// Reads a filter that is asked so many times, up to the comma or the bracket behind it.
    fn filter(&mut self, times: f64) {
        self.steps += times;
        let mut open = 0_u32;
        while let Some(first) = self.rest.chars().next() {
            match first {
                '$' | '@' => {
                    self.skip(1);
                    let start = if first == '$' {
                        Start::Root
                    } else {
                        Start::Node
                    };
                    self.query(start, times);
                }
                '\'' | '"' => self.skip(super::quoted(self.rest, first)),
                ',' | ']' if open == 0 => return,
                '(' => {
                    open += 1;
                    self.skip(1);
                }
                ')' => {
                    open = open.saturating_sub(1);
                    self.skip(1);
                }
                other => {
                    if ["match(", "search("]
                        .iter()
                        .any(|it| self.rest.starts_with(it))
                    {
                        self.steps += times * PATTERN;
                    }
                    self.skip(other.len_utf8());
                }
            }
        }
    }

    /// Reads a member name that is written without quotes; empty where there is none.
    fn name(&mut self) -> &'a str {
        let in_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_' || !sign.is_ascii();
        let length = self.rest.find(|sign| !in_name(sign));
        let (name, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        self.rest = rest;
        name
    }

    /// Passes over so many bytes, or what there is.
    fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::is_too_much;

    /// A list of so many records.
    fn records(count: usize) -> Value {
        let record = |id| json!({"id": id, "name": "x", "tags": ["a", "b"], "at": {"x": 1}});
        json!({"items": (0..count).map(record).collect::<Vec<_>>(), "wanted": 1})
    }

    /// A value so deep in objects.
    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!(1), |inner, _| json!({"a": inner}))
    }

    #[test]
    fn what_people_write_is_followed() {
        let large = records(8_000);
        for path in [
            "$.items[*].id",
            "$.items[0, 1, 'x'].id",
            "$..id",
            "$..items..id",
            "$..*..x",
            "$.items[?@.id == 3]",
            "$.items[?@.id == $.wanted].name",
            "$.items[?@.at.x == 1 && @.name == 'x' || length(@.tags) > 1]",
            "$.items[?@.tags[?@ == 'a']].id",
            "$.items[?count(@.tags[*]) == 2]",
            "$.items[?count(@..x) == 1]",
            "$.items[?match(@.name, 'x.*')].id",
            "$..[?@.id == 3]",
        ] {
            assert!(!is_too_much(path, &large), "{path}");
        }
        let deep = nested(100);
        for path in ["$..a", "$..a..a", "$..*..*", "$..[?@.a]", "$..[?@..a]"] {
            assert!(!is_too_much(path, &deep), "{path}");
        }
    }

    #[test]
    fn what_would_not_end_is_not_followed() {
        let large = records(8_000);
        for path in [
            "$.items[?count($.items[*]) == 2]",
            "$.items[?match(@.name, $.items[?@.id == 4].name)]",
            "$.items[?@.id == 3 || $..[?@.id == 4]]",
            "$.items[?count($[?count($..x)>1])>1]",
            "$[*,*,*,*][*,*,*,*,*][*,*,*,*,*]",
        ] {
            assert!(is_too_much(path, &large), "{path}");
        }
        let deep = nested(100);
        for path in ["$..*..*..*..*", "$..a..a..a..a", "$..*..*..[?@..*..*..*]"] {
            assert!(is_too_much(path, &deep), "{path}");
        }
    }

    #[test]
    fn texts_in_a_path_are_no_part_of_it() {
        let document = records(8_000);
        for path in [
            "$.items[?@.name == '$..*..*..*' || @.name == \"[?count($..x)]\"]",
            "$['..','..','?(@..x..x)']",
        ] {
            assert!(!is_too_much(path, &document), "{path}");
        }
    }
}
