//! JSON-RPC messages, reduced to what correlation and judging ask about.

use std::fmt;

use super::{Direction, Id};

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
    /// The body of an error status tells of an answer that was made behind whoever gave it.
    pub behind: bool,
    /// The body says something in words that no door is known for.
    pub unknown_words: bool,
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

/// The methods of the specification, in any revision, that change nothing. A method that a vendor adds is none of them,
/// whatever its name ends with.
static EFFECT_FREE: &[&str] = &[
    "initialize",
    "ping",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "roots/list",
    "server/discover",
    "subscriptions/listen",
    "tasks/list",
    "tools/list",
];

/// Whether the specification says that a request of this method changes nothing.
pub fn is_effect_free(method: &str) -> bool {
    EFFECT_FREE.contains(&method)
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
#[derive(Clone, Copy, PartialEq)]
pub struct Request<'a> {
    /// Its id.
    pub id: Id<'a>,
    /// Its method.
    pub method: &'a str,
    /// `params.name` of `tools/call` and `prompts/get`, `params.uri` of `resources/read`, `params.taskId` of `tasks/*`.
    pub target: Option<&'a str>,
    /// Digest of what makes two requests the same: method, target and canonical arguments.
    pub args: Option<Digest>,
    /// The arguments as they were sent, where they stand once.
    pub arguments: Option<&'a str>,
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
    /// W3C trace id of `_meta.traceparent`, and the span, as in [`Keys::trace`](crate::event::Keys::trace).
    pub trace: Option<&'a str>,
    /// Digest of a value under a key named like an idempotency key inside the arguments.
    pub idempotency_key: Option<Digest>,
    /// `params.task` is present (2025-11-25).
    pub as_task: bool,
}

/// Without the arguments: they may be long, and hold what nobody should print.
impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("id", &self.id)
            .field("method", &self.method)
            .field("target", &self.target)
            .field("args", &self.args)
            .field("pairs", &self.pairs)
            .field("revision", &self.revision)
            .field("client", &self.client)
            .field("state", &self.state)
            .field("has_input_responses", &self.has_input_responses)
            .field("trace", &self.trace)
            .field("idempotency_key", &self.idempotency_key)
            .field("as_task", &self.as_task)
            .finish()
    }
}

impl Message<'_> {
    /// What names a request to the server and cannot be read as one.
    pub const UNREADABLE: Self =
        Self { direction: Some(Direction::ToServer), queued: false, thin: false, http: None, rpc: Rpc::Malformed };
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
    /// Tool, resource or prompt, where its method is one of a request: it was sent without an id.
    pub target: Option<&'a str>,
    /// Digest of its arguments.
    pub args: Option<Digest>,
}

impl<'a> Notification<'a> {
    /// A notification of which nothing but its method is known.
    pub fn named(method: &'a str) -> Self {
        Self { method, about: None, names_timeout: false, target: None, args: None }
    }

    /// Its method is one of a request: whoever has it may carry it out, and nobody will hear of it.
    pub fn is_request(&self) -> bool {
        !self.method.starts_with("notifications/") && self.method.contains('/')
    }
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
    /// The envelope has a member that JSON-RPC does not know, or one of its own twice.
    pub beside: bool,
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
    /// Something stands beside the words of a failed tool result that no SDK puts there by itself: more content,
    /// `structuredContent`, `_meta`.
    pub beside: bool,
    /// `capabilities` declares `tools`.
    pub serves_tools: bool,
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
    /// The tool the message names ("Unknown tool: X"), or the method that it calls unknown, empty where it names none.
    pub named: Option<&'a str>,
    /// Something stands beside the message that no SDK writes: `data`, another member, one of them twice.
    pub beside: bool,
}

/// What an error text says, as far as it decides something (the texts are in `wording`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wording {
    /// Nothing that decides.
    #[default]
    Other,
    /// "Unknown tool: X", "Tool X not found", "Tool X disabled".
    UnknownTool,
    /// "Method not found", as −32601.
    UnknownMethod,
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
    /// An answer was blocked or refused, or an upstream spoken of: the request may have been forwarded.
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
