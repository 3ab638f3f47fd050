//! The server wants an authorization that the client did not give.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::correlate::{AnswerKind, Call, Case};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "auth-required",
    title: "Authorization is required",
    severity: Severity::Medium,
    doc: Doc {
        means: "Requests were refused with 401 or 403, and no re-send with an authorization was let through.",
        recognized: "A final status of 401 or 403. A challenge (`WWW-Authenticate`) tells where to get a token.",
        is_not: "The 401 that begins an OAuth exchange and is followed by the same request with a token. Where only a handshake was refused and a later one was completed, the severity is low.",
        to_do: "Log in again, or renew the token; with 403, ask for the scope that the challenge names. What the refused calls did is told with each of them.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut lasting = std::collections::BTreeSet::new();
    let mut challenged = std::collections::BTreeSet::new();
    let mut statuses: std::collections::BTreeMap<u32, std::collections::BTreeSet<u16>> =
        std::collections::BTreeMap::new();
    for (index, call) in scene.calls() {
        let Some(status) = refusal(scene.case, call) else { continue };
        let Some(mark) = call.answered else { continue };
        statuses.entry(call.run).or_default().insert(status);
        if !handshake_followed(scene, call) {
            lasting.insert(call.run);
        }
        groups.add_call(call.run, index, "shows that the request was refused", mark);
        if status == 401 && scene.case.http(call).is_some_and(|http| http.challenge) {
            challenged.insert(call.run);
        }
    }
    for (run, tally) in groups {
        let given: Vec<String> = statuses.get(&run).into_iter().flatten().map(u16::to_string).collect();
        let status = given.join(" or ");
        let challenge = if challenged.contains(&run) { ", with a challenge that tells how to get it" } else { "" };
        let claim = format!(
            "{} refused with HTTP {status} for want of an authorization{challenge}.",
            count(tally.count(), "request was", "requests were")
        );
        let severity = if lasting.contains(&run) { RULE.severity } else { Severity::Low };
        out.push(tally.finding(&RULE, Confidence::High, claim, run).with_severity(severity));
    }
}

fn refusal(case: &Case, call: &Call) -> Option<u16> {
    let status = case.http(call)?.status;
    (call.answer.kind == AnswerKind::HttpError && matches!(status, 401 | 403)).then_some(status)
}

/// Whether the refused request was a handshake, and a later handshake of the run succeeded.
fn handshake_followed(scene: &Scene<'_, '_>, call: &Call) -> bool {
    matches!(scene.case.name(call.method), "initialize" | "server/discover")
        && scene
            .runs
            .get(call.run as usize)
            .and_then(|run| run.initialize)
            .is_some_and(|last| last.answer.kind == AnswerKind::Result)
}
