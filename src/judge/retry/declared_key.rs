//! The arguments carry the idempotency key that the operator declares.

use super::{Attempt, Doc, Helps, Opinion, RetryRule};
use crate::{
    judge::policy::{KeyTerm, KeyUse},
    time::Timestamp,
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "declared-key",
    title: "The request carries the key that the policy declares",
    doc: Doc {
        means: "The operator says where the arguments of this tool hold an idempotency key that its receiver honors, and for how long: within that time the same key with the same payload has no second effect.",
        recognized: "`idempotency_key` in the policy (`--policy`), and a text or an integer at that place of the arguments. The end is the first use on record plus `key_lifetime`. Captures that go on behind the end, a key that stands in calls with different arguments, and equal calls that came to the service under different keys end it.",
        is_not: "A word about another key or another payload, nor about a use before the capture began. A mask is no key.",
        to_do: "Send the same key with the same payload, before the instant named.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let (term, used) = attempt.facts.declared_key().filter(|(_, used)| !used.spent && attempt.may_harm())?;
    let helps = if attempt.outcome.is_success() { Helps::AlreadyDone } else { Helps::Unknown };
    let reason = format!("The arguments carry the declared key at {}.", term.pointer);
    let opinion = Opinion::safe_if(RULE.id, condition(term, used), reason, helps, attempt.request());
    Some(opinion.assuming([&term.assumption]))
}

fn condition(term: &KeyTerm, used: KeyUse) -> String {
    let same = "the same key and the same payload are sent";
    match (&term.lifetime, used.first) {
        (Some((lifetime, words)), Some(first)) => {
            let end = Timestamp(first.0.saturating_add(*lifetime));
            format!("{same} before {}, which is {words} after the first use on record", end.rfc3339(0))
        }
        (Some((_, words)), None) => {
            format!("{same} within {words} of the first use, whose instant is not on record")
        }
        (None, _) => format!("{same} while the receiver knows the key, for which the policy declares no lifetime"),
    }
}
