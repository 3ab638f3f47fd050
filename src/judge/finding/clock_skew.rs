//! The clocks of two sources contradict causality.

use std::collections::BTreeMap;

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, tally::Tally};
use crate::{
    correlate::{Call, Case, Mark, NONE, Seen},
    time::{MILLISECOND, SECOND},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "clock-skew",
    title: "Two clocks contradict each other",
    severity: Severity::Low,
    doc: Doc {
        means: "By the times of two sources, something happened before its cause: a request was received before it was sent, or answered before it was asked. Times of these sources cannot be compared closer than that.",
        recognized: "Two records of one call in two sources, whose causal order is certain and whose placed times say otherwise by more than 100 ms and the coarser clock's resolution.",
        is_not: "A missing zone or date, which is placed by whole quarters of an hour. Records inside one source are never compared: their order is the order of the records.",
        to_do: "Synchronize the clocks of the machines, and read the order from ids and from each source by itself.",
    },
    check,
};

/// Logs are written a little after the fact: what differs by less than this is no skew.
const DELAY: i64 = 100 * MILLISECOND;
/// Sightings of a call that are compared; further ones are rare and add nothing.
const ROWS: usize = 8;

const ROLE: &str = "bears an earlier time than its cause";

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut pairs: BTreeMap<(u32, u32), (Tally, i64)> = BTreeMap::new();
    for (index, call) in scene.calls() {
        if call.sightings == NONE && same_source(call) {
            continue;
        }
        let Some((cause, effect, skew)) = worst(scene.case, call) else { continue };
        let key = (cause.origin.source.0, effect.origin.source.0);
        if let Some((tally, most)) = pairs.get_mut(&key) {
            tally.add(ROLE, effect);
            *most = (*most).max(skew);
        } else {
            let mut tally = Tally::of_call(index, ROLE, effect);
            tally.also("shows the cause", cause);
            pairs.insert(key, (tally, skew));
        }
    }
    for (tally, most) in pairs.into_values() {
        let claim = format!("The clocks of two sources differ by at least {}.", duration(most));
        out.push(tally.finding(&RULE, Confidence::High, claim, NONE));
    }
}

fn same_source(call: &Call) -> bool {
    match (call.asked, call.answered) {
        (Some(asked), Some(answered)) => asked.origin.source == answered.origin.source,
        _ => true,
    }
}

/// The place of a sighting in causal order; `None` where it has no certain one.
fn rank(seen: Seen) -> Option<u8> {
    Some(match seen {
        Seen::Queued | Seen::Sent => 0,
        Seen::Received => 1,
        Seen::Handled => 2,
        Seen::Responded => 3,
        Seen::Delivered => 4,
        _ => return None,
    })
}

/// The pair of records of a call that contradicts causality most.
fn worst(case: &Case, call: &Call) -> Option<(Mark, Mark, i64)> {
    let doubtful = [Seen::Resent, Seen::ForwardedAgain, Seen::Contested, Seen::OtherAnswer, Seen::LateAnswer];
    if call.contested || case.sightings(call).any(|row| doubtful.contains(&row.seen)) {
        return None;
    }
    let first = [call.asked.map(|mark| (call.asked_as, mark)), call.answered.map(|mark| (call.answered_as, mark))];
    let rows: Vec<(u8, Mark)> = first
        .into_iter()
        .flatten()
        .chain(case.sightings(call).map(|row| (row.seen, row.mark)))
        .filter_map(|(seen, mark)| Some((rank(seen)?, mark)))
        .take(ROWS)
        .collect();
    let mut worst: Option<(Mark, Mark, i64)> = None;
    for (before, cause) in &rows {
        for (after, effect) in &rows {
            if before >= after || cause.origin.source == effect.origin.source {
                continue;
            }
            let (Some(from), Some(to)) = (case.placed(*cause), case.placed(*effect)) else { continue };
            let skew = from.0.saturating_sub(to.0);
            if skew > DELAY.max(resolution(case, *cause)).max(resolution(case, *effect))
                && worst.is_none_or(|(.., most)| skew > most)
            {
                worst = Some((*cause, *effect, skew));
            }
        }
    }
    worst
}

/// What the stamps of a source cannot tell apart.
fn resolution(case: &Case, mark: Mark) -> i64 {
    let digits = case.sources[mark.origin.source.0 as usize].digits;
    SECOND / 10_i64.pow(u32::from(digits.min(9)))
}

fn duration(nanoseconds: i64) -> String {
    let milliseconds = nanoseconds / MILLISECOND;
    if milliseconds >= 10_000 { format!("{} s", milliseconds / 1000) } else { format!("{} ms", milliseconds.max(1)) }
}
