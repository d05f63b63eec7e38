//! How a text stands in base64. What three bytes are encoded together depends on how many stand before it, so it reads in
//! one of three ways within something longer, such as `user:SECRET`; and long base64 comes in lines.

use std::ops::Range;

use base64::{
    Engine,
    engine::{
        GeneralPurpose,
        general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
    },
};

use super::SHORTEST_BYTES;

/// The bits of a letter.
const LETTER: usize = 6;

/// The fewest letters of a middle that are looked for: those that tell as much as the shortest value that is hidden, so
/// that they are as seldom in a text by chance.
const FEWEST_LETTERS: usize = (SHORTEST_BYTES * 8).div_ceil(LETTER);

/// Both alphabets, and what they are called.
const ALPHABETS: [(GeneralPurpose, &str); 2] =
    [(STANDARD_NO_PAD, "base64"), (URL_SAFE_NO_PAD, "base64url")];

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

/// A text without its line ends and what is indented behind them, as base64 reads that was put into lines.
pub(super) struct Joined {
    /// The text.
    pub(super) text: String,
    /// For each byte its place in the text of lines.
    places: Vec<usize>,
}

impl Joined {
    /// Joins the lines; `None` where there is but one.
    pub(super) fn of(lines: &str) -> Option<Self> {
        lines.trim_end().contains('\n').then_some(())?;
        let mut joined = Self {
            text: String::with_capacity(lines.len()),
            places: Vec::with_capacity(lines.len()),
        };
        let mut at = 0;
        for line in lines.split_inclusive('\n') {
            let inner = line.trim();
            let from = at + (line.len() - line.trim_start().len());
            joined.text.push_str(inner);
            joined.places.extend(from..from + inner.len());
            at += line.len();
        }
        Some(joined)
    }

    /// Where a part of this text stands in the one of lines.
    pub(super) fn place(&self, part: Range<usize>) -> Range<usize> {
        self.places[part.start]..self.places[part.end - 1] + 1
    }
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
