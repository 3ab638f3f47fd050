//! The server does not have the tool.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};
use crate::{
    correlate::Seen,
    event::Wording,
    judge::{CallFacts, Evidence, Outcome},
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "unknown-tool",
    title: "The tool does not exist",
    doc: Doc {
        means: "There was no handler to run.",
        recognized: "The answer names the called tool as unknown, and the run's complete tool list lacks it; no handler, progress, contact or other word of the server is on record inside the call, and no notice behind the list says that it has changed. Without the list the same is a condition.",
        is_not: "The wording alone: a handler can raise \"unknown tool\" about something else.",
        to_do: "Do not send it again. Refresh the tool list.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    if refusal(facts, attempt.outcome) == Some(Refusal::UnknownTool) {
        let list = facts
            .run
            .and_then(super::super::run::RunFacts::complete_tools)
            .map(|list| Evidence::seen("shows the complete tool list", list.mark));
        let proof = attempt.end().with(list);
        return Some(Opinion::new(Caution::Safe, RULE.id, "The server has no such tool.", Helps::No, proof));
    }
    let worded = facts.call.answer.wording == Wording::UnknownTool && facts.call.answer.names_target;
    let untouched = facts.contacts.is_empty() && !facts.has(Seen::Handled) && !facts.has(Seen::HandlerDone);
    let listed = facts.run.is_some_and(|run| run.complete_tools().is_some());
    if !worded
        || !untouched
        || listed
        || facts.blocking().is_some()
        || !matches!(attempt.outcome, Outcome::ToolError | Outcome::JsonRpcError)
    {
        return None;
    }
    let condition = "the server's complete tools/list lacks the tool";
    Some(Opinion::safe_if(
        RULE.id,
        condition,
        "The answer says that the server has no such tool.",
        Helps::No,
        attempt.end(),
    ))
}

/// Whether a complete tool list, made before the answer, lacks the called tool.
pub(super) fn list_lacks_tool(facts: &CallFacts<'_>) -> bool {
    let (Some(list), Some(target)) = (facts.run.and_then(crate::judge::RunFacts::complete_tools), facts.call.target)
    else {
        return false;
    };
    let before = facts.call.answered.is_some_and(|answered| {
        if answered.origin.source == list.mark.origin.source {
            list.mark.origin <= answered.origin
        } else {
            facts
                .case
                .placed(list.mark)
                .zip(facts.case.placed(answered))
                .is_some_and(|(list, answered)| list <= answered)
        }
    });
    // A notice behind the list says that it is no longer the list.
    let changed = facts.run.is_some_and(|run| {
        let notices = run.strands.iter().filter_map(|strand| strand.tools_changed);
        notices
            .into_iter()
            .any(|notice| notice.origin.source != list.mark.origin.source || notice.origin > list.mark.origin)
    });
    before && !changed && list.tools.iter().all(|tool| tool.name != target)
}
