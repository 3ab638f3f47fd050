//! A secret stands in the evidence.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::{correlate::StrandFact, event::RemarkKind};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "secret-in-log",
    title: "A secret stands in a log",
    severity: Severity::High,
    doc: Doc {
        means: "A log that is kept and shared holds a token, key or password in clear.",
        recognized: "A value of the shape of a known kind of token, or behind a name such as `Authorization` or `api_key`.",
        is_not: "A placeholder or a masked value. Only the place is reported; the value is never printed.",
        to_do: "Revoke the secret and make a new one. Share the evidence only after `redact`.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    for strand in &scene.case.strands {
        for event in &strand.events {
            if matches!(event.what, StrandFact::Secret | StrandFact::Remark(RemarkKind::Secret)) {
                groups.add(strand.run, "holds a secret", event.mark);
            }
        }
    }
    for (run, tally) in groups {
        let claim = match tally.count() {
            1 => "A secret stands in a log.".to_owned(),
            number => format!("Secrets stand in {} of the logs.", count(number, "record", "records")),
        };
        out.push(tally.finding(&RULE, Confidence::Medium, claim, run));
    }
}
