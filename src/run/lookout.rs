//! Looks at the files of a job: after each step of which an expectation is about files, and after the subject; and
//! knows what is waited for after an answer. What files are and how they are read is `place`'s, what a wait is `check`'s.

use super::place::{Place, about_files};
use crate::{
    check::waiting::Wait,
    isolate::running::Running,
    observation::{StepPart, disruption::Disruption, files::FilesSeen},
    plan::job::RunJob,
    session::{Awaited, Looking, Lookout, OnEnd, Whose},
    suite::{
        Dialect,
        lower::expectation::resolve,
        model::{
            expectation::Wanted,
            subject::{Step, StepOrder, Subject},
        },
        template::Bindings,
    },
};

/// A job's files, and what is wanted of them.
pub(super) struct Watch<'a> {
    pub(super) place: &'a Place,
    pub(super) server: &'a Running,
    pub(super) job: &'a RunJob,
    pub(super) dialect: Dialect,
}

impl Watch<'_> {
    /// What the subject left behind; steps that went at once too, for they have no moments of their own.
    pub(super) async fn after_subject(&self, bindings: &Bindings) -> Result<FilesSeen, Disruption> {
        let body = &self.job.body;
        let steps: &[Step] = match &body.subject {
            Subject::Steps {
                steps,
                order: StepOrder::Parallel,
            } => steps,
            Subject::Steps {
                order: StepOrder::OneByOne,
                ..
            }
            | Subject::Tool(_)
            | Subject::Tools(_)
            | Subject::Initialize
            | Subject::Resources(_)
            | Subject::Prompts(_)
            | Subject::Completion(_)
            | Subject::Sampling(_)
            | Subject::Elicitation(_)
            | Subject::Logging { .. }
            | Subject::Notifications { .. }
            | Subject::Trajectory(_)
            | Subject::Raw(_)
            | Subject::Http(_) => &[],
        };
        let of_steps = steps.iter().flat_map(|step| &step.wanted);
        let seen = self.look(body.wanted.iter().chain(of_steps), bindings);
        seen.await.map(Option::unwrap_or_default)
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
        let bindings = (bindings, self.dialect);
        let seen = self.place.look_after(&wanted, bindings, self.server);
        seen.await.map(Some)
    }
}

impl Lookout for Watch<'_> {
    fn after_step<'a>(
        &'a self,
        part: StepPart,
        index: usize,
        bindings: &'a Bindings,
    ) -> Looking<'a> {
        Box::pin(async move {
            let step = self.job.body.steps(part).get(index);
            let wanted = step.into_iter().flat_map(|step| &step.wanted);
            self.look(wanted, bindings).await
        })
    }

    fn awaited(&self, whose: Whose, bindings: &Bindings) -> Option<Awaited> {
        let body = &self.job.body;
        let (wanted, within) = match whose {
            Whose::Step(part, index) => (&body.steps(part).get(index)?.wanted, None),
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

    fn on_end(&self) -> OnEnd {
        if self.job.body.wants_anywhere(&["exit"]) {
            OnEnd::IsObserved
        } else {
            OnEnd::Disrupts
        }
    }
}
