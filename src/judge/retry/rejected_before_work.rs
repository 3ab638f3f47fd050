//! A gateway or server said "later" without a sign of having begun.

use super::{AT_ONCE, refusal, took, unreached};
use super::{Attempt, Doc, Helps, Opinion, RetryRule};
use crate::{
    correlate::{NONE, Seen},
    judge::call::EffectClass,
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "rejected-before-work",
    title: "Told to come back later",
    doc: Doc {
        means: "Rate limits and overload protection answer before the work begins, as a rule.",
        recognized: "429 or 503 with `Retry-After`, without wording about a reset or timeout of an upstream, and without a receipt.",
        is_not: "A plain 503: proxies write it after sending too.",
        to_do: "Wait as long as it says, then send it again if the answering layer rejects before work.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let http = facts.http.filter(|http| matches!(http.status, 429 | 503) && http.retry_after != NONE)?;
    let broken = refusal::speaks_of_an_answer(facts.call.answer.wording);
    let begun = facts.receipt().is_some() || facts.has(Seen::UpstreamBroken) || facts.has(Seen::ForwardedAgain);
    // Who waited, or answers under the request's own id, may have begun.
    let waited = took(facts).is_some_and(|took| took > AT_ONCE) || facts.call.answer.echoes_id;
    if broken || begun || waited || facts.class == EffectClass::None || unreached(attempt) {
        return None;
    }
    let condition = "the layer that answered rejects before any work begins";
    let reason = format!("It was told to come back later (HTTP {} with Retry-After).", http.status);
    Some(Opinion::safe_if(RULE.id, condition, reason, Helps::Yes, attempt.end()))
}
