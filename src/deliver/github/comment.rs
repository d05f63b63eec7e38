//! The one comment of a suite on its pull request: found by its marker and its author, made when there is something
//! to say, kept up to date from then on, and never two of it.

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

/// Comments of a page.
const PAGE: usize = 100;

/// Pages that are looked through.
const MOST_PAGES: usize = 10;

/// What became of the comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commented {
    /// It was made.
    Created,
    /// It was changed.
    Updated,
    /// It says the same, at most of an earlier run until now, or a later run has spoken.
    Unchanged,
    /// GitHub did not let us.
    Denied,
    /// Something else went wrong, which is told in the log; whether it took effect may be open.
    Failed,
    /// There was nothing to say, or nowhere to say it.
    Off,
}

impl Commented {
    /// The word in the outputs.
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

/// Whether a comment is made where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Creation {
    /// It is.
    Wanted,
    /// Only an old one is kept up to date.
    Unwanted,
}

/// A comment on an issue.
#[derive(Debug, Clone, Deserialize)]
struct Comment {
    id: u64,
    body: Option<String>,
    user: Option<User>,
}

/// Somebody.
#[derive(Debug, Clone, Deserialize)]
struct User {
    id: u64,
}

/// A comment to be made on a pull request.
pub(super) struct Sticky<'a> {
    /// Whom to ask.
    pub(super) client: &'a Client,
    /// Where.
    pub(super) repository: &'a Repository,
    /// On which pull request.
    pub(super) number: u64,
    /// Its first line.
    pub(super) marker: Marker,
    /// The identity that a run of this workflow has of which nobody could tell the suite.
    pub(super) nameless: String,
    /// All of it, the first line included.
    pub(super) body: String,
}

/// What was found of ours.
enum Found {
    /// The comment; of several the oldest.
    One(Comment),
    /// There is none.
    None,
    /// There may be one beyond what is looked through.
    Unknown,
}

/// What was found on the pull request.
struct Looked {
    /// The comment of this suite.
    found: Found,
    /// The page that it is on.
    page: usize,
    /// One of an earlier run that could not say whose it was: this run is what became of it.
    outdated: Option<Comment>,
}

impl Sticky<'_> {
    /// Brings the comment to where it should be.
    pub(super) async fn settle(&self, creation: Creation) -> Result<Commented, Failure> {
        let own = self.viewer().await?;
        let Looked {
            found,
            page,
            outdated,
        } = self.look(own).await?;
        match (found, outdated) {
            (Found::One(comment), None) => self.keep(&comment, page).await,
            (Found::One(comment), Some(outdated)) => {
                self.keep(&comment, page).await?;
                self.delete(outdated.id).await?;
                Ok(Commented::Updated)
            }
            (Found::None, Some(outdated)) => self.renew(&outdated).await,
            (Found::Unknown, _) => Err(Failure::TooMany),
            (Found::None, None) if creation == Creation::Unwanted => Ok(Commented::Off),
            (Found::None, None) => self.create(own).await,
        }
    }

    /// Who we are: only comments of ours are ours, whatever they begin with.
    async fn viewer(&self) -> Result<u64, Failure> {
        let data = self
            .client
            .query("query { viewer { databaseId login } }")
            .await?;
        data.pointer("/viewer/databaseId")
            .and_then(Value::as_u64)
            .ok_or_else(|| Failure::Odd("nobody as `viewer`".to_owned()))
    }

    /// Looks for our comment, oldest first, as far as is looked.
    async fn found(&self, own: u64) -> Result<Found, Failure> {
        Ok(self.look(own).await?.found)
    }

    /// Looks for our comment and for an outdated one.
    async fn look(&self, own: u64) -> Result<Looked, Failure> {
        let mut looked = Looked {
            found: Found::Unknown,
            page: 1,
            outdated: None,
        };
        for page in 1..=MOST_PAGES {
            let comments = self.page(page).await?;
            let is_last = comments.len() < PAGE;
            // They come oldest first.
            for comment in comments {
                let marker = comment.body.as_deref().and_then(Marker::of);
                let by_us = comment.user.as_ref().map(|user| user.id) == Some(own);
                let Some(marker) = marker.filter(|_| by_us) else {
                    continue;
                };
                if marker.key == self.marker.key {
                    if !matches!(looked.found, Found::One(_)) {
                        looked.found = Found::One(comment);
                        looked.page = page;
                    }
                } else if marker.key == self.nameless && marker.age() < self.marker.age() {
                    looked.outdated = Some(comment);
                }
            }
            if is_last {
                if matches!(looked.found, Found::Unknown) {
                    looked.found = Found::None;
                }
                break;
            }
        }
        Ok(looked)
    }

    /// Changes our comment, and looks whether another leg of this run changed it at the same time.
    async fn keep(&self, comment: &Comment, page: usize) -> Result<Commented, Failure> {
        let commented = self.renew(comment).await?;
        if commented == Commented::Updated
            && let Ok(comments) = self.page(page).await
            && let Some(now) = comments.iter().find(|it| it.id == comment.id)
        {
            self.renew(now).await?;
        }
        Ok(commented)
    }

    /// A page of all comments, from 1.
    async fn page(&self, number: usize) -> Result<Vec<Comment>, Failure> {
        let below = format!(
            "/issues/{}/comments?per_page={PAGE}&page={number}",
            self.number
        );
        self.client.get(&self.repository.path(&below)).await
    }

    /// Changes our comment, unless a later run wrote it or it says all of it already. One of an earlier run that says
    /// the same tells of this one from now on: a run between the two is overtaken.
    async fn renew(&self, comment: &Comment) -> Result<Commented, Failure> {
        let known = comment.body.as_deref().unwrap_or_default();
        let known = known.replace("\r\n", "\n");
        let says_the_same = substance(&known) == substance(&self.body);
        let writer = Marker::of(&known);
        let age = writer.as_ref().map(|it| it.age().cmp(&self.marker.age()));
        let body = match (age, writer) {
            (Some(Ordering::Greater), _) => return Ok(Commented::Unchanged),
            (Some(Ordering::Equal), _) if says_the_same => return Ok(Commented::Unchanged),
            (Some(Ordering::Equal), _) => {
                let body = legs::worse(&known, &self.body);
                if body.trim_end() == known.trim_end() {
                    return Ok(Commented::Unchanged);
                }
                body
            }
            (Some(Ordering::Less), Some(writer)) if writer.run == self.marker.run => {
                legs::after(&known, writer.attempt, &self.body)
            }
            (Some(Ordering::Less) | None, _) => self.body.clone(),
        };
        let path = format!("/issues/comments/{}", comment.id);
        let body = json!({ "body": body });
        let _: Value = self
            .client
            .patch(&self.repository.path(&path), &body)
            .await?;
        Ok(if says_the_same {
            Commented::Unchanged
        } else {
            Commented::Updated
        })
    }

    /// Makes our comment. When another run of ours made one at the same time, the older one stays.
    async fn create(&self, own: u64) -> Result<Commented, Failure> {
        let created = self.post(own).await?;
        let Found::One(kept) = self.found(own).await? else {
            return Ok(Commented::Created);
        };
        if kept.id < created {
            self.delete(created).await?;
        }
        // Another leg's has the same first line: only the rest shows whether it is ours.
        let body = kept.body.as_deref().unwrap_or_default();
        let written_by = Marker::of(body);
        if written_by.as_ref() == Some(&self.marker) && substance(body) == substance(&self.body) {
            return Ok(Commented::Created);
        }
        self.renew(&kept).await
    }

    async fn delete(&self, comment: u64) -> Result<(), Failure> {
        let path = format!("/issues/comments/{comment}");
        self.client.delete(&self.repository.path(&path)).await
    }

    /// Posts it, and again only when it is sure that the first time had no effect.
    async fn post(&self, own: u64) -> Result<u64, Failure> {
        let path = self
            .repository
            .path(&format!("/issues/{}/comments", self.number));
        let body = json!({ "body": self.body });
        let again = match self.client.post::<Comment>(&path, &body).await {
            Ok(comment) => return Ok(comment.id),
            Err(failure) if failure.is_unclear() => failure,
            Err(failure) => return Err(failure),
        };
        match self.found(own).await? {
            Found::One(comment) => Ok(comment.id),
            Found::None => {
                let comment: Comment = self.client.post(&path, &body).await?;
                Ok(comment.id)
            }
            Found::Unknown => Err(again),
        }
    }
}
