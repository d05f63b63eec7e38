//! Names that are given once: repeats get a number.

use std::collections::{HashMap, HashSet};

/// The names that are taken.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// The last number behind each name.
    numbers: HashMap<String, u32>,
}

impl Names {
    /// This name, or with the first free number behind it: `name#2`.
    pub(crate) fn take(&mut self, name: &str) -> String {
        if self.taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.numbers.entry(name.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name}#{number}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}
