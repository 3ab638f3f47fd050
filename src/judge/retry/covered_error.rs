//! The server answered with an error, and its log, which records attempts, shows none.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule, may_have_worked, written_meanwhile};
use crate::{
    correlate::{Mark, Seen},
    event::Witness,
    judge::{CallFacts, Evidence, Outcome, call::EffectClass, policy::Assumption},
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "covered-error",
    title: "An error without any attempt on record",
    doc: Doc {
        means: "The call was received, answered with an error, and a source that records contacts with the outside over this window shows none.",
        recognized: "An error made by the server; a kernel trace over the process's life (class A) or a server's log that recorded attempts of this very process (class B), or that is complete by the policy; the call's receipt and end in that log; nothing unattributed in the run. Safe where the trace or the policy covers every contact, the policy says that the tool changes nothing on its server's host, and no trace shows a file being written meanwhile; else a condition.",
        is_not: "Proof that nothing changed where only records speak: they do not cover local files, and class B covers only the channels it records.",
        to_do: "Send it again if all outbound paths are recorded and the tool changes nothing on its own host.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let (received, ended, coverage) = covered(facts, attempt.outcome)?;
    let proof = attempt
        .end()
        .and(Evidence::seen("shows the receipt in the server's log", received))
        .and(Evidence::seen("shows the end in the server's log", ended));
    let local = facts.nothing_local().is_none();
    let (reason, proof) = match coverage {
        Coverage::Trace => ("It failed, and a kernel trace of the whole process shows no contact.", proof),
        Coverage::Complete(_) => {
            ("It failed, and the server's log, which records every contact, shows none for it.", proof)
        }
        Coverage::Channel(channel) => (
            "It failed, and the server's log, which records attempts, shows none for it.",
            proof.and(Evidence::seen("shows that this log records attempts", channel)),
        ),
    };
    let opinion = match (&coverage, local) {
        (Coverage::Channel(_), true) => {
            let condition = "all outbound paths of the tool are recorded, and it changes nothing on its own host";
            Opinion::safe_if(RULE.id, condition, reason, Helps::Unknown, proof)
        }
        (Coverage::Channel(_), false) => {
            Opinion::safe_if(RULE.id, "all outbound paths of the tool are recorded", reason, Helps::Unknown, proof)
        }
        (_, true) => {
            Opinion::safe_if(RULE.id, "the tool changes nothing on its own host", reason, Helps::Unknown, proof)
        }
        (_, false) => Opinion::new(Caution::Safe, RULE.id, reason, Helps::Unknown, proof),
    };
    let complete = if let Coverage::Complete(assumption) = coverage { Some(assumption) } else { None };
    Some(opinion.assuming(complete).with_local(facts))
}

/// What shows that the call contacted nothing.
enum Coverage<'c> {
    /// A kernel trace over the life of the process.
    Trace,
    /// The server's log, which records every contact by the word of the operator.
    Complete(&'c Assumption),
    /// The server's log, which recorded an attempt of this very process.
    Channel(Mark),
}

/// The receipt and the end of a call that failed, in the server's log, and what covers the time between them.
fn covered<'c>(facts: &CallFacts<'c>, outcome: Outcome) -> Option<(Mark, Mark, Coverage<'c>)> {
    let run = facts.run?;
    let error = matches!(outcome, Outcome::ToolError | Outcome::JsonRpcError);
    let own = |seen: Seen| facts.seen.iter().find(|row| row.seen == seen && row.witness == Witness::Server);
    let (received, ended) = (own(Seen::Received)?.mark, own(Seen::Responded)?.mark);
    // The end that another party tells of may be that of another process, or none at all.
    if received.origin.source != ended.origin.source {
        return None;
    }
    if !error || facts.class == EffectClass::None || !facts.contacts.is_empty() || !run.unattributed.is_empty() {
        return None;
    }
    let source = received.origin.source;
    let complete = run.terms.and_then(|terms| terms.complete(source));
    let lossy = facts.case.sources[source.0 as usize].lossy;
    let channel = run.records_attempts.filter(|mark| !lossy && mark.origin.source == source);
    let coverage = match (run.trace, complete) {
        (Some(_), _) => Coverage::Trace,
        (None, Some(assumption)) => Coverage::Complete(assumption),
        (None, None) => Coverage::Channel(channel?),
    };
    Some((received, ended, coverage))
}

/// Whether a call that failed provably changed nothing: no contact is possible, and by the word of the operator nothing
/// local.
pub(in crate::judge) fn nothing_done(facts: &CallFacts<'_>, outcome: Outcome) -> bool {
    facts.nothing_local().is_some()
        && covered(facts, outcome).is_some_and(|(.., coverage)| !matches!(coverage, Coverage::Channel(_)))
        && written_meanwhile(facts).is_empty()
        && !may_have_worked(facts, outcome)
}
