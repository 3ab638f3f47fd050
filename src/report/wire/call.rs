//! Calls, operations and findings on the wire.

use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64;

use super::{
    Call, Conflict, Finding, Http, Milestones, Missing, Operation, OperationRetry, Retry,
    evidence::evidence,
    run::{assumptions, last_phase, reach},
};
use crate::{
    correlate::{self, AnswerKind, Author, Case, HttpFacts, Key, Mark, NONE, RpcId, Seen},
    event::{Body, ContentKind, Direction},
    judge::{CallVerdict, call::OperationVerdict},
    report::{
        Report, fetch,
        names::{self, Names},
        place::Places,
    },
    symbol::Symbol,
    time::MILLISECOND,
};

/// One call.
pub(super) fn call(report: &Report<'_>, names: &Names<'_>, index: u32, verdict: &CallVerdict) -> Call {
    let case = report.case;
    let call = &case.calls[index as usize];
    let http = case.http(call);
    let revision = call.revision.or_else(|| run_revision(report, call.run));
    let ended = ended(case, call);
    Call {
        call: names::call(index),
        run: (call.run != NONE).then(|| names.run(call.run as usize).to_owned()),
        id: rpc_id(names, case, call.id),
        direction: direction(call.direction),
        method: names.name(call.method).to_owned(),
        tool: tool(case, call).map(|tool| names.name(tool).to_owned()),
        session: call.session.map(|session| names.session(session)),
        revision: revision.map(|revision| names.name(revision).to_owned()),
        started_at: call.asked.and_then(|mark| names.instant(mark)),
        ended_at: ended.and_then(|mark| names.instant(mark)),
        duration_ms: duration(call.asked, ended),
        limit: verdict.limit,
        last_phase: last_phase(verdict.last_phase),
        outcome: verdict.outcome.name(),
        layer: verdict.layer.name(),
        code: verdict.code,
        author: author(verdict),
        http: http.map(|facts| self::http(case, call, facts)),
        retry: retry(report, names, verdict, http),
        reach: reach(report, names, &verdict.reach),
        effects: [verdict.effects.0, verdict.effects.1],
        milestones: milestones(verdict.milestones),
        operation: case.operation_of.get(&index).map(|operation| names::operation(*operation as usize)),
        attempt: verdict.attempt,
        retry_origin: verdict.retry_origin.clone(),
        missing: verdict.missing.iter().map(|missing| self::missing(report, names, index, missing)).collect(),
        conflicts: conflicts(report, names, verdict),
        arguments_digest: (report.options.digests && call.args != Key::default())
            .then(|| format!("{:016x}{:016x}", call.args.0[1], call.args.0[0])),
        evidence: evidence(report, names, &verdict.evidence),
    }
}

fn conflicts(report: &Report<'_>, names: &Names<'_>, verdict: &CallVerdict) -> Vec<Conflict> {
    let conflicts = verdict.conflicts.iter();
    conflicts.map(|(fact, pieces)| Conflict { fact, evidence: evidence(report, names, pieces) }).collect()
}

/// The tool of a `tools/call`.
pub(in crate::report) fn tool(case: &Case, call: &correlate::Call) -> Option<Symbol> {
    call.target.filter(|_| case.name(call.method) == "tools/call")
}

fn run_revision(report: &Report<'_>, run: u32) -> Option<Symbol> {
    report.verdicts.runs.get(run as usize)?.revision.map(|(revision, _)| revision)
}

/// Where the caller's waiting ended: with the answer, or when it gave up.
pub(in crate::report) fn ended(case: &Case, call: &correlate::Call) -> Option<Mark> {
    let given_up =
        |seen: Seen| matches!(seen, Seen::TimedOut | Seen::Cancelled | Seen::ConnectionClosed | Seen::ProcessEnded);
    call.answered.or_else(|| case.sightings(call).find(|row| given_up(row.seen)).map(|row| row.mark))
}

/// Only within one source: two clocks are not compared.
pub(in crate::report) fn duration(asked: Option<Mark>, ended: Option<Mark>) -> Option<i64> {
    let (asked, ended) = (asked?, ended?);
    if asked.origin.source != ended.origin.source {
        return None;
    }
    let took = ended.at?.0.checked_sub(asked.at?.0)? / MILLISECOND;
    Some(took).filter(|took| *took >= 0)
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::ToServer => "to-server",
        Direction::ToClient => "to-client",
    }
}

/// Who wrote the failing answer; nothing for a success.
fn author(verdict: &CallVerdict) -> Option<&'static str> {
    if verdict.outcome.is_success() {
        return None;
    }
    Some(match verdict.author {
        Author::Unknown => "unknown",
        Author::Server => "server",
        Author::Gateway => "gateway",
        Author::Sdk => "sdk",
        Author::Client => "client",
    })
}

/// The id in its JSON type. What cannot be shown as it is becomes text.
fn rpc_id(names: &Names<'_>, case: &Case, id: RpcId) -> Option<Box<RawValue>> {
    let json = match id {
        RpcId::Unknown => return None,
        RpcId::Null => "null".to_owned(),
        RpcId::Int(number) => number.to_string(),
        RpcId::Text(text) => return text_id(names.name(text)),
        RpcId::Raw(raw) => compact(&names.text(case.name(raw))),
    };
    RawValue::from_string(json).ok().or_else(|| match id {
        RpcId::Raw(raw) => text_id(names.name(raw)),
        _ => None,
    })
}

fn text_id(text: &str) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(text).ok()
}

/// A number stays as written; anything else loses its white space, so that it fits on one line.
fn compact(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json).ok().filter(|_| json.starts_with(['{', '[', '"']));
    value.map_or_else(|| json.to_owned(), |value| value.to_string())
}

fn http(case: &Case, call: &correlate::Call, facts: &HttpFacts) -> Http {
    let earlier = case.sightings(call).filter(|row| row.seen == Seen::Resent).map(|row| row.number);
    let statuses = earlier.chain([i32::from(facts.status)]).filter(|status| *status > 0);
    Http {
        post_count: facts.posts,
        statuses: statuses.collect(),
        content_type: content_type(facts.content),
        events: (facts.content == ContentKind::EventStream).then_some(facts.events),
        complete: complete(call.answer.kind, facts.body),
    }
}

/// Kind of the HTTP body, as a media type.
fn content_type(content: ContentKind) -> Option<&'static str> {
    Some(match content {
        ContentKind::Json => "application/json",
        ContentKind::EventStream => "text/event-stream",
        ContentKind::Html => "text/html",
        ContentKind::Other | ContentKind::Unknown => return None,
    })
}

/// Whether the answer's body came to its end; unknown where the capture does not hold it or it is damaged, and where
/// there was no answer.
fn complete(kind: AnswerKind, body: Body) -> Option<bool> {
    match kind {
        AnswerKind::StreamIncomplete => return Some(false),
        AnswerKind::None | AnswerKind::NotSent => return None,
        _ => {}
    }
    match body {
        Body::TornStream => Some(false),
        Body::Empty | Body::Parsed | Body::Foreign => Some(true),
        Body::Missing | Body::Malformed => None,
    }
}

fn retry(report: &Report<'_>, names: &Names<'_>, verdict: &CallVerdict, http: Option<&HttpFacts>) -> Retry {
    let opinion = &verdict.retry;
    Retry {
        verdict: opinion.verdict.name(),
        rule: opinion.rule,
        condition: Places::whole(report, names).conditions(opinion),
        reason: names.text(&opinion.reason),
        helps: opinion.helps.name(),
        after_ms: http.map(|http| http.retry_after).filter(|after| *after != NONE),
        assumptions: assumptions(names, &opinion.assumptions),
        evidence: evidence(report, names, opinion.proof.iter()),
    }
}

fn milestones(milestones: crate::judge::Milestones) -> Milestones {
    Milestones {
        sent: milestones.sent.name(),
        reached: milestones.reached.name(),
        effected: milestones.effected.name(),
        acked: milestones.acked.name(),
    }
}

fn missing(report: &Report<'_>, names: &Names<'_>, call: u32, missing: &crate::judge::Missing) -> Missing {
    Missing {
        artifact: fetch::artifact(&Places::whole(report, names), call, missing),
        look_for: missing.artifact.row().look,
        if_present: missing.if_present.name(),
        if_absent: missing.if_absent.name(),
    }
}

/// One operation.
pub(super) fn operation(report: &Report<'_>, names: &Names<'_>, index: usize, verdict: &OperationVerdict) -> Operation {
    let case = report.case;
    let first = verdict.attempts.first().and_then(|call| case.calls.get(*call as usize));
    let retries = verdict.retries.iter().map(|retry| OperationRetry {
        call: names::call(retry.call),
        origin: retry.origin.clone(),
        ex_ante: retry.ex_ante.name(),
        ex_post: retry.ex_post,
        quadrant: retry.quadrant,
    });
    Operation {
        operation: names::operation(index),
        run: first.filter(|call| call.run != NONE).map(|call| names.run(call.run as usize).to_owned()),
        tool: first.and_then(|call| tool(case, call)).map(|tool| names.name(tool).to_owned()),
        attempts: verdict.attempts.iter().map(|call| names::call(*call)).collect(),
        effects: [verdict.effects.0, verdict.effects.1],
        duplicate: verdict.duplicate,
        assumptions: assumptions(names, &verdict.assumptions),
        retries: retries.collect(),
    }
}

/// One finding.
pub(super) fn finding(report: &Report<'_>, names: &Names<'_>, finding: &crate::judge::Finding) -> Finding {
    Finding {
        rule: finding.rule.id,
        severity: finding.severity.name(),
        confidence: finding.confidence.name(),
        claim: names.text(&finding.claim),
        run: finding.run.map(|run| names.run(run as usize).to_owned()),
        call: finding.call.map(names::call),
        fingerprint: fingerprint(report, finding),
        advice: finding.advice.to_owned(),
        evidence: evidence(report, names, finding.proof.iter()),
    }
}

/// Equal for the same finding in another incident: rule, server, tool, and the claim without its numbers. No times.
pub(in crate::report) fn fingerprint(report: &Report<'_>, finding: &crate::judge::Finding) -> String {
    let case = report.case;
    let call = finding.call.and_then(|call| case.calls.get(call as usize));
    let run = finding.run.or_else(|| call.map(|call| call.run)).and_then(|run| case.runs.get(run as usize));
    let server = run.and_then(|run| run.strands.iter().find_map(|strand| case.strands[*strand as usize].server));
    let name = |symbol: Option<Symbol>| symbol.map_or("", |symbol| case.name(symbol));
    // A run's name is often made anew for every process.
    let claim = match run {
        Some(run) if !run.name.is_empty() => finding.claim.replace(&run.name, ""),
        _ => finding.claim.to_string(),
    };
    let claim: String = claim.chars().filter(|char| !char.is_ascii_digit()).collect();
    let tool = call.and_then(|call| call.target);
    let text = [finding.rule.id, name(server), name(tool), &claim].join("\0");
    format!("{:016x}", xxh3_64(text.as_bytes()))
}
