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
    /// The file is longer than a suite may be.
    FILE_TOO_LARGE = "file-too-large";
    /// The path that was given is no YAML file.
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
    /// A YAML tag that means nothing here.
    UNKNOWN_TAG = "unknown-tag";
    /// A number that the Go tool reads as another one.
    AMBIGUOUS_NUMBER = "ambiguous-number";
    /// A number that JSON does not have.
    NO_JSON_NUMBER = "no-json-number";
    /// A key that is no text.
    BAD_KEY = "bad-key";
    /// A key that does not exist at this place.
    UNKNOWN_KEY = "unknown-key";
    /// A value of another type than the key takes.
    WRONG_TYPE = "wrong-type";
    /// A key without a value: it does nothing.
    EMPTY_VALUE = "empty-value";
    /// A key that must be there is not.
    MISSING_KEY = "missing-key";
    /// Keys that exclude each other.
    CONFLICTING_KEYS = "conflicting-keys";
    /// A key that does nothing beside another one.
    NO_EFFECT = "no-effect";
    /// A word that is none of those the key takes.
    UNKNOWN_WORD = "unknown-word";
    /// A number outside the range the key takes.
    BAD_NUMBER = "bad-number";
    /// A document that says what server to start, and not what to do with it.
    NO_SUBJECT = "no-subject";
    /// A document with more than one subject.
    TWO_SUBJECTS = "two-subjects";
    /// Nothing says which server is meant.
    NO_SERVER = "no-server";
    /// Two assertions have the same name.
    DUPLICATE_NAME = "duplicate-name";
    /// A text that is no duration.
    BAD_DURATION = "bad-duration";
    /// A text that is no regular expression.
    BAD_REGEX = "bad-regex";
    /// A text that is no JSONPath.
    BAD_PATH = "bad-path";
    /// A value that is no JSON Schema.
    BAD_SCHEMA = "bad-schema";
    /// A key of a JSON Schema that nothing looks at, and is nearly a keyword.
    UNKNOWN_KEYWORD = "unknown-keyword";
    /// A text that is no url of a server.
    BAD_URL = "bad-url";
    /// A name that no HTTP header can have.
    BAD_HEADER = "bad-header";
    /// A text that is no glob pattern.
    BAD_GLOB = "bad-glob";
    /// A path that reads like a pattern, and is the name of one file.
    NO_PATTERN = "no-pattern";
    /// A path outside of the fixture where one inside is probably meant.
    OUTSIDE_FIXTURE = "outside-fixture";
    /// A matcher whose operand it cannot take.
    BAD_MATCHER = "bad-matcher";
    /// A map that reads like matchers, and is compared as it is.
    NO_MATCHER = "no-matcher";
    /// A `{{name}}` that nothing defines.
    UNKNOWN_VARIABLE = "unknown-variable";
    /// Braces that look like a variable and are text.
    NO_VARIABLE = "no-variable";
    /// An environment variable without a value and without a default.
    UNSET_VARIABLE = "unset-variable";
    /// A `${…}` or a name that is no environment variable.
    BAD_VARIABLE = "bad-variable";
}
