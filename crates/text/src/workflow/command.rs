//! The commands that we ourselves give to the runner of a workflow. Nothing else of what we write is one.

use std::fmt::{self, Display};

/// A line that the runner obeys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// It shows this value nowhere.
    AddMask(String),
    /// It marks a line of a file.
    Annotate(Annotation),
    /// It folds the lines up to the end of the group, behind this title.
    Group(String),
    /// The end of the group.
    EndGroup,
    /// From here on it obeys nothing but the end with the same token.
    StopCommands(String),
    /// It obeys again.
    ResumeCommands(String),
}

/// How bad what is marked is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Red.
    Error,
    /// Worth a look.
    Warning,
    /// Good to know.
    Notice,
}

/// A mark, on a line or on the whole step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// How bad it is.
    pub kind: Kind,
    /// The place it is about.
    pub place: Option<Place>,
    /// A few words above the message.
    pub title: String,
    /// What there is to say.
    pub message: String,
}

/// A place in a file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path from the root of the repository.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddMask(value) => write!(out, "::add-mask::{}", Data(value)),
            Self::Annotate(annotation) => annotation.fmt(out),
            Self::Group(title) => write!(out, "::group::{}", Data(title)),
            Self::EndGroup => out.write_str("::endgroup::"),
            Self::StopCommands(token) => write!(out, "::stop-commands::{}", Data(token)),
            Self::ResumeCommands(token) => write!(out, "::{}::", Data(token)),
        }
    }
}

impl Display for Annotation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.kind {
            Kind::Error => "::error ",
            Kind::Warning => "::warning ",
            Kind::Notice => "::notice ",
        })?;
        if let Some(Place { file, line, column }) = &self.place {
            write!(out, "file={},line={line},col={column},", Property(file))?;
        }
        write!(
            out,
            "title={}::{}",
            Property(&self.title),
            Data(&self.message)
        )
    }
}

/// What stands behind a command, with its line ends escaped.
struct Data<'a>(&'a str);

/// The value of a property, which ends at a comma, and all of them at two colons.
struct Property<'a>(&'a str);

impl Display for Data<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(self.0, &['%', '\r', '\n'], out)
    }
}

impl Display for Property<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(self.0, &['%', '\r', '\n', ':', ','], out)
    }
}

/// The text with these signs written as `%` and their two hexadecimal digits.
fn escaped(text: &str, signs: &[char], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    for character in text.chars() {
        if signs.contains(&character) {
            write!(out, "%{:02X}", u32::from(character))?;
        } else {
            write!(out, "{character}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Annotation, Command, Kind, Place};
    use crate::workflow::runner::read;

    fn annotation(title: &str, message: &str) -> Annotation {
        Annotation {
            kind: Kind::Error,
            place: Some(Place {
                file: format!("evals/{title}.yaml"),
                line: 3,
                column: 7,
            }),
            title: title.to_owned(),
            message: message.to_owned(),
        }
    }

    #[test]
    fn signs_that_end_something_are_escaped() {
        let shown = Command::Annotate(annotation("a,b::c", "100%\r\n::x")).to_string();
        assert_eq!(
            shown,
            "::error file=evals/a%2Cb%3A%3Ac.yaml,line=3,col=7,title=a%2Cb%3A%3Ac::100%25%0D%0A::x"
        );
        assert_eq!(
            Command::AddMask("a%\nb".into()).to_string(),
            "::add-mask::a%25%0Ab"
        );
    }

    proptest! {
        #[test]
        fn the_runner_reads_what_was_meant(
            title in "[:,%=#\\[\\]a\r\n0-9A-D]{1,12}",
            message in "[:,%#\\[\\]a\r\n0-9A-D]{0,20}x",
        ) {
            let line = format!("{}\n", Command::Annotate(annotation(&title, &message)));
            let found = read(line.as_bytes()).annotations("error").remove(0);
            prop_assert_eq!(&found.data, &message);
            prop_assert_eq!(&found.properties["title"], &title);
            prop_assert_eq!(&found.properties["line"], "3");
        }
    }
}
