//! HTTP exchanges and lines of access logs.

use super::{ContentKind, Pairs, Rpc, Wording};
use crate::time::Stamp;

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
    /// The headers of the request were recorded, and none of them is an `Mcp-Session-Id`.
    pub nameless: bool,
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
    /// What a header of the answer says about the dispatch to the next hop.
    pub upstream: Upstream<'a>,
    /// Wording of a body that is no JSON-RPC.
    pub wording: Wording,
    /// An event with an id was in the stream: it can be resumed.
    pub event_id: bool,
    /// The exchange speaks MCP, by its bodies or headers.
    pub mcp: bool,
    /// When the answer ended.
    pub ended: Option<Stamp>,
    /// The longest duration that is recorded for it, in milliseconds, whether it has stamps or not.
    pub took: Option<u32>,
    /// The answer's headers, or a body that is no message by itself, tell of an answer that was made behind whoever gave
    /// an error status.
    pub behind: bool,
    /// The body of an answer with an error status says something in words that no door is known for.
    pub unknown_words: bool,
    /// A header of the request says that a library of the client sent it before.
    pub sent_before: bool,
    /// Its failure is told by a network stack that sends a request again where a connection that it had kept open
    /// closes before an answer: only the last failure is told.
    pub resends: bool,
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

/// Why an exchange has no status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HttpFailure {
    /// Refused, DNS, TLS: nothing was sent.
    NotConnected,
    /// The client aborted.
    Aborted,
    /// Reset, closed or timed out after connecting, or unknown.
    Broken,
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
    /// The longest duration that the line records, in nanoseconds.
    pub took: Option<i64>,
    /// The line has a place for `Mcp-Session-Id`, and the request had none.
    pub nameless: bool,
    /// A prober asked whether the service lives.
    pub probe: bool,
}

/// What an access log, or a header of an answer, says about the next hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Upstream<'a> {
    /// The format has no such field.
    #[default]
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

impl Upstream<'_> {
    /// Both of two statements about one exchange: what says more about dispatches holds.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let weight = |upstream: &Self| match upstream {
            Self::Untold => 0,
            Self::None => 1,
            Self::ConnectFailed(_) => 2,
            Self::Once(..) => 3,
            Self::Several(_) => 4,
        };
        if weight(&other) > weight(&self) { other } else { self }
    }
}
