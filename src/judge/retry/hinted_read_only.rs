//! The server's tool list calls the tool read-only or idempotent: a hint, and so never more than a condition.

use super::{Attempt, Doc, Helps, Opinion, RetryRule};
use crate::judge::{Evidence, Outcome, policy::Effect};

/// For calls that succeeded.
pub(super) static SUCCESS: RetryRule = RetryRule {
    id: "hinted-read-only-success",
    title: "A success of a tool that its server calls read-only",
    doc: DOC,
    check: |attempt| check(attempt, attempt.outcome == Outcome::ToolSuccess, SUCCESS.id),
};

/// For calls whose execution is in doubt.
pub(super) static RULE: RetryRule = RetryRule {
    id: "hinted-read-only",
    title: "The server calls the tool read-only or idempotent",
    doc: DOC,
    check: |attempt| check(attempt, !attempt.outcome.is_success(), RULE.id),
};

const DOC: Doc = Doc {
    means: "The server's own tool list carries `readOnlyHint: true`, or `idempotentHint: true` for equal arguments. The specification calls such annotations untrusted.",
    recognized: "The annotation stands in a `tools/list` answer of the same run, and no contact of the call contradicts it.",
    is_not: "Proof. A tool that is called read-only and wrote to a service is judged by what it did.",
    to_do: "Decide whether you trust this server's annotations. If you operate it, declare the tool's class in the policy.",
};

fn check(attempt: &Attempt<'_, '_>, applies: bool, rule: &'static str) -> Option<Opinion> {
    let facts = attempt.facts;
    // The operator knows better.
    let denied = facts.declared().is_some_and(|(effect, _)| effect == Effect::Accumulating);
    let (tool, list) = facts.tool().filter(|_| applies && !denied)?;
    let contradicted = facts.contacts.iter().any(|contact| contact.is_attempt() && super::writes(facts.case, contact));
    if contradicted || !(tool.read_only || tool.idempotent) {
        return None;
    }
    let (condition, reason) = if tool.read_only {
        ("the server's annotation \"read-only\" is true", "The server's tool list calls this tool read-only.")
    } else {
        (
            "the server's annotation \"idempotent\" is true, and the arguments stay the same",
            "The server's tool list calls this tool idempotent.",
        )
    };
    let helps = if attempt.outcome.is_success() { Helps::AlreadyDone } else { Helps::Unknown };
    let proof = attempt.request().and(Evidence::seen("shows the annotation", list));
    Some(Opinion::safe_if(rule, condition, reason, helps, proof))
}
