//! Looks at the files of a job, after each step with an expectation about files and after the subject; and knows what is
//! waited for after an answer.

use std::{path::Path, sync::OnceLock};

use check::waiting::Wait;
use host::{
    host::Peer,
    pace::Until,
    place::{Paths, Place, Sought},
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
    model::{
        expectation::{Beside, FilesLook, FilesWanted, Wanted},
        runtime_rules::FilesOf,
    },
    plan::job::RunJob,
};

/// A job's files, and what is wanted of them.
pub(super) struct Watch<'a> {
    pub(super) place: &'a Place,
    pub(super) server: &'a Peer,
    pub(super) job: &'a RunJob,
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
            Self::since(prepared, &mut seen);
        }
        Ok(seen)
    }

    /// Compares with what the setup left, and nothing but content, as the Go tool does.
    fn since(prepared: &FilesSeen, seen: &mut FilesSeen) {
        for (path, file) in &mut seen.paths {
            let then = prepared.paths.get(path).map(|file| &file.after);
            if let Some(then) = then.filter(|then| **then != FileState::Directory) {
                file.before = then.clone();
                file.inside = None;
            }
        }
    }

    /// Looks at the paths of `file_unchanged` when the setup is over.
    async fn look_prepared(&self, bindings: &Bindings) -> Result<(), Disruption> {
        let wanted = self.job.body.wanted.iter();
        let wanted = wanted.filter(|wanted| {
            let bound = wanted.bind(bindings);
            bound.is_ok_and(|expectation| {
                let mut of_files = expectation.of_files().into_iter();
                of_files.any(|wanted| matches!(wanted, FilesWanted::Unchanged(_)))
            })
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
        let sought = sought(&wanted, bindings, self.job.planned.assertion.rules.files);
        // Most assertions name no file, and those that do not should not carry the room for this along.
        let seen = self.place.look_after(&sought, self.server, &self.until);
        Box::pin(seen).await.map(Some)
    }

    /// What the session of the job needs to know of it.
    pub(super) fn hooks(&self) -> Hooks<'_> {
        Hooks {
            after_step: Box::new(move |part, index| self.after_step(part, index)),
            awaited: Box::new(move |whose, bindings| self.awaited(whose, bindings)),
            on_end: if self.job.body.looks_at(Beside::Exit) {
                OnEnd::IsObserved
            } else {
                OnEnd::Disrupts
            },
        }
    }

    fn after_step(&self, part: StepPart, index: usize) -> Option<Look<'_>> {
        let wanted = &self.job.body.wanted_of(part).get(index)?.wanted;
        let is_last = part == StepPart::Setup && index + 1 == self.job.body.setup.len();
        let is_prepared = is_last && self.job.planned.assertion.rules.files == FilesOf::Caller;
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
        // An expectation that cannot be bound is reported when it is judged.
        let bound = wanted
            .iter()
            .filter_map(|wanted| wanted.bind(bindings).ok());
        let wait = Wait::of(bound, within)?;
        Some(Awaited {
            least: wait.least,
            most: wait.most,
            what: "notifications and requests of the server",
            enough: Box::new(move |seen| wait.is_enough(seen)),
        })
    }
}

/// What expectations look for in a place. One that is not known yet may ask what changed.
fn sought(wanted: &[&Wanted], bindings: &Bindings, files_of: FilesOf) -> Sought {
    let mut paths = Paths::new();
    let mut compared = false;
    for wanted in wanted {
        let Ok(expectation) = wanted.bind(bindings) else {
            compared = true;
            continue;
        };
        for (look, named) in expectation.of_files().into_iter().map(FilesWanted::reads) {
            for path in named {
                let known = paths.entry(path.to_owned()).or_insert(look);
                *known = look.max(*known);
            }
            compared |= look == FilesLook::Changed;
        }
    }
    let is_callers = |path: &str| files_of == FilesOf::Caller && Path::new(path).is_relative();
    let (callers, paths) = paths.into_iter().partition(|(path, _)| is_callers(path));
    Sought {
        paths,
        callers,
        compared,
    }
}

/// What the expectations of a job look for, as far as its name is known before the server runs.
pub(super) fn sought_before(job: &RunJob, bindings: &Bindings) -> Sought {
    let all = job.body.all_wanted();
    let all: Vec<&Wanted> = all.filter(|wanted| about_files(wanted)).collect();
    sought(&all, bindings, job.planned.assertion.rules.files)
}

fn about_files(wanted: &Wanted) -> bool {
    wanted.looks_at(Beside::Files)
}
