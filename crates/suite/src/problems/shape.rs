//! Problems of keys and types: what stands where.

use serde_json::Number;

use super::{choices, code, error, helped, home, labelled, listed, warning};
use text::{
    diagnostic::{Diagnostic, Severity},
    source::Origin,
};

/// Keys that are planned, with the owner of each.
const NOT_YET: [(&str, &str); 1] = [("snapshot", "`expect`")];

/// A key that does not exist there.
pub fn unknown_key(origin: Origin, key: &str, owner: &str, known: &[&str]) -> Diagnostic {
    if NOT_YET.contains(&(key, owner)) {
        return error(
            code::UNKNOWN_KEY,
            origin,
            format!("`{key}` is not supported yet"),
        );
    }
    let problem = error(code::UNKNOWN_KEY, origin, format!("unknown key `{key}`"));
    let problem = labelled(problem, format!("not a key of {owner}"));
    if let Some(told) = home::home(key) {
        return helped(problem, told);
    }
    match home::nearest(key, known) {
        Some(near) => helped(problem, format!("did you mean `{near}`?")),
        None => helped(problem, format!("{owner} takes {}", listed(known))),
    }
}

/// A value of another type.
pub fn wrong_type(origin: Origin, found: &str, expected: &str) -> Diagnostic {
    let problem = error(
        code::WRONG_TYPE,
        origin,
        format!("expected {expected}, found {found}"),
    );
    labelled(problem, format!("this is {found}"))
}

/// A value where a map with these keys has its place.
pub fn no_map(origin: Origin, found: &str, owner: &str, keys: &[&str]) -> Diagnostic {
    let problem = wrong_type(origin, found, "a map");
    helped(problem, format!("{owner} takes {}", listed(keys)))
}

/// A problem with a word that may have been meant.
pub fn with_nearest(problem: Diagnostic, found: &str, known: &[&str]) -> Diagnostic {
    match text::nearest(found, known.iter().copied()) {
        Some(near) => helped(problem, format!("did you mean `{near}`?")),
        None => problem,
    }
}

/// A word that is no sign of readiness.
pub fn unknown_readiness(origin: Origin, found: &str) -> Diagnostic {
    let problem = unknown_word(origin, found, "sign of readiness", &["port"]);
    helped(
        problem,
        "or a map: `{log: PATTERN}` for a line of its output, `{http: PATH}` for a path that is answered",
    )
}

/// A root that is no map.
pub fn root_not_map(origin: Origin, found: &str) -> Diagnostic {
    let problem = wrong_type(origin, found, "a map with the keys of an assertion");
    helped(
        problem,
        "write several assertions as documents, with `---` between them",
    )
}

/// A key without value.
pub fn empty_value(origin: Origin, key: &str) -> Diagnostic {
    let problem = warning(
        code::EMPTY_VALUE,
        origin,
        format!("`{key}` has no value and does nothing"),
    );
    helped(problem, "give it a value, or remove it")
}

/// A switch that is off and has no opposite.
pub fn idle_switch(origin: Origin, key: &str) -> Diagnostic {
    let problem = warning(
        code::EMPTY_VALUE,
        origin,
        format!("`{key}: false` checks nothing"),
    );
    helped(problem, format!("write `{key}: true`, or remove it"))
}

/// A key that must be there.
pub fn missing_key(origin: Origin, key: &str, owner: &str) -> Diagnostic {
    let problem = error(code::MISSING_KEY, origin, format!("`{key}` is missing"));
    labelled(problem, format!("{owner} needs it"))
}

/// One of several keys must be there.
pub fn missing_one_of(origin: Origin, keys: &[&str], owner: &str) -> Diagnostic {
    let problem = error(
        code::MISSING_KEY,
        origin,
        format!("{owner} needs {}", listed(keys)),
    );
    labelled(problem, "none of them is here")
}

/// A name that must not be empty.
pub fn nameless(origin: Origin, key: &str) -> Diagnostic {
    let problem = error(code::MISSING_KEY, origin, format!("`{key}` is empty"));
    helped(problem, "name the one that is meant")
}

/// A list that must not be empty.
pub fn at_least_one(origin: Origin, key: &str) -> Diagnostic {
    error(
        code::MISSING_KEY,
        origin,
        format!("`{key}` is empty, it needs at least one entry"),
    )
}

/// `parallel` on some steps only.
pub fn partly_parallel(origin: Origin) -> Diagnostic {
    let problem = error(
        code::CONFLICTING_KEYS,
        origin,
        "`parallel: true` stands on some of the steps only".into(),
    );
    helped(problem, "write it on all of them, or once beside `steps`")
}

/// Keys that exclude each other.
pub fn conflicting_keys(origin: Origin, keys: &[&str], owner: &str) -> Diagnostic {
    let problem = error(
        code::CONFLICTING_KEYS,
        origin,
        format!("{owner} takes one of {}, not several", listed(keys)),
    );
    helped(problem, "keep one of them")
}

/// Bounds between which there is no number.
pub fn no_number_between(origin: Origin, least: u64, most: u64) -> Diagnostic {
    let problem = error(
        code::BAD_NUMBER,
        origin,
        format!("no number is at least {least} and at most {most}"),
    );
    helped(problem, "write the smaller one under `min`")
}

/// The embedded server in an image of somebody else.
pub fn image_of_builtin(origin: Origin) -> Diagnostic {
    let problem = error(
        code::CONFLICTING_KEYS,
        origin,
        "`builtin` is this program, which has an image of its own".into(),
    );
    helped(
        problem,
        "leave the image out (`docker: {}`), or start what is in it with `command` instead of `builtin`",
    )
}

/// A key that does nothing here.
pub fn no_effect(origin: Origin, key: &str, reason: &str) -> Diagnostic {
    warning(
        code::NO_EFFECT,
        origin,
        format!("`{key}` does nothing: {reason}"),
    )
}

/// A key that wants something and is not looked at here.
pub fn not_looked_at(origin: Origin, key: &str, reason: &str) -> Diagnostic {
    let problem = Diagnostic {
        severity: Severity::Error,
        ..no_effect(origin, key, reason)
    };
    helped(problem, format!("remove `{key}`"))
}

/// A document of the settings file after the one that counts.
pub fn further_settings(origin: Origin) -> Diagnostic {
    let problem = error(
        code::FURTHER_DOCUMENT,
        origin,
        "the settings are one document, and this is a further one".to_owned(),
    );
    helped(
        problem,
        "put all keys into the first document, without `---` between",
    )
}

/// A word out of a list.
pub fn unknown_word(origin: Origin, found: &str, what: &str, known: &[&str]) -> Diagnostic {
    let problem = error(
        code::UNKNOWN_WORD,
        origin,
        format!("`{found}` is no {what}"),
    );
    helped(problem, choices(found, known))
}

/// A report without a path.
pub fn no_report(origin: Origin, found: &str) -> Diagnostic {
    let problem = wrong_type(origin, &format!("`{found}`"), "`FORMAT=PATH`");
    helped(problem, "write it like `junit=report.xml`")
}

/// A target whose name `--target` cannot say.
pub fn no_target_name(origin: Origin, name: &str, why: &str) -> Diagnostic {
    let problem = error(
        code::UNKNOWN_WORD,
        origin,
        format!("no `--target` chooses the target `{name}`: {why}"),
    );
    helped(problem, "give it another name")
}

/// A second report on the one standard output.
pub fn second_stdout(origin: Origin) -> Diagnostic {
    let problem = error(
        code::CONFLICTING_KEYS,
        origin,
        "two reports want stdout".into(),
    );
    helped(problem, "write one of them to a file")
}

/// A number out of range.
pub fn bad_number(origin: Origin, found: &str, expected: &str) -> Diagnostic {
    error(
        code::BAD_NUMBER,
        origin,
        format!("expected {expected}, found `{found}`"),
    )
}

/// A scalar without quotes that the Go tool reads as another number than `here`.
pub fn ambiguous_number(origin: Origin, here: &str, there: &Number) -> Diagnostic {
    let problem = warning(
        code::AMBIGUOUS_NUMBER,
        origin,
        format!("{here} here is the number `{there}` for the Go tool"),
    );
    helped(
        problem,
        format!("write `{there}` if that is meant, or quotes around a text"),
    )
}

/// A server and nothing to do with it.
pub fn no_subject(origin: Origin, subjects: &[&str]) -> Diagnostic {
    let problem = error(
        code::NO_SUBJECT,
        origin,
        "the document does not say what to assert".into(),
    );
    helped(problem, format!("add one of {}", listed(subjects)))
}

/// More than one subject.
pub fn two_subjects(origin: Origin, first: &str, second: &str) -> Diagnostic {
    let problem = error(
        code::TWO_SUBJECTS,
        origin,
        format!("a document has one subject, here are `{first}` and `{second}`"),
    );
    let problem = labelled(problem, "the second one");
    helped(
        problem,
        "write a document for each, with `---` between them",
    )
}

/// No command, no url, no image.
pub fn no_server(origin: Origin) -> Diagnostic {
    let problem = error(
        code::NO_SERVER,
        origin,
        "nothing says which server to start".into(),
    );
    helped(
        problem,
        "add `server: {command: …}`, or `defaults: {server: …}` in `mcp-assert.yaml`, or run with `--server`, or with `--target` where the \
         settings have targets",
    )
}

/// A url beside a transport that reaches none.
pub fn no_transport(origin: Origin) -> Diagnostic {
    let problem = error(
        code::NO_SERVER,
        origin,
        "the transport is `stdio`, which starts a `command` and reaches no `url`".into(),
    );
    helped(
        problem,
        "add `transport: http`, or `transport: sse`, beside the `url`",
    )
}

/// No url for a transport that needs one.
pub fn no_url(origin: Origin, transport: &str) -> Diagnostic {
    let problem = error(
        code::NO_SERVER,
        origin,
        format!("the transport `{transport}` needs a `url` or a `launch`"),
    );
    helped(problem, "add `url: http://…`")
}
