//! How text from outside is written into a page, links to the lines of suites, and what changed in a server's surface.

use super::escape::{block, inline, prose};
use crate::{
    changes::{ADDED, Change, Level, details},
    place::escaped,
    record::{At, Record},
    source::Source,
    surface::TargetSurface,
};
use mcp::observation::catalog::Listing;
use text::redact::Secrets;

/// How text from outside is written into a page.
pub(crate) struct Ink<'a> {
    /// Values that it must not show, for what was not masked before.
    pub(crate) secrets: Option<&'a Secrets>,
    /// Characters of it on a line.
    pub(crate) most: usize,
    /// The address of the folder that paths of suites begin in, without a final slash.
    pub(crate) files: Option<String>,
}

impl Ink<'_> {
    /// A text on one line.
    pub(crate) fn inline(&self, text: &str) -> String {
        inline(&self.masked(text), self.most)
    }

    pub(super) fn masked(&self, text: &str) -> String {
        let masked = self.secrets.map(|secrets| secrets.mask(text));
        masked.unwrap_or_else(|| text.to_owned())
    }

    /// A text that leads to the place of an outcome: the expectation that did not hold, else the assertion.
    pub(crate) fn linked(&self, text: &str, record: Option<&Record>) -> String {
        let shown = self.inline(text);
        let at = record.map(|record| record.place_of(record.first_mismatch()));
        // An address may not tell what the text beside it hides.
        let fits = |at: &At<'_>| is_inside(at.file) && self.masked(at.file) == at.file;
        let Some((at, files)) = at.filter(fits).zip(self.files.as_ref()) else {
            return shown;
        };
        format!("[{shown}]({files}/{}#L{})", escaped(at.file), at.line)
    }

    /// A sentence on one line.
    pub(super) fn prose(&self, text: &str) -> String {
        prose(&self.masked(text), self.most)
    }

    /// A sentence of at most so many characters on one line.
    pub(super) fn prose_of(&self, text: &str, most: usize) -> String {
        prose(&self.masked(text), self.most.min(most))
    }

    /// A text in full, behind a name.
    pub(super) fn details(&self, icon: &str, name: &str, text: &str, open: &str) -> String {
        format!(
            "\n<details{open}><summary>{icon} {}</summary>\n{}</details>\n",
            self.inline(name),
            block(&self.masked(text))
        )
    }

    /// What changed in what a server offers, with so many of the breaking and risky changes and of the others.
    pub(super) fn target(
        &self,
        title: &str,
        target: &TargetSurface,
        (worst, others): (usize, usize),
    ) -> String {
        let of = |level| target.changes.iter().filter(move |it| it.level == level);
        let (added, changed): (Vec<_>, Vec<_>) = of(Level::Safe).partition(|it| it.what == ADDED);
        let all = target.changes.len() + target.left_out;
        let numbers = [
            (target.breaking, "breaking"),
            (target.risky, "risky"),
            (all - target.breaking - target.risky, "other"),
        ];
        let numbers = numbers.iter().filter(|(number, _)| *number > 0);
        let numbers: Vec<String> = numbers.map(|(it, word)| format!("{it} {word}")).collect();
        let breaking = of(Level::Breaking).map(|it| ("❌ breaking", it));
        let risky = of(Level::Risky).map(|it| ("⚠️ risky", it));
        let changed = changed.into_iter().take(others).map(|it| ("changed", it));
        let shown = breaking.chain(risky).take(worst).chain(changed);
        let mut rows: Vec<String> = shown.map(|(it, of)| self.surface_change(it, of)).collect();
        let names = added.iter().take(others);
        let names = names.map(|it| self.subject(it));
        let names: Vec<String> = names.collect();
        let left_out = all - rows.len() - names.len();
        if !names.is_empty() {
            rows.push(format!("- added: {}\n", names.join(", ")));
        }
        if left_out > 0 {
            rows.push(format!("- … and {left_out} more\n"));
        }
        if let Some(lists) = target.unknown_lists() {
            rows.push(format!("- not compared: {lists}\n"));
        }
        let (numbers, rows) = (numbers.join(", "), rows.concat());
        format!("\n{title}: {numbers}\n\n{rows}")
    }

    fn surface_change(&self, word: &str, change: &Change) -> String {
        let (subject, what) = (self.subject(change), self.prose(&change.what));
        let details = details(change).into_iter().map(|(word, detail)| {
            let lead = match word {
                "text" => ": ".to_owned(),
                word => format!(" · {word}: "),
            };
            lead + &self.inline(&detail)
        });
        let details: String = details.collect();
        format!("- {word}: {subject} {what}{details}\n")
    }

    fn subject(&self, change: &Change) -> String {
        let name = self.inline(&change.name);
        let kind = change.listing.map(Listing::entry);
        kind.map_or(name.clone(), |kind| format!("{kind} {name}"))
    }
}

/// Whether a file lies in the repository, as far as its name tells.
fn is_inside(file: &str) -> bool {
    !file.starts_with('/') && !file.split('/').any(|part| part == ".." || part.is_empty())
}

/// The address of the repository of what was tested. A stored run may come from strangers: an address that is not plainly
/// one of a repository is none.
pub(super) fn repository(source: &Source) -> Option<String> {
    let is_name = |text: &str, signs: &str| {
        let mut all = text.chars();
        !text.is_empty() && all.all(|it| it.is_ascii_alphanumeric() || signs.contains(it))
    };
    let server = source.server.as_deref()?;
    let host = server.strip_prefix("https://")?;
    let (owner, name) = source.repository.as_deref()?.split_once('/')?;
    let is_plain = is_name(host, ".-:") && is_name(owner, ".-_") && is_name(name, ".-_");
    is_plain.then(|| format!("{server}/{owner}/{name}"))
}

/// The address of the suites at the newest commit of what was tested.
pub(super) fn files(source: &Source) -> Option<String> {
    let repository = repository(source)?;
    let sha = source.head_sha.as_deref().or(source.sha.as_deref())?;
    let folder = source.folder.as_deref().unwrap_or_default();
    let is_plain = sha.chars().all(|it| it.is_ascii_hexdigit())
        && matches!(sha.len(), 40 | 64)
        && !folder.split('/').any(|part| part == "..");
    let folder = match folder {
        "" => String::new(),
        folder => format!("/{}", escaped(folder)),
    };
    is_plain.then(|| format!("{repository}/blob/{sha}{folder}"))
}

#[cfg(test)]
mod tests {
    use super::files;
    use crate::source::Source;

    fn source() -> Source {
        Source {
            server: Some("https://github.com".into()),
            repository: Some("o/r.s".into()),
            head_sha: Some("a".repeat(40)),
            folder: Some("sub folder".into()),
            ..Source::default()
        }
    }

    #[test]
    fn a_link_leads_to_the_head_commit() {
        let sha = "a".repeat(40);
        assert_eq!(
            files(&source()).unwrap(),
            format!("https://github.com/o/r.s/blob/{sha}/sub%20folder")
        );
    }

    #[test]
    fn what_is_no_address_is_no_link() {
        let refused = |change: fn(&mut Source)| {
            let mut source = source();
            change(&mut source);
            assert_eq!(files(&source), None, "{source:?}");
        };
        refused(|it| it.server = None);
        refused(|it| it.server = Some("javascript:alert(1)//".into()));
        refused(|it| it.server = Some("https://a.b/\"><script>".into()));
        refused(|it| it.repository = Some("o".into()));
        refused(|it| it.repository = Some("o/r)](x".into()));
        refused(|it| it.head_sha = Some("../main".into()));
        refused(|it| it.folder = Some("a/../../b".into()));
    }
}
