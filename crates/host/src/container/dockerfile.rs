//! Just enough of Dockerfiles to say which line a step of a build is.

/// A step of a build, as engines count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Its stage, from 1, where each stage has steps of its own.
    stage: Option<usize>,
    /// Its number, from 1.
    number: usize,
}

/// The step in the engine's output: `Step 2/5 : RUN x`, or Podman's `STEP 2/5: RUN x` and `[1/2] STEP 2/5: RUN x`.
pub(super) fn step(line: &str) -> Option<Step> {
    let first = |text: &str| text.split_once('/')?.0.parse().ok();
    let (stage, line) = match line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
    {
        Some((stage, line)) => (Some(first(stage)?), line),
        None => (None, line),
    };
    let (word, rest) = line.split_once(' ')?;
    if !word.eq_ignore_ascii_case("step") || !rest.contains(':') {
        return None;
    }
    let number = first(rest)?;
    Some(Step { stage, number })
}

/// One instruction.
struct Instruction {
    /// Its first line, from 1.
    line: usize,
    /// What stands there.
    first: String,
    /// All of it in one line.
    whole: String,
}

impl Instruction {
    fn word(&self) -> &str {
        self.first.split_whitespace().next().unwrap_or_default()
    }
}

/// The line of a step, from 1, and what stands there; steps are counted as engines do, every instruction one.
pub(super) fn line(dockerfile: &str, step: Option<Step>) -> Option<(usize, String)> {
    let Step { stage, number } = step?;
    let (mut count, mut stages) = (0, 0);
    for instruction in instructions(dockerfile) {
        if stage.is_some() && instruction.word().eq_ignore_ascii_case("from") {
            (count, stages) = (0, stages + 1);
        }
        count += 1;
        if count == number && stage.is_none_or(|stage| stage == stages) {
            return Some((instruction.line, instruction.first));
        }
    }
    None
}

/// What only `BuildKit` understands, the first of it: its line, from 1, and what it is.
pub(super) fn newer(dockerfile: &str) -> Option<(usize, String)> {
    let mut all = instructions(dockerfile).into_iter();
    all.find_map(|instruction| Some((instruction.line, newer_part(&instruction)?)))
}

/// What of an instruction the classic builder does not understand.
fn newer_part(instruction: &Instruction) -> Option<String> {
    let name = instruction.word().to_ascii_uppercase();
    let known: &[&str] = match name.as_str() {
        "RUN" => &[],
        "COPY" | "ADD" => &["--from", "--chown"],
        _ => return None,
    };
    let words = || instruction.whole.split_whitespace().skip(1);
    let mut flags = words()
        .take_while(|word| word.starts_with("--"))
        .map(|word| word.split_once('=').map_or(word, |(flag, _)| flag));
    if let Some(flag) = flags.find(|flag| !known.contains(flag)) {
        return Some(format!("{name} {flag}"));
    }
    words().any(is_heredoc).then(|| format!("{name} <<"))
}

/// Whether a word begins a text in the lines below: `<<END`, `<<-'END'`, `3<<END`.
fn is_heredoc(word: &str) -> bool {
    let word = word.trim_start_matches(|character: char| character.is_ascii_digit());
    let Some(end) = word.strip_prefix("<<") else {
        return false;
    };
    let end = end.strip_prefix('-').unwrap_or(end);
    let end = end.trim_start_matches(['"', '\'']);
    end.starts_with(|character: char| character.is_alphabetic() || character == '_')
}

fn instructions(dockerfile: &str) -> Vec<Instruction> {
    let escape = escape(dockerfile);
    let mut all: Vec<Instruction> = Vec::new();
    let mut inside = false;
    for (index, line) in dockerfile.lines().enumerate() {
        let text = line.trim();
        if text.starts_with('#') || text.is_empty() {
            continue;
        }
        let part = text.trim_end_matches(escape);
        match all.last_mut() {
            Some(instruction) if inside => {
                instruction.whole.push(' ');
                instruction.whole.push_str(part);
            }
            Some(_) | None => all.push(Instruction {
                line: index + 1,
                first: text.to_owned(),
                whole: part.to_owned(),
            }),
        }
        inside = text.ends_with(escape);
    }
    all
}

/// The character that continues a line; a comment at the top may name another one.
fn escape(dockerfile: &str) -> char {
    dockerfile
        .lines()
        .take_while(|line| line.trim_start().starts_with('#'))
        .find_map(|line| {
            let (name, value) = line.trim_start().trim_start_matches('#').split_once('=')?;
            let named = name.trim().eq_ignore_ascii_case("escape");
            value.trim().chars().next().filter(|_| named)
        })
        .unwrap_or('\\')
}

#[cfg(test)]
mod tests {
    use super::{Step, line, newer, step};

    fn global(number: usize) -> Step {
        Step {
            stage: None,
            number,
        }
    }

    #[test]
    fn steps_are_read() {
        let case = |text: &str, wanted: Option<Step>| assert_eq!(step(text), wanted, "{text}");
        case("Step 2/5 : RUN x", Some(global(2)));
        case("STEP 12/12: RUN x", Some(global(12)));
        let staged = Step {
            stage: Some(2),
            number: 3,
        };
        case("[2/2] STEP 3/4: RUN x", Some(staged));
        case("[2/2] COMMIT x:1", None);
        case("Stepping 1/2: x", None);
        case("Step by step", None);
        case("", None);
    }

    #[test]
    fn steps_are_found_again() {
        let file =
            "# a comment\nARG BASE=x\n\nFROM ${BASE}\nRUN a \\\n  # between\n\n  && b\nCOPY x y\n";
        let case = |step: usize, wanted: Option<(usize, &str)>| {
            let wanted = wanted.map(|(number, text)| (number, text.to_owned()));
            assert_eq!(line(file, Some(global(step))), wanted);
        };
        case(1, Some((2, "ARG BASE=x")));
        case(2, Some((4, "FROM ${BASE}")));
        case(3, Some((5, "RUN a \\")));
        case(4, Some((9, "COPY x y")));
        case(5, None);
        assert_eq!(line(file, None), None);
        let other = "# escape=`\nFROM x\nRUN a `\n b\nRUN c";
        assert_eq!(line(other, Some(global(3))), Some((5, "RUN c".to_owned())));
        let staged = |stage: usize, number: usize| {
            let stage = Some(stage);
            line(
                "ARG A\nFROM x\nRUN a\nFROM y\nRUN b\n",
                Some(Step { stage, number }),
            )
        };
        assert_eq!(staged(1, 2), Some((3, "RUN a".to_owned())));
        assert_eq!(staged(2, 2), Some((5, "RUN b".to_owned())));
        assert_eq!(staged(2, 3), None);
    }

    #[test]
    fn what_the_classic_builder_does_not_understand_is_found() {
        let case = |file: &str, wanted: Option<(usize, &str)>| {
            let wanted = wanted.map(|(line, what)| (line, what.to_owned()));
            assert_eq!(newer(file), wanted, "{file}");
        };
        case(
            "FROM x\nRUN --mount=type=cache,target=/x a\n",
            Some((2, "RUN --mount")),
        );
        case(
            "FROM x\nRUN \\\n  --network=none a\n",
            Some((2, "RUN --network")),
        );
        case(
            "FROM x\n\ncopy --from=a --chmod=755 b c\n",
            Some((3, "COPY --chmod")),
        );
        case("FROM x\nADD --link b c\n", Some((2, "ADD --link")));
        case("FROM x\nRUN <<EOT\necho hi\nEOT\n", Some((2, "RUN <<")));
        case("FROM x\nCOPY <<-'END' /a\nhi\nEND\n", Some((2, "COPY <<")));
        case(
            "FROM --platform=a x\nCOPY --chown=1 --from=b c d\nRUN ls --mount; echo $((1 << 2)) <<< word\n",
            None,
        );
    }
}
