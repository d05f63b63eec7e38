//! Names for the images of unfinished builds. An engine keeps the image of every step of a build, without a name or a label
//! of ours, so that a killed build would leave images that cannot be found. The names tell the run and its owner; they are
//! removed with the end of the build.

use std::time::Duration;

use bollard::{
    errors::Error,
    query_parameters::{RemoveImageOptions, TagImageOptionsBuilder, WaitContainerOptionsBuilder},
};
use futures_util::StreamExt;
use tokio::time::timeout;

use super::{
    engine::Engine,
    failure::{answer, is_unknown},
    labels::RunName,
    worker,
};
use crate::owner::Owner;

/// The names of what unfinished builds have made.
pub(super) const REPOSITORY: &str = "mcp-assert/building";

/// How long the engine may take to name or to remove an image.
const ANSWER: Duration = Duration::from_secs(30);

/// How long the engine may take to remove all that a build made.
const TEARING_DOWN: Duration = Duration::from_secs(5);

/// How long an engine may take to end the step of an interrupted build.
const GIVING_UP: Duration = Duration::from_secs(3);

/// The images that hold up a build.
pub(super) struct UnfinishedBuild<'a> {
    engine: &'a Engine,
    run: &'a RunName,
    /// Stages that have begun; from 1.
    stage: usize,
    stages: Vec<Stage>,
}

/// What a stage has made last.
struct Stage {
    number: usize,
    tag: String,
    id: String,
}

impl<'a> UnfinishedBuild<'a> {
    /// Nothing is made yet.
    pub(super) fn new(engine: &'a Engine, run: &'a RunName) -> Self {
        Self {
            engine,
            run,
            stage: 0,
            stages: Vec::new(),
        }
    }

    /// The next stage begins.
    pub(super) fn begin(&mut self) {
        self.stage += 1;
    }

    /// The stage has made this. What cannot be named is removed at the end all the same, unless we are killed.
    pub(super) async fn made(&mut self, id: String) {
        let number = self.stage;
        let known = self.stages.iter().position(|stage| stage.number == number);
        let index = known.unwrap_or_else(|| {
            self.stages.push(Stage {
                number,
                tag: tag(&self.run.job()),
                id: String::new(),
            });
            self.stages.len() - 1
        });
        self.stages[index].id.clone_from(&id);
        name(self.engine, &id, REPOSITORY, &self.stages[index].tag).await;
    }

    /// The build is done: what it gave has its own name, and what came before is kept for the next build of the same,
    /// as `repository:tag-1` and so on.
    pub(super) async fn finish(self, repository: &str, tag: &str) {
        for stage in &self.stages {
            if stage.number != self.stage {
                let kept = format!("{tag}-{}", stage.number);
                let named = format!("{repository}:{kept}");
                let before = id_of(self.engine, &named).await;
                name(self.engine, &stage.id, repository, &kept).await;
                let now = id_of(self.engine, &named).await;
                if let Some(before) = before
                    && now.as_ref() != Some(&before)
                {
                    delete_nameless(self.engine, &before).await;
                }
            }
            // The next run finds what stays.
            let _ = delete(self.engine, &format!("{REPOSITORY}:{}", stage.tag)).await;
        }
    }

    /// The build failed: removes what it made.
    pub(super) async fn tear_down(self) {
        let removing = async {
            for stage in self.stages.iter().rev() {
                let _ = remove(self.engine, &stage.id, &stage.tag).await;
            }
        };
        // The end of this run or the next run finds what stays.
        let _ = timeout(TEARING_DOWN, removing).await;
    }
}

/// Waits until the engine has ended the step that ran in this container, which it does once the connection is closed.
pub(super) async fn given_up(engine: &Engine, container: &str) {
    let options = WaitContainerOptionsBuilder::default()
        .condition("removed")
        .build();
    let mut waiting = engine.docker.wait_container(container, Some(options));
    // One that is gone already is an error here.
    if timeout(GIVING_UP, waiting.next()).await.is_err() {
        worker::remove(engine, container).await;
    }
}

/// Removes what an unfinished build made. An image that others are made of, or that has other names, only loses this
/// one.
pub(super) async fn remove(engine: &Engine, id: &str, tag: &str) -> Result<(), Error> {
    match delete(engine, id).await {
        Err(Error::DockerResponseServerError {
            status_code: 409,
            message,
        }) if !message.contains("container") => {
            delete(engine, &format!("{REPOSITORY}:{tag}")).await
        }
        removed => removed,
    }
}

/// Removes an image by name or id. A missing image is not an error.
pub(super) async fn delete(engine: &Engine, image: &str) -> Result<(), Error> {
    let docker = &engine.docker;
    let asked = docker.remove_image(image, None::<RemoveImageOptions>, None);
    match timeout(ANSWER, asked).await {
        Ok(Err(error)) if !is_unknown(&error) => Err(error),
        Ok(_) => Ok(()),
        Err(_) => Err(Error::RequestTimeoutError),
    }
}

/// Removes an image that has no name any more; an engine that still uses it keeps it.
pub(super) async fn delete_nameless(engine: &Engine, id: &str) {
    let found = answer(ANSWER, engine.docker.inspect_image(id)).await;
    if let Ok(Some(found)) = found
        && found.repo_tags.unwrap_or_default().is_empty()
    {
        let _ = delete(engine, id).await;
    }
}

/// Gives an image a name.
pub(super) async fn name(engine: &Engine, id: &str, repository: &str, tag: &str) {
    let options = TagImageOptionsBuilder::default()
        .repo(repository)
        .tag(tag)
        .build();
    let _ = timeout(ANSWER, engine.docker.tag_image(id, Some(options))).await;
}

/// The id behind a name.
async fn id_of(engine: &Engine, name: &str) -> Option<String> {
    let found = answer(ANSWER, engine.docker.inspect_image(name)).await;
    found.ok()??.id
}

/// The tag of what a job of this process builds.
pub(super) fn tag(job: &str) -> String {
    format!("{job}_{}", Owner::this().to_text().replace(':', "_"))
}

/// Whose a tag is: the part of its run's name that no other run has, and its owner.
pub(super) fn read(tag: &str) -> Option<(&str, Owner)> {
    let (job, owner) = tag.split_once('_')?;
    let (run, _) = job.rsplit_once('-')?;
    Some((run, Owner::parse(&owner.replacen('_', ":", 2))?))
}

#[cfg(test)]
mod tests {
    use super::{read, tag};
    use crate::{container::labels::RunName, owner::Owner};
    use text::environment::Environment;

    #[test]
    fn a_tag_tells_its_run_and_its_owner() {
        let run = RunName::new(&Environment::default());
        let tag = tag(&run.job());
        assert_eq!(read(&tag), Some((run.unique(), Owner::this().clone())));
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        assert!(tag.len() <= 128 && tag.bytes().all(allowed), "{tag}");
        for other in ["latest", "1-2", "1-2_3", "1-2_x_4_y"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
