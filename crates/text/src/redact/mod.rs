//! Hiding secrets in everything that leaves the program: values the suite resolved from the environment and
//! that its author marked as secret by their use (headers, tokens, `env` values from `${VAR}`). How a secret may be
//! written is known in `forms`, what a cut leaves over of it in `find`.

mod find;
mod forms;

use std::{cmp::Reverse, ops::Range};

use self::forms::Joined;

/// What stands in a text instead of a secret.
pub const MASK: &str = "***";

/// The shortest value that is hidden; shorter ones would tear holes into ordinary text.
pub const SHORTEST_BYTES: usize = 4;

/// The label of a part between two cuts, whose value is not known.
const PART: &str = "?";

/// The values that must not be shown.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// What is looked for: values, their lines, and the base64 of both.
    known: Vec<Known>,
    /// Values as they are, as JSON writes them and in base64, longest first, for those who know no escapes.
    forms: Vec<String>,
    too_short: usize,
}

/// A text that is looked for.
#[derive(Debug, Clone)]
struct Known {
    text: String,
    /// What it is called.
    label: String,
    lines: Lines,
}

/// Whether a text may be found with line ends within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// It stands as it is.
    Whole,
    /// It may be wrapped, as base64 is.
    Wrapped,
}

impl Secrets {
    /// Adds a value that nobody named.
    #[cfg(any(test, feature = "testing"))]
    pub fn add(&mut self, value: &str) {
        self.add_named("", value);
    }

    /// Adds the value of a variable and each of its lines, unless too short to hide.
    pub fn add_named(&mut self, name: &str, value: &str) {
        if (1..SHORTEST_BYTES).contains(&value.trim().len()) {
            self.too_short += 1;
        }
        let lines = value.lines().enumerate().map(|(at, line)| (at + 1, line));
        let lines = lines.filter(|(_, line)| *line != value);
        for (line, part) in std::iter::once((0, value)).chain(lines) {
            let label = label(name, line);
            self.add_part(part, &label);
            // Texts are compared and shown without the blanks around them.
            if part.trim() != part {
                self.add_part(part.trim(), &format!("{label}=trimmed"));
            }
        }
        self.forms.sort_by_key(|known| Reverse(known.len()));
    }

    /// Adds a text in every form it may be written in, unless too short or nothing but blanks.
    fn add_part(&mut self, part: &str, label: &str) {
        if part.len() < SHORTEST_BYTES || part.trim().is_empty() {
            return;
        }
        let quoted = serde_json::Value::from(part).to_string();
        add_new(&mut self.forms, &quoted[1..quoted.len() - 1]);
        for (text, name) in forms::whole(part) {
            add_new(&mut self.forms, &text);
            self.add_known(text, format!("{label}={name}"), Lines::Wrapped);
        }
        for (text, name) in forms::within(part) {
            self.add_known(text, format!("{label}={name}"), Lines::Wrapped);
        }
        if part.contains(' ') {
            add_new(&mut self.forms, &part.replace(' ', "+"));
        }
        add_new(&mut self.forms, part);
        for text in forms::escaped(part) {
            self.add_known(text, label.to_owned(), Lines::Whole);
        }
    }

    /// Adds a token of GitHub's, also as git sends it.
    pub fn add_token(&mut self, token: &str) {
        self.add_named("GITHUB_TOKEN", token);
        let [(sent, _), _] = forms::whole(&format!("x-access-token:{token}"));
        self.add_named("GITHUB_TOKEN=git", &sent);
    }

    /// Adds a text to look for. Of several names of one text the first in the alphabet is its name in every run.
    fn add_known(&mut self, text: String, label: String, lines: Lines) {
        match self.known.iter_mut().find(|known| known.text == text) {
            Some(known) => {
                if known.label > label {
                    known.label = label;
                }
                if lines == Lines::Wrapped {
                    known.lines = lines;
                }
            }
            None => self.known.push(Known { text, label, lines }),
        }
    }

    /// The values as they are, as JSON writes them and in base64, for a runner, which makes their other forms itself:
    /// shifted base64, and the escapes of URLs and XML.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().map(String::as_str)
    }

    /// Values that are too short to be hidden.
    pub fn too_short(&self) -> usize {
        self.too_short
    }

    /// The text with every secret replaced by [`MASK`]: however it is escaped, and as much of it as the cuts of a
    /// shortened text left over.
    pub fn mask(&self, text: &str) -> String {
        let mut places = Vec::new();
        self.places(text, &mut |place, _| places.push(place));
        places.sort_unstable_by_key(|place| (place.start, Reverse(place.end)));
        let mut out = String::with_capacity(text.len());
        let mut shown = 0;
        for place in places {
            if place.start >= shown {
                out.push_str(&text[shown..place.start]);
                out.push_str(MASK);
            }
            shown = shown.max(place.end);
        }
        out.push_str(&text[shown..]);
        out
    }

    /// The same with the name of what was hidden behind each [`MASK`], as `***{TOKEN}`: two texts that hide
    /// different values stay different, and no value is told.
    pub fn mask_named(&self, text: &str) -> String {
        let mut places: Vec<(Range<usize>, &str)> = Vec::new();
        self.places(text, &mut |place, known| {
            places.push((place, known.map_or(PART, |known| known.label.as_str())));
        });
        places.sort_unstable_by_key(|(place, label)| (place.start, Reverse(place.end), *label));
        let mut out = String::with_capacity(text.len());
        let mut shown = 0;
        let mut places = places.into_iter().peekable();
        while let Some((mut place, first)) = places.next() {
            let mut labels = vec![first];
            while let Some((next, label)) = places.next_if(|(next, _)| next.start < place.end) {
                // A value within another one is covered already.
                if next.end > place.end {
                    place.end = next.end;
                    labels.push(label);
                }
            }
            out.push_str(&text[shown..place.start]);
            out.extend([MASK, "{", &labels.join("+"), "}"]);
            shown = place.end;
        }
        out.push_str(&text[shown..]);
        out
    }

    /// Calls `hide` with the places of all secrets; places may overlap.
    fn places<'a>(&'a self, text: &str, hide: Hide<'_, 'a>) {
        for known in &self.known {
            find::find(text, &known.text, |part| hide(part, Some(known)));
        }
        let all = || self.known.iter().map(|known| known.text.as_str());
        find::find_between(text, all, |part| hide(part, None));
        let wrapped = || self.known.iter().filter(|it| it.lines == Lines::Wrapped);
        if wrapped().next().is_none() {
            return;
        }
        let Some(joined) = Joined::of(text) else {
            return;
        };
        for known in wrapped() {
            find::find(&joined.text, &known.text, |part| {
                hide(joined.place(part), Some(known));
            });
        }
        let all = || wrapped().map(|known| known.text.as_str());
        find::find_between(&joined.text, all, |part| hide(joined.place(part), None));
    }
}

/// Takes the place of a secret, and which it is.
type Hide<'h, 'a> = &'h mut dyn FnMut(Range<usize>, Option<&'a Known>);

/// What the value of a variable is called, or one of its lines.
fn label(name: &str, line: usize) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '=' | '.' | '-');
    let name: String = name
        .chars()
        .map(|sign| if plain(sign) { sign } else { '_' })
        .collect();
    match line {
        0 => name,
        line => format!("{name}#{line}"),
    }
}

fn add_new(known: &mut Vec<String>, text: &str) {
    if !known.iter().any(|known| known == text) {
        known.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use base64::{
        Engine,
        engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE},
    };
    use proptest::prelude::{prop_assert, proptest};

    use super::Secrets;

    #[test]
    fn secrets_are_hidden_longest_first_and_short_ones_left() {
        let mut secrets = Secrets::default();
        secrets.add("tok");
        secrets.add("abcd");
        secrets.add("abcdefgh\nsecond line");
        assert_eq!(
            secrets.mask("x abcdefgh y abcd tok second line"),
            "x *** y *** tok ***"
        );
    }

    #[test]
    fn a_value_is_hidden_without_the_blanks_around_it() {
        let mut secrets = Secrets::default();
        secrets.add(" hunter2-pass \n  second line\t");
        secrets.add("     ");
        let text = "`hunter2-pass`, second line, aHVudGVyMi1wYXNz      x";
        assert_eq!(secrets.mask(text), "`***`, ***, ***      x");
        assert!(secrets.forms().any(|form| form == "hunter2-pass"));
        assert_eq!(secrets.too_short(), 0);
        secrets.add("ab    ");
        assert_eq!(secrets.too_short(), 1);
    }

    #[test]
    fn what_is_hidden_is_named() {
        let mut secrets = Secrets::default();
        secrets.add_named("TARGET", "production");
        secrets.add_named("SOURCE", "staging");
        secrets.add_named("ALSO", "staging");
        secrets.add_named("KEY", "first line\nsecond line");
        let case = |text: &str, wanted: &str| assert_eq!(secrets.mask_named(text), wanted);
        case("staging to production", "***{ALSO} to ***{TARGET}");
        case("second line, first line", "***{KEY#2}, ***{KEY#1}");
        case("first line\\nsecond line", "***{KEY}");
        case("c3RhZ2luZw", "***{ALSO=base64}");
        case("…roducti…", "…***{?}…");
        case("plain", "plain");
    }

    #[test]
    fn a_token_is_hidden_as_git_sends_it() {
        let mut secrets = Secrets::default();
        secrets.add_token("ghs_abc");
        assert_eq!(
            secrets.mask("basic eC1hY2Nlc3MtdG9rZW46Z2hzX2FiYw== ghs_abc"),
            "basic ***== ***"
        );
        assert_eq!((secrets.too_short(), secrets.forms().count()), (0, 4));
        assert_eq!(secrets.mask("ghs_abcd"), "***d");
        secrets.add("");
        secrets.add("abc");
        assert_eq!(secrets.too_short(), 1);
    }

    #[test]
    fn a_secret_is_hidden_as_json_writes_it_and_in_base64() {
        let mut secrets = Secrets::default();
        secrets.add("pass\"word\"");
        assert_eq!(secrets.mask(r#"{"a":"pass\"word\""}"#), r#"{"a":"***"}"#);
        assert_eq!(secrets.mask("Basic cGFzcyJ3b3JkIg=="), "Basic ***==");
    }

    #[test]
    fn a_secret_is_hidden_within_other_base64() {
        let mut secrets = Secrets::default();
        secrets.add_named("KEY", "Sup3r?Secret>Passw0rd");
        let case = |text: &str, wanted: &str| assert_eq!(secrets.mask(text), wanted, "{text}");
        for alphabet in [STANDARD, URL_SAFE] {
            for before in ["", "u", "us", "user:"] {
                for behind in ["", "\n", "@host"] {
                    let text = alphabet.encode(format!("{before}Sup3r?Secret>Passw0rd{behind}"));
                    let masked = secrets.mask(&text);
                    let (first, last) = masked.split_once("***").expect(&text);
                    let own = text.len() - first.len() - last.len();
                    assert!(
                        own >= 27 && !masked.contains("LTZWNyZXQ"),
                        "{text} {masked}"
                    );
                }
            }
        }
        case("U3VwM3I_U2VjcmV0PlBhc3N3MHJk", "***");
        case("dXNlcjpTdXAzcj9TZWNyZXQ+UGFzc3cwcmQ=", "dXNlcjp***Q=");
        let named = secrets.mask_named("U3VwM3I/U2VjcmV0PlBhc3N3MHJk U3VwM3I_U2VjcmV0PlBhc3N3MHJk");
        assert_eq!(named, "***{KEY=base64} ***{KEY=base64url}");
        // Of a short one a middle could be a word.
        let mut secrets = Secrets::default();
        secrets.add("abcd");
        assert_eq!(
            secrets.mask("YWJjZA== YWJjZ FiY2 hYmNk"),
            "***== YWJjZ FiY2 hYmNk"
        );
    }

    #[test]
    fn base64_is_hidden_in_lines_of_any_width() {
        let secret = "0123456789abcdefghijklmnopqrstuvwxyz".repeat(7) + "!";
        let mut secrets = Secrets::default();
        secrets.add(&secret);
        let all = STANDARD_NO_PAD.encode(&secret);
        let basic = STANDARD.encode(format!("user:{secret}"));
        for (encoded, wanted) in [(&all, "x ***\ny"), (&basic, "x dXNlcjo***\ny")] {
            for end in ["\n", "\r\n", "\n    "] {
                for width in [20, 64, 76] {
                    let lines = encoded.as_bytes().chunks(width);
                    let lines: Vec<&str> = lines.map(|it| str::from_utf8(it).unwrap()).collect();
                    let text = format!("x {}\ny", lines.join(end));
                    assert_eq!(secrets.mask(&text), wanted, "{width}");
                    let json = serde_json::Value::from(text).to_string();
                    let inner = wanted.replace('\n', "\\n");
                    assert_eq!(secrets.mask(&json), format!("\"{inner}\""), "{width}");
                    let cut = format!("x {}…", lines[..2].join(end));
                    assert_eq!(secrets.mask(&cut), wanted.replace("\ny", "…"), "{width}");
                    let cut = format!("…{}…", &lines[1..3].join(end)[3..]);
                    assert_eq!(secrets.mask(&cut), "…***…", "{width}");
                }
            }
        }
        // Only base64 is put into lines.
        let mut secrets = Secrets::default();
        secrets.add("test");
        assert_eq!(
            secrets.mask("the lates\ntool, dGVz\ndA"),
            "the lates\ntool, ***"
        );
    }

    #[test]
    fn a_secret_is_hidden_as_urls_and_markup_write_it() {
        let case = |secret: &str, text: &str, wanted: &str| {
            let mut secrets = Secrets::default();
            secrets.add(secret);
            assert_eq!(secrets.mask(text), wanted, "{text}");
        };
        let url = "p%26%3C%C3%B6%3E%2F%22%5C%F0%9F%98%80%27word";
        let lower = "p%26%3c%c3%b6%3e/%22%5c%f0%9f%98%80%27word";
        let markup = "p&amp;&lt;ö&gt;/&quot;\\😀&#39;word";
        for text in [url, lower, markup] {
            case(UGLY, &format!("?a={text}&b"), "?a=***&b");
            case(UGLY, &format!("?a=…{}", &text[7..]), "?a=…***");
            let json = serde_json::Value::from(text).to_string();
            case(UGLY, &json, "\"***\"");
            for cut in (20..text.len()).filter(|at| text.is_char_boundary(*at)) {
                case(UGLY, &format!("x {}… y", &text[..cut]), "x ***… y");
            }
        }
        case("first second&third", "?a=first+second%26third", "?a=***");
        case("first second+third", "?a=first+second%2Bthird", "?a=***");
        case("first second", "?a=first%20second", "?a=***");
        case("a+b/c=d", "x-a%2Bb%2Fc%3Dd", "x-***");
        case("pass&word", "pass&am…", "***…");
        case("pass%word", "pass%2…", "***…");
    }

    /// A secret of many kinds of characters.
    const UGLY: &str = "p&<ö>/\"\\😀'word";

    fn ugly() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add(UGLY);
        secrets
    }

    #[test]
    fn a_secret_is_hidden_in_every_json() {
        let go = r#"p\u0026\u003cö\u003e/\"\\😀'word"#;
        let php = r#"p&<\u00f6>\/\"\\\ud83d\ude00'word"#;
        let python = r#"p&<\u00f6>/\"\\\ud83d\ude00'word"#;
        for json in [go, php, python] {
            let read: String = serde_json::from_str(&format!("\"{json}\"")).unwrap();
            assert_eq!(read, UGLY, "{json}");
            let mut text = format!(r#"{{"a":"x {json} y"}}"#);
            for depth in 0..3 {
                let masked = ugly().mask(&text);
                assert!(
                    masked.contains("x *** y"),
                    "{json}, depth {depth}: {masked}"
                );
                text = serde_json::Value::from(text).to_string();
            }
        }
    }

    #[test]
    fn what_a_cut_leaves_over_of_a_secret_is_hidden() {
        let mut secrets = Secrets::default();
        secrets.add("Sup3rSecretPassw0rd");
        let case = |text: &str, wanted: &str| assert_eq!(secrets.mask(text), wanted, "{text}");
        case("x Sup3rSec… (9 more)", "x ***… (9 more)");
        case("`Sup3…` y", "`***…` y");
        case("(7 characters) …Passw0rd y", "(7 characters) …*** y");
        case("…SecretPass… y", "…***… y");
        case("x Sup3rSec...", "x ***...");
        case("Sup3rSec, and w0rd", "Sup3rSec, and w0rd");
        case("Sup… w0r", "Sup… w0r");
        case("U3VwM3JTZWNyZXRQYX… y", "***… y");
    }

    #[test]
    fn a_cut_may_go_through_an_escape() {
        let secrets = ugly();
        let json = r#"p&<\u00f6>\/\"\\\ud83d\ude00'word"#;
        for cut in r"p&<\u00f6".len()..json.len() {
            assert_eq!(
                secrets.mask(&format!("x {}… y", &json[..cut])),
                "x ***… y",
                "{cut}"
            );
        }
        for cut in 1..json.len() - r"'word".len() {
            assert_eq!(
                secrets.mask(&format!("x …{}", &json[cut..])),
                "x …***",
                "{cut}"
            );
        }
        assert_eq!(secrets.mask("p&<ö>/\u{fffd}… y"), "***… y");
    }

    #[test]
    fn secrets_that_overlap_are_hidden_together() {
        let mut secrets = Secrets::default();
        secrets.add("hunter22");
        secrets.add("r22tail");
        assert_eq!(secrets.mask("a hunter22tail b"), "a *** b");
        assert_eq!(secrets.mask("hunter22hunter22"), "******");
    }

    proptest! {
        #[test]
        fn no_text_is_broken_by_its_mask(
            text in r#"(\\|"|u00e9|é|…|s3cr3t|😀|%|&|;|%C3|amp;|&#|czNjcjN|\n|[a-z0-9]){0,40}"#,
        ) {
            let mut secrets = Secrets::default();
            secrets.add("s3cr3té😀");
            secrets.add("\\u00e9\"aa");
            let masked = secrets.mask(&text);
            prop_assert!(!masked.contains("s3cr3té😀"));
        }
    }
}
