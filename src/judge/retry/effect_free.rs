//! The method changes nothing by specification.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::judge::{call, call::EffectClass};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "effect-free",
    title: "The method is free of effects",
    doc: Doc {
        means: "`initialize`, `ping`, `server/discover` and the lists only read.",
        recognized: "By the method's name, as long as no contact with the outside is bound to the request.",
        is_not: "A promise about starting the process: where that is needed, the run's restart verdict counts too. On stdio that is so for a handshake without answer, which a client repeats by starting the server again; another request without answer is safe there only while the process lives, which a condition says unless a later record shows it. Nor about `resources/read` and its like, which read by intent only.",
        to_do: "Send it again; use back-off with jitter.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let contrary = attempt.facts.contacts.iter().any(|contact| call::is_attempt(contact));
    if attempt.facts.class != EffectClass::None || contrary {
        return None;
    }
    let helps = match attempt.outcome {
        outcome if outcome.is_success() => Helps::AlreadyDone,
        crate::judge::Outcome::JsonRpcError | crate::judge::Outcome::InvalidEnvelope => Helps::Unknown,
        _ => Helps::Yes,
    };
    let reason = format!("By specification {} changes nothing.", attempt.facts.noun());
    Some(Opinion::new(Caution::Safe, RULE.id, reason, helps, attempt.request()))
}
