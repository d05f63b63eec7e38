//! The comment of a suite on its pull request. It is found by marker and author, created if there is something to say,
//! kept up to date, and never duplicated.

use std::cmp::Ordering;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    client::Client,
    failure::Failure,
    legs,
    marker::{Marker, substance},
    names::Repository,
};

/// Comments per page.
const PAGE: usize = 100;

/// The most pages that are searched.
const MOST_PAGES: usize = 10;

/// The most attempts if comments disappear meanwhile.
const MOST_LOOKS: usize = 3;

/// What happened to the comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommentOutcome {
    /// Created.
    Created,
    /// Changed.
    Updated,
    /// The text is the same except for the run, or a later run wrote it.
    Unchanged,
    /// GitHub refused.
    Denied,
    /// Another error, which the log has; the comment may have been written.
    Failed,
    /// Nothing to say, or no pull request.
    Off,
}

impl CommentOutcome {
    /// The value of the output `comment`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Denied => "denied",
            Self::Failed => "failed",
            Self::Off => "off",
        }
    }
}

/// What happened to the comment, and a later error.
#[derive(Debug)]
pub(crate) struct CommentResult {
    /// What happened to it.
    pub(crate) commented: CommentOutcome,
    /// An error after writing it: it may not be the only one, or not show the worst result of this run.
    pub(crate) open: Option<Failure>,
}

impl From<CommentOutcome> for CommentResult {
    fn from(commented: CommentOutcome) -> Self {
        Self {
            commented,
            open: None,
        }
    }
}

/// A comment on an issue.
#[derive(Debug, Deserialize)]
struct Comment {
    id: u64,
    #[serde(default)]
    body: Option<String>,
    user: Option<User>,
}

/// An account.
#[derive(Debug, Deserialize)]
struct User {
    id: u64,
}

/// A comment to be written.
pub(super) struct Sticky<'a> {
    /// The API client.
    pub(super) client: &'a Client,
    /// The repository.
    pub(super) repository: &'a Repository,
    /// The pull request's number.
    pub(super) number: u64,
    /// The first line.
    pub(super) marker: Marker,
    /// The key of runs of this workflow whose suite is unknown.
    pub(super) nameless: String,
    /// The whole text, including the first line.
    pub(super) body: String,
    /// Whether to create it; otherwise only an existing one is updated.
    pub(super) is_wanted: bool,
}

/// Our comments on the pull request.
#[derive(Debug, Default)]
struct FoundComments {
    /// This suite's comments with their pages, oldest first. A lost answer may have left several.
    ours: Vec<(Comment, usize)>,
    /// A comment of an earlier run with an unknown suite, which this run replaces.
    outdated: Option<Comment>,
    /// Whether not all pages were searched.
    is_cut: bool,
}

impl FoundComments {
    /// The comment to be changed.
    fn target(&self) -> Option<u64> {
        let kept = self.ours.first().map(|(comment, _)| comment);
        kept.or(self.outdated.as_ref()).map(|comment| comment.id)
    }
}

impl Sticky<'_> {
    /// Creates or updates the comment. Starts over if somebody removes it meanwhile.
    pub(super) async fn settle(&self) -> Result<CommentResult, Failure> {
        let own = self.viewer().await?;
        let (mut looked, mut looks) = (self.look(own).await?, 1);
        loop {
            let target = looked.target();
            let failure = match self.settle_as(looked, own).await {
                Err(failure) if failure.is_missing() && target.is_some() => failure,
                other => return other,
            };
            looked = self.look(own).await?;
            // A comment that exists and gives 404 cannot be changed by this token.
            if looks == MOST_LOOKS || looked.target() == target {
                return Err(failure);
            }
            looks += 1;
        }
    }

    /// Creates or updates the comment that was found.
    async fn settle_as(&self, looked: FoundComments, own: u64) -> Result<CommentResult, Failure> {
        let mut ours = looked.ours.into_iter();
        let Some((comment, page)) = ours.next() else {
            return match looked.outdated {
                Some(outdated) => self.renew(&outdated).await.map(CommentResult::from),
                None if looked.is_cut => Err(Failure::Other(
                    "there are 1,000 comments or more, too many to find ours among".to_owned(),
                )),
                None if !self.is_wanted => Ok(CommentOutcome::Off.into()),
                None => self.create(own).await,
            };
        };
        let mut settled = self.keep(&comment, page).await?;
        let further = ours.map(|(further, _)| further);
        let further = further.filter(|further| self.is_surplus(further, &comment));
        for surplus in further.chain(looked.outdated) {
            match self.delete(surplus.id).await {
                Ok(()) => settled.commented = CommentOutcome::Updated,
                Err(failure) => settled.open = Some(failure),
            }
        }
        Ok(settled)
    }

    /// Whether a duplicate can be removed. Duplicates of other matrix legs and of later runs are left to these.
    fn is_surplus(&self, further: &Comment, kept: &Comment) -> bool {
        let age = |comment: &Comment| Some(Marker::of(comment.body.as_deref()?)?.age());
        if age(kept) > Some(self.marker.age()) {
            return false;
        }
        let body = further.body.as_deref().unwrap_or_default();
        match age(further).cmp(&Some(self.marker.age())) {
            Ordering::Less => true,
            Ordering::Equal => substance(body) == substance(&self.body),
            Ordering::Greater => false,
        }
    }

    /// The id of the token's account; only its comments are ours.
    async fn viewer(&self) -> Result<u64, Failure> {
        let query = "query { viewer { databaseId login } }";
        let data = self.client.query(query).await?;
        let id = data.pointer("/viewer/databaseId").and_then(Value::as_u64);
        id.ok_or_else(|| Failure::odd("no `viewer`"))
    }

    /// Searches for our comments.
    async fn look(&self, own: u64) -> Result<FoundComments, Failure> {
        let mut looked = FoundComments::default();
        for page in 1..=MOST_PAGES {
            let comments = self.page(page).await?;
            looked.is_cut = comments.len() == PAGE;
            for comment in comments {
                let marker = comment.body.as_deref().and_then(Marker::of);
                let by_us = comment.user.as_ref().map(|user| user.id) == Some(own);
                let Some(marker) = marker.filter(|_| by_us) else {
                    continue;
                };
                if marker.key == self.marker.key {
                    looked.ours.push((comment, page));
                } else if marker.key == self.nameless && marker.age() < self.marker.age() {
                    looked.outdated = Some(comment);
                }
            }
            if !looked.is_cut {
                break;
            }
        }
        Ok(looked)
    }

    /// Updates our comment, and checks whether another matrix leg updated it at the same time.
    async fn keep(&self, comment: &Comment, page: usize) -> Result<CommentResult, Failure> {
        let mut settled = CommentResult::from(self.renew(comment).await?);
        if settled.commented == CommentOutcome::Updated {
            let again = async {
                let comments = self.page(page).await?;
                match comments.iter().find(|it| it.id == comment.id) {
                    Some(now) => self.renew(now).await.map(drop),
                    None => Ok(()),
                }
            };
            // It may have been removed meanwhile.
            settled.open = again.await.err().filter(|failure| !failure.is_missing());
        }
        Ok(settled)
    }

    /// Reads a page of all comments, oldest first.
    async fn page(&self, number: usize) -> Result<Vec<Comment>, Failure> {
        let path = format!("{}?per_page={PAGE}&page={number}", self.path());
        self.client.get(&path).await
    }

    fn path(&self) -> String {
        let below = format!("/issues/{}/comments", self.number);
        self.repository.path(&below)
    }

    fn path_of(&self, comment: u64) -> String {
        self.repository.path(&format!("/issues/comments/{comment}"))
    }

    /// Updates our comment, unless a later run wrote it or it is up to date. An equal text of an earlier run gets this
    /// run's marker.
    async fn renew(&self, comment: &Comment) -> Result<CommentOutcome, Failure> {
        let known = comment.body.as_deref().unwrap_or_default();
        let known = known.replace("\r\n", "\n");
        let says_the_same = substance(&known) == substance(&self.body);
        let writer = Marker::of(&known);
        let age = writer.as_ref().map(|it| it.age().cmp(&self.marker.age()));
        let body = match (age, writer) {
            (Some(Ordering::Greater), _) => return Ok(CommentOutcome::Unchanged),
            (Some(Ordering::Equal), _) if says_the_same => return Ok(CommentOutcome::Unchanged),
            (Some(Ordering::Equal), _) => {
                let body = legs::worse(&known, &self.body);
                if body.trim_end() == known.trim_end() {
                    return Ok(CommentOutcome::Unchanged);
                }
                body
            }
            (Some(Ordering::Less), Some(writer)) if writer.run == self.marker.run => {
                legs::after(&known, writer.attempt, &self.body)
            }
            (Some(Ordering::Less) | None, _) => self.body.clone(),
        };
        let body = json!({ "body": body });
        self.client.patch(&self.path_of(comment.id), &body).await?;
        Ok(if says_the_same {
            CommentOutcome::Unchanged
        } else {
            CommentOutcome::Updated
        })
    }

    /// Creates our comment. Later errors do not change that it exists.
    async fn create(&self, own: u64) -> Result<CommentResult, Failure> {
        let created = self.post(own).await?;
        Ok(match self.keep_one(created, own).await {
            Ok(commented) => commented.into(),
            Err(failure) => CommentResult {
                commented: CommentOutcome::Created,
                open: Some(failure),
            },
        })
    }

    /// Keeps the older of two comments created at the same time.
    async fn keep_one(&self, created: u64, own: u64) -> Result<CommentOutcome, Failure> {
        let looked = self.look(own).await?;
        let Some((kept, _)) = looked.ours.first() else {
            return Ok(CommentOutcome::Created);
        };
        // Matrix legs share the first line, so the rest is compared too.
        let body = kept.body.as_deref().unwrap_or_default();
        let by_us = Marker::of(body).as_ref() == Some(&self.marker);
        let commented = if by_us && substance(body) == substance(&self.body) {
            CommentOutcome::Created
        } else {
            match self.renew(kept).await {
                Err(failure) if failure.is_missing() => return Ok(CommentOutcome::Created),
                other => other?,
            }
        };
        if kept.id < created {
            self.delete(created).await?;
        }
        Ok(commented)
    }

    async fn delete(&self, comment: u64) -> Result<(), Failure> {
        self.client.delete(&self.path_of(comment)).await
    }

    /// Posts the comment, and repeats that only if it certainly had no effect.
    async fn post(&self, own: u64) -> Result<u64, Failure> {
        let (path, body) = (self.path(), json!({ "body": self.body }));
        let unclear = match self.client.post::<Comment>(&path, &body).await {
            Err(failure) if failure.is_unclear() => failure,
            other => return other.map(|comment| comment.id),
        };
        let Ok(looked) = self.look(own).await else {
            return Err(unclear);
        };
        match looked.ours.first() {
            Some((comment, _)) => Ok(comment.id),
            None if looked.is_cut => Err(unclear),
            None => {
                let comment: Comment = self.client.post(&path, &body).await?;
                Ok(comment.id)
            }
        }
    }
}
