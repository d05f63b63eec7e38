//! Requests to GitHub's API, one at a time, each within a deadline: which are repeated, which are asked elsewhere. What
//! an answer means is known by `answer`, what is asked by the files beside this one.

use std::time::Duration;

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

use super::{
    answer::{Answer, Asked, Meaning, shown},
    failure::Failure,
    patience::Patience,
    proxy::Proxy,
};
use crate::deliver::facts::Here;
use mcp::transport::tls;
use text::{innermost, redact::Secrets};

/// How long making a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a request may take.
const REQUEST: Duration = Duration::from_secs(30);

/// How often what may be repeated is tried.
const TRIES: u32 = 3;

/// How often a question is asked elsewhere.
const MOST_MOVES: u32 = 3;

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
    patience: Patience,
    /// What nothing that GitHub says may show.
    secrets: Secrets,
}

/// One question.
struct Question<'a> {
    method: Method,
    url: String,
    body: Option<&'a Value>,
    accept: &'static str,
    asked: Asked,
}

impl Client {
    /// A client for what the surroundings name. Must be made inside of a runtime.
    pub(super) fn new(here: &Here) -> Result<Self, Failure> {
        let token = here.token().ok_or(Failure::NoToken)?;
        let mut authorization = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| Failure::Setup("the token holds signs that no token has".to_owned()))?;
        authorization.set_sensitive(true);
        let mut secrets = Secrets::default();
        secrets.add_token(token);
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
            patience: Patience::new(),
            secrets,
        })
    }

    /// Reads something.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let text = self.ask(self.question(Method::GET, path, None)).await?;
        self.read(&text)
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
        self.read(&self.ask(question).await?)
    }

    /// Changes something.
    pub(super) async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<T, Failure> {
        let question = self.question(Method::PATCH, path, Some(body));
        self.read(&self.ask(question).await?)
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
                asked: Asked::Query,
            };
            match self.ask(question).await {
                Err(failure) if failure.is_unclear() && tries < TRIES => {
                    sleep(PAUSE * tries).await;
                }
                // It changes nothing, so that nothing is open.
                Err(Failure::Unclear(problem)) => return Err(Failure::Unreachable(problem)),
                Err(failure) => return Err(failure),
                Ok(text) => {
                    let mut answer: Value = self.read(&text)?;
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
            asked: Asked::Resource,
        }
    }

    /// Asks until there is an answer to go by.
    async fn ask(&self, mut question: Question<'_>) -> Result<String, Failure> {
        // Nobody knows whether a POST without an answer took effect; all others may be repeated.
        let repeatable = question.method != Method::POST;
        let (mut tries, mut moves) = (1, 0);
        let mut has_waited = false;
        loop {
            let open = match self.once(&question).await {
                Ok(answer) => match answer.meaning(question.asked, &self.secrets) {
                    Meaning::Good => return Ok(answer.text),
                    Meaning::Limit => {
                        let wait = answer.wait().filter(|_| !has_waited);
                        self.wait(wait).await?;
                        has_waited = true;
                        continue;
                    }
                    Meaning::Moved if moves == MOST_MOVES => return Err(Failure::Moving(moves)),
                    // Nothing happened at the old place; a repository keeps its place for all that it was renamed.
                    Meaning::Moved => {
                        question.url = answer.target(&question.url)?;
                        moves += 1;
                        continue;
                    }
                    Meaning::Trouble(problem) => problem,
                    Meaning::Refusal(failure) => return Err(failure),
                },
                Err(problem) => problem,
            };
            if !repeatable {
                return Err(Failure::Unclear(open));
            }
            if tries >= TRIES || Instant::now() >= self.patience.deadline() {
                return Err(Failure::Unreachable(open));
            }
            sleep(PAUSE * 2_u32.pow(tries - 1)).await;
            tries += 1;
        }
    }

    /// Waits for a rate limit to pass, if that is soon enough.
    async fn wait(&self, wait: Option<Duration>) -> Result<(), Failure> {
        let Some(wait) = wait else {
            return Err(Failure::Limited);
        };
        if self.patience.wait(wait).await {
            Ok(())
        } else {
            Err(Failure::Limited)
        }
    }

    /// Asks once. The problem tells nothing of the request but its place.
    async fn once(&self, question: &Question<'_>) -> Result<Answer, String> {
        let deadline = self.patience.deadline().min(Instant::now() + REQUEST);
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
                .map_err(|error| self.innermost(&error))?;
            let response = self.octocrab.send(request).await;
            let response = response.map_err(|error| match &self.proxy {
                None => self.innermost(&error),
                Some(proxy) => format!(
                    "{} (through the proxy {})",
                    self.innermost(&error),
                    proxy.shown()
                ),
            })?;
            let (parts, body) = response.into_parts();
            let body = Limited::new(body, LONGEST_ANSWER)
                .collect()
                .await
                .map_err(|error| format!("the answer broke off: {error}"))?;
            let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
            Ok(Answer::new(parts.status, &parts.headers, text))
        };
        match timeout_at(deadline, exchange).await {
            Ok(ended) => ended,
            Err(_) => Err("GitHub did not answer in time".to_owned()),
        }
    }

    fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, Failure> {
        serde_json::from_str(text)
            .map_err(|error| Failure::Odd(shown(&error.to_string(), &self.secrets)))
    }

    /// The cause of the causes: the ones around it only say that a request failed.
    fn innermost(&self, error: &dyn std::error::Error) -> String {
        shown(&innermost(error), &self.secrets)
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
