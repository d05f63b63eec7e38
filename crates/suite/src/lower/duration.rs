//! Durations as suites write them: Go's syntax (`300ms`, `1m30s`, `1.5h`) and words (`2min`, `1 hour 30 s`).

use std::time::Duration;

use super::Lowering;
use crate::{
    Dialect, problems,
    raw::{Field, value::Text},
};
use mcp::script::template::text_has_markers;

/// The longest duration, a year: longer ones are slips.
const LONGEST_NANOSECONDS: u128 = 366 * 24 * 3_600 * 1_000_000_000;

/// A day in nanoseconds.
const DAY: u128 = 86_400_000_000_000;

/// A unit by its name, in nanoseconds.
fn unit(name: &str) -> Option<u128> {
    Some(match name {
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => 1,
        "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => 1_000,
        "ms" | "msec" | "millis" | "millisecond" | "milliseconds" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000_000_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000_000_000,
        "d" | "day" | "days" => DAY,
        "w" | "wk" | "wks" | "week" | "weeks" => 7 * DAY,
        // Those of a year of 365.25 days, as in the `humantime` crate.
        "M" | "month" | "months" => 2_630_016_000_000_000,
        "y" | "yr" | "year" | "years" => 31_557_600_000_000_000,
        _ => return None,
    })
}

/// Whether a text is a duration that is over at once, which is none here: `0s`, `-1s`.
pub(super) fn is_over_at_once(text: &str) -> bool {
    let text = text.trim();
    let unsigned = text.strip_prefix('-');
    match nanoseconds(unsigned.unwrap_or(text)) {
        Ok(total) => total == 0 || unsigned.is_some(),
        Err(_) => matches!(text, "0" | "+0" | "-0"),
    }
}

/// The duration a text stands for, or why it is none.
pub fn parse(text: &str) -> Result<Duration, String> {
    match u64::try_from(nanoseconds(text)?) {
        Ok(0) | Err(_) => Err("it is zero".into()),
        Ok(nanoseconds) => Ok(Duration::from_nanos(nanoseconds)),
    }
}

/// The nanoseconds that a text stands for; nothing of it is below zero.
fn nanoseconds(text: &str) -> Result<u128, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err("it is empty".into());
    }
    if trimmed.starts_with('-') {
        return Err("it is negative".into());
    }
    let mut rest = trimmed.strip_prefix('+').unwrap_or(trimmed);
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after
            .find(|character: char| !character.is_alphabetic())
            .unwrap_or(after.len());
        let (name, next) = after.split_at(letters);
        if number.is_empty() {
            return Err("a number is missing".into());
        }
        if name.is_empty() {
            return Err(format!("`{number}` has no unit"));
        }
        let unit = unit(name).ok_or_else(|| format!("`{name}` is no unit of time"))?;
        total = total
            .checked_add(scaled(number, unit)?)
            .filter(|total| *total <= LONGEST_NANOSECONDS)
            .ok_or("it is longer than a year")?;
        rest = next.trim_start();
    }
    Ok(total)
}

/// A decimal number of a unit, in nanoseconds.
fn scaled(number: &str, unit: u128) -> Result<u128, String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err(format!("`{number}` is no number"));
    }
    let too_long = || "it is longer than a year".to_owned();
    let whole = match whole {
        "" => 0,
        digits if digits.len() > 25 => return Err(too_long()),
        digits => digits.parse::<u128>().map_err(|_| too_long())?,
    };
    let mut sum = whole.checked_mul(unit).ok_or_else(too_long)?;
    let mut part = unit;
    for digit in fraction.chars().take(18) {
        part /= 10;
        sum += u128::from(digit.to_digit(10).unwrap_or_default()) * part;
    }
    Ok(sum)
}

impl Lowering<'_> {
    /// The duration of a key.
    pub(super) fn duration(&mut self, field: Option<Field<Text>>) -> Option<Duration> {
        let field = field?;
        let text = self.text_at_load(field.value).text;
        match parse(&text) {
            // A variable that is not set was told, or does not matter.
            Err(_) if self.dialect() == Dialect::Native && text_has_markers(&text) => None,
            Ok(duration) => Some(duration),
            Err(reason) => {
                self.problem(field.at, |origin| {
                    problems::bad_duration(origin, &text, &reason)
                });
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::{any, proptest};

    use super::{is_over_at_once, parse};

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
        case("5 parsecs", "`parsecs` is no unit of time");
        case("1..5s", "`1..5` is no number");
        case("9999999h", "it is longer than a year");
        case("99999999999999999999999999s", "it is longer than a year");
        case("5s,", "a number is missing");
    }

    #[test]
    fn what_is_over_at_once_is_told_apart() {
        for text in ["0", "0s", "-0s", "+0s", "-1s", "0h0m", "-1m30s"] {
            assert!(is_over_at_once(text), "{text}");
        }
        for text in ["1ns", "1s", "-5", "-abc", "", "abc", "--1s"] {
            assert!(!is_over_at_once(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_duration_or_not(text in any::<String>(), near in "[0-9.smh ]{0,40}") {
            let _ = (parse(&text), parse(&near));
        }
    }
}
