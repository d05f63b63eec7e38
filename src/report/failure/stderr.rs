//! Which lines of a server's stderr a failure shows: the last ones, and where a crash report began before them, its
//! beginning, because that says what happened and the rest only where. Of a server that ended of its own start the
//! first lines too: an error often stands above the usage.

use std::borrow::Cow;

use crate::words::text::{CUT, count};

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
    /// The first of all, so many lines not, and the last.
    Ends(&'a [&'a str], usize, &'a [&'a str]),
}

impl<'a> Shown<'a> {
    /// At most so many of the lines.
    pub(super) fn of(lines: &'a [&'a str], most: usize) -> Self {
        let first = lines.len().saturating_sub(most);
        match last_crash(lines).filter(|begun| *begun < first && most > 1) {
            None => Self::Last(&lines[first..]),
            Some(begun) => {
                let (beginning, left_out, end) = around_the_rest(lines, begun, most);
                Self::Crash(beginning, left_out, end)
            }
        }
    }

    /// At most so many of the lines of a server that never came to serve, of which none are missing.
    pub(super) fn of_a_start(lines: &'a [&'a str], most: usize) -> Self {
        if lines.len() <= most || most < 2 || last_crash(lines).is_some() {
            return Self::of(lines, most);
        }
        let (beginning, left_out, end) = around_the_rest(lines, 0, most);
        Self::Ends(beginning, left_out, end)
    }

    /// How many of the lines are shown.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Last(end) => end.len(),
            Self::Crash(beginning, _, end) | Self::Ends(beginning, _, end) => {
                beginning.len() + end.len()
            }
        }
    }

    /// Which lines they are, of which there are so many.
    pub(super) fn named(&self, count: &str) -> String {
        match self {
            Self::Last(_) => format!("the last {count}"),
            Self::Crash(..) => format!("the beginning of the crash and the last, {count}"),
            Self::Ends(..) => format!("the first and the last, {count}"),
        }
    }

    /// The lines, and how many are left out between them.
    pub(super) fn lines(&self) -> Vec<Cow<'a, str>> {
        let whole = |lines: &'a [&'a str]| lines.iter().copied().map(Cow::Borrowed);
        match *self {
            Self::Last(end) => whole(end).collect(),
            Self::Crash(beginning, 0, end) | Self::Ends(beginning, 0, end) => {
                whole(beginning).chain(whole(end)).collect()
            }
            Self::Crash(beginning, left_out, end) | Self::Ends(beginning, left_out, end) => {
                let gap = Cow::Owned(format!("… {}", count(left_out, "line")));
                let before = whole(beginning).chain([gap]);
                before.chain(whole(end)).collect()
            }
        }
    }
}

/// The lines from one on, the first third and as many of the last as there is room for, with how many lie between.
fn around_the_rest<'a>(
    lines: &'a [&'a str],
    from: usize,
    most: usize,
) -> (&'a [&'a str], usize, &'a [&'a str]) {
    let first = lines.len().saturating_sub(most);
    let beginning = &lines[from..from + most.div_ceil(3).min(first - from)];
    let end = &lines[lines.len() - (most - beginning.len())..];
    let between = from + beginning.len()..lines.len() - end.len();
    let left_out = lines[between].iter().map(|line| stands_for(line)).sum();
    (beginning, left_out, end)
}

/// Where the last crash report begins.
fn last_crash(lines: &[&str]) -> Option<usize> {
    (0..lines.len()).rfind(|index| begins_a_crash(lines, *index))
}

/// How many lines a line stands for: one that says what was left out before is that many.
fn stands_for(line: &str) -> usize {
    let number = line
        .strip_prefix(CUT)
        .and_then(|rest| rest.trim().split_once(' '));
    let number = number.filter(|(_, unit)| matches!(*unit, "line" | "lines"));
    number
        .and_then(|(number, _)| number.parse().ok())
        .unwrap_or(1)
}

/// Shortens a text to as many bytes: its end is kept, and of a crash report the beginning too.
pub(in crate::report) fn shorten(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let lines: Vec<&str> = text.lines().collect();
    let crash = last_crash(&lines).and_then(|begun| around_a_gap(&lines[begun..], most));
    *text = crash.unwrap_or_else(|| {
        let start = text.len() - most.saturating_sub(CUT.len());
        format!("{CUT}{}", &text[text.ceil_char_boundary(start)..])
    });
}

/// The first lines and the last ones, with what is between them counted; nothing where that is none, or where only one
/// of the two has room.
fn around_a_gap(lines: &[&str], most: usize) -> Option<String> {
    const GAP: usize = 32;
    let fitting = |lines: &mut dyn Iterator<Item = &&str>, room: usize| {
        let mut left = room;
        let fits = |line: &&&str| {
            let rest = left.checked_sub(line.len() + 1);
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        lines.take_while(fits).count()
    };
    let room = most.checked_sub(GAP)?;
    let beginning = fitting(&mut lines.iter(), room / 3);
    let end = fitting(&mut lines.iter().rev(), room - room / 3);
    if beginning == 0 || end == 0 || beginning + end >= lines.len() {
        return None;
    }
    let (before, rest) = lines.split_at(beginning);
    let (between, end) = rest.split_at(rest.len() - end);
    let left_out = between.iter().map(|line| stands_for(line)).sum();
    let gap = format!("{CUT} {}", count(left_out, "line"));
    Some([before, &[gap.as_str()], end].concat().join("\n"))
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
    // Of Node.js too, where the message has several lines: it stands below the line of the source and its `^`.
    let below_the_source = || {
        let mark = index.checked_sub(2).map_or("", |mark| lines[mark].trim());
        let is_mark = !mark.is_empty() && mark.bytes().all(|sign| sign == b'^');
        is_mark && lines[index - 1].is_empty() && !line.starts_with(char::is_whitespace)
    };
    BEGINNINGS
        .iter()
        .any(|beginning| line.starts_with(beginning))
        || of_rust()
        || before_frames()
        || below_the_source()
}

#[cfg(test)]
mod tests {
    use super::{Shown, shorten};

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
    fn a_message_of_node_may_have_many_lines() {
        let tried = " → /1.node\n".repeat(9);
        let text = format!(
            "a.js:3\n  throw it;\n        ^\n\nError: none. Tried:\n{tried}    at main (a.js:3:5)"
        );
        let lines: Vec<&str> = text.lines().collect();
        let Shown::Crash(beginning, ..) = Shown::of(&lines, 6) else {
            panic!("{text}");
        };
        assert_eq!(beginning, ["Error: none. Tried:", " → /1.node"]);
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
    fn of_a_start_the_first_lines_are_shown_too() {
        let usage = "usage\n".repeat(30);
        let shown = |text: &str, most: usize| {
            let lines: Vec<&str> = text.lines().collect();
            let shown = Shown::of_a_start(&lines, most);
            (shown.named("6"), shown.lines().join(" "))
        };
        assert_eq!(
            shown(&format!("error: no database\n{usage}"), 6),
            (
                "the first and the last, 6".to_owned(),
                "error: no database usage … 25 lines usage usage usage usage".to_owned()
            )
        );
        assert_eq!(shown("a\nb\nc", 2).1, "a … 1 line c");
        assert_eq!(shown("a\nb\nc\nd", 3).1, "a … 1 line c d");
        assert_eq!(shown("a\nb", 2).1, "a b");
        assert_eq!(shown("a\nb", 1).1, "b");
        // A crash says itself where it begins.
        let crash = format!("starting\n{usage}panic: oh no\nat main");
        assert_eq!(shown(&crash, 3).1, "usage panic: oh no at main");
        let early = format!("starting\npanic: oh no\n{usage}");
        assert_eq!(shown(&early, 2).1, "panic: oh no … 29 lines usage");
    }

    #[test]
    fn a_text_without_room_keeps_its_end_and_the_beginning_of_a_crash() {
        let lines: Vec<String> = (1..=500).map(|line| format!("line {line}")).collect();
        let lines = lines.join("\n");
        let mut text = lines.clone();
        shorten(&mut text, 100);
        assert!(text.len() <= 100 && text.starts_with('…'), "{text}");
        assert!(lines.ends_with(text.trim_start_matches('…')), "{text}");
        let crash = format!("starting\npanic: oh no\nat main\n{lines}");
        let shown = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            let shown = Shown::of(&lines, 6).lines();
            shown.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let whole = shown(&crash);
        assert_eq!(whole[..3], ["panic: oh no", "at main", "… 496 lines"]);
        let mut text = crash;
        for most in [2_000, 400, 200] {
            shorten(&mut text, most);
            assert!(text.len() <= most, "{text}");
            assert_eq!(shown(&text), whole, "{most}");
        }
        let mut short = "ä".repeat(40);
        shorten(&mut short, 32);
        assert_eq!(short, format!("…{}", "ä".repeat(14)));
    }

    #[test]
    fn what_is_left_out_may_be_nothing() {
        let lines = ["panic: a", "b", "c"];
        assert_eq!(Shown::of(&lines, 2), Shown::Crash(&["panic: a"], 1, &["c"]));
    }
}
