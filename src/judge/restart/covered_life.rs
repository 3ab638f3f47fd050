//! The whole life of the process is covered, and it reached nothing outside a call.

use super::RestartRule;
use crate::{
    correlate::AnswerKind,
    judge::{Evidence, Helps, Opinion, Place, Proof, RunFacts, doc::Doc, retry::Caution, run},
};

/// See [`RestartRule::doc`].
pub(super) static RULE: RestartRule = RestartRule {
    id: "covered-life",
    title: "The whole life of the process is covered",
    doc: Doc {
        means: "A kernel trace follows the process from its first program to its end and shows no contact outside a call.",
        recognized: "A trace of the network over the whole life (class A), no bytes sent on a socket whose peer the trace does not show, every call answered, the process's own exit on record: safe. With calls open it is a condition, as it is with a server's own log only (class B).",
        is_not: "A statement about local files: a start may rewrite them, as every start does.",
        to_do: "Start it.",
    },
    check,
};

fn check(facts: &RunFacts<'_>) -> Option<Opinion> {
    let open = facts
        .run
        .calls
        .iter()
        .any(|index| matches!(facts.case.calls[*index as usize].answer.kind, AnswerKind::None | AnswerKind::Task));
    let exit = facts.exited.filter(|exit| !exit.wrapper && facts.unattributed.is_empty())?;
    if facts.case.anywhere.attempt_outside_calls {
        return None;
    }
    if let Some(trace) = facts.trace {
        let absent = Evidence {
            role: "a kernel trace of the whole life of the process shows no contact outside a call".into(),
            place: Place::Absent { from: trace.from.origin, to: trace.to.origin },
        };
        let proof = Proof::new(absent).and(run::exit_evidence(exit));
        let reason = "Outside its calls it reached nothing in its whole life.";
        return Some(if open {
            Opinion::safe_if(
                RULE.id,
                "the client does not send the open calls again by itself",
                reason,
                Helps::Unknown,
                proof,
            )
        } else {
            Opinion::new(Caution::Safe, RULE.id, reason, Helps::Unknown, proof)
        });
    }
    let channel = facts.records_attempts?;
    let proof = Proof::seen("shows that this log records attempts", channel).and(run::exit_evidence(exit));
    let condition = if open {
        "the server's log records every outbound path, and the client does not send the open calls again by itself"
    } else {
        "the server's log records every outbound path"
    };
    let reason = "The server's log, which records attempts, shows none outside a call.";
    Some(Opinion::safe_if(RULE.id, condition, reason, Helps::Unknown, proof))
}
