//! The server does not serve the method at all.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};
use crate::{
    correlate::{NONE, Seen},
    judge::CallFacts,
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "method-not-found",
    title: "The method does not exist",
    doc: Doc {
        means: "The server has no handler for this method.",
        recognized: "JSON-RPC −32601 where no run of this server on record declared or listed tools, or was sent a request of the method that it did not answer with the same code.",
        is_not: "−32601 from a server that serves the method: a handler can raise every code.",
        to_do: "Do not send it again to this server.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if refusal(attempt.facts, attempt.outcome) != Some(Refusal::MethodNotFound) {
        return None;
    }
    Some(Opinion::new(Caution::Safe, RULE.id, "The server does not serve this method.", Helps::No, attempt.end()))
}

/// Whether nothing shows that the server serves the method, in this run or in another one of the same server: no
/// declared capability, no tool list, and no call of it that was not answered with the same refusal.
pub(super) fn method_is_unknown(facts: &CallFacts<'_>) -> bool {
    let Some(run) = facts.run else { return false };
    let own = u32::try_from(run.index).unwrap_or(NONE);
    let others = run.server().map_or(&[][..], |server| facts.case.servers.runs(server));
    std::iter::once(own).chain(others.iter().copied().filter(|run| *run != own)).all(|run| {
        let run = &facts.case.runs[run as usize];
        let mut strands = run.strands.iter().map(|strand| &facts.case.strands[*strand as usize]);
        !strands.any(|strand| strand.serves_tools || !strand.tools.is_empty())
            && run.calls.iter().all(|call| *call == facts.index || !may_be_served(facts, *call))
    })
}

/// Whether another call of the method was answered in another way, is at work, or was received.
fn may_be_served(facts: &CallFacts<'_>, index: u32) -> bool {
    let call = &facts.case.calls[index as usize];
    let same_refusal = call.answer.has_code && call.answer.code == -32601;
    let received = || facts.case.seen(call).iter().any(|row| matches!(row.seen, Seen::Received | Seen::Handled));
    call.method == facts.call.method && (!same_refusal || received())
}
