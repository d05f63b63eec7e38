//! A text before and now on one line: the words that went as `[-…-]`, the ones that came as `{+…+}`, and of a long
//! text only the part around its first change.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Words compared on each side; the work grows with their product.
const MOST_WORDS: usize = 400;

/// Words shown before and behind a change.
const CONTEXT: usize = 6;

/// The longest line, in characters.
const LONGEST: usize = 400;

/// The difference of two texts.
pub(super) fn difference(before: &str, now: &str) -> String {
    let (before, now): (Vec<&str>, Vec<&str>) = (words(before), words(now));
    let same = before
        .iter()
        .zip(&now)
        .take_while(|(one, other)| one == other)
        .count();
    let start = same.saturating_sub(CONTEXT);
    let old = &before[start..before.len().min(start + MOST_WORDS)];
    let new = &now[start..now.len().min(start + MOST_WORDS)];
    let mut parts: Vec<String> = Vec::new();
    if start > 0 {
        parts.push("…".to_owned());
    }
    for change in capture_diff_slices(Algorithm::Myers, old, new) {
        let (tag, gone, come) = change.as_tag_tuple();
        match tag {
            DiffTag::Equal => parts.extend(equal(&old[gone])),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                if !gone.is_empty() {
                    parts.push(format!("[-{}-]", old[gone].join(" ")));
                }
                if !come.is_empty() {
                    parts.push(format!("{{+{}+}}", new[come].join(" ")));
                }
            }
        }
    }
    if before.len() > start + MOST_WORDS || now.len() > start + MOST_WORDS {
        parts.push("…".to_owned());
    }
    cut(&parts.join(" "))
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Words that are on both sides; of many only the ones next to a change.
fn equal(words: &[&str]) -> Vec<String> {
    if words.len() <= 2 * CONTEXT + 1 {
        return vec![words.join(" ")];
    }
    vec![
        words[..CONTEXT].join(" "),
        "…".to_owned(),
        words[words.len() - CONTEXT..].join(" "),
    ]
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let kept: String = text.chars().take(LONGEST).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn words_that_went_and_came_are_marked() {
        let case = |before: &str, now: &str, wanted: &str| {
            assert_eq!(difference(before, now), wanted);
        };
        case(
            "Reads one file",
            "Reads one text file",
            "Reads one {+text+} file",
        );
        case("a b", "a c", "a [-b-] {+c+}");
        case("", "new", "{+new+}");
        let words: Vec<String> = (0..40).map(|n| format!("w{n}")).collect();
        let long = words.join(" ");
        let shown = difference(&long, &format!("{long} x"));
        assert_eq!(shown, "… w34 w35 w36 w37 w38 w39 {+x+}");
    }

    #[test]
    fn a_huge_text_stays_short() {
        let shown = difference(&"a ".repeat(100_000), &"b ".repeat(100_000));
        assert!(shown.chars().count() < 500);
    }
}
