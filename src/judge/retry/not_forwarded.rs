//! The hop in front of the server says that the request did not get through.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};
use crate::{correlate::Seen, judge::Proof};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "not-forwarded",
    title: "A proxy could not reach the server",
    doc: Doc {
        means: "A proxy answered by itself, and its own log says that it forwarded nothing or could not connect.",
        recognized: "`connect() failed` and its relatives in a proxy's log, or a log line without an upstream, bound to this very exchange by session, status and time. A specific record overrides the status code.",
        is_not: "A 502 or 504 by itself: an upstream that was reached and then lost may have run the tool.",
        to_do: "Send it again when the server is back.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if refusal(attempt.facts, attempt.outcome) != Some(Refusal::NotForwarded) {
        return None;
    }
    let row = attempt.facts.first(Seen::NotForwarded)?;
    let proof = Proof::seen("shows that nothing was forwarded", row.mark).with(attempt.end().iter().cloned());
    Some(Opinion::new(
        Caution::Safe,
        RULE.id,
        "The proxy in front of the server could not forward it.",
        Helps::Yes,
        proof,
    ))
}
