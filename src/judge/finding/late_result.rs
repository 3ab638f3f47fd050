//! The work was done, and its result came after the caller had stopped waiting.

use std::collections::BTreeSet;

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, calls_of, count, events, number_of,
    tally::{Groups, Tally},
};
use crate::{
    correlate::{AnswerKind, Call, Case, NO_RESULT, Seen, Sighting, StrandFact},
    event::{RemarkKind, Witness},
    judge::{RunFacts, call::gave_up},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "late-result",
    title: "A result came too late",
    severity: Severity::Medium,
    doc: Doc {
        means: "The caller saw a failure, and the server finished the call all the same. Whoever sends it again does the work twice.",
        recognized: "An answer after the caller's time-out or cancellation; a server's own answer behind a gateway's error or a cut stream; an answer that was made and could not be delivered; a client's words about an answer to an unknown request, after it had given one up.",
        is_not: "A second answer to a call that was answered in time, or a late error: it does not tell how much was done.",
        to_do: "Use the late result instead of sending the call again. Make the client's limit longer than the slowest honest run of the tool.",
    },
    check,
};

/// Statuses of a hop that stopped waiting for the server: proxies, nginx (499), Cloudflare (520 to 524).
const GAVE_UP: [u16; 9] = [408, 499, 502, 504, 520, 521, 522, 523, 524];

const ROLE: &str = "shows an answer to a request that the client no longer knew";

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    for (index, call) in scene.calls() {
        if let Some(row) = late(scene.case, call) {
            let role = if row.seen == Seen::ReplyLost {
                "shows that an answer was made and could not be delivered"
            } else {
                "shows an answer after the caller had stopped waiting"
            };
            let tally = groups.add_call(call.run, index, role, row.mark);
            for (role, mark) in gave_up(scene.case, call) {
                tally.also(role, mark);
            }
            tally.also("shows the request", scene.case.place(call));
        }
    }
    let mut reported = BTreeSet::new();
    for (run, tally) in groups {
        reported.insert(run);
        let claim = match tally.count() {
            1 => format!(
                "The server finished the call of {} although its caller {}.",
                scene.first_of(&tally),
                how_it_ended(scene, tally.call())
            ),
            number => format!(
                "The server finished {} although their callers saw a failure, first one of {}.",
                count(number, "call", "calls"),
                scene.first_of(&tally)
            ),
        };
        out.push(tally.finding(&RULE, Confidence::High, claim, run));
    }
    unattributed(scene, &reported, out);
}

/// What the caller of a call did instead of taking its answer.
fn how_it_ended(scene: &Scene<'_, '_>, call: Option<u32>) -> &'static str {
    let call = call.map(|index| &scene.case.calls[index as usize]);
    let timed_out = |call: &Call| scene.case.sightings(call).any(|row| row.seen == Seen::TimedOut);
    if call.is_some_and(timed_out) { "had stopped waiting at its own limit" } else { "saw a failure" }
}

/// The record of an answer that came too late, or could not be delivered.
pub(super) fn late<'c>(case: &'c Case, call: &'c Call) -> Option<&'c Sighting> {
    let gateway = case.http(call).is_some_and(|http| GAVE_UP.contains(&http.status));
    let cut = match call.answer.kind {
        AnswerKind::StreamIncomplete => true,
        AnswerKind::HttpError => gateway,
        _ => false,
    };
    case.sightings(call).find(|row| match row.seen {
        Seen::LateAnswer => call.answer.kind != AnswerKind::Result && row.number != NO_RESULT,
        Seen::ReplyLost => call.answered.is_none() || cut,
        Seen::Responded => cut && row.witness == Witness::Server && row.number != NO_RESULT,
        _ => false,
    })
}

/// Late answers that no log can give to a call.
fn unattributed(scene: &Scene<'_, '_>, reported: &BTreeSet<u32>, out: &mut Vec<Finding>) {
    let unknown = StrandFact::Remark(RemarkKind::UnknownResponse);
    for facts in scene.runs {
        if reported.contains(&number_of(facts)) {
            continue;
        }
        let mut late = events(facts).filter(|event| event.what == unknown && event.witness == Witness::Client);
        let Some(first) = late.next().filter(|_| somebody_gave_up(facts)) else { continue };
        let mut tally = Tally::new(ROLE, first.mark);
        for event in late {
            tally.add(ROLE, event.mark);
        }
        let claim =
            format!("The client got {} to requests that it no longer knew.", count(tally.count(), "answer", "answers"));
        out.push(tally.finding(&RULE, Confidence::Medium, claim, number_of(facts)));
    }
}

/// Whether a caller of the run stopped waiting, and no answer with a wrong id explains the client's words.
fn somebody_gave_up(facts: &RunFacts<'_>) -> bool {
    let gave_up =
        |call: &Call| facts.case.sightings(call).any(|row| matches!(row.seen, Seen::TimedOut | Seen::Cancelled));
    calls_of(facts).any(|(_, call)| gave_up(call))
        && !calls_of(facts).any(|(_, call)| call.answer.kind == AnswerKind::InvalidEnvelope)
}
