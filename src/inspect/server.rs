//! A server that is asked questions: started in its place or reached, one session on it, and the end of both.

use std::{
    sync::Arc,
    time::{Duration, Instant as StdInstant},
};

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use host::{
    container::image::ReadyImage,
    host::{Ended, Host, Peer, Server, Start},
    launch::spelled,
    pace::Until,
    place::Place,
    process::Patience,
    remote::free_port,
};
use mcp::{
    observation::{
        Observation,
        disruption::{Disruption, DisruptionKind, Phase},
        finding::Finding,
        process::StderrTail,
    },
    script::{
        client::{
            ClientBehaviour, ElicitationAction, ElicitationReplies, ElicitationReply,
            RevisionWanted, SamplingReply,
        },
        subject::{PromptsCall, ResourcesAction, ResourcesCall, Subject, ToolCall},
        template::{Bindings, Template, UnknownNames, ValueTemplate},
    },
    session::{Hooks, Listed, OnEnd, Script, Session},
    transport::clock::JobClock,
};
use suite::model::{runtime_rules::Lookup, server::Target};

use super::{catalog::Offer, effect::Effects};

/// What is asked, and how long each step of it may take.
pub(crate) struct Asked<'a> {
    /// The server.
    pub(crate) target: &'a Target,
    /// What the client declares.
    pub(crate) declares: Declares,
    /// The revision to speak.
    pub(crate) revision: RevisionWanted,
    /// What servers are started with.
    pub(crate) host: &'a Host,
    /// What the user says of its tools.
    pub(crate) effects: &'a Effects,
    /// The image of its container, when it has one.
    pub(crate) image: Option<Arc<ReadyImage>>,
    /// The time for start and handshake together, for the lists, and for each call.
    pub(crate) timeout: Duration,
}

/// A server with a session on it.
pub(crate) struct Open {
    session: Box<Session>,
    peer: Peer,
    place: Place,
    bindings: Bindings,
    timeout: Duration,
    interrupt: CancellationToken,
    /// What was found in the lists.
    noted: Vec<Finding>,
}

/// A question that was not answered.
#[derive(Debug)]
pub(crate) struct Unanswered {
    /// What went wrong, and what to try.
    pub(crate) disruption: Disruption,
    /// The end of what the server wrote to stderr.
    pub(crate) stderr: StderrTail,
}

impl From<Disruption> for Unanswered {
    fn from(disruption: Disruption) -> Self {
        let stderr = StderrTail::default();
        Self { disruption, stderr }
    }
}

/// What the client declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declares {
    /// Everything: some servers list more to such a client.
    Everything,
    /// Nothing, as an assertion's client that says nothing of it.
    Nothing,
}

impl Asked<'_> {
    /// The same server, asked on another revision.
    pub(crate) fn on(&self, revision: RevisionWanted) -> Asked<'_> {
        Asked {
            revision,
            image: self.image.clone(),
            ..*self
        }
    }

    /// Whether a signal ended the work.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.host.interrupt.is_cancelled()
    }

    /// Starts the server in a fresh place and shakes hands.
    pub(crate) async fn open(&self) -> Result<Open, Unanswered> {
        let deadline = Instant::now() + self.timeout;
        let mut open = self.connected().await?;
        let interrupt = &self.host.interrupt;
        let greeted = tokio::select! {
            greeted = open.session.greet(&open.bindings, deadline) => greeted,
            () = interrupt.cancelled() => Err("interrupted".to_owned()),
        };
        let Err(message) = greeted else {
            return Ok(open);
        };
        let disruption = Disruption::new(DisruptionKind::Transport, Phase::Handshake, message);
        let stderr = open.end(self.host).await.stderr;
        Err(Unanswered { disruption, stderr })
    }

    /// Starts the server in a fresh place, or reaches it. No handshake is made before the first question that needs one.
    pub(crate) async fn connected(&self) -> Result<Open, Disruption> {
        let mut bindings = Bindings {
            environment: Arc::clone(&self.host.environment),
            // What is typed on the command line may hold braces of its own.
            unknown: UnknownNames::Keep,
            ..Bindings::default()
        };
        let until = Until {
            deadline: StdInstant::now() + self.timeout,
            timeout: self.timeout,
            interrupt: self.host.interrupt.clone(),
        };
        let image = self.image.as_deref();
        let fixture = self.host.fixture.as_ref();
        let place = Place::new((self.target, image), fixture, &bindings, &until).await?;
        bindings.fixture = place.fixture_path();
        let start = Start {
            target: self.target,
            bindings: &bindings,
            place: &place,
            image,
            lookup: Lookup::default(),
            clock: JobClock::start(),
            timeout: self.timeout,
            assertion: "",
        };
        let started = match spelled(self.target, &bindings, free_port) {
            Ok(spelled) => {
                let (mut waited, never) = (Duration::ZERO, std::future::pending());
                Box::pin(self.host.start(spelled, &start, &mut waited, never)).await
            }
            Err(disruption) => Err(disruption),
        };
        match started {
            Ok(Server { connection, peer }) => {
                let client = client(self.revision, self.declares);
                Ok(Open {
                    session: Session::open(connection, &client, Some(peer.end_watch())),
                    peer,
                    place,
                    bindings,
                    timeout: self.timeout,
                    interrupt: self.host.interrupt.clone(),
                    noted: Vec::new(),
                })
            }
            Err(disruption) => {
                // What stays of the folder is removed by the next run.
                place.close().await;
                Err(disruption)
            }
        }
    }
}

impl Open {
    /// All that the server offers, to the last page.
    pub(crate) async fn offer(&mut self) -> Offer {
        let deadline = Instant::now() + self.timeout;
        let listed = tokio::select! {
            listed = self.session.catalog(deadline) => listed,
            () = self.interrupt.cancelled() => Listed {
                missing: Some("interrupted".to_owned()),
                ..Listed::default()
            },
        };
        self.noted.extend_from_slice(&listed.catalog.findings);
        Offer::new(self.session.facts(), listed)
    }

    /// Calls a tool once.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Observation {
        self.perform(&calling(tool, arguments)).await
    }

    /// What the session noted about the protocol since the last observation.
    pub(crate) fn take_findings(&mut self) -> Vec<Finding> {
        let mut noted = std::mem::take(&mut self.noted);
        noted.append(&mut self.session.take_findings());
        noted
    }

    /// Whether the session can go on.
    pub(crate) fn is_usable(&self) -> bool {
        self.session.is_usable() && self.peer.status().is_none()
    }

    /// Does what an assertion would do.
    pub(crate) async fn perform(&mut self, subject: &Subject) -> Observation {
        let script = Script {
            setup: &[],
            subject,
            hooks: &Hooks {
                after_step: Box::new(|_, _| None),
                awaited: Box::new(|_, _| None),
                on_end: OnEnd::Disrupts,
            },
        };
        let deadline = Instant::now() + self.timeout;
        let mut bindings = self.bindings.clone();
        let seen = Box::pin(self.session.perform(script, &mut bindings, deadline));
        tokio::select! {
            seen = seen => seen,
            () = self.interrupt.cancelled() => Observation {
                disruption: Some(Disruption::new(
                    DisruptionKind::Interrupted,
                    Phase::Subject,
                    "interrupted",
                )),
                ..Observation::default()
            },
        }
    }

    /// What it wrote to stderr so far.
    pub(crate) fn stderr(&self) -> StderrTail {
        self.peer.stderr()
    }

    /// Closes the session and ends the server, at the same time, because a server may still write while it ends.
    pub(crate) async fn end(self, host: &Host) -> Ended {
        self.end_within(Patience::default(), host).await
    }

    /// The same, with this patience.
    pub(crate) async fn end_within(self, patience: Patience, host: &Host) -> Ended {
        let Self {
            session,
            mut peer,
            place,
            ..
        } = self;
        peer.ask();
        let closing = session.close(Instant::now() + patience.altogether());
        let ended = if peer.outlives_its_sessions() {
            Box::pin(closing).await;
            Box::pin(peer.end(patience, &host.interrupt)).await
        } else {
            let ending = Box::pin(peer.end(patience, &host.interrupt));
            // The streams end with the process.
            let (_, ended) = tokio::join!(Box::pin(closing), ending);
            ended
        };
        place.close().await;
        ended
    }
}

/// A call of a tool.
pub(crate) fn calling(tool: &str, arguments: Value) -> Subject {
    Subject::Tool(ToolCall {
        tool: Template::new(tool),
        args: ValueTemplate::new(arguments),
    })
}

/// A get of a prompt.
pub(crate) fn getting(prompt: &str, arguments: Value) -> Subject {
    Subject::Prompts(PromptsCall::Get {
        name: Template::new(prompt),
        arguments: ValueTemplate::new(arguments),
    })
}

/// A read of a resource.
pub(crate) fn reading(uri: &str) -> Subject {
    Subject::Resources(Box::new(ResourcesCall {
        subscribe: None,
        action: Some(ResourcesAction::Read(Template::new(uri))),
        unsubscribe: None,
        within: None,
    }))
}

/// The client. One that declares everything answers with fixed values.
fn client(revision: RevisionWanted, declares: Declares) -> ClientBehaviour {
    if declares == Declares::Nothing {
        return ClientBehaviour {
            revision,
            ..ClientBehaviour::default()
        };
    }
    ClientBehaviour {
        revision,
        roots: Some(Vec::new()),
        sampling: Some(vec![SamplingReply::Message {
            text: Template::new("This is a fixed reply."),
            model: Template::new("mock"),
            stop_reason: Template::new("endTurn"),
        }]),
        elicitation: Some(ElicitationReplies::InOrder(vec![ElicitationReply {
            action: ElicitationAction::Decline,
            content: None,
        }])),
        tasks: None,
    }
}
