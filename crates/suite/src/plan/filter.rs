//! Which assertions are selected: patterns over ids and names, and tags.

use globset::{Glob, GlobMatcher};

use crate::{
    model::{Case, on_target},
    settings::NamedTarget,
};
use text::clean;

/// The selection of a run. Empty lists select everything.
#[derive(Debug, Default)]
pub struct Filter {
    patterns: Vec<Pattern>,
    tags: Vec<String>,
    not_tags: Vec<String>,
}

/// A pattern: a text to be contained and, with `*`, `?`, `[` or `{`, a glob too. As typed, and as ids show what was
/// typed.
#[derive(Debug)]
struct Pattern {
    typed: String,
    shown: String,
    glob: Globs,
}

/// A pattern as a glob.
#[derive(Debug)]
enum Globs {
    /// It has no sign of one.
    None,
    /// Readable as typed and as shown.
    Some {
        typed: GlobMatcher,
        shown: GlobMatcher,
    },
    /// Signs of a glob that is none; it may be a text.
    Bad(BadPattern),
}

/// A glob that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`--filter {pattern}` is no valid glob: {reason}")]
pub struct BadPattern {
    /// The pattern as typed.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Filter {
    /// Makes a filter: any pattern may match, all of `tags` need one match, none of `not_tags` may.
    pub fn new(patterns: &[String], tags: &[String], not_tags: &[String]) -> Self {
        Self {
            patterns: patterns.iter().map(|text| Pattern::new(text)).collect(),
            tags: tags.to_vec(),
            not_tags: not_tags.to_vec(),
        }
    }

    /// A pattern that is no valid glob, and no text of any of these either, on any of these targets.
    pub fn bad_pattern<'c>(
        &self,
        cases: &(impl Iterator<Item = &'c Case> + Clone),
        targets: &[NamedTarget],
    ) -> Option<&BadPattern> {
        let is_text = |pattern: &Pattern| {
            let mut cases = cases.clone();
            cases.any(|case| pattern.matches(case) || pattern.matches_on_any(case, targets))
        };
        self.patterns
            .iter()
            .find_map(|pattern| match &pattern.glob {
                Globs::Bad(bad) if !is_text(pattern) => Some(bad),
                Globs::Bad(_) | Globs::None | Globs::Some { .. } => None,
            })
    }

    /// Whether the assertion is selected, on one of these targets at least.
    pub fn selects(&self, case: &Case, targets: &[NamedTarget]) -> bool {
        let named = self.names(case)
            || self
                .patterns
                .iter()
                .any(|pattern| pattern.matches_on_any(case, targets));
        let tagged = self.tags.is_empty() || self.tags.iter().any(|tag| case.tags.contains(tag));
        let refused = self.not_tags.iter().any(|tag| case.tags.contains(tag));
        named && tagged && !refused
    }

    /// Of an assertion that is selected: whether it is on this target. One that a pattern names with a target is
    /// selected there alone.
    pub fn selects_on(&self, case: &Case, target: Option<&NamedTarget>) -> bool {
        let mut patterns = self.patterns.iter();
        let named = |target| patterns.any(|pattern| pattern.matches_on(case, target));
        self.names(case) || target.is_none_or(named)
    }

    /// Whether the assertion is named, whatever the target.
    fn names(&self, case: &Case) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(case))
    }
}

impl Pattern {
    fn new(text: &str) -> Self {
        Self {
            typed: text.to_owned(),
            shown: as_shown(text),
            glob: Globs::new(text),
        }
    }

    fn matches(&self, case: &Case) -> bool {
        self.matches_text(&case.id)
            || case.name.contains(&self.typed)
            || self.glob.matches_typed(&case.name)
    }

    /// Whether it is about the assertion on a target, by the id that is shown there.
    fn matches_on(&self, case: &Case, target: &NamedTarget) -> bool {
        self.matches_text(&on_target(&case.id, Some(&target.name)))
    }

    fn matches_on_any(&self, case: &Case, targets: &[NamedTarget]) -> bool {
        targets.iter().any(|target| self.matches_on(case, target))
    }

    fn matches_text(&self, id: &str) -> bool {
        id.contains(&self.typed) || id.contains(&self.shown) || self.glob.matches(id)
    }
}

impl Globs {
    fn new(text: &str) -> Self {
        if !text.contains(['*', '?', '[', '{']) {
            return Self::None;
        }
        let glob = |pattern: &str| Glob::new(pattern).map(|glob| glob.compile_matcher());
        match (glob(text), glob(&glob_as_shown(text))) {
            (Ok(typed), Ok(shown)) => Self::Some { typed, shown },
            (Err(error), _) | (_, Err(error)) => Self::Bad(BadPattern {
                pattern: text.to_owned(),
                reason: error.kind().to_string(),
            }),
        }
    }

    fn matches(&self, id: &str) -> bool {
        match self {
            Self::None | Self::Bad(_) => false,
            Self::Some { typed, shown } => typed.is_match(id) || shown.is_match(id),
        }
    }

    fn matches_typed(&self, name: &str) -> bool {
        match self {
            Self::None | Self::Bad(_) => false,
            Self::Some { typed, shown: _ } => typed.is_match(name),
        }
    }
}

/// A part of a name as ids have it, for one that was copied from the suite.
fn as_shown(text: &str) -> String {
    clean(text).replace('\n', " ⏎ ").replace('\t', " ")
}

/// The same of a glob, in which what a sign is shown as means itself.
fn glob_as_shown(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len());
    for sign in pattern.chars() {
        let (typed, shown) = (sign.to_string(), as_shown(&sign.to_string()));
        if shown == typed {
            glob.push(sign);
        } else {
            for sign in shown.chars() {
                glob.extend(['[', sign, ']']);
            }
        }
    }
    glob
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Filter;
    use crate::model::Case;
    use text::source::{Origin, SourceFile, Span};

    fn case(id: &str) -> Case {
        Case {
            id: id.to_owned(),
            name: id.rsplit("::").next().unwrap_or_default().to_owned(),
            origin: Origin {
                file: Arc::new(SourceFile::new(String::new(), String::new())),
                span: Span::default(),
            },
            subject: "",
            tags: Vec::new(),
        }
    }

    #[test]
    fn a_text_of_the_id_selects_whatever_its_signs_mean_in_a_glob() {
        let selects = |pattern: &str, id: &str| {
            Filter::new(&[pattern.to_owned()], &[], &[]).selects(&case(id), &[])
        };
        for (pattern, id) in [
            ("items[0]", "a.yaml::has items[0] of it"),
            ("a.yaml::what?", "a.yaml::what?"),
            ("{{id", "a.yaml::keeps {{id}}"),
            ("[", "a.yaml::an open ["),
            ("a.*::log*", "a.yaml::login"),
            ("log{in,out}", "a.yaml::logout"),
            ("items[0]", "a.yaml::items0"),
        ] {
            assert!(selects(pattern, id), "{pattern} {id}");
        }
        assert!(!selects("items[0]", "a.yaml::has items0 of it"));
        assert!(!selects("in*", "a.yaml::login"));
    }

    #[test]
    fn what_is_no_glob_is_told_unless_it_is_a_text() {
        let bad = |pattern: &str| {
            let cases = [case("a.yaml::open ["), case("b.yaml::{x")];
            let filter = Filter::new(&[pattern.to_owned()], &[], &[]);
            filter
                .bad_pattern(&cases.iter(), &[])
                .map(ToString::to_string)
        };
        assert_eq!(bad("open ["), None);
        assert_eq!(bad("{x"), None);
        assert_eq!(bad("none*"), None);
        let told = bad("shut [").unwrap();
        assert!(
            told.starts_with("`--filter shut [` is no valid glob: "),
            "{told}"
        );
    }
}
