//! Numbers of JSON by their mathematical value. They are compared digit by digit: no rounding, no limit on
//! the number of digits, and an exponent of any size costs nothing.

use std::cmp::Ordering;

use serde_json::Number;

/// A number as its sign, its digits without zeros at either end, and the place of the decimal point counted
/// from the first digit. Zero has no digits.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    point: i128,
}

impl Decimal {
    /// Reads the text of a JSON number. Exponents beyond 38 digits are all the same size.
    fn new(number: &Number) -> Self {
        let text = number.as_str();
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_value(exponent)),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = all.iter().take_while(|digit| **digit == b'0').count();
        let end = all
            .iter()
            .rposition(|digit| *digit != b'0')
            .map_or(leading, |last| last + 1);
        let digits = all.get(leading..end).unwrap_or_default().to_vec();
        if digits.is_empty() {
            return Self {
                negative: false,
                digits,
                point: 0,
            };
        }
        Self {
            negative,
            digits,
            point: exponent
                .saturating_add(length(whole.len()))
                .saturating_sub(length(leading)),
        }
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The order of two numbers, their signs left aside.
    fn compare_magnitude(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self
                .point
                .cmp(&other.point)
                .then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

/// The order of two numbers.
pub fn compare(left: &Number, right: &Number) -> Ordering {
    let (left, right) = (Decimal::new(left), Decimal::new(right));
    match (left.negative, right.negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => left.compare_magnitude(&right),
        (true, true) => right.compare_magnitude(&left),
    }
}

/// Whether a number has no fraction, however it is written: `1.0` and `1e3` have none.
pub fn is_integer(number: &Number) -> bool {
    let number = Decimal::new(number);
    length(number.digits.len()) <= number.point || number.is_zero()
}

/// Whether a number has at most so many digits and an exponent within that, so that it can be written out.
pub fn is_of_ordinary_size(number: &Number, limit: u16) -> bool {
    let text = number.as_str();
    text.len() <= usize::from(limit)
        && text.split_once(['e', 'E']).is_none_or(|(_, exponent)| {
            exponent_value(exponent).unsigned_abs() <= u128::from(limit)
        })
}

/// The most zeros that an exponent adds to the digits of a number.
const MOST_ZEROS: usize = 400;

/// The digits of a number that is whole, however it is written: `1e3` is `1000`, `2.0` is `2`.
pub fn digits(number: &Number) -> Option<String> {
    let decimal = Decimal::new(number);
    if decimal.is_zero() {
        return Some("0".to_owned());
    }
    if !number.as_str().contains(['.', 'e', 'E']) {
        return Some(number.to_string());
    }
    let zeros = usize::try_from(decimal.point - length(decimal.digits.len())).ok()?;
    let sign = if decimal.negative { "-" } else { "" };
    let digits = String::from_utf8_lossy(&decimal.digits);
    (zeros <= MOST_ZEROS).then(|| format!("{sign}{digits}{}", "0".repeat(zeros)))
}

/// The integer part, as the Go tool's conversion leaves it: cut towards zero. A part of more digits than any
/// integer type has is kept as it is.
pub fn truncated(number: &Number) -> Number {
    let decimal = Decimal::new(number);
    if decimal.is_zero() || decimal.point <= 0 {
        return Number::from(0);
    }
    let Ok(whole) = usize::try_from(decimal.point) else {
        return number.clone();
    };
    if whole >= decimal.digits.len() {
        return number.clone();
    }
    let digits = String::from_utf8_lossy(&decimal.digits[..whole]);
    let sign = if decimal.negative { "-" } else { "" };
    serde_json::from_str(&format!("{sign}{digits}")).unwrap_or_else(|_| number.clone())
}

/// The value of the text after `e`, held within what arithmetic on it can bear.
fn exponent_value(text: &str) -> i128 {
    const LIMIT: i128 = i128::MAX / 4;
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let value = digits
        .parse::<i128>()
        .map_or(LIMIT, |value| value.min(LIMIT));
    if negative { -value } else { value }
}

fn length(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX / 4)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{self, Equal, Greater, Less};

    use proptest::prelude::*;
    use serde_json::Number;

    use super::{compare, is_integer, truncated};

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_compare_by_value_whatever_their_notation() {
        let case = |left: &str, right: &str, wanted: Ordering| {
            assert_eq!(
                compare(&number(left), &number(right)),
                wanted,
                "{left} {right}"
            );
            assert_eq!(
                compare(&number(right), &number(left)),
                wanted.reverse(),
                "{right} {left}"
            );
        };
        case("1", "1.0", Equal);
        case("1", "1e0", Equal);
        case("1000000", "1e6", Equal);
        case("1000000", "1E+06", Equal);
        case("0.001", "1e-3", Equal);
        case("0", "-0.0", Equal);
        case("0", "0e999999999", Equal);
        case("9223372036854775809", "9223372036854775808", Greater);
        case("9007199254740993", "9007199254740992", Greater);
        case(
            "1234567890123456789012345678901234567890",
            "1234567890123456789012345678901234567891",
            Less,
        );
        case("0.1", "0.10000000000000000001", Less);
        case("-2", "-3", Greater);
        case("-1", "1", Less);
        case("0.09", "0.1", Less);
        case("19", "2", Greater);
        case("1e999999999", "9e999999998", Greater);
        case("1e-999999999", "0", Greater);
        case("-1e99999999999999999999", "-1", Less);
    }

    #[test]
    fn an_integer_has_no_fraction_in_any_notation() {
        let case = |text: &str, wanted| assert_eq!(is_integer(&number(text)), wanted, "{text}");
        case("1", true);
        case("1.0", true);
        case("0.0", true);
        case("1e3", true);
        case("1.5e1", true);
        case("1.5", false);
        case("15e-1", false);
        case("1e-999999999", false);
        case("1e999999999", true);
    }

    #[test]
    fn cutting_goes_towards_zero() {
        let case = |text: &str, wanted: &str| {
            assert_eq!(
                compare(&truncated(&number(text)), &number(wanted)),
                Equal,
                "{text}"
            );
        };
        case("2.9", "2");
        case("-2.9", "-2");
        case("0.9", "0");
        case("29e-1", "2");
        case("1e400", "1e400");
        case("7", "7");
    }

    proptest! {
        #[test]
        fn agrees_with_machine_integers(left: i128, right: i128) {
            let (a, b) = (number(&left.to_string()), number(&right.to_string()));
            prop_assert_eq!(compare(&a, &b), left.cmp(&right));
            prop_assert_eq!(compare(&a, &a), Equal);
        }

        #[test]
        fn is_reflexive_and_antisymmetric(
            left in "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,9})?",
            right in "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,9})?",
        ) {
            let (a, b) = (number(&left), number(&right));
            prop_assert_eq!(compare(&a, &a), Equal);
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
        }

        #[test]
        fn moving_the_point_changes_nothing(value: i64, places in 0_usize..30) {
            let plain = number(&value.to_string());
            let moved = number(&format!("{value}{}e-{places}", "0".repeat(places)));
            let wanted = if value == 0 { number("0") } else { plain };
            prop_assert_eq!(compare(&moved, &wanted), Equal);
        }
    }
}
