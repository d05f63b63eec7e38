//! A client of GitHub's API. It sends one request at a time with deadlines, retries and same-origin redirects, and
//! interprets answers. GitHub's texts are cleaned, cut and masked before they are shown.

use std::{
    cell::Cell,
    fs::File,
    io::Write,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use http::{HeaderMap, HeaderValue, Method, StatusCode, header, request};
use http_body_util::{BodyExt, Limited};
use octocrab::Octocrab;
use reqwest::{Url, redirect::Policy};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::failure::Failure;
use crate::deliver::facts::CiEnvironment;
use mcp::transport::tls;
use text::{clean, head, innermost, redact::Secrets};

/// The timeout for connecting.
const CONNECT: Duration = Duration::from_secs(10);

/// The timeout of a request.
const REQUEST: Duration = Duration::from_secs(30);

/// The time limit of a client, without waits for rate limits.
const SINK: Duration = Duration::from_mins(1);

/// The most time spent waiting for rate limits.
const WAITS: Duration = Duration::from_mins(1);

/// The most attempts of a repeatable request.
const TRIES: u32 = 3;

/// The most redirects in a row.
const MOST_MOVES: u32 = 3;

/// The pause before the second try; it doubles.
const PAUSE: Duration = Duration::from_millis(300);

/// The time for a download.
const DOWNLOAD: Duration = Duration::from_mins(5);

/// The largest download, in bytes.
const LONGEST_FILE: usize = 2 << 30;

/// The largest answer, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;

/// The characters of a message that are masked, and that are shown.
const LOOKED_THROUGH: usize = 10_000;
const SHOWN: usize = 300;

/// Media types: JSON, and the file itself.
const JSON: &str = "application/vnd.github+json";
const RAW: &str = "application/vnd.github.raw+json";

/// A client for one task; its time limit starts at creation.
#[derive(Debug)]
pub(super) struct Client {
    octocrab: Octocrab,
    /// Sends no token.
    plain: reqwest::Client,
    api: String,
    graphql: String,
    deadline: Cell<Instant>,
    /// The time left for rate limits.
    waits: Cell<Duration>,
    /// Values to hide in GitHub's texts.
    secrets: Secrets,
}

/// A request.
struct Question<'a> {
    method: Method,
    url: String,
    body: Option<&'a Value>,
    accept: &'static str,
    /// Whether it is a GraphQL query: read-only, and errors have status 200.
    is_query: bool,
    /// Whether the answer is an address outside of the API.
    hands_over: bool,
}

/// An answer.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Client {
    /// Creates a client for the CI environment. Must be called inside a runtime.
    pub(super) fn new(here: &CiEnvironment) -> Result<Self, Failure> {
        let token = here.token().ok_or(Failure::NoToken)?;
        let cannot = |why: String| Failure::Other(format!("no connection can be made: {why}"));
        if HeaderValue::from_str(token).is_err() {
            return Err(cannot("the token has invalid characters".to_owned()));
        }
        let mut secrets = Secrets::default();
        secrets.add_token(token);
        let variable = |name: &str| {
            let value = here.environment.set(name)?;
            Some(value.trim_end_matches('/').to_owned())
        };
        let api = variable("GITHUB_API_URL").unwrap_or("https://api.github.com".to_owned());
        let trusted = tls::client_config(&here.environment);
        // octocrab's own connector would resend POSTs and follow redirects to other hosts.
        let connector = reqwest::Client::builder()
            .tls_backend_preconfigured(trusted.map_err(|error| cannot(error.to_string()))?)
            .connect_timeout(CONNECT)
            .redirect(Policy::none())
            .build()
            .map_err(|error| cannot(innermost(&error)))?;
        let octocrab = Octocrab::builder()
            .personal_token(token.to_owned())
            .base_uri(api.as_str())
            .and_then(|builder| builder.build_with_reqwest(connector.clone()))
            .map_err(|error| cannot(innermost(&error)))?;
        Ok(Self {
            octocrab,
            plain: connector,
            graphql: variable("GITHUB_GRAPHQL_URL").unwrap_or(format!("{api}/graphql")),
            api,
            deadline: Cell::new(Instant::now() + SINK),
            waits: Cell::new(WAITS),
            secrets,
        })
    }

    /// Sends a GET request.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let text = self.ask(self.question(Method::GET, path, None)).await?;
        self.read(&text)
    }

    /// Sends a GET request; `None` if not found.
    pub(super) async fn find<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, Failure> {
        or_missing(self.get(path).await)
    }

    /// Reads a raw file; `None` if not found.
    pub(super) async fn find_file(&self, path: &str) -> Result<Option<String>, Failure> {
        let question = Question {
            accept: RAW,
            ..self.question(Method::GET, path, None)
        };
        or_missing(self.ask(question).await)
    }

    /// Sends a POST request, once. [`Failure::Unclear`] means that it may have taken effect.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, Failure> {
        let question = self.question(Method::POST, path, Some(body));
        self.read(&self.ask(question).await?)
    }

    /// Sends a PATCH request.
    pub(super) async fn patch(&self, path: &str, body: &Value) -> Result<(), Failure> {
        let question = self.question(Method::PATCH, path, Some(body));
        self.ask(question).await.map(drop)
    }

    /// Sends a DELETE request; not found is a success.
    pub(super) async fn delete(&self, path: &str) -> Result<(), Failure> {
        or_missing(self.ask(self.question(Method::DELETE, path, None)).await).map(drop)
    }

    /// Downloads a file that GitHub has at another address, to which the token is not sent.
    pub(super) async fn download(&self, path: &str, mut to: File) -> Result<(), Failure> {
        let question = Question {
            hands_over: true,
            ..self.question(Method::GET, path, None)
        };
        let address = self.ask(question).await?;
        let broken = |why: String| Failure::Other(format!("the download broke off: {why}"));
        let downloading = async {
            let answer = self.plain.get(&address).send().await;
            let answer = answer.and_then(reqwest::Response::error_for_status);
            let mut answer = answer.map_err(|error| innermost(&error.without_url()))?;
            let mut left = LONGEST_FILE;
            while let Some(piece) = answer.chunk().await.map_err(|error| innermost(&error))? {
                left = left.checked_sub(piece.len()).ok_or("it is too large")?;
                to.write_all(&piece).map_err(|error| error.to_string())?;
            }
            Ok::<(), String>(())
        };
        match timeout(DOWNLOAD, downloading).await {
            Ok(downloaded) => downloaded.map_err(|why| broken(self.shown(&why))),
            Err(_) => Err(broken(format!("more than {} s", DOWNLOAD.as_secs()))),
        }
    }

    /// Sends a GraphQL query and returns its data.
    pub(super) async fn query(&self, query: &str) -> Result<Value, Failure> {
        let body = json!({ "query": query });
        let question = Question {
            url: self.graphql.clone(),
            is_query: true,
            ..self.question(Method::POST, "", Some(&body))
        };
        let mut answer: Value = self.read(&self.ask(question).await?)?;
        Ok(answer["data"].take())
    }

    fn question<'a>(&self, method: Method, path: &str, body: Option<&'a Value>) -> Question<'a> {
        Question {
            method,
            url: format!("{}{path}", self.api),
            body,
            accept: JSON,
            is_query: false,
            hands_over: false,
        }
    }

    /// Sends a request with retries, redirects and waits for rate limits.
    async fn ask(&self, mut question: Question<'_>) -> Result<String, Failure> {
        // A POST without an answer may have taken effect; anything else may be repeated.
        let repeatable = question.is_query || question.method != Method::POST;
        let (mut tries, mut moves, mut has_waited) = (1, 0, false);
        loop {
            let trouble = match self.once(&question).await {
                Ok(answer) => {
                    let is_success = answer.status.is_success();
                    let complains = is_success && question.is_query && answer.complains();
                    if is_success && !complains {
                        return Ok(answer.text);
                    }
                    if answer.is_limit(complains) {
                        let wait = answer.wait().filter(|_| !has_waited);
                        self.wait(wait.ok_or(Failure::Limited)?).await?;
                        has_waited = true;
                        continue;
                    }
                    if answer.status.is_redirection() {
                        if let Some(address) = answer.address(&question, &self.api) {
                            return Ok(address);
                        }
                        // GitHub redirects requests for renamed repositories.
                        question.url = answer.target(&question.url, moves)?;
                        moves += 1;
                        continue;
                    }
                    self.trouble(&answer, complains)?
                }
                Err(trouble) => trouble,
            };
            if !repeatable {
                return Err(Failure::Unclear(trouble));
            }
            if tries >= TRIES || Instant::now() >= self.deadline.get() {
                return Err(Failure::Other(trouble));
            }
            sleep(PAUSE * 2_u32.pow(tries - 1)).await;
            tries += 1;
        }
    }

    /// Returns the text of a temporary error, or the refusal.
    fn trouble(&self, answer: &Answer, complains: bool) -> Result<String, Failure> {
        let message = self.shown(&answer.message());
        if complains && answer.text.contains("\"FORBIDDEN\"") {
            return Err(Failure::Forbidden(message));
        }
        if complains {
            return Ok(format!("GitHub did not answer a query: {message}"));
        }
        let status = answer.status.as_u16();
        if answer.status.is_server_error() {
            return Ok(format!("GitHub answered with {status}"));
        }
        Err(Failure::Refused { status, message })
    }

    /// Waits for a rate limit, if time is left for it, and extends the deadline.
    async fn wait(&self, wait: Duration) -> Result<(), Failure> {
        let left = self.waits.get().checked_sub(wait);
        self.waits.set(left.ok_or(Failure::Limited)?);
        self.deadline.set(self.deadline.get() + wait);
        sleep(wait).await;
        Ok(())
    }

    /// Sends a request once. Errors do not contain the request.
    async fn once(&self, question: &Question<'_>) -> Result<Answer, String> {
        let deadline = self.deadline.get().min(Instant::now() + REQUEST);
        let request = request::Builder::new()
            .method(question.method.clone())
            .uri(&question.url)
            .header(header::ACCEPT, question.accept);
        let exchange = async {
            let request = self.octocrab.build_request(request, question.body);
            let request = request.map_err(|error| self.shown(&innermost(&error)))?;
            let response = self.octocrab.send(request).await;
            let response = response.map_err(|error| self.shown(&innermost(&error)))?;
            let (parts, body) = response.into_parts();
            let body = Limited::new(body, LONGEST_ANSWER)
                .collect()
                .await
                .map_err(|error| format!("the answer broke off: {error}"))?;
            Ok(Answer {
                status: parts.status,
                headers: parts.headers,
                text: String::from_utf8_lossy(&body.to_bytes()).into_owned(),
            })
        };
        match timeout_at(deadline, exchange).await {
            Ok(ended) => ended,
            Err(_) => Err("GitHub did not answer in time".to_owned()),
        }
    }

    fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, Failure> {
        serde_json::from_str(text).map_err(|error| Failure::odd(&self.shown(&error.to_string())))
    }

    /// Cleans, cuts and masks a text of GitHub.
    fn shown(&self, text: &str) -> String {
        let text = head(&clean(text).replace('\n', " "), LOOKED_THROUGH);
        head(&self.secrets.mask(&text), SHOWN)
    }
}

/// Maps "not found" to `None`.
fn or_missing<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answer {
        Err(failure) if failure.is_missing() => Ok(None),
        other => other.map(Some),
    }
}

impl Answer {
    fn number(&self, header: &str) -> Option<u64> {
        self.headers.get(header)?.to_str().ok()?.trim().parse().ok()
    }

    /// Whether a rate limit was hit. Secondary limits may be recognisable only by their text.
    fn is_limit(&self, complains: bool) -> bool {
        let text = self.text.to_lowercase();
        let tells = self.number("retry-after").is_some()
            || self.number("x-ratelimit-remaining") == Some(0)
            || text.contains("rate limit")
            || text.contains("rate_limited");
        let is = |status| self.status == status;
        is(StatusCode::TOO_MANY_REQUESTS) || tells && (complains || is(StatusCode::FORBIDDEN))
    }

    /// How long to wait for the rate limit.
    fn wait(&self) -> Option<Duration> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        // One second more, because clocks differ.
        let until_reset = || Some((self.number("x-ratelimit-reset")? + 1).saturating_sub(now));
        let seconds = self.number("retry-after").or_else(until_reset);
        seconds.map(Duration::from_secs)
    }

    /// Whether a query returned errors and no data.
    fn complains(&self) -> bool {
        let said: Value = serde_json::from_str(&self.text).unwrap_or_default();
        let data = said["data"].as_object();
        !data.is_some_and(|data| data.values().any(|it| !it.is_null()))
    }

    /// The message and the details of an error.
    fn message(&self) -> String {
        let said: Value = serde_json::from_str(&self.text).unwrap_or_default();
        let errors = said["errors"].as_array().into_iter().flatten();
        let words = |it: &Value| {
            let own = it.as_str().or_else(|| it["message"].as_str());
            own.map_or_else(|| it.to_string(), str::to_owned)
        };
        let own = said["message"].as_str().map(str::to_owned);
        let all: Vec<String> = own.into_iter().chain(errors.map(words)).collect();
        all.join("; ")
    }

    /// The address outside of the API that a question asks for.
    fn address(&self, question: &Question<'_>, api: &str) -> Option<String> {
        let location = self.headers.get(header::LOCATION)?.to_str().ok()?;
        let to = Url::parse(&question.url).ok()?.join(location).ok()?;
        let is_web = ["https", "http"].contains(&to.scheme());
        let is_elsewhere = is_web && !to.as_str().starts_with(&format!("{api}/"));
        (question.hands_over && is_elsewhere).then(|| to.into())
    }

    /// The target of a redirect, which must have the same origin, because the token is sent there.
    fn target(&self, asked: &str, moves: u32) -> Result<String, Failure> {
        if moves == MOST_MOVES {
            let said = format!("GitHub redirected more than {moves} times in a row");
            return Err(Failure::Other(said));
        }
        let location = self.headers.get(header::LOCATION);
        let location = location.and_then(|it| it.to_str().ok());
        let to = Url::parse(asked).and_then(|asked| {
            let to = asked.join(location.unwrap_or("data:"))?;
            Ok((to.origin() == asked.origin(), to))
        });
        match to {
            Ok((true, to)) => Ok(to.into()),
            Ok((false, _)) | Err(_) => Err(Failure::Other(
                "GitHub redirects to another host, and the token is not sent there".to_owned(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
    use serde_json::{Value, json};
    use tokio::time::{Instant, sleep};

    use super::{Answer, CiEnvironment, Client, Duration};
    use report::source::Source;
    use text::environment::Environment;

    const TOKEN: &str = "ghs_T0kenT0kenT0ken1234";

    fn client() -> Client {
        let token = ("GITHUB_TOKEN".to_owned(), TOKEN.to_owned());
        let here = CiEnvironment {
            environment: Arc::new(Environment {
                variables: BTreeMap::from([token]),
                ..Environment::default()
            }),
            source: Source::default(),
            event: Value::Null,
        };
        Client::new(&here).unwrap()
    }

    fn answer(status: u16, headers: &[(&str, &str)], body: &Value) -> Answer {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                let name: HeaderName = name.parse().unwrap();
                (name, HeaderValue::from_str(value).unwrap())
            })
            .collect();
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            text: body.to_string(),
        }
    }

    fn refused(answer: &Answer, complains: bool) -> String {
        match client().trouble(answer, complains) {
            Ok(trouble) => format!("trouble: {trouble}"),
            Err(failure) => format!("refusal, {}: {failure}", failure.is_forbidden()),
        }
    }

    #[tokio::test]
    async fn what_is_shown_of_a_refusal_hides_the_token_however_it_is_written() {
        for form in [
            TOKEN,
            "eC1hY2Nlc3MtdG9rZW46Z2hzX1Qwa2VuVDBrZW5UMGtlbjEyMzQ=",
        ] {
            for pad in [0, 270, 290] {
                let body = json!({"message": format!("{} Bearer {form}", "x".repeat(pad))});
                let said = refused(&answer(401, &[], &body), false);
                let bare: String = said.chars().filter(char::is_ascii_alphanumeric).collect();
                let leaked = ["T0ken", "T0k", "QwaW5", "VDBrZW"];
                assert!(!leaked.iter().any(|it| bare.contains(it)), "{said}");
            }
        }
    }

    #[tokio::test]
    async fn a_refusal_says_what_is_wrong_in_particular() {
        let body = json!({"message": "Validation Failed", "errors": [
            {"resource": "IssueComment", "code": "unprocessable", "message": "Body is too long"},
            {"field": "title", "code": "missing_field"},
            "a text",
        ]});
        assert_eq!(
            refused(&answer(422, &[], &body), false),
            "refusal, false: GitHub answered with 422: Validation Failed; Body is too long; \
             {\"field\":\"title\",\"code\":\"missing_field\"}; a text"
        );
        assert_eq!(
            refused(&answer(403, &[], &Value::Null), false),
            "refusal, true: GitHub answered with 403"
        );
    }

    #[tokio::test]
    async fn a_query_that_fails_is_told_as_what_it_is() {
        let case = |headers: &[(&str, &str)], body: Value, wanted: &str| {
            let answer = answer(200, headers, &body);
            let found = match answer.complains() {
                false => "good".to_owned(),
                true if answer.is_limit(true) => "limit".to_owned(),
                true => refused(&answer, true),
            };
            assert_eq!(found, wanted, "{body}");
        };
        let error = |kind: &str, message: &str| json!({"data": {"viewer": null}, "errors": [{"type": kind, "message": message}]});
        let viewer = json!({"viewer": {"databaseId": 1}});
        case(&[], json!({"data": viewer}), "good");
        let partly = json!({"data": viewer, "errors": [{"message": "x"}]});
        case(&[], partly, "good");
        case(&[], error("RATE_LIMITED", "x"), "limit");
        let secondary = error("", "You have exceeded a secondary rate limit.");
        case(&[], secondary, "limit");
        let plain = json!({"errors": [{"message": "x"}]});
        case(&[("retry-after", "1")], plain, "limit");
        let last = [("x-ratelimit-remaining", "0")];
        case(&last, json!({"data": viewer}), "good");
        case(
            &[],
            error("FORBIDDEN", "Resource not accessible by integration"),
            "refusal, true: GitHub did not answer a query: Resource not accessible by integration",
        );
        let wrong = format!("Something went wrong while executing your query of {TOKEN}.");
        case(
            &[],
            error("", &wrong),
            "trouble: GitHub did not answer a query: Something went wrong while executing your query of ***.",
        );
    }

    #[test]
    fn only_the_place_that_was_asked_is_gone_to() {
        let case = |location: &str, wanted: Option<&str>| {
            let answer = answer(301, &[("location", location)], &Value::Null);
            let found = answer.target("https://api.github.com/repos/o/r", 0).ok();
            assert_eq!(found.as_deref(), wanted, "{location}");
        };
        let there = Some("https://api.github.com/repositories/1/x?y=1");
        case("https://api.github.com/repositories/1/x?y=1", there);
        case("https://API.github.com:443/repositories/1/x?y=1", there);
        case("/repositories/1/x?y=1", there);
        case("http://api.github.com/repositories/1", None);
        case("https://api.github.com:8443/x", None);
        case("https://evil.example/x", None);
        case("https://api.github.com@evil.example/x", None);
        case("//evil.example/x", None);
        case("\\\\evil.example/x", None);
        let nowhere = answer(301, &[], &Value::Null);
        assert!(nowhere.target("https://api.github.com/x", 0).is_err());
        let enterprise = answer(
            301,
            &[("location", "http://ghes:3000/api/v3/y")],
            &Value::Null,
        );
        assert_eq!(
            enterprise.target("http://ghes:3000/api/v3/x", 0).unwrap(),
            "http://ghes:3000/api/v3/y"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_minute_is_waited_and_does_not_shorten_the_minute_for_asking() {
        let began = Instant::now();
        let client = client();
        let wait = |seconds| client.wait(Duration::from_secs(seconds));
        sleep(Duration::from_secs(20)).await;
        wait(45).await.unwrap();
        wait(16).await.unwrap_err();
        wait(15).await.unwrap();
        wait(1).await.unwrap_err();
        assert_eq!(began.elapsed(), Duration::from_secs(80));
        assert_eq!(client.deadline.get(), began + Duration::from_mins(2));
    }
}
