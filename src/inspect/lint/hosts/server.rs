//! What hosts do not take of a server as a whole.

use crate::inspect::lint::{rules::tokens, view::View};

/// Something about a server.
#[derive(Debug, Clone, Copy)]
pub(super) enum OfServer {
    /// Instructions of more characters.
    Instructions(usize),
    /// More tools.
    Tools(usize),
    /// More tokens of all tools, as estimated.
    Tokens(usize),
}

impl OfServer {
    /// In words, and what to write instead.
    pub(super) fn words(self) -> (String, &'static str) {
        let fewer = "let users choose sets of tools";
        match self {
            Self::Instructions(most) => {
                let shorter = "shorten the text; what matters comes first";
                (
                    format!("instructions of more than {most} characters"),
                    shorter,
                )
            }
            Self::Tools(most) => (format!("more than {most} tools"), fewer),
            Self::Tokens(most) => (format!("tools of more than {most} tokens"), fewer),
        }
    }

    /// Where it stands, and what stands there.
    pub(super) fn places(self, view: &View<'_>) -> Vec<(String, String)> {
        let (pointer, what, number, most) = match self {
            Self::Instructions(most) => {
                let length = view
                    .offer
                    .instructions()
                    .unwrap_or_default()
                    .chars()
                    .count();
                (
                    "/instructions",
                    "characters of the instructions",
                    length,
                    most,
                )
            }
            Self::Tools(most) => ("", "tools", view.tools.len(), most),
            Self::Tokens(most) => (
                "",
                "tokens of all tools",
                view.tools.iter().map(tokens).sum(),
                most,
            ),
        };
        let is_over = (number > most).then(|| {
            (
                pointer.to_owned(),
                format!("{number} {what}, more than {most}"),
            )
        });
        is_over.into_iter().collect()
    }
}
