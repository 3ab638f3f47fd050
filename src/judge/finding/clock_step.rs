//! A clock was set while a source was written.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, tally::Tally};
use crate::{correlate::NONE, time::MILLISECOND};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "clock-step",
    title: "A clock was set while it was logged by",
    severity: Severity::Medium,
    doc: Doc {
        means: "A clock was set back while a source was written by it, or two clocks were set apart. Times before that place and behind it cannot be compared, nor waits be measured across it: no order is taken from them.",
        recognized: "Two records of one writer in one source, the later one with a time that is earlier by more than 100 ms, or more than a second where stamps have no fraction. Or two calls that two sources recorded and that set bounds for the difference of their clocks which exclude each other and fit no steady drift.",
        is_not: "Records of different writers in one file, a log without dates that runs past midnight, and captures that are ordered by the ends of exchanges. Clocks that are apart all the time are a skew; clocks that move apart steadily are a drift.",
        to_do: "Read the order from the records of each source, not from their times; look for a time service that set the clock, a suspended machine, or the end of daylight saving time in a log without zones.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for source in &scene.case.sources {
        let Some((before, after)) = source.stepped else { continue };
        let back = before.at.zip(after.at).map_or(0, |(before, after)| before.0.saturating_sub(after.0));
        let mut tally = Tally::new("bears an earlier time than the record before it", after);
        tally.also("is the record before it", before);
        let claim = format!("The clock of a source goes back by {} ms between two records.", back / MILLISECOND);
        out.push(tally.finding(&RULE, Confidence::High, claim, NONE));
    }
    for pace in scene.case.clocks.paces().filter(|pace| pace.rate.is_none()) {
        let mut tally = Tally::new("shows the one clock behind the step", pace.marks[0]);
        tally.also("shows the other clock behind the step", pace.marks[1]);
        out.push(tally.finding(
            &RULE,
            Confidence::Medium,
            "One of two clocks was set between two calls that both sources recorded.",
            NONE,
        ));
    }
}
