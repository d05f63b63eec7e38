//! The colours.

use anstyle::{AnsiColor, Style};

use check::outcome::Status;
use report::failure::Tone;
use text::diagnostic::Colour;

/// The kind of a text, which selects its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// The word of a status.
    Status(Status),
    /// A line of a failure.
    Tone(Tone),
    /// A heading.
    Heading,
    /// A warning.
    Warning,
    /// Secondary text.
    Faint,
}

/// Colours text, if colours are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Theme {
    colour: Colour,
}

impl Theme {
    /// The theme for a stream.
    pub(crate) fn new(colour: Colour) -> Self {
        Self { colour }
    }

    /// The text in its colour.
    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        let style = style(paint);
        if self.colour == Colour::Off || text.is_empty() || style.is_plain() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }
}

fn style(paint: Paint) -> Style {
    let coloured = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    match paint {
        Paint::Status(Status::Pass) => coloured(AnsiColor::Green),
        Paint::Status(Status::Fail | Status::Error) => coloured(AnsiColor::Red).bold(),
        Paint::Status(Status::Skip) | Paint::Warning => coloured(AnsiColor::Yellow),
        Paint::Heading => Style::new().bold(),
        Paint::Faint => Style::new().dimmed(),
        Paint::Tone(tone) => match tone {
            Tone::Title => coloured(AnsiColor::Red).bold(),
            Tone::Message => Style::new().bold(),
            Tone::Plain => Style::new(),
            Tone::Source => coloured(AnsiColor::Blue),
            Tone::Caret | Tone::Actual => coloured(AnsiColor::Red),
            Tone::Expected => coloured(AnsiColor::Green),
            Tone::Hint => coloured(AnsiColor::Cyan),
            Tone::Faint => Style::new().dimmed(),
        },
    }
}
