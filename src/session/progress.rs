//! Progress tokens: which are ours, and whether the values that come with them grow.

use std::collections::HashMap;

use serde_json::Value;

use crate::{observation::finding::FindingCode, protocol::message::Id};

/// The tokens of a session.
#[derive(Debug, Default)]
pub(super) struct Progress {
    tracks: HashMap<Id, Track>,
}

#[derive(Debug)]
struct Track {
    last: Option<f64>,
    answered: bool,
}

impl Progress {
    /// A request carries this token.
    pub(super) fn expect(&mut self, token: Id) {
        let track = Track {
            last: None,
            answered: false,
        };
        self.tracks.insert(token, track);
    }

    /// The request that carried this token was answered.
    pub(super) fn answered(&mut self, token: &Id) {
        if let Some(track) = self.tracks.get_mut(token) {
            track.answered = true;
        }
    }

    /// What is wrong with the parameters of a progress notification, but for their shape: one without a token is about
    /// no request.
    pub(super) fn check(&mut self, params: &Value) -> Option<(FindingCode, String)> {
        let Some(track) = self.tracks.get_mut(&token(params)?) else {
            let message = "progress for a token that no request of ours carries";
            return Some((FindingCode::ForeignProgressToken, message.into()));
        };
        if track.answered {
            let message = "progress for a request that was answered already";
            return Some((FindingCode::ProgressAfterAnswer, message.into()));
        }
        let value = params.get("progress").and_then(Value::as_f64)?;
        let before = track.last.replace(value)?;
        (value <= before).then(|| {
            let message = "the progress value did not grow";
            (FindingCode::ProgressNotGrowing, message.into())
        })
    }
}

/// The token of a progress notification, if it has one.
pub(super) fn token(params: &Value) -> Option<Id> {
    params.get("progressToken").and_then(Id::from_value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FindingCode, Id, Progress};

    #[test]
    fn values_grow_and_tokens_are_ours() {
        let mut progress = Progress::default();
        progress.expect(Id::Number("1".into()));
        let mut case = |params, wanted: Option<FindingCode>| {
            assert_eq!(progress.check(&params).map(|(code, _)| code), wanted);
        };
        case(json!({"progressToken": 1, "progress": 0}), None);
        case(json!({"progressToken": 1, "progress": 0.5}), None);
        case(
            json!({"progressToken": 1, "progress": 0.5}),
            Some(FindingCode::ProgressNotGrowing),
        );
        case(
            json!({"progressToken": 1, "progress": 0.1}),
            Some(FindingCode::ProgressNotGrowing),
        );
        case(
            json!({"progressToken": "1", "progress": 9}),
            Some(FindingCode::ForeignProgressToken),
        );
        // Of what shape it is not, another says.
        case(json!({}), None);
        progress.answered(&Id::Number("1".into()));
        assert_eq!(
            progress
                .check(&json!({"progressToken": 1, "progress": 10}))
                .map(|(code, _)| code),
            Some(FindingCode::ProgressAfterAnswer)
        );
    }
}
