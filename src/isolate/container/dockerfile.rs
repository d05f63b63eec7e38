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

/// The line of a step, from 1, and what stands there; steps are counted as engines do, every instruction one.
pub(super) fn line(dockerfile: &str, step: Option<Step>) -> Option<(usize, String)> {
    let Step { stage, number } = step?;
    let escape = escape(dockerfile);
    let (mut count, mut stages, mut inside) = (0, 0, false);
    for (index, line) in dockerfile.lines().enumerate() {
        let text = line.trim();
        if text.starts_with('#') || (text.is_empty() && !inside) {
            continue;
        }
        if !inside {
            let word = text.split_whitespace().next().unwrap_or_default();
            if stage.is_some() && word.eq_ignore_ascii_case("from") {
                (count, stages) = (0, stages + 1);
            }
            count += 1;
            if count == number && stage.is_none_or(|stage| stage == stages) {
                return Some((index + 1, text.to_owned()));
            }
        }
        inside = if text.is_empty() {
            inside
        } else {
            text.ends_with(escape)
        };
    }
    None
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
    use super::{Step, line, step};

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
}
