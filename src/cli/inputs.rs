//! The inputs of the GitHub action, generated from the options of `ci`, `ci plan` and `ci merge`. Only `mode` and
//! `token` have no option.

use clap::{Arg, ArgAction, Command, CommandFactory, builder::Str};

use crate::cli::{Cli, ci::OF_THE_WHOLE};

/// The modes of the action.
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

/// The format of an input's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `true` or `false`.
    Switch,
    /// One value per line.
    List,
    /// A single value.
    Text,
}

/// An input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    /// The name of input and option.
    pub(crate) name: String,
    /// The option's aliases.
    pub(crate) aliases: Vec<String>,
    /// The description, without a final period.
    pub(crate) help: String,
    /// The default; may be empty.
    pub(crate) default: String,
    /// The format.
    pub(crate) shape: Shape,
    /// The values, each with what it means where that is said; empty if they cannot be listed.
    pub(crate) values: Vec<(String, String)>,
    /// What its help calls a value, such as `PATH`.
    pub(crate) placeholder: String,
    /// The modes that accept it.
    pub(crate) modes: Vec<Mode>,
}

/// Options without an input: the number of shards follows from durations, and the others are for users of the Go tool's
/// `ci`. `compat: true` of the settings applies in the action too.
const NO_INPUTS: [&str; 3] = ["shards", "compat", "no_compat"];

impl Mode {
    /// All modes.
    pub(crate) const ALL: [Self; 4] = [Self::Run, Self::Plan, Self::Shard, Self::Merge];

    /// The value of the input `mode`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Plan => "plan",
            Self::Shard => "shard",
            Self::Merge => "merge",
        }
    }

    /// The command of the mode.
    pub(crate) fn verb(self) -> &'static [&'static str] {
        match self {
            Self::Run | Self::Shard => &["ci"],
            Self::Plan => &["ci", "plan"],
            Self::Merge => &["ci", "merge"],
        }
    }

    /// Whether the mode accepts an option, by its id.
    fn uses(self, option: &str) -> bool {
        if NO_INPUTS.contains(&option) {
            return false;
        }
        match self {
            // `--shard` selects the mode `shard`, and only shards read the plan.
            Self::Run => option != "shard" && option != "plan",
            // The plan selects assertions, and the merge judges and reports.
            Self::Shard => !OF_THE_WHOLE.contains(&option),
            Self::Plan | Self::Merge => true,
        }
    }
}

/// All inputs with an option, in the order of the options.
pub(crate) fn inputs() -> Vec<Input> {
    let mut root = Cli::command();
    root.build();
    let mut all: Vec<Input> = Vec::new();
    for mode in Mode::ALL {
        for argument in options(&root, mode.verb()) {
            let name = argument.get_long().unwrap_or_default();
            if !mode.uses(argument.get_id().as_str()) {
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

/// The options of a command.
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
        values: values(argument, shape),
        placeholder: placeholder(argument).unwrap_or_default().to_owned(),
        modes: vec![mode],
    }
}

fn placeholder(argument: &Arg) -> Option<&str> {
    argument.get_value_names()?.first().map(Str::as_str)
}

/// The values of an option: those that clap knows, else those of the name that its help gives the value (`auto|off|PATH`).
fn values(argument: &Arg, shape: Shape) -> Vec<(String, String)> {
    let bare = |value: &str| (value.to_owned(), String::new());
    if shape == Shape::Switch {
        return ["true", "false"].map(bare).into();
    }
    let known = argument.get_possible_values();
    if !known.is_empty() {
        let known = known.iter().map(|value| {
            let help = value.get_help().map(ToString::to_string);
            (value.get_name().to_owned(), help.unwrap_or_default())
        });
        return known.collect();
    }
    let alternatives = placeholder(argument).filter(|name| name.contains('|'));
    let alternatives = alternatives.map(|name| name.split('|').map(bare).collect());
    alternatives.unwrap_or_default()
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
        let values = |name| -> Vec<String> {
            let values = known(name).values.iter();
            values.map(|(value, _)| value.clone()).collect()
        };
        assert_eq!(values("annotations"), ["auto", "off"]);
        assert_eq!(values("baseline"), ["auto", "build", "off", "PATH"]);
        assert_eq!(values("verbose"), ["true", "false"]);
        assert!(values("jobs").is_empty());
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
        assert_eq!(known("reuse-server").modes, [Mode::Run, Mode::Shard]);
        assert_eq!(known("fail-flaky").modes, known("threshold").modes);
        for absent in ["help", "color", "shards", "version", "compat"] {
            assert!(!all.iter().any(|it| it.name == absent), "{absent}");
        }
    }
}
