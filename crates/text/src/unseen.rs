//! The characters of a text that a program reads, and a person does not see.

/// What such a character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// A letter of the tag block, with its ASCII counterpart.
    Tag(char),
    /// A sign of no width.
    ZeroWidth,
    /// A sign of no width that joins others or keeps them apart, as emoji and some scripts need it.
    Joiner,
    /// Reorders the text around it.
    Bidi,
    /// Chooses a variant of the sign before it.
    Variant,
    /// A control character that is no white space.
    Control,
}

/// What a character is that nobody sees; `None` for all others.
pub fn unseen(character: char) -> Option<Unseen> {
    Some(match character {
        '\u{e0000}'..='\u{e007f}' => {
            let ascii = char::from_u32(u32::from(character) - 0xe0000);
            Unseen::Tag(ascii.unwrap_or(' '))
        }
        '\u{200c}' | '\u{200d}' => Unseen::Joiner,
        '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}' => Unseen::ZeroWidth,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Unseen::Bidi,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Unseen::Variant,
        '\n' | '\r' | '\t' => return None,
        _ if character.is_control() => Unseen::Control,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::unseen;
    use crate::clean;

    #[test]
    fn what_nobody_sees_is_written_out_where_text_is_shown() {
        let unseen = ('\0'..=char::MAX).filter(|it| unseen(*it).is_some());
        let mut shown = unseen.filter(|it| clean(&it.to_string()) == it.to_string());
        assert_eq!(shown.next(), None);
    }
}
