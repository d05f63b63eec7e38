//! A text as it reads once its escapes are undone, and again, with the way back to where each character stood. What a
//! server means by a text is not asked: every escape that JSON and its kin know is undone, whoever wrote it.

use std::{borrow::Cow, ops::Range};

/// The longest escape of one character: two halves of a pair.
pub(super) const LONGEST_ESCAPE: usize = "\\ud83d\\ude00".len();

/// A text, or what it is after its escapes were undone some times.
#[derive(Debug)]
pub(super) struct Layer<'a> {
    /// The text.
    pub(super) text: Cow<'a, str>,
    /// For each byte and for the end its place in the first text; `None` while nothing was undone.
    places: Option<Vec<usize>>,
}

impl<'a> Layer<'a> {
    /// The text as it is.
    pub(super) fn first(text: &'a str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            places: None,
        }
    }

    /// Where a part of this text stands in the first one.
    pub(super) fn place(&self, part: Range<usize>) -> Range<usize> {
        match &self.places {
            None => part,
            Some(places) => places[part.start]..places[part.end],
        }
    }

    /// The text with one layer of escapes undone; `None` when it holds none.
    pub(super) fn below(&self) -> Option<Layer<'static>> {
        let mut at = self.text.find('\\')?;
        let mut text = String::with_capacity(self.text.len());
        let mut places = Vec::with_capacity(self.text.len() + 1);
        let mut undone = false;
        let mut copied = 0;
        let copy = |part: Range<usize>, text: &mut String, places: &mut Vec<usize>| {
            text.push_str(&self.text[part.clone()]);
            places.extend(part.map(|byte| self.place(byte..byte).start));
        };
        loop {
            let length = match escape(&self.text[at..]) {
                Some((character, length)) => {
                    copy(copied..at, &mut text, &mut places);
                    text.push(character);
                    let place = self.place(at..at).start;
                    places.extend(std::iter::repeat_n(place, character.len_utf8()));
                    undone = true;
                    copied = at + length;
                    length
                }
                None => 1,
            };
            match self.text[at + length..].find('\\') {
                Some(next) => at += length + next,
                None => break,
            }
        }
        let end = self.text.len();
        copy(copied..end, &mut text, &mut places);
        places.push(self.place(end..end).start);
        undone.then_some(Layer {
            text: Cow::Owned(text),
            places: Some(places),
        })
    }
}

/// The character that the escape at the beginning of a text stands for, and the escape's length.
fn escape(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix('\\')?;
    let character = match rest.bytes().next()? {
        plain @ (b'"' | b'\'' | b'\\' | b'/') => char::from(plain),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'x' => {
            let byte = u8::from_str_radix(digits(rest.get(1..3)?)?, 16).ok()?;
            return byte.is_ascii().then_some((char::from(byte), 4));
        }
        b'u' => return by_number(rest),
        _ => return None,
    };
    Some((character, 2))
}

/// `u00e9`, `ud83d\ude00` or `u{1f600}`, behind a backslash.
fn by_number(rest: &str) -> Option<(char, usize)> {
    if let Some(braced) = rest.strip_prefix("u{") {
        let inner = braced.get(..braced.find('}').filter(|end| *end <= 6)?)?;
        let number = u32::from_str_radix(digits(inner)?, 16).ok()?;
        return Some((char::from_u32(number)?, inner.len() + 4));
    }
    let unit = |at: usize| u16::from_str_radix(digits(rest.get(at..at + 4)?)?, 16).ok();
    let first = unit(1)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 6));
    }
    rest.get(5..)?.strip_prefix("\\u")?;
    let pair = [first, unit(7)?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, LONGEST_ESCAPE))
}

/// A text that holds nothing but hexadecimal digits.
fn digits(text: &str) -> Option<&str> {
    let all = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (all && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::Layer;

    fn below(text: &str) -> Option<String> {
        Layer::first(text)
            .below()
            .map(|layer| layer.text.into_owned())
    }

    #[test]
    fn every_way_to_write_a_character_is_undone() {
        let case = |text: &str, wanted: Option<&str>| {
            assert_eq!(below(text).as_deref(), wanted, "{text}");
        };
        case("plain", None);
        case(r#"a\u0026\u003C\/\"\\\n"#, Some("a&</\"\\\n"));
        case(r"\u00F6\u00f6\ud83d\uDE00\u{1f600}\x26\'", Some("öö😀😀&'"));
        case(r"\d \u12 \ud83d \x \", None);
        case(r"\ud83d\u0041", Some(r"\ud83dA"));
        case(r"\u{110000}\u{}\xff\t", Some("\\u{110000}\\u{}\\xff\t"));
        case(r"\u+123\n", Some("\\u+123\n"));
    }

    #[test]
    fn places_lead_back_through_all_layers() {
        let text = r"x\\u0026y";
        let first = Layer::first(text).below().unwrap();
        assert_eq!(first.text, r"x\u0026y");
        let second = first.below().unwrap();
        assert_eq!(second.text, "x&y");
        assert_eq!(second.place(1..2), 1..8);
        assert_eq!(&text[second.place(0..3)], text);
    }

    proptest! {
        #[test]
        fn any_text_is_undone_and_keeps_its_places(text in "[\\\\u0-9a-f{}é\"n]{0,40}") {
            let mut layer = Layer::first(&text);
            while let Some(below) = layer.below() {
                prop_assert!(below.text.len() < layer.text.len());
                prop_assert_eq!(below.place(0..below.text.len()), 0..text.len());
                layer = below;
            }
        }

        #[test]
        fn what_serde_writes_is_undone(text in any::<String>()) {
            let quoted = serde_json::Value::from(text.as_str()).to_string();
            let inner = &quoted[1..quoted.len() - 1];
            prop_assert_eq!(below(inner).unwrap_or_else(|| inner.to_owned()), text);
        }
    }
}
