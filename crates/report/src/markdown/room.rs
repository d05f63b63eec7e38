//! The bytes of a page, given to its parts in the order of their importance. A part that does not fit goes whole; of a list
//! the rows behind the last one that fits go.

/// What is left of a page's budget.
#[derive(Debug)]
pub(crate) struct Room {
    pub(super) left: usize,
    /// What did not fit.
    left_out: Vec<String>,
}

impl Room {
    pub(super) fn of(left: usize) -> Self {
        let left_out = Vec::new();
        Self { left, left_out }
    }

    /// The text, or nothing if it does not fit.
    pub(super) fn whole(&mut self, text: String) -> Option<String> {
        self.left = self.left.checked_sub(text.len())?;
        Some(text)
    }

    /// The text; if it does not fit nothing, and its name among what is left out.
    pub(super) fn part(&mut self, text: String, name: &str) -> String {
        self.whole(text).unwrap_or_else(|| {
            self.left_out.push(name.to_owned());
            String::new()
        })
    }

    /// As many rows as fit into `most` bytes, between two texts; nothing if none does. Tells how many.
    pub(super) fn rows(
        &mut self,
        (open, close): (&str, &str),
        most: usize,
        rows: impl Iterator<Item = String>,
    ) -> (String, usize) {
        let most = most.min(self.left).saturating_sub(close.len());
        let (mut text, mut shown) = (open.to_owned(), 0);
        for row in rows {
            if text.len() + row.len() > most {
                break;
            }
            text.push_str(&row);
            shown += 1;
        }
        if shown == 0 {
            return (String::new(), 0);
        }
        text.push_str(close);
        self.left -= text.len();
        (text, shown)
    }

    /// As many rows as fit; the others are among what is left out, by this name.
    pub(super) fn list(
        &mut self,
        around: (&str, &str),
        (total, noun): (usize, &str),
        rows: impl Iterator<Item = String>,
    ) -> String {
        let (text, shown) = self.rows(around, usize::MAX, rows);
        self.note(total - shown, noun);
        text
    }

    /// Tells how many do not fit, if any.
    pub(super) fn note(&mut self, number: usize, noun: &str) {
        if number > 0 {
            self.left_out.push(format!("{number} {noun}"));
        }
    }

    /// What did not fit, in words; empty if all did.
    pub(super) fn left_out(&self) -> String {
        match &self.left_out[..] {
            [] => String::new(),
            all => format!(
                "\n_Left out to fit: {}. The report of the run has all._\n",
                all.join(", ")
            ),
        }
    }
}
