//! The caller's variables in a container: those of an `env_file`, and those of `prepare`.

use std::path::Path;

use super::Lowering;
use crate::{
    problems,
    raw::value::{Text, Texts},
};
use text::environment::is_variable_name;

impl Lowering<'_> {
    /// The variables of a file with a `NAME=value` on each line. As in Docker, a name alone takes the caller's value,
    /// and is left out when there is none.
    pub(super) fn env_file(&mut self, path: &Text) -> Vec<(String, String)> {
        let text = match (self.around.read_file)(Path::new(&path.text)) {
            Ok(text) => text,
            Err(reason) => {
                self.problem(path.at, problems::unreadable_beside(&path.text, &reason));
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
            let place = format!("{}:{}", path.text, index + 1);
            if name.is_empty() || name.contains(char::is_whitespace) {
                self.problem(path.at, problems::bad_line_of_variables(&place));
            } else if let Some(value) = value {
                variables.push((name.to_owned(), value.to_owned()));
            } else {
                self.unset(path.at, problems::unset_line_of_variables(&place));
            }
        }
        variables
    }

    /// The names of the variables that the lines of `prepare` see.
    pub(super) fn prepare_env(&mut self, names: Texts) -> Vec<String> {
        for Text { text: name, at } in &names.0 {
            if is_variable_name(name) {
                self.check_set(name, *at, problems::unset_in_preparation);
            }
        }
        self.variable_names(names)
    }
}
