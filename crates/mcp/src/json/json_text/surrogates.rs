//! Halves of characters in JSON text, as JavaScript and Python leave them where they cut a text: `"\ud83d"`.

/// The text with each surrogate escape that has no partner written as `\ufffd`; `None` when there is none.
pub fn without_lone_surrogates(text: &str) -> Option<String> {
    let mut repaired = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let Some(unit) = escaped_unit(text, at) else {
            // The backslash and the character it escapes, which may be a backslash itself.
            at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
            continue;
        };
        let paired = matches!(unit, 0xD800..=0xDBFF)
            && matches!(escaped_unit(text, at + 6), Some(0xDC00..=0xDFFF));
        if paired {
            at += 12;
            continue;
        }
        if matches!(unit, 0xD800..=0xDFFF) {
            repaired.push_str(&text[kept..at]);
            repaired.push_str("\\ufffd");
            kept = at + 6;
        }
        at += 6;
    }
    if kept == 0 {
        return None;
    }
    repaired.push_str(&text[kept..]);
    Some(repaired)
}

/// The code unit of a `\uXXXX` escape that begins at this byte.
fn escaped_unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}
