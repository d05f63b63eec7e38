//! `ci --baseline build` with servers in images that are built.

use super::{IMAGE, SERVER, forget, ready};
use crate::github::built::{Origin, expect};

#[test]
fn the_image_of_the_base_is_built_from_its_own_files() {
    if !ready() {
        return;
    }
    let word = format!("word-{}", std::process::id());
    let dockerfile = format!("FROM {IMAGE}\nCOPY server.py word /\nRUN touch /{word}\n");
    let broken = format!("FROM {IMAGE}\nRUN echo {word}; exit 3\n");
    let suite = format!(
        "name: the word\nserver: {{command: python3, args: [/server.py], docker: {{build: ../app}}}}\n\
         assert: {{tool: read, args: {{path: /word}}, expect: {{contains: [{word}]}}}}\n"
    );
    let case = |[before, after]: [(&str, &str); 2], code: i32, wanted: &[&str]| {
        let files = |(dockerfile, word)| {
            [
                ("app/Dockerfile", dockerfile),
                ("app/word", word),
                ("app/server.py", SERVER),
                ("evals/a.yaml", &suite),
            ]
        };
        let origin = Origin::new(&files(before), &files(after));
        let project = origin.checkout("refs/heads/topic", &[]);
        let ran = project.run(&["ci", "--baseline", "build", "--fail-on-regression"]);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, code, "{said}");
        expect(&said, wanted);
    };
    let good = (dockerfile.as_str(), word.as_str());
    let worse = (good.0, "another");
    case(
        [good, worse],
        1,
        &["built here", "Regressions detected (1)"],
    );
    let why = [
        "compared with nothing: no server could be started in ",
        "exit 3",
        "verdict: pass",
    ];
    case([(&broken, "x"), good], 0, &why);
    forget("mcp-assert/built", &format!("/{word}"));
}
