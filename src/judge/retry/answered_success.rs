//! A success was answered: the work is done.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::judge::call::EffectClass;

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "answered-success",
    title: "The call succeeded",
    doc: Doc {
        means: "The caller has, or the wire shows, a valid result. Sending the call again executes it again.",
        recognized: "A `tools/call` result without error, or a result of a request that is not free of effects by specification.",
        is_not: "A result of `initialize`, `ping` or a list: those change nothing.",
        to_do: "Nothing: use the result that is there.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if !attempt.outcome.is_success() || attempt.facts.class != EffectClass::Undeclared {
        return None;
    }
    let reason = "It succeeded, and sending it again does the work again.";
    Some(Opinion::new(Caution::Unsafe, RULE.id, reason, Helps::AlreadyDone, attempt.end()))
}
