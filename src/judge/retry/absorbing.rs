//! Repeating the request changes nothing more.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::judge::call::EffectClass;

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "absorbing",
    title: "The method is idempotent by specification",
    doc: Doc {
        means: "`logging/setLevel`, subscriptions and `tasks/cancel` set a state; setting it again changes nothing more.",
        recognized: "By the method's name, as long as no contact with the outside is bound to the request.",
        is_not: "An annotation: those are hints of the server.",
        to_do: "Send it again.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let contrary = attempt.facts.contacts.iter().any(|contact| contact.is_attempt());
    if attempt.facts.class != EffectClass::Absorbing || contrary {
        return None;
    }
    let helps = if attempt.outcome.is_success() { Helps::AlreadyDone } else { Helps::Yes };
    Some(Opinion::new(Caution::Safe, RULE.id, "Repeating it sets the same state again.", helps, attempt.request()))
}
