//! Calls in words: one row for calls that are alike.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::{CALLS, Cite, Desk, Rows, and_more};
use crate::{
    correlate::NONE,
    event::PhaseEvent,
    judge::{
        Answer, Assumption, CallVerdict, Caution, Condition, Evidence, Helps, Layer, Outcome,
        call::{EffectClass, effect_class, gave_up},
        retry::EXTERNAL_ATTEMPT,
    },
    report::{names, select, wire},
    symbol::Symbol,
};

/// Calls that are alike.
#[derive(Debug)]
pub(in crate::report) struct CallRow {
    /// Time of day of the first.
    pub(in crate::report) time: String,
    /// Handle of the first: `c3`.
    pub(in crate::report) call: String,
    /// JSON-RPC id of the first.
    pub(in crate::report) id: Option<String>,
    /// How many.
    pub(in crate::report) count: u64,
    /// Tool, or method and target.
    pub(in crate::report) tool: String,
    /// The furthest confirmed event.
    pub(in crate::report) last_phase: &'static str,
    /// What the caller got.
    pub(in crate::report) outcome: String,
    /// The layer that failed.
    pub(in crate::report) layer: &'static str,
    /// The retry verdict.
    pub(in crate::report) retry: Caution,
    /// The reach.
    pub(in crate::report) reach: &'static str,
    /// Where it belongs and how long it took: `run-1, id 3, 60.0 s`.
    pub(in crate::report) about: String,
    /// Why the retry verdict is what it is, with its condition.
    pub(in crate::report) reason: String,
    /// The records.
    pub(in crate::report) cites: Vec<Cite>,
    /// Records that are not listed.
    pub(in crate::report) more: usize,
}

/// What makes calls alike.
#[derive(PartialEq, Eq, Hash)]
struct Key<'v> {
    method: Symbol,
    target: Option<Symbol>,
    last: Option<PhaseEvent>,
    outcome: Outcome,
    code: Option<i32>,
    layer: Layer,
    retry: Caution,
    rule: &'static str,
    reason: &'v str,
    conditions: &'v [Condition],
    reach: Answer,
    /// What the verdicts take from the policy.
    assumptions: [&'v [Assumption]; 2],
}

/// The listed calls with how many are like each, in order of the first.
fn groups(desk: &Desk<'_, '_>) -> Vec<(u32, u64)> {
    let mut groups: Vec<(u32, u64)> = Vec::new();
    let mut known: FxHashMap<Key<'_>, usize> = FxHashMap::default();
    for (index, verdict) in select::calls(desk.report) {
        let call = &desk.report.case.calls[index as usize];
        let key = Key {
            method: call.method,
            target: call.target,
            last: verdict.last_phase.map(|(event, _)| event),
            outcome: verdict.outcome,
            code: verdict.code,
            layer: verdict.layer,
            retry: verdict.retry.verdict,
            rule: verdict.retry.rule,
            reason: &verdict.retry.reason,
            conditions: &verdict.retry.conditions,
            reach: verdict.reach.answer,
            assumptions: [&verdict.retry.assumptions, &verdict.reach.assumptions],
        };
        let slot = *known.entry(key).or_insert(groups.len());
        match groups.get_mut(slot) {
            Some(group) => group.1 += 1,
            None => groups.push((index, 1)),
        }
    }
    // What failed comes first where successes are listed, too.
    groups.sort_by_key(|(index, _)| desk.report.verdicts.calls[index].outcome.is_success());
    groups
}

/// The calls that stand for the shown rows.
pub(super) fn shown(desk: &Desk<'_, '_>) -> Vec<u32> {
    groups(desk).into_iter().take(CALLS).map(|(index, _)| index).collect()
}

/// The rows.
pub(super) fn calls(desk: &Desk<'_, '_>) -> Rows<CallRow> {
    let groups = groups(desk);
    let left = groups.iter().skip(CALLS).map(|(_, count)| count).sum();
    Rows { shown: groups.iter().take(CALLS).map(|(index, count)| row(desk, *index, *count)).collect(), left }
}

fn row(desk: &Desk<'_, '_>, index: u32, count: u64) -> CallRow {
    let case = desk.report.case;
    let call = &case.calls[index as usize];
    let verdict = &desk.report.verdicts.calls[&index];
    // Who stopped waiting explains an answer that is missing; the proof of the retry verdict may be about the run.
    let gave_up = if verdict.outcome == Outcome::NoAnswer { gave_up(case, call) } else { Vec::new() };
    let gave_up: Vec<Evidence> = gave_up.into_iter().map(|(role, mark)| Evidence::seen(role, mark)).collect();
    let evidence = gave_up.iter().chain(verdict.retry.proof.iter()).chain(&verdict.evidence);
    let (cites, more) = desk.cite(evidence);
    CallRow {
        time: desk.clock(case.place(call)).unwrap_or_else(|| "–".to_owned()),
        call: names::call(index),
        id: desk.names.rpc_id(call.id),
        count,
        tool: desk.noun(index),
        last_phase: verdict.last_phase.map_or("–", |(event, _)| event.name()),
        outcome: outcome(verdict, case.http(call).map(|http| http.status).filter(|status| *status > 0)),
        layer: verdict.layer.name(),
        retry: verdict.retry.verdict,
        reach: verdict.reach.answer.name(),
        about: about(desk, index, count, verdict),
        reason: reason(desk, index, verdict),
        cites,
        more,
    }
}

/// Why the retry verdict is what it is, with its condition.
pub(in crate::report) fn reason(desk: &Desk<'_, '_>, index: u32, verdict: &CallVerdict) -> String {
    let mut text = desk.names.text(&verdict.retry.reason);
    if let Some(condition) = desk.places().conditions(&verdict.retry) {
        text = format!("{text} Safe only if {condition}.");
    }
    text.push_str(match verdict.retry.helps {
        Helps::No => " A retry would fail again.",
        Helps::AlreadyDone => done(desk, index, verdict),
        Helps::Yes | Helps::Unknown => "",
    });
    if let Some(assumed) = desk.assumed(&verdict.retry.assumptions) {
        let _ = write!(text, " Assumed: {assumed}.");
    }
    let of_reach = verdict.reach.assumptions.iter().filter(|known| !verdict.retry.assumptions.contains(known));
    if let Some(assumed) = desk.assumed(of_reach) {
        let _ = write!(text, " Assumed for the reach: {assumed}.");
    }
    let facts: Vec<&str> = verdict.conflicts.iter().map(|(fact, _)| *fact).collect();
    if !facts.is_empty() {
        let _ = write!(text, " Witnesses contradict each other: {}.", facts.join(", "));
    }
    text
}

/// That there is nothing left to do: a read is answered, work is done.
pub(super) fn done(desk: &Desk<'_, '_>, index: u32, verdict: &CallVerdict) -> &'static str {
    if verdict.is_probe {
        return "";
    }
    let method = desk.report.case.name(desk.report.case.calls[index as usize].method);
    let answered = verdict.outcome.is_success() || verdict.outcome == Outcome::AnswerNotCaptured;
    match effect_class(method) {
        EffectClass::Undeclared if verdict.effects.0 > 0 && !answered && verdict.retry.rule == EXTERNAL_ATTEMPT => {
            " Its effect outside has happened already."
        }
        EffectClass::Undeclared => " It is done already.",
        _ if answered => " It was answered.",
        _ => " A later request like it was answered.",
    }
}

/// Where it belongs and how long it took.
pub(in crate::report) fn about(desk: &Desk<'_, '_>, index: u32, count: u64, verdict: &CallVerdict) -> String {
    let case = desk.report.case;
    let call = &case.calls[index as usize];
    let mut parts = Vec::new();
    if call.run != NONE {
        parts.push(desk.names.run(call.run as usize).to_owned());
    }
    if let Some(id) = desk.names.rpc_id(call.id) {
        parts.push(format!("id {id}"));
    }
    if let Some(session) = call.session {
        parts.push(format!("session {}", desk.names.session(session)));
    }
    if let Some(took) = wire::duration(call.asked, wire::ended(case, call)) {
        parts.push(took_text(took));
    }
    if let Some(limit) = verdict.limit {
        parts.push(format!("fits a known limit ({limit})"));
    }
    if let Some(attempt) = verdict.attempt {
        parts.push(format!("attempt {attempt}"));
    }
    and_more(&parts.join(", "), count)
}

/// `20 ms`, `60.0 s`.
fn took_text(milliseconds: i64) -> String {
    if milliseconds < 1000 {
        return format!("{milliseconds} ms");
    }
    format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100)
}

/// The outcome in plain words, with HTTP status and code.
pub(in crate::report) fn outcome(verdict: &CallVerdict, status: Option<u16>) -> String {
    let words = match verdict.outcome {
        Outcome::ToolSuccess | Outcome::RpcSuccess => "success",
        Outcome::TaskStarted => "task started",
        Outcome::InputRequired => "input required",
        Outcome::HttpError => "HTTP error",
        Outcome::StreamIncomplete => "stream incomplete",
        Outcome::MalformedJson => "malformed JSON",
        Outcome::InvalidEnvelope => "no valid answer",
        Outcome::JsonRpcError => "JSON-RPC error",
        Outcome::InvalidToolResult => "invalid tool result",
        Outcome::ToolError => "tool error",
        Outcome::NotSent => "not sent",
        Outcome::AnswerNotCaptured => "answer not captured",
        Outcome::Cancelled => "cancelled",
        Outcome::NoAnswer => "no answer",
    };
    match (verdict.code, status.map(i32::from).filter(|_| verdict.outcome == Outcome::HttpError)) {
        (Some(code), Some(status)) if code != status => format!("{words} {status}, code {code}"),
        (_, Some(status)) => format!("{words} {status}"),
        (Some(code), None) => format!("{words} {code}"),
        (None, None) => words.to_owned(),
    }
}
