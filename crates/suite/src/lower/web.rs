//! What goes over HTTP: the subject `http`, urls, the names of headers.

use std::ops::RangeInclusive;

use super::{Lowering, expectation::has_markers, subject::Made};
use crate::{
    Dialect,
    model::expectation::Family,
    problems,
    raw::{
        Field,
        expect::{RawExpect, RawHttpExpect, RawHttpRequest, RawHttpSubject},
        value::{Anything, Count, Text},
    },
    yaml::{At, Key, Node},
};
use mcp::script::subject::Subject;
use text::{
    diagnostic::{Diagnostic, Severity},
    source::Origin,
    web,
};

/// The statuses that a response can have.
const STATUSES: RangeInclusive<u64> = 100..=999;

impl Lowering<'_> {
    /// `http`: its keys are checked, its value is kept as it is.
    pub(super) fn http_subject(&mut self, field: Field<Box<RawHttpSubject>>, whole: Node) -> Made {
        let at = field.key;
        let RawHttpSubject { request, expect } = *field.value;
        if let Some(request) = self.required(request, "request", "`http`", at) {
            self.check_request(request.value);
        }
        if let Some(expect) = self.required(expect, "expect", "`http`", at) {
            self.check_response(expect.value);
        }
        let value = self.value_template(whole);
        (Subject::Http(value.value), Vec::new())
    }

    /// Tells what is wrong with a request.
    fn check_request(&mut self, request: RawHttpRequest) {
        let RawHttpRequest {
            method: _,
            path: _,
            headers,
            body: _,
        } = request;
        for (name, _) in headers.into_iter().flat_map(|headers| headers.value.0) {
            self.check_header_name(&name);
        }
    }

    /// Tells what is wrong with what is expected of a response.
    fn check_response(&mut self, expect: RawHttpExpect) {
        let RawHttpExpect {
            status,
            headers,
            body,
        } = expect;
        if let Some(status) = status {
            if status.value.0.is_empty() {
                self.problem(status.key, |origin| {
                    problems::at_least_one(origin, "status")
                });
            }
            for Count(number) in status.value.0 {
                if !STATUSES.contains(&number) {
                    let place = self.within(status.at, &number.to_string());
                    self.problem(place, |origin| {
                        let expected = "a status from 100 to 999";
                        problems::bad_number(origin, &number.to_string(), expected)
                    });
                }
            }
        }
        for (name, Anything(node)) in headers.into_iter().flat_map(|headers| headers.value.0) {
            self.check_header_name(&name);
            if !has_markers(&node) {
                self.value_rule(node);
            }
        }
        if let Some(body) = body {
            self.expect(Family::Answer, body.value.node, RawExpect::KEYS);
        }
    }

    /// Tells the name of a header that none can have.
    pub(super) fn check_header_name(&mut self, name: &Key) {
        if !web::is_header_name(&name.text) {
            self.never_goes_out(name.at, |origin| problems::bad_header(origin, &name.text));
        }
    }

    /// Tells a text that is no url, as far as it is known before `mark` and what follows are filled in.
    pub(super) fn check_url(&mut self, url: &Text, mark: &str) {
        if let Some(fault) = web::fault_before(&url.text, mark) {
            self.never_goes_out(url.at, |origin| problems::bad_url(origin, &url.text, fault));
        }
    }

    /// Notes what no request can be made of. The Go tool finds out when it sends one.
    fn never_goes_out(&mut self, at: At, make: impl FnOnce(Origin) -> Diagnostic) {
        let dialect = self.dialect();
        self.problem(at, |origin| {
            let mut problem = make(origin);
            if dialect == Dialect::Compat {
                problem.severity = Severity::Warning;
            }
            problem
        });
    }
}
