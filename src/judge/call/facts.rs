//! What the rules ask about a call.

use crate::{
    correlate::{AnswerKind, Author, Call, Case, Contact, HttpFacts, Mark, NONE, Seen, Sighting, ToolFacts},
    event::{Direction, PhaseEvent, Witness, is_effect_free},
    judge::{
        Evidence, RunFacts,
        policy::{Assumption, Effect, Grant, KeyTerm, KeyUse},
    },
};

/// Effect class of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectClass {
    /// Changes nothing by specification.
    None,
    /// Repeating it changes nothing more.
    Absorbing,
    /// Changes nothing by intent only.
    ByIntent,
    /// Nothing is declared.
    Undeclared,
}

/// The effect class of a method.
pub fn effect_class(method: &str) -> EffectClass {
    match method {
        method if is_effect_free(method) => EffectClass::None,
        "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" | "tasks/cancel" => EffectClass::Absorbing,
        "resources/read" | "prompts/get" | "completion/complete" | "tasks/get" | "tasks/result" => {
            EffectClass::ByIntent
        }
        _ => EffectClass::Undeclared,
    }
}

/// What the rules ask about a call.
#[derive(Debug)]
pub struct CallFacts<'c> {
    /// The case.
    pub case: &'c Case,
    /// Its run.
    pub run: Option<&'c RunFacts<'c>>,
    /// Its index.
    pub index: u32,
    /// The call.
    pub call: &'c Call,
    /// Its method.
    pub method: &'c str,
    /// Tool, resource or prompt.
    pub target: Option<&'c str>,
    /// Everything any witness saw of it.
    pub seen: Vec<Sighting>,
    /// Contacts bound to it.
    pub contacts: Vec<&'c Contact>,
    /// Its HTTP side.
    pub http: Option<&'c HttpFacts>,
    /// Effect class: of its method, or as the operator declares it.
    pub class: EffectClass,
    /// What the operator declares about its tool.
    pub grant: Option<&'c Grant>,
}

impl<'c> CallFacts<'c> {
    /// Collects the facts of a call.
    pub fn new(case: &'c Case, run: Option<&'c RunFacts<'c>>, index: u32) -> Self {
        let call = &case.calls[index as usize];
        let method = case.name(call.method);
        let class = if call.direction == Direction::ToClient && method != "ping" && method != "roots/list" {
            EffectClass::Undeclared
        } else {
            effect_class(method)
        };
        let grant = run.and_then(|run| run.terms?.of_call(index));
        let class = match grant.and_then(|grant| grant.effect.as_ref()) {
            Some((Effect::None, _)) => EffectClass::None,
            Some((Effect::Absorbing, _)) => EffectClass::Absorbing,
            Some((Effect::Accumulating, _)) | None => class,
        };
        Self {
            case,
            run,
            index,
            call,
            method,
            target: call.target.map(|target| case.name(target)),
            seen: case.seen(call),
            contacts: case.contacts_of(index).collect(),
            http: case.http(call),
            class,
            grant,
        }
    }

    /// The effect that the operator declares, as long as no record contradicts it.
    pub fn declared(&self) -> Option<(Effect, &'c Assumption)> {
        self.grant?.effect.as_ref().map(|(effect, assumption)| (*effect, assumption))
    }

    /// That the tool changes nothing on the host of its server.
    pub fn nothing_local(&self) -> Option<&'c Assumption> {
        self.grant?.nothing_local.as_ref()
    }

    /// Its key, where the operator says that it stands, and the use of it.
    pub fn declared_key(&self) -> Option<(&'c KeyTerm, KeyUse)> {
        self.run?.terms?.key_of(self.case, self.index)
    }

    /// Whether any witness saw this.
    pub fn has(&self, seen: Seen) -> bool {
        self.seen.iter().any(|row| row.seen == seen)
    }

    /// The first record of this.
    pub fn first(&self, seen: Seen) -> Option<&Sighting> {
        self.seen.iter().find(|row| row.seen == seen)
    }

    /// The first place of the call.
    pub fn place(&self) -> Mark {
        self.case.place(self.call)
    }

    /// Evidence that the server had the request: its own record, a handler, progress, a nested request.
    pub fn receipt(&self) -> Option<Mark> {
        let receipts =
            [Seen::Received, Seen::Handled, Seen::AuthorizationRequested, Seen::ServerRequest, Seen::HandlerDone];
        let first = self
            .seen
            .iter()
            .find(|row| receipts.contains(&row.seen) || row.seen == Seen::Responded && row.witness == Witness::Server);
        first
            .map(|row| row.mark)
            .or_else(|| self.contacts.iter().find(|c| c.is_attempt()).map(|contact| contact.attempt))
    }

    /// Proof that the request never left the client or never arrived at a living process.
    pub fn not_sent(&self) -> Option<Evidence> {
        // An earlier POST of the same request was sent, and a connection that closed had been open.
        let sent_once = self.has(Seen::Resent)
            || self.http.is_some_and(|http| http.posts > 1)
            || self.has(Seen::ConnectionClosed)
            || self.has(Seen::TimedOut);
        if sent_once || self.receipt().is_some() || answer_is_servers(self.call) {
            return None;
        }
        if self.call.answer.kind == AnswerKind::NotSent {
            return self.call.answered.map(|mark| Evidence::seen("shows that no connection was made", mark));
        }
        if let Some(row) = self.seen.iter().find(|row| matches!(row.seen, Seen::NotConnected | Seen::WriteFailed)) {
            return Some(Evidence::seen("shows that the client could not send it", row.mark));
        }
        let run = self.run?;
        if let Some((_, mark)) = run.spawn_failed
            && run.exited.is_none()
            && !run.steps.contains_key(&PhaseEvent::Spawned)
            && run.recorded_together(mark, self.call)
        {
            return Some(Evidence::seen("shows that the process could not be created", mark));
        }
        // Record order of one source decides, never a clock.
        // A console that never prints the creation of its children may have started a new one since.
        // A child that inherited the pipe of a wrapper reads on after the wrapper's end; what has no name may be one.
        let exit = run.exited.filter(|exit| {
            let spawned = run.steps.get(&PhaseEvent::Spawned);
            !exit.wrapper
                && run.is_its_own_process()
                && spawned.is_some_and(|(spawned, _)| exit.mark.origin.source == spawned.origin.source)
        })?;
        let asked = self.call.asked?;
        (asked.origin.source == exit.mark.origin.source && exit.mark.origin < asked.origin)
            .then(|| Evidence::seen("shows that the process had ended before the request", exit.mark))
    }

    /// A question of the server to the client inside this call that has no answer.
    pub fn open_server_request(&self) -> Option<Mark> {
        self.seen.iter().filter(|row| row.seen == Seen::ServerRequest).find_map(|row| {
            let request = self.case.calls.get(usize::try_from(row.number).ok()?)?;
            request.answered.is_none().then_some(row.mark)
        })
    }

    /// The called tool in the latest tool list of its run.
    pub fn tool(&self) -> Option<(&'c ToolFacts, Mark)> {
        if self.method != "tools/call" {
            return None;
        }
        let list = self.run?.tools?;
        let target = self.call.target?;
        list.tools.iter().find(|tool| tool.name == target).map(|tool| (tool, list.mark))
    }

    /// Contacts that may have changed something: attempts at a service or credential.
    pub fn attempts(&self) -> impl Iterator<Item = &&'c Contact> {
        use crate::correlate::ContactKind;
        self.contacts.iter().filter(|contact| {
            contact.is_attempt() && matches!(contact.kind, ContactKind::Service | ContactKind::Credential)
        })
    }

    /// An attempt of the run that may belong to this call: it blocks what only proof of absence could give.
    pub fn blocking(&self) -> Option<&'c Contact> {
        self.run?.unattributed().next()
    }

    /// The end of the call in the log of the server or on the wire.
    pub fn end(&self) -> Option<Mark> {
        let responded =
            self.seen.iter().find(|row| matches!(row.seen, Seen::Responded | Seen::HandlerDone | Seen::Delivered));
        responded.map(|row| row.mark)
    }

    /// The name of the call in a sentence.
    pub fn noun(&self) -> String {
        match (self.method, self.target) {
            ("tools/call", Some(_)) => "the tool call".to_owned(),
            (method, _) => format!("the {method} request"),
        }
    }
}

/// Whether the answer that decides was made by the server.
pub(in crate::judge) fn answer_is_servers(call: &Call) -> bool {
    call.answered.is_some()
        && match call.answer.kind {
            AnswerKind::Result
            | AnswerKind::ToolError
            | AnswerKind::Task
            | AnswerKind::InputRequired
            | AnswerKind::InvalidResult => true,
            AnswerKind::Error => !matches!(call.answer.author, Author::Sdk | Author::Gateway | Author::Client),
            AnswerKind::NotCaptured => call.answer.author == Author::Server,
            // Text behind a 200 is the server's only where something says so: portals and proxies answer with 200 too.
            AnswerKind::Malformed | AnswerKind::InvalidEnvelope => match call.answer.author {
                Author::Gateway => false,
                Author::Server => true,
                _ => call.http == NONE,
            },
            AnswerKind::None | AnswerKind::HttpError | AnswerKind::StreamIncomplete | AnswerKind::NotSent => false,
        }
}

/// The event of a call's ladder that a sighting confirms.
pub(super) fn event_of(method: &str, row: &Sighting, call: &Call) -> Option<PhaseEvent> {
    use PhaseEvent as P;
    let [sent, received, responded, delivered] = match method {
        "initialize" => [P::InitializeSent, P::InitializeReceived, P::InitializeResponded, P::InitializeDelivered],
        "server/discover" => [P::DiscoverSent, P::DiscoverReceived, P::DiscoverResponded, P::DiscoverDelivered],
        "tools/list" => [P::ToolsListSent, P::ToolsListReceived, P::ToolsListResponded, P::ToolsListDelivered],
        "tools/call" => [P::ToolCallSent, P::ToolCallReceived, P::ToolCallResponded, P::ToolCallDelivered],
        _ => [P::RequestSent, P::RequestReceived, P::RequestResponded, P::RequestDelivered],
    };
    let by_server = answer_is_servers(call) || row.witness == Witness::Server;
    Some(match row.seen {
        Seen::Sent | Seen::Resent | Seen::ForwardedOnce | Seen::ForwardedAgain => sent,
        Seen::Received | Seen::Handled | Seen::HandlerDone | Seen::ServerRequest | Seen::RefusedBeforeDispatch => {
            received
        }
        Seen::AuthorizationRequested if method == "tools/call" => P::AuthorizationRequested,
        Seen::AuthorizationGranted if method == "tools/call" => P::AuthorizationGranted,
        Seen::AuthorizationDenied if method == "tools/call" => P::AuthorizationDenied,
        Seen::Responded | Seen::ReplyLost if by_server || row.seen == Seen::ReplyLost => responded,
        Seen::LateAnswer | Seen::OtherAnswer => responded,
        Seen::Delivered if by_server => delivered,
        Seen::AnswerRejected | Seen::CallSucceeded => delivered,
        _ => return None,
    })
}

/// The furthest event of a call that some witness confirmed.
pub(in crate::judge) fn last_event(case: &Case, index: u32) -> Option<(PhaseEvent, Mark)> {
    let call = &case.calls[index as usize];
    let method = case.name(call.method);
    let seen = case.seen(call);
    let not_sent = call.answer.kind == AnswerKind::NotSent
        || seen.iter().any(|row| matches!(row.seen, Seen::WriteFailed | Seen::NotConnected));
    let steps = seen
        .iter()
        .filter(|row| !(not_sent && row.seen == Seen::Sent))
        .filter_map(|row| event_of(method, row, call).map(|event| (event, row.mark)));
    let contacts =
        case.contacts_of(index).filter(|contact| contact.is_attempt() && method == "tools/call").map(|contact| {
            match contact.result {
                Some(result) => (PhaseEvent::ExternalResult, result),
                None => (PhaseEvent::ExternalAttempt, contact.attempt),
            }
        });
    // Of equal events the first record counts: it is the earliest confirmation.
    steps.chain(contacts).fold(None, |best: Option<(PhaseEvent, Mark)>, (event, mark)| match best {
        Some((known, _)) if known >= event => best,
        _ => Some((event, mark)),
    })
}
