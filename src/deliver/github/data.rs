//! Writes badges, baselines and durations to the data branch, if this run may.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    branch::{Branch, Changes, Head, Written},
    failure::Failure,
    history::{FOLDER, short, timings_of},
    names::{file_name, is_revision},
};
use crate::{
    cli::ci::Switch,
    deliver::facts::{CiEnvironment, Facts},
};
use report::{
    badge,
    baseline::Baseline,
    baselines::{self, Ages},
    compare::Scope,
    timings::Timings,
    verdict::Verdict,
};

/// The file with the baselines' ages.
const AGES: &str = "baselines.json";

/// The file with the runs that wrote the badges.
const BADGES: &str = "badges.json";

/// Events that run code of the repository itself.
const OWN_EVENTS: [&str; 3] = ["push", "schedule", "workflow_dispatch"];

/// The data to be written.
pub(super) struct Data<'a> {
    /// The run.
    pub(super) facts: &'a Facts<'a>,
    /// The baseline that the new one continues.
    pub(super) known: Option<&'a Baseline>,
    /// The tested revision.
    pub(super) sha: &'a str,
    /// The suite.
    pub(super) suite: &'a str,
    writes_baseline: bool,
    writes_badge: bool,
}

#[derive(Debug, Deserialize)]
struct About {
    default_branch: String,
    fork: bool,
}

/// Why this run may not write; `None` if it may.
pub(super) async fn refusal(
    data: &Branch<'_>,
    here: &CiEnvironment,
) -> Result<Option<String>, Failure> {
    let event = here.source.event.as_deref().unwrap_or_default();
    if !OWN_EVENTS.contains(&event) {
        return Ok(Some(format!("never under `{event}`")));
    }
    let told = here.event.get("repository");
    let branch = told.and_then(|it| it.get("default_branch")?.as_str());
    let (client, repository) = (data.client, data.repository);
    let about = if let Some(branch) = branch {
        About {
            default_branch: branch.to_owned(),
            fork: told.and_then(|it| it.get("fork")) != Some(&Value::Bool(false)),
        }
    } else {
        // The payload of a scheduled run lacks the repository.
        client.get(&repository.path("")).await?
    };
    Ok(refusal_by(&about, data.name, here))
}

fn refusal_by(about: &About, data: &str, here: &CiEnvironment) -> Option<String> {
    let wanted = format!("refs/heads/{}", about.default_branch);
    if about.fork {
        return Some("never from a fork".to_owned());
    }
    if data == about.default_branch {
        return Some(
            "it is the default branch, and holds the code; `badge-branch` names another".to_owned(),
        );
    }
    if here.source.reference.as_deref() != Some(&wanted) {
        return Some(format!(
            "only on the default branch `{}`",
            about.default_branch
        ));
    }
    None
}

impl<'a> Data<'a> {
    /// The data of a run; `None` if there is none. Only complete runs have a baseline.
    pub(super) fn of(facts: &'a Facts<'a>, known: Option<&'a Baseline>) -> Option<Self> {
        let source = &facts.report.source;
        let verdict = facts.report.judgement.as_ref()?.verdict;
        let complete =
            facts.report.may_be_baseline(verdict) && Scope::Whole.of(facts.report) == Scope::Whole;
        let data = Self {
            facts,
            known,
            sha: source.sha.as_deref().filter(|sha| is_revision(sha))?,
            suite: source.suite.as_deref()?,
            writes_baseline: complete && facts.wishes.update_data_branch,
            writes_badge: facts.wishes.publish_badge == Switch::Auto,
        };
        (data.writes_baseline || data.writes_badge).then_some(data)
    }

    /// Writes the data. Also returns notes on what another run keeps.
    pub(super) async fn write(
        &self,
        branch: &Branch<'_>,
    ) -> Result<(Written, Vec<String>), Failure> {
        let name = file_name(self.suite);
        let message = format!("{name} at {} [skip ci]", short(self.sha));
        let mut overtaken = Vec::new();
        let written = branch
            .update(&message, async |head| {
                let mut changes = Changes::new();
                let badge = self.badge(branch, head, &mut changes).await?;
                let baseline = self.baseline(branch, head, &mut changes).await?;
                overtaken = badge.into_iter().chain(baseline).collect();
                Ok(changes)
            })
            .await?;
        Ok((written, overtaken))
    }

    /// The number of this run.
    fn run(&self) -> Option<u64> {
        self.facts.here.source.run
    }

    fn writer(&self) -> Option<Writer> {
        Some(Writer {
            run: self.run()?,
            attempt: self.facts.here.source.attempt,
            verdict: self.facts.report.judgement.as_ref().map(|it| it.verdict),
        })
    }

    async fn badge(
        &self,
        branch: &Branch<'_>,
        head: Option<&Head>,
        changes: &mut Changes,
    ) -> Result<Option<String>, Failure> {
        if !self.writes_badge {
            return Ok(None);
        }
        let name = file_name(self.suite);
        let list = BranchFile::read(branch, head, BADGES.to_owned()).await?;
        // An unreadable list is empty.
        let mut writers: BTreeMap<String, Writer> =
            serde_json::from_str(list.text.as_deref().unwrap_or_default()).unwrap_or_default();
        let own = self.writer();
        let overtaken = badge_stays(writers.get(&name).zip(own.as_ref()));
        if overtaken.is_some() {
            return Ok(overtaken);
        }
        let file = BranchFile::read(branch, head, format!("badge/{name}.json")).await?;
        file.becomes(badge::render(self.facts.report), changes);
        // Updated even if the badge is equal, so that runs in between are outdated.
        writers.remove(&name);
        writers.extend(own.map(|own| (name, own)));
        list.becomes(format!("{:#}\n", json!(writers)), changes);
        Ok(None)
    }

    async fn baseline(
        &self,
        branch: &Branch<'_>,
        head: Option<&Head>,
        changes: &mut Changes,
    ) -> Result<Option<String>, Failure> {
        if !self.writes_baseline {
            return Ok(None);
        }
        let report = self.facts.report;
        let file = BranchFile::read(branch, head, format!("{FOLDER}/{}.json", self.sha)).await?;
        let before = file.text.as_deref();
        let writer = before.and_then(|it| baselines::writer(it, self.suite));
        let overtaken = stays("baseline", writer.map(|it| it.0).zip(self.run()));
        if overtaken.is_some() {
            return Ok(overtaken);
        }
        let mut new = Baseline::updated(self.known, report, Scope::Whole);
        let own = self.run().zip(self.facts.here.source.attempt);
        if own.is_some() && writer == own.map(|(run, attempt)| (run, Some(attempt))) {
            let beside = before.and_then(|it| baselines::of_suite(it, self.suite).ok()?);
            new.keep_worst(beside.unwrap_or_default());
        }
        let text = baselines::with_suite(before, self.suite, &new, own);
        if before == Some(text.as_str()) {
            // Already written; only the answer was lost.
            return Ok(None);
        }
        file.becomes(text, changes);
        let timings = BranchFile::read(branch, head, timings_of(self.suite)).await?;
        let known = timings
            .text
            .as_deref()
            .and_then(|it| Timings::parse(it).ok());
        let text = known.unwrap_or_default().updated(report).render();
        timings.becomes(text, changes);
        self.thin_out(branch, head, changes).await?;
        Ok(None)
    }

    /// Deletes the oldest baselines.
    async fn thin_out(
        &self,
        branch: &Branch<'_>,
        head: Option<&Head>,
        changes: &mut Changes,
    ) -> Result<(), Failure> {
        let list = BranchFile::read(branch, head, AGES.to_owned()).await?;
        let files = match head {
            Some(head) => branch.files(head, FOLDER).await?,
            None => Vec::new(),
        };
        let commits: Vec<String> = files
            .iter()
            .filter_map(|file| file.strip_suffix(".json"))
            .map(str::to_owned)
            .collect();
        let mut ages = Ages::parse(list.text.as_deref().unwrap_or_default());
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        for commit in ages.add(self.sha, now, &commits) {
            changes.insert(format!("{FOLDER}/{commit}.json"), None);
        }
        list.becomes(ages.render(), changes);
        Ok(())
    }
}

/// A writing run. Numbers grow with the start of runs; a re-run keeps its number.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Writer {
    run: u64,
    attempt: Option<u64>,
    verdict: Option<Verdict>,
}

/// The note if a later run wrote this already.
fn stays(what: &str, runs: Option<(u64, u64)>) -> Option<String> {
    let (writer, own) = runs?;
    (writer > own).then(|| format!("the {what} is kept as the later run {writer} wrote it"))
}

/// The note if a later run, or a worse matrix leg of this run, wrote the badge.
fn badge_stays(writers: Option<(&Writer, &Writer)>) -> Option<String> {
    let (writer, own) = writers?;
    // Worse verdicts are smaller.
    let worse = writer
        .verdict
        .zip(own.verdict)
        .is_some_and(|(theirs, ours)| theirs < ours);
    let same = writer.run == own.run && writer.attempt.is_some() && writer.attempt == own.attempt;
    let leg = (same && worse).then(|| {
        "the badge is kept as another job or step of this run wrote it, which ended worse"
            .to_owned()
    });
    stays("badge", Some((writer.run, own.run))).or(leg)
}

/// A file of the branch.
struct BranchFile {
    path: String,
    text: Option<String>,
}

impl BranchFile {
    async fn read(branch: &Branch<'_>, head: Option<&Head>, path: String) -> Result<Self, Failure> {
        let text = match head {
            Some(head) => branch.file(head, &path).await?,
            None => None,
        };
        Ok(Self { path, text })
    }

    /// Adds the new text to the changes, if it differs.
    fn becomes(self, text: String, changes: &mut Changes) {
        if self.text.as_deref() != Some(text.as_str()) {
            changes.insert(self.path, Some(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, Writer, badge_stays, stays};

    const fn writer(run: u64, attempt: u64, verdict: Verdict) -> Writer {
        Writer {
            run,
            attempt: Some(attempt),
            verdict: Some(verdict),
        }
    }

    #[test]
    fn only_a_later_run_that_is_known_overtakes() {
        let case = |writer: Option<u64>, run: Option<u64>, by: Option<&str>| {
            let found = stays("baseline", writer.zip(run));
            assert_eq!(found.is_some(), by.is_some(), "{writer:?} {run:?}");
            assert!(found.unwrap_or_default().contains(by.unwrap_or_default()));
        };
        case(Some(31), Some(30), Some("run 31"));
        case(Some(30), Some(30), None);
        case(Some(30), Some(31), None);
        case(None, Some(30), None);
        case(Some(31), None, None);
    }

    #[test]
    fn a_badge_stays_that_a_worse_leg_of_the_same_attempt_left() {
        let case = |theirs: Writer, ours: Writer, by: Option<&str>| {
            let found = badge_stays(Some((&theirs, &ours)));
            assert_eq!(found.is_some(), by.is_some(), "{theirs:?} {ours:?}");
            assert!(found.unwrap_or_default().contains(by.unwrap_or_default()));
        };
        let (pass, fail) = (Verdict::Pass, Verdict::Fail);
        let leg = Some("another job");
        case(writer(5, 1, fail), writer(5, 1, pass), leg);
        case(writer(5, 1, Verdict::Error), writer(5, 1, fail), leg);
        case(writer(5, 1, pass), writer(5, 1, fail), None);
        case(writer(5, 1, fail), writer(5, 1, fail), None);
        case(writer(5, 1, fail), writer(5, 2, pass), None);
        case(writer(5, 1, fail), writer(6, 1, pass), None);
        case(writer(6, 1, pass), writer(5, 1, fail), Some("run 6"));
        let unknown = Writer {
            attempt: None,
            ..writer(5, 1, fail)
        };
        case(unknown, writer(5, 1, pass), None);
    }
}
