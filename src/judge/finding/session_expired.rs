//! The server no longer knows the client's session.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, count,
    tally::{Groups, Tally},
};
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
        recognized: "A 404 to a request with a session id, a refusal whose text names the session, or the server's own words. With 400 the request may have named no session at all: low severity and confidence. Where its headers are on record without a session id, the finding says so, with low severity.",
        is_not: "A 404 for a wrong path, or the DELETE with which a client ends its session.",
        to_do: "Let the client begin a new session with `initialize`, and only then decide about the calls that were refused. With several replicas, route by session.",
    },
    check,
};

/// What requests without a session id ask for.
const NAMELESS: &str =
    "Let the client send the `Mcp-Session-Id` that the answer to `initialize` gave it with every later request.";

/// The statuses with which the requests of a run were refused; 0 where there was none.
type Statuses = BTreeMap<u32, BTreeSet<u16>>;

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    let (mut gone, mut nameless) = ((Groups::default(), Statuses::new()), (Groups::default(), Statuses::new()));
    for (index, call) in scene.calls() {
        let Some(mark) = call.answered.filter(|_| is_refusal(scene.case, call)) else { continue };
        let http = scene.case.http(call);
        let (groups, statuses) = if http.is_some_and(|http| http.nameless) { &mut nameless } else { &mut gone };
        groups.add_call(call.run, index, "shows that the session was refused", mark);
        statuses.entry(call.run).or_default().insert(http.map_or(0, |http| http.status));
    }
    let told = |run: &u32| gone.1.contains_key(run) || nameless.1.contains_key(run);
    for strand in scene.case.strands.iter().filter(|strand| !told(&strand.run)) {
        for event in &strand.events {
            if event.what == StrandFact::Remark(RemarkKind::SessionRefused) {
                gone.0.add(strand.run, "shows that the server refused a session", event.mark);
            }
        }
    }
    for (run, tally) in gone.0 {
        out.push(unknown_session(run, tally, gone.1.get(&run)));
    }
    for (run, tally) in nameless.0 {
        let carry = if tally.count() == 1 { "it carries" } else { "they carry" };
        let claim = format!("{}: {carry} no session id.", refused(&tally, nameless.1.get(&run)));
        let finding = tally.finding(&RULE, Confidence::High, claim, run);
        out.push(finding.with_severity(Severity::Low).with_advice(NAMELESS));
    }
}

/// `The server refused 2 requests with HTTP 404`: the status where all have the same one.
fn refused(tally: &Tally, statuses: Option<&BTreeSet<u16>>) -> String {
    let one =
        statuses.filter(|statuses| statuses.len() == 1).and_then(BTreeSet::first).filter(|status| **status >= 400);
    let status = one.map_or_else(String::new, |status| format!(" with HTTP {status}"));
    format!("The server refused {}{status}", count(tally.count(), "request", "requests"))
}

fn unknown_session(run: u32, tally: Tally, statuses: Option<&BTreeSet<u16>>) -> Finding {
    let name = if tally.count() == 1 { "it names" } else { "they name" };
    let claim = format!("{}: {name} no session that it knows.", refused(&tally, statuses));
    // With 400 a server answers requests that name no session at all.
    let doubtful = statuses.is_some_and(|statuses| statuses.iter().all(|status| *status == 400));
    let (severity, confidence) =
        if doubtful { (Severity::Low, Confidence::Low) } else { (RULE.severity, Confidence::High) };
    tally.finding(&RULE, confidence, claim, run).with_severity(severity)
}

fn is_refusal(case: &Case, call: &Call) -> bool {
    let failed = matches!(call.answer.kind, AnswerKind::HttpError | AnswerKind::Error);
    let not_found = call.answer.kind == AnswerKind::HttpError
        && case.http(call).is_some_and(|http| http.status == 404)
        && call.session.is_some()
        && !(call.answer.has_code && call.answer.code == -32601);
    failed && call.answer.wording == Wording::Session || not_found
}
