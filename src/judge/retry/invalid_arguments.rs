//! The arguments failed the called tool's own model before the function ran.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use super::{Refusal, refusal};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "invalid-arguments",
    title: "The arguments were rejected",
    doc: Doc {
        means: "The SDK validates the arguments against the tool's model and does not enter the function when they fail.",
        recognized: "A validation text that names the called tool's own model (`1 validation error for payArguments`, `call[pay]`, `Invalid arguments for tool pay`), as −32602 or as `isError`; no handler, progress, contact or other word of the server inside the call, and no `structuredContent` in the answer.",
        is_not: "A validation error of another model: a tool's own code validates its data too, in the middle of its work.",
        to_do: "Do not send it again unchanged. Correct the arguments.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if refusal(attempt.facts, attempt.outcome) != Some(Refusal::InvalidArguments) {
        return None;
    }
    let reason = "Its arguments failed the tool's own model before the tool ran.";
    Some(Opinion::new(Caution::Safe, RULE.id, reason, Helps::No, attempt.end()))
}
