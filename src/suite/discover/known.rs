//! Which ids and names are taken, told by the cases that have them: ten thousand texts are not kept twice.

use std::{
    borrow::Borrow,
    collections::{HashMap, HashSet},
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::{suite::model::Case, words::text};

/// The cases so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The case of each id.
    ids: HashSet<ById>,
    /// The last number that was put behind an id, where one was.
    numbers: HashMap<String, u32>,
    /// The first case of each name.
    names: HashSet<ByName>,
}

/// A case, found by its id.
#[derive(Debug)]
struct ById(Arc<Case>);

/// A case, found by its name.
#[derive(Debug)]
struct ByName(Arc<Case>);

impl Known {
    /// Gives a case its id: this one as it is shown, with a number behind it if others have it. Here and nowhere else
    /// it is made harmless, so that plans, reports and baselines have one and the same id.
    pub(super) fn identify(&mut self, id: &str, mut case: Case) -> Arc<Case> {
        let id = text::name(id);
        case.id = if self.ids.contains(id.as_str()) {
            let last = self.numbers.entry(id.clone()).or_insert(1);
            loop {
                *last += 1;
                let numbered = format!("{id}#{last}");
                // A name may end like that by itself.
                if !self.ids.contains(numbered.as_str()) {
                    break numbered;
                }
            }
        } else {
            id
        };
        let case = Arc::new(case);
        self.ids.insert(ById(Arc::clone(&case)));
        case
    }

    /// The first case of the same name, if this is not it.
    pub(super) fn namesake(&mut self, case: &Arc<Case>) -> Option<Arc<Case>> {
        if let Some(ByName(first)) = self.names.get(case.name.as_str()) {
            return Some(Arc::clone(first));
        }
        self.names.insert(ByName(Arc::clone(case)));
        None
    }
}

impl Borrow<str> for ById {
    fn borrow(&self) -> &str {
        &self.0.id
    }
}

impl Borrow<str> for ByName {
    fn borrow(&self) -> &str {
        &self.0.name
    }
}

impl Hash for ById {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl Hash for ByName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl PartialEq for ById {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl PartialEq for ByName {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for ById {}

impl Eq for ByName {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Known;
    use crate::{
        suite::model::Case,
        words::source::{Origin, SourceFile, Span},
    };

    #[test]
    fn no_two_cases_have_one_id() {
        let file = Arc::new(SourceFile::new(String::new(), String::new()));
        let case = |names: &[&str], wanted: &[&str]| {
            let mut known = Known::default();
            let ids = names.iter().map(|name| {
                let case = Case {
                    id: String::new(),
                    name: (*name).to_owned(),
                    origin: Origin {
                        file: Arc::clone(&file),
                        span: Span::default(),
                    },
                    subject: "",
                    tags: Vec::new(),
                };
                known.identify(name, case).id.clone()
            });
            assert_eq!(ids.collect::<Vec<_>>(), wanted, "{names:?}");
        };
        case(&["n", "n", "n"], &["n", "n#2", "n#3"]);
        case(&["n", "n", "n#2"], &["n", "n#2", "n#2#2"]);
        case(&["n#2", "n", "n"], &["n#2", "n", "n#3"]);
        case(&["n", "n#3", "n", "n"], &["n", "n#3", "n#2", "n#4"]);
        case(&["n\u{ad}", "n\\u{ad}"], &["n\\u{ad}", "n\\u{ad}#2"]);
        case(&["n", "n\n", "n "], &["n", "n#2", "n#3"]);
        case(
            &["n#2", "n", "n", "n", "n#3"],
            &["n#2", "n", "n#3", "n#4", "n#3#2"],
        );
    }
}
