//! `status`, `headers`: the head of a response of HTTP.

use crate::{
    answer,
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    traits::Traits,
    view,
};
use mcp::observation::{Observation, answer::HttpHead};
use suite::{
    model::expectation::{HttpWanted, TextRule},
    written::Part,
};

pub(super) fn check(wanted: &HttpWanted, seen: &Observation) -> Verdict {
    let ask = ask(wanted);
    view::with_reply(seen, &ask, |reply| {
        let Some(head) = &reply.http else {
            return vec![ask.miss("the answer is not an HTTP response")];
        };
        match wanted {
            HttpWanted::Status(allowed) if is_one(allowed, head.status) => Vec::new(),
            HttpWanted::Status(_) => vec![Mismatch {
                actual: (!reply.text.is_empty()).then(|| phrase::cut(&reply.text, 0)),
                ..ask.miss(format!("it is {}", head.status))
            }],
            HttpWanted::Headers(rules) => headers(rules, head),
        }
    })
}

pub(super) fn ask(wanted: &HttpWanted) -> Ask {
    match wanted {
        HttpWanted::Status(allowed) => Ask::new(
            "status",
            format!("the status {}", phrase::joined(allowed, "or")),
        ),
        HttpWanted::Headers(rules) => {
            let clauses: Vec<String> = rules.iter().map(clause).collect();
            Ask::new("headers", phrase::joined(&clauses, "and"))
        }
    }
}

pub(super) fn traits(wanted: &HttpWanted) -> Traits {
    match wanted {
        HttpWanted::Status(_) | HttpWanted::Headers(_) => Traits::PLAIN,
    }
}

/// Whether a status is one of these: `401`, `4xx`.
fn is_one(allowed: &[String], status: u16) -> bool {
    let (exactly, class) = (status.to_string(), format!("{}xx", status / 100));
    allowed.iter().any(|one| *one == exactly || *one == class)
}

/// What a rule of `headers` wants.
fn clause((name, rule): &(String, TextRule)) -> String {
    let value = match rule {
        TextRule::Literal(text) if text.is_empty() => String::new(),
        TextRule::Literal(text) => format!(" to contain {}", phrase::quoted(text)),
        TextRule::Pattern(pattern) => format!(" to match {}", phrase::quoted(pattern.written())),
    };
    format!("the header `{name}`{value}")
}

/// `headers`: of several lines of one name, one is as wanted.
fn headers(rules: &[(String, TextRule)], head: &HttpHead) -> Vec<Mismatch> {
    let missed = rules.iter().enumerate().filter_map(|(index, rule)| {
        let is_meant = |(name, _): &&(String, String)| name.eq_ignore_ascii_case(&rule.0);
        let values = head.headers.iter().filter(is_meant).map(|(_, value)| value);
        let values: Vec<&String> = values.collect();
        if values.iter().any(|value| answer::found(&rule.1, value)) {
            return None;
        }
        let ask = Ask::new("headers", clause(rule));
        let missed = if values.is_empty() {
            let names: Vec<&String> = head.headers.iter().map(|(name, _)| name).collect();
            Mismatch {
                actual: Some(phrase::list(&names, "and")),
                ..ask.miss("it is not there")
            }
        } else {
            ask.miss(format!("it is {}", phrase::list(&values, "and")))
        };
        Some(missed.within(Part::Entry(index)))
    });
    missed.collect()
}

#[cfg(test)]
mod tests {
    use super::is_one;

    #[test]
    fn a_status_is_a_code_or_of_a_class() {
        let case = |allowed: &str, status: u16, wanted: bool| {
            assert_eq!(
                is_one(&[allowed.to_owned()], status),
                wanted,
                "{allowed} {status}"
            );
        };
        case("401", 401, true);
        case("401", 403, false);
        case("4xx", 499, true);
        case("4xx", 500, false);
    }
}
