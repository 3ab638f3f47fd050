//! The unified stream: one thing that one witness saw, with its place.
//!
//! Everything here borrows from a block of input or from that block's arena. Nothing in this file judges.

mod http;
mod phase;
mod piece;
mod reach;
mod remark;
mod rpc;
mod syscall;
mod telemetry;

pub use http::{Access, Body, Exchange, HttpFailure, Upstream};
pub use phase::{GateScope, Phase, PhaseEvent, SpawnFailure, Step, StepDetail};
pub use piece::{Piece, PieceShape};
pub use reach::{Reach, ReachSource, ReachStage};
pub use remark::{Remark, RemarkKind, Trouble, TroubleKind};
pub use rpc::{
    Answer, ContentKind, Detail, Digest, ErrorShape, HttpMeta, Member, Message, Notification, Pairs, Request,
    ResultShape, ResultType, Rpc, Tool, ToolList, Wording, is_effect_free,
};
pub use syscall::{Call, Syscall};
pub use telemetry::{Span, SpanRole, Summary};

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
    /// W3C trace id, 32 hexadecimal digits in lower case. Where the record names the span that a request was sent in,
    /// a `-` and its 16 digits follow.
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
    /// Text from which nothing was learned names a request: a POST to this path, or a `tools/call`.
    Mention(Option<&'a str>),
    /// Text from which nothing was learned.
    Text(&'a str),
}
