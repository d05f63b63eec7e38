//! `[…]` in a pattern of ECMA-262, written for the engine: its members one by one, so that nothing in it is taken for
//! more than a character.

use super::escape::{Escape, literal};

/// Every character.
pub(super) const ANY: &str = r"[\u{0}-\u{10ffff}]";

/// No character.
pub(super) const NONE: &str = r"[^\u{0}-\u{10ffff}]";

/// The halves of pairs. No text holds one by itself.
const SURROGATES: std::ops::RangeInclusive<u32> = 0xd800..=0xdfff;

/// One member.
enum Member<'a> {
    /// A code point, at which a range may begin or end.
    Code(u32),
    /// Several characters.
    Several(&'static str),
    /// A property, behind `\p` or `\P`.
    Property(char, &'a str),
}

/// Reads a class; `rest` is what stands behind its `[`, and then what stands behind its `]`. `None` when it has no end.
pub(super) fn read(rest: &mut &str) -> Option<String> {
    let mut inside = *rest;
    let negated = inside.strip_prefix('^');
    inside = negated.unwrap_or(inside);
    let mut members = String::new();
    loop {
        if let Some(behind) = inside.strip_prefix(']') {
            *rest = behind;
            break;
        }
        let first = member(&mut inside)?;
        let range = inside.strip_prefix('-').filter(|it| !it.starts_with(']'));
        match (first, range) {
            (Member::Code(first), Some(mut behind)) => {
                match member(&mut behind)? {
                    Member::Code(last) => members.push_str(&written(first, last)?),
                    // Beside a class of its own the hyphen stands for itself.
                    last @ (Member::Several(_) | Member::Property(..)) => {
                        members.push_str(&written(first, first)?);
                        members.push_str(r"\-");
                        add(&mut members, &last);
                    }
                }
                inside = behind;
            }
            (Member::Code(code), None) => members.push_str(&written(code, code)?),
            (first @ (Member::Several(_) | Member::Property(..)), _) => {
                add(&mut members, &first);
                if let Some(behind) = range {
                    members.push_str(r"\-");
                    inside = behind;
                }
            }
        }
    }
    Some(match (members.is_empty(), negated) {
        (true, Some(_)) => ANY.to_owned(),
        (true, None) => NONE.to_owned(),
        (false, Some(_)) => format!("[^{members}]"),
        (false, None) => format!("[{members}]"),
    })
}

fn add(members: &mut String, member: &Member<'_>) {
    match member {
        Member::Several(several) => members.push_str(several),
        Member::Property(letter, name) => {
            members.extend(["\\", letter.encode_utf8(&mut [0; 4]), "{", name, "}"]);
        }
        Member::Code(_) => {}
    }
}

fn member<'a>(rest: &mut &'a str) -> Option<Member<'a>> {
    let mut behind = rest.chars();
    let character = behind.next()?;
    *rest = behind.as_str();
    if character != '\\' {
        return Some(Member::Code(u32::from(character)));
    }
    let letter = rest.chars().next()?;
    Some(match Escape::read(rest)? {
        Escape::Members(members) => Member::Several(members),
        Escape::Property(name) => Member::Property(letter, name),
        Escape::Code(code) => Member::Code(code),
        Escape::Other('b') => Member::Code(0x8),
        Escape::Other(character) => Member::Code(u32::from(character)),
    })
}

/// A range of code points without the halves of pairs; nothing when no others are in it, `None` when it runs backwards.
fn written(first: u32, last: u32) -> Option<String> {
    if first > last {
        return None;
    }
    let first = if SURROGATES.contains(&first) {
        SURROGATES.end() + 1
    } else {
        first
    };
    let last = if SURROGATES.contains(&last) {
        SURROGATES.start() - 1
    } else {
        last
    };
    Some(match (char::from_u32(first), char::from_u32(last)) {
        (Some(first), Some(last)) if first == last => literal(first),
        (Some(first), Some(last)) if first < last => {
            format!("{}-{}", literal(first), literal(last))
        }
        (Some(_) | None, Some(_) | None) => String::new(),
    })
}
