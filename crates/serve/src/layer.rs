//! Faults and the journal as one tap: the journal hears what came before faults touch it, and of
//! answers what faults left of them.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::ServeOptions;
use super::faults::catalogue::Carrier;
use super::faults::engine::Engine;
use super::faults::event::{Event, Firing};
use super::faults::exchange::{Exchanges, Shot};
use super::faults::file;
use super::faults::rule::Rule;
use super::journal::{Caller, Header, Journal};
use super::tap::{
    Emit, Frame, Heard, JournalTo, Kind, Leave, PassThrough, Redaction, Stop, Tap, TapOptions,
    Ticket,
};
use text::credential::SecretKeys;

/// How long a full pipe is left alone before it is tried again.
const FULL_PIPE: Duration = Duration::from_millis(1);

/// The tap of a server that was asked for faults or a journal.
struct Layer {
    engine: Engine,
    journal: Option<Journal>,
    /// Whether somebody was told that the journal is broken.
    complained: Complained,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Complained {
    No,
    Yes,
}

/// The tap that `wanted` describes, or what is wrong with it, all at once.
pub fn build(wanted: &TapOptions, server: &ServeOptions) -> Result<Box<dyn Tap>, Vec<String>> {
    let mut problems = Vec::new();
    let rules = rules(wanted, Carrier::Stdio, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let journal = match &wanted.journal {
        None => None,
        Some(to) => Some(
            journal(to, wanted, server, (Carrier::Stdio, &rules))
                .map_err(|problem| vec![problem])?,
        ),
    };
    if rules.is_empty() && journal.is_none() {
        return Ok(Box::new(PassThrough));
    }
    Ok(Box::new(Layer {
        engine: Engine::new(rules, server.seed, &server.state),
        journal,
        complained: Complained::No,
    }))
}

/// The journal and the faults that `wanted` describes, for a server over HTTP, or what is wrong with them.
pub fn books(wanted: &TapOptions, server: &ServeOptions) -> Result<Books, Vec<String>> {
    let mut problems = Vec::new();
    let rules = rules(wanted, Carrier::Http, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let journal = match &wanted.journal {
        None => None,
        Some(to) => Some(
            journal(to, wanted, server, (Carrier::Http, &rules))
                .map_err(|problem| vec![problem])?,
        ),
    };
    let faults = Exchanges::new(rules, server.seed, &server.state);
    Ok(Books {
        journal: journal.map(|journal| Arc::new(Mutex::new(journal))),
        faults: Arc::new(Mutex::new(faults)),
        complained: Arc::default(),
        closing: Arc::default(),
    })
}

/// The journal of a server with many sessions, if one is kept, and its faults. Clones share them.
#[derive(Clone, Default)]
pub struct Books {
    journal: Option<Arc<Mutex<Journal>>>,
    faults: Arc<Mutex<Exchanges>>,
    complained: Arc<AtomicBool>,
    /// Whether the server ends, so that what is cancelled was not cancelled by a client.
    closing: Arc<AtomicBool>,
}

impl Books {
    /// A part of the journal for one caller, where a journal is kept.
    pub(crate) fn beside(&self, caller: impl FnOnce() -> Caller) -> Option<Journal> {
        let journal = self.journal.as_ref()?;
        let journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        Some(journal.beside(caller()))
    }

    /// The faults that `choose` finds among the rules.
    pub(crate) fn fire(
        &self,
        choose: impl FnOnce(&mut Exchanges) -> (Vec<Shot>, Vec<String>),
    ) -> Vec<Shot> {
        let (shots, lost) = {
            let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
            choose(&mut faults)
        };
        for text in lost {
            // Without stderr there is nobody left to tell.
            let _ = PatientStderr.write_all(text.as_bytes());
        }
        shots
    }

    /// A fault happened.
    pub(crate) fn fired(&self, firing: &Firing) {
        if let Some(journal) = &self.journal {
            let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
            let id = firing.fault.row().id;
            let wrote = journal.fault(&firing.rule, id, firing.n, firing.id.as_ref());
            self.note(wrote);
        }
    }

    /// Takes note of how a write went. A broken journal is told of once; the server goes on.
    pub(crate) fn note(&self, wrote: io::Result<()>) {
        if let Err(error) = wrote
            && !self.complained.swap(true, Ordering::Relaxed)
        {
            complain(&error);
        }
    }

    /// Calls that end from now on have no answer because the server ends.
    pub(crate) fn closes(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn are_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Closes the journal.
    pub(crate) fn end(&self) {
        if let Some(journal) = &self.journal {
            let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
            let wrote = journal.end();
            self.note(wrote);
        }
    }
}

fn complain(error: &io::Error) {
    let text = format!("error: the journal cannot be written: {error}\n");
    // Without stderr there is nobody left to tell.
    let _ = PatientStderr.write_all(text.as_bytes());
}

/// The rules of the command line, then those of the file.
fn rules(wanted: &TapOptions, carrier: Carrier, problems: &mut Vec<String>) -> Vec<Rule> {
    let mut rules = Vec::new();
    for text in &wanted.rules {
        match Rule::parse(text, carrier) {
            Ok(rule) => rules.push(rule),
            Err(error) => problems.push(format!("--fault `{text}`: {error}")),
        }
    }
    if let Some(path) = &wanted.rules_file {
        let of_file = |problem: String| format!("--faults `{}`: {problem}", path.display());
        match std::fs::read_to_string(path) {
            Err(error) => problems.push(of_file(format!("it cannot be read: {error}"))),
            Ok(text) => match file::read(&text, carrier) {
                Ok(more) => rules.extend(more),
                Err(errors) => {
                    problems.extend(errors.iter().map(|error| of_file(error.to_string())));
                }
            },
        }
    }
    rules
}

fn journal(
    to: &JournalTo,
    wanted: &TapOptions,
    server: &ServeOptions,
    (carrier, rules): (Carrier, &[Rule]),
) -> Result<Journal, String> {
    let keys = match wanted.redaction {
        Redaction::On => Some(SecretKeys::with(&wanted.redact)),
        Redaction::Off => None,
    };
    let header = Header {
        seed: server.seed,
        profile: server.profile.name().to_owned(),
        pid: server.clock.is_real().then(std::process::id),
        transport: match carrier {
            Carrier::Stdio | Carrier::Duplex => "stdio",
            Carrier::Http => "http",
        },
        rules: rules.iter().map(|rule| rule.text.clone()).collect(),
    };
    let problem = |error: io::Error| match to {
        JournalTo::Stderr => format!("--journal `-`: stderr cannot be written: {error}"),
        JournalTo::File(path) => {
            format!(
                "--journal `{}`: it cannot be written: {error}",
                path.display()
            )
        }
    };
    destination(to)
        .and_then(|out| Journal::start(out, server.clock.clone(), keys, &header))
        .map_err(problem)
}

fn destination(to: &JournalTo) -> io::Result<Box<dyn Write + Send>> {
    match to {
        JournalTo::Stderr => Ok(Box::new(PatientStderr)),
        JournalTo::File(path) => Ok(Box::new(std::fs::File::create(path)?)),
    }
}

/// Stderr may be a pipe that does not wait for its reader; a journal does.
pub(crate) struct PatientStderr;

impl Write for PatientStderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match io::stderr().write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(FULL_PIPE);
                }
                other => return other,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Layer {
    /// Does something with the journal. A broken one is told of once; the server goes on.
    fn note(&mut self, write: impl FnOnce(&mut Journal) -> io::Result<()>) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        if let Err(error) = write(journal)
            && self.complained == Complained::No
        {
            self.complained = Complained::Yes;
            complain(&error);
        }
    }

    fn note_events(&mut self) {
        for event in self.engine.take_events() {
            self.note(|journal| match &event {
                Event::Fired(firing) => journal.fault(
                    &firing.rule,
                    firing.fault.row().id,
                    firing.n,
                    firing.id.as_ref(),
                ),
                Event::Sent(sent) => {
                    journal.leaves(sent);
                    Ok(())
                }
                Event::Forgotten(ticket) => journal.forgotten(*ticket),
            });
        }
    }
}

impl Tap for Layer {
    fn start(&mut self) -> Vec<Emit> {
        let emits = self.engine.start();
        self.note_events();
        emits
    }

    fn incoming(&mut self, frame: &Frame<'_>) -> Heard {
        self.note(|journal| journal.incoming(frame));
        let heard = self.engine.incoming(frame);
        self.note_events();
        if frame.method == Some("notifications/cancelled")
            && let Some(id) = frame.message.pointer("/params/requestId")
        {
            self.note(|journal| journal.cancelled(id));
        }
        heard
    }

    fn outgoing(&mut self, frame: &Frame<'_>, line: Vec<u8>) -> Vec<Emit> {
        if frame.kind != Kind::Answer {
            self.note(|journal| {
                journal.outgoing(frame);
                Ok(())
            });
        }
        let emits = self.engine.outgoing(frame, line);
        self.note_events();
        emits
    }

    fn wake(&mut self, ticket: Ticket) -> Vec<Emit> {
        let emits = self.engine.wake(ticket);
        self.note_events();
        emits
    }

    fn out(&mut self, ticket: Ticket) {
        self.engine.out(ticket);
        self.note(|journal| journal.out(ticket));
    }

    fn stop(&mut self, why: Stop) -> Leave {
        let leave = self.engine.stop(why);
        self.note_events();
        leave
    }

    fn ended(&mut self) {
        self.note(Journal::end);
    }
}
