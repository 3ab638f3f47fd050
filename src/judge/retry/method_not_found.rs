//! The server does not serve the method at all.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};
use crate::{
    correlate::{AnswerKind, Call},
    judge::CallFacts,
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "method-not-found",
    title: "The method does not exist",
    doc: Doc {
        means: "The server has no handler for this method.",
        recognized: "JSON-RPC −32601 in the words of an SDK (`Method not found`, with or without the method that was asked for) and without `data`, at once, where no run of this server on record declared, listed or changed tools, or was sent a request of the method that it did not answer with the same code. Where the handshake is not on record, nobody knows what it declared: then it is a condition.",
        is_not: "−32601 from a server that serves the method: a handler can raise every code, and one that names another method speaks of a service behind it.",
        to_do: "Do not send it again to this server.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let Some(Refusal::MethodNotFound { certain }) = refusal(attempt.facts, attempt.outcome) else { return None };
    let reason = "The server does not serve this method.";
    Some(if certain {
        Opinion::new(Caution::Safe, RULE.id, reason, Helps::No, attempt.end())
    } else {
        Opinion::safe_if(RULE.id, "the server declared no tools", reason, Helps::No, attempt.end())
    })
}

/// Whether the capture holds what the server declared.
pub(super) fn declaration_is_known(facts: &CallFacts<'_>) -> bool {
    let answered = |call: &Call| call.answer.kind == AnswerKind::Result && !call.thin;
    facts.run.and_then(|run| run.initialize).is_some_and(answered)
}

/// Whether nothing shows that the server serves the method, in this run or in another one of the same server: no
/// declared capability, no tool list, and no call of it that was not answered with the same refusal.
pub(super) fn method_is_unknown(facts: &CallFacts<'_>) -> bool {
    facts.run.is_some_and(|run| !run.serves(facts))
}
