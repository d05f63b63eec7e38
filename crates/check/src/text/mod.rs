//! `not_empty`, `equals`, `contains`, `contains_any`, `not_contains`, `in_order`, `matches_regex`: the text
//! under test, and for `not_contains` all other content too.

mod hidden;
pub(super) mod near;
mod unescaped;
mod unfolded;
mod words;

use self::unescaped::Unescaped;
pub(super) use self::words::whole_or_around;
use crate::{
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    pattern, phrase,
    traits::{More, Says, Sway, Traits, every},
    view,
};
use mcp::{observation::Observation, script::pattern::Pattern};
use suite::model::expectation::TextWanted;

pub(super) fn check(wanted: &TextWanted, seen: &Observation) -> Verdict {
    match wanted {
        TextWanted::NotEmpty(flag) => words::not_empty(*flag, seen),
        TextWanted::Equals(wanted) => words::equals(wanted, seen),
        TextWanted::Contains(wanted) => words::contains(wanted, seen),
        TextWanted::ContainsAny(wanted) => words::contains_any(wanted, seen),
        TextWanted::NotContains(wanted) => words::not_contains(wanted, seen),
        TextWanted::InOrder(wanted) => words::in_order(wanted, seen),
        TextWanted::MatchesRegex(wanted) => words::matches_regex(wanted, seen),
    }
}

pub(super) fn ask(wanted: &TextWanted) -> Ask {
    match wanted {
        TextWanted::NotEmpty(flag) => words::ask_not_empty(*flag),
        TextWanted::Equals(wanted) => words::ask_equals(wanted),
        TextWanted::Contains(wanted) => words::ask_contains(wanted),
        TextWanted::ContainsAny(wanted) => words::ask_contains_any(wanted),
        TextWanted::NotContains(wanted) => words::ask_not_contains(wanted),
        TextWanted::InOrder(wanted) => words::ask_in_order(wanted),
        TextWanted::MatchesRegex(wanted) => words::ask_matches(&wanted.iter().collect::<Vec<_>>()),
    }
}

pub(super) fn traits(wanted: &TextWanted) -> Traits<'_> {
    const EMPTY: &str = "the empty text, which every text contains";
    let of_text = Traits {
        more: More::Does(Sway::GAINS),
        says: Says::Text,
        ..Traits::PLAIN
    };
    match wanted {
        // The text of an error is one.
        TextWanted::NotEmpty(true) => Traits {
            more: More::Does(Sway::GAINS),
            holds_of_failure: true,
            ..Traits::PLAIN
        },
        TextWanted::NotEmpty(false) => Traits {
            more: More::Does(Sway::LOSES),
            ..Traits::PLAIN
        },
        TextWanted::Equals(_) => Traits {
            more: More::Does(Sway::BOTH),
            ..of_text
        },
        TextWanted::Contains(texts) => Traits {
            unfailable: every("contains", texts, String::is_empty, EMPTY),
            ..of_text
        },
        TextWanted::ContainsAny(texts) => Traits {
            unfailable: texts.iter().any(String::is_empty).then(|| {
                "`contains_any` has the empty text among its choices, which every text contains"
                    .to_owned()
            }),
            ..of_text
        },
        TextWanted::NotContains(_) => Traits {
            more: More::Does(Sway::LOSES),
            holds_of_silence: true,
            holds_of_failure: true,
            ..Traits::PLAIN
        },
        TextWanted::InOrder(texts) => Traits {
            unfailable: every("in_order", texts, String::is_empty, EMPTY),
            ..of_text
        },
        TextWanted::MatchesRegex(patterns) => Traits {
            more: More::Does(if patterns.iter().any(speaks_of_the_end) {
                Sway::BOTH
            } else {
                Sway::GAINS
            }),
            unfailable: every(
                "matches_regex",
                patterns,
                pattern::is_open,
                "patterns that are found in every text",
            ),
            ..of_text
        },
    }
}

/// Whether a pattern may speak of the end of the text, which is not known of a list that is not whole.
fn speaks_of_the_end(pattern: &Pattern) -> bool {
    let mut signs = pattern.written().chars();
    while let Some(sign) = signs.next() {
        match sign {
            '$' => return true,
            '\\' if signs.next() == Some('z') => return true,
            _ => {}
        }
    }
    false
}

/// The verdict of `not` on a text of which nothing holds: it must not hold of what the text has as JSON writes it either.
pub(super) fn not_unescaped(ask: &Ask, wanted: &TextWanted, seen: &Observation) -> Verdict {
    let Ok(reply) = view::reply(seen) else {
        return Verdict::Held;
    };
    let text = Unescaped::of(reply, seen.proof);
    let found = match wanted {
        TextWanted::Contains(words) => {
            text.has_all(words, |words, text| text.contains(words.as_str()))
        }
        TextWanted::ContainsAny(words) => {
            text.has(|text| words.iter().any(|words| text.contains(words.as_str())))
        }
        TextWanted::InOrder(words) => text.has(|text| words::in_a_row(words, text)),
        TextWanted::MatchesRegex(patterns) => text.has_all(patterns, Pattern::is_match),
        TextWanted::NotEmpty(_) | TextWanted::Equals(_) | TextWanted::NotContains(_) => None,
    };
    let Some((path, text)) = found else {
        return Verdict::Held;
    };
    Verdict::Missed(vec![Mismatch {
        path: Some(path),
        actual: Some(phrase::cut(&text, 0)),
        hint: Some("the text has it as JSON escapes it; `not` looks at both".to_owned()),
        ..ask.miss("it holds here")
    }])
}

#[cfg(test)]
mod tests;
