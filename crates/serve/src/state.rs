//! Named counters of the server, in memory or in a `--state` file that outlives the process.
//!
//! `flaky`, `counter` and fault rules count here. With a file each step is one locked read and
//! write, so servers that run at the same time never count the same step twice.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The counters; clones share them.
#[derive(Debug, Clone, Default)]
pub struct State {
    file: Option<PathBuf>,
    memory: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl State {
    /// Counters in memory, or in `file`.
    pub fn new(file: Option<PathBuf>) -> Self {
        Self {
            file,
            memory: Arc::default(),
        }
    }

    /// Makes the file where there is none, and says why it cannot keep counters. A server that finds that out at its
    /// first step would answer as if there were no rules.
    pub fn check(&self) -> io::Result<()> {
        match &self.file {
            None => Ok(()),
            Some(path) => open(path).and_then(|mut file| read(&mut file)).map(drop),
        }
    }

    /// Whether the counters outlive the process.
    pub fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// Counts one step of `key`: 1 the first time.
    pub fn bump(&self, key: &str) -> io::Result<u64> {
        match &self.file {
            None => {
                let mut counters = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(step(&mut counters, key))
            }
            Some(path) => {
                let mut file = open(path)?;
                let mut counters = read(&mut file)?;
                let count = step(&mut counters, key);
                write(&mut file, &counters)?;
                Ok(count)
            }
        }
    }
}

/// The file for this process alone, until it is dropped.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    // A pipe would be waited for, and a device forgets.
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    file.lock()?;
    Ok(file)
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
    serde_json::from_str(&text)
        .map_err(|error| io::Error::other(format!("it holds no counters: {error}")))
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
    fn what_cannot_keep_counters_is_found_before_the_first_step() {
        let folder = tempfile::tempdir().unwrap();
        let case = |path: &Path| State::new(Some(path.to_owned())).check().is_ok();
        let path = folder.path().join("state.json");
        assert!(case(&path), "it is made");
        State::new(Some(path.clone())).bump("a").unwrap();
        assert!(case(&path), "it is kept");
        assert_eq!(State::new(Some(path)).bump("a").unwrap(), 2);
        assert!(!case(folder.path()));
        assert!(!case(&folder.path().join("no/state.json")));
        assert!(!case(Path::new("/dev/null")));
        assert!(State::default().check().is_ok());
    }

    #[test]
    fn a_broken_file_is_an_error_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        std::fs::write(&path, "[not counters").unwrap();
        let state = State::new(Some(path.clone()));
        assert!(state.check().is_err());
        assert!(state.bump("a").is_err());
        assert_eq!(std::fs::read_to_string(path).unwrap(), "[not counters");
    }
}
