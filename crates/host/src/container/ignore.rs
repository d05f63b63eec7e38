//! `.dockerignore`: which files of a build's folder are not sent.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// The patterns of a file, in order; the last one that matches decides.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    rules: Vec<(GlobMatcher, Rule)>,
    /// Names that are sent whatever the patterns say: the engine needs them.
    always: Vec<String>,
}

/// What a pattern says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// It is left out.
    Out,
    /// It is sent all the same.
    In,
}

impl Ignored {
    /// Reads the patterns; the error has the line of an invalid pattern.
    pub(super) fn new(text: &str, always: &[&str]) -> Result<Self, (usize, String)> {
        let mut rules = Vec::new();
        for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (rule, pattern) = match line.strip_prefix('!') {
                Some(rest) => (Rule::In, rest.trim()),
                None => (Rule::Out, line),
            };
            // Patterns are relative to the folder, which is always sent itself.
            let pattern = pattern.trim_start_matches("./").trim_matches('/');
            if pattern.is_empty() || pattern == "." {
                continue;
            }
            let glob = GlobBuilder::new(pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_err(|error| (number + 1, error.kind().to_string()))?;
            rules.push((glob.compile_matcher(), rule));
        }
        Ok(Self {
            rules,
            always: always.iter().map(|name| (*name).to_owned()).collect(),
        })
    }

    /// Whether a path below the folder is sent.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        if self.always.iter().any(|name| path == Path::new(name)) {
            return true;
        }
        // A pattern that matches a folder is about all that is in it.
        let matching = |glob: &GlobMatcher| {
            path.ancestors()
                .filter(|path| !path.as_os_str().is_empty())
                .any(|path| glob.is_match(path))
        };
        let last = self.rules.iter().rev().find(|(glob, _)| matching(glob));
        last.is_none_or(|(_, rule)| *rule == Rule::In)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Ignored;

    #[test]
    fn the_last_pattern_that_matches_decides() {
        let case = |patterns: &str, path: &str, sent: bool| {
            let ignored = Ignored::new(patterns, &["Dockerfile"]).unwrap();
            assert_eq!(ignored.keeps(Path::new(path)), sent, "{patterns:?} {path}");
        };
        case("", "a", true);
        case("# a comment\n\nnode_modules\n", "node_modules/x/y", false);
        case("node_modules", "app/node_modules", true);
        case("**/node_modules", "app/node_modules/x", false);
        case("**/node_modules", "node_modules", false);
        case("*.md", "readme.md", false);
        case("*.md", "docs/readme.md", true);
        case("*/temp*", "a/temporary", false);
        case("*\n!src\n", "src/a.rs", true);
        case("*\n!src\n", "target/a", false);
        case("*\n!src\n", "Dockerfile", true);
        case("*.md\n!readme.md", "readme.md", true);
        case("!readme.md\n*.md", "readme.md", false);
        case("/a/", "a/b", false);
        case("./a", "a", false);
        case("te?t", "test", false);
        case("docs/**/*.txt", "docs/a/b/c.txt", false);
        case("docs/..", "docs/x.md", true);
        case("../x.md", "x.md", true);
    }

    #[test]
    fn a_pattern_that_is_none_is_told() {
        let (line, reason) = Ignored::new("a\n[z", &[]).unwrap_err();
        assert_eq!(line, 2);
        assert!(!reason.is_empty());
    }
}
