//! The codes of everything that can be wrong in the user's files. They are stable: people search for them.

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)+) => {
        $($(#[doc = $doc])+ pub(crate) const $name: &str = $code;)+

        /// Every code with what it means, in the order of the reference.
        pub(crate) const ALL: &[(&str, &str)] = &[$(($code, concat!($($doc),+)),)+];
    };
}

codes! {
    /// The file or folder cannot be read.
    UNREADABLE = "unreadable";
    /// The file is neither UTF-8 nor UTF-16.
    NOT_UTF8 = "not-utf8";
    /// The file is too long for a suite.
    FILE_TOO_LARGE = "file-too-large";
    /// The path is not a YAML file.
    NOT_YAML = "not-yaml";
    /// The YAML cannot be parsed.
    YAML_SYNTAX = "yaml-syntax";
    /// The YAML is nested too deep or grows too large.
    YAML_LIMIT = "yaml-limit";
    /// The settings file holds more than one document.
    FURTHER_DOCUMENT = "further-document";
    /// A key occurs twice in one map.
    DUPLICATE_KEY = "duplicate-key";
    /// An alias or a merge key that cannot be filled in.
    BAD_ALIAS = "bad-alias";
    /// An unknown YAML tag.
    UNKNOWN_TAG = "unknown-tag";
    /// A number that the Go tool reads as a different one.
    AMBIGUOUS_NUMBER = "ambiguous-number";
    /// A number that JSON does not have.
    NO_JSON_NUMBER = "no-json-number";
    /// A key that is not a text.
    BAD_KEY = "bad-key";
    /// A key that does not exist at this place.
    UNKNOWN_KEY = "unknown-key";
    /// A value of another type than the key takes.
    WRONG_TYPE = "wrong-type";
    /// A key without a value: it does nothing.
    EMPTY_VALUE = "empty-value";
    /// A required key is missing.
    MISSING_KEY = "missing-key";
    /// Keys that exclude each other.
    CONFLICTING_KEYS = "conflicting-keys";
    /// A key that does nothing beside another one.
    NO_EFFECT = "no-effect";
    /// A word that the key does not take.
    UNKNOWN_WORD = "unknown-word";
    /// A number outside the range the key takes.
    BAD_NUMBER = "bad-number";
    /// A document with a server and without a subject.
    NO_SUBJECT = "no-subject";
    /// A document with more than one subject.
    TWO_SUBJECTS = "two-subjects";
    /// No server is given.
    NO_SERVER = "no-server";
    /// Two assertions have the same name.
    DUPLICATE_NAME = "duplicate-name";
    /// An invalid duration.
    BAD_DURATION = "bad-duration";
    /// An invalid regular expression.
    BAD_REGEX = "bad-regex";
    /// An invalid JSONPath.
    BAD_PATH = "bad-path";
    /// An invalid JSON Schema.
    BAD_SCHEMA = "bad-schema";
    /// A misspelt keyword of a JSON Schema.
    UNKNOWN_KEYWORD = "unknown-keyword";
    /// An invalid url.
    BAD_URL = "bad-url";
    /// An invalid name of an HTTP header.
    BAD_HEADER = "bad-header";
    /// An invalid glob.
    BAD_GLOB = "bad-glob";
    /// A pattern where the name of one file is expected.
    NO_PATTERN = "no-pattern";
    /// A path outside of the fixture where one inside is probably meant.
    OUTSIDE_FIXTURE = "outside-fixture";
    /// A matcher with an invalid operand.
    BAD_MATCHER = "bad-matcher";
    /// A map that looks like matchers, and is compared as it is.
    NO_MATCHER = "no-matcher";
    /// An unknown `{{name}}`.
    UNKNOWN_VARIABLE = "unknown-variable";
    /// Braces that look like a variable and are text.
    NO_VARIABLE = "no-variable";
    /// An environment variable that is not set and has no default.
    UNSET_VARIABLE = "unset-variable";
    /// An invalid `${…}`, or an invalid name of an environment variable.
    BAD_VARIABLE = "bad-variable";
}
