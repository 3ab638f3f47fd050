//! The client tells a story that the wire does not.

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, count, number_of,
    tally::{Groups, Tally},
};
use crate::{
    correlate::{AnswerKind, Call, Case, NONE, Seen, Sighting},
    event::Witness,
    judge::call::answer_is_servers,
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "client-misreport",
    title: "The client reports something else than happened",
    severity: Severity::Medium,
    doc: Doc {
        means: "The client's own record shows a success where the server answered with a failure, or a failed start where the server was up and answered. Dashboards built on the client's words are wrong in the same way.",
        recognized: "A call summary or a client's remark that claims success, beside an answer on the wire with `isError: true` or an `error`; or a failed start beside an answer of the server in the same run.",
        is_not: "A client that reports a failure because it stopped waiting: for the caller that is what happened.",
        to_do: "Fix the client so that it looks at `isError` and `error`, and do not count its successes until then.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    for (index, call) in scene.calls() {
        if let (Some(claim), Some(answered)) = (claimed_success(scene.case, call), call.answered) {
            groups
                .add_call(call.run, index, "shows that the client reports a success", claim.mark)
                .also("shows the failing answer", answered);
        }
    }
    for (run, tally) in groups {
        let claim = format!(
            "The client reports success for {} that the server answered with a failure, first for {}.",
            count(tally.count(), "call", "calls"),
            scene.first_of(&tally)
        );
        out.push(tally.finding(&RULE, Confidence::High, claim, run));
    }
    for facts in scene.runs {
        let Some((_, failed)) = facts.spawn_failed else { continue };
        let answered =
            facts.run.calls.iter().map(|call| &scene.case.calls[*call as usize]).find(|call| answer_is_servers(call));
        if let Some(answered) = answered.and_then(|call| call.answered) {
            let mut tally = Tally::new("reports a failed start", failed);
            tally.also("shows an answer of the server", answered);
            let claim = "A failed start is reported for a server that answered in the same run.";
            out.push(tally.finding(&RULE, Confidence::Medium, claim, number_of(facts)));
        }
    }
}

/// A client's claim of success beside a failing answer of the server, by another record than the answer itself.
fn claimed_success<'c>(case: &'c Case, call: &'c Call) -> Option<&'c Sighting> {
    // Spans and summaries are claims on both sides; only a recorded answer can refute one.
    let failed =
        matches!(call.answer.kind, AnswerKind::ToolError | AnswerKind::Error) && answer_is_servers(call) && !call.thin;
    if !failed {
        return None;
    }
    case.sightings(call).find(|row| {
        row.witness == Witness::Client
            && match row.seen {
                Seen::CallSucceeded => true,
                // A summary tells of HTTP; a span that only lacks an error claims nothing.
                Seen::OtherAnswer => row.number == 1 && call.http != NONE,
                _ => false,
            }
    })
}
