//! Durations: Go's syntax (`300ms`, `1m30s`, `1.5h`) and words (`2min`, `1 hour 30 s`).

use std::time::Duration;

use super::Lowering;
use crate::{
    problems,
    raw::{Field, value::Text},
};
use mcp::script::template::text_has_markers;

/// The longest duration. A longer one is a mistake.
const LONGEST: Duration = Duration::from_hours(366 * 24);

/// Why a duration is refused that the Go tool takes, and under which nothing passes there.
pub(super) const NOT_POSITIVE: [&str; 2] = ["it is zero", "it is negative"];

/// A day in seconds.
const DAY: f64 = 86_400.0;

/// A unit by its name, in seconds.
fn unit(name: &str) -> Option<f64> {
    Some(match name {
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => 1e-9,
        "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => 1e-6,
        "ms" | "msec" | "millis" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => DAY,
        "w" | "wk" | "wks" | "week" | "weeks" => 7.0 * DAY,
        // Of a year of 365.25 days, as in the `humantime` crate.
        "M" | "month" | "months" => 30.44 * DAY,
        "y" | "yr" | "year" | "years" => 365.25 * DAY,
        _ => return None,
    })
}

/// The duration that a text stands for, or why it is invalid.
pub fn parse(text: &str) -> Result<Duration, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err("it is empty".into());
    }
    let mut rest = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    let mut total = 0.0;
    while !rest.is_empty() && rest != "0" {
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.');
        let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
        let after = after.trim_start();
        let end = after.find(|it: char| !it.is_alphabetic());
        let (name, next) = after.split_at(end.unwrap_or(after.len()));
        if number.is_empty() {
            return Err("a number is missing".into());
        }
        if name.is_empty() {
            return Err(format!("`{number}` has no unit"));
        }
        let unit = unit(name).ok_or_else(|| format!("unknown unit `{name}`"))?;
        let number: f64 = number
            .parse()
            .map_err(|_| format!("invalid number `{number}`"))?;
        total += number * unit;
        rest = next.trim_start();
    }
    match Duration::try_from_secs_f64(total) {
        Ok(_) if trimmed.starts_with('-') => Err("it is negative".into()),
        Ok(Duration::ZERO) => Err("it is zero".into()),
        Ok(duration) if duration <= LONGEST => Ok(duration),
        Ok(_) | Err(_) => Err("it is longer than a year".into()),
    }
}

impl Lowering<'_> {
    /// The duration of a key.
    pub(super) fn duration(&mut self, field: Option<Field<Text>>) -> Option<Duration> {
        let field = field?;
        let text = self.text_at_load(field.value).text;
        match parse(&text) {
            // An unset variable was reported, or does not matter.
            Err(_) if !self.is_compat() && text_has_markers(&text) => None,
            Ok(duration) => Some(duration),
            Err(reason) => {
                self.problem(field.at, problems::bad_duration(&text, &reason));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::{any, proptest};

    use super::parse;

    #[test]
    fn go_and_words_are_read() {
        let case = |text: &str, nanoseconds: u64| {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanoseconds)), "{text}");
        };
        case("300ms", 300_000_000);
        case("1m30s", 90_000_000_000);
        case("1h2m3.5s", 3_723_500_000_000);
        case("2min", 120_000_000_000);
        case("1s 500ms", 1_500_000_000);
        case("1 hour 30 minutes", 5_400_000_000_000);
        case("1.5h", 5_400_000_000_000);
        case("1w 1d", 691_200_000_000_000);
        case("2 months", 5_260_032_000_000_000);
        case("1y", 31_557_600_000_000_000);
        case(".5s", 500_000_000);
        case("1.s", 1_000_000_000);
        case("10us", 10_000);
        case("10µs", 10_000);
        case("1ns", 1);
        case("+2s", 2_000_000_000);
    }

    #[test]
    fn everything_else_is_told_why() {
        let case = |text: &str, reason: &str| {
            assert_eq!(parse(text), Err(reason.to_owned()), "{text}");
        };
        case("30", "`30` has no unit");
        case("", "it is empty");
        case("abc", "a number is missing");
        case("-5s", "it is negative");
        case("0s", "it is zero");
        case("0.1ns", "it is zero");
        case("5 parsecs", "unknown unit `parsecs`");
        case("1..5s", "invalid number `1..5`");
        case("9999999h", "it is longer than a year");
        case("99999999999999999999999999s", "it is longer than a year");
        case("5s,", "a number is missing");
    }

    proptest! {
        #[test]
        fn any_text_is_a_duration_or_not(text in any::<String>(), near in "[0-9.smh ]{0,40}") {
            let _ = (parse(&text), parse(&near));
        }
    }
}
