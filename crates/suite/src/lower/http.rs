//! `http`: a request of HTTP, and what must hold for the response.

use super::{
    Lowering,
    answer::WantedList,
    subject::{FRAMES, Lowered},
};
use crate::{
    model::expectation::{Expectation, Family, HttpWanted, Wanted},
    problems,
    raw::{
        Field,
        expect::{RawExpect, RawHttpExpect},
        subject::{RawHttp, RawHttpRequest},
        value::{Anything, Texts},
    },
    yaml::At,
};
use mcp::script::subject::{Credentials, HttpCall, Subject};
use text::web;

/// What is wanted where nothing is said of the status.
const SUCCESS: &str = "2xx";

impl Lowering<'_> {
    /// `http`
    pub(super) fn http_subject(&mut self, field: Field<Box<RawHttp>>) -> Lowered {
        let at = field.key;
        let RawHttp { request, expect } = *field.value;
        let expect = expect.map(|field| field.value).unwrap_or_default();
        let wanted = self.response(expect, at);
        let request = self.required(request, "request", "`http`", at)?;
        let RawHttpRequest {
            method,
            path,
            headers,
            credentials,
            body,
            within,
        } = *request.value;
        let headers = headers.map(|field| field.value.0).unwrap_or_default();
        let headers = headers.into_iter().map(|(name, value)| {
            self.check_header_name(&name);
            (name.text, self.template(value))
        });
        let headers = headers.collect();
        let body = body.map(|Field { value, .. }| {
            let Anything(node) = value;
            self.raw_frame(node)
        });
        let usual = if body.is_some() { "POST" } else { "GET" };
        let method = method.map_or_else(|| usual.to_owned(), |method| method.value.text);
        if !web::is_header_name(&method) {
            self.problem(request.at, |origin| {
                problems::unknown_word(origin, &method, "method of HTTP", &["GET", "POST"])
            });
        }
        let call = HttpCall {
            method,
            path: self.template_or(path, ""),
            headers,
            credentials: match credentials.map(|field| field.value) {
                Some(true) => Credentials::Sent,
                Some(false) | None => Credentials::Withheld,
            },
            body,
            within: self.duration(within).unwrap_or(FRAMES),
        };
        Some((Subject::Http(Box::new(call)), wanted))
    }

    /// `expect`
    fn response(&mut self, raw: RawHttpExpect, at: At) -> Vec<Wanted> {
        let RawHttpExpect {
            status,
            headers,
            body,
        } = raw;
        let mut list = WantedList::default();
        let is_said = status.is_some();
        list.add("status", status, |field| self.statuses(field));
        list.add("headers", headers, |field| {
            let rules = field.value.0.into_iter().filter_map(|(name, value)| {
                self.check_header_name(&name);
                let value = self.text_at_load(value);
                Some((name.text, self.text_rule(value)?))
            });
            Some(HttpWanted::Headers(rules.collect()))
        });
        let mut wanted = list.finish(self);
        if let Some(body) = body {
            wanted.extend(self.expect(Family::Answer, body.value.node, RawExpect::KEYS));
        }
        if !is_said {
            let success = HttpWanted::Status(vec![SUCCESS.to_owned()]);
            wanted.push(self.wanted("status", at, Expectation::Http(success)));
        }
        wanted
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
                self.problem(text.at, |origin| {
                    problems::bad_number(origin, &text.text, expected)
                });
            }
        }
        Some(HttpWanted::Status(Texts(texts).strings()))
    }
}
