//! What the rules ask about a call, and the verdict of a call and of an operation.

use rustc_hash::FxHashMap;

use super::{
    Evidence, Layer, Outcome, ReachVerdict, RunFacts, outcome,
    reach::{self},
    retry::{self, Opinion},
};
use crate::{
    correlate::{
        AnswerFacts, AnswerKind, Author, Call, Case, Contact, HttpFacts, Key, Mark, NONE, Operation, Seen, Sighting,
        ToolFacts,
    },
    event::{ContentKind, Direction, PhaseEvent, ReachStage, Witness},
    symbol::Symbol,
};

/// The four values of a milestone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Truth {
    /// Nothing is known.
    #[default]
    None,
    /// Proven.
    True,
    /// Excluded.
    False,
    /// Witnesses contradict each other.
    Both,
}

impl Truth {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::True => "true",
            Self::False => "false",
            Self::Both => "both",
        }
    }

    /// Knowledge of both kinds side by side.
    fn of(proven: bool, excluded: bool) -> Self {
        match (proven, excluded) {
            (true, true) => Self::Both,
            (true, false) => Self::True,
            (false, true) => Self::False,
            (false, false) => Self::None,
        }
    }
}

/// The milestones of one attempt, in causal order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Milestones {
    /// Bytes left the client.
    pub sent: Truth,
    /// The server dispatched it.
    pub reached: Truth,
    /// Something changed, outside or on the server's own host.
    pub effected: Truth,
    /// The caller saw an answer made by the server.
    pub acked: Truth,
}

/// Effect class of a method (`verdicts.md` 1).
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
        "initialize" | "ping" | "server/discover" | "subscriptions/listen" => EffectClass::None,
        "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" | "tasks/cancel" => EffectClass::Absorbing,
        "resources/read" | "prompts/get" | "completion/complete" | "tasks/get" | "tasks/result" => {
            EffectClass::ByIntent
        }
        method if method.ends_with("/list") => EffectClass::None,
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
    /// Effect class.
    pub class: EffectClass,
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
        }
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
            .or_else(|| self.contacts.iter().find(|c| is_attempt(c)).map(|contact| contact.attempt))
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
        let exit = run.exited.filter(|_| {
            run.steps.get(&PhaseEvent::Spawned).is_some_and(|(spawned, _)| {
                run.exited.is_some_and(|exit| exit.mark.origin.source == spawned.origin.source)
            })
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
            is_attempt(contact) && matches!(contact.kind, ContactKind::Service | ContactKind::Credential)
        })
    }

    /// An attempt of the run that may belong to this call: it blocks what only proof of absence could give.
    pub fn blocking(&self) -> Option<&'c Contact> {
        self.run?.unattributed.first().copied()
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

/// Whether bytes of a contact went out, or may have.
pub(super) fn is_attempt(contact: &Contact) -> bool {
    contact.stage >= ReachStage::Attempted
}

/// Whether the answer that decides was made by the server.
pub(super) fn answer_is_servers(call: &Call) -> bool {
    call.answered.is_some()
        && match call.answer.kind {
            AnswerKind::Result
            | AnswerKind::ToolError
            | AnswerKind::Task
            | AnswerKind::InputRequired
            | AnswerKind::InvalidResult
            | AnswerKind::InvalidEnvelope => true,
            AnswerKind::Error => !matches!(call.answer.author, Author::Sdk | Author::Gateway | Author::Client),
            AnswerKind::NotCaptured => call.answer.author == Author::Server,
            AnswerKind::Malformed => call.answer.author != Author::Gateway,
            AnswerKind::None
            | AnswerKind::HttpError
            | AnswerKind::StreamIncomplete
            | AnswerKind::Nothing
            | AnswerKind::NotSent => false,
        }
}

/// The event of a call's ladder that a sighting confirms.
fn event_of(method: &str, row: &Sighting, call: &Call) -> Option<PhaseEvent> {
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
pub(super) fn last_event(case: &Case, index: u32) -> Option<(PhaseEvent, Mark)> {
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
        case.contacts_of(index).filter(|contact| is_attempt(contact) && method == "tools/call").map(|contact| {
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

/// Something that would settle an open verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The artifact, and over which window.
    pub artifact: String,
    /// What the verdict would become if it shows the contact or receipt.
    pub if_present: &'static str,
    /// What the verdict would become if it covers the window and shows none.
    pub if_absent: &'static str,
}

/// The verdict of a call.
#[derive(Clone, Debug)]
pub struct CallVerdict {
    /// What the caller got.
    pub outcome: Outcome,
    /// Which layer failed.
    pub layer: Layer,
    /// The furthest confirmed event.
    pub last_phase: Option<(PhaseEvent, Mark)>,
    /// JSON-RPC code, else HTTP status behind a failure.
    pub code: Option<i32>,
    /// Who wrote the failing answer.
    pub author: Author,
    /// May it be sent again?
    pub retry: Opinion,
    /// What it reached.
    pub reach: ReachVerdict,
    /// Executions: proven, possible.
    pub effects: (u32, u32),
    /// Its milestones.
    pub milestones: Milestones,
    /// What would settle an open verdict.
    pub missing: Vec<Missing>,
    /// Facts on which witnesses contradict each other.
    pub conflicts: Vec<(&'static str, Vec<Evidence>)>,
    /// Why it was sent, if it repeats an earlier attempt.
    pub retry_origin: Vec<&'static str>,
    /// Number in its operation, counted from 1.
    pub attempt: Option<u32>,
    /// A known limit that its duration hits.
    pub limit: Option<&'static str>,
    /// Records that show it, in causal order.
    pub evidence: Vec<Evidence>,
}

impl CallVerdict {
    /// The words of outcome, layer, retry verdict and reach, as totals count them.
    pub fn names(&self) -> [&'static str; 4] {
        [self.outcome.name(), self.layer.name(), self.retry.verdict.name(), self.reach.answer.name()]
    }
}

/// Calls that differ in nothing a rule asks about share one verdict. Only calls without any sighting beyond request and
/// answer, in runs without any fact beyond their calls, are told apart so easily; all others are judged one by one.
#[derive(Debug, Default)]
pub(super) struct PlainCalls(FxHashMap<Plain, [&'static str; 4]>);

/// Everything that rules can ask about such a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Plain {
    method: Symbol,
    asked_as: Seen,
    answered_as: Seen,
    witness: Witness,
    direction: Direction,
    answer: AnswerFacts,
    asked: bool,
    answered: bool,
}

impl PlainCalls {
    /// The words of a call like one that was judged before and need not be kept.
    pub(super) fn known(&self, case: &Case, runs: &[RunFacts<'_>], index: u32) -> Option<[&'static str; 4]> {
        self.0.get(&plain(case, runs, index)?).copied()
    }

    /// Remembers the words of a call.
    pub(super) fn learn(&mut self, case: &Case, runs: &[RunFacts<'_>], index: u32, verdict: &CallVerdict) {
        if let Some(plain) = plain(case, runs, index) {
            self.0.insert(plain, verdict.names());
        }
    }
}

fn plain(case: &Case, runs: &[RunFacts<'_>], index: u32) -> Option<Plain> {
    let call = &case.calls[index as usize];
    let run = runs.get(call.run as usize)?;
    let simple = call.answer.kind != AnswerKind::NotCaptured
        && call.sightings == NONE
        && call.http == NONE
        && !call.contested
        && call.idempotency_key == 0
        && call.state_sent == 0
        && call.state_given == 0
        && run.is_plain()
        && !case.contacts_of.contains_key(&index)
        && !case.operation_of.contains_key(&index);
    simple.then_some(Plain {
        method: call.method,
        asked_as: call.asked_as,
        answered_as: call.answered_as,
        witness: call.witness,
        direction: call.direction,
        answer: call.answer,
        asked: call.asked.is_some(),
        answered: call.answered.is_some(),
    })
}

/// Judges one call; its retry verdict is that of its operation.
pub(super) fn judge_call(case: &Case, runs: &[RunFacts<'_>], index: u32) -> CallVerdict {
    let facts = facts_of(case, runs, index);
    let outcome = outcome::outcome(&facts);
    let milestones = milestones(&facts, outcome);
    let reach = reach::call_reach(&facts, &milestones);
    let retry = operation_opinion(case, runs, &facts, outcome, &milestones);
    let layer = outcome::layer(&facts, outcome);
    let effects = effects(&facts, &milestones);
    let missing = missing(&facts, &retry);
    CallVerdict {
        outcome,
        layer,
        last_phase: last_event(case, index),
        code: code(&facts, outcome),
        author: facts.call.answer.author,
        effects,
        milestones,
        missing,
        conflicts: conflicts(&facts, &milestones),
        retry_origin: retry_origin(&facts),
        attempt: attempt(case, index),
        limit: limit(&facts),
        evidence: evidence(&facts),
        retry,
        reach,
    }
}

fn facts_of<'c>(case: &'c Case, runs: &'c [RunFacts<'c>], index: u32) -> CallFacts<'c> {
    let run = runs.get(case.calls[index as usize].run as usize);
    CallFacts::new(case, run, index)
}

/// A call's verdict is the most cautious one among all attempts of its operation that are not proven unreached.
fn operation_opinion(
    case: &Case,
    runs: &[RunFacts<'_>],
    facts: &CallFacts<'_>,
    outcome: Outcome,
    milestones: &Milestones,
) -> Opinion {
    let mut own = retry::opinion(facts, outcome, milestones);
    if own.verdict == retry::Caution::Safe
        && let Some(other) = possibly_same(case, runs, facts)
    {
        own = retry::possibly_the_same(own, &other);
    }
    let Some(operation) = case.operation_of.get(&facts.index) else { return own };
    for other in &case.operations[*operation as usize].attempts {
        if *other == facts.index {
            continue;
        }
        let other = facts_of(case, runs, *other);
        let other_outcome = outcome::outcome(&other);
        let other_milestones = self::milestones(&other, other_outcome);
        if other_milestones.reached == Truth::False {
            continue;
        }
        let opinion = retry::opinion(&other, other_outcome, &other_milestones);
        if opinion.verdict > own.verdict {
            own = opinion.of_another_attempt(&other);
        }
    }
    own
}

/// Another call of the same tool in the run that may be the same operation, since not both recorded their arguments, and
/// that succeeded or reached outside.
fn possibly_same<'c>(case: &'c Case, runs: &'c [RunFacts<'c>], facts: &CallFacts<'_>) -> Option<CallFacts<'c>> {
    if facts.class != EffectClass::Undeclared {
        return None;
    }
    let run = runs.get(facts.call.run as usize)?;
    run.run.calls.iter().copied().filter(|index| *index != facts.index).find_map(|index| {
        let call = &case.calls[index as usize];
        let unknown = call.args == Key::default() || facts.call.args == Key::default();
        let same = call.method == facts.call.method && call.target == facts.call.target;
        let other = (unknown && same).then(|| facts_of(case, runs, index))?;
        let acted = call.answer.kind == AnswerKind::Result || other.attempts().next().is_some();
        acted.then_some(other)
    })
}

/// The milestones of a call, implications closed in both directions.
pub(super) fn milestones(facts: &CallFacts<'_>, outcome: Outcome) -> Milestones {
    let refused = retry::refused_before_dispatch(facts, outcome);
    let dispatched = dispatched(facts, outcome, refused);
    let acked = facts.has(Seen::AnswerRejected)
        || answer_is_servers(facts.call)
            && (facts.call.answered_as == Seen::Delivered
                || facts.has(Seen::Delivered)
                || facts.call.witness == Witness::Proxy && !facts.has(Seen::TimedOut));
    let unsent = facts.not_sent().is_some();
    let sent = dispatched
        || acked
        || facts.seen.iter().any(|row| matches!(row.seen, Seen::Sent | Seen::Resent | Seen::Received));
    let sent = sent && (dispatched || !unsent);
    let applied = facts.attempts().any(|contact| applied(contact));
    let reached_false = unsent || refused;
    Milestones {
        sent: Truth::of(sent, unsent),
        reached: Truth::of(dispatched || applied, reached_false),
        effected: Truth::of(applied, reached_false && !dispatched),
        acked: Truth::of(acked, unsent),
    }
}

/// Evidence that the server dispatched the request.
fn dispatched(facts: &CallFacts<'_>, outcome: Outcome, refused: bool) -> bool {
    let answered =
        matches!(
            outcome,
            Outcome::ToolSuccess
                | Outcome::RpcSuccess
                | Outcome::TaskStarted
                | Outcome::InputRequired
                | Outcome::InvalidToolResult
        ) || matches!(outcome, Outcome::ToolError | Outcome::JsonRpcError) && !refused && answer_is_servers(facts.call);
    answered || facts.receipt().is_some() && !refused || facts.has(Seen::ReplyLost) || facts.has(Seen::LateAnswer)
}

/// An external result that shows application: a success status to a request that writes.
fn applied(contact: &Contact) -> bool {
    contact.result.is_some() && (200..300).contains(&contact.status) && !contact.refused
}

/// Executions proven and possible: dispatches, not attempts at contact.
fn effects(facts: &CallFacts<'_>, milestones: &Milestones) -> (u32, u32) {
    if facts.class == EffectClass::None || milestones.reached == Truth::False {
        return (0, 0);
    }
    let posts = facts.http.map_or(1, |http| u32::from(http.posts.max(1)));
    let hidden = facts.seen.iter().filter(|row| matches!(row.seen, Seen::HiddenRetry | Seen::ForwardedAgain)).count();
    let hi = posts + u32::try_from(hidden).unwrap_or(0);
    let lo = u32::from(
        milestones.effected == Truth::True
            && facts.attempts().any(|contact| applied(contact) && retry::writes(facts.case, contact)),
    );
    (lo, hi)
}

/// The JSON-RPC code where there is one, else the HTTP status behind a failure.
fn code(facts: &CallFacts<'_>, outcome: Outcome) -> Option<i32> {
    if facts.call.answer.has_code {
        return Some(facts.call.answer.code);
    }
    (outcome == Outcome::HttpError)
        .then(|| facts.http.map(|http| i32::from(http.status)))
        .flatten()
        .filter(|status| *status > 0)
}

fn conflicts(facts: &CallFacts<'_>, milestones: &Milestones) -> Vec<(&'static str, Vec<Evidence>)> {
    let mut conflicts = Vec::new();
    let other = facts.seen.iter().filter(|row| row.seen == Seen::OtherAnswer);
    let other: Vec<Evidence> =
        other.map(|row| Evidence::seen("shows another answer to the same request", row.mark)).collect();
    if !other.is_empty() {
        conflicts.push(("answer", other));
    }
    for (name, truth) in [("sent", milestones.sent), ("reached", milestones.reached), ("effected", milestones.effected)]
    {
        if truth == Truth::Both {
            conflicts.push((name, evidence(facts)));
        }
    }
    conflicts
}

/// Why a call that repeats an earlier one was sent, as far as the records tell.
fn retry_origin(facts: &CallFacts<'_>) -> Vec<&'static str> {
    if facts.call.continues || facts.call.state_sent != 0 {
        return vec!["continuation"];
    }
    if facts.has(Seen::Resent) {
        let authorization = facts.seen.iter().any(|row| row.seen == Seen::Resent && matches!(row.number, 401 | 403));
        return vec![if authorization { "authorization" } else { "unknown" }];
    }
    let Some(attempt) = attempt(facts.case, facts.index) else { return vec!["none"] };
    if attempt <= 1 {
        return vec!["none"];
    }
    let operation = &facts.case.operations[facts.case.operation_of[&facts.index] as usize];
    let before = &facts.case.calls[operation.attempts[attempt as usize - 2] as usize];
    if before.run != facts.call.run || before.session != facts.call.session {
        return vec!["reconnect", "model", "manual"];
    }
    vec!["unknown"]
}

fn attempt(case: &Case, index: u32) -> Option<u32> {
    let operation = &case.operations[*case.operation_of.get(&index)? as usize];
    let at = operation.attempts.iter().position(|call| *call == index)?;
    u32::try_from(at + 1).ok()
}

/// Limits that cut at a round duration (`client-logs.md` 6.3), in seconds.
static LIMITS: &[(i64, &str)] = &[
    (30, "30 s: default start limit of several clients"),
    (60, "60 s: default request limit of the TypeScript SDK, of nginx and of many load balancers"),
    (100, "100 s: Cloudflare's answer limit"),
    (120, "120 s: tool limit of several clients"),
    (240, "240 s: tool limit of Claude Desktop"),
    (300, "300 s: body limit of undici, idle limit of several clients"),
    (600, "600 s: tool limit of Gemini CLI"),
];

fn limit(facts: &CallFacts<'_>) -> Option<&'static str> {
    let given_up =
        facts.seen.iter().find(|row| matches!(row.seen, Seen::TimedOut | Seen::Cancelled | Seen::ConnectionClosed));
    let failed = facts.call.answered.filter(|_| facts.call.answer.kind == AnswerKind::HttpError);
    let end = given_up.map(|row| row.mark).or(failed)?;
    let asked = facts.call.asked?;
    let (from, to) = (facts.case.placed(asked)?.0, facts.case.placed(end)?.0);
    let took = (to - from) / crate::time::MILLISECOND;
    LIMITS.iter().find(|(seconds, _)| (took - seconds * 1000).abs() <= seconds * 10).map(|(_, name)| *name)
}

/// The records that show a call, in causal order.
fn evidence(facts: &CallFacts<'_>) -> Vec<Evidence> {
    let mut rows: Vec<(PhaseEvent, Evidence)> = Vec::new();
    for row in &facts.seen {
        let order = event_of(facts.method, row, facts.call).unwrap_or(PhaseEvent::TimedOut);
        rows.push((order, Evidence::seen(role_of(row), row.mark)));
    }
    for contact in &facts.contacts {
        let role = match contact.stage {
            ReachStage::Announced => "announces a contact with the outside",
            ReachStage::NotConnected => "shows that a contact with the outside failed to connect",
            _ => "shows a contact with the outside",
        };
        rows.push((PhaseEvent::ExternalAttempt, Evidence::seen(role, contact.attempt)));
        if let Some(result) = contact.result.filter(|result| *result != contact.attempt) {
            rows.push((PhaseEvent::ExternalResult, Evidence::seen("shows the answer of the outside", result)));
        }
    }
    rows.sort_by_key(|(event, _)| *event);
    rows.into_iter().map(|(_, evidence)| evidence).collect()
}

/// What a record shows, as a phrase.
pub(super) fn role_of(row: &Sighting) -> &'static str {
    match row.seen {
        Seen::Queued => "shows that the client queued the request",
        Seen::Sent => "shows the request on its way to the server",
        Seen::Received => "shows that the server had the request",
        Seen::Handled => "shows that the handler ran",
        Seen::AuthorizationRequested => "shows that authorization was asked for",
        Seen::AuthorizationGranted => "shows that authorization was granted",
        Seen::AuthorizationDenied => "shows that authorization was denied",
        Seen::ServerRequest => "shows that the server asked the client something inside the call",
        Seen::HandlerDone => "shows that the handler ended",
        Seen::Responded => "shows the answer",
        Seen::Delivered => "shows that the client had the answer",
        Seen::LateAnswer => "shows an answer after the caller had stopped waiting",
        Seen::OtherAnswer => "shows another answer to the same request",
        Seen::ReplyLost => "shows that an answer was made and could not be delivered",
        Seen::AnswerRejected => "shows that the client had an answer and rejected it",
        Seen::Cancelled => "shows that the caller cancelled",
        Seen::TimedOut => "shows that the caller stopped waiting",
        Seen::ConnectionClosed => "shows that the connection closed with the request open",
        Seen::ProcessEnded => "shows that the process ended with the request open",
        Seen::NotConnected => "shows that there was no connection",
        Seen::WriteFailed => "shows that the request could not be written",
        Seen::CallFailed => "shows that the client reports a failure",
        Seen::CallSucceeded => "shows that the client reports a success",
        Seen::RefusedBeforeDispatch => "shows that the server refused it before dispatch",
        Seen::NotForwarded => "shows that the hop in front of the server did not get it through",
        Seen::ForwardedOnce => "shows that the hop in front of the server forwarded it once",
        Seen::ForwardedAgain => "shows that the hop in front of the server forwarded it more than once",
        Seen::UpstreamBroken => "shows that the hop lost the server after forwarding",
        Seen::HiddenRetry => "shows that a layer retried by itself",
        Seen::Resent => "shows the same request again",
        Seen::Resumed => "shows that the client resumed the stream",
        Seen::Contested => "may belong to this call or to another one",
        Seen::Trouble => "shows a crash behind the call",
    }
}

/// What would settle an open verdict, cheapest first.
fn missing(facts: &CallFacts<'_>, retry: &Opinion) -> Vec<Missing> {
    use retry::Caution;
    if retry.verdict == Caution::Unsafe || facts.class == EffectClass::None || retry.verdict == Caution::Safe {
        return Vec::new();
    }
    let window = window_text(facts);
    let mut missing = Vec::new();
    let server_log = facts.seen.iter().any(|row| row.witness == Witness::Server);
    if !server_log {
        missing.push(Missing {
            artifact: format!("server stderr or phase log{window}"),
            if_present: "unsafe",
            if_absent: "safe-if",
        });
    }
    if !facts.contacts.iter().any(|contact| contact.witness == Witness::Network) {
        let artifact = format!("egress log or kernel trace of the server{window}");
        missing.push(Missing { artifact, if_present: "unsafe", if_absent: "safe-if" });
        let artifact = format!("the log of the service that the tool calls{window}");
        missing.push(Missing { artifact, if_present: "unsafe", if_absent: "unknown" });
    }
    missing
}

/// ` from … to …`, as far as times tell.
fn window_text(facts: &CallFacts<'_>) -> String {
    let digits = |mark: Mark| facts.case.sources[mark.origin.source.0 as usize].digits.min(3);
    let text = |mark: Mark| mark.at.map(|at| at.rfc3339(digits(mark)));
    match (facts.call.asked.and_then(text), facts.call.answered.and_then(text)) {
        (Some(from), Some(to)) => format!(" from {from} to {to}"),
        (Some(from), None) => format!(" from {from} to the end of the process"),
        _ => String::new(),
    }
}

/// The verdict of an operation with two attempts or more.
#[derive(Clone, Debug)]
pub struct OperationVerdict {
    /// The attempts.
    pub attempts: Vec<u32>,
    /// Executions: proven, possible.
    pub effects: (u32, u32),
    /// Whether the effect happened more than once: `no`, `possible`, `certain`.
    pub duplicate: &'static str,
    /// The attempts after the first.
    pub retries: Vec<RetryVerdict>,
}

/// What is to be said of an attempt after the first.
#[derive(Clone, Debug)]
pub struct RetryVerdict {
    /// The call.
    pub call: u32,
    /// Every origin that fits.
    pub origin: Vec<&'static str>,
    /// Was it justified by what the client could see?
    pub ex_ante: retry::Caution,
    /// Could it have added an effect, given everything: `harmed`, `harmless`, `possible`.
    pub ex_post: &'static str,
    /// `justified`, `lucky`, `unsafe`, `defect-below`.
    pub quadrant: &'static str,
}

/// Judges an operation.
pub(super) fn judge_operation(case: &Case, runs: &[RunFacts<'_>], operation: &Operation) -> OperationVerdict {
    let mut verdicts = Vec::new();
    for call in &operation.attempts {
        let facts = facts_of(case, runs, *call);
        let outcome = outcome::outcome(&facts);
        let milestones = milestones(&facts, outcome);
        let effects = effects(&facts, &milestones);
        let own = retry::opinion(&facts, outcome, &milestones);
        verdicts.push((*call, outcome, effects, own, retry_origin(&facts)));
    }
    let effects = verdicts.iter().fold((0, 0), |sum, verdict| (sum.0 + verdict.2.0, sum.1 + verdict.2.1));
    let repeated_after_success = verdicts.windows(2).any(|pair| pair[0].1.is_success());
    let duplicate = match effects {
        (lo, _) if lo >= 2 && !repeated_after_success => "certain",
        (_, hi) if hi >= 2 => "possible",
        _ => "no",
    };
    let retries = verdicts
        .windows(2)
        .map(|pair| retry_verdict(&pair[0].3, pair[0].2, pair[1].0, pair[1].2, pair[1].4.clone()))
        .collect();
    OperationVerdict { attempts: operation.attempts.clone(), effects, duplicate, retries }
}

fn retry_verdict(
    before: &Opinion,
    earlier: (u32, u32),
    call: u32,
    this: (u32, u32),
    origin: Vec<&'static str>,
) -> RetryVerdict {
    use retry::Caution;
    let ex_post = match (earlier, this) {
        ((_, 0), _) | (_, (_, 0)) => "harmless",
        ((lo, _), (other, _)) if lo > 0 && other > 0 => "harmed",
        _ => "possible",
    };
    let justified = matches!(before.verdict, Caution::Safe | Caution::SafeIf);
    let quadrant = match (justified, ex_post) {
        (true, "harmed") => "defect-below",
        (true, _) => "justified",
        (false, "harmless") => "lucky",
        (false, _) => "unsafe",
    };
    RetryVerdict { call, origin, ex_ante: before.verdict, ex_post, quadrant }
}

/// Kind of the HTTP body, as a media type.
pub fn content_type(content: ContentKind) -> Option<&'static str> {
    Some(match content {
        ContentKind::Json => "application/json",
        ContentKind::EventStream => "text/event-stream",
        ContentKind::Html => "text/html",
        ContentKind::Other | ContentKind::Unknown => return None,
    })
}
