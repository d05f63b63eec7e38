//! Whether enough notifications have come to end a wait early. Looks at each notification once.

use serde_json::Value;

use crate::{observation::NotificationSeen, suite::model::subject::Enough};

/// What is still missing.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    wanted: Option<&'a Enough>,
    next: usize,
    count: u64,
    methods: Vec<&'a str>,
    levels: Vec<&'a str>,
    data: Vec<&'a str>,
}

impl<'a> Tally<'a> {
    /// Nothing is looked at yet. Nothing is ever enough for `None`.
    pub(super) fn new(wanted: Option<&'a Enough>) -> Self {
        let texts = |texts: fn(&Enough) -> &Vec<String>| {
            let wanted = wanted.map(texts);
            wanted.into_iter().flatten().map(String::as_str).collect()
        };
        Self {
            wanted,
            next: 0,
            count: 0,
            methods: texts(|enough| &enough.methods),
            levels: texts(|enough| &enough.levels),
            data: texts(|enough| &enough.data),
        }
    }

    /// Whether all that was wanted is among the notifications.
    pub(super) fn is_enough(&mut self, notifications: &[NotificationSeen]) -> bool {
        let Some(wanted) = self.wanted else {
            return false;
        };
        while let Some(seen) = notifications.get(self.next) {
            self.next += 1;
            self.look(seen, wanted.of_method);
        }
        self.count >= wanted.count
            && self.methods.is_empty()
            && self.levels.is_empty()
            && self.data.is_empty()
    }

    fn look(&mut self, seen: &NotificationSeen, of_method: Option<&str>) {
        self.methods.retain(|method| *method != seen.method);
        if of_method.is_some_and(|method| method != seen.method) {
            return;
        }
        self.count += 1;
        let level = seen.params.get("level").and_then(Value::as_str);
        self.levels.retain(|wanted| Some(*wanted) != level);
        if !self.data.is_empty() {
            let text = told(seen);
            self.data.retain(|wanted| !text.contains(wanted));
        }
    }
}

/// What a notification tells: a log message its data, any other its parameters.
fn told(seen: &NotificationSeen) -> String {
    if seen.method == "notifications/message" {
        return match seen.params.get("data") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
    }
    let mut params = seen.params.clone();
    if let Value::Object(members) = &mut params {
        members.shift_remove("_meta");
    }
    params.to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Tally;
    use crate::{observation::NotificationSeen, suite::model::subject::Enough};

    fn seen(method: &str, params: Value) -> NotificationSeen {
        NotificationSeen {
            method: method.into(),
            params,
        }
    }

    #[test]
    fn a_wait_ends_when_everything_has_come() {
        let wanted = Enough {
            of_method: Some("notifications/message"),
            count: 2,
            methods: vec!["notifications/x".into()],
            levels: vec!["info".into()],
            data: vec!["done".into()],
        };
        let mut tally = Tally::new(Some(&wanted));
        let mut all = Vec::new();
        let mut case = |method: &str, params, enough| {
            all.push(seen(method, params));
            assert_eq!(tally.is_enough(&all), enough, "{method}");
        };
        let message = "notifications/message";
        case(message, json!({"level": "info", "data": "begun"}), false);
        case("notifications/y", json!({"data": "done"}), false);
        case(
            message,
            json!({"level": "error", "data": {"x": "done"}}),
            false,
        );
        case("notifications/x", json!({}), true);
    }

    #[test]
    fn without_a_wish_the_whole_time_is_waited() {
        assert!(!Tally::new(None).is_enough(&[seen("x", Value::Null)]));
    }
}
