//! The log of a GitHub workflow. The runner executes certain lines as commands, so every line is neutralised here,
//! except our own commands.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
};

use super::standard::Streams;
use text::workflow::{command::Command, neutral};

/// The longest line that is buffered until its end, in bytes.
const LONGEST_HELD: usize = 1024 * 1024;

/// A handle on the log; all handles share one lock.
#[derive(Clone)]
pub(crate) struct WorkflowLog {
    state: Arc<Mutex<State>>,
    streams: Streams,
}

struct State {
    out: Box<dyn Write + Send>,
    /// Whether stdout belongs to the log.
    has_begun: bool,
    /// The unfinished line.
    line: Vec<u8>,
    /// Whether the last byte was CR, so that a following LF is dropped.
    after_return: bool,
    /// The token that makes the runner execute commands again.
    stopped: Option<String>,
}

impl WorkflowLog {
    /// A log on standard error, because stdout holds a report.
    pub(crate) fn beside_stdout(streams: &Streams) -> Self {
        Self::over(streams.error(), streams)
    }

    fn over(out: impl Write + Send + 'static, streams: &Streams) -> Self {
        let state = State {
            out: Box::new(out),
            has_begun: false,
            line: Vec::new(),
            after_return: false,
            stopped: None,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            streams: streams.clone(),
        }
    }

    /// Moves the log to stdout and prints our version first, because a byte-order mark at the beginning would change
    /// the decoding. Returns whether this call did it.
    pub(crate) fn begin(&self) -> bool {
        self.begin_over(self.streams.out())
    }

    fn begin_over(&self, out: impl Write + Send + 'static) -> bool {
        let mut state = self.lock();
        if state.has_begun {
            return false;
        }
        state.has_begun = true;
        state.out = Box::new(out);
        // Write errors of the log are ignored.
        let _ = state.lines(concat!("mcp-assert ", env!("CARGO_PKG_VERSION")));
        true
    }

    /// Prints a text on lines of its own, ignoring write errors.
    pub(crate) fn say(&self, text: &str) {
        let mut state = self.lock();
        let _ = state.end_line().and_then(|()| state.lines(text));
    }

    /// Sends a command to the runner, unless stdout holds a report, which may be stored.
    pub(crate) fn command(&self, command: &Command) {
        let mut state = self.lock();
        if state.has_begun {
            let _ = state.command(command);
        }
    }

    /// Prints a panic message, even if the panic happened while writing to the log.
    pub(crate) fn panicked(&self, text: &str) {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return self.streams.say(neutral::lines(text).as_bytes());
            }
        };
        let _ = state.close().and_then(|()| state.lines(text));
    }

    /// Runs `write` while the runner executes no commands, until its end with this token.
    pub(crate) fn unheeded<T>(&self, token: String, write: impl FnOnce() -> T) -> T {
        {
            let mut state = self.lock();
            let stop = Command::StopCommands(token.clone());
            if state.command(&stop).is_ok() {
                state.stopped = Some(token);
            }
        }
        let written = write();
        let _ = self.lock().resume();
        written
    }

    /// Ends the last line, and lets the runner execute commands again.
    pub(crate) fn close(&self) {
        let _ = self.lock().close();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Buffers bytes and writes complete lines.
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            let is_rest = std::mem::take(&mut self.after_return) && *byte == b'\n';
            match byte {
                _ if is_rest => {}
                b'\n' => self.release()?,
                b'\r' => {
                    self.release()?;
                    self.after_return = true;
                }
                other => {
                    self.line.push(*other);
                    if self.line.len() >= LONGEST_HELD {
                        self.release()?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the buffered line.
    fn release(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            return self.out.write_all(b"\n");
        }
        self.out
            .write_all(neutral::coloured_lines(&line).as_bytes())
    }

    /// Ends an unfinished line.
    fn end_line(&mut self) -> io::Result<()> {
        self.after_return = false;
        if self.line.is_empty() {
            return Ok(());
        }
        self.release()
    }

    fn lines(&mut self, text: &str) -> io::Result<()> {
        self.out
            .write_all(neutral::coloured_lines(text).as_bytes())?;
        self.out.flush()
    }

    fn command(&mut self, command: &Command) -> io::Result<()> {
        self.end_line()?;
        self.resume()?;
        self.out.write_all(format!("{command}\n").as_bytes())?;
        self.out.flush()
    }

    /// Lets the runner execute commands again.
    fn resume(&mut self) -> io::Result<()> {
        let Some(token) = self.stopped.take() else {
            return Ok(());
        };
        self.end_line()?;
        let command = Command::ResumeCommands(token);
        self.out.write_all(format!("{command}\n").as_bytes())?;
        self.out.flush()
    }

    fn close(&mut self) -> io::Result<()> {
        self.end_line()?;
        self.resume()?;
        self.out.flush()
    }
}

impl Write for WorkflowLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().take(bytes)?;
        Ok(bytes.len())
    }

    /// Keeps an unfinished line, because the rest could complete a command.
    fn flush(&mut self) -> io::Result<()> {
        self.lock().out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{self, Write},
        sync::{Arc, Mutex},
    };

    use proptest::prelude::*;

    use super::{Streams, WorkflowLog};
    use text::workflow::runner::{Step, read};

    /// A stream whose bytes can be looked at.
    #[derive(Clone, Default)]
    struct Seen(Arc<Mutex<Vec<u8>>>);

    impl Write for Seen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(write: impl FnOnce(&mut WorkflowLog)) -> String {
        let seen = Seen::default();
        let mut log = WorkflowLog::over(io::sink(), &Streams::default());
        assert!(log.begin_over(seen.clone()) && !log.begin());
        write(&mut log);
        log.close();
        let bytes = seen.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).expect("the log is UTF-8");
        let (first, rest) = text.split_once('\n').unwrap();
        assert_eq!(first, concat!("mcp-assert ", env!("CARGO_PKG_VERSION")));
        rest.to_owned()
    }

    fn streamed(chunks: &[&[u8]]) -> String {
        logged(|log| {
            for chunk in chunks {
                log.write_all(chunk).unwrap();
                log.flush().unwrap();
            }
        })
    }

    #[test]
    fn lines_are_finished_before_they_are_judged() {
        assert_eq!(
            streamed(&[b"  :", b":set-env name=A::b\nnext"]),
            "|   ::set-env name=A::b\nnext\n"
        );
        assert_eq!(
            streamed(&[b"a\r", b"\n::b::\r", b"\rc"]),
            "a\n| ::b::\n\nc\n"
        );
        assert_eq!(streamed(&[b"a #", b"#[add-mask]b\n"]), "a # #[add-mask]b\n");
        assert_eq!(streamed(&[b"\xe2\x82", b"\xac \xff"]), "€ \u{fffd}\n");
        assert_eq!(
            logged(|log| {
                log.write_all(b"begun").unwrap();
                log.say("::error::said");
                log.panicked("panicked at\n##[error]x");
            }),
            "begun\n| ::error::said\npanicked at\n# #[error]x\n"
        );
    }

    #[test]
    fn a_line_too_long_to_hold_is_broken_where_no_command_can_arise() {
        let mut long = vec![b'x'; super::LONGEST_HELD - 2];
        long.extend(b"##[group]x\n");
        let step = read(streamed(&[&long]).as_bytes());
        assert_eq!((step.obeyed.len(), step.shown.len()), (0, 2));
    }

    #[test]
    fn what_is_unheeded_ends_on_every_way_out() {
        let token = || "0123456789abcdef".to_owned();
        let ways: [fn(&mut WorkflowLog); 3] =
            [|_| {}, |log| log.panicked("gone wrong"), |log| log.close()];
        for way in ways {
            let text = logged(|log| {
                let mut inner = log.clone();
                log.clone().unheeded(token(), || {
                    inner.write_all(b"frames ##[group]").unwrap();
                    way(log);
                });
            });
            let step = read(text.as_bytes());
            assert!(!step.is_stopped, "{text}");
            assert_eq!(step.obeyed.len(), 1, "{text}");
            assert_eq!(step.shown[0], "frames # #[group]");
        }
    }

    /// Pieces from which commands, and what hides them, are made.
    const PIECES: [&str; 36] = [
        "#",
        "##[",
        "#[",
        "[",
        "]",
        ":",
        "::",
        "%",
        "%0A",
        "\r",
        "\n",
        "\r\n",
        "\u{85}",
        "\u{2028}",
        "\u{2029}",
        "\u{200b}",
        "\u{200d}",
        "\u{feff}",
        "\u{fe0f}",
        "\u{ad}",
        "\0",
        "\u{1b}[0m",
        "\u{1b}",
        " ",
        "\t",
        "\u{a0}",
        "\u{b}",
        "error",
        "group",
        "add-mask",
        "set-env name=A",
        "stop-commands",
        "debug",
        "x",
        "é",
        "\u{e0001}",
    ];

    /// Commands to hide in a text.
    const COMMANDS: [&str; 4] = [
        "::error::",
        "##[group]",
        "::add-mask::",
        "##[set-env name=A]",
    ];

    /// A text of a few pieces, the same for the same number; in every second one a command is hidden.
    fn hostile(number: u64) -> String {
        let mut state = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut draw = |bound: usize| {
            state ^= state >> 30;
            state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
            state ^= state >> 27;
            state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
            state ^= state >> 31;
            usize::try_from(state >> 33).unwrap() % bound
        };
        let mut text: String = (0..draw(6)).map(|_| PIECES[draw(PIECES.len())]).collect();
        if draw(2) == 0 {
            for sign in COMMANDS[draw(COMMANDS.len())].chars() {
                text.push(sign);
                if draw(4) == 0 {
                    text.push_str(PIECES[draw(PIECES.len())]);
                }
            }
        }
        text.extend((0..draw(6)).map(|_| PIECES[draw(PIECES.len())]));
        text
    }

    /// A hundred thousand texts, or as many as `MCP_ASSERT_LOG_TEXTS` says.
    #[test]
    fn no_text_is_obeyed() {
        let count: u64 = std::env::var("MCP_ASSERT_LOG_TEXTS")
            .map_or(100_000, |count| count.parse().expect("a number of texts"));
        let (mut obeyed, mut would_have_been) = (0, 0);
        for batch in 0..count.div_ceil(1_000) {
            let texts = (batch * 1_000..count.min((batch + 1) * 1_000)).map(hostile);
            let mut raw = String::new();
            let text = logged(|log| {
                for text in texts {
                    raw.push_str(&text);
                    raw.push('\n');
                    let middle = text.len() / 2;
                    log.write_all(&text.as_bytes()[..middle]).unwrap();
                    log.write_all(&text.as_bytes()[middle..]).unwrap();
                    log.say(&text);
                }
            });
            let Step {
                obeyed: found,
                failed,
                is_stopped,
                ..
            } = read(text.as_bytes());
            obeyed += found.len() + failed.len() + usize::from(is_stopped);
            would_have_been += raw
                .split('\n')
                .map(|line| read(line.as_bytes()).obeyed.len())
                .sum::<usize>();
        }
        println!("{count} texts: {would_have_been} commands raw, {obeyed} through the log");
        assert_eq!(obeyed, 0);
        assert!(would_have_been as u64 > count / 100, "{would_have_been}");
    }

    proptest! {
        #[test]
        fn no_bytes_are_obeyed(
            chunks in prop::collection::vec(any::<Vec<u8>>(), 0..4),
            signs in "[:#\\[\\]%a \r\n\u{2028}\u{200d}\u{feff}]{0,40}",
        ) {
            let mut all: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            all.push(signs.as_bytes());
            all.push(b"::error::");
            let text = streamed(&all);
            prop_assert_eq!(read(text.as_bytes()).obeyed, vec![], "{:?}", text);
            let said = logged(|log| log.say(&signs));
            prop_assert_eq!(read(said.as_bytes()).obeyed, vec![], "{:?}", said);
        }
    }
}
