//! The plan of a divided run as a file: which shard runs which assertions. Written by `ci plan`; its digest ties the
//! shards' results to it. One shard a line, sorted, so that the same plan has the same bytes.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::{FileFormat, Tool};
use text::{digest::sha256, name};

/// What stands in `format`.
const FORMAT: &str = "mcp-assert/plan";

/// The version of the format.
const VERSION: u64 = 1;

/// The longest file that is read, in bytes.
pub const LONGEST_FILE: usize = 64 * 1024 * 1024;

/// Shards at most.
pub const MOST_SHARDS: usize = 256;

/// Outcomes at most, over all trials: a merge has one for each, whatever the shards left.
const MOST_OUTCOMES: usize = 1_000_000;

/// What begins the last member; texts hold no raw line end, so it stands there only.
const END_MARK: &str = "\n\"sha256\":\"";

/// A plan as its file has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// What the file is; absent in memory.
    pub format: Option<FileFormat>,
    /// The executable that made it; shards must be run by the same one.
    pub tool: Tool,
    /// The suites as they were named, one a line.
    pub suite: String,
    /// Trials of each assertion.
    pub trials: u32,
    /// Assertions of the suites that the options left out.
    pub left_out: usize,
    /// What the suites are made of, in the order in which they were read; absent in a plan of an older version.
    pub files: Option<Vec<PlannedFile>>,
    /// The shards.
    pub shards: Vec<PlannedShard>,
    /// The SHA-256 of the file up to where it stands.
    #[serde(rename = "sha256")]
    pub digest: String,
}

/// One shard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedShard {
    /// The assertions, ascending.
    pub ids: Vec<String>,
    /// Where each of them stands, for one that no shard ran.
    pub places: Vec<PlannedPlace>,
    /// How long they are expected to take, one after another, in microseconds.
    pub planned_us: u64,
}

/// The file of an assertion, as reports call it, and its line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPlace(pub String, pub usize);

/// A file of the suites, by its path from the suite, and the SHA-256 of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlannedFile(pub String, pub String);

/// The digest of suites that are made of these files.
pub fn suites_digest(files: &[PlannedFile]) -> String {
    sha256(json(&files).as_bytes())
}

impl PlanFile {
    /// The plan with its digest.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.digest = sha256(self.body().as_bytes());
        self
    }

    /// The file, with a final line end.
    pub fn render(&self) -> String {
        format!("{}{END_MARK}{}\"\n}}\n", self.body(), self.digest)
    }

    /// All before the digest.
    fn body(&self) -> String {
        let format = FileFormat {
            name: FORMAT.to_owned(),
            version: VERSION,
        };
        let shards: Vec<String> = self.shards.iter().map(json).collect();
        let files = match &self.files {
            Some(files) => {
                let files: Vec<String> = files.iter().map(json).collect();
                format!("\"files\":[\n{}\n],\n", files.join(",\n"))
            }
            None => String::new(),
        };
        format!(
            "{{\n{files}\"format\":{},\n\"left_out\":{},\n\"shards\":[\n{}\n],\n\"suite\":{},\n\"tool\":{},\n\"trials\":{},",
            json(&format),
            self.left_out,
            shards.join(",\n"),
            json(&self.suite),
            json(&self.tool),
            self.trials
        )
    }

    /// Reads a plan. What is wrong with it is said without the file's name.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST_FILE {
            return Err(format!("it is longer than {LONGEST_FILE} bytes"));
        }
        let mut plan: Self =
            serde_json::from_str(text).map_err(|error| format!("invalid plan: {error}"))?;
        let format = plan.format.take();
        if !format.is_some_and(|it| it.name == FORMAT && it.version == VERSION) {
            return Err(format!("it is not `{FORMAT}` of version {VERSION}"));
        }
        if sha256(plan.body().as_bytes()) != plan.digest || plan.render() != text {
            return Err("its digest is wrong: it was cut off or changed".to_owned());
        }
        plan.verify()?;
        Ok(plan)
    }

    /// Checks the contents, since a changed file may carry a new digest.
    fn verify(&self) -> Result<(), String> {
        if self.shards.len() > MOST_SHARDS {
            return Err(format!("it has more than {MOST_SHARDS} shards"));
        }
        if self.shards.iter().any(|it| it.ids.len() != it.places.len()) {
            return Err("it does not say of each assertion where it stands".to_owned());
        }
        let ids: usize = self.shards.iter().map(|shard| shard.ids.len()).sum();
        if ids.saturating_mul(self.trials as usize) > MOST_OUTCOMES {
            return Err(format!("it has more than {MOST_OUTCOMES} outcomes"));
        }
        let mut seen = HashSet::new();
        for id in self.shards.iter().flat_map(|shard| &shard.ids) {
            if name(id) != *id {
                return Err(format!("it has the invalid id `{}`", name(id)));
            }
            if !seen.insert(id.as_str()) {
                return Err(format!("it has `{id}` twice"));
            }
        }
        Ok(())
    }

    /// The digest of the suites it was made of, where it says so.
    pub fn suites(&self) -> Option<String> {
        self.files.as_deref().map(suites_digest)
    }

    /// The shard of each assertion, from 1.
    pub fn shard_of(&self) -> BTreeMap<&str, usize> {
        let shards = self.shards.iter().enumerate();
        shards
            .flat_map(|(index, shard)| shard.ids.iter().map(move |id| (id.as_str(), index + 1)))
            .collect()
    }
}

/// Compact JSON. Our own types always have such a form; a reader refuses `null`.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::{PlanFile, PlannedFile, PlannedPlace, PlannedShard};
    use crate::Tool;

    /// A plan with these shards.
    pub(crate) fn plan(shards: &[&[&str]]) -> PlanFile {
        let shards = shards.iter().map(|ids| PlannedShard {
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            places: (1..=ids.len())
                .map(|line| PlannedPlace("evals/a.yaml".to_owned(), line * 10))
                .collect(),
            planned_us: 1_000_000,
        });
        let tool = Tool {
            version: "1".to_owned(),
            sha256: Some("ab".to_owned()),
        };
        PlanFile {
            tool,
            suite: "evals".to_owned(),
            trials: 1,
            left_out: 0,
            files: Some(vec![PlannedFile("a.yaml".to_owned(), "cd".to_owned())]),
            shards: shards.collect(),
            ..PlanFile::default()
        }
        .sealed()
    }

    #[test]
    fn a_plan_survives_its_file() {
        for shards in [&[] as &[&[&str]], &[&["a::\"1\"\\"], &[], &["b", "c"]]] {
            let plan = plan(shards);
            assert_eq!(PlanFile::parse(&plan.render()), Ok(plan));
        }
    }

    #[test]
    fn a_plan_of_an_older_version_says_nothing_of_files() {
        let mut old = plan(&[&["a"]]);
        old.files = None;
        let old = old.sealed();
        assert!(!old.render().contains("files"));
        assert_eq!(PlanFile::parse(&old.render()), Ok(old.clone()));
        assert_eq!(old.suites(), None);
        assert!(plan(&[&["a"]]).suites().is_some());
    }

    #[test]
    fn what_was_changed_is_refused() {
        let text = plan(&[&["a"], &["b", "c"]]).render();
        let case = |text: &str, wanted: &str| {
            let problem = PlanFile::parse(text).unwrap_err();
            assert!(problem.contains(wanted), "{problem}");
        };
        case("", "invalid plan");
        case(&text[..text.len() - 9], "invalid plan");
        case(&text.replace("\"a\"", "\"d\""), "digest");
        case(&text.replace("\"trials\":1", "\"trials\": 1"), "digest");
        case(
            &text.replace("mcp-assert/plan", "mcp-assert/run"),
            "version 1",
        );
        case(&text.replace("\"trials\"", "\"trails\""), "unknown field");
        case(&text.replace("\"cd\"", "\"ce\""), "digest");
        case(&plan(&[&["a"], &["a"]]).render(), "twice");
        case(&plan(&[&["a\n"]]).render(), "invalid id");
        let mut placeless = plan(&[&["a"]]);
        placeless.shards[0].places.clear();
        case(&placeless.sealed().render(), "where it stands");
        case(&plan(&[&[] as &[&str]; 257]).render(), "256");
        let mut endless = plan(&[&["a"]]);
        endless.trials = u32::MAX;
        case(&endless.sealed().render(), "1000000 outcomes");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn no_text_makes_reading_panic(text in any::<String>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let _ = PlanFile::parse(&text);
            let plan = plan(&[&["a"], &["b", "c"]]);
            let mut bytes = plan.render().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(read) = PlanFile::parse(&String::from_utf8_lossy(&bytes)) {
                prop_assert_eq!(read, plan);
            }
        }
    }
}
