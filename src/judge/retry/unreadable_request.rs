//! The server could not read the request.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "unreadable-request",
    title: "The server could not read the request",
    doc: Doc {
        means: "Without a readable request there is nothing to dispatch.",
        recognized: "JSON-RPC −32700, or −32600 whose id is absent, null or a literal of the SDK, as the answer to a POST with exactly one member, at once and without anything that the server wrote, or another source tells of, before it.",
        is_not: "A code with the request's own id: a handler can raise every code. Nor an error after a wait or after progress: it may be about something behind the server. Where no duration is on record, the body was cut, or an event stream that was open meanwhile carries a message that may be about it, it is a condition.",
        to_do: "Correct the client; the same bytes fail again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if refusal(attempt.facts, attempt.outcome) != Some(Refusal::Unreadable) {
        return None;
    }
    Some(Opinion::new(Caution::Safe, RULE.id, "The server could not read the request.", Helps::No, attempt.end()))
}
