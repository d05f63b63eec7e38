//! Masks, cleans and bounds every text from outside before it is reported.

use text::{CUT, clean, clean_prose, head, redact::Secrets};

/// The longest text a report keeps, in bytes.
pub const LONGEST_TEXT_BYTES: usize = 64 * 1024;

/// The longest one-line text, in characters.
const LONGEST_LINE_CHARACTERS: usize = 1_000;

/// Bytes that are masked and cleaned of a longer text; more than is kept, because masking can shorten it.
const LOOKED_AT_BYTES: usize = 4 * LONGEST_TEXT_BYTES;

/// Hides secrets and makes text harmless.
#[derive(Debug, Clone, Default)]
pub struct Cleaner {
    secrets: Secrets,
}

impl Cleaner {
    /// A cleaner that hides these.
    pub fn new(secrets: Secrets) -> Self {
        Self { secrets }
    }

    /// A text of several lines, at most [`LONGEST_TEXT_BYTES`] from its beginning.
    pub fn text(&self, text: &str) -> String {
        bounded(text, &self.looked_at(text, Secrets::mask))
    }

    /// The same text, with the names of what was hidden.
    pub fn text_named(&self, text: &str) -> String {
        bounded(text, &self.looked_at(text, Secrets::mask_named))
    }

    /// A text whose end matters: at most [`LONGEST_TEXT_BYTES`] from its end.
    pub fn tail(&self, text: &str) -> String {
        let shown = clean_prose(&self.secrets.mask(text));
        if shown.len() <= LONGEST_TEXT_BYTES {
            return shown;
        }
        let start = shown.len() - LONGEST_TEXT_BYTES + CUT.len();
        format!("{CUT}{}", &shown[shown.ceil_char_boundary(start)..])
    }

    /// A name of the user's: made harmless on one line, and otherwise left whole, because it identifies.
    pub fn name(name: &str) -> String {
        text::name(name)
    }

    /// Masks the secrets of a text and changes nothing else.
    pub fn mask(&self, text: &str) -> String {
        self.secrets.mask(text)
    }

    /// A text that must stay on one line: line ends become `⏎`.
    pub fn line(&self, text: &str) -> String {
        one_line(&self.looked_at(text, Secrets::mask))
    }

    /// Masks and cleans the beginning of a text; a cut is marked so that a secret at the cut is recognised.
    fn looked_at(&self, text: &str, hide: impl Fn(&Secrets, &str) -> String) -> String {
        let looked_at = beginning(text, LOOKED_AT_BYTES);
        let mark = if looked_at.len() < text.len() {
            CUT
        } else {
            ""
        };
        clean(&hide(&self.secrets, &format!("{looked_at}{mark}")))
    }
}

/// Cuts a cleaned text to [`LONGEST_TEXT_BYTES`].
fn bounded(text: &str, shown: &str) -> String {
    if text.len() > LOOKED_AT_BYTES {
        let kept = beginning(shown, LONGEST_TEXT_BYTES);
        return kept.trim_end_matches(CUT).to_owned() + &cut_note(text.len());
    }
    let mut kept = shown.to_owned();
    cut(&mut kept, LONGEST_TEXT_BYTES);
    kept
}

/// A text on one line, at most [`LONGEST_LINE_CHARACTERS`] long.
pub fn one_line(text: &str) -> String {
    let joined = text.trim_end().replace('\n', " ⏎ ").replace('\t', " ");
    head(&joined, LONGEST_LINE_CHARACTERS)
}

/// Shortens a text to about `limit` bytes and says how long it was; a text that was cut before keeps its note.
pub fn cut(text: &mut String, limit: usize) {
    if text.len() <= limit {
        return;
    }
    let note = cut_note(text.len());
    let kept = beginning(text, limit.saturating_sub(note.len())).len();
    text.truncate(kept);
    text.push_str(&note);
}

/// What stands at the end of a text that was cut.
fn cut_note(total: usize) -> String {
    format!("{CUT} (cut, {total} bytes in all)")
}

/// The first `limit` bytes at most, never half a character.
fn beginning(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

#[cfg(test)]
mod tests {
    use super::{Cleaner, LONGEST_TEXT_BYTES, cut};
    use text::redact::Secrets;

    #[test]
    fn a_text_is_masked_cleaned_and_bounded() {
        let mut secrets = Secrets::default();
        secrets.add("hunter22");
        let cleaner = Cleaner::new(secrets);
        assert_eq!(cleaner.text("a\u{1b}[2J hunter22"), "a\\u{1b}[2J ***");
        assert_eq!(cleaner.line("a\r\nb\n"), "a\\u{d} ⏎ b");
        let long = cleaner.text(&"é".repeat(10 * LONGEST_TEXT_BYTES));
        assert!(long.len() < LONGEST_TEXT_BYTES + 50);
        assert!(
            long.ends_with("… (cut, 1310720 bytes in all)"),
            "{}",
            &long[long.len() - 60..]
        );
        assert!(
            cleaner
                .tail(&format!("{}end", "x".repeat(LONGEST_TEXT_BYTES)))
                .ends_with("xend")
        );
    }

    #[test]
    fn a_sign_of_a_log_may_ask_for_its_picture() {
        let cleaner = Cleaner::default();
        let tail = |text: &str| cleaner.tail(text);
        assert_eq!(tail("\u{26a0}\u{fe0f} slow"), "\u{26a0}\u{fe0f} slow");
        // Where values are compared it is a difference.
        assert_eq!(cleaner.text("\u{26a0}\u{fe0f}"), "\u{26a0}\\u{fe0f}");
        assert_eq!(tail("\u{fe0f}a"), "\\u{fe0f}a");
        assert_eq!(tail("#\u{fe0f}#[x]"), "#\\u{fe0f}#[x]");
        assert_eq!(tail("\u{200b}\u{fe0f}"), "\\u{200b}\\u{fe0f}");
        assert_eq!(
            tail("\u{26a0}\u{fe0f}\u{fe0f}"),
            "\u{26a0}\u{fe0f}\\u{fe0f}"
        );
        assert_eq!(tail("\u{26a0}\u{fe0e}"), "\u{26a0}\\u{fe0e}");
    }

    #[test]
    fn a_cut_text_stays_within_its_limit() {
        let mut text = "x".repeat(1_000);
        cut(&mut text, 100);
        assert_eq!(
            (text.len(), text.ends_with("(cut, 1000 bytes in all)")),
            (100, true)
        );
    }
}
