//! Something wrong in the user's files, as data, and the one way it is drawn. The constructors, one for each
//! thing that can be wrong, stand in `suite::problems`.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use crate::{clean, name, source::Origin, veiled};

/// Whether a diagnostic stops the file it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The file cannot be used as it is; the exit code becomes 2.
    Error,
    /// The file works, but probably not as meant.
    Warning,
}

/// Whether the drawing may use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// ANSI colours.
    On,
    /// Plain text.
    Off,
}

/// One thing that is wrong, with everything needed to mend it.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// A stable code such as `unknown-key`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, in one line: lower case, no final period.
    pub message: String,
    /// Where; absent when the problem is about no place in a file (a folder without suites).
    pub origin: Option<Origin>,
    /// A few words beside the caret.
    pub label: Option<String>,
    /// What was expected, the nearest valid name, the next step; one line each.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// Adds the words beside the caret.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds a line of help.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Draws the diagnostic with its source line and a caret, without a final line end. Names, source lines and
    /// whatever a message quotes come from outside: nothing of them acts on a terminal.
    pub fn render(&self, colour: Colour) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(clean(&self.message)).id(self.code);
        let mut group = match &self.origin {
            Some(origin) => title.element(self.snippet(origin)),
            None => Group::with_title(title),
        };
        for help in &self.help {
            group = group.element(Level::HELP.message(clean(help)));
        }
        let renderer = match colour {
            Colour::On => Renderer::styled(),
            Colour::Off => Renderer::plain(),
        };
        renderer.render(&[group])
    }

    /// The source line with the caret.
    fn snippet<'a>(&'a self, origin: &'a Origin) -> Snippet<'a, Annotation<'a>> {
        let (lines, first, span) = origin.lines();
        let caret = veiled(&lines[..span.start]).len();
        let caret = caret..caret + veiled(&lines[span.start..span.end]).len();
        Snippet::source(veiled(lines))
            .line_start(first)
            .path(name(&origin.file.path))
            .annotation(
                AnnotationKind::Primary
                    .span(caret)
                    .label(self.label.as_deref().map(clean)),
            )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Colour, Diagnostic, Severity};
    use crate::source::{Origin, SourceFile, Span};

    #[test]
    fn a_diagnostic_shows_code_place_and_help() {
        let file = Arc::new(SourceFile::new(
            "evals/a.yaml".into(),
            "assert:\n  tool: echo\n  expect:\n    containz: [a]\n".into(),
        ));
        let drawn = Diagnostic {
            code: "unknown-key",
            severity: Severity::Error,
            message: "unknown key `containz`".into(),
            origin: Some(Origin {
                file,
                span: Span { start: 35, end: 43 },
            }),
            label: Some("not a key of `expect`".into()),
            help: vec!["did you mean `contains`?".into()],
        }
        .render(Colour::Off);
        insta::assert_snapshot!(drawn, @r"
        error[unknown-key]: unknown key `containz`
         --> evals/a.yaml:4:5
          |
        4 |     containz: [a]
          |     ^^^^^^^^ not a key of `expect`
          |
          = help: did you mean `contains`?
        ");
    }

    #[test]
    fn the_line_ends_of_windows_are_not_shown() {
        let drawn = |text: &str| {
            let start = text.find("bad").unwrap();
            let case = |end: usize| {
                let span = Span { start, end };
                let file = Arc::new(SourceFile::new("a.yaml".into(), text.to_owned()));
                let problem = Diagnostic {
                    code: "unknown-key",
                    severity: Severity::Error,
                    message: "unknown key `bad`".into(),
                    origin: Some(Origin { file, span }),
                    label: None,
                    help: Vec::new(),
                };
                problem.render(Colour::Off)
            };
            let line = start + text[start..].find('\n').unwrap_or(text.len() - start);
            // The key, the key with its value, and both with the end of the line.
            [case(start + 3), case(line), case(text.len())]
        };
        for text in ["a: 1\nbad: é\nb: 2\n", "bad: 1\n", "a: 1\nbad: 1"] {
            let windows = text.replace('\n', "\r\n");
            assert_eq!(drawn(&windows)[0], drawn(text)[0], "{text}");
            for drawn in drawn(&windows) {
                assert!(!drawn.contains(char::REPLACEMENT_CHARACTER), "{drawn}");
            }
        }
    }

    #[test]
    fn nothing_of_a_diagnostic_acts_on_a_terminal() {
        let ugly = "x\u{1b}[31m\u{9b}2J\u{202e}\u{1b}]0;t\u{7}";
        let text = format!("a: 1\r\n{ugly}: bad\r\nb: 2\r\n");
        let start = text.find("bad").unwrap();
        let file = Arc::new(SourceFile::new(format!("e\n/{ugly}.yaml"), text));
        let mut problem = Diagnostic {
            code: "unknown-key",
            severity: Severity::Error,
            message: format!("unknown key `{ugly}`"),
            origin: Some(Origin {
                file,
                span: Span {
                    start,
                    end: start + 3,
                },
            }),
            label: Some(format!("not {ugly}")),
            help: vec![format!("write {ugly}")],
        };
        let drawn = problem.render(Colour::Off);
        assert!(crate::plain::is_clean(&drawn), "{drawn:?}");
        let name = r"e ⏎ /x\u{1b}[31m\u{9b}2J\u{202e}\u{1b}]0;t\u{7}.yaml:2:19";
        assert!(drawn.contains(name), "{drawn}");
        let lines: Vec<&str> = drawn.lines().collect();
        let source = lines
            .iter()
            .position(|line| line.contains(": bad"))
            .unwrap();
        let column = |line: &str, what| line.find(what).map(|at| line[..at].chars().count());
        assert_eq!(
            column(lines[source], "bad"),
            column(lines[source + 1], "^^^"),
            "{drawn}"
        );
        problem.origin = None;
        assert!(crate::plain::is_clean(&problem.render(Colour::Off)));
    }
}
