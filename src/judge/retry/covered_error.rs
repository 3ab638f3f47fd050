//! The server answered with an error, and its log, which records attempts, shows none.

use super::{Attempt, Doc, Helps, Opinion, RetryRule};
use crate::{
    correlate::Seen,
    event::Witness,
    judge::{Evidence, Outcome, call::EffectClass},
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "covered-error",
    title: "An error without any attempt on record",
    doc: Doc {
        means: "The call was received, answered with an error, and a source that records contacts with the outside over this window shows none.",
        recognized: "An error made by the server; a kernel trace over the process's life (class A) or a server's log that recorded attempts of this very process (class B); the call's receipt and end in that log; nothing unattributed in the run.",
        is_not: "Proof that nothing changed: local files are not covered, and class B covers only the channels it records.",
        to_do: "Send it again if all outbound paths are recorded and the tool changes nothing on its own host.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let run = facts.run?;
    let error = matches!(attempt.outcome, Outcome::ToolError | Outcome::JsonRpcError);
    let own = |seen: Seen| facts.seen.iter().find(|row| row.seen == seen && row.witness == Witness::Server);
    let (received, ended) = (own(Seen::Received)?, own(Seen::Responded)?);
    if !error || facts.class == EffectClass::None || !facts.contacts.is_empty() || !run.unattributed.is_empty() {
        return None;
    }
    let lossy = facts.case.sources[received.mark.origin.source.0 as usize].lossy;
    let proof = attempt
        .end()
        .and(Evidence::seen("shows the receipt in the server's log", received.mark))
        .and(Evidence::seen("shows the end in the server's log", ended.mark));
    if run.trace.is_some() {
        let reason = "It failed, and a kernel trace of the whole process shows no contact.";
        return Some(Opinion::safe_if(
            RULE.id,
            "the tool changes nothing on its own host",
            reason,
            Helps::Unknown,
            proof,
        ));
    }
    let channel = run.records_attempts.filter(|mark| !lossy && mark.origin.source == received.mark.origin.source)?;
    let proof = proof.and(Evidence::seen("shows that this log records attempts", channel));
    let condition = "all outbound paths of the tool are recorded, and it changes nothing on its own host";
    let reason = "It failed, and the server's log, which records attempts, shows none for it.";
    Some(Opinion::safe_if(RULE.id, condition, reason, Helps::Unknown, proof))
}
