//! The inputs of the GitHub action, made from the options of `ci` and of what is below it: same names, same defaults.
//! Only `mode`, which chooses between them, and `token` are the action's own.

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::cli::Cli;

/// What the action does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `ci`.
    Run,
    /// `ci plan`.
    Plan,
    /// `ci --shard`.
    Shard,
    /// `ci merge`.
    Merge,
}

/// How the value of an input is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `true` or `false`.
    Switch,
    /// One on each line.
    List,
    /// One text.
    Text,
}

/// An input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    /// Its name, also that of the option.
    pub(crate) name: String,
    /// Other names that its option has.
    pub(crate) aliases: Vec<String>,
    /// What it means, in one sentence without a period.
    pub(crate) help: String,
    /// What it is when nothing is given; may be empty.
    pub(crate) default: String,
    /// How it is written.
    pub(crate) shape: Shape,
    /// The modes that have a use for it.
    pub(crate) modes: Vec<Mode>,
}

/// Options of the command line alone. How many shards there are is decided by their duration; the rest is for those
/// who come from the Go tool's `ci`, and `compat: true` of the settings holds in the action.
const NO_INPUTS: [&str; 4] = ["shards", "reuse-server", "compat", "no-compat"];

/// Options of `ci` that a shard has no use for.
const OF_NO_SHARD: [&str; 9] = [
    "filter",
    "tags",
    "baseline",
    "update-baseline",
    "fail-on-regression",
    "fail-on-breaking",
    "comment",
    "badge-branch",
    "badge-publish",
];

impl Mode {
    /// All modes.
    pub(crate) const ALL: [Self; 4] = [Self::Run, Self::Plan, Self::Shard, Self::Merge];

    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Plan => "plan",
            Self::Shard => "shard",
            Self::Merge => "merge",
        }
    }

    /// The words of the command line.
    pub(crate) fn verb(self) -> &'static [&'static str] {
        match self {
            Self::Run | Self::Shard => &["ci"],
            Self::Plan => &["ci", "plan"],
            Self::Merge => &["ci", "merge"],
        }
    }

    /// Whether the mode has a use for an option of its verb.
    fn uses(self, option: &str) -> bool {
        if NO_INPUTS.contains(&option) {
            return false;
        }
        match self {
            // A shard is known by its option, and only a shard reads the plan.
            Self::Run => option != "shard" && option != "plan",
            // What runs is in the plan; what judges and tells of the whole is for the merge.
            Self::Shard => !OF_NO_SHARD.contains(&option),
            Self::Plan | Self::Merge => true,
        }
    }
}

/// Every input that is an option, in the order in which they are told.
pub(crate) fn inputs() -> Vec<Input> {
    let mut root = Cli::command();
    root.build();
    let mut all: Vec<Input> = Vec::new();
    for mode in Mode::ALL {
        for argument in options(&root, mode.verb()) {
            let name = argument.get_long().unwrap_or_default();
            if !mode.uses(name) {
                continue;
            }
            match all.iter_mut().find(|known| known.name == name) {
                Some(known) => known.modes.push(mode),
                None => all.push(input(argument, mode)),
            }
        }
    }
    all
}

/// The options of a verb.
fn options<'a>(root: &'a Command, verb: &[&str]) -> impl Iterator<Item = &'a Arg> {
    let found = verb
        .iter()
        .try_fold(root, |command, word| command.find_subcommand(word));
    found
        .into_iter()
        .flat_map(Command::get_arguments)
        .filter(|argument| {
            argument.get_long().is_some()
                && !argument.is_global_set()
                && !matches!(argument.get_id().as_str(), "help" | "version")
        })
}

fn input(argument: &Arg, mode: Mode) -> Input {
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    let shape = if matches!(argument.get_action(), ArgAction::SetTrue) {
        Shape::Switch
    } else if matches!(argument.get_action(), ArgAction::Append) {
        Shape::List
    } else {
        Shape::Text
    };
    Input {
        name: argument.get_long().unwrap_or_default().to_owned(),
        aliases: argument
            .get_visible_aliases()
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect(),
        help: argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default(),
        default: match shape {
            Shape::Switch => "false".to_owned(),
            Shape::List | Shape::Text => defaults.join("\n"),
        },
        shape,
        modes: vec![mode],
    }
}

#[cfg(test)]
mod tests {
    use super::{Mode, Shape, inputs};

    #[test]
    fn options_become_inputs_with_their_defaults() {
        let all = inputs();
        let known = |name: &str| all.iter().find(|it| it.name == name).unwrap();
        assert_eq!(known("suite").shape, Shape::List);
        assert_eq!(known("suite").default, "evals");
        assert_eq!(known("fail-on-regression").shape, Shape::Switch);
        assert_eq!(known("timeout").default, "30s");
        // So that one that is given differs from none.
        assert_eq!(known("threshold").default, "");
        assert_eq!(known("blobs").modes, [Mode::Merge]);
        assert_eq!(known("max-shards").modes, [Mode::Plan]);
        assert_eq!(known("shard").modes, [Mode::Shard]);
        assert_eq!(known("filter").modes, [Mode::Run, Mode::Plan]);
        assert_eq!(known("comment").modes, [Mode::Run, Mode::Merge]);
        assert_eq!(
            known("threshold").modes,
            [Mode::Run, Mode::Shard, Mode::Merge]
        );
        assert_eq!(known("plan").modes, [Mode::Plan, Mode::Shard, Mode::Merge]);
        for absent in [
            "help",
            "color",
            "shards",
            "version",
            "compat",
            "reuse-server",
        ] {
            assert!(!all.iter().any(|it| it.name == absent), "{absent}");
        }
    }
}
