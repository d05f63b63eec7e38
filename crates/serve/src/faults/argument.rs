//! What follows a fault's id: which kind of value it takes, and the value as read.

use std::time::Duration;

use crate::tap::{Emit, Ending};

/// The kind of argument that a fault takes, with its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// No argument.
    Nothing,
    /// A count from 1 to the limit.
    Count {
        /// When none is given.
        default: u64,
        /// The largest one that is made.
        limit: u64,
    },
    /// An exit code, 0 to 255.
    ExitCode(u8),
    /// A JSON-RPC error code.
    RpcCode(i64),
    /// A status of HTTP that ends an exchange, 200 to 599.
    Status(u16),
    /// A length of time.
    Time(Duration),
    /// A number of bytes.
    Size(u64),
    /// Any text.
    Text(&'static str),
    /// This word or nothing.
    Word(&'static str),
}

/// The value a rule gives its fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentValue {
    /// The fault takes none.
    Nothing,
    /// A count, a code or a size.
    Number(i64),
    /// A length of time.
    Time(Duration),
    /// Free text, or the one known word.
    Text(String),
}

/// The most bytes a size may ask for.
const LARGEST_SIZE: u64 = 4 << 30;

/// The longest time a fault may wait.
const LONGEST: Duration = Duration::from_hours(24);

impl Takes {
    /// The value when the rule gives none.
    pub fn default_value(self) -> ArgumentValue {
        match self {
            Self::Nothing => ArgumentValue::Nothing,
            Self::Count { default, .. } | Self::Size(default) => {
                ArgumentValue::Number(signed(default))
            }
            Self::ExitCode(code) => ArgumentValue::Number(i64::from(code)),
            Self::RpcCode(code) => ArgumentValue::Number(code),
            Self::Status(code) => ArgumentValue::Number(i64::from(code)),
            Self::Time(length) => ArgumentValue::Time(length),
            Self::Text(text) => ArgumentValue::Text(text.to_owned()),
            Self::Word(_) => ArgumentValue::Text(String::new()),
        }
    }

    /// Reads what the user wrote; the error is the phrase for what was wanted.
    pub fn read(self, text: &str) -> Result<ArgumentValue, String> {
        let found = match self {
            Self::Nothing => None,
            Self::Count { limit, .. } => text
                .parse::<u64>()
                .ok()
                .filter(|count| (1..=limit).contains(count))
                .map(|count| ArgumentValue::Number(signed(count))),
            Self::ExitCode(_) => {
                let code = text.parse::<u8>().ok();
                code.map(|code| ArgumentValue::Number(i64::from(code)))
            }
            Self::RpcCode(_) => text.parse::<i64>().ok().map(ArgumentValue::Number),
            Self::Status(_) => text
                .parse::<u16>()
                .ok()
                .filter(|code| (200..600).contains(code))
                .map(|code| ArgumentValue::Number(i64::from(code))),
            Self::Time(_) => read_time(text).map(ArgumentValue::Time),
            Self::Size(_) => read_size(text).map(|size| ArgumentValue::Number(signed(size))),
            Self::Text(_) => (!text.is_empty()).then(|| ArgumentValue::Text(text.to_owned())),
            Self::Word(word) => (text == word).then(|| ArgumentValue::Text(text.to_owned())),
        };
        found.ok_or_else(|| self.phrase())
    }

    /// How the catalogue shows it after the id, with the default value; empty for none.
    pub fn shown(self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Count { default, .. } => format!(":N ({default})"),
            Self::ExitCode(code) => format!(":CODE ({code})"),
            Self::RpcCode(code) => format!(":CODE ({code})"),
            Self::Status(code) => format!(":CODE ({code})"),
            Self::Time(length) => format!(":DURATION ({})", show_time(length)),
            Self::Size(size) => format!(":SIZE ({})", show_size(size)),
            Self::Text(text) => format!(":TEXT ({text})"),
            Self::Word(word) => format!("[:{word}]"),
        }
    }

    fn phrase(self) -> String {
        match self {
            Self::Nothing => "it takes no argument".to_owned(),
            Self::Count { limit, .. } => format!("a number from 1 to {limit}"),
            Self::ExitCode(_) => "an exit code from 0 to 255".to_owned(),
            Self::RpcCode(_) => "a whole number as the error code".to_owned(),
            Self::Status(_) => "a status from 200 to 599".to_owned(),
            Self::Time(_) => "a duration up to 24h such as `300ms` or `2s`".to_owned(),
            Self::Size(_) => "a size up to 4GiB such as `512`, `64KiB` or `8MiB`".to_owned(),
            Self::Text(_) => "a text".to_owned(),
            Self::Word(word) => format!("nothing or `{word}`"),
        }
    }
}

/// The values by kind. The catalogue fixes which kind a fault has, so the other kinds never ask.
impl ArgumentValue {
    /// A count or a size.
    pub fn count(&self) -> u64 {
        u64::try_from(self.code()).unwrap_or_default()
    }

    /// An error code.
    pub fn code(&self) -> i64 {
        if let Self::Number(number) = self {
            *number
        } else {
            0
        }
    }

    /// The end of the process with an exit code.
    pub fn exit(&self) -> Emit {
        Emit::End(Ending::Exit(u8::try_from(self.code()).unwrap_or_default()))
    }

    /// A length of time.
    pub fn time(&self) -> Duration {
        if let Self::Time(length) = self {
            *length
        } else {
            Duration::ZERO
        }
    }

    /// Free text; the optional word where it was given.
    pub fn text(&self) -> &str {
        if let Self::Text(text) = self {
            text
        } else {
            ""
        }
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// `1h`, `2m30s`, `1.5s`, `300ms`, `20us`; a bare `0` is allowed.
pub fn read_time(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .filter(|&at| at > 0)?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            _ => return None,
        };
        let length = number.parse::<f64>().ok()? * seconds;
        total = total.checked_add(Duration::try_from_secs_f64(length).ok()?)?;
        rest = tail;
    }
    (!text.is_empty() && total <= LONGEST).then_some(total)
}

/// `512`, `512B`, `64KiB`, `8MB`, `1GiB`.
fn read_size(text: &str) -> Option<u64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    let size = number.parse::<u64>().ok()?.checked_mul(factor)?;
    (1..=LARGEST_SIZE).contains(&size).then_some(size)
}

fn show_time(length: Duration) -> String {
    let millis = length.as_millis();
    if millis.is_multiple_of(1000) {
        format!("{}s", millis / 1000)
    } else {
        format!("{millis}ms")
    }
}

fn show_size(size: u64) -> String {
    if size.is_multiple_of(1 << 20) {
        format!("{}MiB", size >> 20)
    } else {
        format!("{size}B")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        let case = |text: &str, wanted: Option<u64>| {
            let found = read_time(text).map(|length| length.as_millis());
            assert_eq!(found, wanted.map(u128::from), "{text}");
        };
        case("300ms", Some(300));
        case("2s", Some(2000));
        case("1m30s", Some(90_000));
        case("1.5s", Some(1500));
        case("0", Some(0));
        case("24h", Some(86_400_000));
        case("25h", None);
        case("", None);
        case("30", None);
        case("s", None);
        case("2 s", None);
        case("-1s", None);
        case("1..s", None);
        case("999999999999999999999999h", None);
    }

    #[test]
    fn sizes_read_with_binary_and_decimal_units() {
        let case = |text: &str, wanted: Option<u64>| assert_eq!(read_size(text), wanted, "{text}");
        case("512", Some(512));
        case("1B", Some(1));
        case("64KiB", Some(65_536));
        case("8MiB", Some(8 << 20));
        case("50MB", Some(50_000_000));
        case("4GiB", Some(4 << 30));
        case("5GiB", None);
        case("0", None);
        case("MiB", None);
        case("8 MiB", None);
        case("18446744073709551616", None);
        case("18446744073709551615GiB", None);
    }

    #[test]
    fn an_argument_outside_its_kind_says_what_was_wanted() {
        let case = |takes: Takes, text: &str, wanted: Result<ArgumentValue, &str>| {
            assert_eq!(takes.read(text), wanted.map_err(str::to_owned), "{text}");
        };
        case(Takes::Nothing, "1", Err("it takes no argument"));
        case(Takes::ExitCode(1), "3", Ok(ArgumentValue::Number(3)));
        case(Takes::ExitCode(1), "256", Err("an exit code from 0 to 255"));
        let count = Takes::Count {
            default: 5,
            limit: 10,
        };
        case(count, "10", Ok(ArgumentValue::Number(10)));
        case(count, "0", Err("a number from 1 to 10"));
        case(count, "11", Err("a number from 1 to 10"));
        case(
            Takes::Word("open"),
            "open",
            Ok(ArgumentValue::Text("open".to_owned())),
        );
        case(Takes::Word("open"), "shut", Err("nothing or `open`"));
        case(
            Takes::RpcCode(-1),
            "-32603",
            Ok(ArgumentValue::Number(-32603)),
        );
    }
}
