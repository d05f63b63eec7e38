//! Guesses secrets by the words of a key and by the shape of a text.
//!
//! `redact` hides values that are known to be secret; here they are guessed, for logs of what
//! strangers sent.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Words that make a key's value a secret.
const WORDS: &[&str] = &[
    "apikey",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "jwt",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "privatekey",
    "pwd",
    "secret",
    "secrets",
    "token",
];

/// Words that do so only side by side.
const PAIRS: &[[&str; 2]] = &[
    ["access", "key"],
    ["access", "tokens"],
    ["api", "key"],
    ["api", "keys"],
    ["api", "tokens"],
    ["auth", "tokens"],
    ["encryption", "key"],
    ["private", "key"],
    ["refresh", "tokens"],
    ["session", "id"],
    ["signing", "key"],
    ["ssh", "key"],
];

/// Keys written in one word; as part of another word they mean nothing.
const GLUED: &[&str] = &[
    "accesskey",
    "accesstoken",
    "auth",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "idtoken",
    "refreshtoken",
    "secretkey",
    "sessionid",
    "sessiontoken",
];

/// Keys of the protocol that hold such a word and no secret.
const HARMLESS: &[&str] = &["progressToken", "progress_token"];

/// Shapes whose whole match is a secret.
static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        // JSON Web Tokens
        r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*",
        // PEM; a block that was cut off has no end
        r"|-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
        // keys of well-known services, by the prefix they carry for this purpose
        r"|\bsk-[A-Za-z0-9_-]{16,}",
        r"|\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}",
        r"|\bgh[opsur]_[A-Za-z0-9]{20,}",
        r"|\bgithub_pat_[A-Za-z0-9_]{20,}",
        r"|\bglpat-[A-Za-z0-9_-]{16,}",
        r"|\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"|\bxapp-[A-Za-z0-9-]{10,}",
        r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"|\bAIza[A-Za-z0-9_-]{35}",
        r"|\bya29\.[A-Za-z0-9_-]{16,}",
        r"|\bnpm_[A-Za-z0-9]{30,}",
        r"|\bpypi-[A-Za-z0-9_-]{16,}",
        r"|\bhf_[A-Za-z0-9]{20,}",
        r"|\bdop_v1_[a-f0-9]{32,}",
        r"|\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{20,}",
        r"|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ))
});

/// A scheme of HTTP authorisation, and what follows it.
static SCHEMES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(bearer|basic)([ \t]+)[A-Za-z0-9._~+/=-]{8,}"));

/// A header of its own, to the end of its line or string.
static HEADERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(\\*"?[ \t]*[:=][ \t]*\\*"?)[^\r\n"\\]+"#,
    )
});

/// User and password in a URL.
static USER_INFO: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"([A-Za-z][A-Za-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@"));

/// A name and a value inside a text: `name=value`, `name: value`, `"name":"value"`, quotes escaped
/// or not.
static MEMBERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"([A-Za-z][A-Za-z0-9_.-]*)(\\*["']?[ \t]*[:=][ \t]*)(\\*["'][^"'\\]*|[^\s"'\\,;&{}\[\]()<>]+)"#,
    )
});

#[expect(
    clippy::expect_used,
    reason = "the patterns are literals, and a test compiles each"
)]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a literal pattern")
}

/// The first part of a text that has the shape of a well-known service's key; a text behind a telling name is not enough.
pub fn key_in(text: &str) -> Option<&str> {
    SHAPES.find(text).map(|found| found.as_str())
}

/// What counts as the key of a secret.
#[derive(Debug, Clone, Default)]
pub struct SecretKeys {
    /// The words of keys that the user named.
    extra: Vec<Vec<String>>,
}

impl SecretKeys {
    /// The known words and these keys.
    pub fn with(extra: &[String]) -> Self {
        let words = extra.iter().map(|key| segments(key));
        Self {
            extra: words.filter(|words| !words.is_empty()).collect(),
        }
    }

    /// Whether the value of `key` is a secret. Words are compared whole: `max_tokens` holds none.
    pub fn holds(&self, key: &str) -> bool {
        let words = segments(key);
        let named = |wanted: &Vec<String>| {
            words
                .windows(wanted.len())
                .any(|part| part == wanted.as_slice())
        };
        if self.extra.iter().any(named) {
            return true;
        }
        if HARMLESS.contains(&key) {
            return false;
        }
        let word = |word: &String| WORDS.contains(&word.as_str());
        let pair = |pair: &[String]| PAIRS.iter().any(|wanted| pair == wanted);
        words.iter().any(word)
            || words.windows(2).any(pair)
            || matches!(&words[..], [one] if GLUED.contains(&one.as_str()))
    }

    /// The text without what looks like a secret; nothing when there is none in it.
    pub fn mask(&self, text: &str) -> Option<String> {
        let mut masked = SHAPES.replace_all(text, REDACTED).into_owned();
        for (pattern, with) in [
            (&SCHEMES, format!("${{1}}${{2}}{REDACTED}")),
            (&HEADERS, format!("${{1}}${{2}}{REDACTED}")),
            (&USER_INFO, format!("${{1}}{REDACTED}@")),
        ] {
            masked = pattern.replace_all(&masked, with).into_owned();
        }
        masked = MEMBERS
            .replace_all(&masked, |found: &Captures<'_>| self.member(found))
            .into_owned();
        (masked != text).then_some(masked)
    }

    /// One `name=value` of a text, without the value where the name says so.
    fn member(&self, found: &Captures<'_>) -> String {
        let (name, between, value) = (&found[1], &found[2], &found[3]);
        if !self.holds(name) || value.contains(REDACTED) || REDACTED.starts_with(value) {
            return found[0].to_owned();
        }
        let quotes = value.len() - value.trim_start_matches(['\\', '"', '\'']).len();
        let (quotes, secret) = value.split_at(quotes);
        if matches!(secret, "" | "null" | "true" | "false") {
            return found[0].to_owned();
        }
        format!("{name}{between}{quotes}{REDACTED}")
    }
}

/// The words of a key, in lower case: `apiKey`, `API-Key` and `api_key` have the same two.
fn segments(key: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let characters: Vec<char> = key.chars().collect();
    for (at, &character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| characters.get(at));
        let next = characters.get(at + 1);
        let begins = character.is_uppercase()
            && (before.is_some_and(|c| c.is_lowercase() || c.is_ascii_digit())
                || (before.is_some_and(|c| c.is_uppercase())
                    && next.is_some_and(|c| c.is_lowercase())));
        if (begins || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_judged_by_whole_words() {
        let case = |key: &str, wanted: bool| {
            assert_eq!(SecretKeys::default().holds(key), wanted, "{key}");
        };
        for key in [
            "password",
            "Password",
            "db_password",
            "dbPassword",
            "DB-PASSWORD",
            "apiKey",
            "API_KEY",
            "x-api-key",
            "APIKey",
            "apikey",
            "X-Api-Key",
            "access_token",
            "accessToken",
            "accesstoken",
            "Authorization",
            "client.secret",
            "session_id",
            "sessionId",
            "jwt",
            "privateKey",
            "private_key_pem",
            "token2Secret",
            "auth",
            "refresh_tokens",
            "my token",
        ] {
            case(key, true);
        }
        for key in [
            "max_tokens",
            "maxTokens",
            "tokens",
            "tokenizer",
            "tokenize",
            "secretary",
            "author",
            "auth_type",
            "key",
            "keys",
            "keyboard",
            "primary_key",
            "session",
            "id",
            "progressToken",
            "cookiecutter",
            "passenger",
            "",
            "api",
            "message",
        ] {
            case(key, false);
        }
    }

    #[test]
    fn keys_of_the_user_count_as_well() {
        let keys = SecretKeys::with(&["customerNumber".to_owned(), "--".to_owned()]);
        assert!(keys.holds("customer_number"));
        assert!(keys.holds("the-customer-number"));
        assert!(!keys.holds("customer"));
        assert!(!keys.holds(""));
        assert!(SecretKeys::with(&["progressToken".to_owned()]).holds("progressToken"));
    }

    #[test]
    fn texts_lose_what_looks_like_a_secret() {
        let case = |text: &str, wanted: &str| {
            let masked = SecretKeys::default().mask(text);
            assert_eq!(masked.as_deref(), Some(wanted), "{text}");
        };
        case("use Bearer abcdefgh.12345 now", "use Bearer [redacted] now");
        case("Authorization: Bearer abc", "Authorization: [redacted]");
        case("Cookie: a=1; b=2\nnext", "Cookie: [redacted]\nnext");
        case("at eyJhbGciOiJI.eyJzdWIi.c2ln!", "at [redacted]!");
        case(
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- rest",
            "[redacted] rest",
        );
        case("-----BEGIN PRIVATE KEY-----\nMIIE", "[redacted]");
        case("key AKIAIOSFODNN7EXAMPLE.", "key [redacted].");
        case("ghp_0123456789abcdefghijABCDEFGHIJ012345", "[redacted]");
        case("sk-proj-0123456789abcdef", "[redacted]");
        case("postgres://me:hunter2@db/x", "postgres://[redacted]@db/x");
        case("password=hunter2&x=1", "password=[redacted]&x=1");
        case("the token: abc, bad", "the token: [redacted], bad");
        case(
            r#"{"password":"hunter 2","n":1}"#,
            r#"{"password":"[redacted]","n":1}"#,
        );
        case(
            r#""{\"apiKey\":\"k 1\"}""#,
            r#""{\"apiKey\":\"[redacted]\"}""#,
        );
        case(r#"{"pwd": 1234}"#, r#"{"pwd": [redacted]}"#);
    }

    #[test]
    fn harmless_texts_stay_as_they_are() {
        for text in [
            "",
            "max_tokens=100",
            r#"{"max_tokens":100,"message":"hello"}"#,
            "basic needs",
            "the bearer of news",
            "see https://example.com/a?b=c",
            r#"{"password":null}"#,
            "password=[redacted]",
            "sk-short",
        ] {
            assert_eq!(SecretKeys::default().mask(text), None, "{text}");
        }
    }

    #[test]
    fn masking_twice_changes_nothing_more() {
        for text in [
            "token=abc",
            "Authorization: Basic dXNlcjpwYXNz",
            "a://b:c@d",
            "jwt: x y",
        ] {
            let once = SecretKeys::default().mask(text).unwrap();
            assert_eq!(SecretKeys::default().mask(&once), None, "{once}");
        }
    }
}
