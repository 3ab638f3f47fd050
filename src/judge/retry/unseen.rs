//! What the record of a refused request lacks: its body, a body in known words, its duration, what an event stream beside
//! it was about.
//!
//! A refusal is read from a status and from the absence of everything that would contradict it. Where the capture shows
//! that such a thing was there, or may have been, and does not hold it, the refusal is a condition. Unlike what the
//! capture lacks behind its end, this is a doubt about this very attempt.

use super::{Attempt, CallFacts, Refusal, not_sent, refusal, took};
use crate::judge::{Condition, Spots};

/// What would have to be known of a refused request, and is not.
pub(super) fn gaps(facts: &CallFacts<'_>, refusal: Refusal) -> Vec<Condition> {
    let mut gaps = Vec::new();
    let by_answer = !matches!(refusal, Refusal::NotForwarded { .. });
    if by_answer && facts.http.is_some_and(|http| http.unread) {
        let spots = Spots::records(facts.call.answered).unwrap_or(Spots::Nowhere);
        gaps.push(Condition::at("the body of its answer, which was not captured ({}), holds no result", spots));
    }
    let by_door = matches!(refusal, Refusal::AtTheDoor { .. } | Refusal::SessionGone { .. } | Refusal::Unreadable);
    if by_door && facts.http.is_some_and(|http| http.unknown_words && !http.unread) {
        let spots = Spots::records(facts.call.answered).unwrap_or(Spots::Nowhere);
        gaps.push(Condition::at("the body of its answer ({}) does not speak of work that was done", spots));
    }
    if by_answer && took(facts).is_none() {
        gaps.push("it was refused at once (no duration is on record)".into());
    }
    gaps.extend(stream(facts, true));
    gaps
}

/// A message on an event stream may be about any call that ran while the stream was open.
fn stream(facts: &CallFacts<'_>, unseen: bool) -> Option<Condition> {
    let spots = Spots::records(facts.case.streams.beside(facts.case, facts.call, unseen))?;
    Some(Condition::at("no message on an event stream beside it (first: {}) is about it", spots))
}

/// The conditions that the record of an attempt leaves open.
pub(super) fn conditions(attempt: &Attempt<'_, '_>, rule: &'static str) -> Vec<Condition> {
    if !attempt.may_harm() || rule == not_sent::RULE.id {
        return Vec::new();
    }
    match refusal(attempt.facts, attempt.outcome) {
        Some(refusal) => gaps(attempt.facts, refusal),
        None => stream(attempt.facts, false).into_iter().collect(),
    }
}
