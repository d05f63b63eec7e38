//! Progress tokens: which are ours, and whether the values that come with them grow.

use std::collections::HashMap;

use serde_json::Value;

use crate::{observation::finding::FindingCode, protocol::message::Id};

/// The tokens of a session.
#[derive(Debug, Default)]
pub(super) struct Progress {
    tracks: HashMap<Id, Track>,
    /// Which token an open request carries.
    carried: HashMap<Id, Id>,
}

/// What was told for a token.
#[derive(Debug, Default)]
struct Track {
    last: Option<f64>,
    /// How many open requests carry it.
    open: usize,
    /// Whether it was more than one at a time: frames that are sent as they are written may do that, and then nobody can
    /// say whose progress comes.
    shared: bool,
}

impl Progress {
    /// A request with this id carries this token.
    pub(super) fn expect(&mut self, token: Id, request: Id) {
        let track = self.tracks.entry(token.clone()).or_default();
        if track.open == 0 {
            *track = Track::default();
        }
        track.open += 1;
        track.shared |= track.open > 1;
        self.carried.insert(request, token);
    }

    /// The request with this id was answered.
    pub(super) fn answered(&mut self, request: &Id) {
        let token = self.carried.remove(request);
        if let Some(track) = token.and_then(|token| self.tracks.get_mut(&token)) {
            track.open = track.open.saturating_sub(1);
        }
    }

    /// What is wrong with the parameters of a progress notification, but for their shape: one without a token is about
    /// no request.
    pub(super) fn check(&mut self, params: &Value) -> Option<(FindingCode, String)> {
        let Some(track) = self.tracks.get_mut(&token(params)?) else {
            let message = "progress for a token that no request of ours carries";
            return Some((FindingCode::ForeignProgressToken, message.into()));
        };
        if track.open == 0 {
            let message = "progress for a request that was answered already";
            return Some((FindingCode::ProgressAfterAnswer, message.into()));
        }
        let value = params.get("progress").and_then(Value::as_f64)?;
        let before = track.last.replace(value)?;
        (value <= before && !track.shared).then(|| {
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
        let one = || Id::Number("1".into());
        progress.expect(one(), one());
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

    #[test]
    fn a_token_is_open_as_long_as_a_request_that_carries_it() {
        let mut progress = Progress::default();
        let id = |number: &str| Id::Number(number.into());
        let token = || Id::Text("q".into());
        let check = |progress: &mut Progress, value: u64| {
            let told = progress.check(&json!({"progressToken": "q", "progress": value}));
            told.map(|(code, _)| code)
        };
        progress.expect(token(), id("5"));
        progress.expect(token(), id("6"));
        assert_eq!(check(&mut progress, 2), None);
        assert_eq!(check(&mut progress, 1), None, "it may be of the other one");
        // An id that is written as the token is says nothing of it.
        progress.answered(&Id::Text("q".into()));
        progress.answered(&id("5"));
        assert_eq!(check(&mut progress, 3), None);
        progress.answered(&id("6"));
        let late = Some(FindingCode::ProgressAfterAnswer);
        assert_eq!(check(&mut progress, 4), late);
        progress.expect(token(), id("7"));
        assert_eq!(check(&mut progress, 1), None);
        let stuck = Some(FindingCode::ProgressNotGrowing);
        assert_eq!(check(&mut progress, 1), stuck);
    }
}
