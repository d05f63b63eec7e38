//! `server_requests`: what the server asked of the client.

use crate::{
    ask::{self, Ask},
    json::{self, Difference, Extent},
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    traffic::{line, lines},
    view,
};
use mcp::observation::{Observation, ServerRequestSeen};
use suite::{model::expectation::ServerRequestWanted, written::Part};

/// `server_requests`
pub(super) fn ask(wanted: &[ServerRequestWanted]) -> Ask {
    if wanted.is_empty() {
        return Ask::new("server_requests", "no request of the server");
    }
    let clauses: Vec<String> = wanted.iter().map(|one| ask_one(one).wanted).collect();
    Ask::new("server_requests", phrase::joined(&clauses, "and"))
}

fn ask_one(wanted: &ServerRequestWanted) -> Ask {
    let method = phrase::quoted(&wanted.method);
    let requests = match wanted.count {
        Some(0) => format!("no request of the server for {method}"),
        Some(1) => format!("one request of the server for {method}"),
        Some(number) => format!("{number} requests of the server for {method}"),
        None => format!("a request of the server for {method}"),
    };
    let params = wanted
        .params
        .as_ref()
        .map(|params| format!(" with {}", phrase::value(params)))
        .unwrap_or_default();
    Ask::new("server_requests", format!("{requests}{params}"))
}

/// `server_requests`: what the server asked of the client during the call; an empty list: nothing.
pub(super) fn server_requests(wanted: &[ServerRequestWanted], seen: &Observation) -> Verdict {
    let asked = view::server_requests(seen);
    if wanted.is_empty() {
        return none(asked, seen);
    }
    ask::all(wanted.iter().enumerate().map(|(index, one)| {
        let verdict = look(one, asked, seen);
        let certain = one.count.is_none() && verdict == Verdict::Held;
        if view::is_flooded(seen) && !certain {
            return ask::hidden_by_flood();
        }
        verdict.within(Part::Item(index))
    }))
}

/// No request at all.
fn none(asked: &[ServerRequestSeen], seen: &Observation) -> Verdict {
    match asked.len() {
        0 if view::is_flooded(seen) => ask::hidden_by_flood(),
        0 => Verdict::Held,
        number => Verdict::Missed(vec![Mismatch {
            actual: shown(asked),
            ..ask(&[]).miss(format!("it made {number}"))
        }]),
    }
}

fn look(wanted: &ServerRequestWanted, asked: &[ServerRequestSeen], seen: &Observation) -> Verdict {
    let ask = ask_one(wanted);
    let of_method: Vec<&ServerRequestSeen> = asked
        .iter()
        .filter(|one| one.method == wanted.method)
        .collect();
    let differences: Vec<(&ServerRequestSeen, Difference<'_>)> = of_method
        .iter()
        .filter_map(|one| {
            let params = wanted.params.as_ref()?;
            Some((*one, json::difference(params, &one.params, Extent::Part)?))
        })
        .collect();
    let number = of_method.len() - differences.len();
    let is_enough = match wanted.count {
        Some(count) => count == number as u64,
        None => number > 0,
    };
    if is_enough {
        return Verdict::Held;
    }
    let mismatch = match (differences.first(), &wanted.params) {
        (Some((one, difference)), Some(params)) if number == 0 => Mismatch {
            path: Some(format!("params{}", difference.path)),
            expected: Some(phrase::laid_out(params)),
            actual: Some(phrase::laid_out(&json::part_of(params, &one.params))),
            hint: json::near_value(difference),
            ..ask.miss(
                difference
                    .seen
                    .map_or_else(|| "nothing is there".to_owned(), phrase::found),
            )
        },
        _ => Mismatch {
            actual: shown(asked),
            ..ask.miss(match (number, differences.len()) {
                (0, _) => made_none(&wanted.method, view::earlier_requests(seen)),
                (number, 0) => format!("it made {number}"),
                (number, others) => format!("it made {number}, and {others} with other parameters"),
            })
        },
    };
    let too_few = wanted.count.is_none_or(|count| (number as u64) < count);
    Verdict::Missed(vec![if too_few && differences.is_empty() {
        view::without(mismatch, seen)
    } else {
        mismatch
    }])
}

/// That there is none, and whether there was one before.
fn made_none(method: &str, earlier: &[ServerRequestSeen]) -> String {
    match earlier.iter().filter(|one| one.method == method).count() {
        0 => "it made none".to_owned(),
        before => format!("it made none from the call on; it had made {before} before"),
    }
}

/// The first requests, one a line.
fn shown(asked: &[ServerRequestSeen]) -> Option<String> {
    lines(asked.iter().map(|one| line(&one.method, &one.params)))
}

#[cfg(test)]
mod tests;
