//! A text as it reads once its escapes are undone, and again, with the way back to where each character stood. What a
//! server means by a text is not asked: every escape that JSON, URLs, HTML and their kin know is undone, whoever wrote it.

use std::{borrow::Cow, ops::Range};

/// The longest escape of one character: two halves of a pair.
pub(super) const LONGEST_ESCAPE: usize = "\\ud83d\\ude00".len();

/// Whose escapes are undone. Each alone, because in the eyes of another a secret may hold an escape itself (`100%25` in
/// JSON), and all at once, for a text that went through several hands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Escapes {
    /// `\n`, `\u00e9`: JSON, and most languages.
    Backslash,
    /// `%C3%A9`: URLs and forms.
    Percent,
    /// `&amp;`, `&#39;`: HTML and XML.
    Ampersand,
    /// All of them.
    All,
}

impl Escapes {
    /// All ways; the one for all of them last.
    pub(super) const WAYS: [Self; 4] = [Self::Backslash, Self::Percent, Self::Ampersand, Self::All];

    /// What these escapes begin with.
    fn signs(self) -> &'static [char] {
        match self {
            Self::Backslash => &['\\'],
            Self::Percent => &['%'],
            Self::Ampersand => &['&'],
            Self::All => &SIGNS,
        }
    }
}

/// What escapes begin with.
pub(super) const SIGNS: [char; 3] = ['\\', '%', '&'];

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
    pub(super) fn below(&self, escapes: Escapes) -> Option<Layer<'static>> {
        let signs = escapes.signs();
        let mut at = self.text.find(signs)?;
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
            match self.text[at + length..].find(signs) {
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
    match text.bytes().next()? {
        b'%' => by_bytes(text),
        b'&' => by_name(text),
        _ => behind_backslash(text.strip_prefix('\\')?),
    }
}

/// `n`, `x26` or `u00e9`, behind a backslash.
fn behind_backslash(rest: &str) -> Option<(char, usize)> {
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

/// `%C3%A9`: the bytes of one character.
fn by_bytes(text: &str) -> Option<(char, usize)> {
    let byte = |at: usize| {
        let number = text.get(3 * at..3 * at + 3)?.strip_prefix('%')?;
        u8::from_str_radix(digits(number)?, 16).ok()
    };
    let first = byte(0)?;
    // As many ones as its first byte begins with, a character has bytes.
    let length = first.leading_ones().max(1) as usize;
    let bytes: Vec<u8> = (0..length.min(4)).map_while(byte).collect();
    let character = str::from_utf8(&bytes).ok()?.chars().next()?;
    Some((character, 3 * bytes.len()))
}

/// `&amp;`, `&#39;` or `&#x27;`.
fn by_name(text: &str) -> Option<(char, usize)> {
    let end = text
        .bytes()
        .take(LONGEST_ESCAPE)
        .position(|it| it == b';')?;
    let name = text.get(1..end)?;
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let number = match number.strip_prefix(['x', 'X']) {
                Some(number) => u32::from_str_radix(digits(number)?, 16),
                None => digits(number)?.parse(),
            };
            char::from_u32(number.ok()?)?
        }
    };
    Some((character, end + 1))
}

/// A text that holds nothing but hexadecimal digits.
fn digits(text: &str) -> Option<&str> {
    let all = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (all && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::{Escapes, Layer};

    fn below(text: &str) -> Option<String> {
        undone(text, Escapes::Backslash)
    }

    fn undone(text: &str, escapes: Escapes) -> Option<String> {
        Layer::first(text)
            .below(escapes)
            .map(|layer| layer.text.into_owned())
    }

    #[test]
    fn what_urls_and_markup_escape_is_undone() {
        let case = |escapes, text: &str, wanted: Option<&str>| {
            assert_eq!(undone(text, escapes).as_deref(), wanted, "{text}");
        };
        let (url, markup) = (Escapes::Percent, Escapes::Ampersand);
        case(url, "a%20b%2fc%2F%c3%B6%F0%9F%98%80", Some("a b/c/ö😀"));
        case(url, "100% %zz %e9 %C3 %c3%zz %+1 %", None);
        case(url, "%F8%88%80%80%80%2", None);
        case(markup, "&amp;&lt;&gt;&quot;&apos;", Some("&<>\"'"));
        case(markup, "&#39;&#x27;&#X1f600;&#246;", Some("''😀ö"));
        case(
            markup,
            "a & b; &; &#; &#x; &#d9; &nope; &#xd800; &#99999999999;",
            None,
        );
        case(Escapes::All, r"\u0026amp;%26amp%3b", Some("&amp;&amp;"));
        case(markup, r"%26\u0026", None);
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
        let first = Layer::first(text).below(Escapes::Backslash).unwrap();
        assert_eq!(first.text, r"x\u0026y");
        let second = first.below(Escapes::Backslash).unwrap();
        assert_eq!(second.text, "x&y");
        assert_eq!(second.place(1..2), 1..8);
        assert_eq!(&text[second.place(0..3)], text);
    }

    proptest! {
        #[test]
        fn any_text_is_undone_and_keeps_its_places(text in "([\\\\%&u0-9a-f{}é\"n]|&#|;|amp;){0,40}") {
            for escapes in Escapes::WAYS {
                let mut layer = Layer::first(&text);
                while let Some(below) = layer.below(escapes) {
                    prop_assert!(below.text.len() < layer.text.len());
                    prop_assert_eq!(below.place(0..below.text.len()), 0..text.len());
                    layer = below;
                }
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
