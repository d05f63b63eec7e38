//! What a container engine took for the containers of a run, apart from what was done in them: sums over its records,
//! in microseconds. Containers work side by side, so sums may be longer than the run.

use super::{
    RunReport,
    record::{ContainerRecord, Record},
};

/// Times of all containers, one added to the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineTime {
    /// How many there were.
    pub containers: usize,
    /// To create them.
    pub create: u64,
    /// To take the fixtures.
    pub fill: u64,
    /// To attach to them and start them.
    pub start: u64,
    /// To remove them.
    pub remove: u64,
    /// What was done in them: handshakes, setup, subjects.
    pub servers: u64,
}

impl EngineTime {
    /// Adds an assertion, with the attempts before its last one.
    fn add(&mut self, record: &Record) {
        if let Some(container) = &record.container {
            self.made(container);
            let phases = record.phases;
            self.servers += phases.handshake + phases.setup + phases.subject;
        }
        for attempt in &record.attempts {
            if let Some(container) = &attempt.container {
                // Of these no phases are kept.
                let engine = self.made(container);
                self.servers += attempt.duration_us.saturating_sub(engine);
            }
        }
    }

    /// Adds a container; what it took before the server ran. One that was there before took nothing, and is known of
    /// the assertion it was made for.
    fn made(&mut self, container: &ContainerRecord) -> u64 {
        self.containers += usize::from(container.create_us > 0);
        self.create += container.create_us;
        self.fill += container.fill_us;
        self.start += container.start_us;
        self.remove += container.remove_us;
        container.create_us + container.fill_us + container.start_us
    }

    /// All that the engine took.
    pub fn engine(&self) -> u64 {
        self.create + self.fill + self.start + self.remove
    }
}

impl RunReport {
    /// The times of all containers.
    pub fn engine_time(&self) -> EngineTime {
        let mut sum = EngineTime::default();
        for record in &self.records {
            sum.add(record);
        }
        sum
    }
}
