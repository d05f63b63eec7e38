//! What a run of `ci` is compared with, and where the next baseline is kept: on the data branch, in a file, nowhere.

use std::{collections::BTreeMap, path::Path};

use crate::{
    cli::ci::Store,
    commands::running::{Interrupts, Refusal, input},
    deliver::{self, DeliverError, Destination, clash, stdout::Stdout},
    report::{RunReport, baseline::Baseline, compare::Scope},
};

/// Reads the baseline with the words for what it is. A file that is written too may be new; paths are from `base` on.
pub(super) fn read(
    store: &Store,
    written_too: &Store,
    (base, interrupts): (&Path, &Interrupts),
) -> Result<Option<(String, Baseline)>, Refusal> {
    let path = match store {
        Store::Auto | Store::Off => return Ok(None),
        Store::Path(path) => path,
    };
    let shown = path.display().to_string();
    let Some(text) = input::baseline(path, interrupts)? else {
        if is_same(store, written_too, base) {
            return Ok(None);
        }
        return Err(
            Refusal::invalid(format!("the baseline `{shown}` does not exist"))
                .with_help("make it with --update-baseline"),
        );
    };
    let baseline = Baseline::parse(&text).map_err(|problem| {
        Refusal::invalid(format!("the baseline `{shown}` cannot be used: {problem}"))
    })?;
    Ok(Some((shown, baseline)))
}

/// Whether both are one file, by whichever names.
fn is_same(one: &Store, other: &Store, base: &Path) -> bool {
    match (one, other) {
        (Store::Path(one), Store::Path(other)) => {
            let file = |path: &Path| clash::file(&base.join(path));
            file(one).is_some() && file(one) == file(other)
        }
        (Store::Auto | Store::Off | Store::Path(_), _) => false,
    }
}

/// How long assertions took, by their identity, in microseconds.
pub(super) fn durations(
    store: &Store,
    interrupts: &Interrupts,
) -> Result<BTreeMap<String, u64>, Refusal> {
    let known = read(store, &Store::Off, (Path::new(""), interrupts))?;
    Ok(known.map_or_else(BTreeMap::new, |(_, baseline)| baseline.durations()))
}

/// Writes what the run says into the file, after any comparison; a whole run that was compared with `compared`.
pub(super) fn save(
    (path, place): (&Path, &Destination),
    report: &RunReport,
    compared: Option<&Baseline>,
    stdout: &mut Stdout,
) -> Result<(), DeliverError> {
    // A file that is no baseline is replaced, as the option says; one that cannot be read is not.
    let old = input::replaced(path)?.and_then(|text| Baseline::parse(&text).ok());
    let known = Baseline::known(compared, old);
    let new = Baseline::updated(known.as_ref(), report, Scope::Whole);
    deliver::write(place, &new.render(), stdout)
}
