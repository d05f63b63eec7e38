//! How a server process ended and the last things it said on stderr.

use std::fmt;

use nix::sys::signal::Signal;

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// It ended by itself with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// Its container's code is 128 and the number of this signal: the signal ended it, or it ended by itself with that
    /// code, which the engine does not tell apart.
    LikeSignal(i32),
    /// The kernel ended it or another process of its container, because it wanted more memory than it may have.
    OutOfMemory,
    /// Somebody else removed its container, which ended it.
    Removed,
    /// It is not known: nobody could say any more.
    Unknown,
}

/// What a container's code is when a signal ended its server, less the number of the signal.
pub const BY_SIGNAL: i32 = 128;

/// The signal that nothing survives.
const KILL: i32 = 9;

impl ExitStatus {
    /// Whether this may have been its exit code. Of a container, whose engine tells a signal by the same code as a
    /// server may end with, both are taken.
    pub fn may_be_code(self, wanted: i32) -> bool {
        match self {
            Self::Code(code) => code == wanted,
            Self::LikeSignal(number) => BY_SIGNAL + number == wanted,
            Self::OutOfMemory => BY_SIGNAL + KILL == wanted,
            Self::Signal(_) | Self::Removed | Self::Unknown => false,
        }
    }

    /// Why it says nothing about the server, if it does not.
    pub fn unknown(self) -> Option<&'static str> {
        match self {
            Self::Unknown => {
                Some("how the server ended is not known: the container engine did not tell")
            }
            Self::Removed => Some(
                "how the server would have ended is not known: its container was removed by somebody else",
            ),
            Self::Code(_) | Self::Signal(_) | Self::LikeSignal(_) | Self::OutOfMemory => None,
        }
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signal = |number: i32| match Signal::try_from(number) {
            Ok(signal) => signal.as_str().to_owned(),
            Err(_) => format!("signal {number}"),
        };
        match self {
            Self::Code(code) => write!(formatter, "exit code {code}"),
            Self::Signal(number) => write!(formatter, "{}", signal(*number)),
            Self::LikeSignal(number) => {
                let code = BY_SIGNAL + number;
                write!(formatter, "{} (exit code {code})", signal(*number))
            }
            Self::OutOfMemory => write!(formatter, "SIGKILL: out of memory"),
            Self::Removed => write!(formatter, "the removal of its container by somebody else"),
            Self::Unknown => write!(formatter, "an end that is not known"),
        }
    }
}

/// The steps that were needed to end a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// It ended by itself before it was asked to.
    ByItself,
    /// It ended when its stdin was closed.
    StdinClosed,
    /// It ended on SIGTERM, by which a server that listens on a port is asked to end.
    Asked,
    /// It needed SIGTERM.
    Terminated,
    /// It needed SIGKILL.
    Killed,
}

/// How a server process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// Code or signal.
    pub status: ExitStatus,
    /// What it took.
    pub ending: Ending,
    /// Descendants that had to be ended after it.
    pub orphans: usize,
}

impl Exit {
    /// Exit code 0 on the end of stdin, nothing left behind. One that ends before it is asked to leaves its client alone.
    pub fn is_clean(&self) -> bool {
        self.status == ExitStatus::Code(0)
            && matches!(self.ending, Ending::StdinClosed | Ending::Asked)
            && self.orphans == 0
    }

    /// Whether a signal ended it by which processes end each other, and which was not ours.
    pub fn was_killed_by_others(&self) -> bool {
        let signals = [
            Signal::SIGHUP,
            Signal::SIGINT,
            Signal::SIGKILL,
            Signal::SIGTERM,
        ];
        let sent = |number: i32| signals.iter().any(|signal| *signal as i32 == number);
        self.ending == Ending::ByItself
            && matches!(self.status, ExitStatus::Signal(number) if sent(number))
    }

    /// Whether a signal from us was needed.
    pub fn was_forced(&self) -> bool {
        match self.ending {
            Ending::ByItself | Ending::StdinClosed | Ending::Asked => false,
            Ending::Terminated | Ending::Killed => true,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by_signal = matches!(
            self.status,
            ExitStatus::Signal(_) | ExitStatus::LikeSignal(_)
        );
        let ending = match self.ending {
            Ending::ByItself if self.was_killed_by_others() => {
                "sent by another process, or by the system"
            }
            Ending::ByItself => "by itself",
            Ending::StdinClosed => "after its stdin was closed",
            Ending::Asked => "after SIGTERM, which asked it to end",
            Ending::Terminated | Ending::Killed if by_signal => "sent by us",
            Ending::Terminated => "after SIGTERM from us",
            Ending::Killed => "after SIGKILL from us",
        };
        write!(formatter, "{}, {ending}", self.status)?;
        match self.orphans {
            0 => Ok(()),
            1 => write!(formatter, "; it left 1 process behind"),
            left => write!(formatter, "; it left {left} processes behind"),
        }
    }
}

/// The end of a server's stderr.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StderrTail {
    /// The last bytes, at most 64 KiB.
    pub bytes: Vec<u8>,
    /// All that was written, in bytes.
    pub total_bytes: u64,
    /// Whether more may have been written.
    pub end: StderrEnd,
}

/// How far a server's stderr was heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StderrEnd {
    /// Up to the moment it was asked for.
    #[default]
    Heard,
    /// The connection to its container broke off before the server ended.
    CutOff,
}

impl StderrTail {
    /// As text, bytes that are not UTF-8 as U+FFFD; behind `…` where the beginning is missing.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        if self.is_whole() {
            text.into_owned()
        } else {
            format!("…{text}")
        }
    }

    /// Whether all that was written is here.
    pub fn is_whole(&self) -> bool {
        self.total_bytes <= self.bytes.len() as u64
    }
}
