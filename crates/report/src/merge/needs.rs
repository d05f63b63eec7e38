//! What the workflow knows of the jobs before the merge: `${{ toJSON(needs) }}`. It can only make the verdict worse.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    plan_file::PlanFile,
    verdict::{Cause, Verdict},
};
use text::{clean, head};

/// Bytes that are read of it.
const LONGEST: usize = 1024 * 1024;

/// The jobs by their keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Needs {
    jobs: BTreeMap<String, Job>,
}

/// One job; what GitHub adds some day is passed over.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Job {
    result: String,
    /// Absent, null or empty for a job without any.
    outputs: Option<BTreeMap<String, String>>,
}

/// Whether the shards' results alone are all there and without a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blobs {
    /// They are.
    CompleteAndGreen,
    /// They are not.
    Otherwise,
}

impl Needs {
    /// Reads it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// What it says against the results.
    pub fn causes(&self, plan: Option<&PlanFile>, blobs: Blobs) -> Vec<Cause> {
        let mut causes = Vec::new();
        let mut add = |verdict, text: String| causes.push(Cause::new(verdict, &text));
        let shown = |text: &str| head(&clean(text), 100);
        match (self.jobs.get("plan"), plan) {
            (None, _) => add(Verdict::Invalid, "`--needs` names no job `plan`".to_owned()),
            (Some(job), _) if job.result != "success" => {
                let result = shown(&job.result);
                let text = format!("the job `plan` ended with `{result}`");
                add(Verdict::Invalid, text);
            }
            (Some(job), Some(plan)) => {
                let outputs = job.outputs.as_ref();
                match outputs.and_then(|it| it.get("plan-digest")) {
                    Some(digest) if *digest == plan.digest => {}
                    Some(digest) => {
                        let digest = shown(digest);
                        let text =
                            format!("the job `plan` made the plan {digest}, this is another");
                        add(Verdict::Invalid, text);
                    }
                    None => {
                        let text = "`--needs` does not tell which plan the job `plan` made: \
                                    it has no output `plan-digest`";
                        add(Verdict::Invalid, text.to_owned());
                    }
                }
            }
            (Some(_), None) => {}
        }
        let shards = plan.map_or(0, |plan| plan.shards.len());
        match self.jobs.get("shard").map(|job| job.result.as_str()) {
            Some("success") => {}
            Some("failure") if blobs == Blobs::Otherwise => {}
            Some("failure") => {
                let text = "the job `shard` failed, and no result shows why";
                add(Verdict::Error, text.to_owned());
            }
            Some("skipped") if shards == 0 => {}
            Some("skipped") => {
                let text = "the job `shard` was skipped, and the plan has shards";
                add(Verdict::Incomplete, text.to_owned());
            }
            Some(other) => {
                let text = format!("the job `shard` ended with `{}`", shown(other));
                add(Verdict::Incomplete, text);
            }
            None => {
                let text = "`--needs` names no job `shard`";
                add(Verdict::Incomplete, text.to_owned());
            }
        }
        causes
    }
}

#[cfg(test)]
mod tests {
    use super::{Blobs, Needs};
    use crate::{plan_file::tests::plan, verdict::Verdict};

    #[test]
    fn what_the_workflow_knows_makes_the_verdict_worse() {
        let plan = plan(&[&["a"]]);
        let case = |plan_job: &str, shard_job: &str, blobs, wanted: &[Verdict]| {
            let needs = format!("{{\"plan\": {plan_job}, \"shard\": {shard_job}}}");
            let needs = needs.replace("DIGEST", &plan.digest);
            let causes = Needs::parse(&needs).unwrap().causes(Some(&plan), blobs);
            let found: Vec<Verdict> = causes.iter().map(|cause| cause.verdict).collect();
            assert_eq!(found, wanted, "{needs}");
        };
        let planned =
            r#"{"result": "success", "outputs": {"plan-digest": "DIGEST", "shards": "1"}}"#;
        let ended = |result: &str| format!("{{\"result\": \"{result}\", \"outputs\": null}}");
        let (green, red) = (Blobs::CompleteAndGreen, Blobs::Otherwise);
        case(planned, &ended("success"), green, &[]);
        case(planned, &ended("failure"), red, &[]);
        case(planned, &ended("failure"), green, &[Verdict::Error]);
        case(planned, &ended("cancelled"), green, &[Verdict::Incomplete]);
        case(planned, &ended("skipped"), green, &[Verdict::Incomplete]);
        case(
            &ended("success"),
            &ended("success"),
            green,
            &[Verdict::Invalid],
        );
        let unknown = Needs::parse(&format!("{{\"plan\": {}}}", ended("success"))).unwrap();
        let causes = unknown.causes(Some(&plan), red);
        assert!(
            causes[0].text.contains("no output `plan-digest`"),
            "{causes:?}"
        );
        case(
            &planned.replace("DIGEST", "00"),
            &ended("success"),
            green,
            &[Verdict::Invalid],
        );
        case(
            &ended("failure"),
            &ended("skipped"),
            red,
            &[Verdict::Invalid, Verdict::Incomplete],
        );
    }

    #[test]
    fn nothing_planned_may_be_skipped() {
        let plan = plan(&[]);
        let digest = &plan.digest;
        let needs = format!(
            r#"{{"plan": {{"result": "success", "outputs": {{"plan-digest": "{digest}"}}}}, "shard": {{"result": "skipped"}}}}"#
        );
        let needs = Needs::parse(&needs).unwrap();
        assert!(
            needs
                .causes(Some(&plan), Blobs::CompleteAndGreen)
                .is_empty()
        );
    }

    #[test]
    fn what_is_no_map_of_jobs_is_refused() {
        for text in ["", "[]", "{\"plan\": 1}", "{\"plan\": {}}"] {
            assert!(Needs::parse(text).is_err(), "{text}");
        }
        let causes = Needs::parse("{}").unwrap().causes(None, Blobs::Otherwise);
        assert_eq!(causes.len(), 2);
    }
}
