//! Links to the lines of suites, as they were at the newest commit of what was tested. A stored run may come from
//! strangers: an address that is not plainly one of a repository is none, and then there is no link.

use super::parts::Page;
use crate::{
    place::escaped,
    record::{At, Record},
    source::Source,
};

/// Where the suites can be looked at.
pub(super) struct Links {
    /// The address of the folder that paths begin in, with a final slash.
    base: Option<String>,
}

impl Links {
    pub(super) fn of(source: &Source) -> Self {
        Self { base: base(source) }
    }

    /// The place of an outcome: the expectation that did not hold, else the assertion.
    pub(super) fn to(&self, page: &Page, record: &Record) -> String {
        let mismatch = record
            .evidence
            .as_ref()
            .filter(|evidence| evidence.disruption.is_none())
            .and_then(|evidence| evidence.mismatches.first());
        let At { file, line, .. } = record.place_of(mismatch);
        let shown = page.inline(&format!("{file}:{line}"));
        let leads_out = file.starts_with('/') || file.split('/').any(|it| it == "..");
        match &self.base {
            Some(base) if !leads_out => {
                format!("<a href=\"{base}{}#L{line}\">{shown}</a>", escaped(file))
            }
            Some(_) | None => shown,
        }
    }
}

fn base(source: &Source) -> Option<String> {
    let is_name = |text: &str, signs: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || signs.contains(it))
    };
    let server = source.server.as_deref()?;
    let host = server.strip_prefix("https://")?;
    let (owner, name) = source.repository.as_deref()?.split_once('/')?;
    let sha = source.head_sha.as_deref().or(source.sha.as_deref())?;
    let plain = is_name(host, ".-:")
        && is_name(owner, ".-_")
        && is_name(name, ".-_")
        && sha.chars().all(|it| it.is_ascii_hexdigit())
        && matches!(sha.len(), 40 | 64);
    let folder = source.folder.as_deref().unwrap_or_default();
    if !plain || folder.split('/').any(|part| part == "..") {
        return None;
    }
    let folder = match folder {
        "" => String::new(),
        folder => escaped(folder) + "/",
    };
    Some(format!("{server}/{owner}/{name}/blob/{sha}/{folder}"))
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
            format!("https://github.com/o/r.s/blob/{sha}/sub%20folder/")
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
