//! Every contact of the call was refused by the remote.

use super::{Attempt, Doc, Helps, Opinion, RetryRule, contact_evidence, refused_by_remote, writes};
use crate::judge::{Proof, call::EffectClass};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "remote-refused",
    title: "The remote refused",
    doc: Doc {
        means: "The service answered that it did not apply the request.",
        recognized: "All contacts that could have changed something ended with 401, 403, 404, 422 or 429, an SQL error, or a rejection. 409 is not one of them: it may mean that an earlier attempt was applied.",
        is_not: "A statement about what else the tool did: other steps may have happened.",
        to_do: "Correct the cause at the service, then send it again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let mut writing = facts.attempts().filter(|contact| writes(facts.case, contact)).peekable();
    let first = **writing.peek()?;
    if facts.class == EffectClass::None
        || !writing.all(|contact| refused_by_remote(contact))
        || facts.blocking().is_some()
    {
        return None;
    }
    let proof = Proof::seen("shows the contact", first.attempt).with(contact_evidence(attempt));
    let condition = match facts.nothing_local() {
        Some(_) => "the tool takes no other step at the service",
        None => "the tool takes no other step, at the service or on its own host",
    };
    let opinion =
        Opinion::safe_if(RULE.id, condition, "The service refused what the tool sent.", Helps::Unknown, proof);
    Some(opinion.with_local(facts))
}
