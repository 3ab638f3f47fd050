//! Contacts with the outside.

use super::{CallKey, Digest, Pairs, Phase};

/// How far a contact with the outside got.
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
