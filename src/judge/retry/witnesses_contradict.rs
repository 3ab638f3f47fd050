//! Witnesses contradict each other on whether the request was dispatched.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::judge::{Truth, call::EffectClass};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "witnesses-contradict",
    title: "Witnesses contradict each other",
    doc: Doc {
        means: "One record proves that the request was refused or not sent, another that the server had it.",
        recognized: "The milestone `reached` holds both values.",
        is_not: "A gateway's refusal alone: that speaks for one dispatch only.",
        to_do: "Read the cited records; trust the one nearer to the server.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if attempt.milestones.reached != Truth::Both || attempt.facts.class == EffectClass::None {
        return None;
    }
    let reason = "Witnesses contradict each other on whether the server dispatched it.";
    let proof = attempt
        .end()
        .with(attempt.facts.receipt().map(|mark| crate::judge::Evidence::seen("shows that the server had it", mark)));
    Some(Opinion::new(Caution::Unknown, RULE.id, reason, Helps::Unknown, proof))
}
