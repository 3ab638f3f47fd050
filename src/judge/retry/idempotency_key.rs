//! The arguments carry an idempotency key: the receiver may recognise a repetition.

use super::{Attempt, Doc, Helps, Opinion, RetryRule};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "idempotency-key",
    title: "The request carries an idempotency key",
    doc: Doc {
        means: "The arguments hold a key under which the receiver can recognise the same request.",
        recognized: "A member of the arguments named like an idempotency key (`idempotency_key`, `idempotencyKey`, `client_token`, `request_token`).",
        is_not: "A key that is made anew for every call: that is no key. Nor a promise: whether the receiver honors the key, and for how long, no log shows.",
        to_do: "Send the same key with the same payload, before the first use plus the key's lifetime.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    // Where the operator says where the key stands, no name tells better.
    let declared = attempt.facts.grant.is_some_and(|grant| grant.keyed);
    if attempt.facts.call.idempotency_key == 0 || declared || !attempt.may_harm() {
        return None;
    }
    let helps = if attempt.outcome.is_success() { Helps::AlreadyDone } else { Helps::Unknown };
    let condition =
        "the receiver honors the idempotency key, the same key and payload are sent, and the key has not expired";
    let reason = "The arguments carry an idempotency key.";
    Some(Opinion::safe_if(RULE.id, condition, reason, helps, attempt.request()))
}
