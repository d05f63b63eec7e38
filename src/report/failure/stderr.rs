//! Which lines of a server's stderr a failure shows: the last ones, and where a crash report began before them, its
//! beginning, because that says what happened and the rest only where.

use std::borrow::Cow;

use crate::words::text::count;

/// How a line begins that begins a crash report: of Go, Java, Python, and the C++ runtime.
const BEGINNINGS: [&str; 5] = [
    "panic: ",
    "fatal error: ",
    "Exception in thread ",
    "Traceback (most recent call last)",
    "terminate called ",
];

/// The lines that are shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown<'a> {
    /// All, or the last of them.
    Last(&'a [&'a str]),
    /// The beginning of a crash report, so many lines not, and the last.
    Crash(&'a [&'a str], usize, &'a [&'a str]),
}

impl<'a> Shown<'a> {
    /// At most so many of the lines.
    pub(super) fn of(lines: &'a [&'a str], most: usize) -> Self {
        let first = lines.len().saturating_sub(most);
        let begun = (0..lines.len()).rfind(|index| begins_a_crash(lines, *index));
        match begun.filter(|begun| *begun < first && most > 1) {
            None => Self::Last(&lines[first..]),
            Some(begun) => {
                let beginning = &lines[begun..begun + most.div_ceil(3).min(first - begun)];
                let end = &lines[lines.len() - (most - beginning.len())..];
                let left_out = lines.len() - begun - beginning.len() - end.len();
                Self::Crash(beginning, left_out, end)
            }
        }
    }

    /// How many of the lines are shown.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Last(end) => end.len(),
            Self::Crash(beginning, _, end) => beginning.len() + end.len(),
        }
    }

    /// Which lines they are, of which there are so many.
    pub(super) fn named(&self, count: &str) -> String {
        match self {
            Self::Last(_) => format!("the last {count}"),
            Self::Crash(..) => format!("the beginning of the crash and the last, {count}"),
        }
    }

    /// The lines, and how many are left out between them.
    pub(super) fn lines(&self) -> Vec<Cow<'a, str>> {
        let whole = |lines: &'a [&'a str]| lines.iter().copied().map(Cow::Borrowed);
        match *self {
            Self::Last(end) => whole(end).collect(),
            Self::Crash(beginning, 0, end) => whole(beginning).chain(whole(end)).collect(),
            Self::Crash(beginning, left_out, end) => {
                let gap = Cow::Owned(format!("… {}", count(left_out, "line")));
                let before = whole(beginning).chain([gap]);
                before.chain(whole(end)).collect()
            }
        }
    }
}

fn begins_a_crash(lines: &[&str], index: usize) -> bool {
    let line = lines[index];
    let of_rust = || line.starts_with("thread '") && line.contains(" panicked at ");
    // Of Node.js, and of Java where the program caught it.
    let before_frames = || {
        let names = line.contains("Error") || line.contains("Exception");
        let next = lines.get(index + 1).map_or("", |next| next.trim_start());
        names && !line.starts_with(char::is_whitespace) && next.starts_with("at ")
    };
    BEGINNINGS
        .iter()
        .any(|beginning| line.starts_with(beginning))
        || of_rust()
        || before_frames()
}

#[cfg(test)]
mod tests {
    use super::Shown;

    #[test]
    fn the_beginning_of_a_crash_is_shown_with_the_last_lines() {
        let case = |crash: &str| {
            let text = format!("starting\n{crash}\n{}", "frame\n".repeat(30));
            let lines: Vec<&str> = text.lines().collect();
            let Shown::Crash(beginning, left_out, end) = Shown::of(&lines, 9) else {
                panic!("{crash}");
            };
            assert_eq!(Some(&beginning[0]), crash.lines().next().as_ref());
            assert_eq!((beginning.len(), end.len()), (3, 6), "{crash}");
            assert_eq!(left_out, lines.len() - 1 - 9, "{crash}");
        };
        case("panic: oh no");
        case("fatal error: all goroutines are asleep - deadlock!");
        case("thread 'main' (12) panicked at src/main.rs:3:5:\noh no");
        case("thread 'main' panicked at src/main.rs:3:5:\noh no");
        case("Exception in thread \"main\" java.lang.IllegalStateException: oh no");
        case("Traceback (most recent call last):");
        case("TypeError: oh no\n    at main (server.js:3:5)");
    }

    #[test]
    fn else_the_last_lines_are_shown() {
        let last = |text: &str, most: usize, wanted: &[&str]| {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(Shown::of(&lines, most), Shown::Last(wanted), "{text}");
        };
        last("a\nb", 3, &["a", "b"]);
        last("a\nb\nc", 2, &["b", "c"]);
        // What began before is over where another begins.
        last("panic: a\nb\npanic: c\nd", 2, &["panic: c", "d"]);
        last("panic: a\nb", 2, &["panic: a", "b"]);
        last("", 2, &[]);
        last("panic: a\nb", 0, &[]);
    }

    #[test]
    fn what_is_left_out_may_be_nothing() {
        let lines = ["panic: a", "b", "c"];
        assert_eq!(Shown::of(&lines, 2), Shown::Crash(&["panic: a"], 1, &["c"]));
    }
}
