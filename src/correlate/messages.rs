//! JSON-RPC messages: requests and notifications of a strand. Answers are the business of `answers`.

use super::{
    AnswerFacts, AnswerKind, Basis, Call, Correlator, Key, Mark, NONE, RpcId, Seen, Strand, StrandFact,
    open::Candidates,
};
use crate::{
    event::{Direction, Event, Message, Notification, PhaseEvent, Request, Rpc, Witness, is_effect_free},
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
                self.note_trace(call, event.keys.trace);
                self.lane.last_message.insert(strand, call);
            }
            Rpc::Notification(notification) if notification.is_request() => {
                let direction = direction.unwrap_or_else(|| request_direction(notification.method));
                self.nameless(&notification, direction, event, mark);
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
        self.note_key(request, mark.origin, args);
        self.note_trace(call, request.trace);
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
        facts.stirred |= facts.asked.is_some_and(|asked| {
            self.lane.stirred_since(strand, facts.strand, asked.origin) || self.lane.noise_since(strand, asked.origin)
        });
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
                let open = self.open_with(strand, direction, id);
                if let Candidates::Several(open) = open {
                    self.contested(&open, witness, mark, 0);
                } else if let Some(call) = open.one().or_else(|| self.latest(strand, direction, id)) {
                    let seen = if notification.names_timeout { Seen::TimedOut } else { Seen::Cancelled };
                    self.sight(call, seen, witness, mark, 0);
                } else {
                    self.strand_event(event, mark, StrandFact::Uncancelled, 0, None);
                }
            }
            "notifications/progress" => {
                // In the TypeScript and Python SDKs the progress token equals the request id.
                let id = notification.about.map_or(RpcId::Unknown, |id| self.rpc_id(id));
                self.progress(strand, opposite(direction), id, witness, mark);
            }
            _ if direction == Direction::ToClient => {
                if notification.method == "notifications/tools/list_changed" {
                    self.case.strands[strand as usize].tools_changed = Some(mark);
                }
                self.stirs(strand, mark);
            }
            _ => {}
        }
    }

    /// Progress of the open request that its token names.
    fn progress(&mut self, strand: u32, sender: Direction, id: RpcId, witness: Witness, mark: Mark) {
        let open = self.open_with(strand, sender, id);
        if let Candidates::One(call) = open {
            self.sight(call, Seen::Handled, witness, mark, 0);
            return;
        }
        if let Candidates::Several(open) = open {
            self.contested(&open, witness, mark, 0);
        }
        // A token of the client's own: any call of the conversation may have begun.
        self.case.strands[strand as usize].stray_progress = Some(mark);
        self.stirs(strand, mark);
    }

    /// A request without an id: whoever has it may carry it out all the same, and no answer will tell.
    fn nameless(&mut self, request: &Notification<'_>, direction: Direction, event: &Event<'_>, mark: Mark) {
        if direction == Direction::ToClient || is_effect_free(request.method) {
            return;
        }
        let method = self.case.symbols.intern(request.method);
        let target = self.intern(request.target);
        let args = request.args.map_or(Key::default(), |digest| args_key(method, target, digest, false));
        self.strand_event(event, mark, StrandFact::Nameless, args.shortened(), target);
    }

    /// The server sent something that any open call of the conversation may be the reason of, or one that has just ended.
    fn stirs(&mut self, strand: u32, mark: Mark) {
        self.lane.stirs.insert(strand, mark.origin);
        self.lane.stray(mark.at);
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
        } else {
            self.stirs(strand, mark);
        }
    }
}

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

/// Who sends a request of this method (MCP specification, all revisions).
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

impl Strand {
    /// Whether the strand recorded any call.
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }
}
