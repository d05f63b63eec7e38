//! The runner of a workflow, as far as it reads what a step wrote: its two syntaxes of commands, its line ends, its
//! files of `name=value`, its limits. Written from the description of how it behaves.

use std::collections::BTreeMap;

/// The commands it knows.
const KNOWN: [&str; 15] = [
    "add-mask",
    "add-path",
    "add-matcher",
    "remove-matcher",
    "debug",
    "notice",
    "warning",
    "error",
    "echo",
    "group",
    "endgroup",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
];

/// Annotations of one kind that it keeps of a step.
const MOST_OF_A_KIND: usize = 10;

/// Characters (UTF-16 units) that it keeps of an annotation.
const LONGEST_MESSAGE: usize = 4_096;

/// A command it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// Its properties.
    pub properties: BTreeMap<String, String>,
    /// What stands behind it.
    pub data: String,
}

/// What became of the output of a step.
#[derive(Debug, Default)]
pub struct Step {
    /// The commands that it obeyed.
    pub obeyed: Vec<Found>,
    /// The lines that it showed.
    pub shown: Vec<String>,
    /// Values that it hides.
    pub masks: Vec<String>,
    /// Why the step fails.
    pub failed: Vec<String>,
    /// Whether commands are still stopped at the end.
    pub is_stopped: bool,
}

impl Step {
    /// The annotations it keeps, by kind.
    pub fn annotations(&self, kind: &str) -> Vec<Found> {
        let cut = |found: &Found| {
            let units: Vec<u16> = found.data.encode_utf16().take(LONGEST_MESSAGE).collect();
            Found {
                data: String::from_utf16_lossy(&units),
                ..found.clone()
            }
        };
        let of_kind = self.obeyed.iter().filter(|found| found.name == kind);
        of_kind.take(MOST_OF_A_KIND).map(cut).collect()
    }
}

/// Whether its search, which follows the rules of a culture, passes over the character.
fn is_passed_over(character: char) -> bool {
    match character {
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

/// Where `sought` begins and ends in the text, by that search.
fn find(text: &str, sought: &str) -> Option<(usize, usize)> {
    text.char_indices().find_map(|(start, first)| {
        if is_passed_over(first) {
            return None;
        }
        Some((start, start + starts(&text[start..], sought)?))
    })
}

/// How long the beginning of the text is that equals `sought`, by that search.
fn starts(text: &str, sought: &str) -> Option<usize> {
    let mut wanted = sought.chars().peekable();
    for (at, character) in text.char_indices() {
        match wanted.peek() {
            None => return Some(at),
            Some(next) if *next == character => {
                wanted.next();
            }
            Some(_) if is_passed_over(character) => {}
            Some(_) => return None,
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

/// `::name key=value,key=value::data` at the start of a line.
pub fn second_syntax(line: &str, also_known: &str) -> Option<Found> {
    let line = line.trim();
    let begin = starts(line, "::")?;
    let (end, data) = find(&line[begin..], "::")?;
    let (head, data) = (&line[begin..begin + end], &line[begin + data..]);
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    let unescaped = |text: &str| {
        unescape(
            text,
            &[
                ("%0D", "\r"),
                ("%0A", "\n"),
                ("%3A", ":"),
                ("%2C", ","),
                ("%25", "%"),
            ],
        )
    };
    Some(Found {
        name: known(name, also_known)?,
        properties: properties
            .trim()
            .split(',')
            .filter_map(|pair| pair.split_once('='))
            .filter(|(name, value)| !name.is_empty() && !value.is_empty())
            .map(|(name, value)| (name.to_owned(), unescaped(value)))
            .collect(),
        data: unescape(data, &[("%0D", "\r"), ("%0A", "\n"), ("%25", "%")]),
    })
}

/// `##[name key=value;key=value]data` anywhere in a line.
pub fn first_syntax(line: &str, also_known: &str) -> Option<Found> {
    let (_, behind) = find(line, "##[")?;
    let (end, data) = find(&line[behind..], "]")?;
    let (head, data) = (&line[behind..behind + end], &line[behind + data..]);
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    let escapes = [
        ("%3B", ";"),
        ("%0D", "\r"),
        ("%0A", "\n"),
        ("%5D", "]"),
        ("%25", "%"),
    ];
    Some(Found {
        name: known(name, also_known)?,
        properties: properties
            .split(';')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), unescape(value, &escapes)))
            .collect(),
        data: unescape(data, &escapes),
    })
}

fn known(name: &str, also_known: &str) -> Option<String> {
    if !also_known.is_empty() && name.eq_ignore_ascii_case(also_known) {
        return Some(also_known.to_owned());
    }
    KNOWN
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
        .map(str::to_owned)
}

fn unescape(text: &str, escapes: &[(&str, &str)]) -> String {
    escapes
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The lines of an output. A byte-order mark at its start decides how all of it is decoded.
pub fn lines(output: &[u8]) -> Vec<String> {
    let units = |order: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = output[2..]
            .chunks_exact(2)
            .map(|pair| order([pair[0], pair[1]]))
            .collect();
        String::from_utf16_lossy(&units)
    };
    let text = match output {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        other => String::from_utf8_lossy(other).into_owned(),
    };
    let mut lines: Vec<String> = text
        .replace("\r\n", "\n")
        .split(['\n', '\r'])
        .map(str::to_owned)
        .collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Reads the output of a step as the runner does.
pub fn read(output: &[u8]) -> Step {
    let mut step = Step::default();
    let mut token = String::new();
    for line in lines(output) {
        let found = second_syntax(&line, &token).or_else(|| first_syntax(&line, &token));
        let stopped = !token.is_empty();
        match found {
            Some(found) if stopped && found.name == token => token.clear(),
            Some(found) if !stopped => {
                match found.name.as_str() {
                    "stop-commands" => token.clone_from(&found.data),
                    "add-mask" => {
                        step.masks.push(found.data.clone());
                        let parts = found.data.split(['\r', '\n']);
                        let parts = parts.filter(|part| !part.is_empty());
                        step.masks.extend(parts.map(str::to_owned));
                    }
                    "set-env" | "add-path" => {
                        step.failed.push(format!("`{}` is disabled", found.name));
                    }
                    _ => {}
                }
                step.obeyed.push(found);
            }
            Some(_) | None => step.shown.push(line),
        }
    }
    step.is_stopped = !token.is_empty();
    step
}

/// The pairs of a command file, of which only a line feed ends a line; or why the step fails.
pub fn pairs(file: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut rest = file.strip_prefix('\u{feff}').unwrap_or(file);
    while !rest.is_empty() {
        let line = next_line(&mut rest).unwrap_or_default();
        if line.is_empty() {
            continue;
        }
        let (equals, heredoc) = (line.find('='), line.find("<<"));
        match (equals, heredoc) {
            (Some(at), other) if other.is_none_or(|other| at < other) => {
                pairs.push((line[..at].to_owned(), line[at + 1..].to_owned()));
            }
            (_, Some(at)) => {
                let (name, delimiter) = (&line[..at], &line[at + 2..]);
                if name.is_empty() || delimiter.is_empty() {
                    return Err(format!("invalid format `{line}`"));
                }
                let mut value: Vec<&str> = Vec::new();
                loop {
                    match next_line(&mut rest) {
                        Some(line) if line == delimiter => break,
                        Some(line) => value.push(line),
                        None => return Err(format!("no end `{delimiter}`")),
                    }
                }
                pairs.push((name.to_owned(), value.join("\n")));
            }
            (_, None) => return Err(format!("invalid format `{line}`")),
        }
    }
    if pairs.iter().any(|(name, _)| name.is_empty()) {
        return Err("a pair without a name".to_owned());
    }
    Ok(pairs)
}

fn next_line<'a>(rest: &mut &'a str) -> Option<&'a str> {
    if rest.is_empty() {
        return None;
    }
    let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
    *rest = behind;
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::{pairs, read};

    #[test]
    fn the_port_finds_what_the_runner_finds() {
        let case = |output: &str, obeyed: &[&str]| {
            let step = read(output.as_bytes());
            let names: Vec<&str> = step.obeyed.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names, obeyed, "{output:?}");
        };
        case("::error::x", &["error"]);
        case("\u{a0}\u{2003} ::ERROR file=a::x", &["error"]);
        case("a::error::x\n:error::x\n::error", &[]);
        case("text ##[group]x", &["group"]);
        case("text #\u{200d}#[Group]x", &["group"]);
        case("\u{feff}a\r:\u{feff}:debug::x", &["debug"]);
        case("::unknown::x ##[other]", &[]);
        case(
            "::stop-commands::T\n::error::x\n::t::\n::error::y",
            &["stop-commands", "error"],
        );
        case("\u{2028}::error::x", &["error"]);
    }

    #[test]
    fn escapes_are_undone_and_masks_taken() {
        let step = read(b"::error file=a%2Cb,line=3::100%25%0Anext\n::add-mask::a%0Ab\n");
        assert_eq!(step.obeyed[0].properties["file"], "a,b");
        assert_eq!(step.obeyed[0].data, "100%\nnext");
        assert_eq!(step.masks, ["a\nb", "a", "b"]);
    }

    #[test]
    fn ten_annotations_of_a_kind_are_kept_and_long_ones_cut() {
        let long = "é".repeat(5_000);
        let step = read(format!("::warning::{long}\n").repeat(11).as_bytes());
        assert_eq!(step.obeyed.len(), 11);
        let kept = step.annotations("warning");
        assert_eq!((kept.len(), kept[0].data.chars().count()), (10, 4_096));
        assert!(step.annotations("error").is_empty());
    }

    #[test]
    fn pairs_are_read_and_malformed_lines_refused() {
        let read = pairs("a=1\r\n\nb<<E\nx=y\n<<\nE\nc<<=\nd\n=\n").unwrap();
        let wanted = [("a", "1\r"), ("b", "x=y\n<<"), ("c", "d")];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read, wanted);
        for bad in ["word", "a<<\nx", "a<<E\nx\n", "=x"] {
            assert!(pairs(bad).is_err(), "{bad:?}");
        }
    }
}
