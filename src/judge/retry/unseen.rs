//! What the record of a refused request lacks: its body, its duration, what an event stream beside it was about.
//!
//! A refusal is read from a status and from the absence of everything that would contradict it. Where the capture shows
//! that such a thing was there, or may have been, and does not hold it, the refusal is a condition. Unlike what the
//! capture lacks behind its end, this is a doubt about this very attempt.

use super::{Attempt, CallFacts, Caution, Opinion, Refusal, lacks_the_rest, not_sent, refusal, took};
use crate::{correlate::Mark, judge::Evidence};

/// Something that is not on record, and that a person can look up.
pub(super) struct Gap {
    condition: &'static str,
    /// A record that shows the gap.
    shown: Option<(&'static str, Mark)>,
}

/// What would have to be known of a refused request, and is not.
pub(super) fn gaps(facts: &CallFacts<'_>, refusal: Refusal) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let by_answer = !matches!(refusal, Refusal::NotForwarded { .. });
    if by_answer && facts.http.is_some_and(|http| http.unread) {
        let condition = "the body that was not captured holds no answer";
        gaps.push(Gap { condition, shown: None });
    }
    if matches!(refusal, Refusal::AtTheDoor { .. } | Refusal::Unreadable) && took(facts).is_none() {
        gaps.push(Gap { condition: "it was refused at once", shown: None });
    }
    gaps.extend(stream(facts));
    gaps
}

/// A message on an event stream may be about any call that ran while the stream was open.
fn stream(facts: &CallFacts<'_>) -> Option<Gap> {
    let mark = facts.case.streams.beside(facts.case, facts.call)?;
    let shown = Some(("shows an event stream that was open meanwhile", mark));
    Some(Gap { condition: "no message on the event stream beside it is about it", shown })
}

/// The opinion about an attempt under the conditions that its record leaves open.
pub(super) fn with_gaps(attempt: &Attempt<'_, '_>, own: Opinion) -> Opinion {
    let open = own.verdict == Caution::Safe || lacks_the_rest(&own);
    if !open || !attempt.may_harm() || own.rule == not_sent::RULE.id {
        return own;
    }
    let gaps = match refusal(attempt.facts, attempt.outcome) {
        Some(refusal) => gaps(attempt.facts, refusal),
        None => stream(attempt.facts).into_iter().collect(),
    };
    if gaps.is_empty() {
        return own;
    }
    let conditions: Vec<&str> = gaps.iter().map(|gap| gap.condition).chain(own.condition.as_deref()).collect();
    let shown = gaps.iter().filter_map(|gap| gap.shown);
    let proof = own.proof.with(shown.map(|(role, mark)| Evidence::seen(role, mark)));
    Opinion::safe_if(own.rule, conditions.join(", and "), own.reason, own.helps, proof)
}
