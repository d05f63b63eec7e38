//! What a run leaves on the data branch, and whether it may: badges, baselines by commit, durations.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::Value;

use super::{
    branch::{Branch, Changes, Head, Written},
    failure::Failure,
    history::{FOLDER, short, timings_of},
    names::{file_name, is_revision},
    writers::{Overtaken, Writer, Writers},
};
use crate::deliver::facts::{Facts, Here, Wanted};
use report::{
    badge,
    baseline::Baseline,
    baselines::{self, Ages},
    compare::Scope,
    timings::Timings,
};

/// The list of the baselines' ages.
const AGES: &str = "baselines.json";

/// The list of the runs that wrote the badges.
const BADGES: &str = "badges.json";

/// Events that run what is in the repository already.
const OWN_EVENTS: [&str; 3] = ["push", "schedule", "workflow_dispatch"];

/// What is written.
pub(super) struct Data<'a> {
    /// The run.
    pub(super) facts: &'a Facts<'a>,
    /// What the run was compared with, to be continued.
    pub(super) known: Option<&'a Baseline>,
    /// The revision that was tested.
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

/// Why nothing is written here; `None` when it may be.
pub(super) async fn refusal(data: &Branch<'_>, here: &Here) -> Result<Option<String>, Failure> {
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
        // The payload of a schedule tells little.
        client.get(&repository.path("")).await?
    };
    Ok(refusal_by(&about, data.name, here))
}

fn refusal_by(about: &About, data: &str, here: &Here) -> Option<String> {
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
    /// What a run may leave; `None` when that is nothing. Only a complete run is a baseline.
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
            writes_baseline: complete && facts.wishes.update_data_branch == Wanted::Yes,
            writes_badge: facts.wishes.publish_badge == Wanted::Yes,
        };
        (data.writes_baseline || data.writes_badge).then_some(data)
    }

    /// Writes it, and tells what a later run has written before.
    pub(super) async fn write(
        &self,
        branch: &Branch<'_>,
    ) -> Result<(Written, Vec<Overtaken>), Failure> {
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

    /// The run that writes.
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
    ) -> Result<Option<Overtaken>, Failure> {
        if !self.writes_badge {
            return Ok(None);
        }
        let name = file_name(self.suite);
        let list = Kept::read(branch, head, BADGES.to_owned()).await?;
        let mut writers = Writers::parse(list.text.as_deref().unwrap_or_default());
        let own = self.writer();
        let overtaken = Overtaken::of_badge(writers.of(&name), own.as_ref());
        if overtaken.is_some() {
            return Ok(overtaken);
        }
        let file = Kept::read(branch, head, format!("badge/{name}.json")).await?;
        file.becomes(badge::render(self.facts.report), changes);
        // Also of a badge that stays: a run between the two is overtaken.
        writers.note(name, own);
        list.becomes(writers.render(), changes);
        Ok(None)
    }

    async fn baseline(
        &self,
        branch: &Branch<'_>,
        head: Option<&Head>,
        changes: &mut Changes,
    ) -> Result<Option<Overtaken>, Failure> {
        if !self.writes_baseline {
            return Ok(None);
        }
        let report = self.facts.report;
        let file = Kept::read(branch, head, format!("{FOLDER}/{}.json", self.sha)).await?;
        let before = file.text.as_deref();
        let writer = before.and_then(|it| baselines::writer(it, self.suite));
        let overtaken = Overtaken::of("baseline", writer.map(|(run, _)| run), self.run());
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
            // All of this is there: only the answer to it was lost.
            return Ok(None);
        }
        file.becomes(text, changes);
        let timings = Kept::read(branch, head, timings_of(self.suite)).await?;
        let known = timings
            .text
            .as_deref()
            .and_then(|it| Timings::parse(it).ok());
        let text = known.unwrap_or_default().updated(report).render();
        timings.becomes(text, changes);
        self.thin_out(branch, head, changes).await?;
        Ok(None)
    }

    /// Lets the oldest baselines go.
    async fn thin_out(
        &self,
        branch: &Branch<'_>,
        head: Option<&Head>,
        changes: &mut Changes,
    ) -> Result<(), Failure> {
        let list = Kept::read(branch, head, AGES.to_owned()).await?;
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

/// A file as it is on the branch.
struct Kept {
    path: String,
    text: Option<String>,
}

impl Kept {
    async fn read(branch: &Branch<'_>, head: Option<&Head>, path: String) -> Result<Self, Failure> {
        let text = match head {
            Some(head) => branch.file(head, &path).await?,
            None => None,
        };
        Ok(Self { path, text })
    }

    /// Puts the new text among the changes, if it is another.
    fn becomes(self, text: String, changes: &mut Changes) {
        if self.text.as_deref() != Some(text.as_str()) {
            changes.insert(self.path, Some(text));
        }
    }
}
