//! JSON-RPC messages: pairs requests with answers inside one strand.
//!
//! A wrong link is worse than no link: where two requests with one id are open, every answer with that id is contested.

use super::{
    AnswerFacts, AnswerKind, Author, Basis, Call, Correlator, Key, Mark, NONE, RpcId, Seen, Strand, StrandFact,
    ToolFacts, ToolsFacts, open::Candidates,
};
use crate::{
    event::{
        Answer, Detail, Direction, ErrorShape, Event, HttpMeta, Member, Message, Notification, PhaseEvent, RemarkKind,
        Request, ResultShape, ResultType, Rpc, Witness, Wording,
    },
    symbol::Symbol,
};

impl Correlator {
    pub(super) fn message(&mut self, event: &Event<'_>, mark: Mark, message: &Message<'_>) {
        let strand = self.strand(event, mark);
        let witness = self.witness_of(event);
        let direction = message.direction;
        self.lane.last_message.remove(&strand);
        match message.rpc {
            Rpc::Request(request) => {
                let direction = direction.unwrap_or_else(|| request_direction(request.method));
                let seen = if message.queued { Seen::Queued } else { asked_as(witness, direction) };
                let call = self.request(strand, &request, direction, seen, witness, mark, message.thin);
                self.lane.last_message.insert(strand, call);
            }
            Rpc::Notification(notification) => {
                let direction = direction.unwrap_or_else(|| notification_direction(notification.method));
                self.notification(strand, &notification, direction, event, mark);
            }
            Rpc::Answer(answer) => {
                let direction = direction.unwrap_or(Direction::ToClient);
                self.answer(strand, &answer, direction, witness, mark, message.http, message.thin, event);
            }
            Rpc::Malformed | Rpc::NotRpc => {
                let direction = direction.unwrap_or(Direction::ToClient);
                self.unreadable(strand, direction, witness, mark, message, event);
            }
        }
    }

    /// Opens a call.
    #[expect(clippy::too_many_arguments, reason = "a request has that many sides, and a struct would only rename them")]
    pub(super) fn request(
        &mut self,
        strand: u32,
        request: &Request<'_>,
        direction: Direction,
        seen: Seen,
        witness: Witness,
        mark: Mark,
        thin: bool,
    ) -> u32 {
        let id = self.rpc_id(request.id);
        let method = self.case.symbols.intern(request.method);
        let target = self.intern(request.target);
        let args = request.args.map_or(Key::default(), |digest| args_key(method, target, digest, thin));
        let revision = if request.method == "initialize" { None } else { self.intern(request.revision) };
        if let Some(client) = self.intern(request.client) {
            let strand = &mut self.case.strands[strand as usize];
            strand.client = strand.client.or(Some(client));
            strand.client_info = strand.client_info.or(Some(client));
        }
        if let Some(earlier) = self.refused_before(strand, id, method, target, args, direction) {
            self.resent(earlier, witness, mark);
            return earlier;
        }
        let session = self.case.strands[strand as usize]
            .sessions
            .first()
            .copied()
            .filter(|_| self.case.strands[strand as usize].sessions.len() == 1);
        let call = self.open_call(strand, id, method, target, direction, seen, witness, mark);
        let facts = &mut self.case.calls[call as usize];
        facts.args = args;
        facts.pairs = request.pairs;
        facts.idempotency_key = request.idempotency_key.map_or(0, |digest| Key::from(digest).0[0] | 1);
        facts.state_sent = request.state.map_or(0, |digest| Key::from(digest).0[0] | 1);
        facts.continues = request.has_input_responses;
        facts.revision = revision;
        facts.session = session;
        facts.thin = thin;
        if direction == Direction::ToClient {
            self.note_server_request(strand, call, witness, mark);
        }
        call
    }

    /// The earlier call of the same id and body that HTTP refused: the same request once more, not a new one.
    fn refused_before(
        &self,
        strand: u32,
        id: RpcId,
        method: Symbol,
        target: Option<Symbol>,
        args: Key,
        direction: Direction,
    ) -> Option<u32> {
        if self.case.http.is_empty() {
            return None;
        }
        let earlier = self.latest(strand, direction, id)?;
        let call = &self.case.calls[earlier as usize];
        let same = call.method == method && call.target == target && call.args == args;
        (same && call.http != NONE && call.answer.kind == AnswerKind::HttpError).then_some(earlier)
    }

    /// One more POST of a call: its answer is still to come, and what answered the earlier one is a status in its past.
    pub(super) fn resent(&mut self, call: u32, witness: Witness, mark: Mark) {
        let status = self.http_of(call).status;
        self.sight(call, Seen::Resent, witness, mark, i32::from(status));
        let http = self.http_of(call);
        http.posts = http.posts.saturating_add(1);
        http.status = 0;
        let facts = &mut self.case.calls[call as usize];
        let was_closed = facts.answered.take().is_some();
        facts.answer = AnswerFacts::default();
        let Call { strand, direction, id, .. } = *facts;
        if was_closed {
            self.lane.open.reopen(strand, direction, id, call);
        }
    }

    /// Adds a call and marks it open.
    #[expect(clippy::too_many_arguments, reason = "the identity of a call and its first sighting")]
    pub(super) fn open_call(
        &mut self,
        strand: u32,
        id: RpcId,
        method: Symbol,
        target: Option<Symbol>,
        direction: Direction,
        seen: Seen,
        witness: Witness,
        mark: Mark,
    ) -> u32 {
        let call = u32::try_from(self.case.calls.len()).expect("fewer than 2^32 calls");
        self.case.calls.push(Call {
            run: NONE,
            strand,
            session: None,
            id,
            method,
            target,
            args: Key::default(),
            pairs: crate::event::Pairs::default(),
            idempotency_key: 0,
            state_sent: 0,
            state_given: 0,
            asked: Some(mark),
            answered: None,
            sightings: NONE,
            revision: None,
            http: NONE,
            answer: AnswerFacts::default(),
            asked_as: seen,
            answered_as: Seen::Responded,
            witness,
            direction,
            continues: false,
            contested: false,
            thin: false,
            stirred: false,
            joined: Basis::SelfReported,
        });
        self.case.strands[strand as usize].calls.push(call);
        if let Candidates::One(other) = self.lane.open.with_id(strand, direction, id) {
            self.case.calls[other as usize].contested = true;
            self.case.calls[call as usize].contested = true;
        } else if let Candidates::Several(_) = self.lane.open.with_id(strand, direction, id) {
            self.case.calls[call as usize].contested = true;
        }
        self.lane.open.open(strand, direction, id, call);
        call
    }

    /// The only open call of a strand and sender, if there is exactly one.
    pub(super) fn only_open(&self, strand: u32, sender: Direction) -> Option<u32> {
        self.lane.open.only(strand, sender)
    }

    /// The open calls of a strand, oldest first.
    pub(super) fn open_calls(&self, strand: u32) -> Vec<u32> {
        self.lane.open.all(strand).collect()
    }

    /// Marks a call as no longer open.
    pub(super) fn close_call(&mut self, call: u32) {
        let facts = &mut self.case.calls[call as usize];
        let strand = &self.case.strands[facts.strand as usize];
        facts.stirred |= facts.asked.is_some_and(|asked| self.lane.stirred_since(strand, facts.strand, asked.origin));
        let facts = *facts;
        self.lane.open.close(facts.strand, facts.direction, facts.id, call);
    }

    /// The id in its other spelling: a numeric string for a number. Spans and some SDKs write ids that way.
    pub(super) fn other_spelling(&self, id: RpcId) -> Option<RpcId> {
        match id {
            RpcId::Text(text) => self.case.symbols.name(text).parse().ok().map(RpcId::Int),
            RpcId::Int(number) => self.case.symbols.get(&number.to_string()).map(RpcId::Text),
            _ => None,
        }
    }

    /// The latest call with this id, open or not.
    pub(super) fn latest(&self, strand: u32, sender: Direction, id: RpcId) -> Option<u32> {
        let open = &self.lane.open;
        open.latest(strand, sender, id).or_else(|| open.latest(strand, sender, self.other_spelling(id)?))
    }

    #[expect(clippy::too_many_arguments, reason = "an answer has that many sides")]
    fn answer(
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
        let mut open = self.lane.open.with_id(strand, sender, id);
        if matches!(open, Candidates::None)
            && let Some(other) = self.other_spelling(id)
        {
            open = self.lane.open.with_id(strand, sender, other);
        }
        match open {
            Candidates::One(call) => self.attach_answer(call, answer, seen, witness, mark, http, thin),
            Candidates::None => {
                self.answer_without_request(strand, sender, id, answer, seen, witness, mark, http, event);
            }
            Candidates::Several(open) => self.contested_answer(&open, answer, witness, mark),
        }
    }

    /// Two open requests share the id: the answer is one's, nobody can say whose.
    fn contested_answer(&mut self, open: &[u32], answer: &Answer<'_>, witness: Witness, mark: Mark) {
        for call in open {
            let code = answer.error.and_then(|error| error.code).and_then(|code| i32::try_from(code).ok()).unwrap_or(0);
            self.sight(*call, Seen::Contested, witness, mark, code);
        }
        // One of them is answered now; which one stays open, so the oldest is closed to keep the count right.
        if let Some(&oldest) = open.first() {
            self.close_call(oldest);
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
            self.sight(call, if late { Seen::LateAnswer } else { Seen::OtherAnswer }, witness, mark, 0);
            return;
        }
        if let Some(call) = self.only_open(strand, sender) {
            // Decided when the source ends: if no right answer comes, this one has the wrong id.
            self.sight(call, Seen::Contested, witness, mark, WRONG_ID);
        }
        self.strand_event(event, mark, StrandFact::Unasked, 0, None);
    }

    /// Literal ids that SDKs put where the request's id could not be read.
    fn is_placeholder(&self, id: RpcId) -> bool {
        matches!(id, RpcId::Text(text) if matches!(self.case.symbols.name(text), "server-error" | ""))
    }

    /// Whether the caller of a call had stopped waiting.
    fn gave_up(&self, call: u32) -> bool {
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
            self.sight(call, Seen::LateAnswer, witness, mark, i32::from(facts.kind == AnswerKind::Result));
            return;
        }
        let slot = &mut self.case.calls[call as usize];
        slot.answered = Some(mark);
        slot.answered_as = seen;
        slot.answer = facts;
        self.learn_from_answer(call, answer, mark);
    }

    /// The HTTP side that a trace envelope told.
    fn note_http(&mut self, call: u32, meta: HttpMeta) {
        let http = self.http_of(call);
        http.status = meta.status;
        http.content = meta.content;
    }

    /// What an answer is, given the method it answers. Envelope is judged before result.
    pub(super) fn classify(&mut self, call: u32, answer: &Answer<'_>, thin: bool) -> AnswerFacts {
        let is_call = self.case.symbols.name(self.case.calls[call as usize].method) == "tools/call";
        let mut facts = AnswerFacts { author: Author::Server, ..AnswerFacts::default() };
        match (answer.result, answer.error) {
            (Some(shape), None) if answer.version_ok => {
                facts.kind = if thin { thin_result(shape, is_call) } else { result_kind(shape, is_call) };
                facts.wording = shape.wording;
                // An SDK that does not enter a function answers in words: structured content is the tool's own.
                if shape.structured && matches!(shape.wording, Wording::UnknownTool | Wording::ArgumentValidation) {
                    facts.wording = Wording::Other;
                }
                facts.names_target = self.names_target(call, answer.named);
            }
            (None, Some(error)) if answer.version_ok && valid_error(&error, thin) => {
                facts.kind = AnswerKind::Error;
                note_error(&mut facts, &error);
                facts.names_target = self.names_target(call, error.named);
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

    fn names_target(&self, call: u32, named: Option<&str>) -> bool {
        let target = self.case.calls[call as usize].target;
        named.is_some() && named == target.map(|target| self.case.symbols.name(target))
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

    fn notification(
        &mut self,
        strand: u32,
        notification: &Notification<'_>,
        direction: Direction,
        event: &Event<'_>,
        mark: Mark,
    ) {
        let witness = self.witness_of(event);
        match notification.method {
            "notifications/initialized" => {
                let step = if witness == Witness::Server {
                    PhaseEvent::InitializedReceived
                } else {
                    PhaseEvent::InitializedSent
                };
                self.strand_event(event, mark, StrandFact::Step(step), 0, None);
            }
            "notifications/cancelled" => {
                let id = notification.about.map_or(RpcId::Unknown, |id| self.rpc_id(id));
                if let Some(call) = self.latest(strand, direction, id) {
                    let seen = if notification.names_timeout { Seen::TimedOut } else { Seen::Cancelled };
                    self.sight(call, seen, witness, mark, 0);
                }
            }
            "notifications/progress" => {
                // In the TypeScript and Python SDKs the progress token equals the request id.
                let id = notification.about.map_or(RpcId::Unknown, |id| self.rpc_id(id));
                let sender = opposite(direction);
                if let Some(call) =
                    self.latest(strand, sender, id).filter(|call| self.open_calls(strand).contains(call))
                {
                    self.sight(call, Seen::Handled, witness, mark, 0);
                } else {
                    // A token of the client's own: any call of the conversation may have begun.
                    self.case.strands[strand as usize].stray_progress = Some(mark);
                    self.lane.stirs.insert(strand, mark.origin);
                }
            }
            _ if direction == Direction::ToClient => {
                if notification.method == "notifications/tools/list_changed" {
                    self.case.strands[strand as usize].tools_changed = Some(mark);
                }
                self.lane.stirs.insert(strand, mark.origin);
            }
            _ => {}
        }
    }

    /// A request of the server inside a call of the client: the only open tool call waits for it.
    fn note_server_request(&mut self, strand: u32, request: u32, witness: Witness, mark: Mark) {
        if self.case.symbols.name(self.case.calls[request as usize].method) == "ping" {
            return;
        }
        let tool_call = self.case.symbols.get("tools/call");
        let mut open = self.lane.open.all(strand).filter(|call| {
            let call = &self.case.calls[*call as usize];
            call.direction == Direction::ToServer && Some(call.method) == tool_call
        });
        let found = (open.next(), open.next());
        drop(open);
        if let (Some(call), None) = found {
            let number = i32::try_from(request).unwrap_or(-1);
            self.sight(call, Seen::ServerRequest, witness, mark, number);
        }
    }

    /// Bytes that are no message where an answer should be.
    fn unreadable(
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

/// The other way.
pub(super) fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::ToServer => Direction::ToClient,
        Direction::ToClient => Direction::ToServer,
    }
}

/// What a witness proves when it records a request.
pub(super) fn asked_as(witness: Witness, direction: Direction) -> Seen {
    match (witness, direction) {
        (Witness::Server, Direction::ToServer) | (Witness::Client, Direction::ToClient) => Seen::Received,
        _ => Seen::Sent,
    }
}

/// What a witness proves when it records an answer.
pub(super) fn answered_as(witness: Witness, direction: Direction) -> Seen {
    match (witness, direction) {
        (Witness::Client, Direction::ToClient) | (Witness::Server, Direction::ToServer) => Seen::Delivered,
        _ => Seen::Responded,
    }
}

/// Who sends a request of this method (`mcp-protocol.md` 3.1).
pub(super) fn request_direction(method: &str) -> Direction {
    if method.starts_with("sampling/") || method.starts_with("elicitation/") || method == "roots/list" {
        Direction::ToClient
    } else {
        Direction::ToServer
    }
}

fn notification_direction(method: &str) -> Direction {
    match method {
        "notifications/initialized" | "notifications/cancelled" | "notifications/roots/list_changed" => {
            Direction::ToServer
        }
        _ => Direction::ToClient,
    }
}

/// The digest that makes two requests the same operation: method and target count as much as the arguments.
pub(super) fn args_key(method: Symbol, target: Option<Symbol>, digest: crate::event::Digest, thin: bool) -> Key {
    if thin {
        return Key::default();
    }
    let Key([low, high]) = digest.into();
    let names = u64::from(method.number()) << 32 | target.map_or(0, |target| u64::from(target.number()));
    Key([low ^ names.wrapping_mul(0x9E37_79B9_7F4A_7C15), high | 1])
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

impl Strand {
    /// Whether the strand recorded any call.
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }
}
