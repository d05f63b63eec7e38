//! Just enough of Dockerfiles to say which line a step of a build is.

/// The number of a step in the engine's output: `Step 2/5 : RUN x`, or `STEP 2/5: RUN x`.
pub(super) fn step(line: &str) -> Option<usize> {
    let (word, rest) = line.split_once(' ')?;
    if !word.eq_ignore_ascii_case("step") {
        return None;
    }
    let (number, rest) = rest.split_once('/')?;
    rest.contains(':').then(|| number.parse().ok())?
}

/// The line of a step, from 1, and what stands there; steps are counted as engines do, every instruction one.
pub(super) fn line(dockerfile: &str, step: Option<usize>) -> Option<(usize, String)> {
    let step = step?;
    let escape = escape(dockerfile);
    let (mut count, mut inside) = (0, false);
    for (index, line) in dockerfile.lines().enumerate() {
        let text = line.trim();
        if text.starts_with('#') || (text.is_empty() && !inside) {
            continue;
        }
        if !inside {
            count += 1;
            if count == step {
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
    use super::{line, step};

    #[test]
    fn steps_are_read() {
        let case = |text: &str, wanted: Option<usize>| assert_eq!(step(text), wanted, "{text}");
        case("Step 2/5 : RUN x", Some(2));
        case("STEP 12/12: RUN x", Some(12));
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
            assert_eq!(line(file, Some(step)), wanted);
        };
        case(1, Some((2, "ARG BASE=x")));
        case(2, Some((4, "FROM ${BASE}")));
        case(3, Some((5, "RUN a \\")));
        case(4, Some((9, "COPY x y")));
        case(5, None);
        assert_eq!(line(file, None), None);
        let other = "# escape=`\nFROM x\nRUN a `\n b\nRUN c";
        assert_eq!(line(other, Some(3)), Some((5, "RUN c".to_owned())));
    }
}
