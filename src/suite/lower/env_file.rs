//! `env_file`: the variables of a container that stand in a file beside the suite.

use std::path::Path;

use super::Lowering;
use crate::suite::{problems, raw::value::Text};

impl Lowering<'_> {
    /// The variables of a file with a `NAME=value` on each line. A name alone takes the caller's value.
    pub(super) fn env_file(&mut self, path: &Text) -> Vec<(String, String)> {
        let text = match (self.around.read_file)(Path::new(&path.text)) {
            Ok(text) => text,
            Err(reason) => {
                self.problem(path.at, |origin| {
                    problems::unreadable_beside(origin, &path.text, &reason)
                });
                return Vec::new();
            }
        };
        let mut variables = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let own = || {
                let value = self.around.environment.variable(line.trim_end());
                value.unwrap_or_default()
            };
            let (name, value) = line.split_once('=').unwrap_or_else(|| (line, own()));
            let name = name.trim_end();
            if name.is_empty() || name.contains(char::is_whitespace) {
                let place = format!("{}:{}", path.text, index + 1);
                self.problem(path.at, |origin| {
                    problems::bad_line_of_variables(origin, &place, name)
                });
                continue;
            }
            variables.push((name.to_owned(), value.to_owned()));
        }
        variables
    }
}
