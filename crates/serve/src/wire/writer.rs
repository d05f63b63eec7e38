//! Does what emits say, one list after the other; delayed rests are overtaken.

use std::collections::HashSet;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::{Job, Wire};
use crate::tap::{Emit, Flood, Outlet, Ticket, is_forgotten};
use crate::{CLOSE, Clock, Ended};

/// Owns stdout and stderr of one server.
pub(crate) struct Writer<W, E> {
    queue: mpsc::UnboundedReceiver<Job>,
    /// Nothing after [`Emit::CloseStdout`].
    output: Option<W>,
    errors: E,
    clock: Clock,
    wire: Wire,
    delayed: JoinSet<Later>,
    /// How many of the delayed ones a close waits for.
    awaited: usize,
    /// Answers that are given up, should they still be among the delayed ones.
    forgotten: HashSet<Ticket>,
    /// Memory that a fault wants taken.
    taken: Vec<Vec<u8>>,
}

/// The purpose of a wait.
enum Later {
    /// The rest of a list.
    Rest(Vec<Emit>),
    /// The tap's next word, and whether a server that closes waits for it.
    Wake(Ticket, bool),
}

impl<W: AsyncWrite + Unpin, E: AsyncWrite + Unpin> Writer<W, E> {
    pub(super) fn new(
        queue: mpsc::UnboundedReceiver<Job>,
        (output, errors): (W, E),
        clock: Clock,
        wire: Wire,
    ) -> Self {
        Self {
            queue,
            output: Some(output),
            errors,
            clock,
            wire,
            delayed: JoinSet::new(),
            awaited: 0,
            forgotten: HashSet::new(),
            taken: Vec::new(),
        }
    }

    /// Writes until it is closed, the reader of our stdout is gone, or a fault ends the server.
    pub(crate) async fn run(&mut self) -> Ended {
        loop {
            let step = tokio::select! {
                biased;
                Some(Ok(later)) = self.delayed.join_next(), if !self.delayed.is_empty() => {
                    self.go_on(later).await
                }
                job = self.queue.recv() => match job {
                    Some(Job::Emit { emits, in_turn, done }) => {
                        let step = self.perform(emits, in_turn).await;
                        self.wire.written();
                        // Who does not wait for it needs no word.
                        let _ = done.send(());
                        step
                    }
                    Some(Job::Close) | None => Err(self.drain().await),
                },
            };
            if let Err(end) = step {
                self.delayed.shutdown().await;
                // Whoever still waits to have something written learns that it never will be.
                self.queue.close();
                while self.queue.try_recv().is_ok() {}
                return end;
            }
        }
    }

    /// What is delayed is part of what was queued; only a wake that is far away is not waited for.
    async fn drain(&mut self) -> Ended {
        while self.awaited > 0 {
            let Some(joined) = self.delayed.join_next().await else {
                break;
            };
            if let Ok(later) = joined
                && let Err(end) = self.go_on(later).await
            {
                return end;
            }
        }
        Ended::Clean
    }

    async fn go_on(&mut self, later: Later) -> Result<(), Ended> {
        let emits = match later {
            Later::Rest(rest) => {
                self.awaited -= 1;
                if is_forgotten(rest.iter(), &self.forgotten) {
                    return Ok(());
                }
                rest
            }
            Later::Wake(ticket, awaited) => {
                self.awaited -= usize::from(awaited);
                self.wire.wake(ticket)
            }
        };
        self.perform(emits, false).await
    }

    /// Does these in order. Delays hold up what is queued behind where that is said, else it overtakes.
    async fn perform(&mut self, emits: Vec<Emit>, in_turn: bool) -> Result<(), Ended> {
        let mut emits = emits.into_iter().peekable();
        while let Some(emit) = emits.next() {
            match emit {
                Emit::Bytes(bytes) => {
                    let told: Vec<Emit> =
                        std::iter::from_fn(|| emits.next_if(|emit| matches!(emit, Emit::Out(_))))
                            .collect();
                    // Who has read it all finds it in the journal, and of what nobody reads nothing is there: the tap
                    // is told between the last two bytes.
                    let (most, last) =
                        bytes.split_at(bytes.len().saturating_sub(usize::from(!told.is_empty())));
                    self.write(most).await?;
                    self.tell(&told);
                    self.write(last).await?;
                }
                Emit::Bytewise(bytes) => {
                    for byte in bytes {
                        self.write(&[byte]).await?;
                    }
                }
                Emit::Stderr(bytes) => self.write_errors(&bytes).await,
                Emit::Flood(flood) => self.flood(&flood).await?,
                Emit::Delay(length) => {
                    // No frame can overtake where no time passes, and none may: which one it is would be chance.
                    if in_turn || !self.clock.takes_time() {
                        self.clock.sleep(length).await;
                    } else {
                        self.later(length, emits.collect());
                        return Ok(());
                    }
                }
                Emit::CloseStdout => {
                    if let Some(mut output) = self.output.take() {
                        // What cannot be closed goes with the process.
                        let _ = output.shutdown().await;
                    }
                }
                Emit::Spawn(arguments) => {
                    if let Err(error) = spawn(&arguments) {
                        let text = format!("the child cannot start: {error}\n");
                        self.write_errors(text.as_bytes()).await;
                    }
                }
                Emit::TakeMemory(size) => self.taken.push(memory(size)),
                Emit::Wake(length, ticket) => self.wake(length, ticket),
                Emit::Out(_) => self.tell(&[emit]),
                // There is one way for all.
                Emit::To(_) => {}
                Emit::Forget(ticket) => drop(self.forgotten.insert(ticket)),
                Emit::End(ending) => return Err(Ended::Fault(ending)),
            }
        }
        Ok(())
    }

    /// Tells the tap what is out; nothing is where stdout is closed.
    fn tell(&self, outs: &[Emit]) {
        if self.output.is_some() {
            outs.iter()
                .filter_map(Emit::ticket)
                .for_each(|it| self.wire.out(it));
        }
    }

    fn wake(&mut self, length: Duration, ticket: Ticket) {
        let awaited = length < CLOSE;
        self.awaited += usize::from(awaited);
        self.delayed.spawn(async move {
            tokio::time::sleep(length).await;
            Later::Wake(ticket, awaited)
        });
    }

    fn later(&mut self, length: Duration, rest: Vec<Emit>) {
        self.awaited += 1;
        let clock = self.clock.clone();
        self.delayed.spawn(async move {
            clock.sleep(length).await;
            Later::Rest(rest)
        });
    }

    async fn flood(&mut self, flood: &Flood) -> Result<(), Ended> {
        for chunk in flood.chunks() {
            match flood.outlet {
                Outlet::Stdout => self.write(&chunk).await?,
                Outlet::Stderr => self.write_errors(&chunk).await,
            }
        }
        Ok(())
    }

    /// The server goes on answering when stderr is closed.
    async fn write_errors(&mut self, bytes: &[u8]) {
        let _ = self.errors.write_all(bytes).await;
        let _ = self.errors.flush().await;
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        let Some(output) = self.output.as_mut().filter(|_| !bytes.is_empty()) else {
            return Ok(());
        };
        let written = async {
            output.write_all(bytes).await?;
            output.flush().await
        };
        // Nobody reads our stdout any more.
        written.await.map_err(|_| Ended::Clean)
    }
}

/// Starts our own executable beside us. It outlives us: that is what it is for.
fn spawn(arguments: &[&str]) -> std::io::Result<()> {
    std::process::Command::new(std::env::current_exe()?)
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .map(drop)
}

/// Memory that was written to, so that it is really there; as much as there is to be had.
fn memory(size: u64) -> Vec<u8> {
    let mut taken: Vec<u8> = Vec::new();
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if taken.try_reserve_exact(size).is_ok() {
        let page = [1; 4096];
        while taken.len() + page.len() <= size {
            taken.extend_from_slice(&page);
        }
    }
    taken
}
