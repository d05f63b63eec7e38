//! JSON text byte by byte, without parsing it.

/// The bytes of a JSON text that stand outside of its strings, each with its place. Of a string its opening quote is among
/// them.
pub fn outside_strings(text: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let (mut in_string, mut escaped) = (false, false);
    text.iter().copied().enumerate().filter(move |(_, byte)| {
        let inside = in_string;
        if inside {
            in_string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
        } else {
            in_string = *byte == b'"';
        }
        !inside
    })
}
