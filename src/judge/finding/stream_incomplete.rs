//! An event stream ended without the answer.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::correlate::AnswerKind;

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "stream-incomplete",
    title: "A stream ended without the answer",
    severity: Severity::Medium,
    doc: Doc {
        means: "The server accepted the request and opened an event stream; the stream ended, and the answer was not in it. The tool may have run to its end.",
        recognized: "A POST answered with `text/event-stream` whose last event is no answer or is cut, and that no later GET completed.",
        is_not: "The optional stream of a GET, which may close at any time.",
        to_do: "Resume with `Last-Event-ID` where events had an id: that is harmless and often brings the answer. Look for an idle limit of a proxy on the way.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut resumable: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
    for (index, call) in scene.calls() {
        if call.answer.kind != AnswerKind::StreamIncomplete {
            continue;
        }
        let mark = call.answered.unwrap_or_else(|| scene.case.place(call));
        groups.add_call(call.run, index, "shows a stream that ended without the answer", mark);
        *resumable.entry(call.run).or_default() += u64::from(scene.case.http(call).is_some_and(|http| http.resumable));
    }
    for (run, tally) in groups {
        let resumable = resumable.get(&run).copied().unwrap_or(0);
        let tail = match resumable {
            0 => String::new(),
            number if number == tally.count() => "; it can be resumed".to_owned(),
            number => format!("; {number} of them can be resumed"),
        };
        let claim = match tally.count() {
            1 => format!("The event stream ended without the answer to {}{tail}.", scene.first_of(&tally)),
            number => format!(
                "The event streams of {} ended without an answer{}.",
                count(number, "call", "calls"),
                tail.replace("; it can", "; they can")
            ),
        };
        out.push(tally.finding(&RULE, Confidence::High, claim, run));
    }
}
