//! The one comment of a suite on its pull request: found by its marker and its author, made when there is something
//! to say, kept up to date from then on, and never two of it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    client::Client,
    failure::Failure,
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
    /// It says the same already, or a later run has spoken.
    Unchanged,
    /// GitHub did not let us.
    Denied,
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

impl Sticky<'_> {
    /// Brings the comment to where it should be.
    pub(super) async fn settle(&self, creation: Creation) -> Result<Commented, Failure> {
        let own = self.viewer().await?;
        match self.found(own).await? {
            Found::One(comment) => self.renew(&comment).await,
            Found::Unknown => Err(Failure::Odd(format!(
                "more than {} comments, too many to find ours among",
                PAGE * MOST_PAGES
            ))),
            Found::None if creation == Creation::Unwanted => Ok(Commented::Off),
            Found::None => self.create(own).await,
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
        for page in 1..=MOST_PAGES {
            let below = format!(
                "/issues/{}/comments?per_page={PAGE}&page={page}",
                self.number
            );
            let comments: Vec<Comment> = self.client.get(&self.repository.path(&below)).await?;
            let is_last = comments.len() < PAGE;
            // They come oldest first.
            let ours = comments
                .into_iter()
                .find(|comment| self.is_ours(comment, own));
            if let Some(comment) = ours {
                return Ok(Found::One(comment));
            }
            if is_last {
                return Ok(Found::None);
            }
        }
        Ok(Found::Unknown)
    }

    fn is_ours(&self, comment: &Comment, own: u64) -> bool {
        let marker = comment.body.as_deref().and_then(Marker::of);
        let author = comment.user.as_ref().map(|user| user.id);
        marker.is_some_and(|it| it.key == self.marker.key) && author == Some(own)
    }

    /// Changes our comment, unless a later run wrote it or it says the same.
    async fn renew(&self, comment: &Comment) -> Result<Commented, Failure> {
        let body = comment.body.as_deref().unwrap_or_default();
        let is_later = Marker::of(body).is_some_and(|it| it.age() > self.marker.age());
        if is_later || substance(body) == substance(&self.body) {
            return Ok(Commented::Unchanged);
        }
        let path = format!("/issues/comments/{}", comment.id);
        let body = json!({ "body": self.body });
        let _: Value = self
            .client
            .patch(&self.repository.path(&path), &body)
            .await?;
        Ok(Commented::Updated)
    }

    /// Makes our comment. When another run of ours made one at the same time, the older one stays.
    async fn create(&self, own: u64) -> Result<Commented, Failure> {
        let created = self.post(own).await?;
        let Found::One(kept) = self.found(own).await? else {
            return Ok(Commented::Created);
        };
        if kept.id < created {
            let path = format!("/issues/comments/{created}");
            self.client.delete(&self.repository.path(&path)).await?;
        }
        let written_by = kept.body.as_deref().and_then(Marker::of);
        if written_by.as_ref() == Some(&self.marker) {
            return Ok(Commented::Created);
        }
        self.renew(&kept).await
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
