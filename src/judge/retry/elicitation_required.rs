//! The server wants the user to visit a page first.

use super::{Attempt, Doc, Helps, Opinion, RetryRule, refusal};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "elicitation-required",
    title: "An elicitation must come first",
    doc: Doc {
        means: "The request was stopped at a gate (2025-11-25): the user has to complete an elicitation in a browser.",
        recognized: "JSON-RPC −32042.",
        is_not: "A failure of the tool.",
        to_do: "Complete the elicitation, then send it again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let answer = &attempt.facts.call.answer;
    let begun = refusal::began(attempt.facts) || !attempt.facts.contacts.is_empty();
    if !answer.has_code || answer.code != -32042 || begun {
        return None;
    }
    let reason = "The server stopped it until an elicitation is completed.";
    Some(Opinion::safe_if(RULE.id, "the elicitation is completed first", reason, Helps::Yes, attempt.end()))
}
