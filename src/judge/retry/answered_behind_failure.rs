//! The server finished although the caller got a failure.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::{
    correlate::Seen,
    event::Witness,
    judge::{
        Evidence, Outcome, Proof,
        call::{self, EffectClass},
    },
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "answered-behind-failure",
    title: "The server finished behind the failure",
    doc: Doc {
        means: "The caller saw a timeout, a gateway error or nothing at all, but the server made an answer: the work is done.",
        recognized: "An answer after the caller had stopped waiting, a server's own record of its answer behind a gateway's error, or a reply that was made and lost.",
        is_not: "A refusal by the server: a server's record of an error is not this rule.",
        to_do: "Do not send it again. Fetch the result where it now lives, and raise the limit that cut it off.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    if !attempt.may_harm()
        || facts.class == EffectClass::ByIntent
        || call::answer_is_servers(facts.call) && attempt.outcome != Outcome::AnswerNotCaptured
    {
        return None;
    }
    let row = facts.seen.iter().find(|row| match row.seen {
        Seen::LateAnswer | Seen::ReplyLost | Seen::CallSucceeded => true,
        Seen::Responded => row.witness == Witness::Server,
        _ => false,
    })?;
    let proof = Proof::seen(call::role_of(row), row.mark).and(Evidence::seen("shows the request", facts.place()));
    // Where nobody recorded the caller's side, nothing says that the answer was lost.
    let reason = if attempt.outcome == Outcome::AnswerNotCaptured {
        "The server answered this call; what it said is not on record."
    } else {
        "The server finished this call, although the caller did not get its answer."
    };
    Some(Opinion::new(Caution::Unsafe, RULE.id, reason, Helps::AlreadyDone, proof))
}
