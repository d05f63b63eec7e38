//! Requests to GitHub's API, one at a time, each within a deadline: which are repeated, what a refusal means, how
//! long a rate limit is waited for. What is asked is known by the files beside this one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderValue, Method, header, request};
use http_body_util::{BodyExt, Limited};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::{
    client::legacy::{
        Client as Hyper,
        connect::{Connect, HttpConnector},
    },
    rt::TokioExecutor,
};
use octocrab::{AuthState, OctoBody, Octocrab, OctocrabBuilder};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};

use super::{failure::Failure, proxy::Proxy};
use crate::{
    deliver::facts::Here,
    tls,
    words::text::{clean, head},
};

/// How long making a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a request may take.
const REQUEST: Duration = Duration::from_secs(30);

/// How long everything together may take.
const SINK: Duration = Duration::from_mins(1);

/// The longest that a rate limit is waited for.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// How often what may be repeated is tried.
const TRIES: u32 = 3;

/// The pause before the second try; it doubles.
const PAUSE: Duration = Duration::from_millis(300);

/// The longest answer.
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;

/// The answer as JSON, and the file itself.
const JSON: &str = "application/vnd.github+json";
const RAW: &str = "application/vnd.github.raw+json";

/// A client of one sink, whose time is running.
#[derive(Debug)]
pub(super) struct Client {
    octocrab: Octocrab,
    api: String,
    graphql: String,
    authorization: HeaderValue,
    proxy: Option<Proxy>,
    deadline: Instant,
}

/// An answer that came.
struct Answer {
    status: u16,
    retry_after: Option<u64>,
    remaining: Option<u64>,
    reset: Option<u64>,
    text: String,
}

/// One question.
struct Question<'a> {
    method: Method,
    url: String,
    body: Option<&'a Value>,
    accept: &'static str,
}

impl Client {
    /// A client for what the surroundings name. Must be made inside of a runtime.
    pub(super) fn new(here: &Here) -> Result<Self, Failure> {
        let token = here.token().ok_or(Failure::NoToken)?;
        let mut authorization = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| Failure::Setup("the token holds signs that no token has".to_owned()))?;
        authorization.set_sensitive(true);
        let variable = |name: &str| {
            let value = here.environment.variable(name).unwrap_or_default();
            let value = value.trim().trim_end_matches('/');
            (!value.is_empty()).then(|| value.to_owned())
        };
        let api = variable("GITHUB_API_URL").unwrap_or("https://api.github.com".to_owned());
        let graphql = variable("GITHUB_GRAPHQL_URL").unwrap_or(format!("{api}/graphql"));
        let trusted = tls::client_config(&here.environment)
            .map_err(|error| Failure::Setup(error.to_string()))?;
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT));
        connector.enforce_http(false);
        let secured = HttpsConnectorBuilder::new()
            .with_tls_config(trusted)
            .https_or_http()
            .enable_http1();
        let proxy = Proxy::of(&here.environment, &api)?;
        let octocrab = match &proxy {
            None => octocrab(secured.wrap_connector(connector)),
            Some(proxy) => octocrab(secured.wrap_connector(proxy.tunnel(connector))),
        };
        Ok(Self {
            octocrab,
            api,
            graphql,
            authorization,
            proxy,
            deadline: Instant::now() + SINK,
        })
    }

    /// Reads something.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let text = self.ask(self.question(Method::GET, path, None)).await?;
        read(&text)
    }

    /// Reads something that may not be there.
    pub(super) async fn find<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, Failure> {
        match self.get(path).await {
            Err(failure) if failure.is_missing() => Ok(None),
            other => other.map(Some),
        }
    }

    /// Reads a file, as it is, that may not be there.
    pub(super) async fn find_file(&self, path: &str) -> Result<Option<String>, Failure> {
        let question = Question {
            accept: RAW,
            ..self.question(Method::GET, path, None)
        };
        match self.ask(question).await {
            Err(failure) if failure.is_missing() => Ok(None),
            other => other.map(Some),
        }
    }

    /// Makes something. An end that leaves open whether it was made is told as such.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, Failure> {
        let question = self.question(Method::POST, path, Some(body));
        read(&self.ask(question).await?)
    }

    /// Changes something.
    pub(super) async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, Failure> {
        let question = self.question(Method::PATCH, path, Some(body));
        read(&self.ask(question).await?)
    }

    /// Removes something; that it is gone already is as good.
    pub(super) async fn delete(&self, path: &str) -> Result<(), Failure> {
        match self.ask(self.question(Method::DELETE, path, None)).await {
            Err(failure) if failure.is_missing() => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Asks a query that changes nothing, and so may be repeated.
    pub(super) async fn query(&self, query: &str) -> Result<Value, Failure> {
        let body = json!({ "query": query });
        let mut tries = 0;
        loop {
            tries += 1;
            let question = Question {
                method: Method::POST,
                url: self.graphql.clone(),
                body: Some(&body),
                accept: JSON,
            };
            match self.ask(question).await {
                Err(failure) if failure.is_unclear() && tries < TRIES => {
                    sleep(PAUSE * tries).await;
                }
                // It changes nothing, so that nothing is open.
                Err(Failure::Unclear(problem)) => return Err(Failure::Unreachable(problem)),
                Err(failure) => return Err(failure),
                Ok(text) => {
                    let mut answer: Value = read(&text)?;
                    return match answer.get_mut("data").map(Value::take) {
                        Some(data) if !data.is_null() => Ok(data),
                        Some(_) | None => Err(Failure::Odd("a query without data".to_owned())),
                    };
                }
            }
        }
    }

    fn question<'a>(&self, method: Method, path: &str, body: Option<&'a Value>) -> Question<'a> {
        Question {
            method,
            url: format!("{}{path}", self.api),
            body,
            accept: JSON,
        }
    }

    /// Asks until there is an answer to go by.
    async fn ask(&self, question: Question<'_>) -> Result<String, Failure> {
        // Nobody knows whether a POST without an answer took effect; all others may be repeated.
        let repeatable = question.method != Method::POST;
        let mut tries = 1;
        let mut has_waited = false;
        loop {
            let open = match self.once(&question).await {
                Ok(answer) if (200..300).contains(&answer.status) => return Ok(answer.text),
                Ok(answer) if answer.is_limit() => {
                    let wait = answer.wait().filter(|_| !has_waited);
                    self.wait(wait).await?;
                    has_waited = true;
                    continue;
                }
                Ok(answer) if answer.status >= 500 => {
                    format!("GitHub answered with {}", answer.status)
                }
                Ok(answer) => return Err(answer.refusal()),
                Err(problem) => problem,
            };
            if !repeatable {
                return Err(Failure::Unclear(open));
            }
            if tries >= TRIES || Instant::now() >= self.deadline {
                return Err(Failure::Unreachable(open));
            }
            sleep(PAUSE * 2_u32.pow(tries - 1)).await;
            tries += 1;
        }
    }

    /// Waits for a rate limit to pass, if that is soon enough.
    async fn wait(&self, wait: Option<Duration>) -> Result<(), Failure> {
        let soon = wait.filter(|it| *it <= LONGEST_WAIT && Instant::now() + *it < self.deadline);
        let Some(wait) = soon else {
            return Err(Failure::Limited);
        };
        sleep(wait).await;
        Ok(())
    }

    /// Asks once. The problem tells nothing of the request but its place.
    async fn once(&self, question: &Question<'_>) -> Result<Answer, String> {
        let deadline = self.deadline.min(Instant::now() + REQUEST);
        let request = request::Builder::new()
            .method(question.method.clone())
            .uri(&question.url)
            .header(header::USER_AGENT, "mcp-assert")
            .header(header::ACCEPT, question.accept)
            .header("x-github-api-version", "2022-11-28")
            .header(header::AUTHORIZATION, &self.authorization);
        let exchange = async {
            let request = self
                .octocrab
                .build_request(request, question.body)
                .map_err(|error| innermost(&error))?;
            let response = self.octocrab.send(request).await;
            let response = response.map_err(|error| match &self.proxy {
                None => innermost(&error),
                Some(proxy) => format!(
                    "{} (through the proxy {})",
                    innermost(&error),
                    proxy.shown()
                ),
            })?;
            let (parts, body) = response.into_parts();
            let body = Limited::new(body, LONGEST_ANSWER)
                .collect()
                .await
                .map_err(|error| format!("the answer broke off: {error}"))?;
            let number = |name: &str| parts.headers.get(name)?.to_str().ok()?.trim().parse().ok();
            Ok(Answer {
                status: parts.status.as_u16(),
                retry_after: number("retry-after"),
                remaining: number("x-ratelimit-remaining"),
                reset: number("x-ratelimit-reset"),
                text: String::from_utf8_lossy(&body.to_bytes()).into_owned(),
            })
        };
        match timeout_at(deadline, exchange).await {
            Ok(ended) => ended,
            Err(_) => Err("GitHub did not answer in time".to_owned()),
        }
    }
}

impl Answer {
    /// Whether it says to come back later.
    fn is_limit(&self) -> bool {
        match self.status {
            429 => true,
            // Of its secondary limits GitHub may tell in words alone.
            403 => {
                let said = self.message().to_lowercase();
                self.retry_after.is_some()
                    || self.remaining == Some(0)
                    || said.contains("rate limit")
            }
            _ => false,
        }
    }

    /// What it says, for people.
    fn message(&self) -> String {
        let said: Value = serde_json::from_str(&self.text).unwrap_or_default();
        let message = said.get("message").and_then(Value::as_str);
        message.unwrap_or_default().to_owned()
    }

    /// How long later.
    fn wait(&self) -> Option<Duration> {
        if let Some(seconds) = self.retry_after {
            return Some(Duration::from_secs(seconds));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        // Clocks differ by a moment.
        Some(Duration::from_secs(
            self.reset?.saturating_sub(now).saturating_add(1),
        ))
    }

    fn refusal(&self) -> Failure {
        Failure::Refused {
            status: self.status,
            message: head(&clean(&self.message()).replace('\n', " "), 200),
        }
    }
}

/// A stack of our own: the usual one resends what failed, POSTs too, follows redirects with the token, and does not
/// start where the system has no certificates.
fn octocrab<C>(connector: C) -> Octocrab
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let hyper = Hyper::builder(TokioExecutor::new()).build::<_, OctoBody>(connector);
    let built = OctocrabBuilder::new_empty()
        .with_service(hyper)
        .with_auth(AuthState::None)
        .build();
    match built {
        Ok(octocrab) => octocrab,
        Err(never) => match never {},
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Odd(error.to_string()))
}

/// The cause of the causes: the ones around it only say that a request failed.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    head(&clean(&error.to_string()).replace('\n', " "), 300)
}
