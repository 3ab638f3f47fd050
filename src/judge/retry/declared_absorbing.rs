//! The operator declares that an equal call of the tool adds nothing.

use super::{Attempt, CallFacts, Caution, Doc, Opinion, RetryRule, declared_none::helps};
use crate::judge::{Condition, Spots, policy::Effect};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "declared-absorbing",
    title: "The policy declares that an equal call adds nothing",
    doc: Doc {
        means: "The operator says that a call with equal arguments adds nothing to an earlier one, as `PUT` and `DELETE` of HTTP do (RFC 9110 9.2.2). The verdict is as good as this word.",
        recognized: "`effect = \"absorbing\"` in the policy (`--policy`), or `idempotentHint: true` in every tool list of a server that the policy trusts; and no two equal calls that each created something (201), or that came to one place of a service under two keys. Where another call of the tool may have come since, it is a condition: sending the first again may undo the second.",
        is_not: "A word about calls with other arguments, or about starting the server. Where the records contradict it, the declaration counts for no call of the tool: see `contradicted-declaration`.",
        to_do: "Send it again with the same arguments.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let (_, assumption) = facts.declared().filter(|(effect, _)| *effect == Effect::Absorbing)?;
    let reason = "The operator declares that an equal call adds nothing, and no record contradicts that.";
    let opinion = Opinion::new(Caution::Safe, RULE.id, reason, helps(attempt), attempt.end());
    Some(opinion.assuming([assumption]).under(since(facts).into_iter().collect()))
}

/// Another call of the tool that may have set something else behind this one.
fn since(facts: &CallFacts<'_>) -> Option<Condition> {
    let other = facts.run?.terms?.another_since(facts.case, facts.index)?;
    let text = "no other call of the tool (such as {}) has set something else since";
    Some(Condition::at(text, Spots::Records(vec![facts.case.place(&facts.case.calls[other as usize])])))
}
