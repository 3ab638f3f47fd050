//! What answers refuse a request before any dispatch, and what takes that from them.

use super::{CallFacts, Outcome, method_not_found, unknown_tool};
use crate::{
    correlate::{Author, Mark, Seen},
    event::{ContentKind, Wording},
    time::SECOND,
};

/// A refusal that speaks of this very request, before any dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A hop says that it did not forward.
    NotForwarded {
        /// Its record speaks of the whole exchange, not of one upstream.
        certain: bool,
    },
    /// 401, 403, 405, 406, 413, 415, 421; 400 with a pre-dispatch text; −32020, −32022.
    AtTheDoor,
    /// The session is unknown; `certain` where a single dispatch is shown.
    SessionGone {
        /// A single dispatch is shown.
        certain: bool,
    },
    /// −32700, −32600 without an id.
    Unreadable,
    /// −32601 where no call of this method was ever dispatched.
    MethodNotFound,
    /// The server's complete tool list lacks the tool that its answer names.
    UnknownTool,
    /// The called tool's own argument model failed.
    InvalidArguments,
}

/// The refusal of an attempt, if its answer is one and nothing contradicts it.
pub(super) fn refusal(facts: &CallFacts<'_>, outcome: Outcome) -> Option<Refusal> {
    let handled = [Seen::Handled, Seen::HandlerDone, Seen::ServerRequest];
    if handled.iter().any(|seen| facts.has(*seen)) || !facts.contacts.is_empty() || earlier_in_doubt(facts) {
        return None;
    }
    // A receipt that fits several calls may be this one's.
    if facts.call.contested && facts.has(Seen::Contested) {
        return None;
    }
    // Who cancels a request that was refused has another one like it under way.
    if facts.has(Seen::Cancelled) && facts.call.answered.is_some() {
        return None;
    }
    // What began may have done something before it was refused.
    if began(facts) {
        return None;
    }
    // A client's own claim is no received frame.
    if facts.call.answer.author == Author::Client || facts.has(Seen::OtherAnswer) {
        return None;
    }
    if outcome == Outcome::HttpError && facts.has(Seen::NotForwarded) {
        return not_forwarded(facts);
    }
    match outcome {
        Outcome::HttpError => http_refusal(facts),
        Outcome::JsonRpcError | Outcome::ToolError => rpc_refusal(facts, outcome),
        _ => None,
    }
}

/// Whether the server wrote something between the request and its answer, or sent progress that may be this call's.
pub(super) fn began(facts: &CallFacts<'_>) -> bool {
    let asked = facts.place().origin;
    let strands = facts.run.into_iter().flat_map(|run| &run.strands);
    let behind = |stray: Mark| stray.origin.source != asked.source || stray.origin >= asked;
    facts.call.stirred || strands.filter_map(|strand| strand.stray_progress).any(behind) || told_elsewhere(facts)
}

/// Whether another source tells of something between the request and its answer that no call accounts for.
fn told_elsewhere(facts: &CallFacts<'_>) -> bool {
    let place = |mark: Option<Mark>| mark.and_then(|mark| facts.case.placed(mark));
    let window = place(facts.call.asked).zip(place(facts.call.answered));
    let (own, stray) = (facts.place().origin.source, &facts.case.stray);
    stray.crash_elsewhere(own)
        || window.is_some_and(|(from, to)| stray.words_within(own, from, to) || stray.work_within(from, to))
}

/// Whether a hop lost its upstream behind a request that may be this one.
fn upstream_lost(facts: &CallFacts<'_>) -> bool {
    let place = |mark: Option<Mark>| mark.and_then(|mark| facts.case.placed(mark));
    let (from, to) = (place(facts.call.asked), place(facts.call.answered));
    facts.has(Seen::UpstreamBroken) || facts.case.stray.broken.any_within(from, to)
}

/// A hop's "could not connect" speaks for the exchange only if it is the hop's only word about it.
fn not_forwarded(facts: &CallFacts<'_>) -> Option<Refusal> {
    let rows: Vec<_> = facts.seen.iter().filter(|row| row.seen == Seen::NotForwarded).collect();
    let [row] = rows[..] else { return None };
    // One of several upstreams was dead. The hop's own page makes it likely that no other one answered; a replica may
    // have such a hop of its own in front of it.
    let own_page =
        facts.call.answer.author == Author::Gateway && facts.http.is_some_and(|http| http.content == ContentKind::Html);
    let certain = row.number != 0;
    if !certain && !own_page {
        return None;
    }
    (!upstream_lost(facts) && facts.receipt().is_none()).then_some(Refusal::NotForwarded { certain })
}

/// Whether this request was dispatched before in a way that does not prove a refusal: by an earlier POST of its own, or
/// by a hop or layer that sends again by itself. What refused the last dispatch says nothing about that one.
pub(super) fn earlier_in_doubt(facts: &CallFacts<'_>) -> bool {
    facts.seen.iter().any(|row| match row.seen {
        Seen::Resent => !matches!(row.number, 401 | 405 | 406 | 415 | 421),
        Seen::ForwardedAgain | Seen::HiddenRetry => true,
        _ => false,
    })
}

/// A refusal is made at once; what took longer may be about an answer that was made behind it.
pub(super) const AT_ONCE: i64 = 2 * SECOND;

fn took_long(facts: &CallFacts<'_>) -> bool {
    let span = facts
        .call
        .asked
        .and_then(|asked| facts.case.placed(asked))
        .zip(facts.call.answered.and_then(|answered| facts.case.placed(answered)));
    span.is_some_and(|(asked, answered)| answered.0 - asked.0 > AT_ONCE)
}

/// Words about what came, or did not come, from behind whoever wrote them.
pub(super) fn speaks_of_an_answer(wording: Wording) -> bool {
    matches!(wording, Wording::AnswerDenied | Wording::UpstreamReset | Wording::TimedOut | Wording::ConnectionClosed)
}

fn http_refusal(facts: &CallFacts<'_>) -> Option<Refusal> {
    let http = facts.http?;
    let answer = &facts.call.answer;
    // A hop's log that names another status of the upstream shows that somebody else did more than refuse.
    let upstream = facts.first(Seen::ForwardedOnce).map(|row| row.number);
    let other = upstream.is_some_and(|status| status != 0 && status != i32::from(http.status));
    if other || speaks_of_an_answer(answer.wording) || upstream_lost(facts) || facts.receipt().is_some() {
        return None;
    }
    let single = upstream.is_some_and(|status| status == i32::from(http.status));
    let session_text = matches!(answer.wording, Wording::Session | Wording::NotInitialized);
    // A message with the request's own id was made by who had read it: a challenge alone may come with one.
    let answered = answer.echoes_id && !(answer.has_code && http.challenge);
    match http.status {
        401 | 403 | 405 | 406 | 413 | 415 | 421 => Some(Refusal::AtTheDoor).filter(|_| !answered && !took_long(facts)),
        404 if answer.has_code && answer.code == -32601 => {
            Some(Refusal::MethodNotFound).filter(|_| method_not_found::method_is_unknown(facts))
        }
        404 if facts.call.session.is_some() || session_text => Some(Refusal::SessionGone { certain: single }),
        409 => Some(Refusal::SessionGone { certain: single }),
        400 if session_text => Some(Refusal::SessionGone { certain: single }),
        400 if answer.has_code && matches!(answer.code, -32020 | -32022) => Some(Refusal::AtTheDoor),
        400 if answer.has_code && answer.code == -32700 && !answer.echoes_id => {
            Some(Refusal::Unreadable).filter(|_| !took_long(facts))
        }
        400 if answer.has_code && answer.code == -32600 && answer.foreign_id => {
            Some(Refusal::Unreadable).filter(|_| !took_long(facts))
        }
        400 if answer.has_code && matches!(answer.wording, Wording::Version | Wording::Header | Wording::Parse) => {
            Some(Refusal::AtTheDoor)
        }
        _ => None,
    }
}

fn rpc_refusal(facts: &CallFacts<'_>, outcome: Outcome) -> Option<Refusal> {
    let answer = &facts.call.answer;
    // Only an exchange of its own ties an error without id to this request.
    let own_exchange = facts.http.is_some() && answer.foreign_id;
    if outcome == Outcome::JsonRpcError && answer.has_code {
        match answer.code {
            -32700 | -32600 if own_exchange && !took_long(facts) => return Some(Refusal::Unreadable),
            -32601 if facts.method == "tools/call" && method_not_found::method_is_unknown(facts) => {
                return Some(Refusal::MethodNotFound);
            }
            _ => {}
        }
        if matches!(answer.wording, Wording::NotInitialized | Wording::Session) && own_exchange {
            return Some(Refusal::SessionGone { certain: false });
        }
    }
    let tool_layer = outcome == Outcome::ToolError || answer.has_code && answer.code == -32602;
    if !tool_layer || !answer.names_target || facts.blocking().is_some() || took_long(facts) {
        return None;
    }
    match answer.wording {
        Wording::UnknownTool if unknown_tool::list_lacks_tool(facts) => Some(Refusal::UnknownTool),
        Wording::ArgumentValidation => Some(Refusal::InvalidArguments),
        _ => None,
    }
}

/// Whether an attempt provably was refused before dispatch.
pub(in crate::judge) fn refused_before_dispatch(facts: &CallFacts<'_>, outcome: Outcome) -> bool {
    match refusal(facts, outcome) {
        None => false,
        Some(Refusal::SessionGone { certain } | Refusal::NotForwarded { certain }) => certain,
        Some(_) => true,
    }
}
