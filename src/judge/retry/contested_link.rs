//! A record may belong to this call or to another one: nobody can say what happened to it.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule};
use crate::{
    correlate::Seen,
    judge::{Evidence, Proof, call::EffectClass},
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "contested-link",
    title: "Several calls fit one record",
    doc: Doc {
        means: "Two requests with one id were open at once, or a log without keys fits several calls. Whatever such a record shows may have happened to this call.",
        recognized: "The link was refused during correlation; the candidates carry the record as contested.",
        is_not: "A call that was answered unmistakably: an exchange of its own decides even where a log beside it is ambiguous.",
        to_do: "Fetch a log that carries session ids or run ids, and decide with it.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let contested = facts.first(Seen::Contested)?;
    let open = !attempt.outcome.is_success() && facts.call.answered.is_none_or(|_| facts.http.is_none());
    if !facts.call.contested || facts.class == EffectClass::None || !open || facts.attempts().next().is_some() {
        return None;
    }
    let proof = Proof::seen("may belong to this call or to another one", contested.mark)
        .and(Evidence::seen("shows the request", facts.place()));
    let reason = "The verdict is contested: a record that decides it fits more than one call.";
    Some(Opinion::new(Caution::Unknown, RULE.id, reason, Helps::Unknown, proof))
}
