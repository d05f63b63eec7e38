//! The two ways text from outside enters Markdown: on a line, and as a block. Nothing else of it may reach the
//! page.

use text::{clean, clean_prose};

/// Characters shown of a text on a line, unless the page must be smaller.
pub const LONGEST_INLINE: usize = 200;

/// A text on one line, as code in which every sign is an entity: no cell, tag, link, mention, issue number or
/// comment can arise from it.
pub fn inline(text: &str, limit: usize) -> String {
    let text = clean(text.trim());
    let mut out = "<code>".to_owned();
    for (index, character) in text.chars().enumerate() {
        if index == limit {
            out.push('…');
            break;
        }
        match character {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            '@' => out.push_str("&#64;<wbr>"),
            sign if sign.is_ascii_punctuation() => {
                out.push_str("&#");
                out.push_str(&u32::from(sign).to_string());
                out.push(';');
            }
            other => out.push(other),
        }
    }
    out.push_str("</code>");
    out
}

/// A text of several lines between fences that it cannot close, with empty lines around.
pub fn block(text: &str) -> String {
    let text = clean_prose(text);
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "\n{fence}text\n{}\n{fence}\n\n",
        text.trim_end_matches('\n')
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{block, inline};
    use crate::sample::UGLY;

    /// Whether a GitHub page could find anything but text in it.
    fn is_inert(inline: &str) -> bool {
        let inner = inline
            .strip_prefix("<code>")
            .and_then(|rest| rest.strip_suffix("</code>"));
        let Some(inner) = inner else {
            return false;
        };
        let bare = inner.replace("<wbr>", "");
        let mut rest = bare.as_str();
        while let Some(at) = rest.find(|character: char| character.is_ascii_punctuation()) {
            let Some(end) = rest[at..]
                .strip_prefix("&#")
                .and_then(|tail| tail.find(';'))
            else {
                return false;
            };
            if !rest[at + 2..at + 2 + end]
                .bytes()
                .all(|byte| byte.is_ascii_digit())
            {
                return false;
            }
            rest = &rest[at + 3 + end..];
        }
        !bare.contains('\n') && !bare.contains('\r')
    }

    /// Whether the block's text stays between its fences.
    fn is_closed(block: &str) -> bool {
        let lines: Vec<&str> = block.split('\n').collect();
        let fence = lines[1].trim_end_matches("text");
        let closing: Vec<usize> = (2..lines.len())
            .filter(|index| lines[*index].trim_start().starts_with(fence))
            .collect();
        lines[0].is_empty() && closing == [lines.len() - 3] && block.ends_with("\n\n")
    }

    #[test]
    fn ugly_text_is_only_text() {
        assert!(is_inert(&inline(UGLY, 200)), "{}", inline(UGLY, 200));
        assert!(is_closed(&block(UGLY)), "{}", block(UGLY));
        assert_eq!(inline("@a|b", 3), "<code>&#64;<wbr>a&#124;…</code>");
    }

    proptest! {
        #[test]
        fn any_text_is_only_text(text in any::<String>(), ticks in "[`\n a~|<@#]{0,40}") {
            for text in [&text, &ticks, &format!("{ticks}{text}{ticks}")] {
                prop_assert!(is_inert(&inline(text, 200)), "{text:?}");
                prop_assert!(is_closed(&block(text)), "{text:?}");
            }
        }
    }
}
