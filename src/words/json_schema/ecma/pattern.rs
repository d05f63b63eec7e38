//! One pattern of ECMA-262, written so that the engine understands the same by it. What ECMA-262 does not know is
//! refused by the engine, which knows more.

use super::{
    class::{self, ANY, NONE},
    escape::{Escape, literal},
};

/// `.`, which no end of a line is.
const IN_LINE: &str = r"[^\n\r\u{2028}\u{2029}]";

/// A place between a character of a word and another one, of which only those of ASCII are any.
const BOUNDARY: &str = "(?:(?<=[0-9A-Z_a-z])(?![0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?=[0-9A-Z_a-z]))";

/// Any other place.
const NO_BOUNDARY: &str = "(?:(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))";

/// Before a group that is referred to: an empty group that takes part when it does. A reference to the empty one tells
/// whether the other took part, for which the validator of some drafts lets nothing else pass.
const MARK: &str = "(?:()";

/// What the engine refuses, before what is nothing in ECMA-262 and might be something to the engine.
const UNKNOWN: &str = r"\y";

/// A pattern in the words of the engine.
pub(in crate::words::json_schema) fn translated(text: &str) -> String {
    let groups = groups(text);
    let mut translation = Translation {
        rest: text,
        out: String::with_capacity(text.len() * 2),
        names: groups.names,
        refers: groups.are_referred_to,
        open: vec![Open {
            dot: Dot::InLine,
            number: None,
        }],
        begun: 0,
        ended: Vec::new(),
    };
    while translation.step().is_some() {}
    translation.out
}

/// What `.` matches.
#[derive(Clone, Copy)]
enum Dot {
    /// No end of a line.
    InLine,
    /// Everything, within `(?s:…)`.
    All,
}

/// A group that has begun.
struct Open {
    /// What `.` matches in it.
    dot: Dot,
    /// Its number, if it captures.
    number: Option<usize>,
}

struct Translation<'a> {
    rest: &'a str,
    out: String,
    /// Of the groups that capture, in order.
    names: Vec<Option<&'a str>>,
    /// Whether groups are referred to: each then has a mark before it, and twice its number.
    refers: bool,
    /// The groups that are open; the first is the pattern itself.
    open: Vec<Open>,
    /// How many groups that capture have begun.
    begun: usize,
    /// The numbers of those that have ended.
    ended: Vec<usize>,
}

impl Translation<'_> {
    /// Translates what comes next.
    fn step(&mut self) -> Option<()> {
        let mut behind = self.rest.chars();
        let character = behind.next()?;
        self.rest = behind.as_str();
        match character {
            '\\' => self.escape(),
            '[' => match class::read(&mut self.rest) {
                Some(class) => self.out.push_str(&class),
                None => self.out.push('['),
            },
            '(' => self.group(),
            ')' => {
                self.out.push(')');
                self.end();
            }
            '.' => self.out.push_str(match self.dot() {
                Dot::InLine => IN_LINE,
                Dot::All => ANY,
            }),
            '{' if count(self.rest).is_none() => self.out.push_str(r"\{"),
            _ => self.out.push(character),
        }
        Some(())
    }

    fn dot(&self) -> Dot {
        self.open.last().map_or(Dot::InLine, |it| it.dot)
    }

    /// Behind a `(`. A name is left out, as several groups may have the same one here, and not there.
    fn group(&mut self) {
        let dot = match modifiers(self.rest) {
            Some((on, _)) if on.contains('s') => Dot::All,
            Some((_, off)) if off.contains('s') => Dot::InLine,
            Some(_) | None => self.dot(),
        };
        let captures = name(self.rest).is_some() || !self.rest.starts_with('?');
        self.begun += usize::from(captures);
        let number = captures.then_some(self.begun);
        if captures && self.refers {
            self.out.push_str(MARK);
        }
        self.open.push(Open { dot, number });
        self.out.push('(');
        if let Some((_, behind)) = name(self.rest) {
            self.rest = behind;
        }
    }

    /// Behind a `)`.
    fn end(&mut self) {
        if self.open.len() < 2 {
            return;
        }
        let ended = self.open.pop().and_then(|group| group.number);
        if ended.is_some() && self.refers {
            self.out.push(')');
        }
        self.ended.extend(ended);
    }

    /// Behind a backslash.
    fn escape(&mut self) {
        let written = self.rest;
        let Some(escape) = Escape::read(&mut self.rest) else {
            self.out.push('\\');
            return;
        };
        match escape {
            Escape::Members(members) => self.out.extend(["[", members, "]"]),
            Escape::Property(_) => {
                let length = written.len() - self.rest.len();
                self.out.extend(["\\", &written[..length]]);
            }
            Escape::Code(code) => match char::from_u32(code) {
                Some(character) => self.out.push_str(&literal(character)),
                None => self.out.push_str(NONE),
            },
            Escape::Other('b') => self.out.push_str(BOUNDARY),
            Escape::Other('B') => self.out.push_str(NO_BOUNDARY),
            Escape::Other('k') => self.named_reference(),
            Escape::Other(digit @ '1'..='9') => self.numbered_reference(digit),
            // `\A`, `\z`, `\h`: the engine would know them.
            Escape::Other(letter) if letter.is_ascii_alphabetic() => {
                self.out.push_str(UNKNOWN);
                self.out.push(letter);
            }
            Escape::Other(character) => self.out.extend(['\\', character]),
        }
    }

    fn named_reference(&mut self) {
        let named = self
            .rest
            .strip_prefix('<')
            .and_then(|it| it.split_once('>'));
        let groups: Vec<_> = named.map_or_else(Vec::new, |(wanted, _)| {
            let all = (1_usize..).zip(&self.names);
            all.filter(|(_, name)| **name == Some(wanted))
                .map(|(number, _)| number)
                .collect()
        });
        match named {
            Some((_, behind)) if !groups.is_empty() => {
                self.rest = behind;
                self.refer(&groups);
            }
            Some(_) | None => self.out.push_str(r"\k"),
        }
    }

    fn numbered_reference(&mut self, digit: char) {
        let end = self.rest.find(|next: char| !next.is_ascii_digit());
        let (digits, behind) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let number = format!("{digit}{digits}");
        self.rest = behind;
        match number.parse() {
            Ok(group) if group <= self.names.len() => self.refer(&[group]),
            Ok(_) | Err(_) => self.out.extend([UNKNOWN, &number]),
        }
    }

    /// What one of several groups matched, which never match together when they have one name; nothing where none of
    /// them took part, as one that has not ended never did. Digits that follow are no part of the number.
    fn refer(&mut self, groups: &[usize]) {
        let ended = || groups.iter().filter(|it| self.ended.contains(it));
        self.out.push_str("(?:");
        for group in ended() {
            self.out.extend(["\\", &(2 * group).to_string(), "|"]);
        }
        for group in ended() {
            self.out
                .extend([r"(?!\", &(2 * group - 1).to_string(), ")"]);
        }
        self.out.push(')');
    }
}

/// The groups of a pattern that capture.
struct Groups<'a> {
    /// Their names, in order.
    names: Vec<Option<&'a str>>,
    /// Whether anything refers to one of them.
    are_referred_to: bool,
}

/// The groups that capture.
fn groups(text: &str) -> Groups<'_> {
    let mut names = Vec::new();
    let mut are_referred_to = false;
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '[', '(']) {
        let (mark, behind) = rest[at..].split_at(1);
        rest = behind;
        match mark {
            "\\" => {
                let escape = Escape::read(&mut rest);
                are_referred_to |= matches!(escape, Some(Escape::Other('k' | '1'..='9')));
            }
            "[" => {
                class::read(&mut rest);
            }
            _ if name(rest).is_some() => names.push(name(rest).map(|(name, _)| name)),
            _ if !rest.starts_with('?') => names.push(None),
            _ => {}
        }
    }
    Groups {
        names,
        are_referred_to,
    }
}

/// The name of a group, behind its `(`, and what stands behind the name.
fn name(rest: &str) -> Option<(&str, &str)> {
    let named = rest.strip_prefix("?<")?;
    named
        .split_once('>')
        .filter(|_| !named.starts_with(['=', '!']))
}

/// What a group turns on and off, behind its `(`.
fn modifiers(rest: &str) -> Option<(&str, &str)> {
    let (flags, _) = rest.strip_prefix('?')?.split_once(':')?;
    let are_flags = flags
        .bytes()
        .all(|byte| matches!(byte, b'i' | b'm' | b's' | b'-'));
    are_flags.then(|| flags.split_once('-').unwrap_or((flags, "")))
}

/// The count behind a `{`, as in `a{2,3}`: the least, the most where there is one, and what stands behind.
pub(super) fn count(rest: &str) -> Option<(usize, Option<usize>, &str)> {
    let (count, behind) = rest.split_once('}')?;
    let (least, most) = count.split_once(',').unwrap_or((count, count));
    let most = match most {
        "" if count.contains(',') => None,
        most => Some(number(most)?),
    };
    Some((number(least)?, most, behind))
}

/// A number of digits only, the largest where it is larger.
fn number(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(usize::MAX))
}
