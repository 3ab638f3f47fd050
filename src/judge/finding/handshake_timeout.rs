//! The client stopped waiting for the handshake.

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, calls_of, events, last_words, number_of, seconds_between,
    shook_hands, stands_before, tally::Tally, unanswered,
};
use crate::{
    correlate::{Call, Mark, Seen, StrandFact},
    event::PhaseEvent,
    judge::RunFacts,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "handshake-timeout",
    title: "The handshake was given up",
    severity: Severity::High,
    doc: Doc {
        means: "The client waited for the answer to `initialize` (or `server/discover`) and stopped waiting. The last event on record tells who to look at: the launcher, the server, or the pipe between them.",
        recognized: "A deadline report, a client's time-out for that request, or a client that closed the connection after at least ten seconds without an answer.",
        is_not: "Proof that the server would not have answered later. A probe with `server/discover` that was followed by a completed `initialize` is none.",
        to_do: "Look at what follows the last event: package downloads and imports before `initialize_received`, the server's own start-up after it. Only then raise the client's limit. Where text stood on stdout, clear that first: it may have cost the answer.",
    },
    check,
};

/// The advice where text on stdout may have cost the client the answer.
const BEHIND_POLLUTION: &str = "Clear stdout first, as `stdout-pollution` says: the client may have lost the answer beside that text. Leave its limit as it is.";

/// A client that leaves sooner did not wait for a deadline.
const PATIENCE: i64 = 10;

/// Evidence of giving up, and where the wait began.
struct GivenUp {
    role: &'static str,
    mark: Mark,
    asked: Option<Mark>,
    confidence: Confidence,
    last: Option<PhaseEvent>,
}

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for (facts, verdict) in scene.runs() {
        if shook_hands(facts, verdict) {
            continue;
        }
        let Some(found) = reported(facts).or_else(|| waited(facts)) else { continue };
        let mut tally = Tally::new(found.role, found.mark);
        if let Some(asked) = found.asked {
            tally.also("shows the request that was waited for", asked);
        }
        let seconds = found.asked.and_then(|asked| seconds_between(facts.case, asked, found.mark));
        let waited =
            seconds.filter(|seconds| *seconds > 0).map_or(String::new(), |seconds| format!(" after {seconds} s"));
        let last = found.last.map(|last| format!("the last event on record is {}", last.name()));
        let last = last.unwrap_or_else(|| last_words(facts, verdict));
        let claim = format!("The client gave up the handshake{waited}; {last}.");
        let finding = tally.finding(&RULE, found.confidence, claim, number_of(facts));
        // One cause, one piece of advice: the answer may be what the client could not read.
        out.push(if facts.pollution.is_empty() { finding } else { finding.with_advice(BEHIND_POLLUTION) });
    }
}

fn reported(facts: &RunFacts<'_>) -> Option<GivenUp> {
    let event = events(facts).find(|event| event.what == StrandFact::Step(PhaseEvent::HandshakeTimeout))?;
    let last = usize::try_from(event.number).ok().and_then(|number| PhaseEvent::ALL.get(number).copied());
    Some(GivenUp {
        role: "reports that the handshake timed out",
        mark: event.mark,
        asked: handshake(facts).and_then(|call| call.asked),
        confidence: Confidence::High,
        // Zero is also what a report without `last_event` holds.
        last: last.filter(|last| *last != PhaseEvent::SpawnRequested),
    })
}

fn waited(facts: &RunFacts<'_>) -> Option<GivenUp> {
    let call = handshake(facts).filter(|call| unanswered(call))?;
    let found = |role, mark, confidence| GivenUp { role, mark, asked: call.asked, confidence, last: None };
    if let Some(row) = facts.case.sightings(call).find(|row| row.seen == Seen::TimedOut) {
        return Some(found("shows that the client stopped waiting", row.mark, Confidence::High));
    }
    let (stop, asked) = (facts.stopped_by_client?, call.asked?);
    let died_first = facts.exited.is_some_and(|exit| stands_before(exit.mark, stop) == Some(true));
    let long = stop.origin.source == asked.origin.source && seconds_between(facts.case, asked, stop)? >= PATIENCE;
    (long && !died_first).then(|| found("shows that the client closed the connection", stop, Confidence::Medium))
}

/// The request that shakes hands.
fn handshake<'c>(facts: &RunFacts<'c>) -> Option<&'c Call> {
    facts.initialize.or_else(|| {
        calls_of(facts).map(|(_, call)| call).find(|call| facts.case.name(call.method) == "server/discover")
    })
}
