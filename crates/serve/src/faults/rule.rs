//! One fault rule: its grammar, and what it means.
//!
//! `when [":" target] ["@" occ] "=" fault [":" arg]`, or a bare `fault [":" arg]` that sits at the
//! fault's default place.

use std::fmt::Display;

use globset::{GlobBuilder, GlobMatcher};

use super::argument::ArgumentValue;
use super::catalogue::{Carrier, Fault};
use super::place::When;

/// A rule as understood.
#[derive(Debug, Clone)]
pub struct Rule {
    /// As it was written.
    pub text: String,
    /// Where it fires.
    pub when: When,
    /// Which tools, prompts or URIs it is about; all when absent.
    target: Option<GlobMatcher>,
    /// At which occurrences of the place it fires.
    pub occurrence: Occurrence,
    /// Its effect.
    pub fault: Fault,
    /// With which value.
    pub given: ArgumentValue,
}

/// Which of the messages that match fire a rule, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Occurrence {
    /// Each.
    Always,
    /// One.
    At(u64),
    /// This one and all later ones.
    From(u64),
    /// From the first to the second, both included.
    Span(u64, u64),
    /// Each whose number divides by this.
    Every(u64),
    /// Each with this probability, drawn from the seed.
    Chance(f64),
}

/// An invalid rule, with the way to correct it.
pub(super) fn wrong(message: impl Display, help: impl Display) -> String {
    format!("{message}\nhelp: {help}")
}

/// The part of a rule before `=`.
struct Place {
    when: When,
    target: Option<GlobMatcher>,
    occurrence: Occurrence,
}

impl Rule {
    /// Reads one rule for a server that speaks over `carrier`; the error says what is wrong and what to do about it.
    pub fn parse(text: &str, carrier: Carrier) -> Result<Self, String> {
        let text = text.trim();
        let (place, what) = split(text);
        let (fault, given) = read_fault(what)?;
        let row = fault.row();
        let place = read_place(place.unwrap_or(row.default_place))?;
        if !row.carriers.contains(&carrier) {
            return Err(wrong(
                format!("{} cannot carry `{}`", carrier.name(), row.id),
                match row.carriers {
                    [Carrier::Http, Carrier::Sse] => "it needs a server over HTTP".to_owned(),
                    [Carrier::Http, ..] => "it needs a server over streamable HTTP".to_owned(),
                    [Carrier::Stdio, _, ..] => "it needs a server on stdio".to_owned(),
                    _ => "it needs a server on stdio that is a process of its own".to_owned(),
                },
            ));
        }
        if !row.site.allows(place.when) {
            return Err(wrong(
                format!("`{}` cannot sit at `{}`", row.id, place.when.name()),
                format!("its place is {}", row.site.phrase()),
            ));
        }
        Ok(Self {
            text: text.to_owned(),
            when: place.when,
            target: place.target,
            occurrence: place.occurrence,
            fault,
            given,
        })
    }

    /// Whether the rule is about a message that names `target`.
    pub fn is_about(&self, target: Option<&str>) -> bool {
        match (&self.target, target) {
            (None, _) => true,
            (Some(glob), Some(target)) => glob.is_match(target),
            (Some(_), None) => false,
        }
    }
}

/// The place, where there is one, and the fault. Targets and arguments may hold `=`, so the place
/// ends at the first `=` that a known fault follows.
fn split(text: &str) -> (Option<&str>, &str) {
    let id = |what: &str| Fault::named(what.split(':').next().unwrap_or_default()).is_some();
    if id(text) {
        return (None, text);
    }
    text.match_indices('=')
        .map(|(at, _)| (&text[..at], &text[at + 1..]))
        .find(|(_, what)| id(what.trim()))
        .or_else(|| text.split_once('='))
        .map_or((None, text), |(place, what)| {
            (Some(place.trim()), what.trim())
        })
}

fn read_fault(what: &str) -> Result<(Fault, ArgumentValue), String> {
    let (id, argument) = match what.split_once(':') {
        Some((id, argument)) => (id, Some(argument)),
        None => (what, None),
    };
    let Some(fault) = Fault::named(id) else {
        let ids = Fault::ALL.iter().map(|fault| fault.row().id);
        return Err(unknown("fault", id, ids, "`serve --list` shows all faults"));
    };
    let takes = fault.row().takes;
    let given = match argument {
        None => takes.default_value(),
        Some(argument) => takes.read(argument).map_err(|wanted| {
            wrong(
                format!("`{argument}` is not an argument of `{id}`"),
                format!("wanted: {wanted}"),
            )
        })?,
    };
    Ok((fault, given))
}

fn read_place(text: &str) -> Result<Place, String> {
    let (text, occurrence) = match text.rsplit_once('@') {
        Some((place, occurrence)) => (place, read_occurrence(occurrence)?),
        None => (text, Occurrence::Always),
    };
    let (name, target) = match text.split_once(':') {
        Some((name, target)) => (name, Some(target)),
        None => (text, None),
    };
    if name == "session" {
        return Err(wrong(
            "stdio has no sessions to put a fault on".to_owned(),
            "the other moments are `start` and `stop`".to_owned(),
        ));
    }
    let Some(when) = When::named(name) else {
        let names = When::names();
        let otherwise = "a place is a method of the client, `*`, `start` or `stop`";
        return Err(unknown("place", name, names, otherwise));
    };
    let target = target.map(|target| read_target(when, target)).transpose()?;
    Ok(Place {
        when,
        target,
        occurrence,
    })
}

fn read_target(when: When, target: &str) -> Result<GlobMatcher, String> {
    if !when.has_target() {
        return Err(wrong(
            format!("`{}` has no target, but `{target}` was given", when.name()),
            "only messages that name a tool, a prompt or a URI have one".to_owned(),
        ));
    }
    match GlobBuilder::new(target).literal_separator(false).build() {
        Ok(glob) if !target.is_empty() => Ok(glob.compile_matcher()),
        Ok(_) => Err(wrong(
            format!("nothing stands after `{}:`", when.name()),
            "write a name or a glob such as `test_*`".to_owned(),
        )),
        Err(error) => Err(wrong(
            format!("`{target}` is not a glob: {}", error.kind()),
            "write a name or a glob such as `test_*`",
        )),
    }
}

fn read_occurrence(text: &str) -> Result<Occurrence, String> {
    let ordinal = |text: &str| text.parse::<u64>().ok().filter(|&number| number > 0);
    let read = || {
        if let Some(step) = text.strip_prefix("every:") {
            return ordinal(step).map(Occurrence::Every);
        }
        if let Some(chance) = text.strip_prefix("p:") {
            let chance = chance.parse::<f64>().ok();
            return chance
                .filter(|chance| (0.0..=1.0).contains(chance))
                .map(Occurrence::Chance);
        }
        match text.split_once("..") {
            None => ordinal(text).map(Occurrence::At),
            Some((from, "")) => ordinal(from).map(Occurrence::From),
            Some((from, to)) => {
                let (from, to) = (ordinal(from)?, ordinal(to)?);
                (from <= to).then_some(Occurrence::Span(from, to))
            }
        }
    };
    read().ok_or_else(|| {
        wrong(
            format!("`@{text}` is not an occurrence"),
            "write `@2`, `@2..`, `@2..4`, `@every:5` or `@p:0.3`, counted from 1".to_owned(),
        )
    })
}

fn unknown<'a>(
    what: &str,
    found: &str,
    known: impl Iterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    let nearest = known
        .map(|name| (strsim::normalized_damerau_levenshtein(found, name), name))
        .filter(|(likeness, _)| *likeness > 0.4)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let help = match nearest {
        Some((_, name)) => format!("did you mean `{name}`? {otherwise}"),
        None => otherwise.to_owned(),
    };
    wrong(format!("there is no {what} `{found}`"), help)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn rule(text: &str) -> Rule {
        Rule::parse(text, Carrier::Stdio).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refused(text: &str) -> String {
        match Rule::parse(text, Carrier::Stdio) {
            Ok(rule) => panic!("{text} was read as {rule:?}"),
            Err(error) => error,
        }
    }

    #[test]
    fn a_full_rule_is_read_part_by_part() {
        let found = rule("tools/call:echo@2=exit-mid-call:3");
        assert_eq!(found.when.name(), "tools/call");
        assert!(found.is_about(Some("echo")));
        assert!(!found.is_about(Some("echo2")));
        assert!(!found.is_about(None));
        assert_eq!(found.occurrence, Occurrence::At(2));
        assert_eq!(found.fault, Fault::ExitMidCall);
        assert_eq!(found.given, ArgumentValue::Number(3));
        assert_eq!(found.text, "tools/call:echo@2=exit-mid-call:3");
    }

    #[test]
    fn every_form_of_occurrence_is_read() {
        let case = |text: &str, wanted: Occurrence| {
            assert_eq!(rule(&format!("*@{text}=drop")).occurrence, wanted, "{text}");
        };
        case("1", Occurrence::At(1));
        case("2..", Occurrence::From(2));
        case("2..4", Occurrence::Span(2, 4));
        case("every:5", Occurrence::Every(5));
        case("p:0.25", Occurrence::Chance(0.25));
        case("p:1", Occurrence::Chance(1.0));
        assert_eq!(rule("*=drop").occurrence, Occurrence::Always);
    }

    #[test]
    fn a_bare_id_stands_at_its_default_place() {
        let case = |text: &str, place: &str, occurrence: Occurrence, given: ArgumentValue| {
            let found = rule(text);
            assert_eq!(found.when.name(), place, "{text}");
            assert_eq!(found.occurrence, occurrence, "{text}");
            assert_eq!(found.given, given, "{text}");
        };
        let two = ArgumentValue::Time(Duration::from_secs(2));
        case("delay:2s", "tools/call", Occurrence::Always, two);
        case(
            "ignore-sigterm",
            "stop",
            Occurrence::Always,
            ArgumentValue::Nothing,
        );
        case(
            "init-hang",
            "initialize",
            Occurrence::Always,
            ArgumentValue::Nothing,
        );
        case(
            "rug-pull",
            "tools/list",
            Occurrence::From(2),
            ArgumentValue::Nothing,
        );
        let text = ArgumentValue::Text("a=b:c".to_owned());
        case(
            "init-wrong-version:a=b:c",
            "initialize",
            Occurrence::Always,
            text,
        );
    }

    #[test]
    fn targets_may_hold_colons_and_equal_signs() {
        let found = rule("resources/read:test://a?drop=1=delay:2s");
        assert!(found.is_about(Some("test://a?drop=1")) || found.is_about(Some("test://abdrop=1")));
        assert_eq!(found.fault, Fault::Delay);
        let found = rule("resources/read:test://*@2=drop");
        assert!(found.is_about(Some("test://template/7/data")));
        assert!(rule("tools/call:{echo,slow}=drop").is_about(Some("slow")));
        assert!(rule("*:echo=drop").is_about(Some("echo")));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_nearest_name() {
        let case = |text: &str, wanted: &str| assert_eq!(refused(text), wanted, "{text}");
        case(
            "stdout-baner",
            "there is no fault `stdout-baner`\nhelp: did you mean `stdout-banner`? `serve --list` shows all faults",
        );
        case(
            "tools/cal=drop",
            "there is no place `tools/cal`\nhelp: did you mean `tools/call`? a place is a method of the client, `*`, `start` or `stop`",
        );
        case(
            "start=drop",
            "`drop` cannot sit at `start`\nhelp: its place is a request, or `*`",
        );
        case(
            "tools/call=init-hang",
            "`init-hang` cannot sit at `tools/call`\nhelp: its place is `initialize`",
        );
        case(
            "tools/list:echo=drop",
            "`tools/list` has no target, but `echo` was given\nhelp: only messages that name a tool, a prompt or a URI have one",
        );
        case(
            "tools/call:=drop",
            "nothing stands after `tools/call:`\nhelp: write a name or a glob such as `test_*`",
        );
        case(
            "tools/call@evry:2=drop",
            "`@evry:2` is not an occurrence\nhelp: write `@2`, `@2..`, `@2..4`, `@every:5` or `@p:0.3`, counted from 1",
        );
        case(
            "delay:soon",
            "`soon` is not an argument of `delay`\nhelp: wanted: a duration up to 24h such as `300ms` or `2s`",
        );
        case(
            "drop:1",
            "`1` is not an argument of `drop`\nhelp: wanted: it takes no argument",
        );
        case(
            "session:2=drop",
            "stdio has no sessions to put a fault on\nhelp: the other moments are `start` and `stop`",
        );
    }

    #[test]
    fn other_broken_texts_are_refused_too() {
        for text in [
            "",
            "=",
            "=drop",
            "drop=",
            "tools/call=",
            "tools/call@0=drop",
            "*@4..2=drop",
            "*@..2=drop",
            "*@=drop",
            "*@p:1.1=drop",
            "*@p:nan=drop",
            "*@every:0=drop",
            "@2=drop",
            "tools/call:[=drop",
            "status:503",
            "delay:",
            "exit-mid-call:-1",
        ] {
            let message = refused(text);
            assert!(!message.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_pipe_inside_a_process_carries_no_process_faults() {
        let error = Rule::parse("abort", Carrier::Duplex).unwrap_err();
        assert!(
            error.starts_with("an in-process pipe cannot carry `abort`\n"),
            "{error}"
        );
        assert!(Rule::parse("stdout-banner", Carrier::Duplex).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_rule_or_an_error(text in "[a-z/*@:=.0-9-]{0,40}|.{0,40}") {
            if let Err(error) = Rule::parse(&text, Carrier::Stdio) {
                proptest::prop_assert!(!error.is_empty());
            }
        }
    }
}
