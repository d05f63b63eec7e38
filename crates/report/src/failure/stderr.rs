//! Which lines of a server's stderr a failure shows: the last ones, and where a crash report began before them, its
//! beginning, because that says what happened and the rest only where. Of a server that ended of its own start the
//! first lines too: an error often stands above the usage.

use text::count;

/// How a line begins that begins a crash report: of Go, Java, Python, and the C++ runtime.
const BEGINNINGS: [&str; 5] = [
    "panic: ",
    "fatal error: ",
    "Exception in thread ",
    "Traceback (most recent call last)",
    "terminate called ",
];

/// The lines that are shown: a beginning, and behind what is left out the last ones.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown<'a> {
    which: Which,
    beginning: &'a [&'a str],
    left_out: usize,
    end: &'a [&'a str],
}

/// Which lines they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// All, or the last of them.
    Last,
    /// The beginning of a crash report, and the last.
    Crash,
    /// The first of all, and the last.
    Ends,
}

impl<'a> Shown<'a> {
    /// At most so many of the lines.
    pub(super) fn of(lines: &'a [&'a str], most: usize) -> Self {
        let first = lines.len().saturating_sub(most);
        match last_crash(lines).filter(|begun| *begun < first && most > 1) {
            None => Self {
                which: Which::Last,
                beginning: &[],
                left_out: 0,
                end: &lines[first..],
            },
            Some(begun) => Self::around_the_rest(Which::Crash, lines, begun, most),
        }
    }

    /// At most so many of the lines of a server that never came to serve, of which none are missing.
    pub(super) fn of_a_start(lines: &'a [&'a str], most: usize) -> Self {
        if lines.len() <= most || most < 2 || last_crash(lines).is_some() {
            return Self::of(lines, most);
        }
        Self::around_the_rest(Which::Ends, lines, 0, most)
    }

    /// The lines from one on: the first third, and as many of the last as there is room for.
    fn around_the_rest(which: Which, lines: &'a [&'a str], from: usize, most: usize) -> Self {
        let first = lines.len().saturating_sub(most);
        let beginning = &lines[from..from + most.div_ceil(3).min(first - from)];
        let end = &lines[lines.len() - (most - beginning.len())..];
        let left_out = lines.len() - end.len() - beginning.len() - from;
        Self {
            which,
            beginning,
            left_out,
            end,
        }
    }

    /// How many of the lines are shown.
    pub(super) fn count(&self) -> usize {
        self.beginning.len() + self.end.len()
    }

    /// Which lines they are, of which there are so many.
    pub(super) fn named(&self, count: &str) -> String {
        match self.which {
            Which::Last => format!("the last {count}"),
            Which::Crash => format!("the beginning of the crash and the last, {count}"),
            Which::Ends => format!("the first and the last, {count}"),
        }
    }

    /// The lines, and how many are left out between them.
    pub(super) fn lines(&self) -> Vec<String> {
        let gap = (self.left_out > 0).then(|| format!("… {}", count(self.left_out, "line")));
        let whole = |lines: &'a [&'a str]| lines.iter().map(|line| (*line).to_owned());
        let before = whole(self.beginning).chain(gap);
        before.chain(whole(self.end)).collect()
    }
}

/// Where the last crash report begins.
fn last_crash(lines: &[&str]) -> Option<usize> {
    (0..lines.len()).rfind(|index| begins_a_crash(lines, *index))
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
    use super::{Shown, Which};

    #[test]
    fn the_beginning_of_a_crash_is_shown_with_the_last_lines() {
        let case = |crash: &str| {
            let text = format!("starting\n{crash}\n{}", "frame\n".repeat(30));
            let lines: Vec<&str> = text.lines().collect();
            let shown = Shown::of(&lines, 9);
            assert_eq!(shown.which, Which::Crash, "{crash}");
            let Shown {
                beginning,
                left_out,
                end,
                ..
            } = shown;
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
        let shown = Shown::of(&lines, 6);
        assert_eq!(shown.which, Which::Crash, "{text}");
        assert_eq!(shown.beginning, ["Error: none. Tried:", " → /1.node"]);
    }

    #[test]
    fn else_the_last_lines_are_shown() {
        let last = |text: &str, most: usize, wanted: &[&str]| {
            let lines: Vec<&str> = text.lines().collect();
            let shown = Shown::of(&lines, most);
            assert_eq!((shown.which, shown.end), (Which::Last, wanted), "{text}");
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
    fn what_is_left_out_may_be_nothing() {
        let lines = ["panic: a", "b", "c"];
        let shown = Shown::of(&lines, 2);
        assert_eq!(
            (shown.which, shown.lines().join(" ").as_str()),
            (Which::Crash, "panic: a … 1 line c")
        );
    }
}
