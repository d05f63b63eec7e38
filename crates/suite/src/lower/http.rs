//! `http`: a request of HTTP, and what is expected of the response.

use super::{
    Lowering,
    answer::sorted,
    subject::{FRAMES, OptionalSubject},
};
use crate::{
    model::expectation::{Family, HttpWanted, Wanted},
    problems,
    raw::{
        Field,
        expect::{RawExpect, RawHttpExpect},
        read::value,
        subject::RawHttp,
        value::{Text, TextTable, Texts},
    },
    yaml::{At, Key},
};
use mcp::script::subject::{Credentials, HttpCall, Subject};
use text::web;

impl Lowering<'_> {
    /// `http`
    pub(super) fn http_subject(&mut self, field: Field<Box<RawHttp>>) -> OptionalSubject {
        let (raw, at) = (field.value, field.key);
        let wanted = self.response(value(raw.expect).unwrap_or_default(), at);
        let request = self.required(raw.request, "request", "`http`", at)?;
        let (raw, at) = (request.value, request.at);
        let headers = value(raw.headers).unwrap_or_default().0.into_iter();
        let headers = headers.map(|(name, value)| {
            self.check_header_name(&name);
            (name.text, self.template(value))
        });
        let headers = headers.collect();
        let body = raw.body.map(|body| self.raw_frame(body.value.0));
        let usual = if body.is_some() { "POST" } else { "GET" };
        let method = value(raw.method).map_or_else(|| usual.to_owned(), |method| method.text);
        if !web::is_header_name(&method) {
            let problem = problems::unknown_word(&method, "HTTP method", &["GET", "POST"]);
            self.problem(at, problem);
        }
        let call = HttpCall {
            method,
            path: self.template_or(raw.path, ""),
            headers,
            credentials: match value(raw.credentials) {
                Some(true) => Credentials::Sent,
                Some(false) | None => Credentials::Withheld,
            },
            body,
            within: self.duration(raw.within).unwrap_or(FRAMES),
        };
        Some((Subject::Http(Box::new(call)), wanted))
    }

    /// `expect`; without a `status` it is one of 200 to 299.
    fn response(&mut self, raw: RawHttpExpect, at: At) -> Vec<Wanted> {
        let success = || HttpWanted::Status(vec!["2xx".to_owned()]);
        let success = raw.status.is_none().then(success);
        let mut wanted = sorted([
            self.one("status", raw.status, Self::statuses),
            self.one("headers", raw.headers, Self::response_headers),
        ]);
        let body = raw.body.map(|body| body.value.0);
        wanted.extend(self.expect(Family::Answer, body, RawExpect::KEYS));
        wanted.extend(success.map(|success| self.wanted("status", at, success)));
        wanted
    }

    /// `headers`
    #[expect(clippy::unnecessary_wraps, reason = "the lowering of a key")]
    fn response_headers(&mut self, field: Field<TextTable>) -> Option<HttpWanted> {
        let rules = field.value.0.into_iter().filter_map(|(name, value)| {
            self.check_header_name(&name);
            let value = self.text_at_load(value);
            Some((name.text, self.text_rule(value)?))
        });
        Some(HttpWanted::Headers(rules.collect()))
    }

    /// `status`
    fn statuses(&mut self, field: Field<Texts>) -> Option<HttpWanted> {
        let texts = self.texts("status", field)?;
        for text in &texts {
            let is_one = match text.text.as_bytes() {
                [b'1'..=b'5', b'x', b'x'] => true,
                [b'1'..=b'5', second, third] => second.is_ascii_digit() && third.is_ascii_digit(),
                _ => false,
            };
            if !is_one {
                let expected = "a status such as `401` or `4xx`";
                self.problem(text.at, problems::bad_number(&text.text, expected));
            }
        }
        Some(HttpWanted::Status(Texts(texts).strings()))
    }

    /// Reports an invalid name of a header.
    pub(super) fn check_header_name(&mut self, name: &Key) {
        if !web::is_header_name(&name.text) {
            self.problem_or_warning(name.at, problems::bad_header(&name.text));
        }
    }

    /// Reports an invalid url, as far as it is known before `mark` and what follows are filled in.
    pub(super) fn check_url(&mut self, url: &Text, mark: &str) {
        if let Some(fault) = web::fault_before(&url.text, mark) {
            self.problem_or_warning(url.at, problems::bad_url(&url.text, fault));
        }
    }
}
