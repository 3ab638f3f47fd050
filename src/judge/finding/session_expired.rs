//! The server no longer knows the client's session.

use super::{Confidence, Doc, Finding, FindingRule, Scene, Severity, count, tally::Groups};
use crate::{
    correlate::{AnswerKind, Call, Case, StrandFact},
    event::{RemarkKind, Wording},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "session-expired",
    title: "The session is gone",
    severity: Severity::Medium,
    doc: Doc {
        means: "A request carried a session that the server does not know: it was restarted, the session idled out, or another replica got the request.",
        recognized: "A 404 to a request with a session id, a refusal whose text names the session, or the server's own words. With 400 the request may have named no session at all: low severity and confidence.",
        is_not: "A 404 for a wrong path, or the DELETE with which a client ends its session.",
        to_do: "Let the client begin a new session with `initialize`, and only then decide about the calls that were refused. With several replicas, route by session.",
    },
    check,
};

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let mut groups = Groups::default();
    let mut gone = std::collections::BTreeSet::new();
    let mut bad_requests = std::collections::BTreeSet::new();
    let mut runs = std::collections::BTreeSet::new();
    for (index, call) in scene.calls() {
        if let Some(mark) = call.answered.filter(|_| is_refusal(scene.case, call)) {
            groups.add_call(call.run, index, "shows that the session was refused", mark);
            runs.insert(call.run);
            if scene.case.http(call).is_some_and(|http| http.status == 400) {
                bad_requests.insert(call.run);
            } else {
                gone.insert(call.run);
            }
        }
    }
    for strand in scene.case.strands.iter().filter(|strand| !runs.contains(&strand.run)) {
        for event in &strand.events {
            if event.what == StrandFact::Remark(RemarkKind::SessionRefused) {
                groups.add(strand.run, "shows that the server refused a session", event.mark);
            }
        }
    }
    for (run, tally) in groups {
        let status = tally
            .call()
            .and_then(|call| scene.case.http(&scene.case.calls[call as usize]))
            .filter(|http| http.status >= 400)
            .map_or(String::new(), |http| format!(" with HTTP {}", http.status));
        let claim = format!(
            "The server refused {}{status}: {} no session that it knows.",
            count(tally.count(), "request", "requests"),
            if tally.count() == 1 { "it names" } else { "they name" }
        );
        // With 400 a server answers requests that name no session at all.
        let gone = gone.contains(&run) || !bad_requests.contains(&run);
        let (severity, confidence) =
            if gone { (RULE.severity, Confidence::High) } else { (Severity::Low, Confidence::Low) };
        out.push(tally.finding(&RULE, confidence, claim, run).with_severity(severity));
    }
}

fn is_refusal(case: &Case, call: &Call) -> bool {
    let failed = matches!(call.answer.kind, AnswerKind::HttpError | AnswerKind::Error);
    let not_found = call.answer.kind == AnswerKind::HttpError
        && case.http(call).is_some_and(|http| http.status == 404)
        && call.session.is_some()
        && !(call.answer.has_code && call.answer.code == -32601);
    failed && call.answer.wording == Wording::Session || not_found
}
