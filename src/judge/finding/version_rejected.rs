//! Client and server do not speak one revision of the protocol.

use super::{
    Confidence, Doc, Finding, FindingRule, Scene, Severity, calls_of, events, number_of, shook_hands, tally::Tally,
};
use crate::{
    correlate::{AnswerKind, Call, Mark, StrandFact},
    event::{RemarkKind, Wording},
    judge::{RunFacts, call::is_probe},
};

/// See [`FindingRule::doc`].
pub(super) static RULE: FindingRule = FindingRule {
    id: "version-rejected",
    title: "A protocol revision was refused",
    severity: Severity::High,
    doc: Doc {
        means: "One side refused the revision of the protocol that the other one proposed or negotiated, and no handshake in another revision followed. Beside a completed handshake the severity is medium.",
        recognized: "A client's words that the server's version is not supported; an error −32022; an error whose text refuses the version.",
        is_not: "Ordinary negotiation: a refusal that is followed by a completed handshake.",
        to_do: "Update the older side, or pin both to a revision that both support.",
    },
    check,
};

/// `UnsupportedProtocolVersion` of 2026-07-28.
const UNSUPPORTED: i32 = -32022;

fn check(scene: &Scene<'_, '_>, out: &mut Vec<Finding>) {
    for (facts, verdict) in scene.runs() {
        let Some((mark, role, version, call)) = by_client(facts).or_else(|| by_answer(facts)) else { continue };
        let tally = match call {
            Some(call) => Tally::of_call(call, role, mark),
            None => Tally::new(role, mark),
        };
        let version = version.map_or(String::new(), |version| format!(" \"{version}\""));
        let side = if call.is_some() { "server" } else { "client" };
        let claim = format!("The {side} refused the protocol version{version}.");
        // Requests in a revision that was not agreed on, beside a session that works.
        let severity = if shook_hands(facts, verdict) { Severity::Medium } else { Severity::High };
        out.push(tally.finding(&RULE, Confidence::High, claim, number_of(facts)).with_severity(severity));
    }
}

type Refusal<'c> = (Mark, &'static str, Option<&'c str>, Option<u32>);

fn by_client<'c>(facts: &RunFacts<'c>) -> Option<Refusal<'c>> {
    let wanted = [StrandFact::VersionRejected, StrandFact::Remark(RemarkKind::VersionRejected)];
    let event = events(facts).find(|event| wanted.contains(&event.what))?;
    let name = event.name.map(|name| facts.case.name(name));
    Some((event.mark, "shows that the client refused the version", name, None))
}

fn by_answer<'c>(facts: &RunFacts<'c>) -> Option<Refusal<'c>> {
    let mut refused = None;
    for (index, call) in calls_of(facts) {
        if rejects(call) && !is_probe(facts.case, index) {
            refused = refused.or(Some((index, call)));
        } else if call.answer.kind == AnswerKind::Result
            && matches!(facts.case.name(call.method), "initialize" | "server/discover")
        {
            // They found a common revision after all.
            refused = None;
        }
    }
    let (index, call) = refused?;
    let version = call.revision.map(|revision| facts.case.name(revision));
    Some((call.answered?, "shows that the server refused the version", version, Some(index)))
}

fn rejects(call: &Call) -> bool {
    let failed = matches!(call.answer.kind, AnswerKind::Error | AnswerKind::HttpError);
    failed && (call.answer.has_code && call.answer.code == UNSUPPORTED || call.answer.wording == Wording::Version)
}
