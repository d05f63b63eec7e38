//! From an observation to a status: every expectation is bound and checked, findings are weighed by how
//! strict the run is. No I/O; the attempt is over when this is called.

use std::{borrow::Cow, collections::BTreeMap};

use super::{explain, shown};
use check::outcome::{
    Failure, Status,
    verdict::{Mismatch, Verdict},
};
use mcp::{
    observation::{
        Observation, StepPart, StepSeen,
        answer::{Answer, Body as AnswerBody},
        disruption::{Disruption, DisruptionKind, Phase},
        finding::{Finding, FindingCode, note},
    },
    script::{
        subject::{OnToolError, Step},
        template::{Bindings, UnknownName},
    },
};
use suite::{
    model::{
        Body, StepWanted,
        expectation::{Expectation, TrafficWanted, Unusable, Wanted},
    },
    plan::job::RunJob,
};

/// How strict a run is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Protocol findings are red.
    pub(crate) strict_protocol: bool,
    /// Green assertions that prove nothing are red.
    pub(crate) strict_vacuity: bool,
}

/// What an attempt amounts to.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) status: Status,
    pub(super) failures: Vec<Failure>,
    pub(super) disruption: Option<Disruption>,
    pub(super) findings: Vec<Finding>,
}

/// Judges an attempt. What could not be observed is an `Error`, whatever else failed.
pub(super) fn judge(
    job: &RunJob,
    bindings: &Bindings,
    seen: &Observation,
    rules: Rules,
) -> Judgement {
    let as_it_came = seen;
    let declared = against_declarations(seen);
    let seen = declared.as_ref().unwrap_or(seen);
    let mut verdicts = Verdicts {
        body: &job.body,
        bindings: Bindings {
            captured: BTreeMap::new(),
            ..bindings.clone()
        },
        rules,
        failures: Vec::new(),
        disruption: seen.disruption.clone(),
        vacuous: Vec::new(),
    };
    let mut bound = Vec::new();
    for (index, step) in seen.steps.iter().enumerate() {
        if let Some(written) = written_step(job, step) {
            // A later step may capture under the same name.
            verdicts.bindings.captured.extend(step.captured.clone());
            let at_step = as_it_came.at_step(index);
            let declared = against_declarations(&at_step);
            verdicts.step(written, step, &declared.unwrap_or(at_step));
        }
    }
    verdicts.bindings.captured.clone_from(&bindings.captured);
    if seen.disruption.is_none() {
        for wanted in &job.body.wanted {
            if let Some(expectation) = verdicts.bind(wanted) {
                verdicts.check(&expectation, wanted, seen, None);
                bound.push(expectation);
            }
        }
    }
    let wanted: Vec<&Expectation> = bound.iter().map(AsRef::as_ref).collect();
    if verdicts.is_green()
        && let Some(mismatch) = check::unasked_error(&wanted, seen)
    {
        let failure = Failure::new(&job.body.subject_origin, mismatch);
        verdicts.failures.push(failure);
    }
    let mut findings = seen.findings.clone();
    findings.append(&mut verdicts.vacuity(job, &wanted, seen));
    verdicts.name_the_tool(seen);
    verdicts.name_the_walls(job, seen);
    let allowed = allowed_findings(&bound);
    if allowed.is_none() {
        verdicts.weigh_unheard(seen);
    }
    verdicts.weigh(job, &findings, allowed);
    let status = match (&verdicts.disruption, verdicts.failures.is_empty()) {
        (Some(_), _) => Status::Error,
        (None, true) => Status::Pass,
        (None, false) => Status::Fail,
    };
    Judgement {
        status,
        failures: verdicts.failures,
        disruption: verdicts.disruption,
        findings,
    }
}

/// The observation with what is wrong with the server's lists, and what the answers do against the declarations of their
/// tools, where there is any of it.
fn against_declarations(seen: &Observation) -> Option<Observation> {
    let catalog = seen.catalog.as_deref()?;
    let steps = seen.steps.iter().filter_map(|step| step.answer.as_ref());
    let found: Vec<Finding> = steps
        .chain(&seen.answer)
        .flat_map(|answer| check::findings_of_answer(answer, catalog))
        .collect();
    let is_new = |listed: &&Finding| {
        let mut known = seen.findings.iter();
        !known.any(|it| (it.code, &it.message) == (listed.code, &listed.message))
    };
    let listed: Vec<Finding> = catalog.findings.iter().filter(is_new).cloned().collect();
    if found.is_empty() && listed.is_empty() {
        return None;
    }
    let mut seen = seen.clone();
    seen.findings.extend(listed);
    for finding in found {
        note(&mut seen.findings, finding.code, finding.message, None);
    }
    Some(seen)
}

/// The findings that an assertion says may occur, if it speaks of them.
fn allowed_findings(bound: &[impl AsRef<Expectation>]) -> Option<&[FindingCode]> {
    bound.iter().find_map(|one| {
        let Expectation::Traffic(TrafficWanted::Findings(codes)) = one.as_ref() else {
            return None;
        };
        Some(codes.as_slice())
    })
}

/// The step of the suite that a step seen belongs to.
fn written_step<'a>(job: &'a RunJob, seen: &StepSeen) -> Option<(&'a Step, &'a StepWanted)> {
    let step = job.body.steps(seen.part).get(seen.index)?;
    Some((step, job.body.wanted_of(seen.part).get(seen.index)?))
}

/// The verdicts collected so far.
struct Verdicts<'a> {
    body: &'a Body,
    bindings: Bindings,
    rules: Rules,
    failures: Vec<Failure>,
    disruption: Option<Disruption>,
    /// What steps do not prove; reported where everything else is green.
    vacuous: Vec<Finding>,
}

impl Verdicts<'_> {
    fn is_green(&self) -> bool {
        self.failures.is_empty() && self.disruption.is_none()
    }

    fn step(
        &mut self,
        (written, of_step): (&Step, &StepWanted),
        step: &StepSeen,
        seen: &Observation,
    ) {
        if seen.answer.is_none() {
            return;
        }
        let label = format!("{} ({})", step.name(), step.label);
        let (failed, mut bound) = (self.failures.len(), Vec::new());
        let disrupted = self.disruption.is_some();
        for wanted in &of_step.wanted {
            if let Some(expectation) = self.bind(wanted) {
                self.check(&expectation, wanted, seen, Some(&label));
                bound.push(expectation);
            }
        }
        let wanted: Vec<&Expectation> = bound.iter().map(AsRef::as_ref).collect();
        // What prepares the subject proves nothing by itself, and an error that is merely allowed neither.
        if step.part == StepPart::Subject && !wanted.is_empty() {
            let found = check::vacuity::findings(&wanted, seen).into_iter();
            self.vacuous.extend(found.map(|finding| Finding {
                message: format!("{label}: {}", finding.message),
                ..finding
            }));
        }
        if written.on_tool_error == OnToolError::Judged
            && self.failures.len() == failed
            && self.disruption.is_none()
            && let Some(mismatch) = check::unasked_error(&wanted, seen)
        {
            self.failures.push(Failure {
                step: Some(label),
                ..Failure::new(&of_step.origin, mismatch)
            });
        }
        if let Some(first) = self.failures.get_mut(failed) {
            first.call = shown::of_step(step);
            let answer = seen.answer.as_ref();
            let no_tool = answer.and_then(|answer| check::vacuity::of_no_tool(answer, seen));
            if let Some(told) = no_tool {
                first.mismatch.hint = Some(before_hint(told, first.mismatch.hint.take()));
            }
        }
        if let Some(disruption) = self.disruption.as_mut().filter(|_| !disrupted) {
            disruption.step = Some(step.index);
            disruption.phase = match step.part {
                StepPart::Setup => Phase::Setup,
                StepPart::Subject => Phase::Subject,
            };
        }
    }

    /// Says of a failed call that the server has no such tool: nothing explains it better. What the expectation
    /// advises stays, because a call of no tool may be what the assertion is about.
    fn name_the_tool(&mut self, seen: &Observation) {
        let no_tool = |answer: &Answer| check::vacuity::of_no_tool(answer, seen);
        let mut own = self.failures.iter_mut().filter(|it| it.step.is_none());
        if let Some(failure) = own.next()
            && let Some(told) = seen.answer.as_ref().and_then(no_tool)
        {
            failure.mismatch.hint = Some(before_hint(told, failure.mismatch.hint.take()));
        }
        // A step that was refused is the last one.
        let refused = |disruption: &&mut Disruption| {
            let kind = disruption.kind;
            matches!(kind, DisruptionKind::ProtocolError | DisruptionKind::Step)
                && disruption.help.is_none()
        };
        let last = seen.steps.last().and_then(|step| step.answer.as_ref());
        if let Some(disruption) = self.disruption.as_mut().filter(refused) {
            disruption.help = last.or(seen.answer.as_ref()).and_then(no_tool);
        }
    }

    /// Says of a call that failed in a container what it ran into.
    fn name_the_walls(&mut self, job: &RunJob, seen: &Observation) {
        let said = seen.answer.as_ref().map(|answer| match &answer.body {
            AnswerBody::Result(reply) if reply.is_error => reply.text.as_str(),
            AnswerBody::ProtocolError(error) => error.message.as_str(),
            AnswerBody::Result(_) => "",
        });
        let target = &job.planned.terms.server.target;
        let walls = said.and_then(|said| explain::walls(target, said));
        if let (Some(failure), Some(walls)) = (self.failures.first_mut(), walls) {
            failure.mismatch.hint =
                Some(before_hint(walls.to_owned(), failure.mismatch.hint.take()));
        }
    }

    /// The expectation with its markers filled in; one that cannot be is an `Error`.
    fn bind<'w>(&mut self, wanted: &'w Wanted) -> Option<Cow<'w, Expectation>> {
        match wanted.bind(&self.bindings) {
            Ok(expectation) => Some(expectation),
            Err(problem) => {
                let message = format!(
                    "{}: `{}` cannot be used: {problem}",
                    wanted.origin.location(),
                    wanted.key
                );
                let phase = Phase::Subject;
                let disruption = match problem {
                    Unusable::Nameless(UnknownName {
                        uncaptured: Some(uncaptured),
                        ..
                    }) => Disruption::new(DisruptionKind::Step, phase, message)
                        .with_frame(uncaptured.frame),
                    Unusable::Nameless(UnknownName {
                        uncaptured: None, ..
                    })
                    | Unusable::Wrong(_) => {
                        Disruption::new(DisruptionKind::Invalid, phase, message)
                    }
                };
                self.disruption.get_or_insert(disruption);
                None
            }
        }
    }

    fn check(
        &mut self,
        expectation: &Expectation,
        wanted: &Wanted,
        seen: &Observation,
        step: Option<&str>,
    ) {
        match check::check(expectation, seen) {
            Verdict::Held => {}
            Verdict::Missed(mismatches) => {
                let body = self.body;
                self.failures
                    .extend(mismatches.into_iter().map(|mismatch| Failure {
                        focus: body.place_of(&wanted.origin, &mismatch.part),
                        step: step.map(str::to_owned),
                        ..Failure::new(&wanted.origin, mismatch)
                    }));
            }
            Verdict::Unknowable(reason) => {
                let of_step = step.map(|step| format!(" of {step}")).unwrap_or_default();
                let message = format!("`{}`{of_step} cannot be told: {reason}", wanted.key);
                self.disrupt(kind_of_unknown(seen, &reason), message);
            }
        }
    }

    /// What a green assertion does not prove.
    fn vacuity(
        &mut self,
        job: &RunJob,
        wanted: &[&Expectation],
        seen: &Observation,
    ) -> Vec<Finding> {
        if !self.is_green() {
            return Vec::new();
        }
        let mut findings = std::mem::take(&mut self.vacuous);
        findings.extend(check::vacuity::findings(wanted, seen));
        if wanted.is_empty() {
            findings.extend(check::vacuity::of_steps(&job.body));
        }
        findings
    }

    /// The first reason stays.
    fn disrupt(&mut self, kind: DisruptionKind, message: String) {
        self.disruption
            .get_or_insert_with(|| Disruption::new(kind, Phase::Subject, message));
    }

    /// Where the run is strict about findings, it must be known which there are.
    fn weigh_unheard(&mut self, seen: &Observation) {
        if self.rules.strict_protocol
            && let Some(reason) = check::unheard_findings(seen)
        {
            let message = format!("--strict-protocol: findings cannot be told: {reason}");
            self.disrupt(DisruptionKind::Unsupported, message);
        }
    }

    /// Makes findings red where the run is strict about them. An assertion that says by `findings` which it
    /// allows has spoken for itself.
    fn weigh(&mut self, job: &RunJob, findings: &[Finding], allowed: Option<&[FindingCode]>) {
        let red = |finding: &&Finding| {
            if finding.code == FindingCode::Vacuous {
                let is_meant = allowed.is_some_and(|codes| codes.contains(&FindingCode::Vacuous));
                self.rules.strict_vacuity && !is_meant
            } else {
                self.rules.strict_protocol && allowed.is_none() && finding.code.is_deviation()
            }
        };
        let failures: Vec<Failure> = findings
            .iter()
            .filter(red)
            .map(|finding| {
                let mismatch = Mismatch {
                    key: "findings",
                    wanted: if finding.code == FindingCode::Vacuous {
                        "an assertion that proves something (--strict-vacuity)".to_owned()
                    } else {
                        "no protocol finding (--strict-protocol)".to_owned()
                    },
                    seen: format!("found `{}`: {}", finding.code, finding.message),
                    actual: finding.frame.clone(),
                    ..Mismatch::default()
                };
                Failure::new(&job.body.subject_origin, mismatch)
            })
            .collect();
        self.failures.extend(failures);
    }
}

/// Whose doing it is that something cannot be told: a list without end is the server's.
fn kind_of_unknown(seen: &Observation, reason: &str) -> DisruptionKind {
    let reply = seen.answer.as_ref().and_then(Answer::reply);
    let list = reply.and_then(|reply| reply.unfetched.as_ref());
    match list.filter(|list| reason.starts_with(&list.reason)) {
        Some(list) if list.code == FindingCode::CursorLoop => DisruptionKind::Violation,
        Some(_) | None => DisruptionKind::Unsupported,
    }
}

/// What is known of the call, and then what the expectation advises.
fn before_hint(told: String, hint: Option<String>) -> String {
    match hint {
        Some(hint) => format!("{told}; {hint}"),
        None => told,
    }
}
