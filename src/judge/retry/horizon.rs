//! Where the capture ends: a refused request may have been sent again beyond it.
//!
//! That this request was refused says nothing about the next one with the same content. A client that was refused
//! corrects its headers, logs in, waits or connects again, and sends it again. Where that attempt would have been
//! recorded, its absence speaks; where the capture is cut, it does not.

use super::{
    Attempt, Caution, Opinion, authorization_denied, invalid_arguments, method_not_found, not_forwarded, not_sent,
    refused_at_the_door, session_gone, unknown_tool, unreadable_request,
};

/// The rules that prove of one attempt that it was not executed, and leave open what became of the others.
static REFUSALS: &[&str] = &[
    not_sent::RULE.id,
    not_forwarded::RULE.id,
    refused_at_the_door::RULE.id,
    session_gone::RULE.id,
    unreadable_request::RULE.id,
    authorization_denied::RULE.id,
    unknown_tool::RULE.id,
    invalid_arguments::RULE.id,
    method_not_found::RULE.id,
];

/// A proof about one attempt holds for its operation only as far as the capture goes.
pub(super) fn with_later_attempts(attempt: &Attempt<'_, '_>, own: Opinion) -> Opinion {
    if own.verdict != Caution::Safe || !attempt.may_harm() || !REFUSALS.contains(&own.rule) {
        return own;
    }
    let Some(why) = open_end(attempt) else { return own };
    let condition = "it was not sent again by anyone in what the capture lacks";
    let reason = format!("{} {why}", own.reason);
    Opinion::safe_if(own.rule, condition, reason, own.helps, own.proof)
}

/// Why a later attempt may be missing.
fn open_end(attempt: &Attempt<'_, '_>) -> Option<&'static str> {
    let facts = attempt.facts;
    if facts.case.anywhere.lossy {
        return Some("A source of the capture is cut, damaged or missing: a later attempt may be missing.");
    }
    None
}
