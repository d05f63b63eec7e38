//! What the step summary and the comment have in common: text from outside, links to the lines of suites, and the parts
//! that both pages show.

use super::escape::{block, inline};
use crate::{
    RunReport,
    failure::{self, Detail},
    place::escaped,
    record::{At, Record},
    source::Source,
    surface::{Surface, SurfaceChange, TargetSurface, Weight},
};
use text::{count, redact::Secrets};

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

    fn masked(&self, text: &str) -> String {
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

    /// Why the run is not a pass.
    pub(crate) fn causes(&self, report: &RunReport, most: usize) -> String {
        let causes = report.judgement.iter().flat_map(|it| &it.causes);
        let line = |word: &str, text: &str| format!("- {word}: {}\n", self.inline(text));
        let lines: Vec<String> = causes.map(|it| line(it.verdict.word(), &it.text)).collect();
        listed(&lines, most)
    }

    /// An outcome in full.
    pub(crate) fn details(&self, (word, name): (&str, &str), text: &str, open: &str) -> String {
        format!(
            "\n<details{open}><summary>{word} {}</summary>\n{}</details>\n",
            self.inline(name),
            block(&self.masked(text))
        )
    }

    /// An outcome that is red, in full.
    pub(crate) fn failure(&self, record: &Record, detail: &Detail, open: &str) -> String {
        let name = record.display_name(detail.trials);
        let title = (record.status.word(), name.as_str());
        self.details(title, &failure::text(record, detail), open)
    }

    /// What changed in what the servers offer, with so many of the breaking changes and of the others.
    pub(crate) fn surface(&self, report: &RunReport, most: (usize, usize)) -> String {
        let surface = report.surface.iter();
        let uncompared = surface
            .clone()
            .flat_map(Surface::uncompared)
            .map(|(name, why)| {
                let name = self.inline(name);
                format!("\n#### Surface of {name}: not compared\n\nThe reason: {why}.\n")
            });
        let targets = surface.flat_map(|it| &it.targets);
        uncompared
            .chain(targets.map(|it| self.target(it, most)))
            .collect()
    }

    fn target(&self, target: &TargetSurface, (breaking, others): (usize, usize)) -> String {
        if target.changes.is_empty() && target.unknown.is_empty() {
            return String::new();
        }
        let number = target.changes.len() + target.left_out;
        let is_breaking = |it: &&SurfaceChange| it.weight == Weight::Breaking;
        let (worst, rest): (Vec<_>, Vec<_>) = target.changes.iter().partition(is_breaking);
        let shown = worst
            .into_iter()
            .take(breaking)
            .chain(rest.into_iter().take(others));
        let mut rows: Vec<String> = shown.map(|it| self.surface_change(it)).collect();
        if let left_out @ 1.. = number - rows.len() {
            rows.push(format!("- … and {left_out} more\n"));
        }
        if let Some(lists) = target.unknown_lists() {
            rows.push(format!("- not compared: {lists}\n"));
        }
        format!(
            "\n#### Surface of {}: {}, {} breaking\n\n{}",
            self.inline(&target.name),
            count(number, "change"),
            target.breaking,
            rows.concat()
        )
    }

    fn surface_change(&self, change: &SurfaceChange) -> String {
        let weight = match change.weight {
            Weight::Breaking => "**breaking** ",
            Weight::Notable => "",
        };
        let (entry, name, what) = (change.listing.entry(), &change.name, &change.what);
        let wording = change
            .wording
            .iter()
            .map(|it| format!(" {}", self.inline(it)));
        let wording: String = wording.collect();
        format!(
            "- {weight}{entry} {}: {}{wording}\n",
            self.inline(name),
            self.inline(what)
        )
    }
}

/// The first lines of a list, and how many more there are, behind an empty line.
pub(crate) fn listed(lines: &[String], most: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let shown = lines.iter().take(most).map(String::as_str);
    let more = lines.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("- … and {more} more\n"));
    format!(
        "\n{}{}",
        shown.collect::<String>(),
        more.unwrap_or_default()
    )
}

/// Whether a file lies in the repository, as far as its name tells.
fn is_inside(file: &str) -> bool {
    !file.starts_with('/') && !file.split('/').any(|part| part == ".." || part.is_empty())
}

/// The address of the suites at the newest commit of what was tested. A stored run may come from strangers: an address
/// that is not plainly one of a repository is none.
pub(super) fn base(source: &Source) -> Option<String> {
    let is_name = |text: &str, signs: &str| {
        let mut all = text.chars();
        !text.is_empty() && all.all(|it| it.is_ascii_alphanumeric() || signs.contains(it))
    };
    let server = source.server.as_deref()?;
    let host = server.strip_prefix("https://")?;
    let (owner, name) = source.repository.as_deref()?.split_once('/')?;
    let sha = source.head_sha.as_deref().or(source.sha.as_deref())?;
    let folder = source.folder.as_deref().unwrap_or_default();
    let is_plain = is_name(host, ".-:")
        && is_name(owner, ".-_")
        && is_name(name, ".-_")
        && sha.chars().all(|it| it.is_ascii_hexdigit())
        && matches!(sha.len(), 40 | 64)
        && !folder.split('/').any(|part| part == "..");
    let folder = match folder {
        "" => String::new(),
        folder => format!("/{}", escaped(folder)),
    };
    is_plain.then(|| format!("{server}/{owner}/{name}/blob/{sha}{folder}"))
}

#[cfg(test)]
mod tests {
    use super::base;
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
            base(&source()).unwrap(),
            format!("https://github.com/o/r.s/blob/{sha}/sub%20folder")
        );
    }

    #[test]
    fn what_is_no_address_is_no_link() {
        let refused = |change: fn(&mut Source)| {
            let mut source = source();
            change(&mut source);
            assert_eq!(base(&source), None, "{source:?}");
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
