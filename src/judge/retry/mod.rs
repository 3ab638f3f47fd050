//! May a call be sent again? One rule, one file; the order of the table is the order of precedence, and the first rule
//! that fires decides: what forbids comes first, then what proves that nothing ran, then what needs a condition.
//!
//! A rule may say `safe` only where another execution provably adds nothing; `docs/soundness.md` argues each of them.

mod absorbing;
mod answered_behind_failure;
mod answered_success;
mod authorization_denied;
mod connect_failed;
mod contested_link;
mod covered_error;
mod effect_free;
mod elicitation_required;
mod external_attempt;
mod hinted_read_only;
mod horizon;
mod idempotency_key;
mod input_required;
mod invalid_arguments;
mod method_not_found;
mod new_process;
mod no_proof;
mod not_forwarded;
mod not_sent;
mod read_by_intent;
mod read_only_contact;
mod refused_at_the_door;
mod rejected_answer;
mod rejected_before_work;
mod remote_refused;
mod server_error;
mod session_gone;
mod task_started;
mod unknown_tool;
mod unreadable_request;
mod witnesses_contradict;

use std::borrow::Cow;

use super::{
    CallFacts, Evidence, Milestones, Outcome, Proof,
    call::{EffectClass, Truth},
    doc::Doc,
};
use crate::{
    correlate::{Author, Case, Contact, Mark, NONE, Seen, Strand, StrandFact},
    event::{ContentKind, RemarkKind, Wording},
    time::SECOND,
};

/// How cautious a verdict is; the order is the order of caution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Caution {
    /// Another execution adds nothing.
    Safe,
    /// A named, checkable condition removes every harmful case.
    SafeIf,
    /// Neither proven nor excluded.
    Unknown,
    /// An effect is on record or was answered.
    Unsafe,
}

impl Caution {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::SafeIf => "safe-if",
            Self::Unknown => "unknown",
            Self::Unsafe => "unsafe",
        }
    }
}

/// Would sending again help?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Helps {
    /// The cause is transient.
    Yes,
    /// The same request must fail again.
    No,
    /// It succeeded already.
    AlreadyDone,
    /// Nothing tells.
    Unknown,
}

impl Helps {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::AlreadyDone => "already-done",
            Self::Unknown => "unknown",
        }
    }
}

/// An opinion whether something may be done again. It has a rule, a reason and a proof, or it cannot be written.
#[derive(Clone, Debug)]
pub struct Opinion {
    /// The verdict.
    pub verdict: Caution,
    /// The rule that decided.
    pub rule: &'static str,
    /// What must be checked; `Some` exactly for [`Caution::SafeIf`].
    pub condition: Option<Cow<'static, str>>,
    /// One sentence.
    pub reason: Cow<'static, str>,
    /// Would it help?
    pub helps: Helps,
    /// The records.
    pub proof: Proof,
}

impl Opinion {
    /// An opinion without condition.
    pub fn new(
        verdict: Caution,
        rule: &'static str,
        reason: impl Into<Cow<'static, str>>,
        helps: Helps,
        proof: Proof,
    ) -> Self {
        debug_assert!(verdict != Caution::SafeIf, "a condition is never empty");
        Self { verdict, rule, condition: None, reason: reason.into(), helps, proof }
    }

    /// `safe-if`.
    pub fn safe_if(
        rule: &'static str,
        condition: impl Into<Cow<'static, str>>,
        reason: impl Into<Cow<'static, str>>,
        helps: Helps,
        proof: Proof,
    ) -> Self {
        let condition = Some(condition.into());
        Self { verdict: Caution::SafeIf, rule, condition, reason: reason.into(), helps, proof }
    }

    /// The same opinion as the verdict of another attempt of the operation.
    #[must_use]
    pub fn of_another_attempt(self, decider: &CallFacts<'_>) -> Self {
        let id = match decider.call.id {
            crate::correlate::RpcId::Int(id) => format!(" with id {id}"),
            _ => String::new(),
        };
        let reason = format!("Another attempt of the same operation{id} decides: {}", lower_first(&self.reason));
        Self { reason: reason.into(), ..self }
    }

    /// The same opinion as the verdict of the last leg of a chain.
    #[must_use]
    fn of_continuation(self, last: &CallFacts<'_>) -> Self {
        let id = match last.call.id {
            crate::correlate::RpcId::Int(id) => format!(" with id {id}"),
            _ => String::new(),
        };
        let reason = format!("It was continued, and its last leg{id} decides: {}", lower_first(&self.reason));
        Self { reason: reason.into(), ..self }
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

/// One attempt with what was computed of it.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a, 'c> {
    /// The facts.
    pub facts: &'a CallFacts<'c>,
    /// What the caller got.
    pub outcome: Outcome,
    /// Its milestones.
    pub milestones: &'a Milestones,
}

impl Attempt<'_, '_> {
    /// The record that shows the request, as a proof to start from.
    fn request(&self) -> Proof {
        Proof::seen("shows the request", self.facts.place())
    }

    /// The record that shows how the call ended, else the request.
    fn end(&self) -> Proof {
        match self.facts.call.answered {
            Some(mark) => Proof::seen("shows how it ended", mark),
            None => self.request(),
        }
    }

    /// Whether the class is one for which a wrong repetition does harm.
    fn may_harm(&self) -> bool {
        matches!(self.facts.class, EffectClass::Undeclared | EffectClass::ByIntent)
    }
}

/// A rule about retries.
#[derive(Debug)]
pub struct RetryRule {
    /// Kebab-case name.
    pub id: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Its documentation.
    pub doc: Doc,
    /// Fires with an opinion, or not at all.
    pub check: fn(&Attempt<'_, '_>) -> Option<Opinion>,
}

/// All retry rules, by precedence.
pub static RETRY_RULES: &[&RetryRule] = &[
    &contested_link::RULE,
    &idempotency_key::RULE,
    &answered_behind_failure::RULE,
    &rejected_answer::RULE,
    &external_attempt::RULE,
    &hinted_read_only::SUCCESS,
    &answered_success::RULE,
    &task_started::RULE,
    &input_required::RULE,
    &witnesses_contradict::RULE,
    &not_sent::RULE,
    &not_forwarded::RULE,
    &refused_at_the_door::RULE,
    &session_gone::RULE,
    &unreadable_request::RULE,
    &method_not_found::RULE,
    &effect_free::RULE,
    &absorbing::RULE,
    &unknown_tool::RULE,
    &invalid_arguments::RULE,
    &authorization_denied::RULE,
    &elicitation_required::RULE,
    &remote_refused::RULE,
    &read_only_contact::RULE,
    &connect_failed::RULE,
    &rejected_before_work::RULE,
    &read_by_intent::RULE,
    &hinted_read_only::RULE,
    &covered_error::RULE,
    &server_error::RULE,
    &no_proof::RULE,
];

/// The rule of an attempt that was told to come back later, without a sign that it had begun.
pub(super) const REJECTED_BEFORE_WORK: &str = rejected_before_work::RULE.id;

/// The opinion about one attempt by itself.
pub(super) fn opinion(facts: &CallFacts<'_>, outcome: Outcome, milestones: &Milestones) -> Opinion {
    let attempt = Attempt { facts, outcome, milestones };
    let own = RETRY_RULES.iter().find_map(|rule| (rule.check)(&attempt)).unwrap_or_else(|| no_proof::opinion(&attempt));
    let own = horizon::with_later_attempts(&attempt, own);
    new_process::with_restart(&attempt, own)
}

/// A call that did nothing, beside one of the same tool that may have: nobody recorded whether they are one operation.
pub(super) fn possibly_the_same(own: Opinion, other: &CallFacts<'_>) -> Opinion {
    let reason = format!(
        "It is possibly the same operation as another call of this tool, which may have taken effect: their arguments are not on record. {}",
        own.reason
    );
    let proof = own.proof.clone().and(Evidence::seen("shows the other call", other.place()));
    Opinion { verdict: Caution::Unknown, reason: reason.into(), proof, ..own }
}

/// Whether a contact can change something at its target: anything but GET and HEAD.
pub(super) fn writes(case: &Case, contact: &Contact) -> bool {
    contact.method.is_none_or(|method| !matches!(case.name(method), "GET" | "HEAD"))
}

/// A refusal that speaks of this very request, before any dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A hop says that it did not forward.
    NotForwarded,
    /// 401, 403, 405, 406, 413, 415, 421; 400 with a pre-dispatch text; −32020, −32022.
    AtTheDoor,
    /// The session is unknown; `certain` where a single dispatch is shown.
    SessionGone {
        /// A single dispatch is shown.
        certain: bool,
    },
    /// −32700, −32600 without an id.
    Unreadable,
    /// −32601 where no call of this method was ever dispatched.
    MethodNotFound,
    /// The server's complete tool list lacks the tool that its answer names.
    UnknownTool,
    /// The called tool's own argument model failed.
    InvalidArguments,
}

/// The refusal of an attempt, if its answer is one and nothing contradicts it.
pub(super) fn refusal(facts: &CallFacts<'_>, outcome: Outcome) -> Option<Refusal> {
    let handled = [Seen::Handled, Seen::HandlerDone, Seen::ServerRequest];
    if handled.iter().any(|seen| facts.has(*seen)) || !facts.contacts.is_empty() || earlier_in_doubt(facts) {
        return None;
    }
    // A receipt that fits several calls may be this one's.
    if facts.call.contested && facts.has(Seen::Contested) {
        return None;
    }
    // What began may have done something before it was refused.
    if began(facts) {
        return None;
    }
    // A client's own claim is no received frame.
    if facts.call.answer.author == Author::Client || facts.has(Seen::OtherAnswer) {
        return None;
    }
    if outcome == Outcome::HttpError && facts.has(Seen::NotForwarded) {
        return not_forwarded(facts);
    }
    match outcome {
        Outcome::HttpError => http_refusal(facts),
        Outcome::JsonRpcError | Outcome::ToolError => rpc_refusal(facts, outcome),
        _ => None,
    }
}

/// Whether the server wrote something between the request and its answer, or sent progress that may be this call's.
fn began(facts: &CallFacts<'_>) -> bool {
    let asked = facts.place().origin;
    let strands = facts.run.into_iter().flat_map(|run| &run.strands);
    let behind = |stray: Mark| stray.origin.source != asked.source || stray.origin >= asked;
    facts.call.stirred || strands.filter_map(|strand| strand.stray_progress).any(behind)
}

/// A hop's "could not connect" speaks for the exchange only if it is the hop's only word about it.
fn not_forwarded(facts: &CallFacts<'_>) -> Option<Refusal> {
    let rows: Vec<_> = facts.seen.iter().filter(|row| row.seen == Seen::NotForwarded).collect();
    let [row] = rows[..] else { return None };
    // One of several upstreams was dead; only the hop's own page shows that no other one answered.
    let own_page =
        facts.call.answer.author == Author::Gateway && facts.http.is_some_and(|http| http.content == ContentKind::Html);
    if row.number == 0 && !own_page {
        return None;
    }
    let source = row.mark.origin.source;
    let lost_upstream = facts.run.into_iter().flat_map(|run| &run.strands).chain(&loose_strands(facts)).any(|strand| {
        strand.source == source.0
            && strand.events.iter().any(|event| event.what == StrandFact::Remark(RemarkKind::UpstreamBroken))
    });
    (!lost_upstream && !facts.has(Seen::UpstreamBroken) && facts.receipt().is_none()).then_some(Refusal::NotForwarded)
}

/// Conversations that belong to no run: a proxy's console may be one of them.
fn loose_strands<'c>(facts: &CallFacts<'c>) -> Vec<&'c Strand> {
    facts.case.strands.iter().filter(|strand| strand.run == NONE).collect()
}

/// Whether this request was dispatched before in a way that does not prove a refusal: by an earlier POST of its own, or
/// by a hop or layer that sends again by itself. What refused the last dispatch says nothing about that one.
fn earlier_in_doubt(facts: &CallFacts<'_>) -> bool {
    facts.seen.iter().any(|row| match row.seen {
        Seen::Resent => !matches!(row.number, 401 | 405 | 406 | 415 | 421),
        Seen::ForwardedAgain | Seen::HiddenRetry => true,
        _ => false,
    })
}

/// A refusal is made at once; what took longer may be about an answer that was made behind it.
const AT_ONCE: i64 = 2 * SECOND;

fn took_long(facts: &CallFacts<'_>) -> bool {
    let span = facts
        .call
        .asked
        .and_then(|asked| facts.case.placed(asked))
        .zip(facts.call.answered.and_then(|answered| facts.case.placed(answered)));
    span.is_some_and(|(asked, answered)| answered.0 - asked.0 > AT_ONCE)
}

fn http_refusal(facts: &CallFacts<'_>) -> Option<Refusal> {
    let http = facts.http?;
    let answer = &facts.call.answer;
    // A hop's log that names another status of the upstream shows that somebody else did more than refuse.
    let upstream = facts.first(Seen::ForwardedOnce).map(|row| row.number);
    let other = upstream.is_some_and(|status| status != 0 && status != i32::from(http.status));
    let about_an_answer = matches!(
        answer.wording,
        Wording::AnswerDenied | Wording::UpstreamReset | Wording::TimedOut | Wording::ConnectionClosed
    );
    if other || about_an_answer || facts.receipt().is_some() {
        return None;
    }
    let single = upstream.is_some_and(|status| status == i32::from(http.status));
    let session_text = matches!(answer.wording, Wording::Session | Wording::NotInitialized);
    // A message with the request's own id was made by who had read it: a challenge alone may come with one.
    let answered = answer.echoes_id && !(answer.has_code && http.challenge);
    match http.status {
        401 | 403 | 405 | 406 | 413 | 415 | 421 => Some(Refusal::AtTheDoor).filter(|_| !answered && !took_long(facts)),
        404 if answer.has_code && answer.code == -32601 => {
            Some(Refusal::MethodNotFound).filter(|_| method_not_found::method_is_unknown(facts))
        }
        404 if facts.call.session.is_some() || session_text => Some(Refusal::SessionGone { certain: single }),
        409 => Some(Refusal::SessionGone { certain: single }),
        400 if session_text => Some(Refusal::SessionGone { certain: single }),
        400 if answer.has_code && matches!(answer.code, -32020 | -32022) => Some(Refusal::AtTheDoor),
        400 if answer.has_code && answer.code == -32700 && !answer.echoes_id => {
            Some(Refusal::Unreadable).filter(|_| !took_long(facts))
        }
        400 if answer.has_code && answer.code == -32600 && answer.foreign_id => {
            Some(Refusal::Unreadable).filter(|_| !took_long(facts))
        }
        400 if answer.has_code && matches!(answer.wording, Wording::Version | Wording::Header | Wording::Parse) => {
            Some(Refusal::AtTheDoor)
        }
        _ => None,
    }
}

fn rpc_refusal(facts: &CallFacts<'_>, outcome: Outcome) -> Option<Refusal> {
    let answer = &facts.call.answer;
    // Only an exchange of its own ties an error without id to this request.
    let own_exchange = facts.http.is_some() && answer.foreign_id;
    if outcome == Outcome::JsonRpcError && answer.has_code {
        match answer.code {
            -32700 | -32600 if own_exchange && !took_long(facts) => return Some(Refusal::Unreadable),
            -32601 if facts.method == "tools/call" && method_not_found::method_is_unknown(facts) => {
                return Some(Refusal::MethodNotFound);
            }
            _ => {}
        }
        if matches!(answer.wording, Wording::NotInitialized | Wording::Session) && own_exchange {
            return Some(Refusal::SessionGone { certain: false });
        }
    }
    let tool_layer = outcome == Outcome::ToolError || answer.has_code && answer.code == -32602;
    if !tool_layer || !answer.names_target || facts.blocking().is_some() {
        return None;
    }
    match answer.wording {
        Wording::UnknownTool if unknown_tool::list_lacks_tool(facts) => Some(Refusal::UnknownTool),
        Wording::ArgumentValidation => Some(Refusal::InvalidArguments),
        _ => None,
    }
}

/// Whether an attempt provably was refused before dispatch.
pub(super) fn refused_before_dispatch(facts: &CallFacts<'_>, outcome: Outcome) -> bool {
    match refusal(facts, outcome) {
        None => false,
        Some(Refusal::SessionGone { certain }) => certain,
        Some(_) => true,
    }
}

/// A contact of the call that may have changed something at its target, and that nothing excuses.
fn harmful_contact<'c>(attempt: &Attempt<'_, 'c>) -> Option<&'c Contact> {
    attempt.facts.attempts().copied().find(|contact| writes(attempt.facts.case, contact) && !refused_by_remote(contact))
}

/// The remote refused to apply it: 401, 403, 404, 422, 429, an SQL error, a rejected push. 409 is not one of them.
fn refused_by_remote(contact: &Contact) -> bool {
    contact.refused || matches!(contact.status, 401 | 403 | 404 | 422 | 429)
}

/// Evidence for the contacts of an attempt.
fn contact_evidence(attempt: &Attempt<'_, '_>) -> Vec<Evidence> {
    let mut evidence = Vec::new();
    for contact in &attempt.facts.contacts {
        evidence.push(Evidence::seen("shows a contact with the outside", contact.attempt));
        if let Some(result) = contact.result.filter(|result| *result != contact.attempt) {
            evidence.push(Evidence::seen("shows the answer of the outside", result));
        }
    }
    evidence
}

/// Whether the milestone says that the request was not dispatched.
fn unreached(attempt: &Attempt<'_, '_>) -> bool {
    attempt.milestones.reached == Truth::False
}
