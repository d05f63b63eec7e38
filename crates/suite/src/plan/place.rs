//! Where the server of a job runs: as the suite says, or in a container because the command line wants it.

use std::sync::Arc;

use crate::model::{
    container::{Container, ImageBase, Prepare},
    server::{Launch, Program, Server, Target},
};

/// `--isolation`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Processes, and containers where the suite or `--docker` names one.
    #[default]
    AsWritten,
    /// Processes only.
    Process,
    /// Containers only.
    Container,
}

/// What the command line and the settings say about places.
#[derive(Debug, Default)]
pub struct Places {
    /// `--isolation`
    pub isolation: Isolation,
    /// `--docker`: the image of servers that name none.
    pub image: Option<ImageBase>,
    /// `--prepare`: what is done once to that image, where the suite does not say.
    pub prepare: Option<Prepare>,
    /// The settings' container.
    pub container: Option<Container>,
}

impl Places {
    /// The server in its place, or why it cannot be there.
    pub(super) fn server(&self, server: &Arc<Server>) -> Result<Arc<Server>, String> {
        let wants_container = match self.isolation {
            Isolation::Container => true,
            Isolation::AsWritten => self.image.is_some(),
            Isolation::Process => false,
        };
        let changes = match &server.target {
            Target::Container { .. } => true,
            Target::Process(_) | Target::Builtin { .. } => wants_container,
            Target::Url { .. } | Target::None => false,
        };
        if changes {
            self.place(server).map(Arc::new)
        } else {
            Ok(Arc::clone(server))
        }
    }

    fn place(&self, server: &Server) -> Result<Server, String> {
        if let Some(launch) = server.target.launch() {
            check_directory(launch)?;
        }
        let target = match &server.target {
            Target::Process(launch) => Target::Container {
                container: Box::new(self.fresh()?),
                program: Program::Launched(launch.clone()),
                served: None,
            },
            Target::Builtin {
                profile,
                args,
                launch,
            } => Target::Container {
                container: Box::new(self.own()),
                program: Program::Builtin {
                    profile: profile.clone(),
                    args: args.clone(),
                    launch: launch.clone(),
                },
                served: None,
            },
            Target::Container {
                container,
                program,
                served,
            } => {
                if self.isolation == Isolation::Process {
                    return Err("the server wants a container (`docker`), \
                                and `--isolation process` allows none: give it a target without `docker` under \
                                `targets`, and choose that with `--target`"
                        .to_owned());
                }
                let mut container = container.clone();
                if container.image.is_none() {
                    container.image = Some(self.image.clone().ok_or_else(no_image)?);
                    container.prepare = container.prepare.or_else(|| self.prepare.clone());
                }
                Target::Container {
                    container,
                    program: program.clone(),
                    served: served.clone(),
                }
            }
            target @ (Target::Url { .. } | Target::None) => target.clone(),
        };
        Ok(Server { target })
    }

    /// The container of a server that says nothing about one.
    fn fresh(&self) -> Result<Container, String> {
        let own = Container {
            image: self.image.clone(),
            prepare: self.prepare.clone(),
            ..Container::default()
        };
        let container = own.over(self.container.clone().unwrap_or_default());
        match container.image {
            Some(_) => Ok(container),
            None => Err(no_image()),
        }
    }

    /// The container of the embedded server, which brings its own image.
    fn own(&self) -> Container {
        let base = self.container.clone().unwrap_or_default();
        Container {
            image: Some(ImageBase::Own),
            prepare: None,
            platform: None,
            ..base
        }
    }
}

/// A folder beside the suite is not in a container, and a folder of that name in the image would be another one.
fn check_directory(launch: &Launch) -> Result<(), String> {
    let directory = launch.directory.as_ref();
    match directory.filter(|directory| directory.folder.is_some()) {
        None => Ok(()),
        Some(beside) => Err(format!(
            "`cwd: {}` is a folder beside the suite, and the server runs in a container: \
             write an absolute path inside the image, or leave it out for the image's own",
            beside.place.text
        )),
    }
}

fn no_image() -> String {
    "nothing names the image of its container: give `--docker IMAGE` (the action's input `image: IMAGE`), \
     or `docker: {image: …}` in mcp-assert.yaml or under `server`; or run it as a process with \
     `--isolation process` (the action's input `isolation: process`)"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Isolation, Places};
    use crate::model::{
        container::{Container, ImageBase, Prepare},
        server::{Directory, Launch, Server, Target},
    };
    use mcp::script::template::Template;

    fn image(name: &str) -> ImageBase {
        ImageBase::from_text(name)
    }

    fn placed(places: &Places, target: Target) -> Result<Option<ImageBase>, String> {
        let server = Arc::new(Server { target });
        let found = places.server(&server)?;
        Ok(match &found.target {
            Target::Container { container, .. } => container.image.clone(),
            Target::Process(_) | Target::Builtin { .. } | Target::Url { .. } | Target::None => None,
        })
    }

    fn process() -> Target {
        Target::Process(Launch::default())
    }

    fn builtin() -> Target {
        Target::Builtin {
            profile: "conformance".into(),
            args: Vec::new(),
            launch: Launch::default(),
        }
    }

    fn container(name: Option<&str>) -> Target {
        Target::Container {
            container: Box::new(Container {
                image: name.map(ImageBase::from_text),
                ..Container::default()
            }),
            program: super::Program::Launched(Launch::default()),
            served: None,
        }
    }

    #[test]
    fn a_folder_beside_the_suite_is_not_in_a_container() {
        let started = |folder: Option<&str>| {
            Target::Process(Launch {
                directory: Some(Directory {
                    folder: folder.map(Into::into),
                    place: Template::new("app"),
                }),
                ..Launch::default()
            })
        };
        let typed = Places {
            image: Some(image("typed")),
            ..Places::default()
        };
        let refused = placed(&typed, started(Some("/home/me/evals"))).unwrap_err();
        assert!(refused.contains("`cwd: app`"), "{refused}");
        assert!(placed(&typed, started(None)).is_ok());
        assert!(placed(&Places::default(), started(Some("/home/me/evals"))).is_ok());
    }

    #[test]
    fn the_command_line_places_what_the_suite_does_not() {
        let places = |isolation, name: Option<&str>, settings: Option<&str>| Places {
            isolation,
            image: name.map(ImageBase::from_text),
            prepare: None,
            container: settings.map(|name| Container {
                image: Some(image(name)),
                ..Container::default()
            }),
        };
        let (written, process_only, all) = (
            Isolation::AsWritten,
            Isolation::Process,
            Isolation::Container,
        );
        let plain = places(written, None, Some("settings"));
        assert_eq!(placed(&plain, process()), Ok(None));
        assert_eq!(placed(&plain, builtin()), Ok(None));
        assert_eq!(
            placed(&plain, container(Some("own"))),
            Ok(Some(image("own")))
        );
        let typed = places(written, Some("typed"), Some("settings"));
        assert_eq!(placed(&typed, process()), Ok(Some(image("typed"))));
        assert_eq!(placed(&typed, builtin()), Ok(Some(ImageBase::Own)));
        assert_eq!(placed(&typed, container(None)), Ok(Some(image("typed"))));
        assert_eq!(
            placed(&typed, container(Some("own"))),
            Ok(Some(image("own")))
        );
        let forced = places(all, None, Some("settings"));
        assert_eq!(placed(&forced, process()), Ok(Some(image("settings"))));
        let nothing = places(all, None, None);
        assert!(
            placed(&nothing, process())
                .unwrap_err()
                .contains("--docker")
        );
        assert_eq!(placed(&nothing, builtin()), Ok(Some(ImageBase::Own)));
        let refused = places(process_only, None, None);
        assert_eq!(placed(&refused, process()), Ok(None));
        assert!(placed(&refused, container(Some("own"))).is_err());
    }

    #[test]
    fn the_image_of_the_command_line_is_prepared_as_the_command_line_says() {
        let prepare = |line: &str| Prepare {
            run: vec![line.to_owned()],
            copy: Vec::new(),
            env: Vec::new(),
            network: None,
            timeout: None,
        };
        let places = |settings: Option<Container>| Places {
            isolation: Isolation::Container,
            image: Some(image("typed")),
            prepare: Some(prepare("typed")),
            container: settings,
        };
        let case = |settings: Option<Container>, target: Target, wanted: Option<&str>| {
            let places = places(settings);
            let server = Arc::new(Server { target });
            let found = places.server(&server).unwrap();
            let Target::Container { container, .. } = &found.target else {
                panic!("it is in no container");
            };
            assert_eq!(container.prepare, wanted.map(prepare));
        };
        case(None, process(), Some("typed"));
        case(None, container(None), Some("typed"));
        // Another image, and one that is this program.
        case(None, container(Some("own")), None);
        case(None, builtin(), None);
        let everywhere = Container {
            prepare: Some(prepare("settings")),
            ..Container::default()
        };
        case(Some(everywhere), process(), Some("typed"));
        let own = Target::Container {
            container: Box::new(Container {
                prepare: Some(prepare("own")),
                ..Container::default()
            }),
            program: super::Program::Launched(Launch::default()),
            served: None,
        };
        case(None, own, Some("own"));
    }
}
