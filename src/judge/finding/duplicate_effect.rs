//! One intent had its effect more than once.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::{correlate::AnswerKind, judge::call::OperationVerdict};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "duplicate-effect",
    title: "An effect happened twice, or may have",
    severity: Severity::High,
    doc: Doc {
        means: "The attempts of one operation changed something outside more than once, or one of them did and another one may have.",
        recognized: "At least one attempt with a success of the outside on record, and a further attempt that was not refused. High confidence where two successes are on record and the first was not answered before the second was sent.",
        is_not: "A call that was repeated after its success without two effects on record. Where two are on record after a success, somebody may have meant it: low confidence.",
        to_do: "Ask the service for both effects, undo the one too many, and give the call an idempotency key.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut best: std::collections::BTreeMap<u32, (Confidence, (u32, u32))> = std::collections::BTreeMap::new();
    for operation in &scene.verdicts.operations {
        let Some(confidence) = confidence(scene, operation) else { continue };
        let Some((last, before)) = operation.attempts.split_last() else { continue };
        let call = &scene.case.calls[*last as usize];
        let tally = groups.add_call(call.run, *last, "shows the last attempt of the operation", scene.case.place(call));
        for attempt in before.iter().take(3) {
            tally.also("shows an earlier attempt", scene.case.place(&scene.case.calls[*attempt as usize]));
        }
        for contact in operation.attempts.iter().take(4).flat_map(|attempt| scene.case.contacts_of(*attempt)) {
            if let Some(result) = contact.result {
                tally.also("shows the answer of the outside", result);
            }
        }
        let known = best.entry(call.run).or_insert((confidence, operation.effects));
        known.0 = known.0.max(confidence);
    }
    for (run, tally) in groups {
        let (confidence, (proven, possible)) = best.get(&run).copied().unwrap_or((Confidence::Low, (1, 2)));
        let claim = match (tally.count(), proven) {
            (1, 2..) => format!("The operation of {} had its effect at least {proven} times.", scene.first_of(&tally)),
            (1, _) => format!(
                "The operation of {} had its effect once, and may have had it up to {possible} times.",
                scene.first_of(&tally)
            ),
            (number, _) => format!(
                "{} had their effect more than once, or may have, first one of {}.",
                count(number, "operation", "operations"),
                scene.first_of(&tally)
            ),
        };
        out.push(tally.finding(&RULE, confidence, claim, run));
    }
}

fn confidence(scene: &Scene<'_, '_>, operation: &OperationVerdict) -> Option<Confidence> {
    let (proven, possible) = operation.effects;
    let answered = |attempt: &u32| scene.case.calls[*attempt as usize].answer.kind == AnswerKind::Result;
    let repeated = operation.attempts.iter().rev().skip(1).any(answered);
    match (operation.duplicate, proven) {
        ("certain", _) => Some(Confidence::High),
        ("possible", 2..) => Some(Confidence::Low),
        ("possible", 1) if possible >= 2 && !repeated => Some(Confidence::Medium),
        _ => None,
    }
}
