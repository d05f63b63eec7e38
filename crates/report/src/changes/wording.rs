//! A text before and now on one line: the words that went as `[-…-]`, the ones that came as `{+…+}`.

use similar::{ChangeTag, TextDiff};
use text::{around_both, head};

/// Characters compared of each text.
const COMPARED: usize = 400;

/// The longest line, in characters.
const LONGEST: usize = 400;

/// The difference of two texts, of long ones that of the parts around the first change.
pub(super) fn difference(before: &str, now: &str) -> String {
    let (before, now) = around_both(before, now, COMPARED);
    let [before, now] = [&before, &now].map(|it| it.split_whitespace().collect::<Vec<_>>());
    let diff = TextDiff::from_slices(&before, &now);
    let mut parts: Vec<String> = Vec::new();
    for change in diff.iter_all_changes() {
        parts.push(match change.tag() {
            ChangeTag::Equal => change.value().to_owned(),
            ChangeTag::Delete => format!("[-{}-]", change.value()),
            ChangeTag::Insert => format!("{{+{}+}}", change.value()),
        });
    }
    head(
        &parts.join(" ").replace("-] [-", " ").replace("+} {+", " "),
        LONGEST,
    )
}
