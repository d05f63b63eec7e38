//! A server that never served and whose only argument reads like several: a text under `args` is one argument, and no
//! shell takes it apart.

use mcp::observation::disruption::{BEFORE_SERVING, Disruption, NEVER_SERVED};
use suite::model::server::Target;

/// Characters shown of the argument.
const SHOWN: usize = 120;

/// Says so, where nothing explains the end of the server better.
pub(super) fn explain(disruption: &mut Disruption, target: &Target) {
    let never_served =
        NEVER_SERVED.contains(&disruption.kind) && BEFORE_SERVING.contains(&disruption.phase);
    if !never_served || disruption.help.is_some() {
        return;
    }
    let args = target.launch().map(|launch| launch.args.as_slice());
    if let Some([only]) = args
        && reads_like_several(&only.text)
    {
        disruption.help = Some(format!(
            "`args` is one argument, `{}`; several are written as a list: `args: [one, another]`",
            text::head(&only.text, SHOWN)
        ));
    }
}

/// Whether an option stands behind a blank: `server.mjs --port 1`.
fn reads_like_several(argument: &str) -> bool {
    let is_option = |word: &str| {
        let (name, _) = word.split_once('=').unwrap_or((word, ""));
        let bare = name.trim_start_matches('-');
        let dashes = name.len() - bare.len();
        let is_name = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
        (1..=2).contains(&dashes) && !bare.is_empty() && bare.chars().all(is_name)
    };
    argument.split_whitespace().skip(1).any(is_option)
}

#[cfg(test)]
mod tests {
    use super::reads_like_several;

    #[test]
    fn a_text_with_an_option_reads_like_several_arguments() {
        for several in [
            "/path/s.mjs --x",
            "-m server -v",
            "s.py --port=1",
            "s --a.b",
        ] {
            assert!(reads_like_several(several), "{several}");
        }
        for one in [
            "/path/s.mjs",
            "--port=1",
            "/My Files/s.mjs",
            "/My Files -old/s.mjs",
            "a - b",
            "a -- b",
            "1 --> 2",
            "",
        ] {
            assert!(!reads_like_several(one), "{one}");
        }
    }
}
