//! What stands among the arguments of a call and reads like a key that belongs beside them: it is sent, and nothing is
//! checked by it.

use super::Lowering;
use crate::{
    problems,
    raw::{
        Field,
        expect::{RawExpect, RawLoggingExpect, RawNotificationsExpect},
        step::RawStep,
        value::Members,
    },
    yaml::{At, Kind, Node},
};

/// A key that a call can have beside its arguments, and its place where it does.
pub(super) type Own = (&'static str, Option<At>);

impl Lowering<'_> {
    /// Tells keys among arguments that a call takes and lacks. A tool may really have such an argument.
    pub(super) fn check_args(&mut self, args: Option<&Field<Members>>, beside: &str, own: &[Own]) {
        let Some(Field {
            value: Members(node),
            ..
        }) = args
        else {
            return;
        };
        let Kind::Map(entries) = &node.kind else {
            return;
        };
        for entry in entries {
            let key = entry.key.text.as_str();
            let is_lacking = own.iter().any(|(own, at)| *own == key && at.is_none());
            if is_lacking && is_meant(key, &entry.value) {
                self.problem(entry.key.at, |origin| {
                    problems::sent_as_argument(origin, key, beside)
                });
            }
        }
    }

    /// The same for a step.
    pub(super) fn check_args_of_step(&mut self, raw: &RawStep) {
        let own = [
            ("expect", raw.expect.as_ref().map(|field| field.key)),
            ("capture", raw.capture.as_ref().map(|field| field.key)),
        ];
        self.check_args(raw.args.as_ref(), "args", &own);
        let prompt = raw.prompt.as_ref();
        let arguments = prompt.and_then(|prompt| prompt.value.arguments.as_ref());
        self.check_args(arguments, "prompt", &own);
    }
}

/// Whether a value would do under a key beside the arguments.
fn is_meant(key: &str, value: &Node) -> bool {
    let Kind::Map(entries) = &value.kind else {
        return false;
    };
    let families = [
        RawExpect::KEYS,
        RawLoggingExpect::KEYS,
        RawNotificationsExpect::KEYS,
    ];
    let is_known = |key: &str| families.iter().any(|keys| keys.contains(&key));
    match key {
        "expect" => entries.iter().any(|entry| is_known(&entry.key.text)),
        "capture" => {
            let is_text = |value: &Node| matches!(value.kind, Kind::Text(..));
            !entries.is_empty() && entries.iter().all(|entry| is_text(&entry.value))
        }
        _ => !entries.is_empty(),
    }
}
