//! Two clocks move apart steadily.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, tally::Tally};
use crate::correlate::NONE;

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "clock-drift",
    title: "Two clocks drift apart",
    severity: Severity::Low,
    doc: Doc {
        means: "One clock runs faster than the other. How far they are apart depends on when they are compared, so their times are not compared at all.",
        recognized: "Calls that two sources recorded over a minute or more bound the difference of their clocks, these bounds exclude each other, and one steady rate of at most two percent fits all of them.",
        is_not: "A difference that stays (clock-skew), or that comes at once (clock-step). A drift of less than half a thousandth is allowed for and no finding.",
        to_do: "Synchronize the clocks of both machines; virtual machines need a time service of their own.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for pace in scene.case.clocks.paces() {
        let Some(rate) = pace.rate else { continue };
        let mut tally = Tally::new("shows the one clock at the end", pace.marks[0]);
        tally.also("shows the other clock at the end", pace.marks[1]);
        let claim = format!("The clocks of two sources drift apart by {} ms in a minute.", (rate.abs() * 60) / 1000);
        out.push(tally.finding(&RULE, Confidence::Medium, claim, NONE));
    }
}
