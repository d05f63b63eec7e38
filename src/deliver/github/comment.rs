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

/// How often is looked anew because what was found is gone.
const MOST_LOOKS: usize = 3;

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

/// What became of the comment, and what went wrong after that.
#[derive(Debug)]
pub(crate) struct Settled {
    /// What became of it.
    pub(crate) commented: Commented,
    /// Why nobody can say that it is the only one of ours, and as the worst of this run has it.
    pub(crate) open: Option<Failure>,
}

impl From<Commented> for Settled {
    fn from(commented: Commented) -> Self {
        Self {
            commented,
            open: None,
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
    /// Further ones of this suite, as a lost answer leaves them.
    further: Vec<Comment>,
    /// One of an earlier run that could not say whose it was: this run is what became of it.
    outdated: Option<Comment>,
}

impl Looked {
    /// The comment that is to be changed.
    fn changes(&self) -> Option<u64> {
        match (&self.found, &self.outdated) {
            (Found::One(comment), _) => Some(comment.id),
            (Found::None | Found::Unknown, outdated) => outdated.as_ref().map(|it| it.id),
        }
    }
}

impl Sticky<'_> {
    /// Brings the comment to where it should be. One that somebody removes meanwhile was never there.
    pub(super) async fn settle(&self, creation: Creation) -> Result<Settled, Failure> {
        let own = self.viewer().await?;
        let mut looked = self.look(own).await?;
        let mut looks = 1;
        loop {
            let known = looked.changes();
            let failure = match self.settle_as(looked, creation, own).await {
                Err(failure) if failure.is_missing() && known.is_some() => failure,
                other => return other,
            };
            looked = self.look(own).await?;
            looks += 1;
            // What is there and cannot be changed is not ours to change.
            if looks > MOST_LOOKS || looked.changes() == known {
                return Err(failure);
            }
        }
    }

    /// Brings the comment to where it should be, as it was found.
    async fn settle_as(
        &self,
        looked: Looked,
        creation: Creation,
        own: u64,
    ) -> Result<Settled, Failure> {
        let Looked {
            found,
            page,
            further,
            outdated,
        } = looked;
        match (found, outdated) {
            (Found::One(comment), outdated) => {
                let mut settled = self.keep(&comment, page).await?;
                let further = further
                    .into_iter()
                    .filter(|it| self.is_surplus(it, &comment));
                for surplus in further.chain(outdated) {
                    match self.delete(surplus.id).await {
                        Ok(()) => settled.commented = Commented::Updated,
                        Err(failure) => settled.open = Some(failure),
                    }
                }
                Ok(settled)
            }
            (Found::None, Some(outdated)) => self.renew(&outdated).await.map(Settled::from),
            (Found::Unknown, _) => Err(Failure::TooMany),
            (Found::None, None) if creation == Creation::Unwanted => Ok(Commented::Off.into()),
            (Found::None, None) => self.create(own).await,
        }
    }

    /// Whether a further comment says nothing that `kept` does not say from now on. One of another leg of this run is
    /// removed by that leg, which brings what it says along; one of a later run by that run.
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
            further: Vec::new(),
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
                    if matches!(looked.found, Found::One(_)) {
                        looked.further.push(comment);
                    } else {
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
    async fn keep(&self, comment: &Comment, page: usize) -> Result<Settled, Failure> {
        let commented = self.renew(comment).await?;
        let open = if commented == Commented::Updated {
            self.keep_worst(comment.id, page).await.err()
        } else {
            None
        };
        // Whoever removed it meanwhile wanted it so.
        let open = open.filter(|failure| !failure.is_missing());
        Ok(Settled { commented, open })
    }

    async fn keep_worst(&self, comment: u64, page: usize) -> Result<(), Failure> {
        let comments = self.page(page).await?;
        if let Some(now) = comments.iter().find(|it| it.id == comment) {
            self.renew(now).await?;
        }
        Ok(())
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

    /// Makes our comment. Whatever goes wrong after that, it is made.
    async fn create(&self, own: u64) -> Result<Settled, Failure> {
        let created = self.post(own).await?;
        Ok(match self.keep_one(created, own).await {
            Ok(commented) => commented.into(),
            Err(failure) => Settled {
                commented: Commented::Created,
                open: Some(failure),
            },
        })
    }

    /// When another run of ours made a comment at the same time, the older one stays.
    async fn keep_one(&self, created: u64, own: u64) -> Result<Commented, Failure> {
        let Found::One(kept) = self.found(own).await? else {
            return Ok(Commented::Created);
        };
        // Another leg's has the same first line: only the rest shows whether it is ours.
        let body = kept.body.as_deref().unwrap_or_default();
        let by_us = Marker::of(body).as_ref() == Some(&self.marker);
        let commented = if by_us && substance(body) == substance(&self.body) {
            Commented::Created
        } else {
            match self.renew(&kept).await {
                Err(failure) if failure.is_missing() => return Ok(Commented::Created),
                other => other?,
            }
        };
        if kept.id < created {
            self.delete(created).await?;
        }
        Ok(commented)
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
        match self.found(own).await {
            Ok(Found::One(comment)) => Ok(comment.id),
            Ok(Found::None) => {
                let comment: Comment = self.client.post(&path, &body).await?;
                Ok(comment.id)
            }
            Ok(Found::Unknown) | Err(_) => Err(again),
        }
    }
}
