//! The ways in which others write a text: as JSON, also within JSON, as URLs, markup and base64 do. What three bytes are
//! encoded together in base64 depends on how many stand before them, so a text reads in one of three ways within
//! something longer, such as `user:SECRET`; and long base64 comes in lines.

use std::{fmt::Write as _, ops::Range};

use base64::{
    Engine,
    engine::{
        GeneralPurpose,
        general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
    },
};

use super::SHORTEST_BYTES;
use crate::address::encoded;

/// The bits of a letter.
const LETTER: usize = 6;

/// The fewest letters of a middle that are looked for: those that tell as much as the shortest value that is hidden, so
/// that they are as seldom in a text by chance.
const FEWEST_LETTERS: usize = (SHORTEST_BYTES * 8).div_ceil(LETTER);

/// Both alphabets, and what they are called.
const ALPHABETS: [(GeneralPurpose, &str); 2] =
    [(STANDARD_NO_PAD, "base64"), (URL_SAFE_NO_PAD, "base64url")];

/// How deep JSON lies within JSON: a frame may hold a text that is JSON and holds a text that is JSON.
const JSON_LEVELS: usize = 3;

/// The text as it is, as JSON of several languages writes it up to [`JSON_LEVELS`] deep, as URLs and as markup do.
pub(super) fn escaped(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    let mut level = vec![text.to_owned()];
    for _ in 0..JSON_LEVELS {
        level = level.iter().flat_map(|it| json(it)).collect();
        level.sort_unstable();
        level.dedup();
        all.extend(level.iter().cloned());
    }
    let url = encoded(text);
    for url in [url.replace('/', "%2F"), url] {
        all.extend([url.replace("%20", "+"), url.to_lowercase(), url]);
    }
    all.push(text.replace(' ', "+"));
    let markup = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let markup = markup.replace('"', "&quot;");
    let quotes = ["'", "&#39;", "&#x27;"].map(|quote| markup.replace('\'', quote));
    for markup in quotes {
        all.extend(json(&markup));
        all.push(markup);
    }
    all
}

/// The inside of a JSON text as serializers of Rust, Python, PHP and Go write it.
fn json(text: &str) -> [String; 5] {
    let quoted = serde_json::Value::from(text).to_string();
    let plain = &quoted[1..quoted.len() - 1];
    let (mut ascii, mut upper) = (String::new(), String::new());
    for sign in plain.chars() {
        if sign.is_ascii() {
            ascii.push(sign);
            upper.push(sign);
        } else {
            for unit in sign.encode_utf16(&mut [0; 2]) {
                // Writing to a text cannot fail.
                let _ = write!(ascii, "\\u{unit:04x}");
                let _ = write!(upper, "\\u{unit:04X}");
            }
        }
    }
    let go = plain
        .replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e");
    [
        plain.to_owned(),
        ascii.replace('/', "\\/"),
        ascii,
        upper,
        go,
    ]
}

/// A text in base64, in each alphabet, with its name.
pub(super) fn whole(text: &str) -> [(String, &'static str); 2] {
    ALPHABETS.map(|(alphabet, name)| (alphabet.encode(text), name))
}

/// A text within what is encoded together with it: the letters that do not depend on what stands around it.
pub(super) fn within(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for before in 0..3 {
        let bytes = [&[0; 2][..before], text.as_bytes()].concat();
        let own = (before * 8).div_ceil(LETTER)..bytes.len() * 8 / LETTER;
        if own.len() < FEWEST_LETTERS {
            continue;
        }
        for (alphabet, name) in ALPHABETS {
            let letters = &alphabet.encode(&bytes)[own.clone()];
            all.push((letters.to_owned(), format!("{name}.{before}")));
        }
    }
    all
}

/// A text without its line ends and what is indented behind them, as base64 reads that was put into lines; line ends
/// that JSON escapes count too.
pub(super) struct Joined {
    /// The text.
    pub(super) text: String,
    /// For each byte its place in the text of lines.
    places: Vec<usize>,
}

impl Joined {
    /// Joins the lines; `None` where there is but one.
    pub(super) fn of(lines: &str) -> Option<Self> {
        if !lines.trim_end().contains('\n') && !lines.contains("\\n") {
            return None;
        }
        let mut joined = Self {
            text: String::with_capacity(lines.len()),
            places: Vec::with_capacity(lines.len()),
        };
        let mut at = 0;
        while at < lines.len() {
            let rest = &lines[at..];
            let end = line_end(rest);
            if end > 0 {
                at += end;
                continue;
            }
            let length = rest.chars().next().map_or(1, char::len_utf8);
            joined.text.push_str(&rest[..length]);
            joined.places.extend(at..at + length);
            at += length;
        }
        Some(joined)
    }

    /// Where a part of this text stands in the one of lines.
    pub(super) fn place(&self, part: Range<usize>) -> Range<usize> {
        self.places[part.start]..self.places[part.end - 1] + 1
    }
}

/// The length of the line end, with the blanks around it, that a text begins with; 0 where there is none.
fn line_end(text: &str) -> usize {
    let behind = text.trim_start_matches([' ', '\t', '\r']);
    let behind = behind.strip_prefix("\\r").unwrap_or(behind);
    let escaped = behind.trim_start_matches('\\');
    let rest = match behind.strip_prefix('\n') {
        Some(rest) => rest,
        None if escaped.len() < behind.len() && escaped.starts_with('n') => &escaped[1..],
        None => return 0,
    };
    text.len() - rest.trim_start_matches([' ', '\t']).len()
}

#[cfg(test)]
mod tests {
    use super::{Joined, within};

    #[test]
    fn a_middle_is_what_does_not_hang_on_its_neighbours() {
        let text = |value: &str, wanted: &[&str]| {
            let found: Vec<String> = within(value).into_iter().map(|it| it.0).collect();
            assert_eq!(found, wanted, "{value}");
        };
        text("abcd", &[]);
        text(
            "abcde",
            &["YWJjZG", "YWJjZG", "FiY2Rl", "FiY2Rl", "hYmNkZ", "hYmNkZ"],
        );
        text(
            "??>?>",
            &["Pz8+Pz", "Pz8-Pz", "8/Pj8+", "8_Pj8-", "/Pz4/P", "_Pz4_P"],
        );
    }

    #[test]
    fn lines_are_joined_and_places_lead_back() {
        let text = "ab \r\n\t cd\n\nö\n";
        let joined = Joined::of(text).unwrap();
        assert_eq!(joined.text, "abcdö");
        assert_eq!(joined.place(0..2), 0..2);
        assert_eq!(&text[joined.place(1..4)], "b \r\n\t cd");
        assert_eq!(&text[joined.place(4..6)], "ö");
        assert!(Joined::of("one line\n").is_none());
    }
}
