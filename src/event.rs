//! The unified stream: one thing that one witness saw, with its place.
//!
//! Everything here borrows from a block of input or from that block's arena. Nothing in this file judges.

use std::num::NonZeroU32;

use crate::time::Stamp;

/// One input, by its number in the stable order of discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// Where a fact was read. Never the text. 16 bytes, also as `Option`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The input.
    pub source: SourceId,
    /// The record, counted from 1.
    pub record: NonZeroU32,
    /// The byte where the record begins in the decoded content.
    pub offset: u64,
}

/// Who saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Witness {
    /// The client, its SDK, or the agent above it.
    Client,
    /// The server process.
    Server,
    /// A tap, proxy or gateway between client and server.
    Proxy,
    /// An egress log, a kernel trace, a packet tool, the log of an outside service.
    Network,
    /// The test harness or CI job around the run.
    Harness,
}

impl Witness {
    /// The word used in reports and hints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Proxy => "proxy",
            Self::Network => "network",
            Self::Harness => "harness",
        }
    }

    /// The witness of that name. `tap`, `gateway` and `launcher` are accepted words of writers.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "client" | "host" | "agent" => Self::Client,
            "server" => Self::Server,
            "proxy" | "tap" | "gateway" => Self::Proxy,
            "network" => Self::Network,
            "harness" | "launcher" | "parent" | "ci" => Self::Harness,
            _ => return None,
        })
    }
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// A JSON-RPC id exactly as sent: `1` and `"1"` differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Id<'a> {
    /// Present and `null`, which JSON-RPC allows only in an error answer.
    Null,
    /// An integer that fits.
    Int(i64),
    /// A string.
    Text(&'a str),
    /// Any other JSON value, as written: a fraction, an integer beyond 64 bits, an object.
    Raw(&'a str),
}

/// What identifies the run, session or party of an event. All optional; empty where the record does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys<'a> {
    /// `run_id`: one life of a server process.
    pub run: Option<&'a str>,
    /// The server's name. Never a key of a run.
    pub server: Option<&'a str>,
    /// The client's name.
    pub client: Option<&'a str>,
    /// `Mcp-Session-Id`, or the session id of HTTP+SSE.
    pub session: Option<&'a str>,
    /// W3C trace id, 32 hexadecimal digits in lower case.
    pub trace: Option<&'a str>,
    /// The process that wrote the record, or that it is about.
    pub pid: Option<u32>,
}

/// What identifies the call an event is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallKey<'a> {
    /// JSON-RPC id.
    pub id: Option<Id<'a>>,
    /// JSON-RPC method.
    pub method: Option<&'a str>,
    /// `params.name` of a `tools/call`.
    pub tool: Option<&'a str>,
}

/// One thing that happened, as one source saw it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// Where it was read.
    pub origin: Origin,
    /// When, as recorded.
    pub at: Option<Stamp>,
    /// Who saw it, if the record says so; else the source's witness.
    pub witness: Option<Witness>,
    /// Run, session and parties.
    pub keys: Keys<'a>,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// A JSON-RPC message, or bytes that stand where one should be.
    Message(Message<'a>),
    /// A whole HTTP exchange with what its bodies held.
    Exchange(&'a Exchange<'a>),
    /// An event of a phase: the vocabulary of the phase log, whoever wrote it.
    Step(Step<'a>),
    /// Contact with something outside the MCP session.
    Reach(Reach<'a>),
    /// A statement of a client, an SDK, a server or a bridge about a call or connection.
    Remark(Remark<'a>),
    /// An OpenTelemetry span.
    Span(&'a Span<'a>),
    /// What a careful client logged once per call.
    Summary(&'a Summary<'a>),
    /// One line of an HTTP access or error log: no bodies.
    Access(&'a Access<'a>),
    /// A line on the server's stdout that is not a JSON-RPC message.
    Pollution,
    /// The root of a traceback or crash.
    Trouble(Trouble<'a>),
    /// One line of a kernel trace; `assemble` joins them into steps and reach.
    Syscall(Syscall<'a>),
    /// A piece of a record that spans lines; `assemble` joins them.
    Piece(Piece<'a>),
    /// Text from which nothing was learned.
    Text(&'a str),
}

/// A JSON-RPC message seen on one hop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message<'a> {
    /// Which way, if the envelope says so; else the method decides.
    pub direction: Option<Direction>,
    /// The writer only queued it: proves no sending (Claude Desktop "Message from client").
    pub queued: bool,
    /// The body of the log line was redacted: method and id are known, the rest is not.
    pub thin: bool,
    /// The HTTP side, where the envelope tells it.
    pub http: Option<HttpMeta>,
    /// The message.
    pub rpc: Rpc<'a>,
}

/// What an envelope says about the HTTP answer that carried a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HttpMeta {
    /// Status code; 0 where unknown.
    pub status: u16,
    /// Kind of the body.
    pub content: ContentKind,
}

/// Kind of an HTTP body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContentKind {
    /// Not said.
    #[default]
    Unknown,
    /// `application/json`.
    Json,
    /// `text/event-stream`.
    EventStream,
    /// HTML: nearly always an intermediary's page.
    Html,
    /// Anything else.
    Other,
}

impl ContentKind {
    /// The kind of a `Content-Type` value; parameters are accepted.
    pub fn of(content_type: &str) -> Self {
        let essence = content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        match essence.as_str() {
            "" => Self::Unknown,
            "text/event-stream" => Self::EventStream,
            "text/html" => Self::Html,
            json if json == "application/json" || json.ends_with("+json") => Self::Json,
            _ => Self::Other,
        }
    }
}

/// A parsed JSON-RPC message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rpc<'a> {
    /// Has `method` and `id`.
    Request(Request<'a>),
    /// Has `method` and no `id`.
    Notification(Notification<'a>),
    /// Has `result`, `error`, both, or (with an id) neither.
    Answer(Answer<'a>),
    /// JSON text cut or damaged where a message should be.
    Malformed,
    /// Valid JSON that is no JSON-RPC message.
    NotRpc,
}

/// A 128-bit digest of a canonical form. Never printed unless asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub u128);

/// Up to four hashes of `(key, scalar)` pairs of a JSON object: enough to see whether a text repeats the arguments of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pairs(pub [u32; 4]);

/// A JSON-RPC request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request<'a> {
    /// Its id.
    pub id: Id<'a>,
    /// Its method.
    pub method: &'a str,
    /// `params.name` of `tools/call` and `prompts/get`, `params.uri` of `resources/read`, `params.taskId` of `tasks/*`.
    pub target: Option<&'a str>,
    /// Digest of what makes two requests the same: method, target and canonical arguments.
    pub args: Option<Digest>,
    /// Pairs of the arguments.
    pub pairs: Pairs,
    /// Revision: `_meta["io.modelcontextprotocol/protocolVersion"]`, or the proposal of `initialize`.
    pub revision: Option<&'a str>,
    /// `clientInfo.name`.
    pub client: Option<&'a str>,
    /// Digest of `requestState` (2026-07-28, multi round-trip requests).
    pub state: Option<Digest>,
    /// `inputResponses` is present.
    pub has_input_responses: bool,
    /// W3C trace id of `_meta.traceparent`.
    pub trace: Option<&'a str>,
    /// Digest of a value under a key named like an idempotency key inside the arguments.
    pub idempotency_key: Option<Digest>,
    /// `params.task` is present (2025-11-25).
    pub as_task: bool,
}

/// A JSON-RPC notification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Notification<'a> {
    /// Its method.
    pub method: &'a str,
    /// `params.requestId` of `notifications/cancelled`, `params.progressToken` of `notifications/progress`.
    pub about: Option<Id<'a>>,
    /// The reason of a cancellation names a timeout.
    pub names_timeout: bool,
}

/// A JSON-RPC answer, valid or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<'a> {
    /// Its id; `None` when absent.
    pub id: Option<Id<'a>>,
    /// `jsonrpc` is `"2.0"`, or is absent where the envelope allows that.
    pub version_ok: bool,
    /// The `result`, if present (also when `null`).
    pub result: Option<ResultShape>,
    /// The `error`, if present.
    pub error: Option<ErrorShape<'a>>,
    /// What the result says beyond its shape.
    pub detail: Detail<'a>,
    /// The tool that the text of a failed result names.
    pub named: Option<&'a str>,
}

/// The shape of a `result`, independent of the method it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResultShape {
    /// It is a JSON object.
    pub object: bool,
    /// `content`: absent, an array, or something else.
    pub content: Member,
    /// `isError`: absent, boolean, or something else.
    pub is_error: Member,
    /// `isError` is `true`.
    pub failed: bool,
    /// `resultType`.
    pub result_type: ResultType,
    /// `task` is an object (2025-11-25 `CreateTaskResult`).
    pub task: bool,
    /// Wording of the first text of a failed tool result.
    pub wording: Wording,
}

/// A member of an object: absent, of the right type, or of a wrong one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Member {
    /// Not there.
    #[default]
    Absent,
    /// There, with the type the specification demands.
    Valid,
    /// There, with another type.
    Invalid,
}

/// `resultType` of 2026-07-28; absent means complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResultType {
    /// Not there: complete.
    #[default]
    Absent,
    /// `complete`.
    Complete,
    /// `input_required`.
    InputRequired,
    /// `task` (tasks extension).
    Task,
    /// Anything else: the client must treat the result as invalid.
    Unknown,
}

/// The shape of an `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorShape<'a> {
    /// `code`, if it is an integer.
    pub code: Option<i64>,
    /// `message` is a string.
    pub message_ok: bool,
    /// What the message says.
    pub wording: Wording,
    /// The tool the message names ("Unknown tool: X").
    pub named: Option<&'a str>,
}

/// What an error text says, as far as it decides something (`mcp-protocol.md` 3.3, 3.4 and 4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wording {
    /// Nothing that decides.
    #[default]
    Other,
    /// "Unknown tool: X", "Tool X not found", "Tool X disabled".
    UnknownTool,
    /// Arguments rejected by the called tool's own model before the function ran.
    ArgumentValidation,
    /// Output rejected after the function ran.
    OutputValidation,
    /// Session missing, expired or unknown.
    Session,
    /// "Server not initialized".
    NotInitialized,
    /// Unsupported protocol version.
    Version,
    /// Header, `Accept`, `Content-Type`, `Origin` or `Host` refused.
    Header,
    /// Could not parse the request.
    Parse,
    /// The writer stopped waiting.
    TimedOut,
    /// The connection was closed.
    ConnectionClosed,
    /// The caller aborted.
    Aborted,
    /// Reset or timeout wording of a proxy about its upstream.
    UpstreamReset,
    /// Upstream could not be connected: nothing was forwarded.
    UpstreamUnreachable,
    /// Refused by policy before forwarding.
    PolicyDenied,
    /// An answer was blocked or refused: the request had been forwarded.
    AnswerDenied,
    /// `requestState` invalid or expired.
    RequestState,
    /// The text quotes a 2xx status: the provider did the work.
    QuotesSuccess,
}

/// What a result says beyond its shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Detail<'a> {
    /// Nothing that is used.
    None,
    /// Result of `initialize`: negotiated revision and server name.
    Initialize {
        /// `protocolVersion`.
        revision: Option<&'a str>,
        /// `serverInfo.name`.
        server: Option<&'a str>,
    },
    /// Result of `tools/list`.
    Tools(&'a ToolList<'a>),
    /// `requestState` of an `input_required` result.
    State(Digest),
    /// `supported` of a version error or a discover result was present.
    Discover,
}

/// A `tools/list` result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolList<'a> {
    /// The tools in their order.
    pub tools: &'a [Tool<'a>],
    /// `nextCursor` is present: the list goes on.
    pub partial: bool,
    /// `tools` was not an array.
    pub invalid: bool,
}

/// One tool of a `tools/list` result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool<'a> {
    /// Its name; empty where missing.
    pub name: &'a str,
    /// `readOnlyHint: true`.
    pub read_only: bool,
    /// `idempotentHint: true`.
    pub idempotent: bool,
    /// `inputSchema` is an object whose `type` is `"object"`.
    pub schema_ok: bool,
    /// Digest of the whole definition in canonical form.
    pub digest: Digest,
}

/// One HTTP exchange, bodies included (HAR entry, recorder).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange<'a> {
    /// HTTP method.
    pub method: &'a str,
    /// Scheme and authority, lower case: `http://127.0.0.1:8000`.
    pub authority: &'a str,
    /// Path without query.
    pub path: &'a str,
    /// Status; 0 or negative where none was seen.
    pub status: i32,
    /// Why there is no status.
    pub failure: Option<HttpFailure>,
    /// `Mcp-Session-Id` of the request.
    pub session_sent: Option<&'a str>,
    /// `Mcp-Session-Id` of the answer.
    pub session_given: Option<&'a str>,
    /// `MCP-Protocol-Version` of the request.
    pub revision: Option<&'a str>,
    /// `Mcp-Method` of the request (2026-07-28).
    pub mcp_method: Option<&'a str>,
    /// `Mcp-Name` of the request (2026-07-28).
    pub mcp_name: Option<&'a str>,
    /// `Last-Event-ID` of the request.
    pub resumes: bool,
    /// Messages in the request body, in order.
    pub sent: &'a [Rpc<'a>],
    /// Messages in the answer body, in order.
    pub answered: &'a [Rpc<'a>],
    /// State of the answer's body.
    pub body: Body,
    /// Kind of the answer's body.
    pub content: ContentKind,
    /// `Retry-After`, in milliseconds.
    pub retry_after: Option<u32>,
    /// `WWW-Authenticate` is present.
    pub challenge: bool,
    /// A header of the answer names an intermediary (`server: nginx`, `cf-ray`, `via`), or the page is a proxy's.
    pub by_gateway: bool,
    /// Wording of a body that is no JSON-RPC.
    pub wording: Wording,
    /// An event with an id was in the stream: it can be resumed.
    pub event_id: bool,
    /// The exchange speaks MCP, by its bodies or headers.
    pub mcp: bool,
    /// When the answer ended.
    pub ended: Option<Stamp>,
}

/// State of a recorded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// The capture holds none and there need not be one.
    Empty,
    /// There was a body that the capture does not hold.
    Missing,
    /// Parsed.
    Parsed,
    /// JSON that is cut or damaged.
    Malformed,
    /// Not JSON.
    Foreign,
    /// An event stream whose last event is cut.
    TornStream,
}

/// Why an exchange has no status (`server-proxy-trace-formats.md` 7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HttpFailure {
    /// Refused, DNS, TLS: nothing was sent.
    NotConnected,
    /// The client aborted.
    Aborted,
    /// Reset, closed or timed out after connecting, or unknown.
    Broken,
}

macro_rules! steps {
    ($( $(#[$doc:meta])* $variant:ident $name:literal $phase:ident; )*) => {
        /// The events of the phases, in causal order within a phase.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum PhaseEvent { $( $(#[$doc])* $variant, )* }

        impl PhaseEvent {
            /// Every event, in order.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// The name used in input, code and output alike.
            pub fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }

            /// The phase it belongs to.
            pub fn phase(self) -> Phase {
                match self { $( Self::$variant => Phase::$phase, )* }
            }

            /// The event of that name; `server_discover_*` are aliases of `discover_*`.
            pub fn parse(name: &str) -> Option<Self> {
                let name = name.strip_prefix("server_discover").map_or(name, |_| &name["server_".len()..]);
                match name { $( $name => Some(Self::$variant), )* _ => None }
            }
        }
    };
}

/// The phases of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The process is being created.
    Launch,
    /// `initialize` or `server/discover`.
    Handshake,
    /// `tools/list`.
    Discovery,
    /// Tool calls and every other request.
    Execution,
    /// The run or call was cut off.
    Interruption,
}

impl Phase {
    /// The word used in input and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Handshake => "handshake",
            Self::Discovery => "discovery",
            Self::Execution => "execution",
            Self::Interruption => "interruption",
        }
    }

    /// The phase of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "launch" => Self::Launch,
            "handshake" => Self::Handshake,
            "discovery" => Self::Discovery,
            "execution" => Self::Execution,
            "interruption" => Self::Interruption,
            _ => return None,
        })
    }
}

steps! {
    /// A launcher asked for the process.
    SpawnRequested "spawn_requested" Launch;
    /// The process could not be created.
    SpawnFailed "spawn_failed" Launch;
    /// The process was created, which does not prove that it loaded.
    Spawned "spawned" Launch;
    /// The server's own code runs.
    ExecutableReady "executable_ready" Launch;
    /// The process ended.
    Exited "exited" Launch;
    /// The client sent `initialize`.
    InitializeSent "initialize_sent" Handshake;
    /// The server had `initialize`.
    InitializeReceived "initialize_received" Handshake;
    /// The server answered `initialize`.
    InitializeResponded "initialize_responded" Handshake;
    /// The client had the answer.
    InitializeDelivered "initialize_delivered" Handshake;
    /// The client sent `notifications/initialized`.
    InitializedSent "initialized_sent" Handshake;
    /// The server had it.
    InitializedReceived "initialized_received" Handshake;
    /// The client sent `server/discover`.
    DiscoverSent "discover_sent" Handshake;
    /// The server had it.
    DiscoverReceived "discover_received" Handshake;
    /// The server answered it.
    DiscoverResponded "discover_responded" Handshake;
    /// The client had the answer.
    DiscoverDelivered "discover_delivered" Handshake;
    /// The client sent `tools/list`.
    ToolsListSent "tools_list_sent" Discovery;
    /// The server had it.
    ToolsListReceived "tools_list_received" Discovery;
    /// The server answered it.
    ToolsListResponded "tools_list_responded" Discovery;
    /// The client had the answer.
    ToolsListDelivered "tools_list_delivered" Discovery;
    /// The client sent `tools/call`.
    ToolCallSent "tool_call_sent" Execution;
    /// The server had it.
    ToolCallReceived "tool_call_received" Execution;
    /// The server asked whether it may.
    AuthorizationRequested "authorization_requested" Execution;
    /// It may.
    AuthorizationGranted "authorization_granted" Execution;
    /// It may not.
    AuthorizationDenied "authorization_denied" Execution;
    /// The tool contacted the outside.
    ExternalAttempt "external_attempt" Execution;
    /// The outside answered.
    ExternalResult "external_result" Execution;
    /// The server answered the call.
    ToolCallResponded "tool_call_responded" Execution;
    /// The client had the answer.
    ToolCallDelivered "tool_call_delivered" Execution;
    /// The client sent a request of another method.
    RequestSent "request_sent" Execution;
    /// The server had it.
    RequestReceived "request_received" Execution;
    /// The receiver answered it.
    RequestResponded "request_responded" Execution;
    /// The sender had the answer.
    RequestDelivered "request_delivered" Execution;
    /// A permission was taken back.
    Revoked "revoked" Interruption;
    /// The process was ended from outside.
    Terminated "terminated" Interruption;
    /// The client went away.
    ClientDisconnected "client_disconnected" Interruption;
    /// The caller cancelled.
    Cancelled "cancelled" Interruption;
    /// The caller stopped waiting.
    TimedOut "timed_out" Interruption;
    /// A launcher's deadline for the handshake passed.
    HandshakeTimeout "handshake_timeout" Interruption;
}

/// An event of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<'a> {
    /// Which event.
    pub event: PhaseEvent,
    /// The phase the writer says it stood in.
    pub phase: Option<Phase>,
    /// The call it is about.
    pub call: CallKey<'a>,
    /// What it says beyond that.
    pub detail: StepDetail<'a>,
}

/// What a step says beyond its event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepDetail<'a> {
    /// Nothing.
    None,
    /// Launch: the command; `wrapper` when the command is a tracer or package runner whose child is the server.
    Launch {
        /// The executable.
        command: Option<&'a str>,
        /// The first process is not the server's own.
        wrapper: bool,
    },
    /// Why the process could not be created.
    SpawnFailed(SpawnFailure),
    /// How the process ended.
    Exit {
        /// Exit code.
        code: Option<i32>,
        /// Signal number.
        signal: Option<i32>,
    },
    /// Negotiated revision.
    Revision(&'a str),
    /// Number of tools, digest of their schemas, and the reason for an empty list.
    Tools {
        /// `tool_count`.
        count: Option<u32>,
        /// A reason was written.
        reason: Option<&'a str>,
    },
    /// How the call was answered.
    Answer {
        /// `is_error`.
        is_error: Option<bool>,
        /// `error_code` or `code`.
        code: Option<i64>,
    },
    /// Why authorization was denied, or a call ended.
    Reason(&'a str),
    /// The last event that a deadline report names.
    LastEvent(PhaseEvent),
}

/// Why a process could not be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpawnFailure {
    /// ENOENT: no such executable.
    NotFound,
    /// EACCES: not executable.
    NotPermitted,
    /// Anything else.
    Other,
}

/// How far a contact with the outside got (`server-proxy-trace-formats.md` 0.2, 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReachStage {
    /// Announced only: a hint and never more.
    Announced,
    /// The connection provably failed: nothing was sent (E1−).
    NotConnected,
    /// Bytes went out, or may have, or the writer says it tried (E2).
    Attempted,
    /// The outside answered (E3).
    Answered,
}

/// Who vouches for a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReachSource {
    /// The process that made it: an explicit phase event.
    PhaseEvent,
    /// A client library's log line inside the process.
    LibraryLine,
    /// A typed error whose class fixes the phase.
    TypedError,
    /// A span.
    Span,
    /// A kernel trace.
    KernelTrace,
    /// The log of the outside service.
    ServiceLog,
    /// An egress proxy.
    Egress,
}

/// Contact with something outside the MCP session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach<'a> {
    /// How far it got.
    pub stage: ReachStage,
    /// Who vouches for it.
    pub vouched: ReachSource,
    /// `scheme://host:port`, `host:port`, or a name; empty where unknown.
    pub target: &'a str,
    /// Path without query, where there is one.
    pub path: Option<&'a str>,
    /// HTTP method, upper case, where there is one.
    pub method: Option<&'a str>,
    /// Status of the answer.
    pub status: Option<u16>,
    /// The remote refused to apply it, other than by an HTTP status (SQL error, remote rejected).
    pub refused: bool,
    /// A result with an error and no status: the outcome is unknown.
    pub failed: bool,
    /// Opaque id that joins attempt and result.
    pub action: Option<&'a str>,
    /// The call its writer bound it to.
    pub call: CallKey<'a>,
    /// The phase its writer says it stood in.
    pub phase: Option<Phase>,
    /// Pairs of a JSON body that was recorded.
    pub pairs: Pairs,
    /// The library announced that it retries by itself.
    pub retries: bool,
    /// Digest of an idempotency key.
    pub idempotency_key: Option<Digest>,
}

impl<'a> Reach<'a> {
    /// A contact of which only the target is known.
    pub fn new(stage: ReachStage, vouched: ReachSource, target: &'a str) -> Self {
        Self {
            stage,
            vouched,
            target,
            path: None,
            method: None,
            status: None,
            refused: false,
            failed: false,
            action: None,
            call: CallKey::default(),
            phase: None,
            pairs: Pairs::default(),
            retries: false,
            idempotency_key: None,
        }
    }
}

/// A statement about a call or connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remark<'a> {
    /// What is stated.
    pub kind: RemarkKind,
    /// The call it is about, as far as the text says.
    pub call: CallKey<'a>,
    /// An HTTP status, JSON-RPC code, port or count that belongs to it.
    pub number: Option<i64>,
    /// A name that belongs to it: an address, an executable.
    pub name: Option<&'a str>,
}

/// What a remark states. The comment tells what it proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RemarkKind {
    /// Client: stopped waiting. The request had been sent; nothing about the server.
    TimedOut,
    /// Client: the caller aborted.
    Aborted,
    /// Client: the connection closed with the request open.
    ConnectionClosed,
    /// Client: there is no connection; the request was not sent.
    NotConnected,
    /// Client: could not connect (refused, DNS, TLS); nothing was sent.
    ConnectFailed,
    /// Client: `write EPIPE` directly after a message: that message was not delivered.
    WriteFailed,
    /// Client: an HTTP answer with an error status, in `number`.
    HttpStatus,
    /// Client: an answer for an unknown id arrived: the server finished.
    UnknownResponse,
    /// Client: an answer arrived and was rejected locally: the server finished.
    AnswerRejected,
    /// Client: a line from the server did not parse.
    ParseFailure,
    /// Client: refused the server's protocol version.
    VersionRejected,
    /// Client: the connection is up and the handshake done.
    Connected,
    /// Client: tool count, in `number`.
    ToolsDiscovered,
    /// Client: announces a call.
    CallAnnounced,
    /// Client: an answer to a call came.
    CallSucceeded,
    /// Client: a call failed, with a code in `number` where known.
    CallFailed,
    /// Client: waits for approval; not sent.
    AwaitingApproval,
    /// Client: its side of the connection is being closed on purpose.
    ShuttingDown,
    /// Client: the server's pipe closed.
    PipeClosed,
    /// Client: an event stream broke.
    StreamBroken,
    /// Client: starts a new instance of the server.
    InstanceStart,
    /// Client or server: `Mcp-Session-Id` in `keys.session` was made or received.
    SessionCreated,
    /// Client or server: the session is over.
    SessionEnded,
    /// Server: refused a request whose session it does not know.
    SessionRefused,
    /// Server: a request was received and dispatched; `call.method` where known.
    Processing,
    /// Server: a handler was entered.
    HandlerEntered,
    /// Server: a handler raised; it is done.
    HandlerRaised,
    /// Server: a handler returned.
    HandlerReturned,
    /// Server: the answer was produced and could not be delivered.
    ReplyLost,
    /// Server: refused before dispatch.
    RefusedBeforeDispatch,
    /// Server: its pipe to the client is gone: a reply was lost.
    ServerWriteFailed,
    /// Server or bridge: listens on the address in `name`.
    Listening,
    /// Server: started; the process in `keys.pid`.
    ProcessStarted,
    /// Server: shuts down.
    ServerStopping,
    /// Server: killed by the operating system (OOM, SIGKILL).
    Killed,
    /// Runner: a package runner works; the server has not started.
    RunnerBusy,
    /// Runner: a package runner failed.
    RunnerFailed,
    /// Proxy: connected, or forwards to, the address in `name`.
    ForwardsTo,
    /// Proxy: this line was announced before it was forwarded.
    Forwarding,
    /// Proxy: could not forward: the server never had it.
    NotForwarded,
    /// Proxy: upstream timed out or broke after the request was sent.
    UpstreamBroken,
    /// Library: retries by itself.
    HiddenRetry,
    /// Kernel trace: calls of the network are recorded in it.
    NetworkTraced,
    /// Level or sampling of the log changed: coverage ends here.
    LevelChanged,
    /// A secret stands in the log.
    Secret,
    /// Kernel: the process in `keys.pid` was made by the process in `number`.
    ChildProcess,
}

/// An OpenTelemetry span (OTLP/JSON and its relatives).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span<'a> {
    /// Span name.
    pub name: &'a str,
    /// Role.
    pub role: SpanRole,
    /// Span id as a number.
    pub span: u64,
    /// Parent span id; 0 where none.
    pub parent: u64,
    /// When it ended.
    pub ended: Option<Stamp>,
    /// The call it is about; ids of spans are always text.
    pub call: CallKey<'a>,
    /// `mcp.protocol.version`.
    pub revision: Option<&'a str>,
    /// `error.type` or status ERROR.
    pub failed: bool,
    /// `error.type` is `tool_error`.
    pub tool_error: bool,
    /// `rpc.response.status_code`, or `error.type` where it is a number.
    pub code: Option<i64>,
    /// Contact with the outside, for HTTP, database and messaging spans.
    pub reach: Option<&'a Reach<'a>>,
    /// `service.name` of the resource.
    pub service: Option<&'a str>,
}

/// Role of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpanRole {
    /// The initiator.
    Client,
    /// The receiver.
    Server,
    /// Inside one process.
    Internal,
    /// Messaging.
    Producer,
    /// Messaging.
    Consumer,
}

/// A client's own summary of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary<'a> {
    /// The call.
    pub call: CallKey<'a>,
    /// `protocolVersion`.
    pub revision: Option<&'a str>,
    /// The client's claim, as written: `TOOL_SUCCESS`, `JSONRPC_ERROR`…
    pub outcome: Option<&'a str>,
    /// `postCount`.
    pub posts: Option<u16>,
    /// `httpStatuses`, at most the last eight.
    pub statuses: &'a [u16],
    /// `jsonrpc.errorCode`.
    pub code: Option<i64>,
    /// `retryOrigin`.
    pub retry_origin: Option<&'a str>,
    /// `retryAfter` in milliseconds.
    pub retry_after: Option<u32>,
    /// `eventCount`.
    pub events: Option<u32>,
    /// Kind of the body.
    pub content: ContentKind,
    /// `endedAt`.
    pub ended: Option<Stamp>,
    /// The server wrote it (MCP Test Kitchen), not a client.
    pub by_server: bool,
    /// `wasCancelled`.
    pub cancelled: bool,
}

/// One line of an HTTP access log or error log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access<'a> {
    /// HTTP method, upper case.
    pub method: &'a str,
    /// Host and port the log names for its own side; empty where unknown.
    pub host: &'a str,
    /// Path without query.
    pub path: &'a str,
    /// Status; 0 where none.
    pub status: u16,
    /// Upstream the line was forwarded to, where the format has such a field.
    pub upstream: Upstream<'a>,
    /// `Mcp-Method` header.
    pub mcp_method: Option<&'a str>,
    /// `Mcp-Name` header.
    pub mcp_name: Option<&'a str>,
    /// When the exchange began, where the stamp is its end.
    pub started: Option<Stamp>,
    /// Pairs of a recorded JSON body.
    pub pairs: Pairs,
    /// The line ends without an answer: client went away, error.
    pub failed: bool,
}

/// What an access log says about the next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upstream<'a> {
    /// The format has no such field.
    Untold,
    /// Nothing was forwarded.
    None,
    /// The connection to the upstream failed: it was not reached.
    ConnectFailed(&'a str),
    /// Forwarded once; the upstream's status, 0 where it gave none.
    Once(&'a str, u16),
    /// Forwarded more than once.
    Several(u16),
}

/// The root of a traceback or crash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trouble<'a> {
    /// What happened.
    pub kind: TroubleKind,
    /// Class of the exception.
    pub class: &'a str,
    /// A path, module or variable that it names.
    pub name: Option<&'a str>,
}

/// What a crash was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TroubleKind {
    /// A file does not exist: often a wrong working directory.
    MissingFile,
    /// A module or package does not exist.
    MissingModule,
    /// An environment variable or setting is missing.
    MissingEnvironment,
    /// A port is taken.
    AddressInUse,
    /// The process's own output pipe broke.
    BrokenPipe,
    /// A connection to the outside failed.
    ConnectFailed,
    /// Memory ran out.
    OutOfMemory,
    /// Anything else.
    Other,
}

/// One line of a kernel trace (strace).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Syscall<'a> {
    /// Thread.
    pub thread: u32,
    /// What it did.
    pub call: Call<'a>,
}

/// What a traced thread did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call<'a> {
    /// `execve` of a program; `ok` when it returned 0.
    Exec {
        /// The program.
        program: &'a str,
        /// It succeeded.
        ok: bool,
    },
    /// A new thread or process, by number; `thread` when it shares the parent's files.
    Clone {
        /// Its number.
        child: u32,
        /// It is a thread of the same process.
        thread: bool,
    },
    /// `connect` to an internet address.
    Connect {
        /// File descriptor.
        fd: i32,
        /// `host:port`.
        address: &'a str,
        /// `Some(true)` connected, `Some(false)` failed, `None` in progress or unfinished.
        ok: Option<bool>,
    },
    /// `getsockopt(SO_ERROR)`.
    SocketError {
        /// File descriptor.
        fd: i32,
        /// Zero: connected.
        error: i32,
    },
    /// Bytes were written to a descriptor.
    Send {
        /// File descriptor.
        fd: i32,
        /// HTTP method, where the bytes begin a request.
        method: Option<&'a str>,
        /// Path of that request.
        path: Option<&'a str>,
        /// Pairs of a JSON body.
        pairs: Pairs,
    },
    /// Bytes were read from a descriptor.
    Receive {
        /// File descriptor.
        fd: i32,
        /// HTTP status, where the bytes begin an answer.
        status: Option<u16>,
    },
    /// The descriptor was closed.
    Close {
        /// File descriptor.
        fd: i32,
    },
    /// The thread ended with a code.
    Exited(i32),
    /// The thread was killed by a signal.
    Killed(i32),
    /// A signal arrived.
    Signal(i32),
    /// A call that is cut by `<unfinished ...>`: `assemble` waits for its rest.
    Unfinished(&'a str),
    /// The rest of a cut call.
    Resumed(&'a str),
    /// Anything else.
    Other,
}

/// A piece of a record that spans lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece<'a> {
    /// Which kind of record it belongs to.
    pub shape: PieceShape,
    /// Its text without gutter and prefix.
    pub text: &'a str,
}

/// Records that span lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PieceShape {
    /// First line of wrapped console columns (Rich).
    ColumnsHead,
    /// A further line of wrapped console columns.
    ColumnsTail,
    /// A line of a one-pair-a-line phase record (`initialize_received=true`).
    Pair,
}
