//! Where the capture ends: a refused request may have been sent again beyond it.
//!
//! That this request was refused says nothing about the next one with the same content. A client that was refused
//! corrects its headers, logs in, waits or connects again, and sends it again. Where that attempt would have been
//! recorded, its absence speaks; where the capture is cut, it does not.

use super::{Attempt, Caution, Opinion};

const CONDITION: &str = "it was not sent again by anyone in what the capture lacks";

/// A proof about one attempt holds for its operation only as far as the capture goes. Whatever calls a request safe that
/// may have an effect is such a proof: that this attempt was not executed.
pub(super) fn with_later_attempts(attempt: &Attempt<'_, '_>, own: Opinion) -> Opinion {
    if own.verdict != Caution::Safe || !attempt.may_harm() {
        return own;
    }
    let why = if attempt.facts.case.anywhere.lossy {
        "A source of the capture is cut, damaged or missing: a later attempt may be missing."
    } else if unknown_post_behind(attempt) {
        "An access log shows a request to the endpoint that no call here accounts for: it may be a later attempt."
    } else {
        return own;
    };
    let reason = format!("{} {why}", own.reason);
    Opinion::safe_if(own.rule, CONDITION, reason, own.helps, own.proof)
}

/// Whether an access log shows a request that may have been sent behind this one, and that nothing else shows.
fn unknown_post_behind(attempt: &Attempt<'_, '_>) -> bool {
    let case = attempt.facts.case;
    let asked = attempt.facts.call.asked.and_then(|mark| case.placed(mark));
    case.stray.posts.any_within(asked, None)
}

/// Whether only what the capture lacks keeps a call from being safe.
pub(in crate::judge) fn lacks_the_rest(opinion: &Opinion) -> bool {
    opinion.condition.as_deref() == Some(CONDITION)
}
