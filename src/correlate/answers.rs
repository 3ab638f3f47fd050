//! Answers: which request one belongs to, what kind it is, and what it tells beside.
//!
//! A wrong link is worse than no link: where two requests with one id are open, every answer with that id is contested.

use super::{
    AnswerFacts, AnswerKind, Author, Correlator, Key, Mark, RpcId, Seen, StrandFact, ToolFacts, ToolsFacts,
    messages::opposite, open::Candidates,
};
use crate::event::{
    Answer, Detail, Direction, ErrorShape, Event, HttpMeta, Member, Message, RemarkKind, ResultShape, ResultType, Rpc,
    Witness, Wording,
};

impl Correlator {
    #[expect(clippy::too_many_arguments, reason = "an answer has that many sides")]
    pub(super) fn answer(
        &mut self,
        strand: u32,
        answer: &Answer<'_>,
        direction: Direction,
        witness: Witness,
        mark: Mark,
        http: Option<HttpMeta>,
        thin: bool,
        event: &Event<'_>,
    ) {
        let sender = opposite(direction);
        let seen = answered_as(witness, direction);
        let id = answer.id.map_or(RpcId::Unknown, |id| self.rpc_id(id));
        match self.open_with(strand, sender, id) {
            Candidates::One(call) => self.attach_answer(call, answer, seen, witness, mark, http, thin),
            Candidates::None => {
                self.answer_without_request(strand, sender, id, answer, seen, witness, mark, http, event);
            }
            Candidates::Several(open) => {
                let code = answer.error.and_then(|error| error.code).and_then(|code| i32::try_from(code).ok());
                self.contested(&open, witness, mark, code.unwrap_or(0));
                self.close_when_all_answered(&open);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "an answer has that many sides")]
    fn answer_without_request(
        &mut self,
        strand: u32,
        sender: Direction,
        id: RpcId,
        answer: &Answer<'_>,
        seen: Seen,
        witness: Witness,
        mark: Mark,
        http: Option<HttpMeta>,
        event: &Event<'_>,
    ) {
        let no_id = matches!(id, RpcId::Unknown | RpcId::Null) || self.is_placeholder(id);
        if no_id && let Some(call) = self.only_open(strand, sender) {
            self.attach_answer(call, answer, seen, witness, mark, http, false);
            self.case.calls[call as usize].answer.foreign_id = true;
            self.case.calls[call as usize].answer.echoes_id = false;
            if answer.error.is_none() {
                self.case.calls[call as usize].answer.kind = AnswerKind::InvalidEnvelope;
            }
            return;
        }
        if !no_id
            && let Some(call) = self.latest(strand, sender, id)
            && self.case.calls[call as usize].answer.foreign_id
        {
            // What had no id was somebody else's: this is the answer.
            if let Some(other) = self.case.calls[call as usize].answered {
                self.sight(call, Seen::OtherAnswer, witness, other, 0);
            }
            self.attach_answer(call, answer, seen, witness, mark, http, false);
            return;
        }
        if !no_id && let Some(call) = self.latest(strand, sender, id) {
            let late = self.gave_up(call);
            let number = self.classify(call, answer, false).kind.number();
            self.sight(call, if late { Seen::LateAnswer } else { Seen::OtherAnswer }, witness, mark, number);
            return;
        }
        if !self.may_have_been_asked(strand, id)
            && let Some(call) = self.only_open(strand, sender)
        {
            // Decided when the source ends: if no right answer comes, this one has the wrong id.
            self.sight(call, Seen::Contested, witness, mark, WRONG_ID);
        }
        // An id that is no number is one that no call has.
        let id = if let RpcId::Int(id) = id { id } else { i64::MIN };
        let unasked = StrandFact::Unasked { direction: opposite(sender), error: answer.error.is_some() };
        self.strand_event(event, mark, unasked, id, None);
    }

    /// Whether an id is one that the sender's counter gives about now: its request may be missing from the log.
    fn may_have_been_asked(&self, strand: u32, id: RpcId) -> bool {
        let RpcId::Int(id) = id else { return false };
        let calls = self.case.strands[strand as usize].calls.iter().rev();
        let latest = calls.map(|call| self.case.calls[*call as usize].id).find_map(|id| match id {
            RpcId::Int(id) => Some(id),
            _ => None,
        });
        latest.is_some_and(|latest| (0..=latest.saturating_add(COUNTED)).contains(&id))
    }

    /// Literal ids that SDKs put where the request's id could not be read.
    pub(super) fn is_placeholder(&self, id: RpcId) -> bool {
        matches!(id, RpcId::Text(text) if matches!(self.case.symbols.name(text), "server-error" | ""))
    }

    /// Whether the caller of a call had stopped waiting.
    pub(super) fn gave_up(&self, call: u32) -> bool {
        let call = &self.case.calls[call as usize];
        self.case.sightings(call).any(|row| matches!(row.seen, Seen::Cancelled | Seen::TimedOut))
    }

    /// Attaches an answer to its call.
    #[expect(clippy::too_many_arguments, reason = "an answer has that many sides")]
    pub(super) fn attach_answer(
        &mut self,
        call: u32,
        answer: &Answer<'_>,
        seen: Seen,
        witness: Witness,
        mark: Mark,
        http: Option<HttpMeta>,
        thin: bool,
    ) {
        let late = self.gave_up(call);
        self.close_call(call);
        let mut facts = self.classify(call, answer, thin);
        facts.echoes_id = true;
        if let Some(meta) = http {
            self.note_http(call, meta);
            if meta.status != 0 && !(200..300).contains(&meta.status) {
                facts.kind = AnswerKind::HttpError;
            }
        }
        if late {
            self.sight(call, Seen::LateAnswer, witness, mark, facts.kind.number());
            return;
        }
        let slot = &mut self.case.calls[call as usize];
        slot.answered = Some(mark);
        slot.answered_as = seen;
        slot.answer = facts;
        self.learn_from_answer(call, answer, mark);
    }

    /// The HTTP side that a trace envelope told.
    pub(super) fn note_http(&mut self, call: u32, meta: HttpMeta) {
        let http = self.http_of(call);
        http.status = meta.status;
        http.content = meta.content;
        http.behind |= meta.behind;
        http.unknown_words |= meta.unknown_words;
    }

    /// What an answer is, given the method it answers.
    pub(super) fn classify(&mut self, call: u32, answer: &Answer<'_>, thin: bool) -> AnswerFacts {
        let is_call = self.case.symbols.name(self.case.calls[call as usize].method) == "tools/call";
        let mut facts = facts_of(answer, is_call, thin);
        facts.names_target = match (facts.kind, answer.error) {
            (AnswerKind::InvalidEnvelope, _) => false,
            _ if facts.beside => false,
            (_, Some(error)) if error.wording == Wording::UnknownMethod => self.names_method(call, error.named),
            (_, Some(error)) => self.names_target(call, error.named),
            (_, None) => self.names_target(call, answer.named),
        };
        facts
    }

    fn names_target(&self, call: u32, named: Option<&str>) -> bool {
        let target = self.case.calls[call as usize].target;
        named.is_some() && named == target.map(|target| self.case.symbols.name(target))
    }

    /// Whether an error calls the very method unknown that was asked for, or none by its name.
    fn names_method(&self, call: u32, named: Option<&str>) -> bool {
        let asked = self.case.symbols.name(self.case.calls[call as usize].method);
        named.is_some_and(|named| named.is_empty() || named == asked)
    }

    /// Negotiated revision, server name, tools, request state.
    pub(super) fn learn_from_answer(&mut self, call: u32, answer: &Answer<'_>, mark: Mark) {
        let facts = self.case.calls[call as usize];
        let serves_tools = answer.result.is_some_and(|shape| shape.serves_tools);
        self.case.strands[facts.strand as usize].serves_tools |= serves_tools;
        match answer.detail {
            Detail::Initialize { revision, server } => {
                let (revision, server) = (self.intern(revision), self.intern(server));
                let strand = &mut self.case.strands[facts.strand as usize];
                strand.revision = strand.revision.or(revision.map(|revision| (revision, mark)));
                strand.server = strand.server.or(server);
                strand.server_info = strand.server_info.or(server);
            }
            Detail::Tools(list) if self.case.symbols.name(facts.method) == "tools/list" => {
                let tools: Vec<ToolFacts> = list
                    .tools
                    .iter()
                    .map(|tool| ToolFacts {
                        name: self.case.symbols.intern(tool.name),
                        read_only: tool.read_only,
                        idempotent: tool.idempotent,
                        schema_ok: tool.schema_ok,
                        digest: tool.digest.into(),
                    })
                    .collect();
                let count = u32::try_from(tools.len()).unwrap_or(u32::MAX);
                let facts_of_list = ToolsFacts { mark, tools, partial: list.partial, invalid: list.invalid, count };
                self.case.strands[facts.strand as usize].tools.push(facts_of_list);
            }
            Detail::State(digest) => self.case.calls[call as usize].state_given = Key::from(digest).0[0] | 1,
            _ => {}
        }
    }

    /// Bytes that are no message where an answer should be.
    pub(super) fn unreadable(
        &mut self,
        strand: u32,
        direction: Direction,
        witness: Witness,
        mark: Mark,
        message: &Message<'_>,
        event: &Event<'_>,
    ) {
        let only = self.only_open(strand, opposite(direction));
        let Some(call) = only.filter(|_| direction == Direction::ToClient) else {
            if message.direction != Some(Direction::ToClient) {
                self.strand_event(event, mark, StrandFact::Unreadable, 0, None);
            }
            let what = StrandFact::Remark(RemarkKind::ParseFailure);
            self.strand_event(event, mark, what, 0, None);
            return;
        };
        self.close_call(call);
        if let Some(meta) = message.http {
            self.note_http(call, meta);
        }
        let failed = message.http.is_some_and(|http| http.status != 0 && !(200..300).contains(&http.status));
        let kind = match message.rpc {
            _ if failed => AnswerKind::HttpError,
            Rpc::NotRpc => AnswerKind::InvalidEnvelope,
            _ => AnswerKind::Malformed,
        };
        let slot = &mut self.case.calls[call as usize];
        slot.answered = Some(mark);
        slot.answered_as = answered_as(witness, direction);
        slot.answer = AnswerFacts { kind, ..AnswerFacts::default() };
    }

    /// At the end of a source: a request that stayed open while an answer with an id nobody asked for came was
    /// answered with the wrong id.
    pub(super) fn settle_wrong_ids(&mut self) {
        let open = self.lane.open.everywhere();
        for call in open {
            let facts = self.case.calls[call as usize];
            let wrong =
                self.case.sightings(&facts).find(|row| row.seen == Seen::Contested && row.number == WRONG_ID).copied();
            if let Some(row) = wrong
                && facts.answered.is_none()
            {
                let slot = &mut self.case.calls[call as usize];
                slot.answered = Some(row.mark);
                slot.answer = AnswerFacts { kind: AnswerKind::InvalidEnvelope, ..AnswerFacts::default() };
            }
        }
    }
}

/// Marks a [`Seen::Contested`] row as "an answer with an id that nobody asked for".
pub(super) const WRONG_ID: i32 = i32::MIN;

/// Requests that may be missing between two that a log holds: an id that is further off was never asked.
const COUNTED: i64 = 64;

/// What a witness proves when it records an answer.
pub(super) fn answered_as(witness: Witness, direction: Direction) -> Seen {
    match (witness, direction) {
        (Witness::Client, Direction::ToClient) | (Witness::Server, Direction::ToServer) => Seen::Delivered,
        _ => Seen::Responded,
    }
}

/// What an answer is by itself. Envelope is judged before result.
pub(super) fn facts_of(answer: &Answer<'_>, is_call: bool, thin: bool) -> AnswerFacts {
    let beside = answer.beside || answer.error.is_some_and(|error| error.beside);
    let mut facts = AnswerFacts { author: Author::Server, beside, ..AnswerFacts::default() };
    match (answer.result, answer.error) {
        (Some(shape), None) if answer.version_ok => {
            facts.kind = if thin { thin_result(shape, is_call) } else { result_kind(shape, is_call) };
            facts.wording = shape.wording;
            // An SDK that does not enter a function answers in words: whatever stands beside them is the tool's own.
            if (shape.beside || beside) && matches!(shape.wording, Wording::UnknownTool | Wording::ArgumentValidation) {
                facts.wording = Wording::Other;
            }
        }
        (None, Some(error)) if answer.version_ok && valid_error(&error, thin) => {
            facts.kind = AnswerKind::Error;
            note_error(&mut facts, &error);
        }
        (_, error) => {
            facts.kind = AnswerKind::InvalidEnvelope;
            if let Some(error) = error {
                note_error(&mut facts, &error);
            }
        }
    }
    facts
}

/// A result whose body was redacted or shown as a program's own notation: only `isError` may be known.
fn thin_result(shape: ResultShape, is_call: bool) -> AnswerKind {
    match shape.is_error {
        _ if shape.failed => AnswerKind::ToolError,
        Member::Valid => AnswerKind::Result,
        _ if !is_call => AnswerKind::Result,
        _ if shape.result_type == ResultType::InputRequired => AnswerKind::InputRequired,
        _ => AnswerKind::NotCaptured,
    }
}

fn result_kind(shape: ResultShape, is_call: bool) -> AnswerKind {
    match shape.result_type {
        ResultType::InputRequired => return AnswerKind::InputRequired,
        ResultType::Task => return AnswerKind::Task,
        ResultType::Unknown if is_call => return AnswerKind::InvalidResult,
        _ => {}
    }
    if !is_call {
        return if shape.object { AnswerKind::Result } else { AnswerKind::InvalidEnvelope };
    }
    if shape.task && shape.content == Member::Absent {
        return AnswerKind::Task;
    }
    if !shape.object || shape.content != Member::Valid || shape.is_error == Member::Invalid {
        return AnswerKind::InvalidResult;
    }
    if shape.failed { AnswerKind::ToolError } else { AnswerKind::Result }
}

fn valid_error(error: &ErrorShape<'_>, thin: bool) -> bool {
    error.message_ok && (error.code.is_some() || thin)
}

fn note_error(facts: &mut AnswerFacts, error: &ErrorShape<'_>) {
    facts.wording = error.wording;
    if let Some(code) = error.code.and_then(|code| i32::try_from(code).ok()) {
        facts.code = code;
        facts.has_code = true;
    }
}
