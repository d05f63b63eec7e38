//! A regular expression of a suite: as people wrote it, which is what they are shown, beside what it was compiled to,
//! which is in the syntax of another library. Made by `suite::lower`.

use std::sync::Arc;

use regex::Regex;

/// A compiled pattern that knows how it was written.
#[derive(Debug, Clone)]
pub struct Pattern {
    written: Arc<str>,
    compiled: Regex,
}

impl Pattern {
    /// The pattern that people wrote so, compiled.
    pub fn new(written: &str, compiled: Regex) -> Self {
        Self {
            written: written.into(),
            compiled,
        }
    }

    /// As people wrote it.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// In the syntax of the library that compiled it.
    pub fn compiled(&self) -> &str {
        self.compiled.as_str()
    }

    /// Whether it is found in a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled.is_match(text)
    }

    /// The same pattern with a flag such as `i`; `None` where it would be too large.
    pub fn with_flag(&self, flag: char) -> Option<Regex> {
        Regex::new(&format!("(?{flag}){}", self.compiled())).ok()
    }
}

/// The last line of the library's message, which says what is wrong; the lines before draw the pattern.
pub fn reason(error: &regex::Error) -> String {
    if let regex::Error::CompiledTooBig(limit) = error {
        return format!("compiled it would be larger than {limit} bytes");
    }
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// The same text that became the same expression.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written && self.compiled() == other.compiled()
    }
}

impl Eq for Pattern {}

#[cfg(any(test, feature = "testing"))]
#[allow(clippy::unwrap_used, reason = "for tests")]
impl Pattern {
    /// A pattern that means the same in both syntaxes.
    pub fn plain(text: &str) -> Self {
        Self::new(text, Regex::new(text).unwrap())
    }
}
