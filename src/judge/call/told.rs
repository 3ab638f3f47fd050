//! What a verdict tells beside its answers: code, conflicts, origin of a retry, evidence, what is missing.

use super::{
    Instant, Missing, Window,
    facts::{CallFacts, EffectClass, event_of},
    milestones::{Milestones, Truth},
};
use crate::{
    correlate::{AnswerKind, Call, Case, Mark, Seen, Sighting},
    event::{Direction, PhaseEvent, ReachStage, Witness},
    judge::{
        Evidence, Outcome,
        retry::{self, Opinion},
    },
};

/// The JSON-RPC code where there is one, else the HTTP status behind a failure.
pub(super) fn code(facts: &CallFacts<'_>, outcome: Outcome) -> Option<i32> {
    if facts.call.answer.has_code {
        return Some(facts.call.answer.code);
    }
    (outcome == Outcome::HttpError)
        .then(|| facts.http.map(|http| i32::from(http.status)))
        .flatten()
        .filter(|status| *status > 0)
}

pub(super) fn conflicts(facts: &CallFacts<'_>, milestones: &Milestones) -> Vec<(&'static str, Vec<Evidence>)> {
    let mut conflicts = Vec::new();
    let other = facts.seen.iter().filter(|row| row.seen == Seen::OtherAnswer);
    let other: Vec<Evidence> =
        other.map(|row| Evidence::seen("shows another answer to the same request", row.mark)).collect();
    if !other.is_empty() {
        conflicts.push(("answer", other));
    }
    for (name, truth) in [("sent", milestones.sent), ("reached", milestones.reached), ("effected", milestones.effected)]
    {
        if truth == Truth::Both {
            conflicts.push((name, evidence(facts)));
        }
    }
    conflicts
}

/// Why a call that repeats an earlier one was sent, as far as the records tell.
pub(super) fn retry_origin(facts: &CallFacts<'_>) -> Vec<&'static str> {
    if facts.call.continues || facts.call.state_sent != 0 {
        return vec!["continuation"];
    }
    if facts.has(Seen::Resent) {
        let authorization = facts.seen.iter().any(|row| row.seen == Seen::Resent && matches!(row.number, 401 | 403));
        return vec![if authorization { "authorization" } else { "unknown" }];
    }
    let Some(attempt) = attempt(facts.case, facts.index) else { return vec!["none"] };
    if attempt <= 1 {
        return vec!["none"];
    }
    let operation = &facts.case.operations[facts.case.operation_of[&facts.index] as usize];
    let before = &facts.case.calls[operation.attempts[attempt as usize - 2] as usize];
    if before.run != facts.call.run || before.session != facts.call.session {
        return vec!["reconnect", "model", "manual"];
    }
    vec!["unknown"]
}

pub(super) fn attempt(case: &Case, index: u32) -> Option<u32> {
    let operation = &case.operations[*case.operation_of.get(&index)? as usize];
    let at = operation.attempts.binary_search(&index).ok()?;
    u32::try_from(at + 1).ok()
}

/// Limits that cut at a round duration, in seconds.
static LIMITS: &[(i64, &str)] = &[
    (30, "30 s: default start limit of several clients"),
    (60, "60 s: default request limit of the TypeScript SDK, of nginx and of many load balancers"),
    (100, "100 s: Cloudflare's answer limit"),
    (120, "120 s: tool limit of several clients"),
    (240, "240 s: tool limit of Claude Desktop"),
    (300, "300 s: body limit of undici, idle limit of several clients"),
    (600, "600 s: tool limit of Gemini CLI"),
];

pub(super) fn limit(facts: &CallFacts<'_>) -> Option<&'static str> {
    let given_up =
        facts.seen.iter().find(|row| matches!(row.seen, Seen::TimedOut | Seen::Cancelled | Seen::ConnectionClosed));
    let failed = facts.call.answered.filter(|_| facts.call.answer.kind == AnswerKind::HttpError);
    let end = given_up.map(|row| row.mark).or(failed)?;
    let asked = facts.call.asked?;
    let (from, to) = (facts.case.placed(asked)?.0, facts.case.placed(end)?.0);
    let took = (to - from) / crate::time::MILLISECOND;
    LIMITS.iter().find(|(seconds, _)| (took - seconds * 1000).abs() <= seconds * 10).map(|(_, name)| *name)
}

/// The records that show a call, in causal order.
pub(super) fn evidence(facts: &CallFacts<'_>) -> Vec<Evidence> {
    let mut rows: Vec<(PhaseEvent, Evidence)> = Vec::new();
    for row in &facts.seen {
        let order = event_of(facts.method, row, facts.call).unwrap_or(PhaseEvent::TimedOut);
        rows.push((order, Evidence::seen(role_in(facts, row), row.mark)));
    }
    for contact in &facts.contacts {
        let role = match contact.stage {
            ReachStage::Announced => "announces a contact with the outside",
            ReachStage::NotConnected => "shows that a contact with the outside failed to connect",
            _ => "shows a contact with the outside",
        };
        rows.push((PhaseEvent::ExternalAttempt, Evidence::seen(role, contact.attempt)));
        if let Some(result) = contact.result.filter(|result| *result != contact.attempt) {
            rows.push((PhaseEvent::ExternalResult, Evidence::seen("shows the answer of the outside", result)));
        }
    }
    rows.sort_by_key(|(event, _)| *event);
    rows.into_iter().map(|(_, evidence)| evidence).collect()
}

/// What a record shows of this call: the record of a request that was never sent shows the attempt alone.
fn role_in(facts: &CallFacts<'_>, row: &Sighting) -> &'static str {
    let unsent = facts.call.answer.kind == AnswerKind::NotSent;
    match row.seen {
        Seen::Sent if unsent => "shows that the client tried to send the request",
        Seen::Responded | Seen::Delivered if unsent => "shows that no connection was made",
        Seen::ForwardedOnce if facts.has(Seen::NotForwarded) => "shows the one attempt of the hop to forward it",
        _ => role_of(row),
    }
}

/// What a record shows, as a phrase.
pub(in crate::judge) fn role_of(row: &Sighting) -> &'static str {
    match row.seen {
        Seen::Queued => "shows that the client queued the request",
        Seen::Sent => "shows the request on its way to the server",
        Seen::Received => "shows that the server had the request",
        Seen::Handled => "shows that the handler ran",
        Seen::AuthorizationRequested => "shows that authorization was asked for",
        Seen::AuthorizationGranted => "shows that authorization was granted",
        Seen::AuthorizationDenied => "shows that authorization was denied",
        Seen::ServerRequest => "shows that the server asked the client something inside the call",
        Seen::HandlerDone => "shows that the handler ended",
        Seen::Responded => "shows the answer",
        Seen::Delivered => "shows that the client had the answer",
        Seen::LateAnswer => "shows an answer after the caller had stopped waiting",
        Seen::OtherAnswer => "shows another answer to the same request",
        Seen::ReplyLost => "shows that an answer was made and could not be delivered",
        Seen::AnswerRejected => "shows that the client had an answer and rejected it",
        Seen::Cancelled => "shows that the caller cancelled",
        Seen::TimedOut => "shows that the caller stopped waiting",
        Seen::ConnectionClosed => "shows that the connection closed with the request open",
        Seen::ProcessEnded => "shows that the process ended with the request open",
        Seen::NotConnected => "shows that there was no connection",
        Seen::WriteFailed => "shows that the request could not be written",
        Seen::CallFailed => "shows that the client reports a failure",
        Seen::CallSucceeded => "shows that the client reports a success",
        Seen::RefusedBeforeDispatch => "shows that the server refused it before dispatch",
        Seen::NotForwarded => "shows that the hop in front of the server did not get it through",
        Seen::ForwardedOnce => "shows that the hop in front of the server forwarded it once",
        Seen::ForwardedAgain => "shows that the hop in front of the server forwarded it more than once",
        Seen::UpstreamBroken => "shows that the hop lost the server after forwarding",
        Seen::HiddenRetry => "shows that a layer retried by itself",
        Seen::Resent => "shows the same request again",
        Seen::Resumed => "shows that the client resumed the stream",
        Seen::Contested => "may belong to this call or to another one",
    }
}

/// What would settle an open verdict, cheapest first.
pub(super) fn missing(facts: &CallFacts<'_>, milestones: &Milestones, retry: &Opinion) -> Vec<Missing> {
    use retry::Caution;
    if retry.verdict == Caution::Unsafe || facts.class == EffectClass::None || retry.verdict == Caution::Safe {
        return Vec::new();
    }
    let mut missing = Vec::new();
    if retry.conditions.iter().any(|condition| condition.elsewhere) {
        let artifact = if facts.case.anywhere.is_lossy() {
            "whole copies of the files that are cut, damaged or missing"
        } else {
            "a capture that shows every request of the client"
        };
        let if_absent = if retry.lacks_the_rest() { "safe" } else { "safe-if" };
        missing.push(Missing { artifact, window: None, if_present: "unsafe", if_absent });
    }
    if retry.lacks_the_rest() {
        return missing;
    }
    // An attempt that was refused did nothing: what the later ones did decides.
    let refused = milestones.reached == Truth::False;
    let window = if refused { window(facts, last_attempt(facts)) } else { window(facts, facts.call) };
    if facts.call.direction == Direction::ToClient {
        let artifact = "the client's log of what it was asked";
        missing.push(Missing { artifact, window, if_present: "unsafe", if_absent: "unknown" });
        return missing;
    }
    // What was read already is not asked for; and nothing that is absent makes a verdict worse.
    let absent = |verdict| if retry.verdict == Caution::SafeIf { "safe-if" } else { verdict };
    let read = |witness| facts.run.is_some_and(|run| run.strands.iter().any(|strand| strand.witness == witness));
    if !facts.seen.iter().any(|row| row.witness == Witness::Server) {
        let artifact = if read(Witness::Server) { "phase log of the server" } else { "server stderr or phase log" };
        missing.push(Missing { artifact, window, if_present: "unsafe", if_absent: absent("safe-if") });
    }
    let traced = facts.run.is_some_and(|run| run.trace.is_some());
    if !traced && !facts.contacts.iter().any(|contact| contact.witness == Witness::Network) {
        let artifact = "egress log or kernel trace of the server";
        missing.push(Missing { artifact, window, if_present: "unsafe", if_absent: absent("safe-if") });
    }
    if !traced && !facts.case.anywhere.service_log {
        let artifact = "the log of the service that the tool calls";
        missing.push(Missing { artifact, window, if_present: "unsafe", if_absent: absent("unknown") });
    }
    missing
}

/// The last attempt of the operation of a call.
fn last_attempt<'c>(facts: &CallFacts<'c>) -> &'c Call {
    let operation = facts.case.operation_of.get(&facts.index).map(|index| &facts.case.operations[*index as usize]);
    let last = operation.and_then(|operation| operation.attempts.last()).unwrap_or(&facts.index);
    &facts.case.calls[*last as usize]
}

/// From the request to the answer of `last`, as far as times tell.
fn window(facts: &CallFacts<'_>, last: &Call) -> Option<Window> {
    let instant = |mark: Mark| {
        let digits = facts.case.sources[mark.origin.source.0 as usize].digits.min(3);
        mark.at.map(|at| Instant { at, digits })
    };
    let from = facts.call.asked.and_then(instant)?;
    Some(Window { from, to: last.answered.and_then(instant) })
}
