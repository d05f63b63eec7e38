//! What an answer of GitHub's means: that it is one, that it comes later or from another place, or that there is none.
//! Whatever of its words is shown is cleaned, cut, and hides the token. Nothing is asked here.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, StatusCode, Uri, header::LOCATION};
use serde_json::Value;

use super::failure::Failure;
use text::{clean, head, redact::Secrets};

/// Characters of a message that are looked through for what must not be shown, and how many are shown.
const LOOKED_THROUGH: usize = 10_000;
const SHOWN: usize = 300;

/// Messages of one refusal that are shown.
const MOST_MESSAGES: usize = 5;

/// The kinds of a query's errors that say that there is no right to it.
const NO_RIGHT: [&str; 2] = ["FORBIDDEN", "INSUFFICIENT_SCOPES"];

/// How GitHub tells, with the status of a good answer, that it failed itself.
const OWN_TROUBLE: [&str; 2] = ["something went wrong", "couldn't respond to your request"];

/// An answer that came.
pub(super) struct Answer {
    status: u16,
    retry_after: Option<u64>,
    remaining: Option<u64>,
    reset: Option<u64>,
    location: Option<String>,
    /// What it holds.
    pub(super) text: String,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Something with an address, whose status tells what became of it.
    Resource,
    /// A query, whose answer tells it.
    Query,
}

/// What an answer means.
#[derive(Debug)]
pub(super) enum Meaning {
    /// It is what was asked for.
    Good,
    /// Come back later.
    Limit,
    /// It is elsewhere now.
    Moved,
    /// GitHub failed; another time it may not.
    Trouble(String),
    /// No.
    Refusal(Failure),
}

/// The failures of a query, in GitHub's words.
struct Complaint {
    kinds: Vec<String>,
    message: String,
}

impl Answer {
    /// An answer as it came.
    pub(super) fn new(status: StatusCode, headers: &HeaderMap, text: String) -> Self {
        let said = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
        let number = |name: &str| said(name)?.parse().ok();
        Self {
            status: status.as_u16(),
            retry_after: number("retry-after"),
            remaining: number("x-ratelimit-remaining"),
            reset: number("x-ratelimit-reset"),
            location: said(LOCATION.as_str()).map(str::to_owned),
            text,
        }
    }

    /// What it means.
    pub(super) fn meaning(&self, asked: Asked, secrets: &Secrets) -> Meaning {
        match (self.status, asked) {
            (200..=299, Asked::Resource) => Meaning::Good,
            (200..=299, Asked::Query) => self.meaning_of_query(secrets),
            (301 | 302 | 307 | 308, _) => Meaning::Moved,
            (429, _) => Meaning::Limit,
            // Of its secondary limits GitHub may tell in words alone.
            (403, _) if self.tells_of_limit(&self.message()) => Meaning::Limit,
            (500.., _) => Meaning::Trouble(format!("GitHub answered with {}", self.status)),
            _ => Meaning::Refusal(Failure::Refused {
                status: self.status,
                message: shown(&self.message(), secrets),
            }),
        }
    }

    /// A query fails with the status of one that succeeds.
    fn meaning_of_query(&self, secrets: &Secrets) -> Meaning {
        let Some(Complaint { kinds, message }) = Complaint::of(&self.text) else {
            return Meaning::Good;
        };
        let small = message.to_lowercase();
        let is = |kind: &str| kinds.iter().any(|it| it == kind);
        if is("RATE_LIMITED") || self.tells_of_limit(&message) {
            return Meaning::Limit;
        }
        let message = shown(&message, secrets);
        if OWN_TROUBLE.iter().any(|words| small.contains(words)) {
            return Meaning::Trouble(format!("GitHub did not answer a query: {message}"));
        }
        Meaning::Refusal(if NO_RIGHT.into_iter().any(is) {
            Failure::Forbidden(message)
        } else {
            Failure::Unanswered(message)
        })
    }

    fn tells_of_limit(&self, message: &str) -> bool {
        self.retry_after.is_some()
            || self.remaining == Some(0)
            || message.to_lowercase().contains("rate limit")
    }

    /// What it says, for people: the message, and what is wrong in particular.
    fn message(&self) -> String {
        let said: Value = serde_json::from_str(&self.text).unwrap_or_default();
        let own = said.get("message").and_then(Value::as_str);
        own.into_iter()
            .map(str::to_owned)
            .chain(messages(&said))
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// How long later.
    pub(super) fn wait(&self) -> Option<Duration> {
        if let Some(seconds) = self.retry_after {
            return Some(Duration::from_secs(seconds));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        // Clocks differ by a moment.
        Some(Duration::from_secs(
            self.reset?.saturating_sub(now).saturating_add(1),
        ))
    }

    /// The address that it points to, where that is at the place that was asked: the token goes nowhere else.
    pub(super) fn target(&self, asked: &str) -> Result<String, Failure> {
        let elsewhere = || {
            Failure::Elsewhere(match &self.location {
                Some(location) => host(location).unwrap_or_else(|| "another place".to_owned()),
                None => "no place".to_owned(),
            })
        };
        self.location
            .as_deref()
            .and_then(|location| at_the_same_place(asked, location))
            .ok_or_else(elsewhere)
    }
}

impl Complaint {
    /// What a query's answer complains of, where it answers nothing.
    fn of(text: &str) -> Option<Self> {
        let said: Value = serde_json::from_str(text).ok()?;
        let errors = said.get("errors")?.as_array()?;
        let data = said.get("data").and_then(Value::as_object);
        let answered = data.is_some_and(|data| data.values().any(|it| !it.is_null()));
        if answered || errors.is_empty() {
            return None;
        }
        let kinds = errors.iter().filter_map(|it| it.get("type")?.as_str());
        Some(Self {
            kinds: kinds.map(str::to_owned).collect(),
            message: messages(&said).join("; "),
        })
    }
}

/// What the list of errors of an answer says.
fn messages(said: &Value) -> Vec<String> {
    let errors = said.get("errors").and_then(Value::as_array);
    let of = |error: &Value| {
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let own = error.as_str().or_else(|| text("message"));
        // Some have only a code and what it is about.
        let coded = || Some(format!("`{}` is {}", text("field")?, text("code")?));
        own.map(str::to_owned).or_else(coded)
    };
    let all = errors.into_iter().flatten().filter_map(of);
    all.take(MOST_MESSAGES).collect()
}

/// A foreign text as it may be shown.
pub(super) fn shown(text: &str, secrets: &Secrets) -> String {
    let text = head(&clean(text).replace('\n', " "), LOOKED_THROUGH);
    head(&secrets.mask(&text), SHOWN)
}

/// What an address is called that is not gone to.
fn host(location: &str) -> Option<String> {
    let uri: Uri = location.parse().ok()?;
    uri.host().map(|host| head(&clean(host), SHOWN))
}

/// The address of a redirect, if it is at the place that was asked.
fn at_the_same_place(asked: &str, location: &str) -> Option<String> {
    let asked: Uri = asked.parse().ok()?;
    let (scheme, place) = (asked.scheme_str()?, asked.authority()?);
    let to: Uri = location.parse().ok()?;
    let path = to.path_and_query()?.as_str();
    let port = |uri: &Uri| {
        let usual = if uri.scheme_str() == Some("http") {
            80
        } else {
            443
        };
        uri.port_u16().unwrap_or(usual)
    };
    let same = match to.scheme_str() {
        Some(other) => {
            let same_host = to.host()?.eq_ignore_ascii_case(asked.host()?);
            other == scheme && same_host && port(&to) == port(&asked)
        }
        // Two slashes would be followed by another place.
        None => location.starts_with('/') && !location.starts_with("//"),
    };
    same.then(|| format!("{scheme}://{place}{path}"))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
    use serde_json::{Value, json};

    use super::{Answer, Asked, Meaning, at_the_same_place};
    use text::redact::Secrets;

    const TOKEN: &str = "ghs_T0kenT0kenT0ken1234";

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add_token(TOKEN);
        secrets
    }

    fn told(status: u16, asked: Asked, headers: &[(&str, &str)], body: &Value) -> String {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                let name: HeaderName = name.parse().unwrap();
                (name, HeaderValue::from_str(value).unwrap())
            })
            .collect();
        let status = StatusCode::from_u16(status).unwrap();
        match Answer::new(status, &headers, body.to_string()).meaning(asked, &secrets()) {
            Meaning::Good => "good".to_owned(),
            Meaning::Limit => "limit".to_owned(),
            Meaning::Moved => "moved".to_owned(),
            Meaning::Trouble(text) => format!("trouble: {text}"),
            Meaning::Refusal(failure) => {
                format!("refusal, {}: {failure}", failure.is_forbidden())
            }
        }
    }

    #[test]
    fn what_is_shown_of_a_refusal_hides_the_token_however_it_is_written() {
        for form in [
            TOKEN,
            "eC1hY2Nlc3MtdG9rZW46Z2hzX1Qwa2VuVDBrZW5UMGtlbjEyMzQ=",
        ] {
            for pad in [0, 270, 290] {
                let body = json!({"message": format!("{} Bearer {form}", "x".repeat(pad))});
                let said = told(401, Asked::Resource, &[], &body);
                let bare: String = said.chars().filter(char::is_ascii_alphanumeric).collect();
                let leaked = ["T0ken", "T0k", "QwaW5", "VDBrZW"];
                assert!(!leaked.iter().any(|it| bare.contains(it)), "{said}");
            }
        }
    }

    #[test]
    fn a_refusal_says_what_is_wrong_in_particular() {
        let body = json!({"message": "Validation Failed", "errors": [
            {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long"},
            {"resource": "Issue", "code": "missing_field", "field": "title"},
            "a text",
        ]});
        assert_eq!(
            told(422, Asked::Resource, &[], &body),
            "refusal, false: GitHub answered with 422: Validation Failed; Body is too long; \
             `title` is missing_field; a text"
        );
        assert_eq!(
            told(403, Asked::Resource, &[], &Value::Null),
            "refusal, true: GitHub answered with 403"
        );
    }

    #[test]
    fn a_query_that_fails_is_told_as_what_it_is() {
        let case = |headers: &[(&str, &str)], body: Value, wanted: &str| {
            assert_eq!(told(200, Asked::Query, headers, &body), wanted, "{body}");
        };
        let error = |kind: &str, message: &str| json!({"data": {"viewer": null}, "errors": [{"type": kind, "message": message}]});
        let viewer = json!({"viewer": {"databaseId": 1}});
        case(&[], json!({"data": viewer}), "good");
        case(
            &[],
            json!({"data": viewer, "errors": [{"message": "x"}]}),
            "good",
        );
        case(&[], error("RATE_LIMITED", "x"), "limit");
        case(
            &[],
            error("", "You have exceeded a secondary rate limit."),
            "limit",
        );
        case(
            &[("retry-after", "1")],
            json!({"errors": [{"message": "x"}]}),
            "limit",
        );
        case(
            &[("x-ratelimit-remaining", "0")],
            json!({"data": viewer}),
            "good",
        );
        case(
            &[],
            error("FORBIDDEN", "Resource not accessible by integration"),
            "refusal, true: GitHub did not answer a query: Resource not accessible by integration",
        );
        case(
            &[],
            error(
                "",
                &format!("Something went wrong while executing your query of {TOKEN}."),
            ),
            "trouble: GitHub did not answer a query: Something went wrong while executing your query of ***.",
        );
        case(
            &[],
            error("NOT_FOUND", "Could not resolve"),
            "refusal, false: GitHub did not answer a query: Could not resolve",
        );
    }

    #[test]
    fn only_the_place_that_was_asked_is_gone_to() {
        let case = |location: &str, wanted: Option<&str>| {
            let found = at_the_same_place("https://api.github.com/repos/o/r", location);
            assert_eq!(found.as_deref(), wanted, "{location}");
        };
        let there = Some("https://api.github.com/repositories/1/x?y=1");
        case("https://api.github.com/repositories/1/x?y=1", there);
        case("https://API.github.com:443/repositories/1/x?y=1", there);
        case("https://a:b@api.github.com/repositories/1/x?y=1", there);
        case("/repositories/1/x?y=1", there);
        case("http://api.github.com/repositories/1", None);
        case("https://api.github.com:8443/x", None);
        case("https://evil.example/x", None);
        case("https://api.github.com@evil.example/x", None);
        case("//evil.example/x", None);
        case("\\\\evil.example/x", None);
        case("x", None);
        case("", None);
        let enterprise =
            at_the_same_place("http://ghes:3000/api/v3/x", "http://ghes:3000/api/v3/y");
        assert_eq!(enterprise.as_deref(), Some("http://ghes:3000/api/v3/y"));
    }
}
