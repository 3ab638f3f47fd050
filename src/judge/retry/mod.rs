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
mod declared_absorbing;
mod declared_key;
mod declared_none;
mod doubt;
mod effect_free;
mod elicitation_required;
mod external_attempt;
mod hinted_read_only;
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
mod refusal;
mod refused_at_the_door;
mod rejected_answer;
mod rejected_before_work;
mod remote_refused;
mod server_error;
mod session_gone;
mod task_started;
mod unknown_tool;
mod unreadable_request;
mod unseen;
mod witnesses_contradict;

use std::borrow::Cow;

use super::{
    CallFacts, Condition, Evidence, Milestones, Outcome, Proof, Spots,
    call::{EffectClass, Kinship, Truth},
    doc::Doc,
    policy::{self, Assumption, Effect},
};
use crate::correlate::{Case, Contact};

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
    /// What must be checked, all of it; empty but for [`Caution::SafeIf`].
    pub conditions: Vec<Condition>,
    /// One sentence.
    pub reason: Cow<'static, str>,
    /// Would it help?
    pub helps: Helps,
    /// The records.
    pub proof: Proof,
    /// What it takes from the policy.
    pub assumptions: Vec<Assumption>,
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
        let (conditions, assumptions) = (Vec::new(), Vec::new());
        Self { verdict, rule, conditions, reason: reason.into(), helps, proof, assumptions }
    }

    /// `safe-if`.
    pub fn safe_if(
        rule: &'static str,
        condition: impl Into<Condition>,
        reason: impl Into<Cow<'static, str>>,
        helps: Helps,
        proof: Proof,
    ) -> Self {
        let conditions = vec![condition.into()];
        let (verdict, assumptions) = (Caution::SafeIf, Vec::new());
        Self { verdict, rule, conditions, reason: reason.into(), helps, proof, assumptions }
    }

    /// The same opinion, which rests on the word of the operator as well; each word once.
    #[must_use]
    pub(in crate::judge) fn assuming<'t>(mut self, more: impl IntoIterator<Item = &'t Assumption>) -> Self {
        policy::add(&mut self.assumptions, more);
        self
    }

    /// The same opinion under more conditions. What is not safe without them is not safe with them.
    #[must_use]
    fn under(mut self, more: Vec<Condition>) -> Self {
        if more.is_empty() || self.verdict > Caution::SafeIf {
            return self;
        }
        let shown = more.iter().flat_map(|condition| condition.spots.marks());
        let shown = shown.map(|mark| Evidence::seen("shows what is to be checked", *mark));
        self.proof = self.proof.with(shown);
        self.verdict = Caution::SafeIf;
        self.conditions.extend(more);
        self
    }

    /// The same opinion where nothing changes on the server's host by the word of the operator. A file that was written
    /// meanwhile may speak against it.
    #[must_use]
    fn with_local(self, facts: &CallFacts<'_>) -> Self {
        match facts.nothing_local() {
            Some(assumption) => self.assuming([assumption]).under(written_meanwhile(facts)),
            None => self,
        }
    }

    /// Whether it holds only as far as the capture lacks no other attempt, and is proven otherwise.
    pub(in crate::judge) fn lacks_the_rest(&self) -> bool {
        self.verdict == Caution::SafeIf && self.conditions.iter().all(|condition| condition.elsewhere)
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
    &declared_none::RULE,
    &declared_absorbing::RULE,
    &declared_key::RULE,
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

pub(super) use covered_error::nothing_done;
pub(super) use doubt::{may_have_worked, rests_on_no_execution};
use refusal::{AT_ONCE, Refusal, began, earlier_in_doubt, refusal, told_elsewhere, took};
pub(super) use refusal::{refused_before_dispatch, sent_on_again, turned_away};

/// Rules by which an answer refuses a request before anything ran.
static REFUSALS: [&RetryRule; 7] = [
    &not_forwarded::RULE,
    &refused_at_the_door::RULE,
    &session_gone::RULE,
    &unreadable_request::RULE,
    &method_not_found::RULE,
    &unknown_tool::RULE,
    &invalid_arguments::RULE,
];

/// Whether an opinion rests on a refusal, under whatever conditions.
pub(super) fn is_refusal(opinion: &Opinion) -> bool {
    opinion.verdict <= Caution::SafeIf && REFUSALS.iter().any(|rule| rule.id == opinion.rule)
}

/// Whether an opinion rests on what the operator says of the tool or of the key, whatever was executed.
pub(super) fn is_declared(opinion: &Opinion) -> bool {
    [&declared_none::RULE, &declared_absorbing::RULE, &declared_key::RULE].iter().any(|rule| rule.id == opinion.rule)
}

/// Whether a log that names the upstream of each request would settle an opinion.
pub(super) fn asks_the_gateway(opinion: &Opinion) -> bool {
    session_gone::asks_the_gateway(opinion) || not_forwarded::asks_the_gateway(opinion)
}

/// The rule of an attempt that sent something to a service.
pub const EXTERNAL_ATTEMPT: &str = external_attempt::RULE.id;

/// The rule of an attempt that was told to come back later, without a sign that it had begun.
pub(super) const REJECTED_BEFORE_WORK: &str = rejected_before_work::RULE.id;

/// The opinion about one attempt by itself.
pub(super) fn opinion(facts: &CallFacts<'_>, outcome: Outcome, milestones: &Milestones) -> Opinion {
    let attempt = Attempt { facts, outcome, milestones };
    let own = RETRY_RULES.iter().find_map(|rule| (rule.check)(&attempt)).unwrap_or_else(|| no_proof::opinion(&attempt));
    let rule = own.rule;
    let own = match own.verdict {
        Caution::Safe | Caution::SafeIf => {
            own.under(unseen::conditions(&attempt, rule)).under(doubt::doubts(&attempt, rule))
        }
        Caution::Unknown | Caution::Unsafe => own,
    };
    let own = match facts.declared() {
        // Hints are no longer taken, and what succeeded has an effect.
        Some((Effect::Accumulating, assumption)) if own.verdict >= Caution::Unknown => own.assuming([assumption]),
        _ => own,
    };
    new_process::with_restart(&attempt, own)
}

/// A call that did nothing, beside one of the same tool that may have: nobody recorded whether they are one operation.
pub(super) fn possibly_the_same(own: Opinion, other: &CallFacts<'_>, kinship: Kinship) -> Opinion {
    match kinship {
        Kinship::SameRun => {
            let reason = format!(
                "It is possibly the same operation as another call of this tool, which may have taken effect: their arguments are not on record. {}",
                own.reason
            );
            let proof = own.proof.and(Evidence::seen("shows the other call", other.place()));
            Opinion { verdict: Caution::Unknown, conditions: Vec::new(), reason: reason.into(), proof, ..own }
        }
        Kinship::Possible => {
            let text = "no other call that may have taken effect (first: {}) was an attempt of the same operation";
            own.under(vec![Condition::at(text, Spots::Records(vec![other.place()]))])
        }
    }
}

/// Whether a contact can change something at its target: anything but GET and HEAD.
pub(super) fn writes(case: &Case, contact: &Contact) -> bool {
    contact.method.is_none_or(|method| !matches!(case.name(method), "GET" | "HEAD"))
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

/// A file that a kernel trace shows being written while a call ran, or may have run: it may be the work of it.
fn written_meanwhile(facts: &CallFacts<'_>) -> Vec<Condition> {
    let mark = facts.case.stray.written_within(refusal::window(facts));
    let text = "no file that was written in its time (first: {}) is its work";
    mark.map(|mark| Condition::at(text, Spots::Records(vec![mark]))).into_iter().collect()
}

/// Whether the milestone says that the request was not dispatched.
fn unreached(attempt: &Attempt<'_, '_>) -> bool {
    attempt.milestones.reached == Truth::False
}
