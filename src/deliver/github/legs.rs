//! One comment for the jobs and steps of a run that nothing tells apart: the legs of a matrix have the same job and
//! suite. The worst of what they say is shown, so that no green leg hides a red one, and that they are several.

use crate::report::verdict::Verdict;

/// What is before the verdict in the first line after the marker.
const HEADLINE: &str = "### mcp-assert: ";

/// What is said when there are several.
const NOTE: &str = "_Several jobs or steps of this run tell of this suite, as the legs of a matrix do. \
                    This is the worst of what they say; the run has all of it._";

/// The one to be shown of two comments of one run and attempt that differ: the worse one, else the newer.
pub(super) fn worse(known: &str, new: &str) -> String {
    let shown = match (verdict(known), verdict(new)) {
        (Some(known_verdict), Some(verdict)) if known_verdict < verdict => known,
        (Some(_) | None, _) => new,
    };
    format!("{}\n\n{NOTE}\n", without_note(shown))
}

/// A comment without what is said of several.
pub(super) fn without_note(comment: &str) -> &str {
    let comment = comment.trim_end();
    comment
        .strip_suffix(NOTE)
        .map_or(comment, |comment| comment.trim_end())
}

/// The verdict of a comment of ours. Worse ones are less.
fn verdict(comment: &str) -> Option<Verdict> {
    let headline = comment.lines().nth(1)?.strip_prefix(HEADLINE)?;
    let word = headline.split(',').next()?;
    serde_json::from_value(word.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::{NOTE, without_note, worse};

    #[test]
    fn the_worse_of_two_legs_is_shown_and_that_there_are_two() {
        let leg = |headline: &str| format!("<!-- marker -->\n### mcp-assert: {headline}\n\nmore\n");
        let noted = |leg: &str| format!("{}\n\n{NOTE}\n", leg.trim_end());
        let (red, green) = (leg("fail, 0/1 passed"), leg("pass, 1/1 passed"));
        for (known, new, shown) in [
            (&red, &green, &red),
            (&green, &red, &red),
            (&noted(&red), &green, &red),
            (&noted(&green), &red, &red),
            (
                &red.replace('\n', "\r\n"),
                &green,
                &red.replace('\n', "\r\n"),
            ),
            (
                &leg("invalid, 0/0 passed"),
                &red,
                &leg("invalid, 0/0 passed"),
            ),
            (&red, &leg("fail, 0/2 passed"), &leg("fail, 0/2 passed")),
            (&"something else".to_owned(), &green, &green),
        ] {
            assert_eq!(worse(known, new), noted(shown), "{known} {new}");
        }
        assert_eq!(without_note(&noted(&red)), red.trim_end());
        assert_eq!(without_note("x\n"), "x");
    }
}
