//! Phase events, remarks and summaries: what parties state about calls and processes.

use super::{
    AnswerFacts, AnswerKind, Author, Correlator, Mark, RAISED, RpcId, Seen, Strand, StrandFact, open::Candidates,
};
use crate::{
    event::{
        CallKey, ContentKind, Direction, Event, Id, PhaseEvent, Remark, RemarkKind, Step, StepDetail, Summary, Witness,
        is_effect_free,
    },
    symbol::Symbol,
};

impl Correlator {
    pub(super) fn step(&mut self, event: &Event<'_>, mark: Mark, step: &Step<'_>) {
        if step.event == PhaseEvent::Spawned && event.keys.run.is_none() && self.lane.run.is_none() {
            self.instance_begins(event);
        }
        let strand = self.strand(event, mark);
        match step.event {
            PhaseEvent::InitializeReceived | PhaseEvent::InitializeSent => {
                self.asked(event, mark, step, strand, "initialize");
            }
            PhaseEvent::DiscoverReceived | PhaseEvent::DiscoverSent => {
                self.asked(event, mark, step, strand, "server/discover");
            }
            PhaseEvent::ToolsListReceived | PhaseEvent::ToolsListSent => {
                self.asked(event, mark, step, strand, "tools/list");
            }
            PhaseEvent::ToolCallReceived | PhaseEvent::ToolCallSent => {
                self.asked(event, mark, step, strand, "tools/call");
            }
            PhaseEvent::RequestReceived | PhaseEvent::RequestSent => self.asked(event, mark, step, strand, ""),
            PhaseEvent::InitializeResponded | PhaseEvent::InitializeDelivered => {
                self.responded(event, mark, step, strand, "initialize");
            }
            PhaseEvent::DiscoverResponded | PhaseEvent::DiscoverDelivered => {
                self.responded(event, mark, step, strand, "server/discover");
            }
            PhaseEvent::ToolsListResponded | PhaseEvent::ToolsListDelivered => {
                self.responded(event, mark, step, strand, "tools/list");
            }
            PhaseEvent::ToolCallResponded | PhaseEvent::ToolCallDelivered => {
                self.responded(event, mark, step, strand, "tools/call");
            }
            PhaseEvent::RequestResponded | PhaseEvent::RequestDelivered => {
                self.responded(event, mark, step, strand, "");
            }
            PhaseEvent::AuthorizationRequested => {
                self.about_call(event, mark, step, strand, Seen::AuthorizationRequested);
            }
            PhaseEvent::AuthorizationGranted => self.about_call(event, mark, step, strand, Seen::AuthorizationGranted),
            PhaseEvent::AuthorizationDenied => self.about_call(event, mark, step, strand, Seen::AuthorizationDenied),
            PhaseEvent::Cancelled => self.about_call(event, mark, step, strand, Seen::Cancelled),
            PhaseEvent::TimedOut => self.about_call(event, mark, step, strand, Seen::TimedOut),
            _ => self.life_event(event, mark, step, strand),
        }
    }

    /// A process without run id begins an instance of its source. Where the server is named, the first process has the
    /// conversation that is there already; one that comes behind its end, or that another server has, begins its own.
    fn instance_begins(&mut self, event: &Event<'_>) {
        let server = self.intern(event.keys.server);
        let current = self.known_strand(event).map(|strand| &self.case.strands[strand as usize]);
        let ended = current.is_some_and(Strand::saw_end);
        let taken = current.is_some_and(|strand| {
            strand.saw_spawn() && strand.server.is_some() && server.is_some() && strand.server != server
        });
        if ended || taken || event.witness != Some(Witness::Server) && server.is_none() {
            self.new_instance(server);
        }
    }

    fn asked(&mut self, event: &Event<'_>, mark: Mark, step: &Step<'_>, strand: u32, method: &str) {
        let id = step.call.id.map_or(RpcId::Unknown, |id| self.rpc_id(id));
        let method =
            self.case.symbols.intern(if method.is_empty() { step.call.method.unwrap_or("unknown") } else { method });
        let target = self.intern(step.call.tool);
        let witness = self.witness_of(event);
        let seen = if is_sent(step.event) { Seen::Sent } else { Seen::Received };
        // A launcher and a server that both log one request are one call.
        if let Some(call) = self.same_step(strand, id, method) {
            self.sight(call, seen, witness, mark, 0);
            self.note_trace(call, event.keys.trace);
            return;
        }
        let session = self.intern(event.keys.session);
        let call = self.open_call(strand, id, method, target, Direction::ToServer, seen, witness, mark);
        self.case.calls[call as usize].session = session;
        self.note_trace(call, event.keys.trace);
    }

    /// An open call of the same id and method that was seen from the other side only.
    fn same_step(&self, strand: u32, id: RpcId, method: Symbol) -> Option<u32> {
        let call = self.latest(strand, Direction::ToServer, id)?;
        let facts = &self.case.calls[call as usize];
        (facts.method == method && facts.answered.is_none() && facts.asked_as == Seen::Sent).then_some(call)
    }

    fn responded(&mut self, event: &Event<'_>, mark: Mark, step: &Step<'_>, strand: u32, method: &str) {
        let witness = self.witness_of(event);
        if let StepDetail::Revision(revision) = step.detail {
            let revision = self.case.symbols.intern(revision);
            let facts = &mut self.case.strands[strand as usize];
            facts.revision = facts.revision.or(Some((revision, mark)));
        }
        if let StepDetail::Tools { count, reason } = step.detail {
            self.tool_count(event, mark, strand, count, reason);
        }
        let answer = step_answer(step);
        if let Some(open) = self.rivals(strand, step.call) {
            self.contested(&open, witness, mark, 0);
            self.close_when_all_answered(&open);
            return;
        }
        let Some(call) = self.call_of(strand, step.call, method) else {
            self.strand_event(event, mark, StrandFact::Step(step.event), 0, None);
            if !is_effect_free(method) {
                let id = if let Some(Id::Int(id)) = step.call.id { id } else { i64::MIN };
                let error = answer.kind == AnswerKind::Error;
                let unasked = StrandFact::Unasked { direction: Direction::ToClient, error };
                self.strand_event(event, mark, unasked, id, None);
            }
            return;
        };
        let seen = if is_delivered(step.event) { Seen::Delivered } else { Seen::Responded };
        let gave_up = self
            .case
            .sightings(&self.case.calls[call as usize])
            .any(|row| matches!(row.seen, Seen::Cancelled | Seen::TimedOut));
        self.close_call(call);
        let facts = &mut self.case.calls[call as usize];
        if facts.answered.is_some() || gave_up {
            let seen = if gave_up { Seen::LateAnswer } else { seen };
            self.sight(call, seen, witness, mark, answer.kind.number());
            return;
        }
        facts.answered = Some(mark);
        facts.answered_as = seen;
        facts.answer = answer;
    }

    fn tool_count(&mut self, event: &Event<'_>, mark: Mark, strand: u32, count: Option<u32>, reason: Option<&str>) {
        if let Some(count) = count {
            let list = super::ToolsFacts { mark, tools: Vec::new(), partial: true, invalid: false, count };
            self.case.strands[strand as usize].tools.push(list);
        }
        if reason.is_some() {
            let name = self.intern(reason);
            self.strand_event(event, mark, StrandFact::ToolsReason, 0, name);
        }
    }

    /// The call a key means: by id, else the only open one of that method.
    pub(super) fn call_of(&self, strand: u32, key: CallKey<'_>, method: &str) -> Option<u32> {
        if let Some(id) = key.id {
            let id = self.known_id(id)?;
            return match self.open_with(strand, Direction::ToServer, id) {
                Candidates::One(call) => Some(call),
                Candidates::Several(_) => None,
                Candidates::None => self.latest(strand, Direction::ToServer, id),
            };
        }
        let method = if method.is_empty() { key.method? } else { method };
        let method = self.case.symbols.get(method)?;
        let tool = match key.tool {
            Some(tool) => Some(self.case.symbols.get(tool)?),
            None => None,
        };
        let mut open = self.lane.open.all(strand).filter(|call| {
            let call = &self.case.calls[*call as usize];
            call.method == method && (tool.is_none() || call.target == tool)
        });
        match (open.next(), open.next()) {
            (only, None) => only,
            _ => None,
        }
    }

    /// An id that was seen before, without interning it.
    pub(super) fn known_id(&self, id: crate::event::Id<'_>) -> Option<RpcId> {
        use crate::event::Id;
        Some(match id {
            Id::Null => RpcId::Null,
            Id::Int(number) => RpcId::Int(number),
            Id::Text(text) => match self.case.symbols.get(text) {
                Some(symbol) => RpcId::Text(symbol),
                None => RpcId::Int(text.parse().ok()?),
            },
            Id::Raw(raw) => RpcId::Raw(self.case.symbols.get(raw)?),
        })
    }

    fn about_call(&mut self, event: &Event<'_>, mark: Mark, step: &Step<'_>, strand: u32, seen: Seen) {
        let witness = self.witness_of(event);
        if let Some(open) = self.rivals(strand, step.call) {
            self.contested(&open, witness, mark, 0);
            return;
        }
        match self.call_of(strand, step.call, "tools/call") {
            Some(call) => self.sight(call, seen, witness, mark, gate_number(step.detail)),
            None => self.strand_event(event, mark, StrandFact::Step(step.event), 0, None),
        }
    }

    fn life_event(&mut self, event: &Event<'_>, mark: Mark, step: &Step<'_>, strand: u32) {
        let (what, number, name) = match step.detail {
            StepDetail::SpawnFailed(failure, program) => (StrandFact::SpawnFailed(failure), 0, self.intern(program)),
            StepDetail::Exit { signal: Some(signal), code: None } if step.event == PhaseEvent::Exited => {
                (StrandFact::Signaled, i64::from(signal), None)
            }
            StepDetail::Exit { code, signal } => {
                (StrandFact::Step(step.event), code.or(signal).map_or(NO_CODE, i64::from), None)
            }
            StepDetail::Launch { command, .. } => (StrandFact::Step(step.event), 0, self.intern(command)),
            StepDetail::LastEvent(last) => (StrandFact::Step(step.event), last as i64, None),
            StepDetail::Reason(reason) => (StrandFact::Step(step.event), 0, self.intern(Some(reason))),
            _ => (StrandFact::Step(step.event), 0, None),
        };
        if matches!(what, StrandFact::SpawnFailed(_)) {
            // A program that has written something was started: another one is missing.
            let facts = &self.case.strands[strand as usize];
            let spoke = self.lane.stirred_since(facts, strand, facts.first.origin);
            self.case.strands[strand as usize].spoke |= spoke;
            self.lane.not_started.push(strand);
        }
        self.strand_event(event, mark, what, number, name);
        let ends = matches!(step.event, PhaseEvent::Exited);
        if ends && !self.case.strands[strand as usize].wrapper {
            let witness = self.witness_of(event);
            // What was open at an earlier end has been told so, and all before it.
            let told = |call: &u32| self.last_seen(*call) == Some(Seen::ProcessEnded);
            let open: Vec<u32> = self.lane.open.all(strand).rev().take_while(|call| !told(call)).collect();
            for call in open.into_iter().rev() {
                self.sight(call, Seen::ProcessEnded, witness, mark, 0);
            }
        }
    }

    pub(super) fn remark(&mut self, event: &Event<'_>, mark: Mark, remark: &Remark<'_>) {
        if remark.kind == RemarkKind::FileWritten {
            // No call of another record is named, and every program writes files: only its time counts.
            self.lane.stray(mark.at);
            self.note_written(mark);
            return;
        }
        let strand = self.strand(event, mark);
        let witness = self.witness_of(event);
        let call = self.remark_call(strand, remark);
        let seen = match remark.kind {
            RemarkKind::TimedOut => Some(Seen::TimedOut),
            RemarkKind::Aborted => Some(Seen::Cancelled),
            RemarkKind::ConnectionClosed => Some(Seen::ConnectionClosed),
            RemarkKind::StreamBroken if remark.call.id.is_some() || remark.call.tool.is_some() => {
                Some(Seen::ConnectionClosed)
            }
            // Proof that something was not sent must name it: another request may be meant.
            RemarkKind::NotConnected | RemarkKind::ConnectFailed if remark.call.id.is_some() => {
                Some(Seen::NotConnected)
            }
            RemarkKind::UnknownResponse => Some(Seen::LateAnswer),
            RemarkKind::AnswerRejected => Some(Seen::AnswerRejected),
            RemarkKind::CallFailed | RemarkKind::HttpStatus => Some(Seen::CallFailed),
            RemarkKind::CallSucceeded => Some(Seen::CallSucceeded),
            RemarkKind::Processing => Some(Seen::Received),
            RemarkKind::HandlerEntered => Some(Seen::Handled),
            RemarkKind::HandlerRaised | RemarkKind::HandlerReturned => Some(Seen::HandlerDone),
            RemarkKind::ReplyLost => Some(Seen::ReplyLost),
            RemarkKind::RefusedBeforeDispatch | RemarkKind::SessionRefused => Some(Seen::RefusedBeforeDispatch),
            RemarkKind::NotForwarded => Some(Seen::NotForwarded),
            RemarkKind::UpstreamBroken => Some(Seen::UpstreamBroken),
            RemarkKind::HiddenRetry => Some(Seen::HiddenRetry),
            _ => None,
        };
        if remark.kind == RemarkKind::WriteFailed
            && let Some(call) = self.just_queued(strand, witness, mark)
        {
            self.sight(call, Seen::WriteFailed, witness, mark, 0);
            return;
        }
        if let (Some(seen), Some(call)) = (seen, call) {
            let number = match remark.kind {
                RemarkKind::HandlerRaised => RAISED,
                _ => remark.number.and_then(|number| i32::try_from(number).ok()).unwrap_or(0),
            };
            self.sight(call, seen, witness, mark, number);
            return;
        }
        let name = self.intern(remark.name.or(remark.call.tool).or(remark.call.method));
        self.strand_event(event, mark, StrandFact::Remark(remark.kind), remark.number.unwrap_or(0), name);
    }

    /// The call of a remark: by id, or by the tool it names where only one such call is open in this very log.
    fn remark_call(&self, strand: u32, remark: &Remark<'_>) -> Option<u32> {
        if remark.call.id.is_some() {
            return self.call_of(strand, remark.call, "");
        }
        match (remark.call.tool, remark.call.method) {
            (Some(_), _) => self.call_of(strand, remark.call, "tools/call"),
            (None, Some(method)) => self.call_of(strand, remark.call, method),
            (None, None) => self.only_open(strand, Direction::ToServer),
        }
    }

    /// The message that a client's `write EPIPE` stands directly under.
    fn just_queued(&self, strand: u32, witness: Witness, mark: Mark) -> Option<u32> {
        let last = *self.lane.last_message.get(&strand)?;
        let call = &self.case.calls[last as usize];
        let asked = call.asked?;
        // A process that has written since was there to read; and a pipe without a reader breaks at once.
        let stirred = self.lane.stirred_since(&self.case.strands[strand as usize], strand, asked.origin);
        let waited = asked.at.zip(mark.at).is_some_and(|(asked, broken)| broken.0.saturating_sub(asked.0) > AT_ONCE);
        let fits = witness == Witness::Client && matches!(call.asked_as, Seen::Queued | Seen::Sent);
        (fits && !stirred && !waited).then_some(last)
    }

    pub(super) fn summary(&mut self, event: &Event<'_>, mark: Mark, summary: &Summary<'_>) {
        let strand = self.strand(event, mark);
        let id = summary.call.id.map_or(RpcId::Unknown, |id| self.rpc_id(id));
        let method = self.case.symbols.intern(summary.call.method.unwrap_or("unknown"));
        let target = self.intern(summary.call.tool);
        let witness = if summary.by_server { Witness::Server } else { Witness::Client };
        let seen = if summary.by_server { Seen::Received } else { Seen::Sent };
        let call = self.open_call(strand, id, method, target, Direction::ToServer, seen, witness, mark);
        self.close_call(call);
        self.note_trace(call, event.keys.trace);
        let session = self.intern(event.keys.session);
        let revision = self.intern(summary.revision);
        let ended = summary.ended.map_or(mark, |ended| self.mark(mark.origin, Some(ended)));
        let last = summary.statuses.last().copied().unwrap_or(0);
        if let Some(earlier) = summary.statuses.len().checked_sub(1) {
            for status in &summary.statuses[..earlier] {
                self.sight(call, Seen::Resent, witness, mark, i32::from(*status));
            }
        }
        let http = self.http_of(call);
        http.posts = summary.posts.unwrap_or(1);
        http.status = last;
        http.content = summary.content;
        http.retry_after = summary.retry_after.unwrap_or(super::NONE);
        let answer = summary_answer(summary, last);
        let facts = &mut self.case.calls[call as usize];
        facts.session = session;
        facts.revision = revision;
        facts.thin = true;
        if answer.kind != AnswerKind::None {
            facts.answered = Some(ended);
            facts.answered_as = if summary.by_server { Seen::Responded } else { Seen::Delivered };
            facts.answer = answer;
        }
        if summary.timed_out && summary.outcome == Some("NOT_SENT") {
            // Who waited had sent something.
            self.sight(call, Seen::TimedOut, witness, ended, 0);
        }
        if summary.cancelled || summary.outcome == Some("CANCELLED") {
            self.sight(call, Seen::Cancelled, witness, ended, 0);
        }
    }
}

/// What broke directly under a message stands within this time of it.
const AT_ONCE: i64 = 2 * crate::time::SECOND;

/// No exit code was recorded.
pub(super) const NO_CODE: i64 = i64::MIN;

/// The bits of an authorization's number: it names one action of the call; it speaks of something done already.
pub const ONE_ACTION: i32 = 1;
/// See [`ONE_ACTION`].
pub const BEHIND_WORK: i32 = 2;

fn gate_number(detail: StepDetail<'_>) -> i32 {
    let StepDetail::Gate(scope) = detail else { return 0 };
    (i32::from(scope.one_action) * ONE_ACTION) | (i32::from(scope.behind_work) * BEHIND_WORK)
}

fn is_sent(event: PhaseEvent) -> bool {
    event.name().ends_with("_sent")
}

fn is_delivered(event: PhaseEvent) -> bool {
    event.name().ends_with("_delivered")
}

/// What a server's own record of its answer tells. Without a detail, an answer was given and nobody recorded what it said.
fn step_answer(step: &Step<'_>) -> AnswerFacts {
    let kind = match step.detail {
        StepDetail::Answer { is_error: Some(true), code: None } => AnswerKind::ToolError,
        StepDetail::Answer { code: Some(_), .. } => AnswerKind::Error,
        StepDetail::Answer { is_error: Some(false), .. }
        | StepDetail::Revision(_)
        | StepDetail::Tools { count: Some(_), .. } => AnswerKind::Result,
        _ => AnswerKind::NotCaptured,
    };
    let code = match step.detail {
        StepDetail::Answer { code: Some(code), .. } => i32::try_from(code).ok(),
        _ => None,
    };
    AnswerFacts::by_server(kind, code)
}

/// Whether a summary records that something was posted, or came back: then its word that nothing was sent is none. The
/// number of posts must stand there.
fn tells_of_sending(summary: &Summary<'_>) -> bool {
    let answered = !summary.statuses.is_empty()
        || summary.events.is_some_and(|events| events > 0)
        || summary.code.is_some()
        || summary.content != ContentKind::Unknown
        || summary.retry_after.is_some();
    let retried = summary.retry_origin.is_some_and(|origin| origin != "none");
    summary.posts != Some(0) || answered || retried || summary.cancelled
}

/// The client's claim, used where the wire is not present.
fn summary_answer(summary: &Summary<'_>, status: u16) -> AnswerFacts {
    let kind = match summary.outcome.unwrap_or("") {
        "TOOL_SUCCESS" | "RPC_SUCCESS" | "OK" => AnswerKind::Result,
        "TOOL_ERROR" => AnswerKind::ToolError,
        "JSONRPC_ERROR" => AnswerKind::Error,
        "HTTP_ERROR" => AnswerKind::HttpError,
        "STREAM_INCOMPLETE" => AnswerKind::StreamIncomplete,
        "MALFORMED_JSON" => AnswerKind::Malformed,
        "INVALID_ENVELOPE" => AnswerKind::InvalidEnvelope,
        "INVALID_TOOL_RESULT" => AnswerKind::InvalidResult,
        "INPUT_REQUIRED" => AnswerKind::InputRequired,
        "TASK_STARTED" => AnswerKind::Task,
        "NOT_SENT" if !tells_of_sending(summary) => AnswerKind::NotSent,
        "CANCELLED" | "NO_ANSWER" => AnswerKind::None,
        _ if status != 0 && !(200..300).contains(&status) => AnswerKind::HttpError,
        _ if summary.code.is_some() => AnswerKind::Error,
        _ if status != 0 => AnswerKind::NotCaptured,
        _ => AnswerKind::None,
    };
    let author = if summary.by_server { Author::Server } else { Author::Client };
    let code = summary.code.and_then(|code| i32::try_from(code).ok());
    AnswerFacts { kind, author, code: code.unwrap_or(0), has_code: code.is_some(), ..AnswerFacts::default() }
}
