//! Something wrong in the user's files, as data, and the one way it is drawn. The constructors, one for each
//! thing that can be wrong, stand in `suite::problems`.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::words::source::Origin;

/// Whether a diagnostic stops the file it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The file cannot be used as it is; the exit code becomes 2.
    Error,
    /// The file works, but probably not as meant.
    Warning,
}

/// Whether the drawing may use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// ANSI colours.
    On,
    /// Plain text.
    Off,
}

/// One thing that is wrong, with everything needed to mend it.
#[derive(Debug, Clone)]
pub(crate) struct Diagnostic {
    /// A stable code such as `unknown-key`.
    pub(crate) code: &'static str,
    /// How bad it is.
    pub(crate) severity: Severity,
    /// What was found, in one line: lower case, no final period.
    pub(crate) message: String,
    /// Where; absent when the problem is about no place in a file (a folder without suites).
    pub(crate) origin: Option<Origin>,
    /// A few words beside the caret.
    pub(crate) label: Option<String>,
    /// What was expected, the nearest valid name, the next step; one line each.
    pub(crate) help: Vec<String>,
}

impl Diagnostic {
    /// Draws the diagnostic with its source line and a caret, without a final line end.
    pub(crate) fn render(&self, colour: Colour) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(self.message.as_str()).id(self.code);
        let mut groups = Vec::new();
        let mut first = match &self.origin {
            Some(origin) => {
                let text = origin.file.text.as_str();
                let start = origin.span.start.min(text.len());
                let end = origin.span.end.clamp(start, text.len());
                let snippet = Snippet::source(text)
                    .path(origin.file.path.as_str())
                    .annotation(
                        AnnotationKind::Primary
                            .span(start..end)
                            .label(self.label.as_deref()),
                    );
                title.element(snippet)
            }
            None => Group::with_title(title),
        };
        for help in &self.help {
            first = first.element(Level::HELP.message(help.as_str()));
        }
        groups.push(first);
        let renderer = match colour {
            Colour::On => Renderer::styled(),
            Colour::Off => Renderer::plain(),
        };
        renderer.render(&groups)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Colour, Diagnostic, Severity};
    use crate::words::source::{Origin, SourceFile, Span};

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
}
