//! The method reads by intent, not by guarantee.

use super::{Attempt, Doc, Helps, Opinion, RetryRule};
use crate::judge::call::EffectClass;

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "read-by-intent",
    title: "The method is meant to read",
    doc: Doc {
        means: "`resources/read`, `prompts/get` and `completion/complete` are retrieval, but the specification does not promise that they change nothing.",
        recognized: "By the method's name, without a contact that writes.",
        is_not: "A guarantee.",
        to_do: "Send it again if this server's handler only reads.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    if attempt.facts.class != EffectClass::ByIntent {
        return None;
    }
    let helps = if attempt.outcome.is_success() { Helps::AlreadyDone } else { Helps::Yes };
    let reason = format!("By intent {} only reads.", attempt.facts.noun());
    Some(Opinion::safe_if(RULE.id, "this server's handler changes nothing", reason, helps, attempt.request()))
}
