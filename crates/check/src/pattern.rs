//! What can be said for certain of a regular expression without a text: that it is found in every one.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use mcp::script::pattern::Pattern;

/// Whether it is found in every text.
pub(super) fn is_open(pattern: &Pattern) -> bool {
    is_empty_in_every_text(pattern) || is_in_every_text(pattern)
}

/// Whether it takes every text as a whole, such as `(?s)^.*$`.
fn is_in_every_text(pattern: &Pattern) -> bool {
    let Some(parsed) = parsed(pattern) else {
        return false;
    };
    let HirKind::Concat(parts) = parsed.kind() else {
        return false;
    };
    let is = |part: &Hir, look| *part.kind() == HirKind::Look(look);
    let between = match &parts[..] {
        [start, between, end] if is(start, Look::Start) && is(end, Look::End) => between,
        [start, between] if is(start, Look::Start) => between,
        [between, end] if is(end, Look::End) => between,
        _ => return false,
    };
    is_anything(between)
}

/// Whether it matches the empty text at a place that every text has: anywhere, at its beginning, or at its end.
pub(super) fn is_empty_in_every_text(pattern: &Pattern) -> bool {
    parsed(pattern).is_some_and(|parsed| {
        let empty = empty(&parsed);
        empty.at_start || empty.at_end
    })
}

/// Whether a pattern matches the empty text at the ends of every text. What does so in between does at both.
#[derive(Debug, Clone, Copy)]
struct Empty {
    at_start: bool,
    at_end: bool,
}

fn empty(part: &Hir) -> Empty {
    let alike = |holds| Empty {
        at_start: holds,
        at_end: holds,
    };
    match part.kind() {
        HirKind::Empty => alike(true),
        HirKind::Literal(_) | HirKind::Class(_) => alike(false),
        HirKind::Look(look) => Empty {
            at_start: matches!(look, Look::Start | Look::StartLF | Look::StartCRLF),
            at_end: matches!(look, Look::End | Look::EndLF | Look::EndCRLF),
        },
        HirKind::Repetition(repeated) if repeated.min == 0 => alike(true),
        HirKind::Repetition(repeated) => empty(&repeated.sub),
        HirKind::Capture(capture) => empty(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(empty).fold(alike(true), |all, one| Empty {
            at_start: all.at_start && one.at_start,
            at_end: all.at_end && one.at_end,
        }),
        HirKind::Alternation(choices) => {
            choices
                .iter()
                .map(empty)
                .fold(alike(false), |any, one| Empty {
                    at_start: any.at_start || one.at_start,
                    at_end: any.at_end || one.at_end,
                })
        }
    }
}

fn parsed(pattern: &Pattern) -> Option<Hir> {
    regex_syntax::parse(pattern.compiled()).ok()
}

/// Whether it takes any number of any characters.
fn is_anything(part: &Hir) -> bool {
    match part.kind() {
        HirKind::Capture(capture) => is_anything(&capture.sub),
        HirKind::Repetition(repeated) => {
            let any = |class: &Class| match class {
                Class::Unicode(class) => {
                    let whole = |range: &regex_syntax::hir::ClassUnicodeRange| {
                        range.start() == '\0' && range.end() == char::MAX
                    };
                    class.ranges().iter().any(whole)
                }
                Class::Bytes(_) => false,
            };
            let of_any = matches!(repeated.sub.kind(), HirKind::Class(class) if any(class));
            of_any && repeated.min == 0 && repeated.max.is_none()
        }
        HirKind::Empty
        | HirKind::Literal(_)
        | HirKind::Class(_)
        | HirKind::Look(_)
        | HirKind::Concat(_)
        | HirKind::Alternation(_) => false,
    }
}
