//! Named counters of the server, in memory or in a `--state` file that outlives the process.
//!
//! `flaky`, `counter` and fault rules count here. With a file each step is one locked read and
//! write, so servers that run at the same time never count the same step twice.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The counters; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    file: Option<PathBuf>,
    memory: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl State {
    /// Counters in memory, or in `file`, which is made at the first step.
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        Self {
            file,
            memory: Arc::default(),
        }
    }

    /// Whether the counters outlive the process.
    pub(crate) fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Counts one step of `key`: 1 the first time.
    pub(crate) fn bump(&self, key: &str) -> io::Result<u64> {
        match &self.file {
            None => {
                let mut counters = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(step(&mut counters, key))
            }
            Some(path) => {
                let mut file = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .create(true)
                    .truncate(false)
                    .open(path)?;
                file.lock()?;
                let mut counters = read(&mut file)?;
                let count = step(&mut counters, key);
                write(&mut file, &counters)?;
                Ok(count)
            }
        }
    }
}

fn step(counters: &mut BTreeMap<String, u64>, key: &str) -> u64 {
    let count = counters.entry(key.to_owned()).or_insert(0);
    *count = count.saturating_add(1);
    *count
}

fn read(file: &mut File) -> io::Result<BTreeMap<String, u64>> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    serde_json::from_str(&text).map_err(io::Error::from)
}

fn write(file: &mut File, counters: &BTreeMap<String, u64>) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(counters).map_err(io::Error::from)?;
    text.push(b'\n');
    file.seek(SeekFrom::Start(0))?;
    file.set_len(0)?;
    file.write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_in_a_file_outlive_their_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        assert_eq!(State::new(Some(path.clone())).bump("a").unwrap(), 1);
        assert_eq!(State::new(Some(path.clone())).bump("b").unwrap(), 1);
        assert_eq!(State::new(Some(path)).bump("a").unwrap(), 2);
        assert_eq!(State::default().bump("a").unwrap(), 1);
    }

    #[test]
    fn a_broken_file_is_an_error_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        std::fs::write(&path, "[not counters").unwrap();
        assert!(State::new(Some(path.clone())).bump("a").is_err());
        assert_eq!(std::fs::read_to_string(path).unwrap(), "[not counters");
    }
}
