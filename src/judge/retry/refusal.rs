//! What answers refuse a request before any dispatch, and what takes that from them.

use super::{CallFacts, Outcome, method_not_found, unknown_tool, unseen};
use crate::{
    correlate::{Author, Mark, NONE, Seen},
    event::{ContentKind, Wording},
    time::{MILLISECOND, SECOND, Timestamp},
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
    AtTheDoor {
        /// Nobody who had read the request can have written it.
        certain: bool,
    },
    /// The session is unknown; `certain` where a single dispatch is shown.
    SessionGone {
        /// A single dispatch is shown.
        certain: bool,
    },
    /// −32700, −32600 without an id.
    Unreadable,
    /// −32601 where no call of this method was ever dispatched.
    MethodNotFound {
        /// What the server declared is on record.
        certain: bool,
    },
    /// The server's complete tool list lacks the tool that its answer names.
    UnknownTool,
    /// The called tool's own argument model failed.
    InvalidArguments,
}

/// The refusal of an attempt, if its answer is one and nothing contradicts it.
pub(super) fn refusal(facts: &CallFacts<'_>, outcome: Outcome) -> Option<Refusal> {
    if contradicted(facts) {
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

/// Whether something on record says that the request was at work, or under way more than once, or answered otherwise.
pub(super) fn contradicted(facts: &CallFacts<'_>) -> bool {
    let handled = [Seen::Handled, Seen::HandlerDone, Seen::ServerRequest];
    let at_work = handled.iter().any(|seen| facts.has(*seen)) || !facts.contacts.is_empty();
    // A receipt that fits several calls may be this one's.
    let contested = facts.call.contested && facts.has(Seen::Contested);
    // Who cancels a request that was refused has another one like it under way.
    let another = facts.has(Seen::Cancelled) && facts.call.answered.is_some();
    // A client's own claim is no received frame.
    let otherwise = facts.call.answer.author == Author::Client || facts.has(Seen::OtherAnswer);
    // What began may have done something before it was refused.
    at_work || contested || another || otherwise || earlier_in_doubt(facts) || began(facts)
}

/// Whether the server wrote something between the request and its answer, or sent progress that may be this call's.
pub(super) fn began(facts: &CallFacts<'_>) -> bool {
    let asked = facts.place().origin;
    let strands = facts.run.into_iter().flat_map(|run| &run.strands);
    let behind = |stray: Mark| stray.origin.source != asked.source || stray.origin >= asked;
    facts.call.stirred || strands.filter_map(|strand| strand.stray_progress).any(behind) || told_elsewhere(facts)
}

/// Whether another source tells of something between the request and its answer that no call accounts for.
pub(super) fn told_elsewhere(facts: &CallFacts<'_>) -> bool {
    let (own, stray) = (facts.place().origin.source, &facts.case.stray);
    window(facts).is_some_and(|(from, to)| stray.words_within(own, from, to) || stray.work_within(from, to))
}

/// From the request to its answer, on the common clock.
pub(super) fn window(facts: &CallFacts<'_>) -> Option<(Timestamp, Timestamp)> {
    let (asked, answered) = ends(facts);
    asked.zip(answered)
}

/// When it was asked and answered, as far as the common clock tells.
fn ends(facts: &CallFacts<'_>) -> (Option<Timestamp>, Option<Timestamp>) {
    let place = |mark: Option<Mark>| mark.and_then(|mark| facts.case.on_common_clock(mark));
    (place(facts.call.asked), place(facts.call.answered))
}

/// Whether a hop lost its upstream behind a request that may be this one.
fn upstream_lost(facts: &CallFacts<'_>) -> bool {
    let (from, to) = ends(facts);
    facts.has(Seen::UpstreamBroken) || facts.case.stray.broken.any_within(from, to)
}

/// A hop's "could not connect" speaks for the exchange only if it is the hop's only word about it.
fn not_forwarded(facts: &CallFacts<'_>) -> Option<Refusal> {
    // Who answers with the request's own id, after a wait, or with an error of a program, was at work on it.
    let worked = facts.call.answer.echoes_id || facts.http.is_some_and(|http| http.status == 500);
    if worked || took_long(facts) || forwarded_elsewhere(facts) {
        return None;
    }
    let rows: Vec<_> = facts.seen.iter().filter(|row| row.seen == Seen::NotForwarded).collect();
    let [row] = rows[..] else { return None };
    // One of several upstreams was dead. The hop's own page makes it likely that no other one answered; a replica may
    // have such a hop of its own in front of it.
    let own_page =
        facts.call.answer.author == Author::Gateway && facts.http.is_some_and(|http| http.content == ContentKind::Html);
    // Whoever answers 504 waited for somebody.
    let certain = row.number != 0 && facts.http.is_none_or(|http| http.status != 504);
    if !certain && !own_page {
        return None;
    }
    (!upstream_lost(facts) && facts.receipt().is_none()).then_some(Refusal::NotForwarded { certain })
}

/// Whether another hop had an answer to it that is not the status on record: then somebody did forward it. The hop in
/// front of the one that did not was given the same status.
fn forwarded_elsewhere(facts: &CallFacts<'_>) -> bool {
    let status = facts.http.map_or(0, |http| i32::from(http.status));
    facts.seen.iter().any(|row| row.seen == Seen::ForwardedOnce && row.number != 0 && row.number != status)
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

/// Whether the request was dispatched more than once, or may have been: what one dispatch did says nothing of the others.
pub(in crate::judge) fn sent_on_again(facts: &CallFacts<'_>) -> bool {
    earlier_in_doubt(facts) || facts.has(Seen::UpstreamBroken) || facts.has(Seen::OtherAnswer)
}

/// A refusal is made at once; what took longer may be about an answer that was made behind it.
pub(super) const AT_ONCE: i64 = SECOND;

fn took_long(facts: &CallFacts<'_>) -> bool {
    took(facts).is_some_and(|took| took > AT_ONCE)
}

/// How long the answer took, in nanoseconds: between the stamps, or as long as any record says. A record of both ends
/// with one stamp alone knows no duration, nor do the clocks of two sources, nor one that went back.
pub(super) fn took(facts: &CallFacts<'_>) -> Option<i64> {
    let call = facts.call;
    let ends = call
        .asked
        .zip(call.answered)
        .filter(|(asked, answered)| asked != answered && asked.origin.source == answered.origin.source);
    let steady = ends.filter(|(asked, answered)| facts.case.is_steady(*asked) && facts.case.is_steady(*answered));
    let between = steady.and_then(|(asked, answered)| Some(answered.at?.0.saturating_sub(asked.at?.0)));
    let between = between.filter(|between| *between >= 0);
    let recorded = facts.http.filter(|http| http.took != NONE).map(|http| i64::from(http.took) * MILLISECOND);
    between.max(recorded)
}

/// Words about what came, or did not come, from behind whoever wrote them.
pub(super) fn speaks_of_an_answer(wording: Wording) -> bool {
    matches!(
        wording,
        Wording::AnswerDenied
            | Wording::QuotesSuccess
            | Wording::UpstreamReset
            | Wording::TimedOut
            | Wording::ConnectionClosed
    )
}

/// Whether the answer, or anything beside it, says that the request was at work: a wait, words about an answer behind, an
/// upstream that was lost, a receipt.
fn began_behind(facts: &CallFacts<'_>) -> bool {
    let told = speaks_of_an_answer(facts.call.answer.wording) || upstream_lost(facts);
    told || facts.receipt().is_some() || took_long(facts)
}

fn http_refusal(facts: &CallFacts<'_>) -> Option<Refusal> {
    let http = facts.http?;
    let answer = &facts.call.answer;
    // A hop's log that names another status of the upstream shows that somebody else did more than refuse.
    let upstream = facts.first(Seen::ForwardedOnce).map(|row| row.number);
    let other = upstream.is_some_and(|status| status != 0 && status != i32::from(http.status));
    if other || http.behind || answer.beside || began_behind(facts) {
        return None;
    }
    let single = upstream.is_some_and(|status| status == i32::from(http.status));
    let session_text = matches!(answer.wording, Wording::Session | Wording::NotInitialized);
    // A message with the request's own id was made by who had read it: a challenge alone may come with one, unless it
    // speaks of a failure inside.
    let code = answer.has_code.then_some(answer.code);
    let answered = answer.echoes_id && !(code.is_some_and(|code| code != -32603) && http.challenge);
    match http.status {
        404 if code == Some(-32601) => method_not_found(facts),
        // These codes are for envelopes by specification, but a handler can raise every code.
        400 if matches!(code, Some(-32020 | -32022)) => Some(Refusal::AtTheDoor { certain: !answered }),
        _ if answered => None,
        401 | 403 | 405 | 406 | 413 | 415 | 421 => Some(Refusal::AtTheDoor { certain: true }),
        400 | 404 | 409 if session_text => Some(Refusal::SessionGone { certain: single }),
        // Any service says 404; only words tell that it is the session that was not found.
        404 if facts.call.session.is_some() => Some(Refusal::SessionGone { certain: false }),
        400 if code == Some(-32700) || code == Some(-32600) && answer.foreign_id => Some(Refusal::Unreadable),
        400 if code.is_some() && matches!(answer.wording, Wording::Version | Wording::Header | Wording::Parse) => {
            Some(Refusal::AtTheDoor { certain: true })
        }
        _ => None,
    }
}

fn method_not_found(facts: &CallFacts<'_>) -> Option<Refusal> {
    let certain = method_not_found::declaration_is_known(facts);
    // An error about another method, or with more than the SDK's words, comes from behind the dispatch.
    let worded = facts.call.answer.wording == Wording::UnknownMethod && facts.call.answer.names_target;
    let unknown = worded && !took_long(facts) && method_not_found::method_is_unknown(facts);
    unknown.then_some(Refusal::MethodNotFound { certain })
}

fn rpc_refusal(facts: &CallFacts<'_>, outcome: Outcome) -> Option<Refusal> {
    let answer = &facts.call.answer;
    // What no SDK writes was written by somebody who knew more of the request than an SDK that refuses it.
    if answer.beside {
        return None;
    }
    // Only an exchange of its own ties an error without id to this request.
    let own_exchange = facts.http.is_some() && answer.foreign_id;
    if outcome == Outcome::JsonRpcError && answer.has_code && !began_behind(facts) {
        match answer.code {
            -32700 | -32600 if own_exchange => return Some(Refusal::Unreadable),
            -32601 if facts.method == "tools/call" => return method_not_found(facts),
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

/// Whether an attempt was refused for its envelope, as far as its answer and everything beside it tell. This counts
/// executions; it lets nobody send anything again.
pub(in crate::judge) fn turned_away(facts: &CallFacts<'_>, outcome: Outcome) -> bool {
    matches!(refusal(facts, outcome), Some(Refusal::AtTheDoor { .. } | Refusal::Unreadable))
}

/// Whether an attempt provably was refused before dispatch.
pub(in crate::judge) fn refused_before_dispatch(facts: &CallFacts<'_>, outcome: Outcome) -> bool {
    let certain = |refusal: &Refusal| match refusal {
        Refusal::SessionGone { certain }
        | Refusal::NotForwarded { certain }
        | Refusal::MethodNotFound { certain }
        | Refusal::AtTheDoor { certain } => *certain,
        _ => true,
    };
    refusal(facts, outcome).filter(certain).is_some_and(|refusal| unseen::gaps(facts, refusal).is_empty())
}
