//! Text that a model reads and a person does not see.

use base64::{
    Engine, alphabet, engine::GeneralPurpose, engine::general_purpose::GeneralPurposeConfig,
};

use crate::inspect::lint::{
    rule::{Findings, rules},
    view::Text,
};
use text::unseen::{Unseen, unseen};

rules! {
    "E160" "invisible-text" Error "very-high" [injection] Text(invisible):
        "a text holds characters that nobody sees, or that reorder what is seen" =>
        "remove the characters; what is meant for the model must be legible for people";
    "E161" "control-characters" Error "very-high" [injection] Text(control):
        "a text holds control characters or terminal sequences" =>
        "remove them: a terminal that shows the text obeys them";
    "W160" "encoded-text" Warning "high" [injection] Text(encoded):
        "a text holds an encoded sentence" =>
        "write the sentence as it is";
}

/// The fewest characters of an encoded sentence.
const SHORTEST: usize = 40;

/// The text without what nobody sees.
pub(in crate::inspect::lint) fn visible(text: &str) -> String {
    text.chars().filter(|it| unseen(*it).is_none()).collect()
}

fn invisible(text: &Text<'_>, found: &mut Findings<'_>) {
    if text.content.is_ascii() {
        return;
    }
    let (tags, joined, is_reordered) = runs(text.content);
    if !tags.is_empty() {
        let finding = found.say(&text.pointer, "the text holds letters that nobody sees");
        finding.evidence = Some(format!("they read: {tags}"));
    } else if joined > 1 {
        let message = format!("the text holds a run of {joined} characters of no width");
        found.say(&text.pointer, message);
    } else if is_reordered {
        let message = "the text holds characters that reorder what is seen";
        found.say(&text.pointer, message);
    }
}

/// The text that tags spell, the longest run of signs of no width, and whether something reorders the text. A flag is
/// spelt with tags behind a black flag, and a family joined with one sign between each two.
fn runs(text: &str) -> (String, usize, bool) {
    let (mut tags, mut longest, mut run, mut is_reordered) = (String::new(), 0, 0, false);
    let (mut is_flag, mut before) = (false, ' ');
    for character in text.chars() {
        match unseen(character) {
            Some(Unseen::Tag(ascii)) => {
                if !is_flag && !ascii.is_control() {
                    tags.push(ascii);
                }
                run = 0;
            }
            Some(Unseen::ZeroWidth | Unseen::Joiner) => run += 1,
            Some(Unseen::Variant) if unseen(before) == Some(Unseen::Variant) => run += 1,
            Some(Unseen::Variant) => {}
            Some(Unseen::Bidi) => is_reordered = true,
            Some(Unseen::Control) | None => {
                (run, is_flag) = (0, character == '\u{1f3f4}');
            }
        }
        longest = longest.max(run);
        before = character;
    }
    (tags, longest, is_reordered)
}

fn control(text: &Text<'_>, found: &mut Findings<'_>) {
    let mut characters = text.content.chars();
    if let Some(first) = characters.find(|it| unseen(*it) == Some(Unseen::Control)) {
        let what = match first {
            '\u{1b}' => "a terminal sequence",
            _ => "control characters",
        };
        let finding = found.say(&text.pointer, format!("the text holds {what}"));
        finding.evidence = Some(first.escape_unicode().to_string());
    }
}

fn encoded(text: &Text<'_>, found: &mut Findings<'_>) {
    let is_base64 = |it: char| it.is_ascii_alphanumeric() || "+/-_=".contains(it);
    let runs = text.content.split(|it: char| !is_base64(it));
    for run in runs.filter(|it| it.len() >= SHORTEST) {
        if let Some(sentence) = decoded(run) {
            let finding = found.say(&text.pointer, "the text holds an encoded sentence");
            finding.evidence = Some(sentence);
            return;
        }
    }
}

/// The sentence that a run of base64 stands for, if it is one.
fn decoded(run: &str) -> Option<String> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let usual = run.replace('-', "+").replace('_', "/");
    let bytes = GeneralPurpose::new(&alphabet::STANDARD, config)
        .decode(usual)
        .ok()?;
    let sentence = String::from_utf8(bytes).ok()?;
    let is_prose = |it: char| it.is_alphabetic() || it == ' ' || ".,;:!?'\"\n-".contains(it);
    let prose = sentence.chars().filter(|it| is_prose(*it)).count();
    let words = sentence.split_whitespace().count();
    (prose * 10 >= sentence.chars().count() * 9 && words >= 3).then_some(sentence)
}
