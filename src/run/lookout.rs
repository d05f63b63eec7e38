//! Looks at the files of a job: after each step of which an expectation is about files, and after the subject; and
//! knows what is waited for after an answer. How files are read is `isolate`'s, what a wait is `check`'s.

use std::{collections::BTreeMap, path::Path, sync::OnceLock};

use check::{Read, waiting::Wait};
use host::{
    files::Depth,
    host::Peer,
    pace::Until,
    place::{Compared, Paths, Place, Sought},
};
use mcp::{
    observation::{
        Observation, StepPart,
        disruption::Disruption,
        files::{FileState, FilesSeen},
    },
    script::{
        subject::{StepOrder, Subject},
        template::Bindings,
    },
    session::{Awaited, Hooks, Look, OnEnd, Whose},
};
use suite::{
    Dialect,
    lower::expectation::resolve,
    model::expectation::{Expectation, FilesWanted, Wanted},
    plan::job::RunJob,
};

/// A job's files, and what is wanted of them.
pub(super) struct Watch<'a> {
    pub(super) place: &'a Place,
    pub(super) server: &'a Peer,
    pub(super) job: &'a RunJob,
    pub(super) dialect: Dialect,
    /// How long may be looked.
    pub(super) until: Until,
    /// What the setup left at the paths of `file_unchanged`.
    pub(super) prepared: OnceLock<FilesSeen>,
}

impl Watch<'_> {
    /// What the subject left behind; steps that went at once too, for they have no moments of their own.
    /// Of what could not be observed no file is judged, and a look that fails must not take the place of the reason.
    pub(super) async fn after_subject(
        &self,
        seen: &Observation,
        bindings: &Bindings,
    ) -> Result<FilesSeen, Disruption> {
        if seen.disruption.is_some() {
            return Ok(FilesSeen::default());
        }
        let body = &self.job.body;
        let order = StepOrder::Parallel;
        let at_once = matches!(&body.subject, Subject::Steps { order: it, .. } if *it == order);
        let of_steps = body.of_steps.iter().filter(|_| at_once);
        let of_steps = of_steps.flat_map(|step| &step.wanted);
        let seen = self.look(body.wanted.iter().chain(of_steps), bindings);
        let mut seen = seen.await.map(Option::unwrap_or_default)?;
        if let Some(prepared) = self.prepared.get() {
            self.since(prepared, &mut seen);
        }
        Ok(seen)
    }

    /// Adds what the setup left. The Go tool compares with that, and nothing but content.
    fn since(&self, prepared: &FilesSeen, seen: &mut FilesSeen) {
        for (path, file) in &mut seen.paths {
            let Some(then) = prepared.paths.get(path).map(|file| &file.after) else {
                continue;
            };
            if self.dialect == Dialect::Compat && *then != FileState::Directory {
                file.before = then.clone();
                file.inside = None;
            } else {
                file.prepared = Some(then.clone());
            }
        }
    }

    /// Looks at the paths of `file_unchanged` when the setup is over.
    async fn look_prepared(&self, bindings: &Bindings) -> Result<(), Disruption> {
        let wanted = self.job.body.wanted.iter();
        let wanted = wanted.filter(|wanted| {
            let resolved = resolve(wanted, bindings, self.dialect);
            resolved.is_ok_and(|expectation| wants_unchanged(&expectation))
        });
        if let Some(seen) = self.look(wanted, bindings).await? {
            self.prepared.get_or_init(|| seen);
        }
        Ok(())
    }

    /// The files that are asked for; `None` when none are.
    async fn look(
        &self,
        wanted: impl Iterator<Item = &Wanted>,
        bindings: &Bindings,
    ) -> Result<Option<FilesSeen>, Disruption> {
        let wanted: Vec<&Wanted> = wanted.filter(|wanted| about_files(wanted)).collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        let sought = sought(&wanted, bindings, self.dialect);
        // Most assertions name no file, and those that do not should not carry the room for this along.
        let seen = self.place.look_after(&sought, self.server, &self.until);
        Box::pin(seen).await.map(Some)
    }

    /// What the session of the job needs to know of it.
    pub(super) fn hooks(&self) -> Hooks<'_> {
        Hooks {
            after_step: Box::new(move |part, index| self.after_step(part, index)),
            awaited: Box::new(move |whose, bindings| self.awaited(whose, bindings)),
            on_end: if self.job.body.wants_anywhere(&["exit"]) {
                OnEnd::IsObserved
            } else {
                OnEnd::Disrupts
            },
        }
    }

    fn after_step(&self, part: StepPart, index: usize) -> Option<Look<'_>> {
        let wanted = &self.job.body.wanted_of(part).get(index)?.wanted;
        let is_prepared = part == StepPart::Setup && index + 1 == self.job.body.setup.len();
        if !is_prepared && !wanted.iter().any(about_files) {
            return None;
        }
        Some(Box::new(move |bindings: Bindings| {
            Box::pin(async move {
                let seen = self.look(wanted.iter(), &bindings).await?;
                if is_prepared {
                    self.look_prepared(&bindings).await?;
                }
                Ok(seen)
            })
        }))
    }

    fn awaited(&self, whose: Whose, bindings: &Bindings) -> Option<Awaited> {
        let body = &self.job.body;
        let (wanted, within) = match whose {
            Whose::Step(part, index) => (&body.wanted_of(part).get(index)?.wanted, None),
            Whose::Subject => (&body.wanted, body.subject.within()),
        };
        // One that cannot be resolved is told when it is judged.
        let resolved = wanted
            .iter()
            .filter_map(|wanted| resolve(wanted, bindings, self.dialect).ok());
        let wait = Wait::of(resolved, within)?;
        Some(Awaited {
            least: wait.least,
            most: wait.most,
            what: wait.what,
            enough: Box::new(move |seen| wait.is_enough(seen)),
        })
    }
}

/// Whether an expectation is about paths that are as they were.
fn wants_unchanged(expectation: &Expectation) -> bool {
    if let Expectation::Not(inner) = expectation {
        return inner.iter().any(|(_, inner)| wants_unchanged(inner));
    }
    matches!(expectation, Expectation::Files(FilesWanted::Unchanged(_)))
}

/// The expectations that are told of a file that is not there.
const WANT_A_FILE: [&str; 5] = [
    "file_contains",
    "file_not_contains",
    "file_equals",
    "file_exists",
    "not",
];

/// What expectations look for in a place.
fn sought(wanted: &[&Wanted], bindings: &Bindings, dialect: Dialect) -> Sought {
    let all = || wanted.iter().copied();
    let some = all().filter(|wanted| WANT_A_FILE.contains(&wanted.key));
    let missed = paths(some, bindings, dialect);
    let asked = all().any(|it| matches!(it.key, "not" | "only_changed" | "file_unchanged"));
    // In compat mode a relative path starts in the caller's directory, whether or not there is a fixture.
    let is_callers = |path: &str| dialect == Dialect::Compat && Path::new(path).is_relative();
    let paths = paths(all(), bindings, dialect).into_iter();
    let (callers, paths) = paths.partition(|(path, _)| is_callers(path));
    Sought {
        paths,
        callers,
        missed: missed.into_keys().collect(),
        compared: if asked { Compared::Yes } else { Compared::No },
    }
}

/// What the expectations of a job look for, as far as its name is known before the server runs.
pub(super) fn sought_before(job: &RunJob, bindings: &Bindings, dialect: Dialect) -> Sought {
    let all = job.body.all_wanted();
    let all: Vec<&Wanted> = all.filter(|wanted| about_files(wanted)).collect();
    sought(&all, bindings, dialect)
}

/// The paths that expectations name.
fn paths<'a>(
    wanted: impl Iterator<Item = &'a Wanted>,
    bindings: &Bindings,
    dialect: Dialect,
) -> Paths {
    let mut paths = BTreeMap::new();
    for wanted in wanted {
        let Ok(expectation) = resolve(wanted, bindings, dialect) else {
            continue;
        };
        check::read(&expectation, &mut |path: &str, read: Read| {
            let depth = match read {
                Read::Content => Depth::Content,
                Read::Digest => Depth::Digest,
            };
            let known = paths.entry(path.to_owned()).or_insert(depth);
            *known = depth.max(*known);
        });
    }
    paths
}

/// Whether an expectation may be about files.
fn about_files(wanted: &Wanted) -> bool {
    wanted.key.starts_with("file_") || matches!(wanted.key, "not" | "only_changed")
}
