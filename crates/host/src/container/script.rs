//! The lines of `prepare` as one shell script, whose output tells which line it is at.

use std::{collections::VecDeque, fmt::Write as _};

use anstream::adapter::strip_str;

use text::CUT;

/// Lines of output that are kept.
const LAST_LINES: usize = 30;

/// Characters of a line that are kept.
const LONGEST_LINE: usize = 2000;

/// The script, how far it came, and the end of its output.
#[derive(Debug)]
pub(super) struct Script {
    /// What the shell gets.
    pub(super) text: String,
    /// The line it is at, from 0; the number of lines when all were run.
    pub(super) at: usize,
    lines: usize,
    /// Printed in front of the number of each line.
    mark: String,
    last: VecDeque<String>,
    /// A line whose end has not come.
    open: Vec<u8>,
}

impl Script {
    /// One shell runs all lines, so that `cd` and variables hold for the next; it ends with the first line that fails.
    /// `job` makes the mark unique.
    pub(super) fn new(lines: &[String], job: &str) -> Self {
        let mark = format!("mcp-assert-{job}:");
        // One stream keeps marks and output in their order.
        let mut text = "exec 2>&1\nset -e\n".to_owned();
        for (index, line) in lines.iter().enumerate() {
            // With `eval` a syntax error is an error of its line and not of the whole script.
            let quoted = line.replace('\'', r"'\''");
            let _ = writeln!(text, "echo '{mark}{index}'\neval '{quoted}'");
        }
        let _ = writeln!(text, "echo '{mark}{}'", lines.len());
        Self {
            text,
            at: 0,
            lines: lines.len(),
            mark,
            last: VecDeque::new(),
            open: Vec::new(),
        }
    }

    /// Takes a piece of output; gives back its last whole line, when it has one.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Option<String> {
        let mut whole = None;
        for byte in bytes {
            match byte {
                b'\n' | b'\r' => whole = self.end_line().or(whole),
                _ if self.open.len() < LONGEST_LINE => self.open.push(*byte),
                _ if self.open.len() == LONGEST_LINE => self.open.extend(CUT.bytes()),
                _ => {}
            }
        }
        whole
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.open);
        let line = strip_str(&String::from_utf8_lossy(&line)).to_string();
        if let Some((before, number)) = line.split_once(&self.mark)
            && let Ok(number) = number.trim().parse()
        {
            self.at = number;
            self.last.clear();
            // A line before it that had no end.
            return (!before.is_empty()).then(|| before.to_owned());
        }
        if line.trim().is_empty() {
            return None;
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line.clone());
        Some(line)
    }

    /// Whether every line was run.
    pub(super) fn is_complete(&self) -> bool {
        self.at == self.lines
    }

    /// The end of the output of the line.
    pub(super) fn output(&self) -> String {
        let open = String::from_utf8_lossy(&self.open);
        let lines = self.last.iter().map(String::as_str);
        let lines: Vec<&str> = lines.chain([&*open]).collect();
        lines.join("\n").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::Script;

    fn ran(lines: &[&str]) -> (Script, Option<i32>) {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let mut script = Script::new(&lines, "1-2");
        let output = Command::new("sh")
            .args(["-c", &script.text])
            .output()
            .unwrap();
        for piece in output.stdout.chunks(7) {
            script.read(piece);
        }
        (script, output.status.code())
    }

    #[test]
    fn the_line_that_fails_is_told_with_its_output() {
        let (tail, code) = ran(&[
            "cd /; echo first",
            "echo it\\'s 'two words'; pwd; (exit 3)",
            "echo no",
        ]);
        assert_eq!((tail.at, code), (1, Some(3)));
        assert_eq!(tail.output(), "it's two words\n/");
        assert!(!tail.is_complete());
    }

    #[test]
    fn lines_share_their_shell() {
        let (tail, code) = ran(&["X=1; cd /", "[ \"$X$PWD\" = 1/ ]\nprintf 'no end'"]);
        assert_eq!((tail.is_complete(), code), (true, Some(0)));
    }

    #[test]
    fn a_line_that_is_no_shell_fails_as_itself() {
        let (tail, code) = ran(&["true", "if then (", "true"]);
        assert_eq!(tail.at, 1);
        assert!(
            tail.output().to_lowercase().contains("syntax error"),
            "{tail:?}"
        );
        assert_ne!(code, Some(0));
        let (tail, code) = ran(&["exit 0", "true"]);
        assert_eq!((tail.is_complete(), code), (false, Some(0)));
    }

    #[test]
    fn the_output_is_bounded() {
        let (tail, _) =
            ran(&["i=0; while [ $i -lt 200 ]; do echo line $i; i=$((i+1)); done; false"]);
        assert!(tail.output().starts_with("line 170\n") && tail.output().ends_with("line 199"));
    }
}
