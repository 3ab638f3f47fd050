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
    // Several requests with one state are attempts of one leg: the most cautious of them decides.
    let legs = next_legs(attempt.facts).map(|leg| last_leg(attempt.facts, leg));
    if let Some(decides) = legs.reduce(|one, other| if other.verdict > one.verdict { other } else { one }) {
        return Some(decides);
    }
    let condition = "it is continued with its requestState and a new id, instead of being sent again";
    let reason = "The server asked for input before it goes on.";
    Some(Opinion::safe_if(RULE.id, condition, reason, Helps::Yes, attempt.end()))
}

/// The requests that carry the state which this call's answer gave.
fn next_legs(facts: &CallFacts<'_>) -> impl Iterator<Item = u32> {
    let state = facts.call.state_given;
    let calls = facts.run.into_iter().flat_map(|run| &run.run.calls);
    calls.copied().filter(move |index| {
        let call = &facts.case.calls[*index as usize];
        *index != facts.index && state != 0 && call.state_sent == state
    })
}

/// The verdict of the chain is that of its last leg. Chains are short; a cycle of states is cut.
fn last_leg(facts: &CallFacts<'_>, first: u32) -> Opinion {
    let mut leg = CallFacts::new(facts.case, facts.run, first);
    for _ in 0..16 {
        let next = next_legs(&leg).next();
        match next {
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
