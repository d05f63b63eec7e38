//! Bounds that nothing can meet: told when a suite is loaded, since whatever a server does would be wrong.

use std::cmp::Ordering;

use serde_json::Number;

use super::Lowering;
use crate::{
    suite::{
        Dialect,
        model::expectation::{Comparison, LengthRule, Matcher},
        problems,
        raw::{Field, expect::RawResults, union::CountOr, value::Count},
        yaml::At,
    },
    words::{diagnostic::Severity, number::compare},
};

/// A key with its bound.
pub(super) type Bound<'a> = (&'a str, &'a Option<Field<Count>>);

/// What is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bounded {
    /// Any number.
    Number,
    /// Whole numbers from 0.
    Length,
}

impl Lowering<'_> {
    /// Tells a least count that is more than the most.
    pub(super) fn check_counts(&mut self, (least, min): Bound<'_>, (most, max): Bound<'_>) {
        if let (Some(min), Some(max)) = (min, max)
            && min.value.0 > max.value.0
        {
            let bounds = [
                format!("{least}: {}", min.value.0),
                format!("{most}: {}", max.value.0),
            ];
            self.unmeetable(max.key.until(max.at), &bounds);
        }
    }

    /// Tells `min_results` over `max_results`, where both count the same.
    pub(super) fn check_results(
        &mut self,
        min: Option<&Field<CountOr<RawResults>>>,
        max: Option<&Field<CountOr<RawResults>>>,
    ) {
        if let (Some(min), Some(max)) = (min, max)
            && let (Some((least, of_least)), Some((most, of_most))) =
                (counted(&min.value), counted(&max.value))
            && of_least == of_most
            && least > most
        {
            let bounds = [
                format!("min_results: {least}"),
                format!("max_results: {most}"),
            ];
            self.unmeetable(max.key.until(max.at), &bounds);
        }
    }

    /// Tells matchers of one value whose bounds exclude each other.
    pub(super) fn check_matchers(&mut self, matchers: &[Matcher], at: At) {
        let mut numbers = Vec::new();
        for matcher in matchers {
            match matcher {
                Matcher::Compare(comparison, number) => numbers.push((*comparison, number.clone())),
                Matcher::Length(LengthRule::Within(bounds)) => {
                    self.check_bounds(bounds, Bounded::Length, at);
                }
                Matcher::Length(LengthRule::Exactly(_))
                | Matcher::Exists(_)
                | Matcher::Type(_)
                | Matcher::Matches(_)
                | Matcher::Contains(_)
                | Matcher::OneOf(_)
                | Matcher::Equals(_)
                | Matcher::Not(_) => {}
            }
        }
        self.check_bounds(&numbers, Bounded::Number, at);
    }

    fn check_bounds(&mut self, bounds: &[(Comparison, Number)], of: Bounded, at: At) {
        let shown = |(comparison, number): &(Comparison, Number)| {
            format!("{}: {number}", word(*comparison))
        };
        let excluding = bounds.iter().enumerate().find_map(|(index, one)| {
            let others = bounds[index + 1..].iter();
            let other = others.into_iter().find(|other| exclude(one, other, of))?;
            Some(vec![shown(one), shown(other)])
        });
        let negative = || {
            let bound = bounds
                .iter()
                .find(|bound| of == Bounded::Length && is_below_zero(bound));
            bound.map(|bound| vec![shown(bound)])
        };
        if let Some(told) = excluding.or_else(negative) {
            self.unmeetable(at, &told);
        }
    }

    /// Notes bounds that nothing meets. For the Go tool such an assertion is one that always fails.
    fn unmeetable(&mut self, at: At, bounds: &[String]) {
        let dialect = self.dialect();
        self.problem(at, |origin| {
            let mut problem = problems::contradiction(origin, bounds);
            if dialect == Dialect::Compat {
                problem.severity = Severity::Warning;
            }
            problem
        });
    }
}

/// How many results are wanted, and where they are counted.
fn counted(raw: &CountOr<RawResults>) -> Option<(u64, Option<&str>)> {
    match raw {
        CountOr::Count(bound) => Some((*bound, None)),
        CountOr::Map(RawResults { count, path }) => {
            let path = path.as_ref().map(|path| path.value.text.as_str());
            Some((count.as_ref()?.value.0, path))
        }
    }
}

/// The word of a suite.
fn word(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Greater => "gt",
        Comparison::AtLeast => "ge",
        Comparison::Less => "lt",
        Comparison::AtMost => "le",
    }
}

/// Whether nothing is within both bounds.
fn exclude(one: &(Comparison, Number), other: &(Comparison, Number), of: Bounded) -> bool {
    use Comparison::{AtLeast, AtMost, Greater, Less};
    let (low, high) = match (one.0, other.0) {
        (Greater | AtLeast, Less | AtMost) => (one, other),
        (Less | AtMost, Greater | AtLeast) => (other, one),
        (Greater | AtLeast, Greater | AtLeast) | (Less | AtMost, Less | AtMost) => return false,
    };
    match compare(&low.1, &high.1) {
        Ordering::Greater => true,
        Ordering::Equal => (low.0, high.0) != (AtLeast, AtMost),
        // Between two whole numbers that follow each other is no length.
        Ordering::Less => {
            let next = low.1.as_u64().and_then(|low| low.checked_add(1));
            of == Bounded::Length
                && (low.0, high.0) == (Greater, Less)
                && next.is_some()
                && next == high.1.as_u64()
        }
    }
}

/// Whether a bound leaves no number from 0.
fn is_below_zero((comparison, number): &(Comparison, Number)) -> bool {
    match (comparison, compare(number, &Number::from(0))) {
        (Comparison::Less, Ordering::Less | Ordering::Equal)
        | (Comparison::AtMost, Ordering::Less) => true,
        (Comparison::Less, Ordering::Greater)
        | (Comparison::AtMost, Ordering::Equal | Ordering::Greater)
        | (Comparison::Greater | Comparison::AtLeast, _) => false,
    }
}
