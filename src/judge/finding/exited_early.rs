//! The process ended before it had done what was asked of it.

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, calls_of, count, first_event, number_of, shook_hands,
    tally::Tally, unanswered,
};
use crate::{
    correlate::{Call, Mark, StrandFact},
    event::RemarkKind,
    judge::{CallFacts, RunFacts, run::Exit},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "exited-early",
    title: "The process ended with work open",
    severity: Severity::High,
    doc: Doc {
        means: "The server's process ended before the handshake, or while requests were open. What those requests did before it ended is not known from their missing answers.",
        recognized: "The end of the process on record, before the client stopped it or gave up, with a request open, or with a failure code before any request. Where only the end of its pipe is on record: a crash in the server's own output before it, with a request open, and medium confidence.",
        is_not: "A shutdown that the client asked for, or an end with everything answered. The end of a wrapper is not the server's, and is only named as the wrapper's.",
        to_do: "Read the last lines of the server's stderr before its end, and the system log where a signal ended it.",
    },
    check,
};

/// Signals that mean "please stop": SIGINT and SIGTERM.
const ASKED_TO_STOP: [i32; 2] = [2, 15];

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for (facts, verdict) in scene.runs() {
        broken_down(scene, facts, out);
        let Some(exit) = facts.exited.filter(|_| facts.spawn_failed.is_none()) else { continue };
        let open: Vec<(u32, &Call)> = calls_of(facts)
            .filter(|(_, call)| unanswered(call))
            .filter(|(index, _)| facts.died_before_answer(&CallFacts::new(facts.case, Some(facts), *index)))
            .collect();
        let early = facts.run.calls.is_empty() && failed(&exit) && facts.stopped_by_client.is_none();
        if open.is_empty() && (!early || shook_hands(facts, verdict)) {
            continue;
        }
        let mut tally = Tally::new("shows that the process ended", exit.mark);
        if let Some(event) = first_event(facts, |what| what == StrandFact::Remark(RemarkKind::Killed)) {
            tally.also("shows that the operating system killed the process", event.mark);
        }
        for (_, call) in &open {
            tally.also("shows a request that was open", facts.case.place(call));
        }
        let confidence = if open.is_empty() || exit.wrapper { Confidence::Medium } else { Confidence::High };
        let subject = if exit.wrapper { "The process around the server" } else { "The server's process" };
        let claim = format!("{subject} {} {}.", how(&exit), when(scene, &open));
        out.push(tally.finding(&RULE, confidence, claim, number_of(facts)));
    }
}

/// The server crashed and its pipe closed, and nobody recorded the end of its process.
fn broken_down(scene: &Scene<'_, '_>, facts: &RunFacts<'_>, out: &mut Vec<Finding>) {
    let broke = |index| facts.broke_down(&CallFacts::new(facts.case, Some(facts), index));
    let open = calls_of(facts).filter(|(_, call)| unanswered(call));
    let open: Vec<(u32, &Call, (Mark, Mark))> =
        open.filter_map(|(index, call)| Some((index, call, broke(index)?))).collect();
    let Some((_, _, (crash, end))) = open.first() else { return };
    let mut tally = Tally::new("shows a crash of the server", *crash);
    tally.also("shows that the server's pipe closed", *end);
    for (_, call, _) in &open {
        tally.also("shows a request that was open", facts.case.place(call));
    }
    let open: Vec<(u32, &Call)> = open.into_iter().map(|(index, call, _)| (index, call)).collect();
    let claim = format!("The server crashed and its pipe closed {}.", when(scene, &open));
    out.push(tally.finding(&RULE, Confidence::Medium, claim, number_of(facts)));
}

fn failed(exit: &Exit) -> bool {
    exit.code.is_some_and(|code| code != 0) || exit.signal.is_some_and(|signal| !ASKED_TO_STOP.contains(&signal))
}

fn how(exit: &Exit) -> String {
    match (exit.signal, exit.code) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "ended".to_owned(),
    }
}

fn when(scene: &Scene<'_, '_>, open: &[(u32, &Call)]) -> String {
    match open {
        [] => "before any request is on record".to_owned(),
        [(_, call)] if scene.case.name(call.method) == "initialize" => "before it answered initialize".to_owned(),
        [(_, call)] => format!("while {} was open", scene.what(call)),
        all => format!("while {} were open", count(all.len() as u64, "request", "requests")),
    }
}
