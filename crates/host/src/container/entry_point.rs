//! What an image's entry point makes of a server's command: whether it hears of it, and what is started in the end.
//! The command line itself is made in [`super::body`].

use super::{
    body::{Command, words},
    image::ReadyImage,
};
use suite::model::container::Container;

/// What an image's entry point makes of a command of the suite, where that is not what the suite says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryPoint {
    /// A line of shell that never hears of it.
    Swallows,
    /// A program that has it for arguments: the whole line.
    Starts(String),
}

/// What the image's entry point makes of a command; nothing when it starts what the suite says.
pub(super) fn of(
    command: &Command,
    container: &Container,
    image: &ReadyImage,
) -> Option<EntryPoint> {
    let is_said = command.program.is_some() || !command.args.is_empty();
    let front = container.front(command.program.as_deref());
    if !is_said || front.is_some() || image.entrypoint.is_empty() {
        return None;
    }
    if let Some(line) = line_of_shell(&image.entrypoint) {
        return (!takes_arguments(line)).then_some(EntryPoint::Swallows);
    }
    // Arguments alone are meant for it.
    if command.program.is_none() || passes_on(&image.entrypoint) {
        return None;
    }
    let line = words(image, None, (command.program.as_ref(), &command.args));
    Some(EntryPoint::Starts(line.join(" ")))
}

/// What `sh -c` has to run.
fn line_of_shell(entrypoint: &[String]) -> Option<&str> {
    let [shell, flag, line] = entrypoint else {
        return None;
    };
    (shell.ends_with("sh") && flag == "-c").then_some(line)
}

/// Whether a line of shell speaks of what stands behind it.
fn takes_arguments(line: &str) -> bool {
    let takes = ["$@", "$*", "${@", "${*", "$0", "$1", "${0", "${1"];
    takes.iter().any(|sign| line.contains(sign))
}

/// Whether an entry point is made to start what stands behind it.
fn passes_on(entrypoint: &[String]) -> bool {
    let starters = ["tini", "dumb-init", "catatonit", "env", "exec", "--"];
    entrypoint
        .iter()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .any(|name| name.contains("entrypoint") || starters.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::{EntryPoint, of};
    use crate::container::{body::Command, image::ReadyImage};
    use suite::model::container::Container;

    fn own(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// What the entry point of an image makes of a program; `said` stands for it in the suite.
    fn made(
        entrypoint: &[&str],
        said: Option<&[&str]>,
        program: Option<&str>,
    ) -> Option<EntryPoint> {
        let image = ReadyImage {
            id: "sha256:1".into(),
            digest: None,
            name: "server:1".into(),
            user: None,
            workdir: None,
            env: Vec::new(),
            entrypoint: own(entrypoint),
            command: Vec::new(),
            volumes: Vec::new(),
            platform: "linux/amd64".into(),
        };
        let container = Container {
            entrypoint: said.map(own),
            ..Container::default()
        };
        let command = Command {
            program: program.map(str::to_owned),
            args: own(&["a"]),
            ..Command::default()
        };
        of(&command, &container, &image)
    }

    #[test]
    fn a_line_of_shell_swallows_what_stands_behind_it() {
        let line = ["/bin/sh", "-c", "exec serve"];
        assert_eq!(made(&line, None, Some("other")), Some(EntryPoint::Swallows));
        assert_eq!(made(&line, None, None), Some(EntryPoint::Swallows));
        assert_eq!(made(&line, Some(&[]), Some("other")), None);
        let passing = ["sh", "-c", "exec \"$0\" \"$@\""];
        assert_eq!(made(&passing, None, Some("other")), None);
    }

    #[test]
    fn another_program_takes_the_command_for_arguments() {
        let starts = |line: &str| Some(EntryPoint::Starts(line.to_owned()));
        let seen = made(&["python3"], None, Some("python3"));
        assert_eq!(seen, starts("python3 python3 a"));
        assert_eq!(made(&["python3"], Some(&[]), Some("python3")), None);
        assert_eq!(made(&["python3"], None, None), None);
        assert_eq!(made(&[], None, Some("python3")), None);
        assert_eq!(made(&["/docker-entrypoint.sh"], None, Some("node")), None);
        assert_eq!(made(&["/usr/bin/tini", "-g"], None, Some("node")), None);
    }
}
