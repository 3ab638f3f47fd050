//! Outcome and layer of a call: what the caller got, and which layer failed.
//!
//! Transport is judged before envelope, envelope before result.

use super::CallFacts;
use crate::{
    correlate::{AnswerKind, Call, Case, Seen},
    event::{PhaseEvent, Witness},
};

/// What the caller got. Names are those of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// A valid `tools/call` result without error.
    ToolSuccess,
    /// A valid result of any other method.
    RpcSuccess,
    /// A task handle.
    TaskStarted,
    /// `input_required`.
    InputRequired,
    /// A status outside 200–299.
    HttpError,
    /// An event stream that ended without the answer.
    StreamIncomplete,
    /// Not JSON where the answer should be.
    MalformedJson,
    /// No valid JSON-RPC answer to this request.
    InvalidEnvelope,
    /// A valid `error`.
    JsonRpcError,
    /// An invalid `tools/call` result.
    InvalidToolResult,
    /// `isError: true`.
    ToolError,
    /// The request provably never left the client.
    NotSent,
    /// An answer was given, but no witness recorded what it said.
    AnswerNotCaptured,
    /// Cancelled by the caller, no answer seen.
    Cancelled,
    /// Sent, and no answer seen by any witness.
    NoAnswer,
}

impl Outcome {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolSuccess => "TOOL_SUCCESS",
            Self::RpcSuccess => "RPC_SUCCESS",
            Self::TaskStarted => "TASK_STARTED",
            Self::InputRequired => "INPUT_REQUIRED",
            Self::HttpError => "HTTP_ERROR",
            Self::StreamIncomplete => "STREAM_INCOMPLETE",
            Self::MalformedJson => "MALFORMED_JSON",
            Self::InvalidEnvelope => "INVALID_ENVELOPE",
            Self::JsonRpcError => "JSONRPC_ERROR",
            Self::InvalidToolResult => "INVALID_TOOL_RESULT",
            Self::ToolError => "TOOL_ERROR",
            Self::NotSent => "NOT_SENT",
            Self::AnswerNotCaptured => "ANSWER_NOT_CAPTURED",
            Self::Cancelled => "CANCELLED",
            Self::NoAnswer => "NO_ANSWER",
        }
    }

    /// A plain success: not listed unless asked for.
    pub fn is_success(self) -> bool {
        matches!(self, Self::ToolSuccess | Self::RpcSuccess)
    }

    /// Whether the caller has no answer.
    pub fn is_open(self) -> bool {
        matches!(self, Self::NoAnswer | Self::Cancelled | Self::NotSent)
    }
}

/// The layer that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Nothing failed.
    None,
    /// The server process.
    Process,
    /// Pipes, sockets, HTTP.
    Transport,
    /// JSON-RPC and MCP.
    Protocol,
    /// A person or model that was asked.
    Interaction,
    /// The tool.
    Application,
    /// The client.
    Client,
    /// Nothing tells.
    Unknown,
}

impl Layer {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Process => "process",
            Self::Transport => "transport",
            Self::Protocol => "protocol",
            Self::Interaction => "interaction",
            Self::Application => "application",
            Self::Client => "client",
            Self::Unknown => "unknown",
        }
    }
}

/// The outcome of a call.
pub(super) fn outcome(facts: &CallFacts<'_>) -> Outcome {
    match facts.call.answer.kind {
        AnswerKind::Result if facts.method == "tools/call" => Outcome::ToolSuccess,
        AnswerKind::Result => Outcome::RpcSuccess,
        AnswerKind::ToolError => Outcome::ToolError,
        AnswerKind::Task => Outcome::TaskStarted,
        AnswerKind::InputRequired => Outcome::InputRequired,
        AnswerKind::Error => Outcome::JsonRpcError,
        AnswerKind::InvalidResult => Outcome::InvalidToolResult,
        AnswerKind::InvalidEnvelope => Outcome::InvalidEnvelope,
        AnswerKind::Malformed => Outcome::MalformedJson,
        AnswerKind::HttpError => Outcome::HttpError,
        AnswerKind::StreamIncomplete => Outcome::StreamIncomplete,
        AnswerKind::NotCaptured if answer_was_lost(facts.case, facts.call) => Outcome::NoAnswer,
        AnswerKind::NotCaptured if went_on(facts) => Outcome::RpcSuccess,
        AnswerKind::NotCaptured => Outcome::AnswerNotCaptured,
        AnswerKind::NotSent => Outcome::NotSent,
        AnswerKind::None => unanswered(facts),
    }
}

/// A status was captured, its body was not, and the client says that the answer never came.
pub(super) fn answer_was_lost(case: &Case, call: &Call) -> bool {
    let lost = |seen| matches!(seen, Seen::ConnectionClosed | Seen::TimedOut);
    call.answer.kind == AnswerKind::NotCaptured
        && case.sightings(call).any(|row| row.witness == Witness::Client && lost(row.seen))
}

/// The client completed the handshake: it had a valid answer to `initialize`.
fn went_on(facts: &CallFacts<'_>) -> bool {
    facts.method == "initialize"
        && facts.run.is_some_and(|run| {
            run.steps.contains_key(&PhaseEvent::InitializedReceived)
                || run.steps.contains_key(&PhaseEvent::InitializedSent)
        })
}

fn unanswered(facts: &CallFacts<'_>) -> Outcome {
    if facts.not_sent().is_some() {
        return Outcome::NotSent;
    }
    if facts.has(Seen::TimedOut) {
        return Outcome::NoAnswer;
    }
    if facts.has(Seen::Cancelled) {
        return Outcome::Cancelled;
    }
    if facts.has(Seen::CallSucceeded) || facts.has(Seen::AnswerRejected) {
        return Outcome::AnswerNotCaptured;
    }
    let caller_watched = facts.call.witness != Witness::Server;
    if facts.has(Seen::Responded) && !caller_watched {
        return Outcome::AnswerNotCaptured;
    }
    Outcome::NoAnswer
}

/// The layer of a call, given its outcome.
pub(super) fn layer(facts: &CallFacts<'_>, outcome: Outcome) -> Layer {
    match outcome {
        Outcome::ToolSuccess | Outcome::RpcSuccess | Outcome::TaskStarted => Layer::None,
        Outcome::InputRequired | Outcome::Cancelled => Layer::Interaction,
        Outcome::HttpError | Outcome::StreamIncomplete => Layer::Transport,
        Outcome::MalformedJson | Outcome::InvalidEnvelope | Outcome::JsonRpcError | Outcome::InvalidToolResult => {
            Layer::Protocol
        }
        Outcome::ToolError => Layer::Application,
        Outcome::AnswerNotCaptured => Layer::Unknown,
        Outcome::NotSent => not_sent_layer(facts),
        Outcome::NoAnswer => no_answer_layer(facts),
    }
}

fn not_sent_layer(facts: &CallFacts<'_>) -> Layer {
    let run = facts.run;
    if run.is_some_and(|run| run.spawn_failed.is_some()) || facts.has(Seen::WriteFailed) {
        return Layer::Process;
    }
    if facts.call.answer.kind == AnswerKind::NotSent || facts.has(Seen::NotConnected) {
        return Layer::Transport;
    }
    if run.is_some_and(|run| run.exited.is_some()) { Layer::Process } else { Layer::Client }
}

/// Why there is no answer: the layer whose evidence stops.
fn no_answer_layer(facts: &CallFacts<'_>) -> Layer {
    let run = facts.run;
    if facts.open_server_request().is_some() {
        return Layer::Interaction;
    }
    if run.is_some_and(|run| run.died_before_answer(facts) || run.broke_down(facts).is_some()) {
        return Layer::Process;
    }
    if run.is_some_and(super::run::RunFacts::polluted_handshake) && facts.method == "initialize" {
        return Layer::Transport;
    }
    let had_it = facts.receipt().is_some();
    let done = facts.has(Seen::ReplyLost) || facts.has(Seen::Responded);
    if done
        || facts.has(Seen::ConnectionClosed)
        || facts.has(Seen::UpstreamBroken)
        || facts.call.answer.kind == AnswerKind::NotCaptured
    {
        return Layer::Transport;
    }
    match (had_it, facts.method) {
        (true, "tools/call") => Layer::Application,
        (true, _) => Layer::Protocol,
        (false, _) => Layer::Unknown,
    }
}
