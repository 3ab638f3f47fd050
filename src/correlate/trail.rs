//! The trail: one small row for each event of each source, where somebody asks for all of them.
//!
//! It keeps no text and joins nothing: what an event means for a call is in the facts with the same place.

use super::{Correlator, Mark, NONE, RpcId};
use crate::event::{Event, Kind, PhaseEvent, ReachStage, RemarkKind, Rpc, TroubleKind, Witness};

/// One event as it was read. At most 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Where and when.
    pub mark: Mark,
    /// The JSON-RPC id that it names.
    pub id: RpcId,
    /// The conversation that it belongs to: an index, or [`NONE`].
    pub strand: u32,
    /// What it is.
    pub kind: ToldKind,
    /// Who saw it, where the record or its source says so.
    pub witness: Option<Witness>,
}

/// What an event is, before it is joined with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldKind {
    /// A JSON-RPC request.
    Request,
    /// A JSON-RPC notification.
    Notification,
    /// A JSON-RPC answer.
    Answer,
    /// JSON that is cut or damaged where a message should be.
    Malformed,
    /// Valid JSON that is no message.
    NotRpc,
    /// An HTTP exchange with its bodies.
    Exchange,
    /// A line of an access log.
    Access,
    /// An event of a phase.
    Step(PhaseEvent),
    /// Contact with the outside.
    Reach(ReachStage),
    /// A statement of a party.
    Remark(RemarkKind),
    /// A span of a trace.
    Span,
    /// A client's own summary of a call.
    Summary,
    /// A line on the server's output that is no message.
    Pollution,
    /// A crash.
    Trouble(TroubleKind),
}

impl ToldKind {
    fn of(kind: &Kind<'_>) -> Option<Self> {
        Some(match kind {
            Kind::Message(message) => match message.rpc {
                Rpc::Request(_) => Self::Request,
                Rpc::Notification(_) => Self::Notification,
                Rpc::Answer(_) => Self::Answer,
                Rpc::Malformed => Self::Malformed,
                Rpc::NotRpc => Self::NotRpc,
            },
            Kind::Exchange(_) => Self::Exchange,
            Kind::Access(_) => Self::Access,
            Kind::Step(step) => Self::Step(step.event),
            Kind::Reach(reach) => Self::Reach(reach.stage),
            Kind::Remark(remark) => Self::Remark(remark.kind),
            Kind::Span(_) => Self::Span,
            Kind::Summary(_) => Self::Summary,
            Kind::Pollution => Self::Pollution,
            Kind::Trouble(trouble) => Self::Trouble(trouble.kind),
            Kind::Text(_) | Kind::Piece(_) | Kind::Syscall(_) | Kind::Mention(_) => return None,
        })
    }
}

impl Correlator {
    /// Keeps one small row for each event that follows.
    pub fn keep_trail(&mut self) {
        self.keeps_trail = true;
    }

    /// Notes an event that was just folded.
    pub(super) fn note_told(&mut self, event: &Event<'_>, mark: Mark) {
        if !self.keeps_trail {
            return;
        }
        let Some(kind) = ToldKind::of(&event.kind) else { return };
        let id = match &event.kind {
            Kind::Message(message) => match message.rpc {
                Rpc::Request(request) => Some(request.id),
                Rpc::Answer(answer) => answer.id,
                _ => None,
            },
            Kind::Step(step) => step.call.id,
            Kind::Remark(remark) => remark.call.id,
            Kind::Span(span) => span.call.id,
            Kind::Summary(summary) => summary.call.id,
            _ => None,
        };
        let id = id.and_then(|id| self.known_id(id)).unwrap_or(RpcId::Unknown);
        let witness = event.witness.or(self.lane.meta_witness).or(self.lane.witness_hint);
        self.case.trail.push(Told { mark, id, strand: self.lane.touched, kind, witness });
        self.lane.touched = NONE;
    }
}
