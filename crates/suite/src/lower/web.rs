//! What goes over HTTP: urls, the names of headers.

use super::Lowering;
use crate::{
    Dialect, problems,
    raw::value::Text,
    yaml::{At, Key},
};
use text::{
    diagnostic::{Diagnostic, Severity},
    source::Origin,
    web,
};

impl Lowering<'_> {
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
