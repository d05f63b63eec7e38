//! The digest of a plan: two runs have the same where the same jobs were to run, in the same order. What the jobs do is
//! not in it: that is in the files, whose digests are `suite::discover`'s.

use sha2::{Digest, Sha256};

use super::Plan;
use text::digest::hexadecimal;

impl Plan {
    /// The SHA-256 of all jobs, as 64 digits: of each its id, target and trial.
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        for job in &self.jobs {
            let target = job.target.as_deref().unwrap_or_default();
            // No text can be taken for two, or two for one: each comes with its length.
            for text in [job.case.id.as_str(), target] {
                digest.update((text.len() as u64).to_le_bytes());
                digest.update(text);
            }
            digest.update(job.trial.to_le_bytes());
        }
        hexadecimal(&digest.finalize())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{
        model::Case,
        plan::{
            Plan,
            job::{Job, Work},
        },
    };
    use text::source::{Origin, SourceFile, Span};

    fn plan(jobs: &[(&str, Option<&str>, u32)]) -> Plan {
        let job = |&(id, target, trial): &(&str, Option<&str>, u32)| Job {
            case: Arc::new(Case {
                id: id.to_owned(),
                name: String::new(),
                origin: Origin {
                    file: Arc::new(SourceFile::new("a.yaml".to_owned(), String::new())),
                    span: Span::default(),
                },
                subject: "",
                tags: Vec::new(),
            }),
            target: target.map(str::to_owned),
            trial,
            work: Work::Skip(String::new()),
        };
        Plan {
            jobs: jobs.iter().map(job).collect(),
            ..Plan::default()
        }
    }

    #[test]
    fn the_same_jobs_in_the_same_order_have_one_digest() {
        let jobs = [("a::x", None, 1), ("a::y", Some("old"), 2)];
        let digest = plan(&jobs).digest();
        assert_eq!(digest, plan(&jobs).digest());
        assert_eq!(digest.len(), 64);
        let others: [&[(&str, Option<&str>, u32)]; 5] = [
            &[],
            &[("a::y", Some("old"), 2), ("a::x", None, 1)],
            &[("a::x", None, 1), ("a::y", Some("old"), 1)],
            &[("a::x", None, 1), ("a::y", Some("new"), 2)],
            &[("a::x", None, 1), ("a::yold", None, 2)],
        ];
        for other in others {
            assert_ne!(digest, plan(other).digest(), "{other:?}");
        }
    }
}
