//! Values as the Go tool prints them (`%v`), for suites that were written against that rendering.

use serde_json::{Number, Value};

/// How numbers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Floats {
    /// Every number as a float: what Go makes of JSON.
    All,
    /// Only numbers written with a fraction or an exponent: what Go makes of YAML.
    AsWritten,
}

/// A value as `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`.
pub(super) fn print(value: &Value, floats: Floats) -> String {
    let mut out = String::new();
    write(value, floats, &mut out);
    out
}

fn write(value: &Value, floats: Floats, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number, floats)),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                write(item, floats, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            out.push_str("map[");
            for (index, (name, item)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push_str(name);
                out.push(':');
                write(item, floats, out);
            }
            out.push(']');
        }
    }
}

/// A number as Go's shortest `%g` has it: floats below 1e-4 and from 1e6 on get an exponent.
fn number_text(number: &Number, floats: Floats) -> String {
    let written = number.as_str();
    let whole = !written.contains(['.', 'e', 'E']);
    if whole && floats == Floats::AsWritten {
        return written.to_owned();
    }
    let Some(value) = number.as_f64().filter(|value| value.is_finite()) else {
        return written.to_owned();
    };
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let Ok(exponent) = exponent.parse::<i32>() else {
        return scientific;
    };
    if (-4..6).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::{Floats, print};

    #[test]
    fn values_print_as_go_prints_them() {
        let case = |json: &str, floats, wanted: &str| {
            let value = serde_json::from_str(json).unwrap();
            assert_eq!(print(&value, floats), wanted, "{json}");
        };
        case("null", Floats::All, "<nil>");
        case("1000000", Floats::All, "1e+06");
        case("1000000", Floats::AsWritten, "1000000");
        case("1000000.0", Floats::AsWritten, "1e+06");
        case("1234567", Floats::All, "1.234567e+06");
        case("123456", Floats::All, "123456");
        case("0.00001", Floats::All, "1e-05");
        case("2.50", Floats::All, "2.5");
        case("-0.5", Floats::All, "-0.5");
        case(
            r#"{"z":1,"a":[true,"x"]}"#,
            Floats::All,
            "map[a:[true x] z:1]",
        );
    }
}
