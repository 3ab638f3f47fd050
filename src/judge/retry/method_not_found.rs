//! The server does not serve the method at all.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};
use crate::judge::CallFacts;

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "method-not-found",
    title: "The method does not exist",
    doc: Doc {
        means: "The server has no handler for this method.",
        recognized: "JSON-RPC −32601 where no run of this server on record declared or listed tools, or was sent a request of the method that it did not answer with the same code.",
        is_not: "−32601 from a server that serves the method: a handler can raise every code.",
        to_do: "Do not send it again to this server.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if refusal(attempt.facts, attempt.outcome) != Some(Refusal::MethodNotFound) {
        return None;
    }
    Some(Opinion::new(Caution::Safe, RULE.id, "The server does not serve this method.", Helps::No, attempt.end()))
}

/// Whether nothing shows that the server serves the method, in this run or in another one of the same server: no
/// declared capability, no tool list, and no call of it that was not answered with the same refusal.
pub(super) fn method_is_unknown(facts: &CallFacts<'_>) -> bool {
    facts.run.is_some_and(|run| !run.serves(facts))
}
