//! Which ids and names are taken, told by the cases that have them: ten thousand texts are not kept twice.

use std::{
    borrow::Borrow,
    collections::{HashMap, HashSet},
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::suite::model::Case;

/// The cases so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The first case of each id, and how many there are by now.
    ids: HashMap<ById, u32>,
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
    /// Gives a case its id: this one, with a number behind it if others have it.
    pub(super) fn identify(&mut self, id: String, mut case: Case) -> Arc<Case> {
        if let Some(uses) = self.ids.get_mut(id.as_str()) {
            *uses += 1;
            case.id = format!("{id}#{uses}");
            return Arc::new(case);
        }
        case.id = id;
        let case = Arc::new(case);
        self.ids.insert(ById(Arc::clone(&case)), 1);
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
