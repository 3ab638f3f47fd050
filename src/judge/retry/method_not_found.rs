//! The server does not serve the method at all.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "method-not-found",
    title: "The method does not exist",
    doc: Doc {
        means: "The server has no handler for this method.",
        recognized: "JSON-RPC −32601 for a method of which no request of this run was ever dispatched.",
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
