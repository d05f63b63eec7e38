//! The only writer of standard output. A reader that went away (`| head`, a closed terminal) is not an error; further
//! output is dropped. After any other error nothing more is written.

use std::io::{self, BufWriter, IsTerminal, Write};

use rustix::io::Errno;

use super::standard::Streams;

/// Standard output, buffered until [`Write::flush`].
pub(crate) struct Stdout {
    /// `None` after the reader went away or a write failed.
    out: Option<BufWriter<Box<dyn Write + Send>>>,
    /// The write error, to be returned again.
    broken: Option<(io::ErrorKind, String)>,
    /// A closed terminal gives EIO instead of EPIPE.
    is_terminal: bool,
    streams: Streams,
}

impl Stdout {
    /// The process's standard output.
    pub(crate) fn new(streams: &Streams) -> Self {
        Self {
            is_terminal: io::stdout().is_terminal(),
            ..Self::over(streams.out(), streams)
        }
    }

    /// Standard output through a workflow's log.
    pub(crate) fn over(stream: impl Write + Send + 'static, streams: &Streams) -> Self {
        Self {
            out: Some(BufWriter::new(Box::new(stream))),
            broken: None,
            is_terminal: false,
            streams: streams.clone(),
        }
    }

    /// An output whose reader went away.
    #[cfg(test)]
    pub(crate) fn closed() -> Self {
        Self {
            out: None,
            ..Self::over(io::sink(), &Streams::default())
        }
    }

    /// The streams of this process.
    pub(super) fn streams(&self) -> &Streams {
        &self.streams
    }

    /// Runs a write. A reader that went away ends the output silently; any other error is kept.
    fn attempt<T>(
        &mut self,
        gone: T,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<T> {
        if let Some((kind, text)) = &self.broken {
            return Err(io::Error::new(*kind, text.clone()));
        }
        let Some(out) = &mut self.out else {
            return Ok(gone);
        };
        let error = match write(out) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => error,
            other => return other,
        };
        if let Some(out) = self.out.take() {
            // `into_parts` discards the buffer, which `drop` would write.
            let _ = out.into_parts();
        }
        let is_closed = self.is_terminal && Errno::from_io_error(&error) == Some(Errno::IO);
        if error.kind() == io::ErrorKind::BrokenPipe || is_closed {
            return Ok(gone);
        }
        self.broken = Some((error.kind(), error.to_string()));
        Err(error)
    }
}

/// Prints the output of a command, and an error on stderr if that fails.
pub(crate) fn print(text: &[u8], streams: &Streams) -> io::Result<()> {
    let mut out = Stdout::new(streams);
    let written = out.write_all(text).and_then(|()| out.flush());
    written.inspect_err(|error| {
        streams.say(format!("error: cannot write `stdout`: {error}\n").as_bytes());
        streams.settle();
    })
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(bytes.len(), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), |out| out.flush())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use rustix::io::Errno;

    use super::{Stdout, Streams};

    /// A pipe whose reader takes so many bytes and then goes away.
    struct Pipe {
        left: usize,
        end: io::ErrorKind,
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.left == 0 {
                return Err(self.end.into());
            }
            let taken = bytes.len().min(self.left);
            self.left -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn over(stream: impl Write + Send + 'static) -> Stdout {
        Stdout::over(stream, &Streams::default())
    }

    #[test]
    fn a_reader_that_leaves_is_no_error() {
        let mut out = over(Pipe {
            left: 10,
            end: io::ErrorKind::BrokenPipe,
        });
        out.write_all(&vec![b'x'; 100_000]).unwrap();
        out.flush().unwrap();
        assert!(out.out.is_none());
        out.write_all(b"more").unwrap();
    }

    #[test]
    fn a_terminal_that_is_closed_is_no_error_and_a_broken_disk_is_one() {
        struct Lost;

        impl Write for Lost {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(Errno::IO.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        let written = |is_terminal: bool| {
            let mut out = over(Lost);
            out.is_terminal = is_terminal;
            out.write_all(b"lost").and_then(|()| out.flush())
        };
        written(true).unwrap();
        written(false).unwrap_err();
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut out = over(Pipe {
            left: 10,
            end: io::ErrorKind::StorageFull,
        });
        out.write_all(b"0123456789abc").unwrap();
        assert!(out.flush().is_err());
    }

    #[test]
    fn what_follows_a_gap_is_the_same_error() {
        let disk = Pipe {
            left: 0,
            end: io::ErrorKind::StorageFull,
        };
        let mut out = over(disk);
        out.write_all(b"lost").unwrap();
        let first = out.flush().unwrap_err().to_string();
        assert_eq!(out.write_all(b"more").unwrap_err().to_string(), first);
        assert_eq!(out.flush().unwrap_err().to_string(), first);
    }
}
