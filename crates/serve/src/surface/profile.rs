//! Named contents of the server, and the part of them that was asked for.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::official::TABLE;
use super::resources::{RESOURCES, TEMPLATES};
use super::tools::BenchTool;

/// A named content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// The inventory of the official suite, and the bench tools.
    #[default]
    Conformance,
    /// One tool and nothing else.
    Minimal,
    /// Every capability declared, every list empty.
    Empty,
    /// `conformance` at page size 2.
    Paginated,
    /// The twelve tools that gateways are tested with, and nothing else.
    Gateway,
}

impl Profile {
    /// All profiles, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::Conformance,
        Self::Minimal,
        Self::Empty,
        Self::Paginated,
        Self::Gateway,
    ];

    /// As it is written on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conformance => "conformance",
            Self::Minimal => "minimal",
            Self::Empty => "empty",
            Self::Paginated => "paginated",
            Self::Gateway => "gateway",
        }
    }

    /// Its content, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Conformance => "every tool, resource and prompt",
            Self::Minimal => "one tool and nothing else",
            Self::Empty => "every capability declared, every list empty",
            Self::Paginated => "conformance at page size 2",
            Self::Gateway => "tools that show what a gateway does to calls",
        }
    }

    /// The profile of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// Globs over names and URIs that keep or drop parts of a profile.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// `--tools`: only these.
    pub tools: Vec<String>,
    /// `--resources`: only these URIs.
    pub resources: Vec<String>,
    /// `--prompts`: only these.
    pub prompts: Vec<String>,
    /// `--disable`: none of these, of any kind.
    pub disable: Vec<String>,
}

/// Whether the tools that touch files are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileTools {
    /// With `--files`.
    Offered,
    /// Without.
    Absent,
}

/// The tools, prompts and resources of one server.
#[derive(Debug, Clone)]
pub struct Offer {
    pub(super) tools: Vec<&'static BenchTool>,
    /// URIs.
    pub(super) resources: Vec<&'static str>,
    /// URI templates.
    pub(super) templates: Vec<&'static str>,
    pub(super) prompts: Vec<&'static str>,
    pub(super) page_size: Option<usize>,
    /// Whether more than tools is declared.
    pub(super) declares_all: bool,
}

impl Offer {
    /// The part of `profile` that `selection` names; the error names the invalid glob.
    pub fn new(
        profile: Profile,
        selection: &Selection,
        page_size: Option<usize>,
        files: FileTools,
    ) -> Result<Self, String> {
        let disabled = globs("--disable", &selection.disable)?;
        let keeps = |flag: &str, only: &[String]| -> Result<_, String> {
            let all = only.is_empty();
            let only = globs(flag, only)?;
            let disabled = disabled.clone();
            Ok(move |name: &str| (all || only.is_match(name)) && !disabled.is_match(name))
        };
        let keeps_tool = keeps("--tools", &selection.tools)?;
        let keeps_resource = keeps("--resources", &selection.resources)?;
        let keeps_prompt = keeps("--prompts", &selection.prompts)?;
        let everything = matches!(profile, Profile::Conformance | Profile::Paginated);
        let tools = match profile {
            Profile::Conformance | Profile::Paginated => TABLE.tools.as_slice(),
            // The list begins with the simplest one.
            Profile::Minimal => TABLE.tools.get(..1).unwrap_or_default(),
            Profile::Empty => &[],
            Profile::Gateway => &TABLE.gateway,
        };
        let there = |tool: &&BenchTool| files == FileTools::Offered || !tool.touches_files();
        let tools = tools.iter().filter(there);
        Ok(Self {
            tools: tools.filter(|tool| keeps_tool(&tool.name)).collect(),
            resources: listed(everything, RESOURCES.iter().map(|r| r.uri), &keeps_resource),
            templates: listed(everything, TEMPLATES.iter().copied(), &keeps_resource),
            prompts: listed(everything, prompts(), &keeps_prompt),
            page_size: page_size.or((profile == Profile::Paginated).then_some(2)),
            declares_all: !matches!(profile, Profile::Minimal | Profile::Gateway),
        })
    }
}

impl Offer {
    /// The tools by name, in the order of the list.
    pub fn tool_names(&self) -> Vec<&'static str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }
}

impl Default for Offer {
    fn default() -> Self {
        let everything = Selection::default();
        let offer = Self::new(Profile::default(), &everything, None, FileTools::Absent);
        #[expect(
            clippy::expect_used,
            reason = "only a glob can be wrong, and there is none"
        )]
        offer.expect("no glob is wrong")
    }
}

fn prompts() -> impl Iterator<Item = &'static str> {
    TABLE.prompts.iter().map(|prompt| prompt.name.as_str())
}

fn listed(
    everything: bool,
    names: impl Iterator<Item = &'static str>,
    keeps: impl Fn(&str) -> bool,
) -> Vec<&'static str> {
    names.filter(|name| everything && keeps(name)).collect()
}

fn globs(flag: &str, patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = Glob::new(pattern)
            .map_err(|error| format!("`{pattern}` of {flag} is not a glob: {}", error.kind()))?;
        set.add(glob);
    }
    set.build().map_err(|error| error.to_string())
}
