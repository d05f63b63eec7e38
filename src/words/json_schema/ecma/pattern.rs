//! One pattern of ECMA-262, written so that the engine understands the same by it. What neither of them knows is left
//! as it is, and refused by the engine.

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

/// A pattern in the words of the engine.
pub(in crate::words::json_schema) fn translated(text: &str) -> String {
    let mut translation = Translation {
        rest: text,
        out: String::with_capacity(text.len() * 2),
        names: names(text),
        open: vec![Dot::InLine],
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

struct Translation<'a> {
    rest: &'a str,
    out: String,
    /// Of the groups that capture, in order.
    names: Vec<Option<&'a str>>,
    /// What `.` matches in the groups that are open; the first is the pattern itself.
    open: Vec<Dot>,
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
                if self.open.len() > 1 {
                    self.open.pop();
                }
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
        self.open.last().copied().unwrap_or(Dot::InLine)
    }

    /// Behind a `(`. A name is left out, as several groups may have the same one here, and not there.
    fn group(&mut self) {
        self.open.push(match modifiers(self.rest) {
            Some((on, _)) if on.contains('s') => Dot::All,
            Some((_, off)) if off.contains('s') => Dot::InLine,
            Some(_) | None => self.dot(),
        });
        self.out.push('(');
        if let Some((_, behind)) = name(self.rest) {
            self.rest = behind;
        }
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
            Ok(_) | Err(_) => self.out.extend(["\\", &number]),
        }
    }

    /// Groups of one name never match together. Digits that follow are no part of the number.
    fn refer(&mut self, groups: &[usize]) {
        let references: Vec<_> = groups.iter().map(|it| format!(r"\{it}")).collect();
        self.out.extend(["(?:", &references.join("|"), ")"]);
    }
}

/// The names of the groups that capture, in order.
fn names(text: &str) -> Vec<Option<&str>> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '[', '(']) {
        let (mark, behind) = rest[at..].split_at(1);
        rest = behind;
        match mark {
            "\\" => {
                Escape::read(&mut rest);
            }
            "[" => {
                class::read(&mut rest);
            }
            _ if name(rest).is_some() => names.push(name(rest).map(|(name, _)| name)),
            _ if !rest.starts_with('?') => names.push(None),
            _ => {}
        }
    }
    names
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
