//! `not_empty`, `equals`, `contains`, `contains_any`, `not_contains`, `in_order`, `matches_regex`: the text
//! under test, and for `not_contains` all other content too.

mod hidden;
pub(super) mod near;
mod words;

pub(super) use self::words::whole_or_around;
use crate::{
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    pattern, phrase,
    traits::{Says, Sway, Traits, every},
    view,
};
use mcp::{observation::Observation, script::pattern::Pattern};
use suite::model::expectation::TextWanted;

pub(super) fn check(wanted: &TextWanted, seen: &Observation) -> Verdict {
    let ask = ask(wanted);
    view::with_reply(seen, &ask, |reply| match wanted {
        TextWanted::NotEmpty(flag) => words::not_empty(&ask, *flag, reply),
        TextWanted::Equals(wanted) => words::equals(&ask, wanted, reply),
        TextWanted::Contains(wanted) => words::contains(wanted, reply),
        TextWanted::ContainsAny(wanted) => words::contains_any(&ask, wanted, reply),
        TextWanted::NotContains(wanted) => words::not_contains(wanted, reply, seen.proof),
        TextWanted::InOrder(wanted) => words::in_order(&ask, wanted, reply),
        TextWanted::MatchesRegex(wanted) => words::matches_regex(wanted, reply),
    })
}

pub(super) fn ask(wanted: &TextWanted) -> Ask {
    match wanted {
        TextWanted::NotEmpty(true) => Ask::new("not_empty", "content that is not empty"),
        TextWanted::NotEmpty(false) => Ask::new("not_empty", "empty content"),
        TextWanted::Equals(text) => {
            let text = phrase::quoted(text.trim());
            Ask::new("equals", format!("the text to be {text}"))
        }
        TextWanted::Contains(words) => words::ask_contains(words),
        TextWanted::ContainsAny(words) => {
            let words = phrase::list(words, "or");
            Ask::new("contains_any", format!("the text to contain {words}"))
        }
        TextWanted::NotContains(words) => words::ask_not_contains(words),
        TextWanted::InOrder(words) => {
            let words = phrase::list(words, "and");
            Ask::new(
                "in_order",
                format!("the text to contain, one after another, {words}"),
            )
        }
        TextWanted::MatchesRegex(patterns) => {
            let patterns: Vec<&str> = patterns.iter().map(Pattern::written).collect();
            words::ask_matches(&patterns)
        }
    }
}

pub(super) fn traits(wanted: &TextWanted) -> Traits {
    const EMPTY: &str = "the empty text, which every text contains";
    let of_text = Traits {
        more: Sway::GAINS,
        says: Says::Text,
        ..Traits::PLAIN
    };
    match wanted {
        // The text of an error is one.
        TextWanted::NotEmpty(true) => Traits {
            more: Sway::GAINS,
            holds_of_failure: true,
            ..Traits::PLAIN
        },
        TextWanted::NotEmpty(false) => Traits {
            more: Sway::LOSES,
            ..Traits::PLAIN
        },
        TextWanted::Equals(_) => Traits {
            more: Sway::BOTH,
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
            more: Sway::LOSES,
            holds_of_silence: true,
            holds_of_failure: true,
            ..Traits::PLAIN
        },
        TextWanted::InOrder(texts) => Traits {
            unfailable: every("in_order", texts, String::is_empty, EMPTY),
            ..of_text
        },
        TextWanted::MatchesRegex(patterns) => Traits {
            more: Sway::BOTH,
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

/// The verdict of `not` when the text does not contain the words: it may contain them escaped in JSON.
pub(super) fn not_unescaped(ask: &Ask, wanted: &TextWanted, seen: &Observation) -> Verdict {
    let (words, needs_all) = match wanted {
        TextWanted::Contains(words) => (words, true),
        TextWanted::ContainsAny(words) => (words, false),
        TextWanted::NotEmpty(_)
        | TextWanted::Equals(_)
        | TextWanted::NotContains(_)
        | TextWanted::InOrder(_)
        | TextWanted::MatchesRegex(_) => return Verdict::Held,
    };
    let Ok(reply) = view::reply(seen) else {
        return Verdict::Held;
    };
    let mut parts = hidden::all(reply, seen.proof);
    parts.retain(|part| part.form == hidden::Form::Escaped);
    let missing = words.iter().filter(|words| !reply.text.contains(*words));
    let mut places = missing.map(|words| {
        let mut found = parts.iter().map(|part| (part, part.find(words)));
        found.find_map(|(part, found)| Some((part, found?)))
    });
    let first = if needs_all {
        places
            .collect::<Option<Vec<_>>>()
            .and_then(|all| all.into_iter().next())
    } else {
        places.find_map(|place| place)
    };
    let Some((part, (text, at))) = first else {
        return Verdict::Held;
    };
    Verdict::Missed(vec![Mismatch {
        path: Some(part.path.clone()),
        actual: Some(phrase::cut(&text, at)),
        hint: Some("the text has it as JSON escapes it; `not` looks at both".to_owned()),
        ..ask.miss("it holds here")
    }])
}

#[cfg(test)]
mod tests;
