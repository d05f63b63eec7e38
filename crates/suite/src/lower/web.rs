//! What goes over HTTP: urls, the names of headers.

use super::Lowering;
use crate::{problems, raw::value::Text, yaml::Key};
use text::web;

impl Lowering<'_> {
    /// Tells the name of a header that none can have.
    pub(super) fn check_header_name(&mut self, name: &Key) {
        if !web::is_header_name(&name.text) {
            self.problem_or_warning(name.at, |origin| problems::bad_header(origin, &name.text));
        }
    }

    /// Tells a text that is no url, as far as it is known before `mark` and what follows are filled in.
    pub(super) fn check_url(&mut self, url: &Text, mark: &str) {
        if let Some(fault) = web::fault_before(&url.text, mark) {
            self.problem_or_warning(url.at, |origin| problems::bad_url(origin, &url.text, fault));
        }
    }
}
