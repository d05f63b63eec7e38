//! What is hidden in a baseline, and what may be said of it. A hidden text stands for the variable that gave it: it is the
//! same where that variable gives it now. Where it is not, it may still be any text that is there now, because nobody
//! knows the value it had; a change that hangs on this is neither told nor let pass.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::kept::{Unmasked, rewritten};
use crate::{
    observation::catalog::{Catalog, Listing},
    words::redact::MASK,
};

/// Members that tell entries and arguments apart.
const NAMES: [&str; 3] = ["name", "uri", "uriTemplate"];

/// How the texts of a baseline read now.
pub(super) struct Reading<'a> {
    /// What is kept of a text that is hidden now.
    masked: BTreeMap<&'a str, &'a str>,
    /// Variables whose value was another one then.
    stale: BTreeSet<&'a str>,
}

impl<'a> Reading<'a> {
    /// How a catalog of the baseline is to be read. A value that it shows would be hidden in it if it had been that of
    /// the variable then.
    pub(super) fn of(before: &Catalog, now: &'a Unmasked) -> Self {
        let of_now = now.0.iter();
        let mut reading = Self {
            masked: of_now
                .map(|(kept, text)| (text.as_str(), kept.as_str()))
                .collect(),
            stale: BTreeSet::new(),
        };
        if reading.masked.is_empty() {
            return reading;
        }
        let mut stale = BTreeSet::new();
        let lists = Listing::ALL.into_iter().filter_map(|it| before.list(it));
        for entry in lists.flatten() {
            rewritten(entry, &mut |text| {
                if let Some(masked) = reading.masked.get(text) {
                    stale.extend(holes(masked).1);
                }
                String::new()
            });
        }
        reading.stale = stale;
        reading
    }

    /// A list of the baseline as it would be kept now.
    pub(super) fn read(&self, list: &[Value]) -> Vec<Value> {
        if self.masked.is_empty() {
            return list.to_vec();
        }
        let list = list.iter();
        list.map(|entry| rewritten(entry, &mut |text| self.text(text)))
            .collect()
    }

    fn text(&self, text: &str) -> String {
        if let Some(masked) = self.masked.get(text) {
            return (*masked).to_owned();
        }
        let (around, names) = holes(text);
        if names.iter().any(|name| self.stale.contains(name)) {
            return around.join(MASK);
        }
        text.to_owned()
    }
}

/// A text around what is hidden in it, and the names of that.
fn holes(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut around, mut names) = (Vec::new(), Vec::new());
    let mut parts = text.split(MASK);
    around.extend(parts.next());
    for part in parts {
        let label = part.strip_prefix('{').and_then(|part| part.split_once('}'));
        match label {
            Some((name, rest)) => {
                names.extend(name.split('+'));
                around.push(rest);
            }
            None => around.push(part),
        }
    }
    (around, names)
}

/// Whether anything is hidden in a list.
pub(super) fn hides(list: &[Value]) -> bool {
    let mut found = false;
    for entry in list {
        rewritten(entry, &mut |text| {
            found |= text.contains(MASK);
            String::new()
        });
    }
    found
}

/// The list of before, with every text that may be one of now taken for it.
pub(super) fn guessed(before: &[Value], now: &[Value]) -> Vec<Value> {
    let mut free: Vec<Option<&Value>> = now.iter().map(Some).collect();
    let mut found: Vec<Option<&Value>> = vec![None; before.len()];
    for is_it in [same, named_alike, likely] {
        for (one, place) in before.iter().zip(&mut found) {
            if place.is_some() {
                continue;
            }
            let other = free
                .iter_mut()
                .find(|it| it.is_some_and(|it| is_it(one, it)));
            *place = other.and_then(Option::take);
        }
    }
    let pairs = before.iter().zip(found);
    let guess = |(one, other): (&Value, Option<&Value>)| match other {
        Some(other) => guess(one, other),
        None => one.clone(),
    };
    pairs.map(guess).collect()
}

fn guess(before: &Value, now: &Value) -> Value {
    match (before, now) {
        (Value::String(one), Value::String(other)) if may_be(one, other) => now.clone(),
        (Value::Array(one), Value::Array(other)) => guessed(one, other).into(),
        (Value::Object(one), Value::Object(other)) => members(one, other).into(),
        (before, _) => before.clone(),
    }
}

fn members(before: &Map<String, Value>, now: &Map<String, Value>) -> Map<String, Value> {
    let mut free: Vec<&String> = now.keys().filter(|it| !before.contains_key(*it)).collect();
    let mut all = Map::new();
    for (name, value) in before {
        let other = if now.contains_key(name) {
            Some(name)
        } else {
            let place = free.iter().position(|other| may_be(name, other));
            place.map(|place| free.remove(place))
        };
        let (name, value) = match other.and_then(|other| now.get_key_value(other)) {
            Some((other, value_now)) => (other, guess(value, value_now)),
            None => (name, value.clone()),
        };
        all.insert(name.clone(), value);
    }
    all
}

fn same(one: &Value, other: &Value) -> bool {
    one == other
}

fn named_alike(one: &Value, other: &Value) -> bool {
    name(one).is_some() && name(one) == name(other)
}

/// Whether one can be the other as far as their names tell.
fn likely(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => may_be(one, other),
        (one, other) => match (name(one), name(other)) {
            (Some(one), Some(other)) => may_be(one, other),
            (None, None) => one.is_object() && other.is_object(),
            (Some(_), None) | (None, Some(_)) => false,
        },
    }
}

fn name(value: &Value) -> Option<&str> {
    NAMES.iter().find_map(|member| value.get(member)?.as_str())
}

/// Whether two texts can be one, whatever is hidden in them.
fn may_be(one: &str, other: &str) -> bool {
    let (around, of_other) = (holes(one).0, holes(other).0);
    match (around.len() > 1, of_other.len() > 1) {
        (false, false) => one == other,
        (true, false) => fits(other, &around),
        (false, true) => fits(one, &of_other),
        (true, true) => true,
    }
}

/// Whether a text has these parts in their order, the first at its beginning and the last at its end.
fn fits(text: &str, around: &[&str]) -> bool {
    let [first, between @ .., last] = around else {
        return false;
    };
    let inner = text.strip_prefix(first);
    let Some(mut rest) = inner.and_then(|text| text.strip_suffix(last)) else {
        return false;
    };
    for part in between {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{
        observation::catalog::Catalog,
        report::{
            cleaner::Cleaner,
            compare::Scope,
            surface::{
                Catalogs, Surface, compare,
                kept::{self, Unmasked},
            },
        },
        words::redact::Secrets,
    };

    /// A surface as it is kept where variables have these values.
    fn kept(variables: &[(&str, &str)], tools: &Value) -> (Catalogs, Unmasked) {
        let mut secrets = Secrets::default();
        for (name, value) in variables {
            secrets.add_named(name, value);
        }
        let listed = Catalog {
            tools: tools.as_array().cloned(),
            ..Catalog::default()
        };
        let mut unmasked = Unmasked::default();
        let catalog = kept::catalog(&listed, &Cleaner::new(secrets), &mut unmasked);
        (Catalogs::from([("s".to_owned(), catalog)]), unmasked)
    }

    fn compared(before: &(Catalogs, Unmasked), now: &(Catalogs, Unmasked)) -> Surface {
        compare(&before.0, (&now.0, &now.1), &Scope::Whole.into())
    }

    fn takes(values: &[&str]) -> Value {
        let to = json!({"type": "string", "enum": values});
        json!([{"name": "deploy", "inputSchema": {"type": "object", "properties": {"to": to}}}])
    }

    fn named(names: &[&str]) -> Value {
        names.iter().map(|name| json!({"name": name})).collect()
    }

    /// What breaks, and whether all is known.
    fn case(
        (old, before): (&[(&str, &str)], &Value),
        (new, now): (&[(&str, &str)], &Value),
        wanted: (usize, bool),
    ) {
        let now = kept(new, now);
        let found = compared(&kept(old, before), &now);
        let target = &found.targets[0];
        let known = target.silent.is_empty();
        assert_eq!((target.breaking, known), wanted, "{before} {found:?}");
        assert_eq!(found.undecided(&now.0).is_empty(), known);
        let text = format!("{found:?}{:?}", now.1);
        for (_, value) in [old, new].concat() {
            assert!(!text.contains(value), "{text}");
        }
    }

    const SOURCE: (&str, &str) = ("SOURCE_ENV", "staging");
    const TARGET: (&str, &str) = ("TARGET_ENV", "production");
    const NONE: &[(&str, &str)] = &[];

    #[test]
    fn values_that_are_hidden_are_told_apart() {
        let both: &[_] = &[SOURCE, TARGET];
        let (two, one) = (takes(&["staging", "production"]), takes(&["production"]));
        case((both, &two), (both, &two), (0, true));
        case((both, &two), (both, &one), (1, true));
        case((both, &one), (both, &two), (0, true));
        let (search, fetch) = (named(&["staging"]), named(&["production"]));
        case((both, &search), (both, &search), (0, true));
        case((both, &search), (both, &fetch), (0, false));
        case(
            (both, &named(&["staging", "production"])),
            (both, &fetch),
            (1, true),
        );
    }

    #[test]
    fn what_is_hidden_in_one_run_only_has_not_changed() {
        let two = takes(&["staging", "production"]);
        let one = takes(&["staging"]);
        case((NONE, &two), (&[SOURCE], &two), (0, true));
        case((NONE, &two), (&[SOURCE], &one), (1, true));
        // Nobody knows any more what was hidden.
        case((&[SOURCE], &two), (NONE, &two), (0, false));
        case(
            (&[SOURCE], &two),
            (NONE, &takes(&["production"])),
            (1, true),
        );
    }

    #[test]
    fn a_variable_may_have_had_another_value() {
        let (before, now) = (("APP_ENV", "staging"), ("APP_ENV", "production"));
        let two = takes(&["staging", "production"]);
        case((&[before], &two), (&[now], &two), (0, false));
        case(
            (&[before], &two),
            (&[now], &takes(&["production"])),
            (1, true),
        );
        // The server takes what the variable says, then as now.
        case(
            (&[before], &takes(&["staging"])),
            (&[now], &takes(&["production"])),
            (0, true),
        );
    }

    #[test]
    fn words_of_schemas_stay_legible() {
        let variables: &[_] = &[("KIND", "string"), ("WHAT", "properties"), ("HOW", "prop")];
        let (catalogs, _) = kept(variables, &takes(&["string"]));
        let tool = &catalogs["s"].tools.as_ref().unwrap()[0];
        let to = &tool["inputSchema"]["properties"]["to"];
        assert_eq!(to, &json!({"type": "string", "enum": ["***{KIND}"]}));
        let number =
            json!([{"name": "deploy", "inputSchema": {"properties": {"to": {"type": "integer"}}}}]);
        let text =
            json!([{"name": "deploy", "inputSchema": {"properties": {"to": {"type": "string"}}}}]);
        let found = compared(&kept(NONE, &text), &kept(variables, &number));
        assert_eq!(found.breaking(), Some(1));
    }

    #[test]
    fn a_baseline_that_does_not_name_what_it_hides_says_less() {
        let old = |tools: &Value| kept(NONE, tools);
        let both: &[_] = &[SOURCE, TARGET];
        let now = kept(both, &takes(&["staging", "production"]));
        let found = compared(&old(&takes(&["***", "***"])), &now);
        assert_eq!((found.breaking(), found.unjudged()), (None, vec!["s"]));
        let found = compared(&old(&takes(&["***", "***", "***"])), &now);
        assert_eq!(found.breaking(), Some(1));
        // Stars that a server writes are its own, and a description breaks nobody.
        let stars = json!([{"name": "t", "description": "*** new ***"}]);
        assert!(!compared(&old(&stars), &kept(both, &stars)).has_changes());
        let told = json!([{"name": "t", "description": "to ***"}]);
        let tells = json!([{"name": "t", "description": "to staging"}]);
        assert_eq!(
            compared(&old(&told), &kept(both, &tells)).breaking(),
            Some(0)
        );
    }

    #[test]
    fn a_run_that_was_put_together_knows_no_more_than_it_keeps() {
        let both: &[_] = &[SOURCE, TARGET];
        let two = kept(both, &takes(&["staging", "production"]));
        let merged = |(catalogs, _): (Catalogs, Unmasked)| (catalogs, Unmasked::default());
        let same = compared(&two, &merged(two.clone()));
        assert!(!same.has_changes());
        let less = merged(kept(both, &takes(&["production"])));
        assert_eq!(compared(&two, &less).breaking(), Some(1));
        let open = kept(NONE, &takes(&["staging", "production"]));
        assert_eq!(compared(&open, &merged(two)).unjudged(), ["s"]);
    }
}
