//! The labels of our containers, volumes and networks. By them a later run recognises what a killed run left.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::owner::{Life, Owner};
use text::{environment::Environment, head};

/// The run a thing belongs to.
pub const RUN: &str = "io.mcp-assert.run";
/// The job, of all runs.
const JOB: &str = "io.mcp-assert.job";
/// The process that made it.
const OWNER: &str = "io.mcp-assert.owner";
/// When it was made, in seconds since 1970.
const CREATED: &str = "io.mcp-assert.created";
/// The image it was made for.
const IMAGE: &str = "io.mcp-assert.image";

/// The assertion it was made for.
const ASSERTION: &str = "io.mcp-assert.assertion";
/// On a prepared image, the name it was given; an image without its name was replaced.
pub(super) const PREPARED: &str = "io.mcp-assert.prepared";

/// The same of a built image.
pub(super) const BUILT: &str = "io.mcp-assert.built";

/// What a container hands on to an image that is made of it, unless the image says otherwise.
const OF_MAKERS: [&str; 5] = [RUN, JOB, OWNER, CREATED, IMAGE];

/// What is as old as this was left behind.
const ABANDONED: Duration = Duration::from_hours(24);

/// Characters of an assertion's id that a label keeps.
const LONGEST_ID: usize = 200;

/// The name of a run, unlike every other's.
#[derive(Debug, Clone)]
pub struct RunName {
    text: String,
    /// How many things were named after it.
    named: Arc<AtomicU64>,
}

/// A container's name and marks.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    /// Its name at the engine.
    pub(super) name: String,
    /// Its labels.
    pub(super) labels: HashMap<String, String>,
}

impl RunName {
    /// A new name: in a workflow, after its run and job.
    pub fn new(environment: &Environment) -> Self {
        let unique = RandomState::new().build_hasher().finish();
        let parts = ["GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB"];
        let workflow: Vec<&str> = parts
            .iter()
            .filter_map(|name| environment.variable(name))
            .filter(|part| !part.is_empty())
            .collect();
        let text = if workflow.len() == parts.len() {
            format!("{}-{unique:016x}", workflow.join("-"))
        } else {
            format!("{unique:016x}")
        };
        let named = Arc::new(AtomicU64::new(0));
        Self { text, named }
    }

    /// The name.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The marks of the next container.
    pub(super) fn next(&self, assertion: &str) -> Marks {
        let job = self.job();
        let name = format!("mcp-assert-{job}");
        let mut labels = self.labels(job);
        labels.insert(ASSERTION.to_owned(), head(assertion, LONGEST_ID));
        Marks { name, labels }
    }

    /// The labels of a container that an image of this name is made in.
    pub(super) fn maker(&self, image: &str) -> HashMap<String, String> {
        let mut labels = self.labels(self.job());
        labels.insert(IMAGE.to_owned(), image.to_owned());
        labels
    }

    /// What is unlike in all runs, and has no dash.
    pub(super) fn unique(&self) -> &str {
        unique(&self.text)
    }

    /// The next of everything that the run makes.
    pub(super) fn job(&self) -> String {
        let number = self.named.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}", self.unique())
    }

    fn labels(&self, job: String) -> HashMap<String, String> {
        let labels = [
            (RUN, self.text.clone()),
            (JOB, job),
            (OWNER, Owner::this().to_text()),
            (CREATED, now().as_secs().to_string()),
        ];
        labels.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

/// The labels of a container that the client of an engine runs for a server, as `NAME=VALUE`; the first is its own.
pub(crate) fn of_client(marker: &str) -> [String; 4] {
    [
        format!("{JOB}={marker}"),
        format!("{RUN}={marker}"),
        format!("{OWNER}={}", Owner::this().to_text()),
        format!("{CREATED}={}", now().as_secs()),
    ]
}

/// The part of a run's name that no other run has.
pub(super) fn unique(run: &str) -> &str {
    run.rsplit('-').next().unwrap_or(run)
}

/// The labels of an image that is made of a container of ours: a container that is started of it later must not look
/// like ours. Labels can be emptied, not removed.
pub(super) fn of_image() -> HashMap<String, String> {
    OF_MAKERS
        .map(|name| (name.to_owned(), String::new()))
        .into()
}

/// Whether these are the labels of something of ours.
pub(super) fn are_ours(labels: &HashMap<String, String>) -> bool {
    labels.get(RUN).is_some_and(|run| !run.is_empty())
}

/// Whether what was made then, in seconds since 1970, is too old to be waited for.
pub(super) fn is_too_old(created: i64) -> bool {
    let created = Duration::from_secs(u64::try_from(created).unwrap_or(0));
    now().saturating_sub(created) >= ABANDONED
}

/// Whether what carries these labels was left behind: its maker is dead, or it is too old to be waited for.
pub(super) fn is_abandoned(labels: &HashMap<String, String>) -> bool {
    if !are_ours(labels) {
        return false;
    }
    let created = labels.get(CREATED).and_then(|text| text.parse().ok());
    let owner = labels.get(OWNER).and_then(|text| Owner::parse(text));
    match owner.map(|owner| owner.life()) {
        Some(Life::Alive) => false,
        Some(Life::Dead) => true,
        Some(Life::Unknown) | None => created.is_some_and(is_too_old),
    }
}

/// The time since 1970.
pub(super) fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{
        ASSERTION, CREATED, IMAGE, JOB, OWNER, RUN, RunName, are_ours, is_abandoned, now, of_image,
    };
    use crate::owner::Owner;
    use text::environment::Environment;

    #[test]
    fn every_run_and_every_container_has_a_name_of_its_own() {
        let environment = Environment::default();
        let (one, other) = (RunName::new(&environment), RunName::new(&environment));
        assert_ne!(one.text(), other.text());
        let (first, second) = (one.next("a::b"), one.next("a::b"));
        assert_ne!(first.name, second.name);
        assert_ne!(first.labels[JOB], second.labels[JOB]);
        assert_eq!(first.labels[RUN], one.text());
        assert_eq!(first.labels[ASSERTION], "a::b");
        assert!(!is_abandoned(&first.labels), "its owner is alive");
        let mut in_workflow = Environment::default();
        for (name, value) in [
            ("GITHUB_RUN_ID", "7"),
            ("GITHUB_RUN_ATTEMPT", "1"),
            ("GITHUB_JOB", "test"),
        ] {
            in_workflow.variables.insert(name.into(), value.into());
        }
        assert!(RunName::new(&in_workflow).text().starts_with("7-1-test-"));
    }

    #[test]
    fn only_what_nobody_waits_for_is_abandoned() {
        let dead = Owner {
            pid: u32::MAX,
            ..Owner::this().clone()
        };
        let elsewhere = Owner {
            place: "elsewhere-1".into(),
            ..dead.clone()
        };
        let case = |owner: &str, created: u64| {
            let labels = [
                (RUN, "1".to_owned()),
                (OWNER, owner.to_owned()),
                (CREATED, created.to_string()),
            ];
            let labels: HashMap<String, String> = labels
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            is_abandoned(&labels)
        };
        let now = now().as_secs();
        assert!(case(&dead.to_text(), now));
        assert!(!case(&elsewhere.to_text(), now - 10));
        assert!(case(&elsewhere.to_text(), now - 90_000));
        assert!(!case("nonsense", now - 10));
        assert!(case("nonsense", now - 90_000));
        assert!(!is_abandoned(&HashMap::new()));
    }

    #[test]
    fn what_is_started_of_an_image_of_ours_is_not_ours() {
        let run = RunName::new(&Environment::default());
        let mut labels = run.maker("mcp-assert/prepared:1");
        assert_eq!(labels[IMAGE], "mcp-assert/prepared:1");
        assert_ne!(labels[JOB], run.maker("x")[JOB]);
        assert!(are_ours(&labels));
        labels.extend(of_image());
        assert!(!are_ours(&labels) && !is_abandoned(&labels));
        assert!(labels.values().all(String::is_empty), "{labels:?}");
    }
}
