//! Where a run's suites came from, as the CI system tells it: plain data, kept in run.json. The reading of the
//! environment is done by `commands`.

use serde::{Deserialize, Serialize};

/// Repository, revision and job of a run, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The address of the server that has the repository, e.g. `https://github.com`.
    pub server: Option<String>,
    /// `owner/name`.
    pub repository: Option<String>,
    /// The revision whose files were tested: the workspace's `HEAD`, else what the CI system names.
    pub sha: Option<String>,
    /// The newest revision of the branch that was pushed or proposed; on a merge ref not the one that was tested.
    pub head_sha: Option<String>,
    /// The ref, e.g. `refs/heads/main`.
    pub reference: Option<String>,
    /// The event's name, e.g. `pull_request`.
    pub event: Option<String>,
    /// The pull request's number.
    pub pull_request: Option<u64>,
    /// The workflow's file in the repository.
    pub workflow: Option<String>,
    /// The job's key in the workflow.
    pub job: Option<String>,
    /// The run's number.
    pub run: Option<u64>,
    /// The attempt of that run, from 1.
    pub attempt: Option<u64>,
    /// The folder of the repository that paths begin in; absent when it is the root or not known.
    pub folder: Option<String>,
    /// The suites as they were named, one a line.
    pub suite: Option<String>,
}

/// Strips the revision that GitHub may append to a workflow file: `ci.yml@refs/heads/main`.
pub fn workflow_file(path: &str) -> &str {
    let ends = [".yml@", ".yaml@"].into_iter();
    let end = ends
        .filter_map(|end| Some(path.find(end)? + end.len() - 1))
        .min();
    end.map_or(path, |end| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::workflow_file;

    #[test]
    fn a_workflow_is_its_file_at_whatever_revision() {
        let case = |path: &str, wanted: &str| assert_eq!(workflow_file(path), wanted, "{path}");
        case("a/ci.yml", "a/ci.yml");
        case("a/ci.yml@refs/heads/main", "a/ci.yml");
        case("a/ci.yaml@v1", "a/ci.yaml");
        case("a/ci@2.yml", "a/ci@2.yml");
        case("a/ci@2.yml@x@y.yml", "a/ci@2.yml");
        case("", "");
    }
}
