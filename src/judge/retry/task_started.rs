//! The answer is a task: the work goes on.

use super::{Attempt, Doc, Helps, Opinion, RetryRule};
use crate::judge::Outcome;

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "task-started",
    title: "The answer is a task handle",
    doc: Doc {
        means: "The server accepted the work and goes on with it. Calling the tool again starts a second task.",
        recognized: "A result with a task handle (2025-11-25 `task`, tasks extension `resultType: task`).",
        is_not: "A result. An expired, failed or cancelled task proves nothing about what it did before.",
        to_do: "Poll the task.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if attempt.outcome != Outcome::TaskStarted {
        return None;
    }
    let condition = "the task is polled instead of calling the tool again";
    let reason = "The server took the work as a task, which may still run.";
    Some(Opinion::safe_if(RULE.id, condition, reason, Helps::No, attempt.end()))
}
