//! Which ids and names are taken.

use std::{collections::HashMap, sync::Arc};

use crate::{model::Case, unique::Names};

/// The cases so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    ids: Names,
    /// The first case of each name.
    names: HashMap<String, Arc<Case>>,
}

impl Known {
    /// Gives a case its id. It is cleaned here and nowhere else, so that plans, reports and baselines have the same id.
    pub(super) fn identify(&mut self, id: &str, mut case: Case) -> Arc<Case> {
        case.id = self.ids.take(&text::name(id));
        Arc::new(case)
    }

    /// The first case of the same name, unless this is it.
    pub(super) fn namesake(&mut self, case: &Arc<Case>) -> Option<Arc<Case>> {
        let first = self.names.get(&case.name).cloned();
        if first.is_none() {
            self.names.insert(case.name.clone(), Arc::clone(case));
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Known;
    use crate::model::Case;
    use text::source::{Origin, SourceFile, Span};

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
