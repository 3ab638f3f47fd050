//! The only contact of the call failed to connect.

use super::{Attempt, Doc, Helps, Opinion, RetryRule};
use crate::{
    event::ReachStage,
    judge::{Proof, call::EffectClass},
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "connect-failed",
    title: "The contact failed to connect",
    doc: Doc {
        means: "Nothing was sent to the service.",
        recognized: "All contacts of the call were refused, not found, or timed out while connecting.",
        is_not: "A read timeout: then the request was sent.",
        to_do: "Send it again when the service can be reached, if the tool takes no other step.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let failed = facts.contacts.iter().find(|contact| contact.stage == ReachStage::NotConnected)?;
    let all = facts.contacts.iter().all(|contact| contact.stage <= ReachStage::NotConnected);
    if facts.class == EffectClass::None || !all || attempt.outcome.is_success() || facts.blocking().is_some() {
        return None;
    }
    let proof = Proof::seen("shows that the contact failed to connect", failed.attempt);
    let condition = match facts.nothing_local() {
        Some(_) => "the tool takes no other step at any service",
        None => "the tool takes no other step, at any service or on its own host",
    };
    let reason = "Its contact with the outside failed to connect.";
    Some(Opinion::safe_if(RULE.id, condition, reason, Helps::Yes, proof).with_local(facts))
}
