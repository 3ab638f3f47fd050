//! The run was cut off while something was open.

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, calls_of, count, last_words, number_of, stands_before,
    tally::Tally, unanswered,
};
use crate::{
    correlate::{Call, Mark, Seen},
    event::PhaseEvent,
    judge::RunFacts,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "interrupted",
    title: "The run was cut off",
    severity: Severity::Medium,
    doc: Doc {
        means: "Somebody stopped the server, left, or revoked its permission while requests were open. What is missing after that point is missing because of the interruption; it does not show that the server would not have answered.",
        recognized: "A `terminated`, `client_disconnected` or `revoked` record, or the client's closing of its side, with a request open whose caller still waited. A revocation counts always.",
        is_not: "A shutdown with everything answered, or one after the process had ended by itself.",
        to_do: "Find out who stopped it and why, and treat every open call as one whose effect is unknown.",
    },
    check,
};

const CUTS: [(PhaseEvent, &str); 3] = [
    (PhaseEvent::Revoked, "was revoked"),
    (PhaseEvent::Terminated, "was terminated"),
    (PhaseEvent::ClientDisconnected, "lost its client"),
];

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for (facts, verdict) in scene.runs() {
        let Some((how, mark, always)) = cut(facts) else { continue };
        if facts.exited.is_some_and(|exit| stands_before(exit.mark, mark) == Some(true)) {
            continue;
        }
        let open: Vec<&Call> =
            calls_of(facts).map(|(_, call)| call).filter(|call| open_at(facts, call, mark)).collect();
        if open.is_empty() && !always {
            continue;
        }
        let mut tally = Tally::new("shows the interruption", mark);
        for call in &open {
            tally.also("shows a request that was open", facts.case.place(call));
        }
        let with = match &open[..] {
            [] => String::new(),
            [call] => format!(" while {} was open", scene.what(call)),
            all => format!(" while {} were open", count(all.len() as u64, "request", "requests")),
        };
        let claim = format!("The run {how}{with}; {}.", last_words(facts, verdict));
        out.push(tally.finding(&RULE, Confidence::High, claim, number_of(facts)));
    }
}

/// What cut the run off, and whether that counts without an open request.
fn cut(facts: &RunFacts<'_>) -> Option<(&'static str, Mark, bool)> {
    let step = CUTS
        .iter()
        .find_map(|(step, how)| facts.steps.get(step).map(|(mark, _)| (*how, *mark, *step == PhaseEvent::Revoked)));
    step.or_else(|| facts.stopped_by_client.map(|mark| ("was ended by its client", mark, false)))
}

/// Whether a request was open at a record, and its caller still waited.
fn open_at(facts: &RunFacts<'_>, call: &Call, cut: Mark) -> bool {
    let given_up = |row: &crate::correlate::Sighting| {
        matches!(row.seen, Seen::TimedOut | Seen::Cancelled) && stands_before(row.mark, cut) != Some(false)
    };
    let asked_later = call.asked.and_then(|asked| stands_before(cut, asked)) == Some(true);
    unanswered(call)
        && !asked_later
        && facts.case.name(call.method) != "subscriptions/listen"
        && !facts.case.sightings(call).any(|row| given_up(row) || row.seen == Seen::Responded)
}
