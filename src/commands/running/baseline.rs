//! Reads and writes baseline files.

use std::path::Path;

use super::{Interrupts, Refusal, input};
use crate::deliver::{self, DeliverError, Destination, file::identity, stdout::Stdout};
use report::{RunReport, baseline::Baseline, compare::Scope};

/// Reads a baseline and its name for reports. The file may be missing if `option` writes it too. Paths are relative to
/// `base`.
pub(crate) fn read(
    path: &Path,
    (option, written): (&str, Option<&Path>),
    (base, interrupts): (&Path, &Interrupts),
) -> Result<Option<(String, Baseline)>, Refusal> {
    let shown = path.display().to_string();
    let Some(text) = input::baseline(path, interrupts)? else {
        let file = |path: &Path| identity(&base.join(path));
        let is_same = |written| written == path || file(written) == file(path);
        if written.is_some_and(is_same) {
            return Ok(None);
        }
        return Err(
            Refusal::invalid(format!("the baseline `{shown}` does not exist"))
                .with_help(format!("make it with {option}")),
        );
    };
    let baseline = Baseline::parse(&text).map_err(|problem| {
        Refusal::invalid(format!("the baseline `{shown}` cannot be used: {problem}"))
    })?;
    Ok(Some((shown, baseline)))
}

/// Writes a baseline of a complete run that was compared with `compared`.
pub(crate) fn save(
    (path, place): (&Path, &Destination),
    report: &RunReport,
    compared: Option<&Baseline>,
    stdout: &mut Stdout,
) -> Result<(), DeliverError> {
    let old = match place {
        Destination::Stdout => None,
        // A file that is not a baseline is replaced; one that cannot be read is an error.
        Destination::File(_) | Destination::Within(_, _) | Destination::StepSummary(_) => {
            input::replaced(path)?.and_then(|text| Baseline::parse(&text).ok())
        }
    };
    let known = Baseline::known(compared, old);
    let new = Baseline::updated(known.as_ref(), report, Scope::Whole);
    deliver::write(place, &new.render(), stdout)
}
