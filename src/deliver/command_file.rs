//! The runner's command files: name-value pairs, and the step summary. They are only appended to, in one write.

use std::{
    fs::OpenOptions,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use super::{DeliverError, file::identity, token};
use text::environment::{COMMAND_FILES, Environment};

/// The command file that holds Markdown.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The prefix of delimiters.
const PREFIX: &str = "mcp_";

/// The variable of the command file that a path leads to, if any.
pub(crate) fn named(path: &Path, environment: &Environment) -> Option<&'static str> {
    let file = |path: &Path| identity(&environment.directory.join(path));
    let wanted = file(path);
    COMMAND_FILES.into_iter().find(|name| {
        let own = environment.set(name);
        own.map(Path::new)
            .is_some_and(|own| own == path || wanted.is_some() && wanted == file(own))
    })
}

/// Whether a path leads to the step summary.
pub(crate) fn is_summary(path: &Path, environment: &Environment) -> bool {
    named(path, environment) == Some(SUMMARY)
}

/// Appends pairs with arbitrary values.
pub(crate) fn append<'a>(
    path: &Path,
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), DeliverError> {
    let mut text = String::new();
    for (name, value) in pairs {
        let delimiter = delimiter(value, token::random)
            .ok_or_else(|| io::Error::other("the system gives no randomness"))
            .map_err(|cause| DeliverError::new("append to", path, cause))?;
        text.extend([name, "<<", &delimiter, "\n", value, "\n", &delimiter, "\n"]);
    }
    add(path, &text).map_err(|cause| DeliverError::new("append to", path, cause))
}

/// Draws a delimiter that the value does not contain.
fn delimiter(value: &str, mut draw: impl FnMut() -> Option<String>) -> Option<String> {
    loop {
        let delimiter = format!("{PREFIX}{}", draw()?);
        if !value.contains(&delimiter) {
            return Some(delimiter);
        }
    }
}

/// Appends in one write, after ending an unfinished line.
pub(super) fn add(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(path)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let begin = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{begin}{text}").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::{append, delimiter};
    use text::workflow::runner::pairs;

    #[test]
    fn values_of_any_shape_survive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        fs::write(&path, "theirs=1").unwrap();
        let values = [
            "",
            "a=b",
            "x<<EOF\nEOF",
            "a\r\nb\r",
            "\n\n",
            "mcp_",
            "é\u{2028}",
        ];
        append(&path, values.map(|value| ("name", value))).unwrap();
        append(&path, [("last", "1")]).unwrap();
        let mut wanted = vec![("theirs".to_owned(), "1".to_owned())];
        wanted.extend(values.map(|value| ("name".to_owned(), value.to_owned())));
        wanted.push(("last".to_owned(), "1".to_owned()));
        assert_eq!(pairs(&fs::read_to_string(&path).unwrap()).unwrap(), wanted);
    }

    #[test]
    fn a_delimiter_that_the_value_holds_is_drawn_again() {
        let mut draws = ["a", "b"].into_iter().map(str::to_owned);
        assert_eq!(
            delimiter("x mcp_a y", || draws.next()).as_deref(),
            Some("mcp_b")
        );
        assert_eq!(delimiter("mcp_c", || None), None);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = append(folder.path(), [("a", "b")]).unwrap_err().to_string();
        assert!(error.contains("cannot append to"), "{error}");
    }

    proptest! {
        #[test]
        fn any_value_is_read_back(value in any::<String>(), signs in "[=<\r\nEOF]{0,12}") {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("output");
            let pair = [("a", value.as_str()), ("b", signs.as_str())];
            append(&path, pair).unwrap();
            let read = pairs(&fs::read_to_string(&path).unwrap()).unwrap();
            prop_assert_eq!(read, pair.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
    }
}
