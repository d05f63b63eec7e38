//! Hiding secrets in everything that leaves the program: values the suite resolved from the environment and
//! that its author marked as secret by their use (headers, tokens, `env` values from `${VAR}`).

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};

/// What stands in a text instead of a secret.
pub(crate) const MASK: &str = "***";

/// The shortest value that is hidden; shorter ones would tear holes into ordinary text.
pub(crate) const SHORTEST_BYTES: usize = 4;

/// The values that must not be shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets {
    values: Vec<String>,
    too_short: usize,
}

impl Secrets {
    /// Adds a value and each of its lines, unless too short to hide: as they are, as JSON writes them, and
    /// in base64.
    pub(crate) fn add(&mut self, value: &str) {
        if (1..SHORTEST_BYTES).contains(&value.len()) {
            self.too_short += 1;
        }
        for part in std::iter::once(value).chain(value.lines()) {
            if part.len() < SHORTEST_BYTES {
                continue;
            }
            let quoted = serde_json::Value::from(part).to_string();
            let encoded = STANDARD_NO_PAD.encode(part);
            for form in [part, &quoted[1..quoted.len() - 1], &encoded] {
                if !self.values.iter().any(|known| known == form) {
                    self.values.push(form.to_owned());
                }
            }
        }
        self.values
            .sort_by_key(|known| std::cmp::Reverse(known.len()));
    }

    /// Adds a token of GitHub's, also as git sends it.
    pub(crate) fn add_token(&mut self, token: &str) {
        self.add(token);
        self.add(&STANDARD_NO_PAD.encode(format!("x-access-token:{token}")));
    }

    /// Every text that is hidden.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(String::as_str)
    }

    /// Values that are too short to be hidden.
    pub(crate) fn too_short(&self) -> usize {
        self.too_short
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

    #[test]
    fn a_token_is_hidden_as_git_sends_it() {
        let mut secrets = Secrets::default();
        secrets.add_token("ghs_abc");
        assert_eq!(
            secrets.mask("basic eC1hY2Nlc3MtdG9rZW46Z2hzX2FiYw== ghs_abc"),
            "basic ***== ***"
        );
        assert_eq!((secrets.too_short(), secrets.forms().count()), (0, 4));
        secrets.add("");
        secrets.add("abc");
        assert_eq!(secrets.too_short(), 1);
    }

    #[test]
    fn a_secret_is_hidden_as_json_writes_it_and_in_base64() {
        let mut secrets = Secrets::default();
        secrets.add("pass\"word\"");
        assert_eq!(secrets.mask(r#"{"a":"pass\"word\""}"#), r#"{"a":"***"}"#);
        assert_eq!(secrets.mask("Basic cGFzcyJ3b3JkIg=="), "Basic ***==");
    }
}
