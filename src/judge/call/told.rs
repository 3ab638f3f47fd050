//! What a verdict tells beside its answers: code, conflicts, origin of a retry, evidence.

use super::{
    chain::{LinkKind, ladder},
    facts::{CallFacts, answer_is_servers},
    milestones::{Milestones, Truth},
};
use crate::{
    correlate::{AnswerKind, Call, Case, Mark, RAISED, Seen, Sighting},
    event::{Direction, Witness, Wording},
    judge::{Evidence, Outcome, outcome, retry},
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
    let index = operation.attempts[attempt as usize - 2];
    let before = &facts.case.calls[index as usize];
    if before.run == facts.call.run && asked_for_a_correction(&CallFacts::new(facts.case, facts.run, index)) {
        return vec!["correction"];
    }
    if before.run != facts.call.run || before.session != facts.call.session {
        return vec!["reconnect", "model", "manual"];
    }
    vec!["unknown"]
}

/// Whether an attempt was refused for its headers or its version: who sends it again corrects it.
fn asked_for_a_correction(before: &CallFacts<'_>) -> bool {
    let answer = &before.call.answer;
    let by_code = answer.has_code && matches!(answer.code, -32020 | -32022);
    let by_status = before.http.is_some_and(|http| matches!(http.status, 406 | 415));
    let by_words = matches!(answer.wording, Wording::Header | Wording::Version);
    (by_code || by_status || by_words) && retry::turned_away(before, outcome::outcome(before))
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
    let took = to.saturating_sub(from) / crate::time::MILLISECOND;
    LIMITS
        .iter()
        .find(|(seconds, _)| took.abs_diff(seconds * 1000) <= seconds.unsigned_abs() * 10)
        .map(|(_, name)| *name)
}

/// The records that show a call, in causal order.
pub(super) fn evidence(facts: &CallFacts<'_>) -> Vec<Evidence> {
    let links = ladder(facts).into_iter().filter(|link| link.what != LinkKind::SameContact);
    links.map(|link| link.evidence()).collect()
}

/// The records that show that the caller of a call stopped waiting: the wait in vain before what it sent because of it.
pub fn gave_up(case: &Case, call: &Call) -> Vec<(&'static str, Mark)> {
    let mut rows: Vec<&Sighting> =
        case.sightings(call).filter(|row| matches!(row.seen, Seen::TimedOut | Seen::Cancelled)).collect();
    rows.sort_by_key(|row| (row.witness != Witness::Client, row.seen != Seen::TimedOut, row.mark.origin));
    rows.into_iter().map(|row| (role_of(row), row.mark)).collect()
}

/// What a record shows of this call: the record of a request that was never sent shows the attempt alone.
pub(super) fn role_in(facts: &CallFacts<'_>, row: &Sighting) -> &'static str {
    let unsent = facts.call.answer.kind == AnswerKind::NotSent;
    let asks_the_client = facts.call.direction == Direction::ToClient;
    match row.seen {
        Seen::Sent | Seen::Queued if asks_the_client => "shows the question on its way to the client",
        Seen::Received if asks_the_client => "shows that the client had the question",
        Seen::Delivered if asks_the_client => "shows that the server had the answer",
        Seen::Sent if unsent => "shows that the client tried to send the request",
        Seen::Responded | Seen::Delivered if row.witness != Witness::Server || unsent => {
            in_place_of_an_answer(facts).unwrap_or_else(|| role_of(row))
        }
        Seen::ForwardedOnce if facts.has(Seen::NotForwarded) => "shows the one attempt of the hop to forward it",
        _ => role_of(row),
    }
}

/// What ended the exchange of a call whose caller got no answer of the server.
fn in_place_of_an_answer(facts: &CallFacts<'_>) -> Option<&'static str> {
    Some(match facts.call.answer.kind {
        AnswerKind::NotSent => "shows that no connection was made",
        AnswerKind::HttpError => "shows the HTTP error that ended the exchange",
        AnswerKind::StreamIncomplete => "shows the end of the event stream, without the answer",
        AnswerKind::Malformed => "shows text that is not JSON in place of the answer",
        AnswerKind::InvalidEnvelope => "shows what came in place of a valid answer",
        AnswerKind::NotCaptured if !answer_is_servers(facts.call) => {
            "shows the end of the exchange, without the answer"
        }
        _ => return None,
    })
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
        Seen::HandlerDone if row.number == RAISED => "shows that the handler ended with an error",
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
