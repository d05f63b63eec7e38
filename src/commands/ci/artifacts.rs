//! Reads plans, shard results and whole runs, none of which is trusted: links are not followed, sizes and counts are
//! bounded, and errors name the file.

use std::{fs, io::ErrorKind, path::Path};

use walkdir::WalkDir;

use crate::commands::running::input;
use report::{
    RunReport,
    merge::Blob,
    plan_file::{self, PlanFile},
    run_json::{self, Unreadable},
    verdict::{Cause, Verdict},
};
use text::digest::sha256;

/// The most entries in the folder and its subfolders.
const MOST_ENTRIES: usize = 4096;

/// The deepest nesting: each downloaded artifact has a folder of its own.
const DEEPEST: usize = 4;

/// The most bytes of all results together.
const MOST_BYTES: usize = 2 * 1024 * 1024 * 1024;

/// The contents of a folder.
#[derive(Debug, Default)]
pub(super) struct Artifacts {
    /// The readable results.
    pub(super) blobs: Vec<Blob>,
    /// Errors about the others.
    pub(super) causes: Vec<Cause>,
    bytes: usize,
}

/// Reads a plan.
pub(super) fn plan(path: &Path) -> Result<PlanFile, Cause> {
    let shown = path.display();
    let invalid = |problem: String| {
        Cause::new(
            Verdict::Invalid,
            &format!("the plan `{shown}` cannot be used: {problem}"),
        )
    };
    let text = bounded(path, plan_file::LONGEST_FILE).map_err(invalid)?;
    PlanFile::parse(&text).map_err(invalid)
}

/// Reads one whole run.
pub(super) fn run(path: &Path) -> Result<RunReport, Cause> {
    let shown = path.display();
    let found = fs::symlink_metadata(path);
    if found.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        let text = format!(
            "`{shown}` is not there: its run ended before it was written, or it was not kept"
        );
        return Err(Cause::new(Verdict::Incomplete, &text));
    }
    let text = bounded(path, run_json::LONGEST_FILE).map_err(|problem| {
        let text = format!("`{shown}` cannot be used: {problem}");
        Cause::new(Verdict::Incomplete, &text)
    })?;
    let run = run_json::parse(&text).map_err(|error| unreadable(&shown.to_string(), &error))?;
    if run.plan.shard > 0 {
        let text = format!("`{shown}` is the result of one shard, not of a whole run");
        return Err(Cause::new(Verdict::Invalid, &text));
    }
    Ok(run)
}

fn unreadable(name: &str, error: &Unreadable) -> Cause {
    let verdict = match error {
        Unreadable::Foreign(_) => Verdict::Invalid,
        Unreadable::Broken(_) => Verdict::Incomplete,
    };
    Cause::new(verdict, &format!("`{name}` cannot be used: {error}"))
}

/// Reads the results in a folder. A missing folder holds none.
pub(super) fn folder(path: &Path) -> Artifacts {
    let mut artifacts = Artifacts::default();
    if !path.exists() {
        return artifacts;
    }
    let walk = WalkDir::new(path).min_depth(1).max_depth(DEEPEST + 1);
    let mut entries: Vec<_> = walk.into_iter().take(MOST_ENTRIES + 1).collect();
    if entries.len() > MOST_ENTRIES {
        let problem = format!("there are more than {MOST_ENTRIES} entries");
        artifacts.refuse(path, path, &problem);
    }
    entries.sort_by_cached_key(|entry| entry.as_ref().ok().map(|it| it.path().to_owned()));
    for entry in entries {
        match entry {
            Err(error) => {
                let place = error.path().unwrap_or(path).to_owned();
                artifacts.refuse(path, &place, &error.to_string());
            }
            Ok(entry) if entry.file_type().is_dir() && entry.depth() <= DEEPEST => {}
            Ok(entry) if entry.file_type().is_dir() => {
                artifacts.refuse(path, entry.path(), "it lies too deep");
            }
            Ok(entry) => artifacts.add(path, entry.path()),
        }
    }
    artifacts
}

impl Artifacts {
    /// Reads one file.
    fn add(&mut self, root: &Path, path: &Path) {
        let left = MOST_BYTES.saturating_sub(self.bytes);
        let text = match bounded(path, left.min(run_json::LONGEST_FILE)) {
            Ok(text) => text,
            Err(problem) => return self.refuse(root, path, &problem),
        };
        self.bytes += text.len();
        let name = shown(root, path);
        match run_json::parse(&text) {
            Ok(run) => self.blobs.push(Blob {
                name,
                sha256: sha256(text.as_bytes()),
                run,
            }),
            Err(error) => self.causes.push(unreadable(&name, &error)),
        }
    }

    fn refuse(&mut self, root: &Path, path: &Path, problem: &str) {
        let text = format!("`{}` cannot be used: {problem}", shown(root, path));
        self.causes.push(Cause::new(Verdict::Incomplete, &text));
    }
}

/// A path relative to the folder.
fn shown(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.to_string_lossy().into_owned()
}

/// Reads a regular file of at most `longest` bytes, following no link.
fn bounded(path: &Path, longest: usize) -> Result<String, String> {
    let found = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is a link or no file".to_owned());
    }
    input::regular_text(path, longest as u64).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::{MOST_ENTRIES, folder, plan};
    use report::verdict::Verdict;

    #[test]
    fn what_is_no_result_is_named() {
        let case = |make: &dyn Fn(&std::path::Path), wanted: &str| {
            let place = tempfile::tempdir().unwrap();
            make(place.path());
            let found = folder(place.path());
            assert!(found.blobs.is_empty());
            assert_eq!(found.causes.len(), 1, "{:?}", found.causes);
            let cause = &found.causes[0];
            assert!(cause.text.contains(wanted), "{cause:?}");
            assert_eq!(cause.verdict, Verdict::Incomplete);
        };
        case(
            &|at| symlink("/etc/passwd", at.join("a.json")).unwrap(),
            "`a.json` cannot be used: it is a link",
        );
        case(&|at| symlink("/", at.join("x")).unwrap(), "it is a link");
        case(
            &|at| fs::create_dir_all(at.join("1/2/3/4/5")).unwrap(),
            "`1/2/3/4/5` cannot be used: it lies too deep",
        );
        case(
            &|at| fs::write(at.join("b"), [0xff]).unwrap(),
            "not valid UTF-8",
        );
        case(&|at| fs::write(at.join("b"), "{").unwrap(), "invalid JSON");
        case(
            &|at| {
                let file = fs::File::create(at.join("b")).unwrap();
                file.set_len(1 << 40).unwrap();
            },
            "longer than 67108864 bytes",
        );
        case(
            &|at| {
                for number in 0..=MOST_ENTRIES {
                    fs::create_dir(at.join(number.to_string())).unwrap();
                }
            },
            "more than 4096 entries",
        );
    }

    #[test]
    fn no_folder_is_no_result() {
        let place = tempfile::tempdir().unwrap();
        let found = folder(&place.path().join("none"));
        assert!(found.blobs.is_empty() && found.causes.is_empty());
    }

    #[test]
    fn a_plan_that_is_a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("plan.json");
        assert_eq!(plan(&path).unwrap_err().verdict, Verdict::Invalid);
        symlink("/dev/zero", &path).unwrap();
        assert!(plan(&path).unwrap_err().text.contains("link"));
    }
}
