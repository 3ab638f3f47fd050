//! The replica that answered did not know the session.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};
use crate::{correlate::Seen, judge::Evidence};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "session-gone",
    title: "The session is unknown",
    doc: Doc {
        means: "The answering process does not know the session. For this dispatch nothing ran.",
        recognized: "400, 404 or 409 with \"Session not found\", \"Server not initialized\" and their relatives, at once and without the request's own id. Safe where a log shows that the request was dispatched once; a condition otherwise, since a gateway may have asked another replica first. A 404 to a request with a session id and without such words is a condition, too.",
        is_not: "A statement about earlier requests of the session that are still open.",
        to_do: "Initialize a new session, then send it again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let Some(Refusal::SessionGone { certain }) = refusal(attempt.facts, attempt.outcome) else { return None };
    let forwarded = attempt.facts.first(Seen::ForwardedOnce);
    let proof = attempt.end().with(forwarded.map(|row| Evidence::seen("shows a single dispatch", row.mark)));
    let nameless = attempt.facts.http.is_some_and(|http| http.nameless);
    let reason = if nameless {
        "The request carried no session id, and the server that answered wants one."
    } else {
        "The server that answered did not know the session."
    };
    Some(if certain {
        Opinion::new(Caution::Safe, RULE.id, reason, Helps::Yes, proof)
    } else {
        Opinion::safe_if(RULE.id, CONDITION, reason, Helps::Yes, proof)
    })
}

const CONDITION: &str = "your gateway does not try a second replica by itself";

/// Whether the log of the gateway would settle an opinion of this rule.
pub(super) fn asks_the_gateway(opinion: &Opinion) -> bool {
    opinion.rule == RULE.id && opinion.conditions.iter().any(|condition| condition.text == CONDITION)
}
