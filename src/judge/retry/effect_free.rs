//! The method changes nothing by specification.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::{
    correlate::AnswerKind,
    event::Wording,
    judge::{
        CallFacts, Outcome,
        call::{EffectClass, is_probe},
    },
};

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

const PROBE: &str = "It is a step of the negotiation: a handshake that succeeded follows.";

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let contrary = attempt.facts.contacts.iter().any(|contact| contact.is_attempt());
    if attempt.facts.class != EffectClass::None || contrary {
        return None;
    }
    let reason = match attempt.facts.call.answer.code {
        _ if is_probe(attempt.facts.case, attempt.facts.index) => PROBE.to_owned(),
        -32601 if attempt.outcome == Outcome::JsonRpcError => {
            format!("The server does not serve {}, which changes nothing by specification.", attempt.facts.method)
        }
        _ => format!("By specification {} changes nothing.", attempt.facts.noun()),
    };
    Some(Opinion::new(Caution::Safe, RULE.id, reason, helps(attempt), attempt.end()))
}

/// How far behind a request its repetition is looked for.
const NEAR: usize = 256;

/// Whether the same request succeeded soon afterwards in the same run: then there is nothing left to do.
fn succeeded_later(facts: &CallFacts<'_>) -> bool {
    let behind = facts.case.calls.iter().skip(facts.index as usize + 1).take(NEAR);
    behind.filter(|later| later.run == facts.call.run).any(|later| {
        later.method == facts.call.method
            && later.direction == facts.call.direction
            && later.args == facts.call.args
            && later.target == facts.call.target
            && later.answer.kind == AnswerKind::Result
    })
}

/// What is refused for its form fails again as it is; what broke, or came too early, may succeed.
pub(super) fn helps(attempt: &Attempt<'_, '_>) -> Helps {
    let answer = &attempt.facts.call.answer;
    match attempt.outcome {
        outcome if outcome.is_success() || succeeded_later(attempt.facts) => Helps::AlreadyDone,
        _ if is_probe(attempt.facts.case, attempt.facts.index) => Helps::AlreadyDone,
        _ if answer.has_code && matches!(answer.code, -32700 | -32600 | -32601 | -32602 | -32020 | -32022) => Helps::No,
        Outcome::JsonRpcError if answer.wording == Wording::Version => Helps::No,
        Outcome::JsonRpcError | Outcome::InvalidEnvelope | Outcome::MalformedJson | Outcome::AnswerNotCaptured => {
            Helps::Unknown
        }
        Outcome::HttpError => match attempt.facts.http.map_or(0, |http| http.status) {
            400 | 401 | 403 | 405 | 406 | 410 | 413 | 415 | 421 | 422 | 501 => Helps::No,
            404 | 500 => Helps::Unknown,
            _ => Helps::Yes,
        },
        _ => Helps::Yes,
    }
}
