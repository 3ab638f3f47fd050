//! What is known after correlation: runs, calls, contacts, and the marks that prove them. Owned and small; no text.

use crate::{
    event::{
        Body, ContentKind, Direction, Origin, Pairs, Phase, PhaseEvent, ReachSource, ReachStage, RemarkKind,
        SpawnFailure, TroubleKind, Witness, Wording,
    },
    symbol::Symbol,
    time::Timestamp,
};

/// A JSON-RPC id exactly as sent: `1` and `"1"` differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RpcId {
    /// No witness recorded one.
    Unknown,
    /// `null`.
    Null,
    /// An integer that fits.
    Int(i64),
    /// A string.
    Text(Symbol),
    /// Any other JSON, as written.
    Raw(Symbol),
}

/// A place with its recorded time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Where it stands.
    pub origin: Origin,
    /// When, as recorded, read as UTC where the stamp has no zone.
    pub at: Option<Timestamp>,
}

/// How strong a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// Nothing is known.
    Absent,
    /// Something points that way.
    Hint,
    /// Follows from keys or exclusion, not from a record of it.
    Inferred,
    /// The party concerned says so.
    SelfReported,
    /// Another party saw it.
    Witnessed,
    /// Several independent witnesses agree.
    Corroborated,
}

impl Basis {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Hint => "hint",
            Self::Inferred => "inferred",
            Self::SelfReported => "self-reported",
            Self::Witnessed => "witnessed",
            Self::Corroborated => "corroborated",
        }
    }
}

/// What one witness saw of one side of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Seen {
    /// The client queued the request; it may never have been written.
    Queued,
    /// The request left the client, or passed a tap.
    Sent,
    /// The server had the request.
    Received,
    /// The server's handler was entered, or sent progress.
    Handled,
    /// Authorization was asked for.
    AuthorizationRequested,
    /// Authorization was granted.
    AuthorizationGranted,
    /// Authorization was denied.
    AuthorizationDenied,
    /// The server asked the client something inside the call.
    ServerRequest,
    /// The handler returned or raised: the work is done.
    HandlerDone,
    /// The server wrote an answer, or one passed a tap.
    Responded,
    /// The client had the answer.
    Delivered,
    /// An answer came after the caller had stopped waiting.
    LateAnswer,
    /// A further answer that differs from the first.
    OtherAnswer,
    /// The answer was made and could not be delivered.
    ReplyLost,
    /// The client had an answer and rejected it.
    AnswerRejected,
    /// The caller cancelled.
    Cancelled,
    /// The caller stopped waiting.
    TimedOut,
    /// The connection closed with the request open.
    ConnectionClosed,
    /// The process ended with the request open.
    ProcessEnded,
    /// There was no connection: not sent.
    NotConnected,
    /// The pipe broke directly under this message: not delivered.
    WriteFailed,
    /// A client says that the call failed; the number is its code.
    CallFailed,
    /// A client says that the call succeeded.
    CallSucceeded,
    /// Refused before dispatch, by the server's own log.
    RefusedBeforeDispatch,
    /// A hop says that it did not forward; the number is the status it gave, or 0.
    NotForwarded,
    /// A hop forwarded once; the number is the upstream's status.
    ForwardedOnce,
    /// A hop forwarded more than once.
    ForwardedAgain,
    /// A hop lost its upstream after forwarding.
    UpstreamBroken,
    /// A layer retried by itself.
    HiddenRetry,
    /// An identical POST of the same request; the number is its status.
    Resent,
    /// A GET with `Last-Event-ID` resumed the stream.
    Resumed,
    /// A record that may belong to this call or to another one.
    Contested,
}

/// A further sighting of a call: one row in a list that hangs on the call. At most 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// What was seen.
    pub seen: Seen,
    /// Who saw it.
    pub witness: Witness,
    /// Where and when.
    pub mark: Mark,
    /// A status, code or count that belongs to it.
    pub number: i32,
    /// The next row of the same call; of the last row, the first one.
    pub next: u32,
}

/// No row.
pub const NONE: u32 = u32::MAX;

/// The number of a [`Seen::HandlerDone`] row that says that the handler raised.
pub const RAISED: i32 = 1;
/// The number of a row of an answer that was no result.
pub const NO_RESULT: i32 = -1;

/// What the answer that decides was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AnswerKind {
    /// None was seen.
    #[default]
    None,
    /// A result that is valid for its method.
    Result,
    /// A `tools/call` result with `isError: true`.
    ToolError,
    /// A task handle.
    Task,
    /// `input_required`.
    InputRequired,
    /// A valid `error`.
    Error,
    /// An invalid `tools/call` result.
    InvalidResult,
    /// No valid envelope: wrong id, both or neither of `result` and `error`, a bad `error`.
    InvalidEnvelope,
    /// Not JSON where an answer should be.
    Malformed,
    /// An HTTP status outside 200–299.
    HttpError,
    /// An event stream that ended without the answer.
    StreamIncomplete,
    /// Given, but its content was not captured.
    NotCaptured,
    /// Nothing was sent: refused, DNS, TLS.
    NotSent,
}

impl AnswerKind {
    /// The number of a row that shows such an answer: 1 for a result, 0 where its content is not known.
    pub(super) fn number(self) -> i32 {
        match self {
            Self::Result => 1,
            Self::None | Self::NotCaptured => 0,
            _ => NO_RESULT,
        }
    }
}

/// Who wrote the failing answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Author {
    /// Nothing tells.
    #[default]
    Unknown,
    /// The server.
    Server,
    /// A gateway or proxy.
    Gateway,
    /// The client's SDK.
    Sdk,
    /// The client.
    Client,
}

/// Digest of 128 bits without the alignment of a `u128`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub [u64; 2]);

impl Key {
    /// What remains of it in the number of an event; 0 where nothing is recorded.
    pub(super) fn shortened(self) -> i64 {
        self.0[0].cast_signed()
    }
}

impl From<crate::event::Digest> for Key {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the digest")]
    fn from(digest: crate::event::Digest) -> Self {
        Self([digest.0 as u64, (digest.0 >> 64) as u64])
    }
}

/// The answer of a call, reduced to what decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AnswerFacts {
    /// What it was.
    pub kind: AnswerKind,
    /// Who wrote it.
    pub author: Author,
    /// What its error text says.
    pub wording: Wording,
    /// JSON-RPC code, or 0.
    pub code: i32,
    /// A JSON-RPC code is there.
    pub has_code: bool,
    /// Its error text names the very tool that was called, or calls the method unknown that was asked for.
    pub names_target: bool,
    /// The id of an `error` was absent, null or a literal of the SDK.
    pub foreign_id: bool,
    /// A message with the request's own id stood in the answer, whatever the HTTP status was.
    pub echoes_id: bool,
    /// Its envelope or its error has a member that no SDK writes there.
    pub beside: bool,
}

impl AnswerFacts {
    /// What a server's own record tells of its answer: its kind, and its code where there is one.
    pub(super) fn by_server(kind: AnswerKind, code: Option<i32>) -> Self {
        Self { kind, author: Author::Server, code: code.unwrap_or(0), has_code: code.is_some(), ..Self::default() }
    }
}

/// The HTTP side of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpFacts {
    /// POSTs with this very request.
    pub posts: u16,
    /// Status of the last one, or 0.
    pub status: u16,
    /// Events in the answer's stream.
    pub events: u16,
    /// Kind of the answer's body.
    pub content: ContentKind,
    /// State of the answer's body.
    pub body: Body,
    /// `Retry-After` in milliseconds, or [`NONE`].
    pub retry_after: u32,
    /// A challenge was given with a 401.
    pub challenge: bool,
    /// The stream had an event with an id.
    pub resumable: bool,
    /// The longest duration that is recorded for one of its exchanges, in milliseconds, or [`NONE`].
    pub took: u32,
    /// An answer to one of its POSTs tells of one that was made behind whoever gave its status.
    pub behind: bool,
    /// An answer to one of its POSTs had an error status and said something in words that no door is known for.
    pub unknown_words: bool,
    /// An answer to one of its POSTs had an error status and a body that the capture does not hold whole.
    pub unread: bool,
    /// The headers of the request were recorded, and none of them is an `Mcp-Session-Id`.
    pub nameless: bool,
    /// A browser could not connect, and may have sent it before on a connection that it had kept open.
    pub reconnected: bool,
}

impl HttpFacts {
    /// Keeps the longest duration.
    pub fn note_duration(&mut self, milliseconds: Option<u32>) {
        let Some(took) = milliseconds else { return };
        self.took = if self.took == NONE { took } else { self.took.max(took) };
    }

    /// Adds what another view of the same exchange shows. What one of them read was not unread.
    pub(super) fn add_view(&mut self, other: Self) {
        let read = |view: &Self| !view.unread && matches!(view.body, Body::Parsed | Body::Foreign | Body::Malformed);
        self.behind |= other.behind;
        self.unknown_words |= other.unknown_words;
        self.nameless |= other.nameless;
        self.reconnected |= other.reconnected;
        self.unread = (self.unread || other.unread) && !read(self) && !read(&other);
        self.note_duration(Some(other.took).filter(|took| *took != NONE));
    }
}

/// One JSON-RPC request on one hop, seen by any number of witnesses. At most 192 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The run it belongs to: an index.
    pub run: u32,
    /// The conversation that its first witness recorded: an index.
    pub strand: u32,
    /// `Mcp-Session-Id`.
    pub session: Option<Symbol>,
    /// JSON-RPC id.
    pub id: RpcId,
    /// JSON-RPC method.
    pub method: Symbol,
    /// Tool, resource, prompt or task.
    pub target: Option<Symbol>,
    /// Digest of method, target and canonical arguments; zero where no witness recorded the arguments.
    pub args: Key,
    /// Sketch of the arguments.
    pub pairs: Pairs,
    /// Shortened digest of an idempotency key; 0 where none.
    pub idempotency_key: u64,
    /// Shortened digest of the `requestState` that it carries; 0 where none.
    pub state_sent: u64,
    /// Shortened digest of the `requestState` that its answer gave; 0 where none.
    pub state_given: u64,
    /// First sighting of the request.
    pub asked: Option<Mark>,
    /// First sighting of the answer that decides.
    pub answered: Option<Mark>,
    /// The last of its further sightings, or [`NONE`].
    pub sightings: u32,
    /// Revision that this request speaks, where it says so itself.
    pub revision: Option<Symbol>,
    /// The HTTP side: an index, or [`NONE`].
    pub http: u32,
    /// The answer.
    pub answer: AnswerFacts,
    /// What the first witness saw of the request.
    pub asked_as: Seen,
    /// What the first witness saw of the answer.
    pub answered_as: Seen,
    /// Who saw it first.
    pub witness: Witness,
    /// Which way it went.
    pub direction: Direction,
    /// `inputResponses` is present.
    pub continues: bool,
    /// A link was refused: ids collide, candidates remain.
    pub contested: bool,
    /// The answer came through a tap or proxy that recorded method and id only.
    pub thin: bool,
    /// Between the request and its answer the server wrote something that names no call.
    pub stirred: bool,
    /// How the run was found for it.
    pub joined: Basis,
}

/// One contact with the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// First record of it.
    pub attempt: Mark,
    /// Record of its answer.
    pub result: Option<Mark>,
    /// A second, independent record of the same contact.
    pub corroborated: Option<Mark>,
    /// How far it got.
    pub stage: ReachStage,
    /// Who vouches for it.
    pub vouched: ReachSource,
    /// Which witness recorded it.
    pub witness: Witness,
    /// `scheme://host:port` or a name.
    pub target: Symbol,
    /// Path.
    pub path: Option<Symbol>,
    /// HTTP method.
    pub method: Option<Symbol>,
    /// Status of the answer, or 0.
    pub status: u16,
    /// The remote refused to apply it.
    pub refused: bool,
    /// Its record tells of an error, whatever its status is.
    pub failed: bool,
    /// What it is.
    pub kind: ContactKind,
    /// It went to this very host.
    pub local: bool,
    /// A library announced retries of its own.
    pub retries: bool,
    /// Joins attempt and result.
    pub action: Option<Symbol>,
    /// The id of the request that its writer names.
    pub named: RpcId,
    /// Phase that its writer states.
    pub phase: Option<Phase>,
    /// Sketch of a body.
    pub pairs: Pairs,
    /// Shortened digest of an idempotency key; 0 where none.
    pub idempotency_key: u64,
    /// The conversation in which it stands: an index.
    pub strand: u32,
    /// The run it belongs to: an index or [`NONE`].
    pub run: u32,
    /// The call it belongs to: an index or [`NONE`].
    pub call: u32,
    /// How it was bound to its call or run.
    pub bound: Basis,
    /// It provably belongs to no call: none was open. Without call and without this it may belong to any.
    pub outside: bool,
    /// Run id its record names.
    pub run_id: Option<Symbol>,
    /// Process that its record names; 0 where none.
    pub pid: u32,
    /// It went to an endpoint of the operator: whatever it did there, it is no reach.
    pub own: bool,
    /// Nobody knows who made it, and no time tells: it is bound to nothing.
    pub loose: bool,
}

impl Contact {
    /// Whether bytes went out, or may have.
    pub fn is_attempt(&self) -> bool {
        self.stage >= ReachStage::Attempted
    }

    /// Whether it is one, and went to the outside.
    pub fn is_reach(&self) -> bool {
        self.is_attempt() && !self.own
    }
}

/// Kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContactKind {
    /// HTTP, SSH, database, broker, mail, a neighbor process.
    Service,
    /// Token refresh, OAuth, cloud metadata.
    Credential,
    /// The same target also occurs outside calls or under several tools.
    Telemetry,
    /// GET or HEAD to a package source.
    Package,
}

impl ContactKind {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Credential => "credential",
            Self::Telemetry => "telemetry",
            Self::Package => "package",
        }
    }
}

/// How messages travel in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Nothing tells.
    #[default]
    Unknown,
    /// Pipes of a child process.
    Stdio,
    /// Streamable HTTP.
    StreamableHttp,
    /// HTTP+SSE (2024-11-05).
    Sse,
}

impl Transport {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Stdio => "stdio",
            Self::StreamableHttp => "streamable-http",
            Self::Sse => "sse",
        }
    }
}

/// A life-cycle fact or other event of a conversation that belongs to no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrandEvent {
    /// What.
    pub what: StrandFact,
    /// Who saw it.
    pub witness: Witness,
    /// Where and when.
    pub mark: Mark,
    /// A count, code or port.
    pub number: i64,
    /// A name.
    pub name: Option<Symbol>,
}

/// What a [`StrandEvent`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StrandFact {
    /// An event of a phase; `number` is the exit code of `exited`.
    Step(PhaseEvent),
    /// The process ended by the signal in `number`.
    Signaled,
    /// The process could not be created.
    SpawnFailed(SpawnFailure),
    /// A remark that names no call.
    Remark(RemarkKind),
    /// Something on stdout that is no message.
    Pollution,
    /// Root of a crash.
    Trouble(TroubleKind),
    /// An empty tool list has a reason.
    ToolsReason,
    /// An answer to which no request was seen; `number` is its id, where that is an integer.
    Unasked {
        /// Which way it went.
        direction: Direction,
        /// It is an error.
        error: bool,
    },
    /// What may have been a request, and cannot be read.
    Unreadable,
    /// A request that was sent without an id; `name` is its target, `number` what remains of the key of its arguments.
    Nameless,
    /// A cancellation of a request that was not seen.
    Uncancelled,
    /// A GET stream of HTTP+SSE or Streamable HTTP.
    Stream,
    /// A `-32022`, or a client that refused the version.
    VersionRejected,
}

/// One tool as a `tools/list` showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// Name.
    pub name: Symbol,
    /// `readOnlyHint: true`.
    pub read_only: bool,
    /// `idempotentHint: true`.
    pub idempotent: bool,
    /// The input schema is an object.
    pub schema_ok: bool,
    /// Digest of the definition.
    pub digest: Key,
}

/// A `tools/list` result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsFacts {
    /// Where it stands.
    pub mark: Mark,
    /// The tools, in order.
    pub tools: Vec<ToolFacts>,
    /// More pages follow.
    pub partial: bool,
    /// It was not an array.
    pub invalid: bool,
    /// Only the count is known.
    pub count: u32,
}

/// One conversation as one source recorded it.
#[derive(Clone, Debug)]
pub struct Strand {
    /// The source.
    pub source: u32,
    /// `run_id`, if recorded.
    pub run_id: Option<Symbol>,
    /// Which life of that run id, counted from 1.
    pub life: u32,
    /// Server name.
    pub server: Option<Symbol>,
    /// Client name.
    pub client: Option<Symbol>,
    /// `serverInfo.name`.
    pub server_info: Option<Symbol>,
    /// `clientInfo.name`.
    pub client_info: Option<Symbol>,
    /// Sessions in it.
    pub sessions: Vec<Symbol>,
    /// Processes that are the server's own.
    pub pids: Vec<u32>,
    /// The process is a wrapper.
    pub wrapper: bool,
    /// Address and path of the endpoint.
    pub endpoint: Option<Symbol>,
    /// How messages travel.
    pub transport: Transport,
    /// Negotiated revision and where.
    pub revision: Option<(Symbol, Mark)>,
    /// First record.
    pub first: Mark,
    /// Last record.
    pub last: Mark,
    /// Events that belong to no call, in record order.
    pub events: Vec<StrandEvent>,
    /// Its calls, in record order.
    pub calls: Vec<u32>,
    /// Tool lists.
    pub tools: Vec<ToolsFacts>,
    /// The server had written something before a process could not be created.
    pub spoke: bool,
    /// The server declared that it serves tools.
    pub serves_tools: bool,
    /// The last notice that the list of tools has changed.
    pub tools_changed: Option<Mark>,
    /// The last progress that fits no open call.
    pub stray_progress: Option<Mark>,
    /// Whose view it is.
    pub witness: Witness,
    /// The run: an index.
    pub run: u32,
}

/// One life of a server process, or what stands in for it.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name: the recorded run id (with `#N` where one id has several lives), or one made here.
    pub name: String,
    /// The name was recorded.
    pub recorded: bool,
    /// The conversations that make it up.
    pub strands: Vec<u32>,
    /// Its calls.
    pub calls: Vec<u32>,
    /// Contacts outside any call.
    pub contacts: Vec<u32>,
}

/// Attempts of one intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The attempts, ascending.
    pub attempts: Vec<u32>,
}

/// So many places of secrets are kept of a source: who has to revoke them looks into the file itself.
pub(super) const SECRET_PLACES: usize = 8;

/// What one source is, after it was read.
#[derive(Clone, Debug)]
pub struct SourceFacts {
    /// Who wrote it.
    pub witness: Option<Witness>,
    /// The witness is only a hint of its name.
    pub witness_is_hint: bool,
    /// The witness is that of most records: others may have written into it.
    pub voted: bool,
    /// Some of its lines are the server's own, whoever wrote the others: a bridge shows the stderr of its child.
    pub server_wrote: bool,
    /// First stamp.
    pub first: Option<Timestamp>,
    /// Last stamp.
    pub last: Option<Timestamp>,
    /// Digits of a fraction of a second that its stamps have at most.
    pub digits: u8,
    /// What its stamps lack at worst.
    pub shape: Option<crate::time::Shape>,
    /// Nanoseconds to add to its stamps to place them, where zone or date is missing.
    pub shift: i64,
    /// The shift was found by comparing with other sources.
    pub aligned: bool,
    /// Two records of one writer, the later one with an earlier time: its clock was set. The first such place.
    pub stepped: Option<(Mark, Mark)>,
    /// Events.
    pub events: u64,
    /// Data was lost while reading: absence is no evidence.
    pub lossy: bool,
    /// Where it recorded less than elsewhere, or may have.
    pub breaks: super::Breaks,
    /// Records that hold a secret.
    pub secrets: u64,
    /// The first of them, a few.
    pub secret_places: Vec<Origin>,
}
