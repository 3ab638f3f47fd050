//! A tool was entered and never came back.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::{
    correlate::{Call, Case, NONE, Seen},
    judge::{CallVerdict, Layer, Outcome},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "tool-hang",
    title: "A tool never returned",
    severity: Severity::High,
    doc: Doc {
        means: "The server had the call, and nothing shows that the tool ever ended. It may still be at work, and may have changed something already.",
        recognized: "A `tools/call` that reached the server (its own record, progress, or a contact made for it), has no answer, no end of its handler and no late answer, while the process lived and no question to the client was open.",
        is_not: "A call whose answer came late or was lost: that is `late-result`. A call that died with its process: that is `exited-early`. Medium confidence where no caller is on record as having waited in vain.",
        to_do: "Look at what the last event leads to: the remote system after an external attempt, the tool's own code otherwise. Give every outbound request of the tool a limit shorter than the client's.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut waited = std::collections::BTreeSet::new();
    for (index, verdict) in &scene.verdicts.calls {
        let call = &scene.case.calls[*index as usize];
        if !hangs(scene.case, call, verdict) {
            continue;
        }
        let gave_up = scene.case.sightings(call).find(|row| matches!(row.seen, Seen::TimedOut | Seen::Cancelled));
        let mark = verdict.last_phase.map_or_else(|| scene.case.place(call), |(_, mark)| mark);
        let tally = groups.add_call(call.run, *index, "shows the last event of the call", mark);
        if let Some(row) = gave_up {
            tally.also("shows that the caller stopped waiting", row.mark);
            waited.insert(call.run);
        }
    }
    for (run, tally) in groups {
        let confidence = if waited.contains(&run) { Confidence::High } else { Confidence::Medium };
        let last = tally.call().and_then(|call| scene.verdicts.calls[&call].last_phase).map(|(event, _)| event.name());
        let last = last.unwrap_or("tool_call_received");
        let claim = match tally.count() {
            1 => format!(
                "The server had the call of {} and never answered it; its last event is {last}.",
                scene.first_of(&tally)
            ),
            number => format!(
                "The server had {} and never answered them; the first is one of {}, whose last event is {last}.",
                count(number, "tool call", "tool calls"),
                scene.first_of(&tally)
            ),
        };
        let of = scene.case.runs.get(run as usize).map_or(0, |run| run.calls.len() as u64);
        out.push(tally.of(of).finding(&RULE, confidence, claim, run));
    }
}

/// Whether the server had a call and nothing shows that its tool ever ended.
pub(super) fn hangs(case: &Case, call: &Call, verdict: &CallVerdict) -> bool {
    let gave_up = case.sightings(call).any(|row| matches!(row.seen, Seen::TimedOut | Seen::Cancelled));
    let open = verdict.outcome == Outcome::NoAnswer && verdict.layer == Layer::Application;
    open && call.run != NONE
        && !case.sightings(call).any(|row| match row.seen {
            Seen::LateAnswer | Seen::HandlerDone | Seen::ReplyLost | Seen::Responded => true,
            // A process that ended after its caller had left says nothing of the tool.
            Seen::ProcessEnded => !gave_up,
            _ => false,
        })
}
