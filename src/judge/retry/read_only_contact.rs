//! Every contact of the call only read.

use super::{Attempt, Doc, Helps, Opinion, RetryRule, contact_evidence, writes};
use crate::judge::{Proof, call::EffectClass, policy::Effect};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "read-only-contact",
    title: "The contacts only read",
    doc: Doc {
        means: "GET and HEAD change nothing by the definition of HTTP (RFC 9110 9.2.1).",
        recognized: "All contacts of the call are GET or HEAD.",
        is_not: "A promise: servers exist that change things on GET, and the tool may have changed something on its own host.",
        to_do: "Check that reading this target changes nothing.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let mut attempts = facts.attempts().peekable();
    let first = **attempts.peek()?;
    let denied = facts.declared().is_some_and(|(effect, _)| effect == Effect::Accumulating);
    if facts.class == EffectClass::None
        || denied
        || attempts.any(|contact| writes(facts.case, contact))
        || facts.blocking().is_some()
    {
        return None;
    }
    let proof = Proof::seen("shows the contact", first.attempt).with(contact_evidence(attempt));
    let condition = match facts.nothing_local() {
        Some(_) => "reading this target changes nothing",
        None => "reading this target changes nothing, and the tool changes nothing on its own host",
    };
    let opinion = Opinion::safe_if(RULE.id, condition, "It only read from the outside.", Helps::Unknown, proof);
    Some(opinion.with_local(facts))
}
