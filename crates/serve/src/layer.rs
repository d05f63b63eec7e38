//! Faults and the journal as one tap: the journal hears what came before faults touch it, and of
//! answers what faults left of them.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::ServeOptions;
use super::faults::catalogue::Carrier;
use super::faults::engine::Engine;
use super::faults::event::{Event, Firing};
use super::faults::exchange::{Exchanges, Shot};
use super::faults::file;
use super::faults::rule::Rule;
use super::journal::Journal;
use super::tap::{
    Emit, Frame, JournalTo, OnMessage, OnStop, PassThrough, Stop, Tap, TapOptions, Ticket,
};
use text::credential::SecretKeys;

/// How long a full pipe is left alone before it is tried again.
const FULL_PIPE: Duration = Duration::from_millis(1);

/// The tap of a server that was asked for faults or a journal, or of one conversation with it.
struct Layer {
    engine: Engine,
    journal: Option<Journal>,
    /// Whether somebody was told that the journal is broken.
    complained: Arc<AtomicBool>,
    /// Whether the server, and so the journal, ends with this tap; or else one conversation of many.
    is_of_server: bool,
}

/// The tap that `wanted` describes, or what is wrong with it, all at once.
pub fn build(wanted: &TapOptions, server: &ServeOptions) -> Result<Box<dyn Tap>, Vec<String>> {
    let (rules, journal) = read(wanted, server, Carrier::Stdio)?;
    if rules.is_empty() && journal.is_none() {
        return Ok(Box::new(PassThrough));
    }
    Ok(Box::new(Layer {
        engine: Engine::new(rules, server.seed, &server.state),
        journal,
        complained: Arc::default(),
        is_of_server: true,
    }))
}

/// The journal and the faults that `wanted` describes, for a server with many conversations, or what is wrong with them.
pub fn books(
    wanted: &TapOptions,
    server: &ServeOptions,
    carrier: Carrier,
) -> Result<Books, Vec<String>> {
    let (rules, journal) = read(wanted, server, carrier)?;
    let (exchanges, frames): (Vec<Rule>, Vec<Rule>) = rules
        .into_iter()
        .partition(|rule| rule.fault.is_of_exchanges());
    let engine = Engine::new(frames, server.seed, &server.state);
    let faults = Exchanges::new(exchanges, server.seed, &server.state);
    Ok(Books {
        journal: journal.map(|journal| Arc::new(Mutex::new(journal))),
        engine: Arc::new(engine),
        faults: Arc::new(Mutex::new(faults)),
        complained: Arc::default(),
    })
}

fn read(
    wanted: &TapOptions,
    server: &ServeOptions,
    carrier: Carrier,
) -> Result<(Vec<Rule>, Option<Journal>), Vec<String>> {
    let mut problems = Vec::new();
    let rules = rules(wanted, carrier, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let journal = match &wanted.journal {
        None => None,
        Some(to) => {
            Some(journal(to, wanted, server, (carrier, &rules)).map_err(|problem| vec![problem])?)
        }
    };
    Ok((rules, journal))
}

/// The journal of a server with many conversations, if one is kept, and its faults. Clones share them.
#[derive(Clone)]
pub struct Books {
    journal: Option<Arc<Mutex<Journal>>>,
    /// The tap that each conversation begins with.
    engine: Arc<Engine>,
    faults: Arc<Mutex<Exchanges>>,
    complained: Arc<AtomicBool>,
}

impl Books {
    /// The tap of one conversation. `sender` says who is there, where messages do not.
    pub(crate) fn tap(&self, sender: Value) -> Box<dyn Tap> {
        Box::new(Layer {
            engine: self.engine.beside(),
            journal: self.journal().map(|journal| journal.beside(sender)),
            complained: self.complained.clone(),
            is_of_server: false,
        })
    }

    /// Whether somebody writes down who sends what.
    pub(crate) fn has_journal(&self) -> bool {
        self.journal.is_some()
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
        self.note(|journal| journal.fault(firing));
    }

    /// Somebody was sent away with this status.
    pub(crate) fn unauthorized(&self, sender: &Value, status: u16) {
        self.note(|journal| journal.unauthorized(sender, status));
    }

    /// Closes the journal.
    pub(crate) fn end(&self) {
        self.note(Journal::end);
    }

    fn note(&self, write: impl FnOnce(&mut Journal) -> io::Result<()>) {
        if let Some(mut journal) = self.journal() {
            noted(write(&mut journal), &self.complained);
        }
    }

    fn journal(&self) -> Option<MutexGuard<'_, Journal>> {
        let journal = self.journal.as_ref()?;
        Some(journal.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Takes note of how a write went. A broken journal is told of once; the server goes on.
fn noted(wrote: io::Result<()>, complained: &AtomicBool) {
    if let Err(error) = wrote
        && !complained.swap(true, Ordering::Relaxed)
    {
        let text = format!("error: the journal cannot be written: {error}\n");
        // Without stderr there is nobody left to tell.
        let _ = PatientStderr.write_all(text.as_bytes());
    }
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
                Err(errors) => problems.extend(errors.into_iter().map(of_file)),
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
    let keys = (!wanted.no_redact).then(|| SecretKeys::with(&wanted.redact));
    let transport = match carrier {
        Carrier::Stdio | Carrier::Duplex => "stdio",
        Carrier::Http => "http",
        Carrier::Sse => "sse",
    };
    let header = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "seed": server.seed,
        "profile": server.profile.name(),
        // Two runs of the same seed write the same bytes.
        "pid": server.clock.is_real().then(std::process::id),
        "transports": [transport],
        "level": wanted.journal_level,
        "rules": rules.iter().map(|rule| &rule.text).collect::<Vec<_>>(),
    });
    let kind = (transport, wanted.journal_level);
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
        .and_then(|out| Journal::start(out, server.clock.clone(), keys, kind, header))
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
    fn note(&mut self, write: impl FnOnce(&mut Journal) -> io::Result<()>) {
        if let Some(journal) = &mut self.journal {
            noted(write(journal), &self.complained);
        }
    }

    /// Records an outgoing message.
    fn going(&mut self, emits: Vec<Emit>) -> Vec<Emit> {
        for emit in &emits {
            if let Emit::Bytes(bytes) | Emit::Bytewise(bytes) = emit {
                self.note(|journal| journal.frame("out", bytes, bytes.len()));
            } else if let Emit::Flood(flood) = emit {
                let count = usize::try_from(flood.count).unwrap_or(usize::MAX);
                let size = count.saturating_mul(flood.head.len() + flood.tail.len());
                self.note(|journal| journal.frame("out", &flood.head, size));
            }
        }
        emits
    }

    fn note_events(&mut self) {
        for event in self.engine.take_events() {
            self.note(|journal| match event {
                Event::Fired(firing) => journal.fault(&firing),
                Event::Sent(sent) => {
                    journal.leaves(sent);
                    Ok(())
                }
                Event::Forgotten(ticket) => journal.forgotten(ticket),
            });
        }
    }
}

impl Tap for Layer {
    fn start(&mut self) -> Vec<Emit> {
        let emits = self.engine.start();
        self.note_events();
        self.going(emits)
    }

    fn incoming(&mut self, frame: &Frame<'_>) -> OnMessage {
        self.note(|journal| journal.incoming(frame));
        let mut heard = self.engine.incoming(frame);
        self.note_events();
        if frame.method == Some("notifications/cancelled")
            && let Some(id) = frame.message.pointer("/params/requestId")
        {
            self.note(|journal| journal.cancelled(id));
        }
        heard.emit = self.going(heard.emit);
        heard
    }

    fn noise(&mut self, line: &[u8]) {
        self.note(|journal| journal.frame("in", line, line.len()));
    }

    fn outgoing(&mut self, frame: &Frame<'_>, line: Vec<u8>) -> Vec<Emit> {
        self.note(|journal| journal.outgoing(frame));
        let emits = self.engine.outgoing(frame, line);
        self.note_events();
        self.going(emits)
    }

    fn wake(&mut self, ticket: Ticket) -> Vec<Emit> {
        let emits = self.engine.wake(ticket);
        self.note_events();
        self.going(emits)
    }

    fn out(&mut self, ticket: Ticket) {
        self.engine.out(ticket);
        self.note(|journal| journal.out(ticket));
    }

    fn refused(&mut self, id: &Value, status: u16) {
        self.engine.refused(id);
        self.note(|journal| journal.refused(id, status));
    }

    fn stop(&mut self, why: Stop) -> OnStop {
        let leave = self.engine.stop(why);
        self.note_events();
        leave
    }

    fn ended(&mut self) {
        let is_of_server = self.is_of_server;
        self.note(|journal| {
            if is_of_server {
                journal.end()
            } else {
                journal.unfinished()
            }
        });
    }
}
