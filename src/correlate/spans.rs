//! Spans: the calls that some are, and the contacts and the work that others show inside them.
//!
//! Does not join the spans of two sources.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{AnswerFacts, AnswerKind, Basis, Correlator, Mark, NONE, RAISED, RpcId, Seen, SpanWork};
use crate::event::{Direction, Event, Span, SpanRole, Witness};

impl Correlator {
    pub(super) fn span(&mut self, event: &Event<'_>, mark: Mark, span: &Span<'_>) {
        let strand = self.strand(event, mark);
        let revision = self.intern(span.revision);
        if let Some(revision) = revision {
            let facts = &mut self.case.strands[strand as usize];
            facts.revision = facts.revision.or(Some((revision, mark)));
        }
        let call = self.span_call(mark, span, strand);
        if let Some(call) = call {
            self.note_span(call, event.keys.trace, span);
        }
        self.lane.spans.insert(span.span, (span.parent, call.unwrap_or(NONE)));
        if let Some(reach) = span.reach {
            let contact = self.add_contact(event, mark, reach);
            self.lane.span_contacts.push((contact, span.parent));
        }
        if let (true, Some(from)) = (span.work, mark.at) {
            self.lane.span_work.push(SpanWork { span: span.span, parent: span.parent, from });
        }
    }

    /// Work inside a call stirs it. Work around one is that of its caller, or of the transport under it; any other
    /// belongs to a call of another record, or to none.
    pub(super) fn settle_span_work(&mut self) {
        let mut around = FxHashSet::default();
        for (parent, _) in self.lane.spans.values().filter(|(_, call)| *call != NONE) {
            around.extend(ancestors(&self.lane.spans, *parent).map(|(span, _)| span));
        }
        for work in std::mem::take(&mut self.lane.span_work) {
            let call = ancestors(&self.lane.spans, work.parent).find(|(_, call)| *call != NONE);
            match call {
                Some((_, call)) => self.case.calls[call as usize].stirred = true,
                None if around.contains(&work.span) => {}
                None => self.work.push(work.from),
            }
        }
    }

    fn span_call(&mut self, mark: Mark, span: &Span<'_>, strand: u32) -> Option<u32> {
        let method = span.call.method.filter(|method| !method.starts_with("notifications/"))?;
        if !matches!(span.role, SpanRole::Client | SpanRole::Server) {
            return None;
        }
        let server = span.role == SpanRole::Server;
        let id = span.call.id.map_or(RpcId::Unknown, |id| self.rpc_id(id));
        let witness = if server { Witness::Server } else { Witness::Client };
        // Instrumentations nest: a second span of the same side and id inside the first is the same call.
        if let Some(call) = self.lane.spans.get(&span.parent).map(|(_, call)| *call).filter(|call| *call != NONE) {
            let facts = &self.case.calls[call as usize];
            if facts.witness == witness && facts.id == id {
                return Some(call);
            }
        }
        let method = self.case.symbols.intern(method);
        let target = self.intern(span.call.tool);
        let asked = if server { Seen::Received } else { Seen::Sent };
        let call = self.open_call(strand, id, method, target, Direction::ToServer, asked, witness, mark);
        let revision = self.intern(span.revision);
        self.close_call(call);
        let ended = span.ended.map(|ended| self.mark(mark.origin, Some(ended)));
        let facts = &mut self.case.calls[call as usize];
        facts.revision = revision;
        facts.thin = true;
        let raised = span.failed && !span.tool_error && span.code.is_none();
        if let Some(ended) = ended.filter(|_| raised) {
            // An exception ended the span: no answer is on record, on neither side.
            let (seen, number) = if server { (Seen::HandlerDone, RAISED) } else { (Seen::CallFailed, 0) };
            self.sight(call, seen, witness, ended, number);
        } else if let Some(ended) = ended {
            facts.answered = Some(ended);
            facts.answered_as = if server { Seen::Responded } else { Seen::Delivered };
            facts.answer = span_answer(span);
        }
        Some(call)
    }

    /// Contacts of spans belong to the call of the nearest ancestor that is one.
    pub(super) fn settle_span_contacts(&mut self) {
        for (contact, parent) in std::mem::take(&mut self.lane.span_contacts) {
            let call = ancestors(&self.lane.spans, parent).find(|(_, call)| *call != NONE);
            if let Some((_, call)) = call {
                let slot = &mut self.case.contacts[contact as usize];
                slot.call = call;
                slot.bound = Basis::SelfReported;
            }
        }
    }
}

/// A span and those around it, each with its call; a ring of damaged ids ends.
fn ancestors(spans: &FxHashMap<u64, (u64, u32)>, first: u64) -> impl Iterator<Item = (u64, u32)> {
    let mut at = first;
    std::iter::from_fn(move || {
        let (parent, call) = *spans.get(&at)?;
        Some((std::mem::replace(&mut at, parent), call))
    })
    .take(DEPTH)
}

/// Spans nest no deeper than this.
const DEPTH: usize = 64;

fn span_answer(span: &Span<'_>) -> AnswerFacts {
    let kind = match span.code {
        _ if span.tool_error => AnswerKind::ToolError,
        Some(_) => AnswerKind::Error,
        None => AnswerKind::Result,
    };
    let code = span.code.and_then(|code| i32::try_from(code).ok());
    AnswerFacts::by_server(kind, code)
}
