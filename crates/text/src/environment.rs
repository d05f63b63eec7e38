//! Facts about the place the program was started in, as plain values. The edge reads them once
//! (`commands`), everything else gets this value.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

/// The environment as it was at start.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Environment variables, without those whose names or values are not Unicode.
    pub variables: BTreeMap<String, String>,
    /// Those: to be handed on, never to be read.
    pub unreadable: BTreeMap<OsString, OsString>,
    /// Variables whose values nothing may show, whoever takes them.
    pub confidential: Vec<String>,
    /// The caller's directory.
    pub directory: PathBuf,
    /// The path of the running executable.
    pub executable: PathBuf,
    /// What opens and starts the program that runs, whatever became of its file.
    pub program: PathBuf,
    /// Cores this process may use, at least 1.
    pub cores: usize,
    /// What processes that inherit it get.
    pub inheritance: Inheritance,
}

/// What processes that inherit an environment get of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Inheritance {
    /// All of it.
    #[default]
    Everything,
    /// Nothing that lets its holder act as this job of a workflow.
    NothingOfTheJob,
}

/// Variables that name the command files of a workflow step.
pub const COMMAND_FILES: [&str; 5] = [
    "GITHUB_ENV",
    "GITHUB_OUTPUT",
    "GITHUB_PATH",
    "GITHUB_STATE",
    "GITHUB_STEP_SUMMARY",
];

impl Environment {
    /// The variables that processes inherit.
    pub fn inherited(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        let readable = self.variables.iter();
        let readable = readable.map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        let unreadable = self.unreadable.iter();
        readable
            .chain(unreadable.map(|(name, value)| (name.as_os_str(), value.as_os_str())))
            .filter(|(name, _)| match self.inheritance {
                Inheritance::Everything => true,
                Inheritance::NothingOfTheJob => !is_of_the_job(&name.to_string_lossy()),
            })
    }

    /// A variable as it was given, if it is set.
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        let readable = self.variable(name).map(OsStr::new);
        readable.or_else(|| {
            self.unreadable
                .get(OsStr::new(name))
                .map(OsString::as_os_str)
        })
    }

    /// Whether a variable is set to what is not Unicode.
    pub fn is_unreadable(&self, name: &str) -> bool {
        self.unreadable.contains_key(OsStr::new(name))
    }

    /// What a variable says, if it says anything.
    pub fn set(&self, name: &str) -> Option<&str> {
        let value = self.variable(name).map(str::trim);
        value.filter(|value| !value.is_empty())
    }

    /// The value of a variable, if it is set.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }
}

/// Whether a variable belongs to the job of a workflow: its tokens, its inputs, its files.
fn is_of_the_job(name: &str) -> bool {
    name.starts_with("ACTIONS_")
        || name.starts_with("INPUT_")
        || name.starts_with("STATE_")
        || name == "GITHUB_TOKEN"
        || COMMAND_FILES.contains(&name)
}

/// Whether a variable can be called so: the system takes all but an equals sign, and nobody means a sign of the shell
/// or a blank.
pub fn is_variable_name(name: &str) -> bool {
    let stray = |character: char| matches!(character, '=' | '$' | '{' | '}' | '\0');
    !name.is_empty() && !name.contains(stray) && !name.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::is_variable_name;

    #[test]
    fn a_name_has_no_sign_of_the_shell() {
        for name in ["HOME", "_x1", "ProgramFiles(x86)", "npm_config_a-b"] {
            assert!(is_variable_name(name), "{name}");
        }
        for name in ["", "$HOME", "${HOME}", "A=B", "A B", " A"] {
            assert!(!is_variable_name(name), "{name}");
        }
    }
}
