//! `server_requests`: what the server asked of the client.

use crate::{
    check::{
        ask::{self, Ask},
        json::{self, Extent},
        phrase, view,
    },
    observation::{Observation, ServerRequestSeen},
    outcome::verdict::{Mismatch, Verdict},
    suite::model::expectation::ServerRequestWanted,
    words::text,
};

/// `server_requests`
pub(super) fn ask(wanted: &[ServerRequestWanted]) -> Ask {
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

/// `server_requests`: what the server asked of the client during the call.
pub(super) fn server_requests(wanted: &[ServerRequestWanted], seen: &Observation) -> Verdict {
    let asked = view::server_requests(seen);
    ask::all(wanted.iter().map(|one| {
        let verdict = look(one, asked, view::earlier_requests(seen));
        let certain = one.count.is_none() && verdict == Verdict::Held;
        if view::is_flooded(seen) && !certain {
            return ask::hidden_by_flood();
        }
        verdict
    }))
}

fn look(
    wanted: &ServerRequestWanted,
    asked: &[ServerRequestSeen],
    earlier: &[ServerRequestSeen],
) -> Verdict {
    let ask = ask_one(wanted);
    let of_method: Vec<&ServerRequestSeen> = asked
        .iter()
        .filter(|one| one.method == wanted.method)
        .collect();
    let number = of_method.len() as u64;
    if wanted.count.is_some_and(|count| count != number) || (number == 0 && wanted.count.is_none())
    {
        return Verdict::Missed(vec![Mismatch {
            actual: shown(asked),
            hint: near(&wanted.method, asked),
            ..ask.miss(match number {
                0 => made_none(&wanted.method, earlier),
                number => format!("it made {number}"),
            })
        }]);
    }
    let Some(params) = &wanted.params else {
        return Verdict::Held;
    };
    let differing = of_method.iter().find_map(|one| {
        let difference = json::difference(params, &one.params, Extent::Part)?;
        Some((one, difference))
    });
    let matching = of_method
        .iter()
        .filter(|one| json::contains_part(params, &one.params))
        .count();
    let enough = match wanted.count {
        Some(_) => matching == of_method.len(),
        None => matching > 0,
    };
    match differing {
        Some((one, difference)) if !enough => Verdict::Missed(vec![Mismatch {
            path: Some(format!("params{}", difference.path)),
            expected: Some(phrase::laid_out(params)),
            actual: Some(phrase::laid_out(&json::part_of(params, &one.params))),
            hint: json::near_value(&difference),
            ..ask.miss(
                difference
                    .seen
                    .map_or_else(|| "nothing is there".to_owned(), phrase::found),
            )
        }]),
        _ => Verdict::Held,
    }
}

/// That there is none, and whether there was one before.
fn made_none(method: &str, earlier: &[ServerRequestSeen]) -> String {
    match earlier.iter().filter(|one| one.method == method).count() {
        0 => "it made none".to_owned(),
        before => format!("it made none from the call on; it had made {before} before"),
    }
}

/// A request of a similar method.
fn near(method: &str, asked: &[ServerRequestSeen]) -> Option<String> {
    let methods = asked
        .iter()
        .map(|one| one.method.as_str())
        .filter(|other| *other != method);
    text::nearest(method, methods).map(|near| format!("it asked {}", phrase::quoted(near)))
}

fn line(one: &ServerRequestSeen) -> String {
    if one.params.is_null() {
        return one.method.clone();
    }
    format!("{} {}", one.method, one.params)
}

/// The first requests, one a line.
fn shown(asked: &[ServerRequestSeen]) -> Option<String> {
    const MOST: usize = 10;
    let lines: Vec<String> = asked
        .iter()
        .take(MOST)
        .map(|one| text::head(&line(one), 200))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests;
