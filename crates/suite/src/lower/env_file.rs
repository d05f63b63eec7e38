//! The variables of a container that are the caller's own: those that an `env_file` beside the suite names, and those
//! that the lines of `prepare` see.

use std::path::Path;

use super::Lowering;
use crate::{
    problems,
    raw::value::{Text, Texts},
};
use text::environment::is_variable_name;

impl Lowering<'_> {
    /// The variables of a file with a `NAME=value` on each line. A name alone takes the caller's value, and
    /// without one it is left out, as engines do it.
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
            let (name, value) = match line.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (line, self.around.environment.variable(line.trim_end())),
            };
            let name = name.trim_end();
            let place = || format!("{}:{}", path.text, index + 1);
            if name.is_empty() || name.contains(char::is_whitespace) {
                let place = place();
                self.problem(path.at, |origin| {
                    problems::bad_line_of_variables(origin, &place)
                });
                continue;
            }
            if let Some(value) = value {
                variables.push((name.to_owned(), value.to_owned()));
            } else {
                let origin = self.reading.problems.origin(path.at);
                self.unset(problems::unset_line_of_variables(origin, &place()));
            }
        }
        variables
    }

    /// The names of the variables that are there while the lines of `prepare` run.
    pub(super) fn prepare_env(&mut self, names: Texts) -> Vec<String> {
        for Text { text: name, at } in &names.0 {
            if is_variable_name(name) {
                self.check_set(name, *at, problems::unset_in_preparation);
            }
        }
        self.variable_names(names)
    }
}
