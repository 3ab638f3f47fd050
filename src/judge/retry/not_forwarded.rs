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
        recognized: "`connect() failed` and its relatives in a proxy's log, or a log line without an upstream, bound to this very exchange by session, status and time, and no record near it of an upstream that was lost. A specific record overrides the status code. An error log speaks of one upstream only: then it is a condition.",
        is_not: "A 502 or 504 by itself: an upstream that was reached and then lost may have run the tool.",
        to_do: "Send it again when the server is back.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let Some(Refusal::NotForwarded { certain }) = refusal(attempt.facts, attempt.outcome) else { return None };
    let row = attempt.facts.first(Seen::NotForwarded)?;
    let proof = Proof::seen("shows that nothing was forwarded", row.mark).with(attempt.end().iter().cloned());
    let reason = "The proxy in front of the server could not forward it.";
    Some(if certain {
        Opinion::new(Caution::Safe, RULE.id, reason, Helps::Yes, proof)
    } else {
        Opinion::safe_if(RULE.id, CONDITION, reason, Helps::Yes, proof)
    })
}

const CONDITION: &str = "the proxy asked no other upstream";

/// Whether the log of the proxy would settle an opinion of this rule.
pub(super) fn asks_the_gateway(opinion: &Opinion) -> bool {
    opinion.rule == RULE.id && opinion.conditions.iter().any(|condition| condition.text == CONDITION)
}
