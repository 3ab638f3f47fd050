//! The server does not have the tool.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};
use crate::{
    correlate::Seen,
    event::Wording,
    judge::{Evidence, Outcome},
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
