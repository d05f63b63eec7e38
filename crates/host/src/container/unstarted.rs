//! Why a server never spoke although its container was made: read from the last words of whoever was to start it, and
//! from its program in the image.

use std::path::Path;

use super::{
    Containers,
    entry_point::EntryPoint,
    program::{self, Lacking},
    refusal::{About, ContainerFailure, SearchPath, explain_text, wrong_platform},
};
use mcp::observation::process::ExitStatus;

/// What messages about a container name.
#[derive(Debug)]
pub(super) struct OwnAbout {
    pub(super) image: String,
    pub(super) platform: String,
    pub(super) engine: String,
    pub(super) program: String,
    /// The image as a command line names it.
    pub(super) reference: String,
    /// The directory it starts in.
    pub(super) directory: String,
    /// Where the program is looked for.
    pub(super) path: SearchPath,
    /// What the image's entry point made of the server's command.
    pub(super) entry_point: Option<EntryPoint>,
    /// Where the program may be in the image.
    pub(super) places: Vec<String>,
}

impl OwnAbout {
    pub(super) fn about(&self) -> About<'_> {
        About {
            image: &self.image,
            platform: &self.platform,
            engine: &self.engine,
            program: &self.program,
            reference: &self.reference,
            directory: &self.directory,
            path: self.path,
        }
    }

    /// What the program in a container lacks.
    pub(super) async fn lacks(&self, crew: &Containers, id: &str) -> Option<Lacking> {
        program::lacks(&crew.engine.docker, id, &self.places, &self.engine).await
    }
}

/// What whoever was to start the server said of it.
pub(super) fn told(said: &str, status: ExitStatus, about: &OwnAbout) -> Option<ContainerFailure> {
    // The init process tells what it could not start: Docker's, or Podman's, whose exit code tells nothing.
    let told = said.lines().find(|line| {
        let init = line.starts_with("[FATAL ") || line.starts_with("ERROR (catatonit");
        // Without it, the runtime itself.
        let runtime = line
            .strip_prefix("exec ")
            .and_then(|line| line.split_once(": "));
        let ours = |(place, _): (&str, &str)| about.places.iter().any(|own| own == place);
        init && line.contains("exec ") || runtime.is_some_and(ours)
    });
    match status {
        ExitStatus::Code(1 | 126 | 127) if told.is_some() => {
            Some(explain_text(told?.to_lowercase(), about.about()))
        }
        ExitStatus::Code(_) if said.to_lowercase().contains("exec format error") => {
            Some(wrong_platform(about.about(), None))
        }
        ExitStatus::Code(_)
        | ExitStatus::Signal(_)
        | ExitStatus::LikeSignal(_)
        | ExitStatus::OutOfMemory
        | ExitStatus::Removed
        | ExitStatus::Unknown => None,
    }
}

/// Whether a look at the program may tell more than what was said.
pub(super) fn asks_to_look(told: Option<&ContainerFailure>, said: &str, about: &OwnAbout) -> bool {
    match told {
        Some(
            ContainerFailure::NoProgram { .. }
            | ContainerFailure::WrongPlatform { .. }
            | ContainerFailure::NotExecutable { .. },
        ) => true,
        Some(_) => false,
        None => said.lines().any(|line| is_of_shell(line, about)),
    }
}

/// Whether a shell says this of a line of the program: what cannot be run is handed to one, which takes it for a script.
fn is_of_shell(line: &str, about: &OwnAbout) -> bool {
    let Some((place, said)) = line.split_once(": ") else {
        return false;
    };
    let said = said.strip_prefix("line ").unwrap_or(said);
    let number = said.split_once(':').map_or("", |(number, _)| number);
    // Whoever looks along `PATH` may write a place with one `/` more.
    let is_own = |own: &String| Path::new(own) == Path::new(place);
    about.places.iter().any(is_own)
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// What was said, with what the program lacks.
pub(super) fn refined(
    failure: ContainerFailure,
    lacks: Option<&Lacking>,
    about: &OwnAbout,
) -> ContainerFailure {
    let is_directory = lacks == Some(&Lacking::File);
    // Of a file that may not be executed its mode is the reason, whatever else it lacks; a directory on the `PATH` is
    // passed over.
    let was_denied = matches!(failure, ContainerFailure::NotExecutable { .. });
    let is_absent = matches!(failure, ContainerFailure::NoProgram { .. });
    let was_looked_at = if was_denied {
        is_directory
    } else {
        asks_to_look(Some(&failure), "", about) && !(is_absent && is_directory)
    };
    match lacks {
        Some(Lacking::Platform(program)) if was_looked_at => {
            wrong_platform(about.about(), program.as_deref())
        }
        Some(lacking) if was_looked_at => ContainerFailure::Lacks {
            program: about.program.clone(),
            image: about.image.clone(),
            lacking: lacking.clone(),
        },
        Some(_) | None => failure,
    }
}

/// What is to be said of a program that a shell has read.
pub(super) fn misread(lacks: Option<&Lacking>, about: &OwnAbout) -> Option<ContainerFailure> {
    match lacks? {
        Lacking::Platform(program) => Some(wrong_platform(about.about(), program.as_deref())),
        // A script that a shell runs has all it needs for that.
        Lacking::Interpreter(_) | Lacking::Loader(_) | Lacking::FirstLine | Lacking::File => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{OwnAbout, asks_to_look, misread, refined, told};
    use crate::container::{program::Lacking, refusal::SearchPath};
    use mcp::observation::process::ExitStatus;

    fn about() -> OwnAbout {
        OwnAbout {
            image: "server:1".into(),
            platform: "linux/amd64".into(),
            engine: "linux/amd64".into(),
            program: "srv".into(),
            reference: "server:1".into(),
            directory: "/".into(),
            path: SearchPath::Image,
            entry_point: None,
            places: vec!["/bin/srv".into(), "/srv".into()],
        }
    }

    #[test]
    fn the_words_of_a_shell_ask_to_look_at_the_program() {
        let case = |said: &str| asks_to_look(None, said, &about());
        assert!(case("/srv: line 1: syntax error: unexpected \")\"\n"));
        assert!(case("noise\n/bin/srv: 3: \u{7f}ELF: not found"));
        assert!(case("//srv: 1: Syntax error: \")\" unexpected"));
        assert!(!case("/srv: configuration not found"));
        assert!(!case("/srv: : 3: no"));
        assert!(!case("/other: line 1: syntax error"));
    }

    #[test]
    fn a_directory_in_the_place_of_a_program_is_told_and_a_file_by_its_mode() {
        let denied = "[FATAL tini (6)] exec /srv failed: Permission denied";
        let case = |lacks: Option<Lacking>, wanted: &str, help: &str| {
            let failure = told(denied, ExitStatus::Code(126), &about()).unwrap();
            assert!(asks_to_look(Some(&failure), denied, &about()));
            let failure = refined(failure, lacks.as_ref(), &about());
            assert!(failure.to_string().ends_with(wanted), "{failure}");
            assert!(failure.help().unwrap().contains(help), "{failure}");
        };
        case(Some(Lacking::File), "run: it is a directory", "inside it");
        case(Some(Lacking::FirstLine), "permission denied", "chmod +x");
        case(None, "permission denied", "chmod +x");
    }

    #[test]
    fn a_program_for_another_platform_is_told_however_it_failed() {
        let arm = Lacking::Platform(Some("linux/arm64".into()));
        let wanted = "it says that it is for linux/amd64, and its program is for linux/arm64";
        let init = "[FATAL tini (6)] exec srv failed: No such file or directory";
        for said in [init, "exec /srv: exec format error"] {
            let failure = told(said, ExitStatus::Code(127), &about()).unwrap();
            let shown = refined(failure, Some(&arm), &about()).to_string();
            assert!(shown.contains(wanted), "{shown}");
        }
        let shown = misread(Some(&arm), &about()).unwrap().to_string();
        assert!(shown.contains(wanted), "{shown}");
        assert_eq!(misread(Some(&Lacking::FirstLine), &about()), None);
        let failure = told(
            "exec /srv: exec format error",
            ExitStatus::Code(1),
            &about(),
        );
        let shown = refined(failure.unwrap(), Some(&Lacking::FirstLine), &about());
        assert_eq!(
            shown.to_string(),
            "program `srv` of the image `server:1` cannot be run: it is a script without a `#!` line"
        );
    }
}
