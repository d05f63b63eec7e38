//! Hiding secrets in everything that leaves the program: values the suite resolved from the environment and
//! that its author marked as secret by their use (headers, tokens, `env` values from `${VAR}`).

/// What stands in a text instead of a secret.
pub(crate) const MASK: &str = "***";

/// The shortest value that is hidden; shorter ones would tear holes into ordinary text.
pub(crate) const SHORTEST_BYTES: usize = 4;

/// The values that must not be shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets {
    values: Vec<String>,
}

impl Secrets {
    /// Adds a value and each of its lines, unless too short to hide.
    pub(crate) fn add(&mut self, value: &str) {
        for part in std::iter::once(value).chain(value.lines()) {
            if part.len() >= SHORTEST_BYTES && !self.values.iter().any(|known| known == part) {
                self.values.push(part.to_owned());
            }
        }
        self.values
            .sort_by_key(|known| std::cmp::Reverse(known.len()));
    }

    /// The text with every secret replaced by [`MASK`], longest first.
    pub(crate) fn mask(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in &self.values {
            if out.contains(secret.as_str()) {
                out = out.replace(secret.as_str(), MASK);
            }
        }
        out
    }

    /// Whether there is nothing to hide.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn secrets_are_hidden_longest_first_and_short_ones_left() {
        let mut secrets = Secrets::default();
        secrets.add("tok");
        secrets.add("abcd");
        secrets.add("abcdefgh\nsecond line");
        assert_eq!(
            secrets.mask("x abcdefgh y abcd tok second line"),
            "x *** y *** tok ***"
        );
    }
}
