//! What a record may show of what strangers sent: secrets are replaced, long values are cut, and
//! the record says where.

use serde_json::{Map, Value, json};

use text::credential::{REDACTED, SecretKeys};

/// The most bytes that are kept of a value.
const CAP: usize = 64 << 10;

/// What a member counts at most towards the size of its list or object: one long text among short
/// members must not push the others out.
const MEMBER: usize = 1 << 10;

/// Members of a record that hold what somebody else wrote.
const FOREIGN: &[&str] = &[
    "tool",
    "args",
    "rpc_id",
    "progress_token",
    "client",
    "error",
    "notifications",
    "method",
    "params",
    "result",
    "uri",
    "prompt",
    "task_id",
    "headers",
    "user_agent",
    "forwarded_for",
    "bytes",
    "rules",
    "rule",
];

/// Takes secrets out of records and cuts what is too long.
#[derive(Debug, Clone)]
pub(super) struct Scrubber {
    /// Nothing is redacted without them.
    keys: Option<SecretKeys>,
}

/// Where a record was changed, as JSON Pointers into it.
#[derive(Debug, Default)]
struct Marks {
    redacted: Vec<Value>,
    truncated: Map<String, Value>,
}

impl Scrubber {
    /// Replaces the values of these keys and what looks like a secret, or nothing.
    pub(super) fn new(keys: Option<SecretKeys>) -> Self {
        Self { keys }
    }

    /// Cleans the members that others wrote, and adds `redacted` and `truncated` where needed.
    pub(super) fn clean(&self, record: &mut Map<String, Value>) {
        let mut marks = Marks::default();
        for name in FOREIGN {
            if let Some(value) = record.get_mut(*name) {
                let pointer = format!("/{name}");
                self.redact(value, &pointer, &mut marks);
                cut(value, &pointer, &mut marks);
            }
        }
        if !marks.redacted.is_empty() {
            record.insert("redacted".to_owned(), Value::Array(marks.redacted));
        }
        if !marks.truncated.is_empty() {
            record.insert("truncated".to_owned(), Value::Object(marks.truncated));
        }
    }

    fn redact(&self, value: &mut Value, pointer: &str, marks: &mut Marks) {
        let Some(keys) = &self.keys else { return };
        match value {
            Value::String(text) => {
                if let Some(masked) = masked(keys, text) {
                    *text = masked;
                    marks.redacted.push(json!(pointer));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.redact(item, &format!("{pointer}/{index}"), marks);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let pointer = format!("{pointer}/{}", escaped(name));
                    if keys.holds(name) && !matches!(member, Value::Null | Value::Bool(_)) {
                        *member = json!(REDACTED);
                        marks.redacted.push(json!(pointer));
                    } else {
                        self.redact(member, &pointer, marks);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The text without secrets; nothing when it has none. A text that is JSON is looked through as such.
fn masked(keys: &SecretKeys, text: &str) -> Option<String> {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(mut inner) = serde_json::from_str::<Value>(text)
    {
        let mut marks = Marks::default();
        let inside = Scrubber::new(Some(keys.clone()));
        inside.redact(&mut inner, "", &mut marks);
        return (!marks.redacted.is_empty()).then(|| inner.to_string());
    }
    keys.mask(text)
}

/// Cuts texts, lists and objects to the cap; gives the size that is left.
fn cut(value: &mut Value, pointer: &str, marks: &mut Marks) -> usize {
    match value {
        Value::String(text) => {
            let size = text.len();
            if size > CAP {
                text.truncate(text.floor_char_boundary(CAP));
                marks.truncated.insert(pointer.to_owned(), json!(size));
            }
            text.len()
        }
        Value::Number(number) => {
            let size = number.to_string().len();
            if size > CAP {
                *value = Value::Null;
                marks.truncated.insert(pointer.to_owned(), json!(size));
            }
            size.min(CAP)
        }
        Value::Null | Value::Bool(_) => 5,
        Value::Array(items) => {
            let (mut room, mut index) = (Room::default(), 0);
            items.retain_mut(|item| {
                index += 1;
                room.keep(item, 0, &format!("{pointer}/{}", index - 1), marks)
            });
            room.close(pointer, marks)
        }
        Value::Object(members) => {
            let mut room = Room::default();
            members.retain(|name, item| {
                let pointer = format!("{pointer}/{}", escaped(name));
                room.keep(item, name.len(), &pointer, marks)
            });
            room.close(pointer, marks)
        }
    }
}

/// How much of a list or an object is kept.
#[derive(Debug, Default)]
struct Room {
    /// The size that counts towards the cap.
    counted: usize,
    kept: usize,
    lost: usize,
}

impl Room {
    /// Whether there is room for one more, which is cut itself; `name` is the length of its name.
    fn keep(&mut self, item: &mut Value, name: usize, pointer: &str, marks: &mut Marks) -> bool {
        let fits = self.counted <= CAP && name <= CAP;
        if fits {
            let size = name + cut(item, pointer, marks);
            self.kept += size;
            self.counted += (size + 1).min(MEMBER);
        } else {
            self.lost += name + item.to_string().len();
        }
        fits
    }

    /// Marks what was lost; the size recorded is about that of the whole as JSON.
    fn close(self, pointer: &str, marks: &mut Marks) -> usize {
        if self.lost > 0 {
            let size = self.kept + self.lost;
            marks.truncated.insert(pointer.to_owned(), json!(size));
        }
        self.kept
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(args: Value) -> Value {
        let mut record = Map::from_iter([("args".to_owned(), args)]);
        Scrubber::new(Some(SecretKeys::default())).clean(&mut record);
        Value::Object(record)
    }

    #[test]
    fn secrets_are_replaced_and_their_places_named() {
        let args = json!({
            "max_tokens": 5,
            "a/b": {"apiKey": "k", "list": [1, "Bearer abcdefghijk"]},
            "cookie": null,
            "credentials": {"user": "me"},
            "message": "{\"credentials\":{\"user\":\"me\"},\"n\":1}",
        });
        let wanted = json!({
            "args": {
                "max_tokens": 5,
                "a/b": {"apiKey": "[redacted]", "list": [1, "Bearer [redacted]"]},
                "cookie": null,
                "credentials": "[redacted]",
                "message": "{\"credentials\":\"[redacted]\",\"n\":1}",
            },
            "redacted": ["/args/a~1b/apiKey", "/args/a~1b/list/1", "/args/credentials", "/args/message"],
        });
        assert_eq!(cleaned(args), wanted);
    }

    #[test]
    fn without_keys_all_is_written_as_it_is() {
        let record = json!({"args": {"password": "hunter2", "text": "Bearer abcdefghijk"}});
        let mut members = record.as_object().unwrap().clone();
        Scrubber::new(None).clean(&mut members);
        assert_eq!(Value::Object(members), record);
    }

    #[test]
    fn our_own_members_are_left_alone() {
        let record = json!({"seq": 1, "kind": "call", "session": "s", "token": "x"});
        let mut members = record.as_object().unwrap().clone();
        Scrubber::new(Some(SecretKeys::default())).clean(&mut members);
        assert_eq!(Value::Object(members), record);
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let long = "é".repeat(40_000);
        let found = cleaned(json!({"text": format!("x{long}"), "after": 1}));
        assert_eq!(found["truncated"], json!({"/args/text": 80_001}));
        assert_eq!(found["args"]["text"].as_str().unwrap().len(), CAP - 1);
        assert_eq!(found["args"]["after"], 1);
    }

    #[test]
    fn a_text_of_just_the_cap_is_kept() {
        let found = cleaned(json!({"text": "x".repeat(CAP)}));
        assert_eq!(found.get("truncated"), None);
    }

    #[test]
    fn long_lists_and_objects_lose_their_ends() {
        let list: Vec<u32> = (0..100_000).collect();
        let found = cleaned(json!({"list": list, "after": 1}));
        let kept = found["args"]["list"].as_array().unwrap().len();
        assert!((5_000..20_000).contains(&kept), "{kept}");
        assert!(found["truncated"]["/args/list"].as_u64().unwrap() > 400_000);
        assert_eq!(found["args"]["after"], 1);
        let object: Map<String, Value> = (0..50_000).map(|n| (format!("k{n}"), json!(n))).collect();
        let found = cleaned(Value::Object(object));
        assert!(found["truncated"]["/args"].is_u64());
    }
}
