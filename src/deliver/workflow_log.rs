//! Text for the log of a GitHub workflow, whose runner executes `::name::` at the start of a line and `##[name]`
//! anywhere in it. What passes here is shown and never executed, whoever wrote it.

use std::io::{self, Write};

/// Longest line that is held back until its end is known, in bytes.
const LONGEST_HELD: usize = 1024 * 1024;

/// A stream whose finished lines hold no workflow command.
#[derive(Debug)]
pub(crate) struct WorkflowLog<W: Write> {
    inner: W,
    /// The line that has no end yet.
    line: Vec<u8>,
}

impl<W: Write> WorkflowLog<W> {
    /// Makes lines harmless before `inner` gets them.
    pub(crate) fn new(inner: W) -> Self {
        Self {
            inner,
            line: Vec::new(),
        }
    }

    /// Hands on the line so far.
    fn release(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.inner.write_all(harmless(&line).as_bytes())
    }
}

/// The line with its commands broken up by visible signs.
fn harmless(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let mut line = line.replace("##[", "# #[");
    if line.trim_start().starts_with("::") {
        line.insert_str(0, "| ");
    }
    line
}

impl<W: Write> Write for WorkflowLog<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.line.push(*byte);
            // The runner takes a lone CR for a line end too.
            if matches!(byte, b'\n' | b'\r') || self.line.len() >= LONGEST_HELD {
                self.release()?;
            }
        }
        Ok(bytes.len())
    }

    /// A line without an end is kept back: what follows could complete a command.
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for WorkflowLog<W> {
    fn drop(&mut self) {
        // A last line without an end; a stream that fails now has nobody to tell.
        let _ = self.release().and_then(|()| self.inner.flush());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::WorkflowLog;

    fn logged(chunks: &[&str]) -> String {
        let mut out = Vec::new();
        let mut log = WorkflowLog::new(&mut out);
        for chunk in chunks {
            log.write_all(chunk.as_bytes()).unwrap();
            log.flush().unwrap();
        }
        drop(log);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn commands_are_shown_and_not_executed() {
        assert_eq!(logged(&["PASS  a\n"]), "PASS  a\n");
        assert_eq!(logged(&["::error::x\n"]), "| ::error::x\n");
        assert_eq!(
            logged(&["  :", ":set-env name=A::b\nnext"]),
            "|   ::set-env name=A::b\nnext"
        );
        assert_eq!(
            logged(&["a\r::stop-commands::b\n"]),
            "a\r| ::stop-commands::b\n"
        );
        assert_eq!(logged(&["a #", "#[add-mask]b\n"]), "a # #[add-mask]b\n");
    }

    proptest! {
        #[test]
        fn no_text_holds_a_command(chunks in prop::collection::vec("[:#\\[\r\n a\u{2028}\u{feff}]{0,12}", 0..6)) {
            let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
            let shown = logged(&chunks);
            prop_assert!(!shown.contains("##["), "{shown:?}");
            for line in shown.split(['\r', '\n']) {
                prop_assert!(!line.trim_start().starts_with("::"), "{shown:?}");
            }
        }
    }
}
