//! Texts as parts of web addresses.

use std::fmt::Write;

/// A text as a part of an address; slashes stay.
pub fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn only_plain_signs_stay() {
        assert_eq!(encoded("a b/ä#?"), "a%20b/%C3%A4%23%3F");
        assert_eq!(encoded("a-1_b.c~"), "a-1_b.c~");
    }
}
