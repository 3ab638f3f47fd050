//! Nothing on record decides.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::{
    correlate::{RAISED, Seen, Sighting},
    judge::{Evidence, Outcome, Truth},
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "no-proof",
    title: "Nothing on record decides",
    doc: Doc {
        means: "The request was sent, or may have been. Whether the server executed it, no artifact tells.",
        recognized: "No other rule fires: timeouts, 502 to 504, a closed connection, a cut stream, a cancelled call.",
        is_not: "A sign that nothing happened: the server may still be working. A stream that was lost after an event id can be resumed first, which is harmless and often ends the doubt.",
        to_do: "Fetch one of the artifacts under \"missing\".",
    },
    check,
};

#[expect(clippy::unnecessary_wraps, reason = "a rule of the table may decline; this one never does")]
fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    Some(opinion(attempt))
}

/// The opinion where nothing decides.
pub(super) fn opinion(attempt: &Attempt<'_, '_>) -> Opinion {
    let facts = attempt.facts;
    let resumable = facts.http.is_some_and(|http| http.resumable);
    let reason = match attempt.outcome {
        Outcome::StreamIncomplete if resumable => {
            "The stream broke before the answer; resume it with Last-Event-ID first."
        }
        Outcome::StreamIncomplete => "The stream broke before the answer.",
        Outcome::HttpError => "A status alone does not tell whether the server executed it.",
        Outcome::Cancelled => "The caller cancelled; that does not tell whether the server stopped.",
        Outcome::NoAnswer if raised(attempt).is_some() => {
            "Its handler ended with an error, and no answer is on record."
        }
        Outcome::NoAnswer if facts.receipt().is_some() => "The server had it, and no answer is on record.",
        Outcome::NoAnswer if attempt.milestones.sent == Truth::True => "It was sent, and no answer is on record.",
        Outcome::NoAnswer => "The client wanted to send it; neither that it was sent nor an answer is on record.",
        Outcome::AnswerNotCaptured => "An answer was given, but nobody recorded what it said.",
        _ => "Nothing on record tells whether the server executed it.",
    };
    let broken = facts
        .seen
        .iter()
        .find(|row| matches!(row.seen, Seen::TimedOut | Seen::Cancelled | Seen::ConnectionClosed | Seen::ProcessEnded));
    let proof = attempt.request().with(facts.call.answered.map(|mark| Evidence::seen("shows how it ended", mark)));
    let proof = proof.with(broken.map(|row| Evidence::seen(crate::judge::call::role_of(row), row.mark)));
    let proof = proof.with(raised(attempt).map(|row| Evidence::seen(crate::judge::call::role_of(row), row.mark)));
    let proof = proof.with(facts.receipt().map(|mark| Evidence::seen("shows that the server had it", mark)));
    Opinion::new(Caution::Unknown, RULE.id, reason, Helps::Unknown, proof)
}

/// The server's record that the handler raised: its caller was told something, but nobody recorded what.
fn raised<'a>(attempt: &Attempt<'a, '_>) -> Option<&'a Sighting> {
    attempt.facts.seen.iter().find(|row| row.seen == Seen::HandlerDone && row.number == RAISED)
}
