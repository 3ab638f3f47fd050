//! HTTP exchanges: one entry is one POST, GET or DELETE with what its bodies held. Exchange before id.

use rustc_hash::FxHashMap;

use super::{
    AnswerFacts, AnswerKind, Author, Correlator, HttpFacts, Key, Mark, NONE, RpcId, Seen, StrandFact, Transport,
    accounts::BarePost, messages::args_key,
};
use crate::{
    event::{
        Answer, Body, ContentKind, Direction, Event, Exchange, HttpFailure, Id, Kind, Message, Reach, ReachSource,
        ReachStage, Request, Rpc, Upstream, Witness, Wording,
    },
    symbol::Symbol,
    time::{SECOND, Timestamp},
};

impl Correlator {
    pub(super) fn exchange(&mut self, event: &Event<'_>, mark: Mark, exchange: &Exchange<'_>) {
        if !exchange.mcp {
            self.foreign_exchange(event, mark, exchange);
            return;
        }
        let endpoint = self.case.symbols.intern(&format!("{}{}", exchange.authority, exchange.path));
        let session = self.intern(exchange.session_sent.or(exchange.session_given).or(event.keys.session));
        let strand = self.http_strand(event, mark, session, endpoint);
        let witness = self.witness_of(event);
        // Without an end nobody knows what else happened before it.
        let ended = exchange.ended.map_or(Mark { at: None, ..mark }, |ended| {
            let at = self.mark(mark.origin, Some(ended)).at;
            Mark { origin: mark.origin, at }
        });
        if exchange.status > 0 {
            let authority = self.case.symbols.intern(exchange.authority);
            self.lane.connected.insert(authority, ended.at.or(mark.at));
        }
        let requests: Vec<Request<'_>> = exchange
            .sent
            .iter()
            .filter_map(|rpc| if let Rpc::Request(request) = rpc { Some(*request) } else { None })
            .collect();
        for rpc in exchange.sent.iter().filter(|rpc| !matches!(rpc, Rpc::Request(_))) {
            self.carried(event, mark, Direction::ToServer, *rpc);
        }
        let calls: Vec<u32> =
            requests.iter().map(|request| self.post(strand, exchange, request, session, witness, mark)).collect();
        for call in &calls {
            self.note_trace(*call, event.keys.trace);
        }
        if calls.is_empty() {
            if exchange.method == "POST" {
                let status = u16::try_from(exchange.status).unwrap_or(0);
                self.bare_posts.push(BarePost { asked: mark, ended, status });
            }
            self.stream(event, ended, exchange, strand);
            return;
        }
        self.answers(event, ended, exchange, strand, &calls, witness);
    }

    /// Traffic that is not MCP is evidence of reach only where the server side made it.
    fn foreign_exchange(&mut self, event: &Event<'_>, mark: Mark, exchange: &Exchange<'_>) {
        if self.witness_of(event) != Witness::Server {
            return;
        }
        let stage = match exchange.failure {
            Some(HttpFailure::NotConnected) => ReachStage::NotConnected,
            _ if exchange.status > 0 => ReachStage::Answered,
            _ => ReachStage::Attempted,
        };
        let reach = Reach {
            path: Some(exchange.path),
            method: Some(exchange.method),
            status: u16::try_from(exchange.status).ok().filter(|status| *status > 0),
            ..Reach::new(stage, ReachSource::Egress, exchange.authority)
        };
        self.reach(event, mark, &reach);
    }

    /// The call of a `POSTed` request: a new one, or the earlier one where id, body and session are equal.
    fn post(
        &mut self,
        strand: u32,
        exchange: &Exchange<'_>,
        request: &Request<'_>,
        session: Option<Symbol>,
        witness: Witness,
        mark: Mark,
    ) -> u32 {
        let id = self.rpc_id(request.id);
        if let Some(earlier) = self.same_post(strand, id, request, session) {
            self.resent(earlier, witness, mark);
            return earlier;
        }
        let seen = super::messages::asked_as(witness, Direction::ToServer);
        let call = self.request(strand, request, Direction::ToServer, seen, witness, mark, false);
        let revision = self.intern(exchange.revision);
        let facts = &mut self.case.calls[call as usize];
        // What a refusal gives to a request that named no session is no session of that request.
        facts.session = session.filter(|_| !exchange.nameless || exchange.status < 400);
        facts.revision = facts.revision.or(revision.filter(|_| request.method != "initialize"));
        let http = self.http_of(call);
        (http.posts, http.nameless) = (1, exchange.nameless);
        call
    }

    /// Settled question 1: every POST is a call of its own, unless id, body and session are equal.
    fn same_post(&mut self, strand: u32, id: RpcId, request: &Request<'_>, session: Option<Symbol>) -> Option<u32> {
        let earlier = self.latest(strand, Direction::ToServer, id)?;
        let call = self.case.calls[earlier as usize];
        let target = self.intern(request.target);
        let args = request.args.map_or(Key::default(), |digest| args_key(call.method, target, digest, call.thin));
        let same_args = self.case.symbols.get(request.method) == Some(call.method)
            && target == call.target
            && args == call.args
            && request.state.is_some() == (call.state_sent != 0);
        (same_args && call.session == session && call.answer.kind != AnswerKind::Result).then_some(earlier)
    }

    /// Messages on a stream that answers no request of its own: GET streams, answers of the client.
    fn stream(&mut self, event: &Event<'_>, ended: Mark, exchange: &Exchange<'_>, strand: u32) {
        if exchange.method == "GET" {
            if exchange.resumes {
                let witness = self.witness_of(event);
                for call in self.open_calls(strand) {
                    self.sight(call, Seen::Resumed, witness, ended, exchange.status);
                }
            }
            if exchange.path.ends_with("/sse") {
                self.case.strands[strand as usize].transport = Transport::Sse;
            }
            let status = i64::from(exchange.status);
            self.strand_event(event, ended, StrandFact::Stream, status, None);
            self.note_stream(event, ended, exchange, strand);
        }
        let asked = match exchange.method {
            // A stream may carry errors that are about others.
            "GET" => failed_status(exchange.status),
            // What a POST of nothing may have asked is not known.
            "POST" => !exchange.sent.is_empty(),
            _ => true,
        };
        for rpc in exchange.answered.iter().filter(|rpc| !(asked && is_its_own(rpc))) {
            self.carried(event, ended, Direction::ToClient, *rpc);
        }
    }

    /// A message inside an exchange that is not the `POSTed` request's own business.
    fn carried(&mut self, event: &Event<'_>, mark: Mark, direction: Direction, rpc: Rpc<'_>) {
        if matches!(rpc, Rpc::NotRpc | Rpc::Malformed) {
            return;
        }
        let message = Message { direction: Some(direction), queued: false, thin: false, http: None, rpc };
        let carried = Event { kind: Kind::Message(message), ..*event };
        match (direction, rpc) {
            (Direction::ToServer, Rpc::Answer(answer)) if self.keep_early(&carried, mark, &answer) => {}
            (Direction::ToClient, Rpc::Request(request)) => {
                self.message(&carried, mark, &message);
                self.note_question(&carried, mark, request.id);
            }
            _ => self.message(&carried, mark, &message),
        }
    }

    /// Finds the answers of the `POSTed` requests, or says why there are none.
    fn answers(
        &mut self,
        event: &Event<'_>,
        ended: Mark,
        exchange: &Exchange<'_>,
        strand: u32,
        calls: &[u32],
        witness: Witness,
    ) {
        let mut left: Vec<u32> = calls.to_vec();
        let mut of_id: FxHashMap<RpcId, Vec<usize>> = FxHashMap::default();
        for (place, call) in calls.iter().enumerate().rev() {
            of_id.entry(self.case.calls[*call as usize].id).or_default().push(place);
        }
        let mut strangers: Vec<Answer<'_>> = Vec::new();
        for rpc in exchange.answered {
            let Rpc::Answer(answer) = rpc else {
                self.carried(event, ended, Direction::ToClient, *rpc);
                continue;
            };
            let id = answer.id.map_or(RpcId::Unknown, |id| self.rpc_id(id));
            match of_id.get_mut(&id).and_then(Vec::pop) {
                Some(place) => {
                    self.http_answer(std::mem::replace(&mut left[place], NONE), answer, exchange, witness, ended);
                }
                // Streams of one session may carry each other's answers.
                None if self.is_of_another(exchange, strand, id, calls) => {
                    self.carried(event, ended, Direction::ToClient, *rpc);
                }
                None => strangers.push(*answer),
            }
        }
        left.retain(|call| *call != NONE);
        // An answer to another request may come on this stream.
        if left.is_empty() || calls.len() > 1 {
            for answer in &strangers {
                self.carried(event, ended, Direction::ToClient, Rpc::Answer(*answer));
            }
        }
        // What names nobody speaks of the only member of a POST, and of any of several.
        let single = exchange.sent.len() == 1;
        for call in left {
            if let ([answer], true) = (&strangers[..], single) {
                self.stranger(call, answer, exchange, witness, ended);
            } else {
                self.no_answer(call, exchange, witness, ended);
            }
        }
        let behind = exchange.behind || tells_of_a_member(exchange, &strangers);
        for call in calls {
            self.note_exchange(*call, exchange, witness, ended, behind);
        }
        self.listening(event, ended, exchange, strand, calls);
    }

    /// Whether a message on an event stream answers a request of the same conversation that this POST does not hold.
    fn is_of_another(&self, exchange: &Exchange<'_>, strand: u32, id: RpcId, calls: &[u32]) -> bool {
        exchange.content == ContentKind::EventStream
            && !matches!(id, RpcId::Unknown | RpcId::Null)
            && !self.is_placeholder(id)
            && self.latest(strand, Direction::ToServer, id).is_some_and(|call| !calls.contains(&call))
    }

    /// An answer with the request's own id.
    fn http_answer(&mut self, call: u32, answer: &Answer<'_>, exchange: &Exchange<'_>, witness: Witness, mark: Mark) {
        let seen = super::answers::answered_as(witness, Direction::ToClient);
        self.case.calls[call as usize].answer = AnswerFacts::default();
        self.attach_answer(call, answer, seen, witness, mark, None, false);
        if failed_status(exchange.status) {
            let author = Author::Unknown;
            let slot = &mut self.case.calls[call as usize].answer;
            slot.kind = AnswerKind::HttpError;
            slot.author = author;
        }
    }

    /// The only answer of the only request has another id, or none: an HTTP error's body, or an invalid envelope.
    fn stranger(&mut self, call: u32, answer: &Answer<'_>, exchange: &Exchange<'_>, witness: Witness, mark: Mark) {
        let mut facts = self.classify(call, answer, false);
        facts.foreign_id = true;
        facts.author = Author::Server;
        // A body that only looks like an envelope is read as text.
        if facts.wording == Wording::Other {
            facts.wording = exchange.wording;
        }
        let names_none = names_none(answer);
        facts.kind = match facts.kind {
            _ if failed_status(exchange.status) => AnswerKind::HttpError,
            AnswerKind::Error if names_none => AnswerKind::Error,
            _ => AnswerKind::InvalidEnvelope,
        };
        self.set_answer(call, facts, witness, mark);
    }

    /// No message answers the request: what the status and the body say.
    fn no_answer(&mut self, call: u32, exchange: &Exchange<'_>, witness: Witness, mark: Mark) {
        let kind = match (exchange.failure, exchange.body) {
            (Some(HttpFailure::NotConnected), _) if exchange.status <= 0 => AnswerKind::NotSent,
            (Some(HttpFailure::Aborted), _) if exchange.status <= 0 => {
                self.sight(call, Seen::Cancelled, witness, mark, 0);
                return;
            }
            _ if exchange.status <= 0 => {
                self.sight(call, Seen::ConnectionClosed, witness, mark, 0);
                return;
            }
            _ if failed_status(exchange.status) => AnswerKind::HttpError,
            // HTTP+SSE: the answer comes on the other stream.
            _ if exchange.status == 202 => return,
            (_, Body::Malformed) => AnswerKind::Malformed,
            (_, Body::Foreign) => AnswerKind::Malformed,
            (_, Body::Missing) => AnswerKind::NotCaptured,
            (_, Body::TornStream) => AnswerKind::StreamIncomplete,
            _ if exchange.content == ContentKind::EventStream => AnswerKind::StreamIncomplete,
            (_, Body::Parsed) => AnswerKind::InvalidEnvelope,
            (_, Body::Empty) => AnswerKind::Malformed,
        };
        let author = match kind {
            _ if exchange.by_gateway => Author::Gateway,
            AnswerKind::NotSent => Author::Client,
            // The head of an event stream shows that the POST was taken, not that the answer was made.
            AnswerKind::NotCaptured if exchange.content != ContentKind::EventStream => Author::Server,
            // A page or plain text may be a portal's; broken JSON behind a success is the server's own.
            AnswerKind::Malformed if exchange.content == ContentKind::Json => Author::Server,
            _ => Author::Unknown,
        };
        let facts = AnswerFacts { kind, author, wording: exchange.wording, ..AnswerFacts::default() };
        self.set_answer(call, facts, witness, mark);
        if matches!(kind, AnswerKind::StreamIncomplete) && exchange.event_id {
            // The stream can be resumed: the request stays open for a GET that brings its answer.
            let facts = self.case.calls[call as usize];
            self.lane.open.reopen(facts.strand, facts.direction, facts.id, call);
        }
    }

    fn set_answer(&mut self, call: u32, facts: AnswerFacts, witness: Witness, mark: Mark) {
        self.close_call(call);
        let slot = &mut self.case.calls[call as usize];
        slot.answered = Some(mark);
        slot.answered_as = super::answers::answered_as(witness, Direction::ToClient);
        slot.answer = facts;
    }

    fn note_exchange(&mut self, call: u32, exchange: &Exchange<'_>, witness: Witness, mark: Mark, behind: bool) {
        let forwarded = match exchange.upstream {
            Upstream::Once(_, status) => Some((Seen::ForwardedOnce, status)),
            Upstream::Several(status) => Some((Seen::ForwardedAgain, status)),
            Upstream::Untold | Upstream::None | Upstream::ConnectFailed(_) => None,
        };
        if let Some((seen, status)) = forwarded {
            self.sight(call, seen, witness, mark, i32::from(status));
        }
        if exchange.sent_before {
            self.sight(call, Seen::HiddenRetry, witness, mark, 0);
        }
        let began = self.case.calls[call as usize].asked.and_then(|asked| asked.at);
        let reconnected = exchange.resends && self.may_be_connected(exchange, began);
        let http = self.http_of(call);
        http.status = u16::try_from(exchange.status).unwrap_or(0);
        http.content = exchange.content;
        http.body = exchange.body;
        http.events = u16::try_from(exchange.answered.len()).unwrap_or(u16::MAX);
        http.retry_after = exchange.retry_after.unwrap_or(NONE);
        http.challenge = exchange.challenge;
        http.resumable = exchange.event_id;
        // A later POST of the same request takes nothing from what an earlier one showed.
        http.behind |= failed_status(exchange.status) && behind;
        http.unknown_words |= failed_status(exchange.status) && exchange.unknown_words;
        http.unread |= failed_status(exchange.status) && matches!(exchange.body, Body::Missing | Body::TornStream);
        http.note_duration(exchange.took);
        http.reconnected |= reconnected;
    }

    /// Whether a connection to the endpoint may still have been open when an exchange began: one was, and was kept.
    fn may_be_connected(&self, exchange: &Exchange<'_>, began: Option<Timestamp>) -> bool {
        let last = self.case.symbols.get(exchange.authority).and_then(|authority| self.lane.connected.get(&authority));
        let apart = |last: Option<Timestamp>| Some(began?.0.saturating_sub(last?.0));
        last.is_some_and(|last| apart(*last).is_none_or(|apart| apart <= KEPT_OPEN))
    }

    /// The HTTP side of a call; makes one.
    pub(super) fn http_of(&mut self, call: u32) -> &mut HttpFacts {
        if self.case.calls[call as usize].http == NONE {
            self.case.calls[call as usize].http =
                u32::try_from(self.case.http.len()).expect("fewer than 2^32 exchanges");
            self.case.http.push(HttpFacts {
                posts: 1,
                status: 0,
                events: 0,
                content: ContentKind::Unknown,
                body: Body::Empty,
                retry_after: NONE,
                challenge: false,
                resumable: false,
                took: NONE,
                behind: false,
                unknown_words: false,
                unread: false,
                nameless: false,
                reconnected: false,
            });
        }
        &mut self.case.http[self.case.calls[call as usize].http as usize]
    }
}

/// Chromium keeps a connection that was used for five minutes (`client_socket_pool.cc`), Firefox for 115 seconds.
const KEPT_OPEN: i64 = 300 * SECOND;

/// An answer that names no request: without id, `null`, or what SDKs write where they could not read one.
fn names_none(answer: &Answer<'_>) -> bool {
    answer.id.is_none_or(|id| matches!(id, Id::Null | Id::Text("server-error" | "")))
}

/// Whether a message refuses what its exchange asked, though that was no request: a DELETE, bytes that are not JSON.
fn is_its_own(rpc: &Rpc<'_>) -> bool {
    matches!(rpc, Rpc::Answer(answer) if names_none(answer) && answer.error.is_some())
}

/// Whether the body of a refusal was written by who had read the request: it holds a result, an error that names a
/// request by an id of its own spelling, or in a batch any error that names one. An error with the id of the only
/// request is a fact of its call.
fn tells_of_a_member(exchange: &Exchange<'_>, strangers: &[Answer<'_>]) -> bool {
    let batch = exchange.sent.len() > 1;
    let all =
        exchange.answered.iter().filter_map(|rpc| if let Rpc::Answer(answer) = rpc { Some(answer) } else { None });
    let mut all = all.map(|answer| (answer.result.is_some_and(|shape| answer.version_ok || shape.object), answer));
    all.any(|(result, answer)| result || batch && !names_none(answer))
        || strangers.iter().any(|answer| !names_none(answer))
}

/// Whether a status is outside 200–299.
fn failed_status(status: i32) -> bool {
    status > 0 && !(200..300).contains(&status)
}
