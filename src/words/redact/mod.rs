//! Hiding secrets in everything that leaves the program: values the suite resolved from the environment and
//! that its author marked as secret by their use (headers, tokens, `env` values from `${VAR}`). How a secret may be
//! written is known in `layers`, what a cut leaves over of it in `find`.

mod find;
mod layers;

use std::ops::Range;

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};

use self::layers::Layer;

/// What stands in a text instead of a secret.
pub(crate) const MASK: &str = "***";

/// The shortest value that is hidden; shorter ones would tear holes into ordinary text.
pub(crate) const SHORTEST_BYTES: usize = 4;

/// How often the escapes of a text are undone: a frame may hold JSON that holds JSON.
const LAYERS: usize = 5;

/// The values that must not be shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets {
    /// What is looked for: values, their lines, and the base64 of both.
    values: Vec<String>,
    /// The same and how JSON writes it, longest first, for those who know no escapes.
    forms: Vec<String>,
    too_short: usize,
}

impl Secrets {
    /// Adds a value and each of its lines, unless too short to hide: as they are, as JSON writes them, and
    /// in base64.
    pub(crate) fn add(&mut self, value: &str) {
        if (1..SHORTEST_BYTES).contains(&value.len()) {
            self.too_short += 1;
        }
        for part in std::iter::once(value).chain(value.lines()) {
            if part.len() < SHORTEST_BYTES {
                continue;
            }
            let quoted = serde_json::Value::from(part).to_string();
            let encoded = STANDARD_NO_PAD.encode(part);
            for value in [part, &encoded] {
                add_new(&mut self.values, value);
            }
            for form in [part, &quoted[1..quoted.len() - 1], &encoded] {
                add_new(&mut self.forms, form);
            }
        }
        self.forms
            .sort_by_key(|known| std::cmp::Reverse(known.len()));
    }

    /// Adds a token of GitHub's, also as git sends it.
    pub(crate) fn add_token(&mut self, token: &str) {
        self.add(token);
        self.add(&STANDARD_NO_PAD.encode(format!("x-access-token:{token}")));
    }

    /// Every text that is hidden, for a program that compares texts as they are.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().map(String::as_str)
    }

    /// Values that are too short to be hidden.
    pub(crate) fn too_short(&self) -> usize {
        self.too_short
    }

    /// The text with every secret replaced by [`MASK`]: however it is escaped, and as much of it as the cuts of a
    /// shortened text left over.
    pub(crate) fn mask(&self, text: &str) -> String {
        let mut places = self.places(text);
        places.sort_unstable_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
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

    /// Where secrets stand; places may overlap.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        if self.values.is_empty() {
            return places;
        }
        let mut layer = Some(Layer::first(text));
        for _ in 0..LAYERS {
            let Some(known) = layer else { break };
            for value in &self.values {
                find::find(&known.text, value, |part| places.push(known.place(part)));
            }
            find::find_between(&known.text, &self.values, |part| {
                places.push(known.place(part));
            });
            layer = known.below();
        }
        places
    }
}

fn add_new(known: &mut Vec<String>, text: &str) {
    if !known.iter().any(|known| known == text) {
        known.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
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
    fn a_token_is_hidden_as_git_sends_it() {
        let mut secrets = Secrets::default();
        secrets.add_token("ghs_abc");
        assert_eq!(
            secrets.mask("basic eC1hY2Nlc3MtdG9rZW46Z2hzX2FiYw== ghs_abc"),
            "basic ***== ***"
        );
        assert_eq!((secrets.too_short(), secrets.forms().count()), (0, 4));
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
        let python = r#"p&<\u00F6>/\"\\\uD83D\uDE00'word"#;
        for json in [go, php, python] {
            let read: String = serde_json::from_str(&format!("\"{json}\"")).unwrap();
            assert_eq!(read, UGLY, "{json}");
            let mut text = format!(r#"{{"a":"x {json} y"}}"#);
            for depth in 0..4 {
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
        let json = r#"p\u0026\u003c\u00f6\u003e\/\"\\\ud83d\ude00\u0027word"#;
        for cut in r"p\u0026\u003c\u00f6".len()..json.len() {
            assert_eq!(
                secrets.mask(&format!("x {}… y", &json[..cut])),
                "x ***… y",
                "{cut}"
            );
        }
        for cut in 1..json.len() - r"\u0027word".len() {
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
        fn no_text_is_broken_by_its_mask(text in r#"(\\|"|u00e9|é|…|s3cr3t|😀|[a-z0-9]){0,40}"#) {
            let mut secrets = Secrets::default();
            secrets.add("s3cr3té😀");
            secrets.add("\\u00e9\"aa");
            let masked = secrets.mask(&text);
            prop_assert!(!masked.contains("s3cr3té😀"));
        }
    }
}
