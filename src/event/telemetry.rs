//! Spans, and summaries that somebody made of a call.

use super::{CallKey, ContentKind, Reach};
use crate::time::Stamp;

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
    /// It shows work that is neither a request of the protocol, nor a contact, nor a refusal by HTTP.
    pub work: bool,
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
    /// The reason of the cancellation is a time that ran out.
    pub timed_out: bool,
}
