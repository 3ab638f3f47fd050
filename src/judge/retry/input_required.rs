//! The server asks for input: the call is to be continued, not repeated.

use super::{Attempt, Doc, Helps, Opinion, RetryRule, opinion};
use crate::judge::{CallFacts, Evidence, Outcome, call, outcome};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "input-required",
    title: "The server asks for input first",
    doc: Doc {
        means: "A multi-round-trip request (2026-07-28): the exchange is complete, the work is not. The client continues with a new id, `inputResponses` and the same `requestState`.",
        recognized: "`resultType: input_required`. Where a request with that state is on record, the chain takes the verdict of its last leg.",
        is_not: "A failure. Nor a proof that nothing happened: the specification does not forbid effects before the question.",
        to_do: "Continue with `requestState` and a new id; do not send the first request again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if attempt.outcome != Outcome::InputRequired {
        return None;
    }
    if let Some(leg) = next_leg(attempt.facts) {
        return Some(last_leg(attempt.facts, leg));
    }
    let condition = "it is continued with its requestState and a new id, instead of being sent again";
    let reason = "The server asked for input before it goes on.";
    Some(Opinion::safe_if(RULE.id, condition, reason, Helps::Yes, attempt.end()))
}

/// The request that carries the state which this call's answer gave.
fn next_leg(facts: &CallFacts<'_>) -> Option<u32> {
    let state = facts.call.state_given;
    let calls = &facts.run?.run.calls;
    calls.iter().copied().find(|index| {
        let call = &facts.case.calls[*index as usize];
        *index != facts.index && state != 0 && call.state_sent == state
    })
}

/// The verdict of the chain is that of its last leg. Chains are short; a cycle of states is cut.
fn last_leg(facts: &CallFacts<'_>, first: u32) -> Opinion {
    let mut leg = CallFacts::new(facts.case, facts.run, first);
    for _ in 0..16 {
        match next_leg(&leg) {
            Some(next) if next != facts.index => leg = CallFacts::new(facts.case, facts.run, next),
            _ => break,
        }
    }
    let outcome = outcome::outcome(&leg);
    if outcome == Outcome::InputRequired {
        let condition = "the last open question is answered with its requestState and a new id";
        let proof = crate::judge::Proof::seen("shows the continuation", leg.place());
        return Opinion::safe_if(RULE.id, condition, "The chain it belongs to waits for input.", Helps::Yes, proof);
    }
    let milestones = call::milestones(&leg, outcome);
    let own = opinion(&leg, outcome, &milestones);
    let proof = own.proof.clone().and(Evidence::seen("shows the first leg of the chain", facts.place()));
    Opinion { proof, ..own.of_continuation(&leg) }
}
