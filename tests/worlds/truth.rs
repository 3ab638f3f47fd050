//! What really happened in a world: the facts that witnesses may have seen, in the order of true time.

/// Nanoseconds since the epoch, by a clock that nobody has.
pub(crate) type Nanos = i64;

pub(crate) const MILLISECOND: Nanos = 1_000_000;
pub(crate) const SECOND: Nanos = 1_000 * MILLISECOND;

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

/// Revisions of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    R2024,
    March2025,
    June2025,
    November2025,
    R2026,
}

impl Revision {
    pub(crate) const ALL: [Self; 5] = [Self::R2024, Self::March2025, Self::June2025, Self::November2025, Self::R2026];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::R2024 => "2024-11-05",
            Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::R2026 => "2026-07-28",
        }
    }

    /// There is no handshake and no session, and servers ask nothing by requests of their own.
    pub(crate) fn is_stateless(self) -> bool {
        self == Self::R2026
    }
}

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// It computes.
    Pure,
    /// It reads from a service.
    Fetch,
    /// It makes a service do something.
    Pay,
    /// It changes something on its own host, and tells nobody.
    Save,
}

impl Nature {
    /// Whether another execution adds to the world.
    pub(crate) fn adds(self) -> bool {
        matches!(self, Self::Pay | Self::Save)
    }

    pub(crate) fn tool(self) -> &'static str {
        match self {
            Self::Pure => "add",
            Self::Fetch => "lookup",
            Self::Pay => "pay",
            Self::Save => "save_note",
        }
    }
}

/// One life of a server process.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    /// Which server: lives of one server follow each other, replicas live side by side.
    pub(crate) server: usize,
    pub(crate) pid: u32,
    pub(crate) session: String,
    pub(crate) from: Nanos,
    /// It dies by itself; nothing is done or answered from then on.
    pub(crate) dies: Option<Nanos>,
}

impl Life {
    pub(crate) fn lives(&self, at: Nanos) -> bool {
        self.from <= at && self.dies.is_none_or(|dies| at < dies)
    }
}

/// What one call of a tool is wanted for; all its attempts carry the same arguments.
#[derive(Clone, Debug)]
pub(crate) struct Intent {
    pub(crate) nature: Nature,
    /// What the client calls the tool; one that the server does not have is called here and there.
    pub(crate) tool: String,
    pub(crate) amount: u32,
    /// The arguments do not fit the tool's model.
    pub(crate) misfit: bool,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Initialize,
    Discover,
    ToolsList,
    Ping,
    Call { intent: usize },
}

/// Who wrote an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    Server,
    Gateway,
}

/// The body of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Result,
    ToolError(String),
    /// A tool wants to know more, and gives its state away.
    InputRequired(String),
    Error {
        code: i64,
        message: String,
        nameless: bool,
    },
    /// HTTP alone: nothing of JSON-RPC.
    Plain(&'static str),
}

/// An answer as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) author: Author,
    pub(crate) status: u16,
    pub(crate) body: Body,
}

/// How it ended for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It is still open where the world ends.
    Open,
    Answered(Answer),
    /// The client stopped waiting.
    TimedOut,
    /// Somebody told the client to stop.
    Cancelled,
    /// The connection or the pipe closed.
    Closed,
    /// It was never sent: nothing was there to send it to.
    NotSent,
}

/// A trace context (W3C `traceparent`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) trace: u128,
    pub(crate) span: u64,
}

impl Context {
    pub(crate) fn parent(self) -> String {
        format!("00-{:032x}-{:016x}-01", self.trace, self.span)
    }
}

/// Where requests carry their trace context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) in_meta: bool,
    pub(crate) in_header: bool,
}

/// One request of the client.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) ask: Ask,
    /// Which life the client believes to talk to: the session.
    pub(crate) life: usize,
    /// Which client: each has a session of its own, and counts for itself.
    pub(crate) client: usize,
    pub(crate) id: u64,
    /// The state that it goes on with.
    pub(crate) state: Option<String>,
    /// The client's span, where it traces.
    pub(crate) context: Option<Context>,
    /// The server answers with an event stream.
    pub(crate) streams: bool,
    pub(crate) ending: Ending,
}

/// What a server asks a client in the middle of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Sampling,
    Elicitation,
    Roots,
    Ping,
}

/// A request of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) dispatch: usize,
    /// Servers count for themselves.
    pub(crate) id: u64,
    pub(crate) topic: Topic,
}

/// One arrival of a request at a server process.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub(crate) attempt: usize,
    pub(crate) life: usize,
    /// The context that arrives with it: the client's own, or that of a span of the gateway in the same trace.
    pub(crate) context: Option<Context>,
    /// The id that it has there: that of the client, or one of the gateway's own.
    pub(crate) id: u64,
    /// The tool's own code was entered.
    pub(crate) entered: bool,
    /// Changes that it made, here or elsewhere.
    pub(crate) effects: u32,
    /// Contacts with the outside that it tried.
    pub(crate) contacts: u32,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub(crate) at: Nanos,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Spawned {
        life: usize,
    },
    Exited {
        life: usize,
    },
    /// The client tried to send, and had nowhere to.
    NotSent {
        attempt: usize,
    },
    Sent {
        attempt: usize,
    },
    Delivered {
        attempt: usize,
        answer: Answer,
    },
    /// An answer that came when nobody waited any more.
    Late {
        attempt: usize,
        answer: Answer,
    },
    TimedOut {
        attempt: usize,
    },
    /// The client told the server that it does not want the answer.
    CancelSent {
        attempt: usize,
    },
    Closed {
        attempt: usize,
    },
    /// The gateway tried a replica; where nothing answered there, the request was not forwarded.
    Tried {
        attempt: usize,
        life: usize,
        connected: bool,
    },
    /// The gateway gave its answer, after these statuses of upstreams (0: none).
    GatewayAnswered {
        attempt: usize,
        answer: Answer,
        upstream: Vec<(usize, u16)>,
        since: Nanos,
    },
    /// What the gateway got for what it had sent on.
    Returned {
        dispatch: usize,
        answer: Option<Answer>,
        since: Nanos,
    },
    Received {
        dispatch: usize,
    },
    Denied {
        dispatch: usize,
    },
    Granted {
        dispatch: usize,
    },
    Progress {
        dispatch: usize,
    },
    /// The server asks the client.
    Asked {
        question: usize,
    },
    /// The client tells the server.
    Replied {
        question: usize,
    },
    ContactSent {
        dispatch: usize,
        contact: u32,
        write: bool,
    },
    /// What the service answered; 0: nothing listened there.
    ContactAnswered {
        dispatch: usize,
        contact: u32,
        write: bool,
        status: u16,
    },
    Changed {
        dispatch: usize,
    },
    Responded {
        dispatch: usize,
        answer: Answer,
    },
    /// A contact that no call made: at the start, or in the background.
    Background {
        life: usize,
    },
}

/// A world.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) transport: Transport,
    pub(crate) revision: Revision,
    /// A gateway stands between client and servers.
    pub(crate) gateway: bool,
    pub(crate) carried: Carried,
    pub(crate) lives: Vec<Life>,
    pub(crate) intents: Vec<Intent>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) dispatches: Vec<Dispatch>,
    pub(crate) questions: Vec<Question>,
    /// In the order of true time.
    pub(crate) facts: Vec<Fact>,
}

impl World {
    pub(crate) fn dispatches_of(&self, attempt: usize) -> impl Iterator<Item = (usize, &Dispatch)> {
        self.dispatches.iter().enumerate().filter(move |(_, dispatch)| dispatch.attempt == attempt)
    }

    /// What the attempt is for, where it calls a tool.
    pub(crate) fn intent_of(&self, attempt: usize) -> Option<usize> {
        match self.attempts[attempt].ask {
            Ask::Call { intent } => Some(intent),
            _ => None,
        }
    }

    /// The session of an attempt: each client has one with each process.
    pub(crate) fn session_of(&self, attempt: usize) -> String {
        let Attempt { life, client, .. } = self.attempts[attempt];
        let session = self.lives[life].session.chars();
        if client == 0 { session.collect() } else { session.rev().collect() }
    }

    /// The attempt in the middle of which a server asks.
    pub(crate) fn asking(&self, question: usize) -> usize {
        self.dispatches[self.questions[question].dispatch].attempt
    }
}
