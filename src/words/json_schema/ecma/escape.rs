//! What stands behind a backslash in a pattern of ECMA-262, and how it is written for the engine.

/// What a backslash and what follows it stand for.
pub(super) enum Escape<'a> {
    /// The members of a class: `\d`.
    Members(&'static str),
    /// A property of characters, as it is written: `\p{L}`.
    Property(&'a str),
    /// One code point, which may be half of a surrogate pair.
    Code(u32),
    /// An assertion, a back reference, or nothing that is known: the character behind the backslash.
    Other(char),
}

impl<'a> Escape<'a> {
    /// Reads one; `rest` is what stands behind the backslash, and then what stands behind the escape.
    pub(super) fn read(rest: &mut &'a str) -> Option<Self> {
        let mut behind = rest.chars();
        let character = behind.next()?;
        let behind = behind.as_str();
        let (escape, behind) = if let Some(members) = members(character) {
            (Self::Members(members), behind)
        } else {
            known(character, behind).unwrap_or((Self::Other(character), behind))
        };
        *rest = behind;
        Some(escape)
    }
}

/// What is no class: the escape, and what stands behind it.
fn known(character: char, behind: &str) -> Option<(Escape<'_>, &str)> {
    let code = |code: u32| Some((Escape::Code(code), behind));
    match character {
        'f' => code(0xc),
        'n' => code(0xa),
        'r' => code(0xd),
        't' => code(0x9),
        'v' => code(0xb),
        '0' if !behind.starts_with(|next: char| next.is_ascii_digit()) => code(0),
        'c' => {
            let letter = behind.chars().next().filter(char::is_ascii_alphabetic)?;
            Some((Escape::Code(u32::from(letter) % 32), &behind[1..]))
        }
        'x' => hexadecimal(behind, 2).map(|(code, behind)| (Escape::Code(code), behind)),
        'u' => unicode(behind).map(|(code, behind)| (Escape::Code(code), behind)),
        'p' | 'P' => {
            let (name, behind) = behind.strip_prefix('{')?.split_once('}')?;
            Some((Escape::Property(name), behind))
        }
        _ if !character.is_alphanumeric() && character != '_' => code(u32::from(character)),
        _ => None,
    }
}

/// `\u{1f600}`, `\u00e9`, or the two halves of a pair.
fn unicode(behind: &str) -> Option<(u32, &str)> {
    if let Some(braced) = behind.strip_prefix('{') {
        let (digits, behind) = braced.split_once('}')?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        return (code <= 0x10_ffff).then_some((code, behind));
    }
    let (first, behind) = hexadecimal(behind, 4)?;
    let second = behind.strip_prefix("\\u").filter(|_| is_high(first));
    match second.and_then(|second| hexadecimal(second, 4)) {
        Some((second, behind)) if (0xdc00..=0xdfff).contains(&second) => Some((
            0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00),
            behind,
        )),
        Some(_) | None => Some((first, behind)),
    }
}

fn is_high(code: u32) -> bool {
    (0xd800..=0xdbff).contains(&code)
}

fn hexadecimal(text: &str, digits: usize) -> Option<(u32, &str)> {
    let (number, behind) = text.split_at_checked(digits)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(number, 16).ok()?;
    is_number.then_some((code, behind))
}

/// A character as itself, inside of a class or outside.
pub(super) fn literal(character: char) -> String {
    if regex_syntax::is_meta_character(character) {
        format!("\\{character}")
    } else if character.is_control() || character.is_whitespace() {
        format!("\\u{{{:x}}}", u32::from(character))
    } else {
        character.to_string()
    }
}

/// The characters that an escape stands for, as the members of a class. Written without a class of its own,
/// which the validator would take for characters.
fn members(escaped: char) -> Option<&'static str> {
    Some(match escaped {
        'd' => "0-9",
        'D' => r"\u{0}-/:-\u{10ffff}",
        'w' => "0-9A-Z_a-z",
        'W' => r"\u{0}-/:-@\[-\^\u{60}\u{7b}-\u{10ffff}",
        's' => {
            r"\u{9}-\u{d}\u{20}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}"
        }
        'S' => {
            r"\u{0}-\u{8}\u{e}-\u{1f}!-\u{9f}\u{a1}-\u{167f}\u{1681}-\u{1fff}\u{200b}-\u{2027}\u{202a}-\u{202e}\u{2030}-\u{205e}\u{2060}-\u{2fff}\u{3001}-\u{fefe}\u{ff00}-\u{10ffff}"
        }
        _ => return None,
    })
}
