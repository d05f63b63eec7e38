//! Merges the comments of matrix legs, which have the same job and suite. The worst result of an attempt is shown, with
//! a note, so that no green leg hides a red one. After a partial re-run, a line has the worst result of earlier
//! attempts.

use std::fmt;

use report::{comment::verdict_of, verdict::Verdict};

/// The note on several legs.
const NOTE: &str = "_Several jobs or steps of this run report this suite, as the legs of a matrix do. \
                    This is the worst of their results; the run has all of them._";

/// The line on earlier attempts, around number and verdict.
const EARLIER: [&str; 3] = [
    "_Several jobs or steps of this run reported this suite before. In attempt ",
    " the worst result was ",
    ". Jobs that did not run again are not shown here; the run has all of them._",
];

/// A parsed comment.
struct LegComment<'a> {
    /// The text of one leg.
    text: &'a str,
    /// Whether other legs wrote in the same attempt.
    several: bool,
    /// The result of earlier attempts.
    earlier: Option<Earlier>,
}

/// The worst result of earlier attempts. Ordered by verdict (worse is smaller), then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Earlier {
    verdict: Verdict,
    attempt: u64,
}

impl<'a> LegComment<'a> {
    fn of(comment: &'a str) -> Self {
        let comment = comment.trim_end();
        let (text, earlier) = match Earlier::at_the_end(comment) {
            Some((text, earlier)) => (text, Some(earlier)),
            None => (comment, None),
        };
        let (text, several) = match text.strip_suffix(NOTE) {
            Some(text) => (text.trim_end(), true),
            None => (text, false),
        };
        Self {
            text,
            several,
            earlier,
        }
    }
}

impl fmt::Display for LegComment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text.trim_end())?;
        if self.several {
            writeln!(f, "\n{NOTE}")?;
        }
        if let Some(Earlier { verdict, attempt }) = self.earlier {
            let [before, between, after] = EARLIER;
            let word = verdict.word();
            writeln!(f, "\n{before}{attempt}{between}{word}{after}")?;
        }
        Ok(())
    }
}

impl Earlier {
    /// Splits the line on earlier attempts from a comment.
    fn at_the_end(comment: &str) -> Option<(&str, Self)> {
        let [before, between, after] = EARLIER;
        let (text, line) = comment.rsplit_once('\n')?;
        let inner = line.strip_prefix(before)?.strip_suffix(after)?;
        let (attempt, word) = inner.split_once(between)?;
        let earlier = Self {
            verdict: serde_json::from_value(word.into()).ok()?,
            attempt: attempt.parse().ok()?,
        };
        Some((text.trim_end(), earlier))
    }
}

/// Merges two comments of one attempt: the worse one, else the newer.
pub(super) fn worse(known: &str, new: &str) -> String {
    let known = LegComment::of(known);
    let shown = match (verdict(known.text), verdict(new)) {
        (Some(known_verdict), Some(verdict)) if known_verdict < verdict => known.text,
        (Some(_) | None, _) => new,
    };
    let merged = LegComment {
        text: shown,
        several: true,
        earlier: known.earlier,
    };
    merged.to_string()
}

/// Merges a comment with that of an earlier attempt. If that had several legs, its worst result is kept, because it is
/// unknown which of them ran again.
pub(super) fn after(known: &str, attempt: u64, new: &str) -> String {
    let known = LegComment::of(known);
    if !known.several && known.earlier.is_none() {
        return new.to_owned();
    }
    let last = verdict(known.text).map(|verdict| Earlier { verdict, attempt });
    let merged = LegComment {
        text: new,
        several: false,
        earlier: known.earlier.into_iter().chain(last).min(),
    };
    merged.to_string()
}

/// A comment without the notes on several legs.
pub(super) fn without_note(comment: &str) -> &str {
    LegComment::of(comment).text
}

/// The verdict in a comment's headline.
fn verdict(comment: &str) -> Option<Verdict> {
    verdict_of(comment.lines().nth(1)?)
}

#[cfg(test)]
mod tests {
    use super::{EARLIER, NOTE, after, without_note, worse};

    /// A comment with this verdict.
    fn leg(word: &str) -> String {
        let headline = match word {
            "pass" => "✅ mcp-assert · 1 of 1 passed",
            "fail" => "❌ mcp-assert · 1 failure",
            other => &format!("⚠️ mcp-assert · {other}"),
        };
        format!("<!-- marker -->\n### {headline}\n\nmore\n")
    }

    #[test]
    fn the_worse_of_two_legs_is_shown_and_that_there_are_two() {
        let noted = |leg: &str| format!("{}\n\n{NOTE}\n", leg.trim_end());
        let (red, green) = (leg("fail"), leg("pass"));
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
            (&leg("invalid"), &red, &leg("invalid")),
            (&red, &red.replace("1 f", "2 f"), &red.replace("1 f", "2 f")),
            (&"something else".to_owned(), &green, &green),
        ] {
            assert_eq!(worse(known, new), noted(shown), "{known} {new}");
        }
        assert_eq!(without_note(&noted(&red)), red.trim_end());
        assert_eq!(without_note("x\n"), "x");
    }

    #[test]
    fn what_several_legs_said_is_kept_over_later_attempts() {
        let merged = |attempt: u64, word: &str| {
            let [before, between, end] = EARLIER;
            format!("\n{before}{attempt}{between}{word}{end}\n")
        };
        let several = |word: &str| worse(&leg(word), &leg("pass"));
        let second = after(&several("fail"), 1, &leg("pass"));
        assert_eq!(second, leg("pass") + &merged(1, "fail"));
        assert_eq!(without_note(&second), leg("pass").trim_end());
        // Another leg of it, and the third attempt.
        let both = worse(&second, &leg("error"));
        assert_eq!(
            both,
            format!("{}\n{NOTE}\n{}", leg("error"), merged(1, "fail"))
        );
        assert_eq!(worse(&both, &leg("pass")), both);
        assert_eq!(without_note(&both), leg("error").trim_end());
        assert_eq!(
            after(&both, 2, &leg("pass")),
            leg("pass") + &merged(2, "error")
        );
        // Of two that are as bad the older: all legs were in it.
        let again = after(&second.replace(&leg("pass"), &leg("fail")), 2, &leg("pass"));
        assert_eq!(again, leg("pass") + &merged(1, "fail"));
        // Of all that passed too: a later attempt may hide one.
        let green = after(&several("pass"), 1, &leg("error"));
        assert_eq!(green, leg("error") + &merged(1, "pass"));
        assert_eq!(
            after(&green, 2, &leg("pass")),
            leg("pass") + &merged(2, "error")
        );
        assert_eq!(after(&leg("fail"), 1, &leg("pass")), leg("pass"));
    }
}
