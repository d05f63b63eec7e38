//! The lock files of the suites: what a server lists now is compared with what was reviewed.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    commands::{asking::LONGEST_CATALOG, running::input::regular_text},
    inspect::lock,
};
use report::{
    RunReport,
    cleaner::Cleaner,
    verdict::{Cause, Verdict},
};
use suite::discover::LOCK;

/// Compares what the servers of a run list with the nearest lock file of each suite. A file that cannot be used is a cause.
pub(super) fn compare(report: &mut RunReport, directory: &Path, cleaner: &Cleaner) -> Vec<Cause> {
    let suites = report.source.suite.clone().unwrap_or_default();
    let mut files: Vec<PathBuf> = suites.lines().filter_map(|it| of(directory, it)).collect();
    files.sort();
    files.dedup();
    let mut causes = Vec::new();
    for file in files {
        let shown = file.strip_prefix(directory).unwrap_or(&file);
        let shown = text::name(&shown.display().to_string());
        let read = regular_text(&file, LONGEST_CATALOG);
        let read = read.map_err(|error: io::Error| error.to_string());
        match read.and_then(|text| lock::read(&text)) {
            Ok(all) => {
                report.compare_with_lock(&shown, &all, cleaner);
            }
            Err(why) => {
                let text = format!("`{shown}` cannot be used: {why}");
                causes.push(Cause::new(Verdict::Invalid, &text));
            }
        }
    }
    causes
}

/// The lock file that is nearest to a suite: beside it, or above it up to the working directory.
fn of(directory: &Path, suite: &str) -> Option<PathBuf> {
    let suite = directory.join(suite);
    let folders = suite.ancestors().take_while(|it| it.starts_with(directory));
    let mut files = folders.map(|it| it.join(LOCK));
    files.find(|it| it.is_file())
}
