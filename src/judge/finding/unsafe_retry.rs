//! Something was sent again although nothing showed that this was harmless.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::{
    correlate::{AnswerKind, Case},
    judge::call::{OperationVerdict, RetryVerdict},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "unsafe-retry",
    title: "An unsafe retry was made",
    severity: Severity::High,
    doc: Doc {
        means: "An attempt failed, or its answer never came, and the same request was sent again although the first attempt may have had its effect.",
        recognized: "Two attempts of one operation (same server, tool and arguments), where the verdict on an earlier one forbade or did not permit the later one, and the later one was not harmless. High confidence where both had an effect on record.",
        is_not: "A repetition after a success, which is somebody's decision. A continuation, a redelivery, or a re-send after an authorization challenge.",
        to_do: "Find out who retried, and turn that retry off for calls that change something, or give them an idempotency key. Check the service for a doubled effect.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut harmed = std::collections::BTreeSet::new();
    for operation in &scene.verdicts.operations {
        for retry in unsafe_retries(scene.case, operation) {
            let call = &scene.case.calls[retry.call as usize];
            groups
                .add_call(
                    call.run,
                    retry.call,
                    "shows the attempt that should not have been made",
                    scene.case.place(call),
                )
                .also("shows the attempt before it", scene.case.place(&scene.case.calls[retry.after as usize]));
            if retry.ex_post == "harmed" {
                harmed.insert(call.run);
            }
        }
    }
    for (run, tally) in groups {
        let confidence = if harmed.contains(&run) { Confidence::High } else { Confidence::Medium };
        let claim = match tally.count() {
            1 => format!(
                "A call of {} was sent again although an attempt before it may have had its effect.",
                scene.first_of(&tally)
            ),
            number => format!(
                "{} were sent again although attempts before may have had its effect, first one of {}.",
                count(number, "call", "calls"),
                scene.first_of(&tally)
            ),
        };
        out.push(tally.finding(&RULE, confidence, claim, run));
    }
}

/// The retries that were unsafe.
fn unsafe_retries<'v>(case: &'v Case, operation: &'v OperationVerdict) -> impl Iterator<Item = &'v RetryVerdict> {
    operation.retries.iter().filter(|retry| {
        let answered = matches!(
            case.calls[retry.after as usize].answer.kind,
            AnswerKind::Result | AnswerKind::Task | AnswerKind::InputRequired
        );
        let no_retry = retry
            .origin
            .iter()
            .all(|origin| matches!(*origin, "continuation" | "authorization" | "correction" | "redelivery"));
        retry.quadrant == "unsafe" && !answered && !no_retry
    })
}
