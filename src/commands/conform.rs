//! `mcp-assert conform`: whether a server keeps to the specification.

use serde_json::{Value, json};

use super::{Context, asking::Typed, findings, running::Refusal};
use crate::{
    cli::conform::ConformArgs,
    inspect::{
        conform::{self, CHECKS, Conformity, Outcome, Verdict},
        server::Declares,
    },
};
use mcp::{protocol::revision::Revision, script::client::RevisionWanted};
use report::{
    cleaner::Cleaner,
    inspection::{self, Check, Finding, Inspection, Kind, NotCalled, Severity, Subject},
};
use text::exit::ExitCode;

/// Where the pages of the specification are.
const SPECIFICATION: &str = "https://modelcontextprotocol.io/specification";

/// Judges the server and reports.
pub(super) fn conform(args: &ConformArgs, context: &Context) -> Result<ExitCode, Refusal> {
    findings::check(&args.findings, None, &[], context)?;
    let mut server = args.server.clone();
    let is_all = |it: &mut String| it == "all";
    let all_revisions = server.how.protocol.take_if(is_all).is_some();
    let mut typed = Typed::read(&server, context)?;
    // The capabilities of a client that has none: what a server does beyond them is a violation.
    typed.declares = Declares::Nothing;
    let found = typed.with_servers(context, async |asked| {
        if !all_revisions {
            let found = conform::conform(asked).await;
            return Ok(vec![found.map_err(|it| typed.unanswered(it))?]);
        }
        let mut all = Vec::new();
        let mut last = None;
        for revision in Revision::ALL.map(RevisionWanted::Exactly) {
            match conform::conform(&asked.on(revision)).await {
                Ok(found) => all.push(found),
                Err(why) => last = Some(why),
            }
        }
        // A server that speaks other revisions as well is judged on those.
        match (all.is_empty(), last) {
            (true, Some(why)) => Err(typed.unanswered(why)),
            (_, _) => Ok(all),
        }
    })?;
    let inspection = Inspection {
        command: "conform",
        again: findings::again(&server.how.headers, context),
        server: found
            .iter()
            .find_map(|it| it.offer.server())
            .unwrap_or_else(|| typed.text.clone()),
        anchor: findings::settings_file(),
        ..inspection(&found)
    };
    let inspection = inspection.cleaned(&Cleaner::new(typed.secrets.clone()));
    let json = || document(&found, &inspection);
    findings::deliver(&args.findings, &inspection, json, context)?;
    if let Some(why) = found.iter().find_map(|it| it.gone.as_ref()) {
        let message = format!(
            "the server could not be started any more: {}",
            text::clean(why)
        );
        return Err(Refusal::new(ExitCode::CouldNotRun, message));
    }
    let is_red = inspection.count(Severity::Error) > 0
        || args.strict && inspection.count(Severity::Warning) > 0;
    Ok(if is_red {
        ExitCode::Failed
    } else {
        ExitCode::Passed
    })
}

/// What the checks found, each with its revision.
fn outcomes(found: &[Conformity]) -> impl Iterator<Item = (&'static str, &Outcome)> {
    found.iter().flat_map(|it| {
        let revision = it.offer.revision().unwrap_or_default();
        it.outcomes.iter().map(move |outcome| (revision, outcome))
    })
}

fn inspection(found: &[Conformity]) -> Inspection {
    let violated = outcomes(found).filter_map(|(revision, Outcome { check, verdict })| {
        let Verdict::Fail(why) = verdict else {
            return None;
        };
        Some(Finding {
            pointer: format!("/{revision}"),
            message: format!("{revision}: violated: {}", check.title),
            evidence: Some(why.clone()),
            ..Finding::new(check.code, check.severity, help(check, revision).into())
        })
    });
    let unjudged = outcomes(found).filter(|(_, it)| it.verdict == Verdict::CouldNotRun);
    let unjudged = unjudged.map(|(revision, outcome)| NotCalled {
        kind: Kind::Server,
        name: format!("{} {revision}", outcome.check.code),
        reason: "it could not be judged".to_owned(),
        option: None,
    });
    let judged: Vec<&str> = found.iter().filter_map(|it| it.offer.revision()).collect();
    let judged = judged.join(", ");
    Inspection {
        checks: CHECKS.iter().map(described).collect(),
        subjects: vec![Subject {
            kind: Kind::Server,
            name: String::new(),
            checks: CHECKS.iter().map(|check| check.code).collect(),
        }],
        findings: violated.collect(),
        not_called: unjudged.collect(),
        notes: vec![format!("judged on {judged}: {}", counts(found))],
        ..Inspection::default()
    }
}

/// Where the specification asks for it.
fn help(check: &conform::Check, revision: &str) -> String {
    let known = Revision::from_name(revision).unwrap_or(Revision::NEWEST_HANDSHAKE);
    format!("{SPECIFICATION}/{known}/{}", check.page(known))
}

fn described(check: &conform::Check) -> Check {
    Check {
        code: check.code,
        name: check.code,
        title: check.title.into(),
        help: help(check, Revision::NEWEST_HANDSHAKE.name()).into(),
        severity: check.severity,
        precision: "very-high",
        tags: &["mcp", "specification"],
    }
}

/// `20 passed, 1 failed, 6 not applicable, 0 could not be judged`.
fn counts(found: &[Conformity]) -> String {
    let of = |word: &str| {
        outcomes(found)
            .filter(|it| it.1.verdict.word() == word)
            .count()
    };
    format!(
        "{} passed, {} failed, {} not applicable, {} could not be judged",
        of("pass"),
        of("fail"),
        of("not-applicable"),
        of("could-not-run"),
    )
}

fn document(found: &[Conformity], inspection: &Inspection) -> Value {
    let checks = outcomes(found).map(|(revision, Outcome { check, verdict })| {
        let why = match verdict {
            Verdict::NotApplicable(why) => Some(*why),
            Verdict::Pass | Verdict::Fail(_) | Verdict::CouldNotRun => None,
        };
        json!({
            "check": check.code,
            "revision": revision,
            "result": verdict.word(),
            "why": why,
            "title": check.title,
        })
    });
    json!({
        "server": inspection.server,
        "checks": checks.collect::<Vec<_>>(),
        "findings": inspection::json::findings(inspection),
        "errors": inspection.count(Severity::Error),
        "warnings": inspection.count(Severity::Warning),
    })
}
