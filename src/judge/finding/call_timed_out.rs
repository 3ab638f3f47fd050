//! A client's own limit cut a call, and no other finding explains it.

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, count, late_result::late, tally::Groups, tool_hang::hangs,
};
use crate::{
    correlate::{Call, NONE, Seen},
    event::Direction,
    judge::{CallFacts, CallVerdict, Outcome, call::gave_up},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "call-timed-out",
    title: "The client's limit cut a call",
    severity: Severity::Medium,
    doc: Doc {
        means: "The client stopped waiting for an answer at a limit of its own. What the server did with the request before and after that is not known from the missing answer.",
        recognized: "A `tools/call` without an answer whose client reports that it timed out, or cancelled it with a reason that names a timeout.",
        is_not: "A tool that is on record as never having ended: that is `tool-hang`. A call whose answer came late: that is `late-result`. A process that died with the call open: that is `exited-early`. A handshake: that is `handshake-timeout`.",
        to_do: "Compare the client's limit with the slowest honest run of the tool. Look up what the call did before it is sent again.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    for (index, verdict) in &scene.verdicts.calls {
        let call = &scene.case.calls[*index as usize];
        if !is_cut(scene, *index, call, verdict) {
            continue;
        }
        let mut rows = gave_up(scene.case, call).into_iter();
        let Some((role, mark)) = rows.next() else { continue };
        let tally = groups.add_call(call.run, *index, role, mark);
        for (role, mark) in rows {
            tally.also(role, mark);
        }
        tally.also("shows the request", scene.case.place(call));
    }
    for (run, tally) in groups {
        let claim = match tally.count() {
            1 => format!("The client stopped waiting for the call of {} at its own limit.", scene.first_of(&tally)),
            number => format!(
                "The client stopped waiting for {} at its own limit, first one of {}.",
                count(number, "call", "calls"),
                scene.first_of(&tally)
            ),
        };
        out.push(tally.finding(&RULE, Confidence::High, claim, run));
    }
}

fn is_cut(scene: &Scene<'_, '_>, index: u32, call: &Call, verdict: &CallVerdict) -> bool {
    let case = scene.case;
    let timed_out = case.sightings(call).any(|row| row.seen == Seen::TimedOut);
    let tool = call.direction == Direction::ToServer && case.name(call.method) == "tools/call";
    let died = || {
        let run = scene.runs.get(call.run as usize);
        run.is_some_and(|run| run.died_before_answer(&CallFacts::new(case, Some(run), index)))
    };
    timed_out
        && tool
        && call.run != NONE
        && verdict.outcome == Outcome::NoAnswer
        && !hangs(case, call, verdict)
        && late(case, call).is_none()
        && !died()
}
