//! The server answered with an error, and its log, which records attempts, shows none.

use super::{Attempt, Caution, Doc, Helps, Opinion, RetryRule, may_have_worked, sent_on_again, written_meanwhile};
use crate::{
    correlate::Seen,
    judge::{
        CallFacts, Condition, Evidence, Outcome, Spots,
        call::EffectClass,
        coverage::{self, Recorder, Window},
    },
};

/// See [`RetryRule::doc`].
pub(super) static RULE: RetryRule = RetryRule {
    id: "covered-error",
    title: "An error without any attempt on record",
    doc: Doc {
        means: "The call was received, answered with an error, and a source that records contacts with the outside over this window shows none.",
        recognized: "An error made by the server; a kernel trace over the process's life (class A) or a server's log that recorded attempts of this very process (class B), or that is complete by the policy; the call's receipt and end in that log, and between them nothing that was lost, dropped or not understood, no level that was raised and no clock that goes back; nothing unattributed in the run, and no second dispatch. Over HTTP a single dispatch has to be on record, else it is a condition. Safe where the trace or the policy covers every contact, the policy says that the tool changes nothing on its server's host, and no trace shows a file being written meanwhile; else a condition.",
        is_not: "Proof that nothing changed where only records speak: they do not cover local files, and class B covers only the channels it records.",
        to_do: "Send it again if all outbound paths are recorded and the tool changes nothing on its own host.",
    },
    check,
};

fn check(attempt: &Attempt<'_, '_>) -> Option<Opinion> {
    let facts = attempt.facts;
    let window = covered(facts, attempt.outcome)?;
    let proof = attempt
        .end()
        .and(Evidence::seen("shows the receipt in the server's log", window.received))
        .and(Evidence::seen("shows the end in the server's log", window.ended));
    let local = facts.nothing_local().is_none();
    let (reason, proof) = match window.by {
        Recorder::Trace => ("It failed, and a kernel trace of the whole process shows no contact.", proof),
        Recorder::Complete(_) => {
            ("It failed, and the server's log, which records every contact, shows none for it.", proof)
        }
        Recorder::Channel(channel) => (
            "It failed, and the server's log, which records attempts, shows none for it.",
            proof.and(Evidence::seen("shows that this log records attempts", channel)),
        ),
    };
    let opinion = match (window.by, local) {
        (Recorder::Channel(_), true) => {
            let condition = "all outbound paths of the tool are recorded, and it changes nothing on its own host";
            Opinion::safe_if(RULE.id, condition, reason, Helps::Unknown, proof)
        }
        (Recorder::Channel(_), false) => {
            Opinion::safe_if(RULE.id, "all outbound paths of the tool are recorded", reason, Helps::Unknown, proof)
        }
        (_, true) => {
            Opinion::safe_if(RULE.id, "the tool changes nothing on its own host", reason, Helps::Unknown, proof)
        }
        (_, false) => Opinion::new(Caution::Safe, RULE.id, reason, Helps::Unknown, proof),
    };
    let complete = if let Recorder::Complete(assumption) = window.by { Some(assumption) } else { None };
    Some(opinion.assuming(complete).with_local(facts).under(open(facts, &window)))
}

/// The window of a call that failed, and in which nothing was contacted.
fn covered<'c>(facts: &CallFacts<'c>, outcome: Outcome) -> Option<Window<'c>> {
    let run = facts.run?;
    let error = matches!(outcome, Outcome::ToolError | Outcome::JsonRpcError);
    if !error || facts.class == EffectClass::None || !facts.contacts.is_empty() || run.unattributed().next().is_some() {
        return None;
    }
    // What was sent on by somebody else, or more than once, may have been at work elsewhere.
    coverage::of_call(facts, &[Seen::Responded]).filter(|_| !sent_on_again(facts))
}

/// What the window of a call leaves open: a line in it that nobody understands may tell of a contact, and so may the log
/// of another process that had the request as well.
fn open(facts: &CallFacts<'_>, window: &Window<'_>) -> Vec<Condition> {
    let mut open = Vec::new();
    if matches!(window.by, Recorder::Complete(_)) && facts.call.stirred {
        let spots = Spots::records([window.received]).unwrap_or(Spots::Nowhere);
        open.push(Condition::at(
            "no line behind its receipt ({}) that is not understood here tells of a contact",
            spots,
        ));
    }
    let elsewhere = coverage::received_elsewhere(facts, window).filter(|_| !matches!(window.by, Recorder::Trace));
    if let Some(spots) = Spots::records(elsewhere) {
        open.push(Condition::at("the receipt in another log ({}) is that of the same process", spots));
    }
    if coverage::may_be_dispatched_again(facts) {
        open.push("no gateway gave it to another process of the server as well".into());
    }
    open
}

/// Whether a call that failed provably changed nothing: no contact is possible, and by the word of the operator nothing
/// local.
pub(in crate::judge) fn nothing_done(facts: &CallFacts<'_>, outcome: Outcome) -> bool {
    facts.nothing_local().is_some()
        && covered(facts, outcome)
            .is_some_and(|window| !matches!(window.by, Recorder::Channel(_)) && open(facts, &window).is_empty())
        && written_meanwhile(facts).is_empty()
        && !may_have_worked(facts, outcome)
}
