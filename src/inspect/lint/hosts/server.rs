//! What hosts do not take of a server as a whole.

use super::constructs;
use crate::inspect::lint::{rules::tokens, view::View};

/// What to write instead of many tools.
const FEWER: &str = "let users choose sets of tools";

constructs! {
    /// Something about a server.
    OfServer {
        /// Instructions of more characters.
        Instructions(most: usize): format!("instructions of more than {most} characters") =>
            "shorten the text; what matters comes first";
        /// More tools.
        Tools(most: usize): format!("more than {most} tools") => FEWER;
        /// More tokens of all tools, as estimated.
        Tokens(most: usize): format!("tools of more than {most} tokens") => FEWER;
    }
}

impl OfServer {
    /// Where it stands, and what stands there.
    pub(super) fn place(self, view: &View<'_>) -> Option<(String, String)> {
        let instructions = view.offer.instructions().unwrap_or_default();
        let (pointer, what, number, most) = match self {
            Self::Instructions(most) => {
                let what = "characters of the instructions";
                ("/instructions", what, instructions.chars().count(), most)
            }
            Self::Tools(most) => ("", "tools", view.tools.len(), most),
            Self::Tokens(most) => {
                let all = view.tools.iter().map(tokens).sum();
                ("", "tokens of all tools", all, most)
            }
        };
        let is_over = number > most;
        is_over.then(|| {
            (
                pointer.to_owned(),
                format!("{number} {what}, more than {most}"),
            )
        })
    }
}
