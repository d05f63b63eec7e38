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

/// A pattern: a text to be contained and, with `*`, `?`, `[` or `{`, a glob too. As typed, and as ids show it.
#[derive(Debug)]
struct Pattern {
    typed: String,
    shown: String,
    /// The glob as typed and as shown; an invalid one may be a text.
    glob: Option<Result<[GlobMatcher; 2], BadPattern>>,
}

/// A glob that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid glob in `--filter {pattern}`: {reason}")]
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

    /// An invalid glob that is not the text of one of these cases either, on any of these targets.
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
                Some(Err(bad)) if !is_text(pattern) => Some(bad),
                Some(_) | None => None,
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

    /// Whether a selected assertion is selected on this target. One that a pattern names with a target is selected on that
    /// target only.
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
        let glob = |pattern: &str| Glob::new(pattern).map(|glob| glob.compile_matcher());
        let glob = text.contains(['*', '?', '[', '{']).then(|| {
            let globs = glob(text).and_then(|typed| Ok([typed, glob(&glob_as_shown(text))?]));
            globs.map_err(|error| BadPattern {
                pattern: text.to_owned(),
                reason: error.kind().to_string(),
            })
        });
        Self {
            typed: text.to_owned(),
            shown: as_shown(text),
            glob,
        }
    }

    fn globs(&self) -> &[GlobMatcher] {
        match &self.glob {
            Some(Ok(globs)) => globs,
            Some(Err(_)) | None => &[],
        }
    }

    fn matches(&self, case: &Case) -> bool {
        let mut typed = self.globs().iter().take(1);
        self.matches_id(&case.id)
            || case.name.contains(&self.typed)
            || typed.any(|glob| glob.is_match(&case.name))
    }

    /// Whether it is about the assertion on a target, by the id that is shown there.
    fn matches_on(&self, case: &Case, target: &NamedTarget) -> bool {
        self.matches_id(&on_target(&case.id, Some(&target.name)))
    }

    fn matches_on_any(&self, case: &Case, targets: &[NamedTarget]) -> bool {
        targets.iter().any(|target| self.matches_on(case, target))
    }

    fn matches_id(&self, id: &str) -> bool {
        id.contains(&self.typed)
            || id.contains(&self.shown)
            || self.globs().iter().any(|glob| glob.is_match(id))
    }
}

/// A part of a name as ids show it.
fn as_shown(text: &str) -> String {
    clean(text).replace('\n', " ⏎ ").replace('\t', " ")
}

/// A glob as ids show it: characters that are shown otherwise stand for themselves.
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
            told.starts_with("invalid glob in `--filter shut [`: "),
            "{told}"
        );
    }
}
