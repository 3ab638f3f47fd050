//! The server ran the request and answered with an error.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::judge::Outcome;

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "server-error",
    title: "The server answered with an error",
    doc: Doc {
        means: "The request reached a handler, or may have. Whatever the handler did before it failed stands.",
        recognized: "`isError: true`, −32603, code 0, any code that echoes the id, HTTP 500.",
        is_not: "Proof that nothing happened: handlers can raise every code after the effect.",
        to_do: "Look into the server's log for what it did before the error.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let server = matches!(
        attempt.outcome,
        Outcome::ToolError | Outcome::JsonRpcError | Outcome::InvalidToolResult | Outcome::InvalidEnvelope
    ) || attempt.facts.http.is_some_and(|http| http.status == 500)
        && attempt.outcome == Outcome::HttpError;
    if !server {
        return None;
    }
    let reason = match attempt.outcome {
        Outcome::InvalidToolResult => "The tool may have worked: what it gave back is no valid result.",
        Outcome::InvalidEnvelope => "The server may have worked on it: its answer is no valid answer to this request.",
        _ => "The server may have worked on it before it answered with an error.",
    };
    Some(Opinion::new(Caution::Unknown, RULE.id, reason, Helps::Unknown, attempt.end()))
}
