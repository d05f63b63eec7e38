//! Values on their way to a server: numbers as servers of every language take them, and under the Go tool's rules
//! keys in alphabetical order. What `{{…}}` puts into a value comes later, and keeps the digits that it has.

use serde_json::Number;

use super::Lowering;
use crate::yaml::Node;
use mcp::{
    json::number::digits,
    script::{
        rendered::{go_number_of_float, rewrite_numbers},
        template::ValueTemplate,
    },
};

impl Lowering<'_> {
    /// A value that a server will get, with markers whose names are checked.
    pub(super) fn sent(&mut self, node: Node) -> ValueTemplate {
        let mut template = self.value_template(node);
        if self.is_compat() {
            rewrite_numbers(&mut template.value, as_go);
            template.value.sort_all_objects();
        } else {
            rewrite_numbers(&mut template.value, integer);
        }
        template
    }
}

/// The most digits that a whole number is written out with, a sign among them: as many as Go's JSON writes.
const MOST_DIGITS: usize = 21;

/// A whole number that is written with a fraction or an exponent, by its digits: where a server wants a number it takes
/// both, but many refuse `1.0` for an integer.
fn integer(number: &Number) -> Option<Number> {
    let written = number.as_str();
    if is_digits(written) {
        return None;
    }
    let digits = digits(number)?;
    let has_sign = written.starts_with('-') == digits.starts_with('-');
    let is_short = has_sign && digits.len() <= MOST_DIGITS;
    is_short.then(|| digits.parse().ok()).flatten()
}

/// A number of a suite as Go's JSON has it: all but integers of 64 bits are floats there.
fn as_go(number: &Number) -> Option<Number> {
    let written = number.as_str();
    if is_digits(written) && parsed(written).is_some() {
        return None;
    }
    go_number_of_float(number)
}

/// Whether a number is written without fraction and exponent.
fn is_digits(written: &str) -> bool {
    !written.contains(['.', 'e', 'E'])
}

/// An integer of 64 bits.
fn parsed(digits: &str) -> Option<Number> {
    let signed = digits.parse::<i64>().map(Number::from);
    let found = signed.or_else(|_| digits.parse::<u64>().map(Number::from));
    found.ok()
}

#[cfg(test)]
mod tests {
    use serde_json::Number;

    use super::{as_go, integer};

    #[test]
    fn whole_numbers_are_integers_in_either_dialect() {
        let case = |written: &str, here: &str, there: &str| {
            let number: Number = written.parse().unwrap();
            let shown = |notation: fn(&Number) -> Option<Number>| {
                notation(&number).unwrap_or(number.clone()).to_string()
            };
            assert_eq!(shown(integer), here, "{written}");
            assert_eq!(shown(as_go), there, "{written}, under the Go tool's rules");
        };
        case("1", "1", "1");
        case("1.0", "1", "1");
        case("-10.0", "-10", "-10");
        case("1e3", "1000", "1000");
        case("1.5e1", "15", "15");
        case("1e18", "1000000000000000000", "1000000000000000000");
        case(
            "18446744073709551615",
            "18446744073709551615",
            "18446744073709551615",
        );
        case("1e20", "100000000000000000000", "100000000000000000000");
        case("1.5e30", "1.5e+30", "1.5e+30");
        case("1e21", "1e+21", "1e+21");
        case(
            "12345678901234567890123",
            "12345678901234567890123",
            "1.2345678901234568e+22",
        );
        case("0.0", "0", "0");
        case("-0.0", "-0.0", "-0");
        case("1.5", "1.5", "1.5");
        case("2.50", "2.50", "2.5");
        case("1e-6", "1e-6", "0.000001");
        case("1e-7", "1e-7", "1e-7");
        case(
            "0.1234567890123456789",
            "0.1234567890123456789",
            "0.12345678901234568",
        );
    }
}
